//! Tests of BALANCE.

use super::*;
use crate::games::win_model;
use crate::{
    Command, Decision, LobbySettings, NewGame, RosterSettings, Update,
    weights::tests::{WeightTable, ctf},
};
use evenkeel_model::{
    Company, Ident, WinModel,
    units::{Count, Factor, MaxDifference, PositiveShare, Share},
};

const LIMITS: SizeLimits = SizeLimits {
    max_team_share: PositiveShare::of(1.0),
    max_difference: MaxDifference::OFF,
};

fn weights() -> WeightTable {
    WeightTable::new(&[("a", 10.0), ("b", 20.0), ("c", 30.0)], &[("Bot", 40.0)])
}

fn lobby(settings: LobbySettings) -> Lobby {
    let mut lobby = Lobby::new(settings);
    lobby.apply(&ctf(), 0).unwrap();
    for id in ["a", "b", "c"] {
        let (id, update) = (Ident::from_text(id), Update::default());
        lobby.apply(&Command::Join { id, update }, 0).unwrap();
    }
    lobby
}

#[test]
fn bots_that_do_not_come_weigh_nothing() {
    let bots = |settings, acts: Option<bool>| {
        let mut lobby = lobby(settings);
        if let Some(acts) = acts {
            lobby.apply(&Command::DeclareBots { acts }, 0).unwrap();
        }
        let question = lobby.balance(&weights(), LIMITS, Default::default());
        question.unwrap().problem.view
    };
    let usual = bots(LobbySettings::default(), Some(true));
    assert_eq!((usual.weight_of_place(), usual.filling().wish), (40.0, 6));
    let off = RosterSettings {
        bots: false,
        ..RosterSettings::default()
    };
    let waiting = RosterSettings {
        min_humans: Count::of(4),
        ..RosterSettings::default()
    };
    for (roster, acts) in [
        (off, Some(true)),
        (waiting, Some(true)),
        (RosterSettings::default(), Some(false)),
        (RosterSettings::default(), None),
    ] {
        let settings = LobbySettings {
            roster,
            ..LobbySettings::default()
        };
        let none = bots(settings, acts);
        assert_eq!((none.weight_of_place(), none.filling().wish), (0.0, 0));
    }
}

#[test]
fn a_kept_party_counts_what_was_learned_of_friends() {
    let party_multiplier = vec![Factor::of(1.3)];
    let mut lobby = lobby(LobbySettings {
        party_multiplier: party_multiplier.clone(),
        ..LobbySettings::default()
    });
    lobby.apply(&Command::Start, 0).unwrap();
    for id in ["a", "b"] {
        let party = Some("p".into());
        let (id, update) = (
            Ident::from_text(id),
            Update {
                party,
                ..Update::default()
            },
        );
        lobby.apply(&Command::Join { id, update }, 0).unwrap();
    }
    let mut weights = weights();
    // The chance of the two friends against the third, and the factor on their weights.
    let together = |weights: &WeightTable| {
        let settings = partition::Settings {
            objective: Objective::Chance,
            party_multiplier: party_multiplier.clone(),
            party_budget: Share::of(1.0),
            ..partition::Settings::default()
        };
        let question = lobby.balance(weights, LIMITS, settings).unwrap();
        let multiplier = question.settings.party_multiplier[0].get();
        let answer = question.answer(1);
        let chance = answer.chance.unwrap();
        let own = if answer.team_of[0] == 0 {
            chance
        } else {
            1.0 - chance
        };
        (own, multiplier)
    };
    // Without a side, so that it does not matter which team they are; and a head counts as learned, not as the
    // sizes say at least, so that the strengths count in full.
    let win_model = WinModel {
        side: 0.0,
        per_head: 2.0,
        ..win_model()
    };
    weights.win_model = Some(win_model);
    let (assumed, multiplier) = together(&weights);
    assert_eq!(multiplier, 1.3);
    let company = Company {
        per_friend: 0.2,
        learned: 0.5,
    };
    weights.win_model = Some(WinModel {
        company,
        ..win_model
    });
    let (learned, multiplier) = together(&weights);
    // A friend adds 0.2, which is a thirtieth of the weight 50, and half of what was assumed.
    assert!(
        (multiplier - (1.15 + 0.2 / 6.0)).abs() < 1e-12,
        "{multiplier}"
    );
    // Assumed: 0.3 · (2 + s) for each, by `WinModel::multiplied`; half of that and 0.2 have been learned.
    let edge = |chance: f64| win_model.link.edge(chance) / win_model.per_strength_at(3);
    let strengths = ["a", "b"].map(|id| weights.human_strength(id));
    let less: f64 = strengths.iter().map(|s| 0.15 * (2.0 + s) - 0.2).sum();
    let found = edge(assumed) - edge(learned);
    assert!((found - less).abs() < 1e-9, "{found} {less}");
}

#[test]
fn a_stored_decision_is_read_and_replayed() {
    let mut lobby = lobby(LobbySettings::default());
    let question = lobby.balance(&weights(), LIMITS, Default::default());
    let decided = question.unwrap().decide(7, &mut || false).unwrap();
    let balanced = lobby.follow(&decided, &weights()).unwrap();
    assert_eq!(balanced.humans.len(), 3);
    let why = decided.to_string();
    let decision = Decision::from(decided);
    let json = serde_json::to_string(&decision).unwrap();
    let read: Decision = serde_json::from_str(&json).unwrap();
    assert_eq!(read, decision);
    let again = read.again(&mut || false).unwrap();
    assert_eq!((&again, again.to_string()), (&decision, why));
}

/// The question has all of the game, and is the same one whatever happens in play.
#[test]
fn what_other_decisions_alone_depend_on_makes_it_no_other_question() {
    let mut lobby = lobby(LobbySettings::default());
    let ask = |lobby: &Lobby| {
        lobby
            .balance(&weights(), LIMITS, Default::default())
            .unwrap()
    };
    let decided = ask(&lobby).decide(7, &mut || false).unwrap();
    lobby.follow(&decided, &weights()).unwrap();
    let id = Ident::from_text("a");
    for command in [
        Command::Start,
        Command::Score {
            team: 0,
            points: 2.0,
            by: None,
        },
        Command::Points {
            id: id.clone(),
            points: 9.0,
        },
        Command::Protect {
            id: id.clone(),
            millis: None,
        },
    ] {
        lobby.apply(&command, 1_000).unwrap();
    }
    let again = ask(&lobby);
    let human = &again.problem.view.humans[0];
    assert_eq!((again.problem.view.scores[0], human.points), (2.0, 9.0));
    assert!(human.held.is_some());
    assert_eq!(again.repeat, Repeat::Everything);
    let update = Update {
        wish: Some(human.team),
        ..Update::default()
    };
    lobby.apply(&Command::Join { id, update }, 1_000).unwrap();
    assert_eq!(ask(&lobby).repeat, Repeat::Roster);
}

#[test]
fn a_deadline_is_noted() {
    let humans = (0..60).map(|n| format!("p{n}"));
    let humans: Vec<String> = humans.collect();
    let table: Vec<(&str, f64)> = (humans.iter())
        .enumerate()
        .map(|(n, id)| (id.as_str(), (n * n % 61) as f64 + 0.5))
        .collect();
    let table = WeightTable::new(&table, &[]);
    let mut lobby = Lobby::new(LobbySettings::default());
    let game = NewGame {
        game_type: "ctf".into(),
        canonical_type: "ctf".into(),
        has_teams: true,
        tournament: false,
    };
    lobby.apply(&Command::Game(game), 0).unwrap();
    for id in &humans {
        let (id, update) = (Ident::from_text(id), Update::default());
        lobby.apply(&Command::Join { id, update }, 0).unwrap();
    }
    let question = lobby.balance(&table, LIMITS, Default::default()).unwrap();
    let decided = question.decide(1, &mut || true).unwrap();
    assert!(decided.answer.cut_short);
    assert_eq!(lobby.follow(&decided, &table).unwrap().humans.len(), 60);
}

#[test]
fn nonsense_is_refused() {
    let question = lobby(LobbySettings::default()).balance(&weights(), LIMITS, Default::default());
    let mut question = question.unwrap();
    question.problem.view.teams = 1;
    assert!(!question.is_sound());
    assert!(question.answer(1).refused.is_some());
    assert!(question.decide(1, &mut || false).is_err());
}

#[test]
fn the_reply_counts_bots_that_are_to_come_as_the_choice_did() {
    // The most typical bot is much weaker than the mean of all.
    let humans = [("a", 80.0), ("b", 60.0), ("c", 55.0)];
    let bots = [("x", 20.0), ("y", 25.0), ("z", 99.0)];
    let mut weights = WeightTable::new(&humans, &bots);
    weights.win_model = Some(win_model());
    let mut lobby = lobby(LobbySettings::default());
    lobby
        .apply(&Command::DeclareBots { acts: true }, 0)
        .unwrap();
    let settings = partition::Settings {
        objective: Objective::Chance,
        ..partition::Settings::default()
    };
    let question = lobby.balance(&weights, LIMITS, settings).unwrap();
    let decided = question.decide(1, &mut || false).unwrap();
    let chosen = decided.answer.chance.unwrap();
    let announced = lobby.follow(&decided, &weights).unwrap();
    assert_eq!(announced.bots.iter().sum::<u32>(), 3, "{announced:?}");
    let chance = announced.chance.unwrap();
    assert!((chance - chosen).abs() < 1e-9, "{chosen} became {chance}");
}

#[test]
fn reasons_call_players_and_teams_as_whoever_asks_does() {
    let mut lobby = lobby(LobbySettings::default());
    let stated = |party: &str, wish| Update {
        party: Some(party.to_owned()),
        wish: Some(wish),
        ..Update::default()
    };
    for (id, party, wish) in [("a", "p", None), ("b", "p", None), ("c", "p", Some(1))] {
        let (id, update) = (Ident::from_text(id), stated(party, wish));
        lobby.apply(&Command::Join { id, update }, 0).unwrap();
    }
    let question = lobby.balance(&weights(), LIMITS, Default::default());
    let decided = question.unwrap().decide(7, &mut || false).unwrap();
    let teams = evenkeel_model::TeamNames::try_from(vec!["team 1".to_owned(), "b".to_owned()]);
    // Each is called like another one, and the teams like players and the other team.
    let names = [("a", "b"), ("b", "team 0"), ("c", "a")];
    let names = names.map(|(id, name)| (id.to_owned(), name.to_owned()));
    let naming = Naming::new(names.into(), teams.unwrap());
    let announced = decided.announced(&naming).to_string();
    assert!(
        announced.contains("\nparty given up: b, team 0, a\n"),
        "{announced}"
    );
    let with = announced
        .lines()
        .filter_map(|line| line.strip_prefix("with "));
    let with: Vec<&str> = with
        .filter_map(|line| line.split(" instead").next())
        .collect();
    assert_eq!(with, ["b on b", "team 0 on b", "a on team 1"]);
    // Nothing else differs.
    let plain = decided.to_string();
    let others = |text: &str| -> Vec<String> {
        let others = text
            .lines()
            .filter(|line| !line.contains("with ") && !line.contains("party given"));
        others.map(str::to_owned).collect()
    };
    assert_eq!(others(&announced), others(&plain));
}
