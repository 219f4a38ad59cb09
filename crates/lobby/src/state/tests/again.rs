//! A GAME that comes again.

use std::collections::BTreeMap;

use super::super::*;
use crate::{
    Command, LobbySettings, Update,
    balance::Balanced,
    weights::tests::{WeightTable, ctf, game},
};
use evenkeel_model::{
    ident::Ident,
    in_game::Verdict,
    record::LeaveReason,
    units::{MaxDifference, PositiveShare},
};
use evenkeel_partition as partition;
use evenkeel_partition::problem::SizeLimits;

fn lobby() -> Lobby {
    Lobby::new(LobbySettings::default())
}

fn join(lobby: &mut Lobby, id: char, team: Option<u8>) {
    let update = Update {
        team,
        ..Update::default()
    };
    let id = Ident::from_text(&id.to_string());
    lobby.change(Command::Join { id, update }).unwrap();
}

/// A game on a map, whose humans are on no team.
fn play(lobby: &mut Lobby, map: Option<&str>, humans: &str) {
    lobby.change(ctf()).unwrap();
    if let Some(name) = map.map(str::to_owned) {
        let players = None;
        lobby.change(Command::Map { name, players }).unwrap();
    }
    humans.chars().for_each(|id| join(lobby, id, None));
}

fn balance(lobby: &mut Lobby, weights: &WeightTable) -> Balanced {
    let limits = SizeLimits {
        max_team_share: PositiveShare::of(1.0),
        max_difference: MaxDifference::OFF,
    };
    let settings = partition::Settings::default();
    let question = lobby.balance(weights, limits, settings).unwrap();
    let decided = question.decide(7, &mut || false).unwrap();
    lobby.follow(&decided, weights).unwrap()
}

fn teams(lobby: &Lobby) -> BTreeMap<String, Option<u8>> {
    let humans = lobby.game().unwrap().roster.humans().iter();
    humans
        .map(|human| (human.id.text().to_owned(), human.team))
        .collect()
}

/// A game of four whose teams BALANCE has picked, and which the next GAME may mean.
fn decided() -> Lobby {
    let mut lobby = lobby();
    play(&mut lobby, Some("q3ctf1"), "abcd");
    assert!(!lobby.is_decided());
    balance(&mut lobby, &WeightTable::default());
    assert!(lobby.is_decided());
    lobby.change(Command::Hold).unwrap();
    lobby
}

#[test]
fn a_game_goes_on_with_the_same_type_map_and_half_of_the_people_of_each() {
    for (map, humans, goes_on) in [
        (Some("q3ctf1"), "abcd", true),
        (Some("Q3CTF1"), "ab", true),
        (None, "abcdefgh", true),
        (Some("q3ctf2"), "abcd", false),
        (Some("q3ctf1"), "a", false),
        (Some("q3ctf1"), "abefg", false),
        (Some("q3ctf1"), "efgh", false),
        (Some("q3ctf1"), "", false),
    ] {
        let mut lobby = decided();
        play(&mut lobby, map, humans);
        assert_eq!(lobby.goes_on(), Some(goes_on), "{map:?} {humans}");
    }
    let mut other = decided();
    other.change(game("tdm", true)).unwrap();
    "abcd".chars().for_each(|id| join(&mut other, id, None));
    assert_eq!(other.goes_on(), Some(false), "another game type");
    let mut more = decided();
    play(&mut more, Some("q3ctf1"), "abcd");
    more.change(Command::Teams { teams: 4 }).unwrap();
    assert_eq!(more.goes_on(), Some(false), "another number of teams");
}

#[test]
fn who_has_left_before_the_next_game_was_decided_on() {
    let mut lobby = lobby();
    play(&mut lobby, None, "abcd");
    balance(&mut lobby, &WeightTable::default());
    for id in ["a", "b", "c", "d"] {
        let (id, reason) = (Ident::from_text(id), LeaveReason::Left);
        lobby.change(Command::Leave { id, reason }).unwrap();
    }
    lobby.change(Command::Hold).unwrap();
    play(&mut lobby, None, "abcd");
    assert_eq!(lobby.goes_on(), Some(true));
}

#[test]
fn what_was_decided_is_that_of_the_match_and_the_game_before_never_existed() {
    let mut lobby = lobby();
    play(&mut lobby, None, "abcd");
    for (id, team) in [('a', 0), ('b', 0), ('c', 1), ('d', 1)] {
        join(&mut lobby, id, Some(team));
    }
    let (last, memory) = (lobby.last_teams.clone(), lobby.memory.clone());
    balance(&mut lobby, &WeightTable::default());
    let picked = lobby.chance_summary().picked;
    let chosen = teams(&lobby);
    assert!(picked.is_some());
    lobby.change(Command::Hold).unwrap();
    play(&mut lobby, None, "abcd");
    assert_ne!(lobby.last_teams, last, "as after any game");
    lobby.change(Command::GoOn).unwrap();
    assert_eq!(lobby.last_teams, last);
    let people = |memory| serde_json::to_string(memory).unwrap();
    assert_eq!(people(&lobby.memory), people(&memory));
    for (id, team) in &chosen {
        join(&mut lobby, id.chars().next().unwrap(), *team);
    }
    lobby.change(Command::Start).unwrap();
    assert_eq!(lobby.chance_summary().picked, picked);
    assert_eq!(lobby.goes_on(), None, "it is decided");
}

#[test]
fn play_begins_with_the_teams_that_stand() {
    let mut lobby = lobby();
    play(&mut lobby, None, "abcd");
    balance(&mut lobby, &WeightTable::default());
    let chosen = teams(&lobby);
    lobby.change(Command::Hold).unwrap();
    play(&mut lobby, None, "abcde");
    join(&mut lobby, 'a', Some(1 - chosen["a"].unwrap()));
    lobby.change(Command::GoOn).unwrap();
    lobby.change(Command::Start).unwrap();
    let now = teams(&lobby);
    for id in ["b", "c", "d"] {
        assert_eq!(now[id], chosen[id], "{id}");
    }
    assert_ne!(now["a"], chosen["a"], "who has chosen is there");
    assert_eq!(now["e"], None, "a newcomer is nowhere yet");
}

#[test]
fn only_those_are_placed_who_have_come_since() {
    let weights = WeightTable::new(&[("a", 90.0), ("e", 80.0), ("f", 10.0)], &[]);
    let mut lobby = lobby();
    play(&mut lobby, None, "abcd");
    balance(&mut lobby, &weights);
    let chosen = teams(&lobby);
    lobby.change(Command::Hold).unwrap();
    play(&mut lobby, None, "abcd");
    join(&mut lobby, 'e', Some(0));
    join(&mut lobby, 'f', Some(0));
    lobby.change(Command::GoOn).unwrap();
    balance(&mut lobby, &weights);
    let now = teams(&lobby);
    for (id, team) in &chosen {
        assert_eq!(now[id], *team, "{id}");
    }
    let strong = chosen["a"];
    assert_ne!(now["e"], strong, "the strongest is opposite");
    assert_eq!(now["f"], strong, "three on each");
    // The next one is an ordinary question.
    join(&mut lobby, 'g', None);
    assert!(!lobby.game().unwrap().again);
    balance(&mut lobby, &weights);
}

#[test]
fn teams_of_which_one_has_gone_are_chosen_anew() {
    let mut lobby = lobby();
    play(&mut lobby, None, "abcdefgh");
    balance(&mut lobby, &WeightTable::default());
    let stay: String = teams(&lobby)
        .into_iter()
        .filter_map(|(id, team)| (team == Some(0)).then_some(id))
        .collect();
    lobby.change(Command::Hold).unwrap();
    play(&mut lobby, None, &stay);
    assert_eq!(lobby.goes_on(), Some(true));
    lobby.change(Command::GoOn).unwrap();
    balance(&mut lobby, &WeightTable::default());
    let sizes = lobby.game().unwrap().roster.sizes(2);
    assert_eq!(sizes, [2, 2]);
}

#[test]
fn teams_that_have_played_are_no_decision_any_more() {
    let mut lobby = decided();
    lobby.change(Command::DropBefore).unwrap();
    lobby.change(Command::Start).unwrap();
    assert!(lobby.is_decided(), "play may not count");
    lobby.at(1_000);
    lobby.end(Verdict::Draw, &RecordFrame::default()).unwrap();
    lobby.forget_record();
    assert!(!lobby.is_decided());
    balance(&mut lobby, &WeightTable::default());
    assert!(lobby.is_decided(), "for the next match");
    lobby.change(Command::Host).unwrap();
    assert!(!lobby.is_decided(), "a hosted match is the queue's");
}
