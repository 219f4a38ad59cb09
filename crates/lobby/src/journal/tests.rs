//! Journals read again: whole, torn, damaged and forged.

use std::borrow::Cow;

use evenkeel_model::{Outcome, ident::Ident};
use proptest::{collection::vec, prelude::*};

use super::{
    frame::{FrameBuffer, PREFIX},
    *,
};
use crate::{NewGame, Update};

use live::{Live, as_json};
use steps::{Step, steps};

mod live;

mod steps;

const DATE: Timestamp = Timestamp(1_000_000_000_000);

fn read(journal: &[u8]) -> Result<JournaledGame, JournalError> {
    JournaledGame::read(journal, &LobbySettings::default())
}

/// A journal with this payload in a frame.
fn journal_of(payload: &[u8]) -> Vec<u8> {
    let mut buffer = FrameBuffer::default();
    buffer.payload().extend_from_slice(payload);
    [&HEADER[..], buffer.seal().unwrap().unwrap()].concat()
}

/// Plays the steps. Calls `written` whenever the journal is complete.
fn play(steps: &[(Step, u64)], mut written: impl FnMut(&Live)) -> Live {
    let (mut live, mut now) = (Live::new(), 0);
    written(&live);
    for (step, passed) in steps {
        now += passed;
        live.step(step, now);
        if live.buffer.is_empty() {
            written(&live);
        }
    }
    live.write();
    written(&live);
    live
}

/// All questions that a game can be asked; none of them may panic.
fn question(game: &mut JournaledGame) {
    let frame = game.frame();
    let _ = game.lobby.bots();
    let _ = game.lobby.abandoned(&frame);
    let now = game.lobby.now();
    for id in ["a", "b", "c"] {
        let id = Ident::from_text(id);
        let _ = game.lobby.apply(&Command::Death { id: id.clone() }, now);
        let _ = game.lobby.apply(
            &Command::Kill {
                killer: id.clone(),
                victim: id,
            },
            now,
        );
    }
    let score = Command::Score {
        team: 1,
        points: 1.0,
        by: None,
    };
    let _ = game.lobby.apply(&score, now.saturating_add(1));
    if let Ok(finished) = game.lobby.end(Verdict::Scores, &frame) {
        assert_eq!(finished.record.check(), Ok(()));
    }
}

proptest! {
    #[test]
    fn a_game_is_what_its_journal_says(steps in steps()) {
        play(&steps, |live| {
            let game = read(&live.journal).unwrap();
            live.check(&game);
            assert_eq!(game.valid, live.journal.len());
        });
    }

    #[test]
    fn a_torn_tail_leaves_the_game_as_it_was_a_frame_before(
        steps in steps(),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut states: Vec<(Vec<u8>, String)> = Vec::new();
        let live = play(&steps, |live| states.push((live.journal.clone(), as_json(&live.lobby))));
        let torn = &live.journal[..cut.index(live.journal.len() + 1)];
        if let Ok(game) = read(torn) {
            let whole = &torn[..game.valid];
            let was = states.iter().rev().find(|(journal, _)| journal == whole);
            prop_assert_eq!(Some(as_json(&game.lobby)), was.map(|(_, lobby)| lobby.clone()));
        } else {
            prop_assert!(states.iter().all(|(journal, _)| !torn.starts_with(journal)));
        }
    }

    #[test]
    fn a_damaged_journal_never_panics(
        steps in steps(),
        at in any::<prop::sample::Index>(),
        flip in 1u8..,
    ) {
        let mut journal = play(&steps, |_| ()).journal;
        let at = at.index(journal.len());
        journal[at] ^= flip;
        if let Ok(mut game) = read(&journal) {
            prop_assert!(game.valid <= at);
            question(&mut game);
        }
    }

    /// Somebody has written the journal by hand: the checksums are right, and the numbers are not.
    #[test]
    fn a_forged_journal_never_panics(
        steps in steps(),
        forged in vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let live = play(&steps, |_| ());
        let snapshot = JournalSnapshot {
            server: None,
            number: 5,
            date: DATE,
            epoch: DATE,
            end: None,
            reasons: Cow::Borrowed(&[]),
            lobby: Cow::Borrowed(&live.lobby),
            held: None,
        };
        let mut buffer = EntryBuffer::default();
        buffer.push(9, &Entry::Snapshot(Box::new(snapshot))).unwrap();
        let payload = &mut buffer.frame().unwrap().unwrap()[PREFIX..].to_vec();
        for (at, byte) in forged {
            let at = at.index(payload.len());
            payload[at] = byte;
        }
        if let Ok(mut game) = read(&journal_of(payload)) {
            question(&mut game);
        }
    }
}

fn join(id: &str, team: u8) -> Step {
    Step::Command(Command::Join {
        id: Ident::from_text(id),
        update: Update {
            team: Some(team),
            ..Update::default()
        },
    })
}

fn new_game() -> Step {
    Step::Command(Command::Game(NewGame {
        game_type: "ctf".into(),
        canonical_type: "ctf".into(),
        has_teams: true,
        tournament: false,
    }))
}

#[test]
fn what_is_no_number_is_refused() {
    for points in [f64::NAN, f64::INFINITY] {
        let id = Ident::from_text("a");
        let mut buffer = EntryBuffer::default();
        let command = Command::Points { id, points };
        buffer
            .push(3, &Entry::Command(Cow::Owned(command)))
            .unwrap();
        let points = buffer.frame().unwrap().unwrap();
        let journal = [&Live::new().journal[..], points].concat();
        assert_eq!(read(&journal).map(|_| ()), Err(JournalError::Unreadable));
    }
}

#[test]
fn games_that_ended_before_are_found() {
    let start = || Step::Command(Command::Start);
    let steps = [
        new_game(),
        join("a", 0),
        join("b", 1),
        start(),
        Step::End(Verdict::Won(1)),
        // END could not be written; the next game begins, and is cut off by the one after it.
        start(),
        new_game(),
        join("c", 0),
    ];
    let steps: Vec<_> = steps.into_iter().map(|step| (step, 1_000)).collect();
    let live = play(&steps, |_| ());
    let game = read(&live.journal).unwrap();
    let earlier = game.earlier.iter();
    let outcomes: Vec<_> = earlier
        .map(|(number, finished)| (*number, finished.record.outcome))
        .collect();
    assert_eq!(outcomes, [(1, Outcome::Won(1)), (2, Outcome::Abandoned)]);
    assert_eq!(game.number, Some(3));
    assert_eq!(game.end, JournaledEnd::Open);
}

#[test]
fn what_is_no_journal_is_refused() {
    let of = |bytes: &[u8]| read(bytes).map(|_| ()).unwrap_err();
    assert_eq!(of(b""), JournalError::Foreign);
    assert_eq!(of(b"EVKLGAM\x01"), JournalError::Foreign, "of 0.2");
    assert_eq!(of(&HEADER), JournalError::Damaged);
    let mut buffer = EntryBuffer::default();
    buffer.push(0, &Entry::Number(1)).unwrap();
    let number = [&HEADER[..], buffer.frame().unwrap().unwrap()].concat();
    assert_eq!(of(&number), JournalError::Unreadable, "no snapshot");
    let of_other_versions = [
        &b"\0\x7f"[..],
        b"[0,\"something-new\"]",
        b"[7,{\"command\":{\"clock\":{\"left\":2400}}}]",
        b"\0\x07\x04\xe0\x12",
    ];
    for other in of_other_versions {
        let mut journal = Live::new().journal;
        journal.extend_from_slice(&journal_of(other)[HEADER.len()..]);
        assert_eq!(of(&journal), JournalError::Unreadable, "{other:?}");
    }
}
