use super::*;
use crate::games::win_model;
use crate::{
    Decision, Finished, LobbySettings, Reason, RecordFrame, RosterSettings, StayReason, Update,
    weights::tests::{WeightTable, ctf, game},
};
use evenkeel_model::{
    Company, LeaveReason, Verdict, WinModel,
    units::{Count, Factor},
};
use evenkeel_partition::{Conduct, MoveBlock, Objective};
use proptest::prelude::*;

fn ident(text: &str) -> Ident {
    Ident::from_text(text)
}

/// A capture-the-flag game without bots, in which play has begun.
fn lobby(settings: LobbySettings) -> Lobby {
    let roster = RosterSettings {
        bots: false,
        ..settings.roster
    };
    let mut lobby = Lobby::new(LobbySettings { roster, ..settings });
    lobby.change(ctf()).unwrap();
    lobby.start().unwrap();
    lobby
}

fn join(lobby: &mut Lobby, id: &str, team: Option<u8>) {
    let update = Update {
        team,
        ..Update::default()
    };
    lobby.join(&ident(id), &update).unwrap();
}

fn conduct(lobby: &Lobby, id: &str) -> Conduct {
    lobby.memory.of(id).conduct
}

fn team_of(lobby: &Lobby, id: &str) -> Option<u8> {
    lobby.game().unwrap().roster.find(&ident(id)).unwrap().team
}

#[test]
fn a_late_arrival_is_on_the_side_told() {
    let mut lobby = lobby(LobbySettings::default());
    let weights = WeightTable::new(&[("a", 60.0), ("b", 40.0), ("c", 20.0)], &[]);
    join(&mut lobby, "a", Some(0));
    join(&mut lobby, "b", Some(1));
    join(&mut lobby, "c", None);
    let placed = lobby.place(&ident("c"), &weights, 1).unwrap();
    assert_eq!((placed.answer.team, placed.answer.ratio), (1, 1.0));
    assert_eq!(team_of(&lobby, "c"), Some(1));
    // If it is sent again, it gives the same answer, and changes nothing.
    let again = lobby.place(&ident("c"), &weights, 2).unwrap();
    assert_eq!((again.answer.team, again.answer.ratio), (1, 1.0));
    assert_eq!(
        lobby.place(&ident("x"), &weights, 1).err(),
        Some(LobbyError::UnknownPlayer)
    );
}

#[test]
fn who_was_removed_and_comes_back_exploits_nothing() {
    for (reason, returns) in [
        (LeaveReason::Left, 1),
        (LeaveReason::Timeout, 1),
        (LeaveReason::Kicked, 0),
        (LeaveReason::Moved, 0),
    ] {
        let mut lobby = lobby(LobbySettings::default());
        join(&mut lobby, "a", Some(0));
        lobby.leave(&ident("a"), reason).unwrap();
        join(&mut lobby, "a", Some(1));
        assert_eq!(conduct(&lobby, "a").returns, returns, "{reason:?}");
    }
}

#[test]
fn who_comes_back_in_time_is_on_the_old_team() {
    let mut lobby = lobby(LobbySettings::default());
    let weights = WeightTable::new(&[("a", 50.0), ("b", 52.0), ("c", 20.0)], &[]);
    join(&mut lobby, "a", Some(0));
    join(&mut lobby, "b", Some(1));
    join(&mut lobby, "c", Some(1));
    lobby
        .at(10_000)
        .leave(&ident("c"), LeaveReason::Left)
        .unwrap();
    join(lobby.at(310_000), "c", None);
    let placed = lobby.place(&ident("c"), &weights, 1).unwrap();
    assert_eq!(
        (placed.answer.team, placed.answer.reason),
        (1, Reason::OldTeam)
    );
    assert_eq!(conduct(&lobby, "c").returns, 1);
    lobby
        .at(320_000)
        .leave(&ident("c"), LeaveReason::Left)
        .unwrap();
    join(lobby.at(620_001), "c", None);
    let placed = lobby.place(&ident("c"), &weights, 1).unwrap();
    assert_eq!(
        (placed.answer.team, placed.answer.reason),
        (0, Reason::Ratio)
    );
    assert!(
        placed.to_string().contains("c returned 2 times"),
        "{placed}"
    );
}

#[test]
fn advantage_uses_the_very_bots_at_once() {
    let mut lobby = lobby(LobbySettings::default());
    let weights = WeightTable::new(
        &[("a", 50.0), ("b", 50.0)],
        &[("Weak", 10.0), ("Good", 22.0)],
    );
    join(&mut lobby, "a", Some(0));
    join(&mut lobby, "b", Some(1));
    lobby.bot_join(&ident("Weak"), 0).unwrap();
    lobby.bot_join(&ident("Good"), 1).unwrap();
    let help = |lobby: &mut Lobby| lobby.advantage(&weights).unwrap().answer.help;
    let first = help(&mut lobby).unwrap();
    assert_eq!((first.team, (first.factor * 1e6).round()), (0, 1.2e6));
    lobby.bot_leave(&ident("Good")).unwrap();
    lobby.bot_leave(&ident("Weak")).unwrap();
    assert_eq!(help(lobby.at(0)), None, "they are as strong now");
    lobby.bot_join(&ident("Good"), 0).unwrap();
    let up = help(lobby.at(660_000)).unwrap();
    assert_eq!((up.team, (up.factor * 1e6).round()), (1, 1.44e6));
}

#[test]
fn only_the_score_is_followed_slowly() {
    let mut lobby = lobby(LobbySettings::default());
    let weights = WeightTable::new(&[("a", 50.0), ("b", 50.0)], &[]);
    join(&mut lobby, "a", Some(0));
    join(&mut lobby, "b", Some(1));
    let factor = |lobby: &mut Lobby| {
        let help = lobby.advantage(&weights).unwrap().answer.help;
        help.map_or(1.0, |help| help.factor)
    };
    let goal = Command::Score {
        team: 0,
        points: 9.0,
        by: None,
    };
    assert_eq!(factor(lobby.at(600_000)), 1.0);
    lobby.apply(&goal, 600_000).unwrap();
    assert_eq!(factor(lobby.at(600_000)), 1.0);
    let minute = factor(lobby.at(660_000));
    assert!((minute - 1.05).abs() < 1e-9, "{minute}");
    join(&mut lobby, "c", Some(0));
    let three = factor(lobby.at(660_000));
    assert_eq!(three, 1.5, "two against one, capped");
    lobby
        .apply(
            &Command::Leave {
                id: ident("c"),
                reason: Default::default(),
            },
            660_000,
        )
        .unwrap();
    assert!(
        (factor(lobby.at(660_000)) - 1.05).abs() < 1e-9,
        "and back at once"
    );
}

#[test]
fn following_advice_is_not_switching() {
    let mut lobby = lobby(LobbySettings::default());
    let weights = WeightTable::new(&[("a", 30.0), ("b", 30.0), ("c", 30.0), ("d", 30.0)], &[]);
    for id in ["a", "b", "c"] {
        join(&mut lobby, id, Some(0));
    }
    join(&mut lobby, "d", Some(1));
    lobby.watch(&weights);
    let advice = lobby.rebalance(&weights, 1).unwrap();
    let [step] = &advice.answer.moves[..] else {
        panic!("{advice}")
    };
    assert_eq!(team_of(&lobby, step.id.text()), Some(0), "advice only");
    lobby.at(1_000).move_to(&step.id, 1).unwrap();
    assert_eq!(conduct(&lobby, step.id.text()), Conduct::default());
    let view = lobby.view(&weights).unwrap();
    let moved = view
        .humans
        .iter()
        .find(|human| human.id == step.id.text())
        .unwrap();
    assert_eq!(
        (moved.moved, moved.held),
        (true, Some(MoveBlock::JustMoved))
    );
    let view = lobby.at(301_000).view(&weights).unwrap();
    assert!(view.humans.iter().all(|human| human.held.is_none()));
}

#[test]
fn advice_is_forgotten_with_who_leaves() {
    let mut lobby = lobby(LobbySettings::default());
    let weights = WeightTable::new(&[("a", 30.0), ("b", 30.0)], &[]);
    join(&mut lobby, "a", Some(0));
    join(&mut lobby, "b", Some(0));
    let advice = lobby.rebalance(&weights, 1).unwrap();
    let id = advice.answer.moves[0].id.clone();
    lobby.leave(&id, LeaveReason::Left).unwrap();
    join(&mut lobby, id.text(), Some(0));
    lobby.move_to(&id, 1).unwrap();
    assert_eq!(lobby.memory.of(id.text()).moved_at, None);
}

#[test]
fn going_over_to_the_stronger_side_and_asking_is_seen() {
    let mut lobby = lobby(LobbySettings::default());
    let weights = WeightTable::new(&[("strong", 90.0), ("a", 30.0), ("b", 30.0)], &[]);
    join(&mut lobby, "strong", Some(0));
    join(&mut lobby, "a", Some(1));
    join(&mut lobby, "b", Some(1));
    lobby.watch(&weights);
    lobby.at(1_000).move_to(&ident("a"), 0).unwrap();
    lobby.watch(&weights);
    assert_eq!(conduct(&lobby, "a").switches, 1);
    let advice = lobby.at(2_000).rebalance(&weights, 1).unwrap();
    assert!(
        advice
            .to_string()
            .contains("a returned 0 times, changed to the stronger team 1 time")
    );
    lobby.at(3_000).rebalance(&weights, 1).unwrap();
    assert_eq!(conduct(&lobby, "a").asks, 1, "once for each time");
    lobby.at(4_000).move_to(&ident("a"), 1).unwrap();
    assert_eq!(conduct(&lobby, "a").switches, 1, "going back is fine");
    lobby.change(ctf()).unwrap();
    assert_eq!(conduct(&lobby, "a").switches, 1, "the session remembers");
}

#[test]
fn who_dies_on_the_stronger_team_is_moved_after_20_s() {
    let mut lobby = lobby(LobbySettings::default());
    let weights = WeightTable::default();
    for id in ["a", "b", "c", "d"] {
        join(&mut lobby, id, Some(0));
    }
    join(&mut lobby, "e", Some(1));
    lobby.watch(&weights);
    let fate = |lobby: &mut Lobby, id: &str| {
        let decided = lobby.died(&ident(id), &weights).unwrap();
        decided.map(|decided| decided.answer.fate)
    };
    assert_eq!(
        fate(lobby.at(19_999), "a"),
        Some(Fate::Stays(StayReason::TooSoon))
    );
    assert!(matches!(fate(lobby.at(20_000), "a"), Some(Fate::Moves(_))));
    assert_eq!(team_of(&lobby, "a"), Some(1));
    // 3 to 2 are nearly equal sizes.
    assert_eq!(
        fate(lobby.at(90_000), "b"),
        Some(Fate::Stays(StayReason::Balanced))
    );
    // The delay starts again.
    lobby
        .at(100_000)
        .leave(&ident("e"), LeaveReason::Left)
        .unwrap();
    lobby.watch(&weights);
    assert_eq!(
        fate(lobby.at(101_000), "b"),
        Some(Fate::Stays(StayReason::TooSoon))
    );
    lobby.clock(190_000).unwrap();
    assert!(matches!(
        fate(lobby.at(110_999), "a"),
        Some(Fate::Stays(StayReason::OtherTeam))
    ));
    lobby.clock(179_000).unwrap();
    assert_eq!(
        fate(lobby.at(130_000), "b"),
        Some(Fate::Stays(StayReason::Balanced))
    );
    lobby.bot_join(&ident("Sarge"), 1).unwrap();
    assert_eq!(fate(&mut lobby, "Sarge"), None, "bots stay");
    assert_eq!(
        lobby.died(&ident("x"), &weights).err(),
        Some(LobbyError::UnknownPlayer)
    );
}

#[test]
fn a_tournament_and_a_warm_up_are_left_alone() {
    let mut lobby = lobby(LobbySettings::default());
    let weights = WeightTable::default();
    for id in ["a", "b", "c", "d"] {
        join(&mut lobby, id, Some(0));
    }
    lobby.watch(&weights);
    lobby.game_mut().unwrap().tournament = true;
    let decided = lobby
        .at(60_000)
        .died(&ident("a"), &weights)
        .unwrap()
        .unwrap();
    assert_eq!(decided.answer.fate, Fate::Stays(StayReason::Balanced));
    lobby.change(ctf()).unwrap();
    join(&mut lobby, "a", Some(0));
    assert_eq!(lobby.died(&ident("a"), &weights), Ok(None), "before START");
}

#[test]
fn protection_ends_when_told() {
    let mut lobby = lobby(LobbySettings::default());
    let weights = WeightTable::default();
    join(&mut lobby, "a", Some(0));
    let held = |lobby: &mut Lobby, now| lobby.at(now).view(&weights).unwrap().humans[0].held;
    lobby.protect(&ident("a"), Some(5_000)).unwrap();
    assert_eq!(held(&mut lobby, 4_999), Some(MoveBlock::Protected));
    assert_eq!(held(&mut lobby, 5_000), None);
    lobby.protect(&ident("a"), None).unwrap();
    assert_eq!(held(&mut lobby, u64::MAX - 1), Some(MoveBlock::Protected));
    lobby.protect(&ident("a"), Some(0)).unwrap();
    assert_eq!(held(&mut lobby, u64::MAX - 1), None);
}

#[test]
fn a_party_that_stands_together_weighs_its_multiple() {
    let mut lobby = lobby(LobbySettings {
        party_multiplier: [1.15, 1.2].map(Factor::of).to_vec(),
        ..LobbySettings::default()
    });
    let weights = WeightTable::new(&[("a", 10.0), ("b", 10.0), ("c", 10.0), ("d", 10.0)], &[]);
    for id in ["a", "b", "c", "d"] {
        let update = Update {
            party: Some("p".into()),
            team: (id != "d").then_some(0),
            ..Update::default()
        };
        lobby.join(&ident(id), &update).unwrap();
    }
    let weigh = |lobby: &Lobby| -> Vec<f64> {
        let view = lobby.view(&weights).unwrap();
        let humans = 0..view.humans.len();
        humans.map(|who| view.counted(who).weight).collect()
    };
    assert_eq!(weigh(&lobby), [12.0, 12.0, 12.0, 10.0]);
    lobby.move_to(&ident("c"), 1).unwrap();
    assert_eq!(weigh(&lobby), [11.5, 11.5, 10.0, 10.0]);
}

#[test]
fn what_was_learned_of_friends_takes_the_place_of_the_multiplier() {
    let mut lobby = lobby(LobbySettings {
        party_multiplier: [1.15, 1.2].map(Factor::of).to_vec(),
        ..LobbySettings::default()
    });
    let mut weights = WeightTable::default(); // everybody is 50, a strength of 0
    let company = Company {
        per_friend: 0.2,
        learned: 0.5,
    };
    weights.win_model = Some(WinModel {
        company,
        ..win_model()
    });
    for id in ["a", "b", "c", "d"] {
        let update = Update {
            party: (id != "d").then(|| "p".into()),
            team: Some(0),
            ..Update::default()
        };
        lobby.join(&ident(id), &update).unwrap();
    }
    let strengths = |lobby: &Lobby| -> Vec<f64> {
        let mut view = lobby.view(&weights).unwrap();
        view.chance = lobby
            .chance_model(&weights, &lobby.lineup().unwrap())
            .unwrap();
        let humans = 0..view.humans.len();
        humans.map(|who| view.counted(who).strength).collect()
    };
    // Three friends: 0.2 for each of two, and half of the (1.2 − 1) · 2 of the multiplier.
    let close = |found: &[f64], by_hand: &[f64]| {
        let near = found
            .iter()
            .zip(by_hand)
            .all(|(x, y)| (x - y).abs() < 1e-12);
        assert!(near && found.len() == by_hand.len(), "{found:?}");
    };
    close(&strengths(&lobby), &[0.6, 0.6, 0.6, 0.0]);
    lobby.move_to(&ident("c"), 1).unwrap();
    // Two: 0.2 for the one friend, and half of 0.15 · 2.
    close(&strengths(&lobby), &[0.35, 0.35, 0.0, 0.0]);
    let lineup = lobby.lineup().unwrap();
    let parties = lineup.iter().flatten().map(|player| player.party);
    let by_hand = [Some(0), Some(0), None, Some(0)]; // a, b and d on one team, c on the other
    assert_eq!(parties.collect::<Vec<_>>(), by_hand);
}

#[test]
fn games_without_teams_have_no_sides() {
    let mut lobby = lobby(LobbySettings::default());
    lobby.change(game("dm", false)).unwrap();
    join(&mut lobby, "a", None);
    lobby.start().unwrap();
    let weights = WeightTable::default();
    let none = Some(LobbyError::NoTeams);
    assert_eq!(lobby.place(&ident("a"), &weights, 1).err(), none);
    assert_eq!(lobby.advantage(&weights).err(), none);
    assert_eq!(lobby.rebalance(&weights, 1).err(), none);
    assert_eq!(lobby.score(0, 1.0, None).err(), none);
    assert_eq!(
        lobby.end(Verdict::Won(0), &RecordFrame::default()).err(),
        none
    );
    assert_eq!(lobby.died(&ident("a"), &weights), Ok(None));
    let finished = lobby
        .at(5_000)
        .end(Verdict::Scores, &RecordFrame::default())
        .unwrap();
    assert_eq!(finished.record.participants[0].deaths, 1);
}

/// One command of any kind, for random sequences.
#[derive(Clone, Debug)]
enum Step {
    Join(usize, Option<u8>, Option<u8>, Option<u8>),
    Leave(usize),
    Move(usize, u8),
    Bot(usize, Option<u8>),
    Place(usize),
    Advantage,
    Rebalance(bool),
    Protect(usize, Option<u64>),
    Teams(u8),
    Begin(bool),
    Start,
    Score(u8, i32, Option<usize>),
    Points(usize, i32),
    Kill(usize, usize),
    Death(usize),
    Clock(u64),
    End(Option<u8>),
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let who = 0usize..8;
    let team = || 0u8..4;
    let step = prop_oneof![
        6 => (who.clone(), proptest::option::of(team()), proptest::option::weighted(0.2, team()), proptest::option::weighted(0.3, 0u8..2))
            .prop_map(|(who, team, pin, party)| Step::Join(who, team, pin, party)),
        2 => who.clone().prop_map(Step::Leave),
        2 => (who.clone(), team()).prop_map(|(who, team)| Step::Move(who, team)),
        3 => (who.clone(), proptest::option::of(team())).prop_map(|(who, team)| Step::Bot(who, team)),
        4 => who.clone().prop_map(Step::Place),
        2 => Just(Step::Advantage),
        3 => any::<bool>().prop_map(Step::Rebalance),
        1 => (who.clone(), proptest::option::of(0u64..60_000)).prop_map(|(who, ms)| Step::Protect(who, ms)),
        1 => (0u8..10).prop_map(Step::Teams),
        1 => any::<bool>().prop_map(Step::Begin),
        2 => Just(Step::Start),
        2 => (team(), -3i32..9, proptest::option::of(who.clone())).prop_map(|(team, points, by)| Step::Score(team, points, by)),
        1 => (who.clone(), -3i32..99).prop_map(|(who, points)| Step::Points(who, points)),
        1 => (who.clone(), who.clone()).prop_map(|(a, b)| Step::Kill(a, b)),
        4 => who.prop_map(Step::Death),
        1 => (0u64..400_000).prop_map(Step::Clock),
        1 => proptest::option::of(team()).prop_map(Step::End),
    ];
    proptest::collection::vec((0u64..30_000, step), 0..60)
}

/// Applies a step, and checks its decision.
fn take(
    lobby: &mut Lobby,
    step: &Step,
    weights: &WeightTable,
    seed: u64,
) -> Result<(), LobbyError> {
    let id = |who: &usize| ident(&format!("p{who}"));
    match step {
        Step::Join(who, team, pin, party) => {
            let party = party.map(|party| party.to_string());
            let (team, pin) = (*team, pin.map(Some));
            let update = Update {
                team,
                pin,
                party,
                ..Update::default()
            };
            lobby.join(&id(who), &update)
        }
        Step::Leave(who) => lobby.leave(&id(who), LeaveReason::Left),
        Step::Move(who, team) => lobby.move_to(&id(who), *team),
        Step::Bot(who, Some(team)) => lobby.bot_join(&ident(&format!("b{who}")), *team),
        Step::Bot(who, None) => lobby.bot_leave(&ident(&format!("b{who}"))),
        Step::Place(who) => lobby
            .place(&id(who), weights, seed)
            .map(|decided| check(decided.into())),
        Step::Advantage => lobby
            .advantage(weights)
            .map(|decided| check(decided.into())),
        Step::Rebalance(follow) => {
            let decided = lobby.rebalance(weights, seed)?;
            for step in decided.answer.steps().filter(|_| *follow) {
                lobby.move_to(&step.id, step.to)?;
            }
            check(decided.into());
            Ok(())
        }
        Step::Protect(who, ms) => lobby.protect(&id(who), *ms),
        Step::Teams(teams) => lobby.set_teams(*teams),
        Step::Begin(teams) => {
            lobby.change(game("ctf", *teams)).unwrap();
            Ok(())
        }
        Step::Start => lobby.start(),
        Step::Score(team, points, by) => {
            lobby.score(*team, f64::from(*points), by.as_ref().map(id).as_ref())
        }
        Step::Points(who, points) => lobby.points(&id(who), f64::from(*points)),
        Step::Kill(a, b) => lobby.kill(&id(a), &id(b)),
        Step::Death(who) => {
            let decided = lobby.died(&id(who), weights)?;
            decided
                .into_iter()
                .for_each(|decided| check(decided.into()));
            Ok(())
        }
        Step::Clock(left) => lobby.clock(*left),
        Step::End(winner) => {
            let verdict = winner.map_or(Verdict::Scores, Verdict::Won);
            let Finished { record, .. } = lobby.end(verdict, &RecordFrame::default())?;
            assert_eq!(record.check(), Ok(()));
            assert_eq!(
                lobby.end(verdict, &RecordFrame::default()).unwrap().record,
                record
            );
            Ok(())
        }
    }
}

/// Checks that a stored decision can be replayed to the same answer, and has an explanation.
fn check(decision: Decision) {
    let stored = serde_json::to_string(&decision).unwrap();
    let read: Decision = serde_json::from_str(&stored).unwrap();
    assert_eq!(read, decision);
    assert_eq!(read.clone().again(&mut || false).as_ref(), Some(&read));
    let text = read.to_string();
    assert!(
        text.ends_with('\n') && text.lines().all(|line| !line.is_empty()),
        "{text}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_commands_panics_loses_a_human_or_leaves_the_teams(
        steps in steps(),
        weights in proptest::collection::vec(0.0..100.0, 16),
        seed: u64,
        (bots, proposal, chances) in any::<(bool, bool, bool)>(),
    ) {
        let named = |prefix: &'static str| weights.iter().enumerate().map(move |(n, w)| (format!("{prefix}{n}"), *w));
        let table = WeightTable { humans: named("p").take(6).collect(), bots: named("b").skip(2).take(4).collect(), win_model: chances.then(win_model) };
        let roster = RosterSettings { max_roster: Count::of(6), bots, ..RosterSettings::default() };
        let mut settings = LobbySettings { roster, ..LobbySettings::default() };
        if chances {
            settings.objective = Objective::Chance;
        }
        if proposal {
            settings.auto_balance = crate::AutoBalanceRules::players_proposal();
        }
        let mut lobby = Lobby::new(settings);
        let mut here = std::collections::BTreeSet::new();
        let mut now = 0;
        for (pause, step) in &steps {
            now += pause;
            let before = lobby.game().ok().map(|game| game.roster.clone());
            let result = take(lobby.at(now), step, &table, seed);
            lobby.watch(&table);
            match (&result, step) {
                (Ok(()), Step::Join(who, ..)) => {
                    let is_new = here.insert(format!("p{who}"));
                    // Only a game that is over takes one more than its roster has room for: whoever came first has left.
                    let first = before.as_ref().and_then(|roster| roster.humans().first());
                    if let (true, true, Some(first)) = (is_new, here.len() > 6, first) {
                        here.remove(first.id.text());
                    }
                }
                (Ok(()), Step::Leave(who)) => { here.remove(&format!("p{who}")); }
                (Ok(()), Step::Begin(_)) => here.clear(),
                (Err(_), _) => {
                    let after = lobby.game().ok().map(|game| game.roster.clone());
                    prop_assert_eq!(after, before, "a command that fails changes nothing");
                }
                _ => {}
            }
            let Ok(game) = lobby.game() else { continue };
            let ids = game.roster.humans().iter().map(|human| human.id.text().to_owned());
            prop_assert_eq!(ids.collect::<std::collections::BTreeSet<_>>(), here.clone());
            for team in game.roster.humans().iter().filter_map(|human| human.team) {
                prop_assert!(team < lobby.teams());
            }
        }
        if let Some(finished) = lobby.abandoned(&RecordFrame::default()) {
            prop_assert_eq!(finished.record.check(), Ok(()));
        }
    }
}
