use super::*;
use crate::{
    LobbySettings, Update,
    recorder::RecordFrame,
    weights::tests::{WeightTable, ctf},
};
use evenkeel_model::{ident::Ident, in_game::Verdict};

/// Weights of a ruleset whose matches end with this difference, usually.
struct Usual(f64, WeightTable);

impl Weights for Usual {
    fn human(&self, id: &str) -> f64 {
        self.1.human(id)
    }

    fn bot(&self, name: &str) -> Option<crate::BotWeight> {
        self.1.bot(name)
    }

    fn mean_bot(&self) -> (f64, usize) {
        self.1.mean_bot()
    }

    fn spread(&self) -> ScoreSpread {
        ScoreSpread {
            matches: 1_000.0,
            square: self.0 * self.0,
        }
    }
}

fn usual(difference: f64) -> Usual {
    Usual(difference, WeightTable::new(&[], &[]))
}

/// A game of these humans in play.
fn begin(lobby: &mut Lobby, red: &str, blue: &str) {
    begin_game(lobby, None, red, blue);
}

fn begin_game(lobby: &mut Lobby, mutator: Option<&str>, red: &str, blue: &str) {
    lobby.change(ctf()).unwrap();
    if let Some(name) = mutator {
        let name = name.to_owned();
        lobby.change(Command::Mutator { name }).unwrap();
    }
    for (team, ids) in [(0, red), (1, blue)] {
        for id in ids.chars() {
            let update = Update {
                team: Some(team),
                ..Update::default()
            };
            let id = Ident::from_text(&id.to_string());
            lobby.change(Command::Join { id, update }).unwrap();
        }
    }
    lobby.change(Command::Start).unwrap();
}

fn score(lobby: &mut Lobby, team: u8, points: f64) {
    let by = None;
    lobby.change(Command::Score { team, points, by }).unwrap();
}

/// A match of these humans that team 0 wins by this number of points.
fn won(lobby: &mut Lobby, red: &str, blue: &str, lead: f64) {
    begin(lobby, red, blue);
    finish(lobby, lead);
}

/// Team 0 wins the game by this number of points.
fn finish(lobby: &mut Lobby, lead: f64) {
    score(lobby, 0, lead);
    let now = lobby.now();
    lobby
        .at(now + 600_000)
        .end(Verdict::Scores, &RecordFrame::default())
        .unwrap();
}

#[test]
fn three_rounds_in_a_row_by_far_are_a_streak_once() {
    let mut lobby = Lobby::new(LobbySettings::default());
    begin(&mut lobby, "ab", "cd");
    lobby.at(600_000);
    for _ in 0..2 {
        score(&mut lobby, 0, 1.0);
        assert_eq!(lobby.take_streak(&usual(1.0)), None);
    }
    score(&mut lobby, 0, 1.0);
    // Half of the time is over, so the usual lead is √½ times the final one.
    assert_eq!(lobby.take_streak(&usual(2.2)), None, "not by far");
    let streak = Streak {
        team: 0,
        wins: 3,
        of: Contest::Rounds,
    };
    assert_eq!(lobby.take_streak(&usual(2.0)), Some(streak));
    assert_eq!(lobby.take_streak(&usual(2.0)), None, "once");
    score(&mut lobby, 0, 1.0);
    assert_eq!(lobby.take_streak(&usual(2.0)), None, "the same streak");
    // The others score once: a new one begins.
    score(&mut lobby, 1, 1.0);
    for _ in 0..3 {
        score(&mut lobby, 0, 1.0);
    }
    assert_eq!(lobby.take_streak(&usual(2.0)), Some(streak));
}

#[test]
fn three_kills_in_the_first_seconds_are_no_streak() {
    let mut lobby = Lobby::new(LobbySettings::default());
    begin(&mut lobby, "ab", "cd");
    for _ in 0..3 {
        score(&mut lobby, 0, 1.0);
    }
    assert_eq!(lobby.take_streak(&usual(30.0)), None);
    // A lead with which matches usually end is one, however early.
    for _ in 3..31 {
        score(&mut lobby, 0, 1.0);
    }
    assert!(lobby.take_streak(&usual(30.0)).is_some());
}

#[test]
fn two_players_have_no_other_teams() {
    let mut lobby = Lobby::new(LobbySettings::default());
    begin(&mut lobby, "a", "b");
    for _ in 0..5 {
        score(&mut lobby, 0, 1.0);
    }
    assert_eq!(lobby.take_streak(&usual(1.0)), None);
}

#[test]
fn matches_of_two_rulesets_are_no_streak() {
    let mut lobby = Lobby::new(LobbySettings::default());
    won(&mut lobby, "abc", "def", 6.0);
    begin_game(&mut lobby, Some("instagib"), "abc", "def");
    finish(&mut lobby, 6.0);
    assert_eq!(lobby.take_streak(&usual(2.9)), None);
}

#[test]
fn teams_that_are_chosen_anew_have_no_streak() {
    let mut lobby = Lobby::new(LobbySettings::default());
    begin(&mut lobby, "ab", "cd");
    for _ in 0..5 {
        score(&mut lobby, 0, 1.0);
    }
    let team_of = vec![0, 1, 0, 1];
    lobby.change(Command::Assign { team_of }).unwrap();
    assert_eq!(lobby.take_streak(&usual(1.0)), None);
    score(&mut lobby, 0, 1.0);
    assert_eq!(lobby.take_streak(&usual(1.0)), None);
}

#[test]
fn two_matches_of_mostly_the_same_people_are_a_streak() {
    let streak = Streak {
        team: 0,
        wins: 2,
        of: Contest::Matches,
    };
    for (before, second, lead, expected) in [
        (6.0, "abc", 6.0, Some(streak)),
        (6.0, "abx", 6.0, Some(streak)),
        (6.0, "axy", 6.0, None),
        (6.0, "abcxyz", 6.0, None),
        (6.0, "abc", 5.0, None),
        (5.0, "abc", 6.0, None),
    ] {
        let mut lobby = Lobby::new(LobbySettings::default());
        won(&mut lobby, "abc", "def", before);
        assert_eq!(lobby.take_streak(&usual(2.9)), None, "a single match");
        won(&mut lobby, second, "def", lead);
        assert_eq!(
            lobby.take_streak(&usual(2.9)),
            expected,
            "{before} {second} {lead}"
        );
        assert_eq!(lobby.take_streak(&usual(2.9)), None, "once");
    }
}

#[test]
fn a_draw_or_another_winner_breaks_a_streak() {
    for (team, points) in [(0, 0.0), (1, 6.0)] {
        let mut lobby = Lobby::new(LobbySettings::default());
        won(&mut lobby, "abc", "def", 6.0);
        begin(&mut lobby, "abc", "def");
        score(&mut lobby, team, points);
        let now = lobby.now();
        lobby
            .at(now + 600_000)
            .end(Verdict::Scores, &RecordFrame::default())
            .unwrap();
        assert_eq!(lobby.take_streak(&usual(2.9)), None);
        won(&mut lobby, "abc", "def", 6.0);
        assert_eq!(lobby.take_streak(&usual(2.9)), None);
    }
}
