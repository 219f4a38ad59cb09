//! The record of a game that a log states.

use std::collections::BTreeSet;

use super::{
    event::GameEvent,
    format::Skip,
    text::{is_by_name, key_by_name},
};
use evenkeel_model::{Kind, MatchRecord, MatchRecorder, PlayerKey, ident::is_default_name};

/// The team of a player whose team no line has stated yet. The record of a team game leaves out the
/// time on it.
pub(super) const UNKNOWN_TEAM: u8 = u8::MAX;

/// Takes a death or the change of a score, at `at` milliseconds since play began. `visit` is the timeline of a client.
pub(super) fn take(
    recorder: &mut MatchRecorder,
    event: GameEvent,
    at: u64,
    visit: impl Fn(usize) -> Option<usize>,
) {
    match event {
        GameEvent::Death {
            victim, by, enemy, ..
        } => {
            recorder.count_death(visit(victim), at);
            recorder.count_kill(by.filter(|_| enemy).and_then(visit), at);
        }
        GameEvent::Score { team, points, by } => {
            let at = recorder.tick(at);
            recorder.score(team, points, by.and_then(visit), at);
        }
        _ => {}
    }
}

/// Gives the humans with this id their names for ids, and returns how many there are.
pub(super) fn split_id(recorder: &mut MatchRecorder, id: &str) -> usize {
    let mut names = BTreeSet::new();
    for player in recorder.players_mut() {
        if player.key.kind == Kind::Human && player.key.id == id {
            player.key = key_by_name(false, player.name.clone());
            names.insert(&player.key.id);
        }
    }
    names.len()
}

/// Completes the record of a game that lasted `millis`, and tells players apart who were called by one name. `record` states all but its players, its events and its outcome,
/// which follows from the scores.
///
/// # Errors
/// Returns [`Skip::TooLarge`] if the game exceeded a bound, [`Skip::Empty`] if nobody was on a team,
/// and [`Skip::Impossible`] if the record fails [`MatchRecord::check`].
pub(super) fn complete(
    recorder: &MatchRecorder,
    record: MatchRecord,
    millis: u64,
) -> Result<MatchRecord, Skip> {
    if recorder.is_cut() {
        return Err(Skip::TooLarge);
    }
    let is_default = |key: &PlayerKey, name: &str| key.kind == Kind::Human && is_default_name(name);
    let apart = recorder.with_namesakes_apart(is_by_name, is_default);
    let (mut record, _) = apart.as_ref().unwrap_or(recorder).complete(record, millis);
    record.outcome = MatchRecord::outcome_of(&record.scores);
    match record.check() {
        Ok(()) if record.participants.is_empty() => Err(Skip::Empty),
        Ok(()) => Ok(record),
        Err(why) => Err(Skip::Impossible(why)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_model::PlayerKey;

    fn human(id: &str) -> PlayerKey {
        PlayerKey {
            kind: Kind::Human,
            id: id.to_owned(),
        }
    }

    fn blank(scores: &[f64]) -> MatchRecord {
        MatchRecord {
            game_type: "ctf".to_owned(),
            scores: scores.to_vec(),
            ..MatchRecord::default()
        }
    }

    #[test]
    fn a_game_without_anybody_is_no_match() {
        let built = complete(&MatchRecorder::default(), blank(&[1.0, 0.0]), 10);
        assert_eq!(built, Err(Skip::Empty));
    }

    #[test]
    fn an_id_of_several_players_is_split() {
        let mut recorder = MatchRecorder::default();
        for (name, from) in [("A", 0), ("B", 0), ("A", 5)] {
            let visit = recorder.enter(human("x"), name.into());
            recorder.set_team(visit, Some(0), from);
            if from == 0 {
                recorder.set_team(visit, None, 4);
            }
        }
        assert_eq!(
            (split_id(&mut recorder, "x"), split_id(&mut recorder, "x")),
            (2, 0)
        );
        recorder.end(10);
        let record = complete(&recorder, blank(&[1.0, 0.0]), 10).unwrap();
        let ids: Vec<_> = record.participants.iter().map(|p| &p.key.id).collect();
        assert_eq!(ids, ["A", "B"]);
    }

    /// The ids of those who were there under one id: each with a name, from and to these seconds.
    fn ids_of(players: [(&str, u64, u64); 2]) -> Vec<String> {
        let mut recorder = MatchRecorder::default();
        for (name, from, to) in players {
            let visit = recorder.enter(human("a1"), name.into());
            recorder.set_team(visit, Some(0), from * 1_000);
            recorder.set_team(visit, None, to * 1_000);
        }
        let record = complete(&recorder, blank(&[1.0, 0.0]), 1_000_000).unwrap();
        record
            .participants
            .into_iter()
            .map(|one| one.key.id)
            .collect()
    }

    #[test]
    fn an_id_that_two_have_at_once_is_nobodys() {
        let two = ["name in use twice: a1 #1", "name in use twice: a1 #2"];
        assert_eq!(ids_of([("ann", 0, 900), ("bob", 0, 900)]), two);
        assert_eq!(ids_of([("Player", 0, 900), ("Player", 300, 900)]), two);
        // Who comes back before the server has noticed that the old connection is dead is one.
        assert_eq!(ids_of([("ann", 0, 430), ("ann", 300, 900)]), ["a1"]);
        assert_eq!(ids_of([("ann", 0, 330), ("bob", 300, 900)]), ["a1"]);
        assert_eq!(ids_of([("ann", 0, 300), ("ann", 300, 900)]), ["a1"]);
    }

    #[test]
    fn those_of_unknown_team_are_left_out_of_a_team_game_only() {
        for (scores, present) in [(&[0.0, 0.0][..], 1), (&[][..], 2)] {
            let mut recorder = MatchRecorder::default();
            let other = recorder.enter(human("b"), "B".into());
            recorder.set_team(other, Some(1), 0);
            let visit = recorder.enter(human("a"), "A".into());
            recorder.set_team(visit, Some(UNKNOWN_TEAM), 0);
            recorder.end(10);
            let record = complete(&recorder, blank(scores), 10).unwrap();
            assert_eq!(record.participants.len(), present);
        }
    }
}
