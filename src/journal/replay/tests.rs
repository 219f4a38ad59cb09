use std::borrow::Cow;

use proptest::{collection::vec, prelude::*};

use super::*;
use crate::{
    domain::{Ident, LeaveReason, Move, Outcome},
    journal::{EntryBuffer, HEADER},
    lobby::{BalanceWatch, NewGame, Update},
};

const DATE: Timestamp = Timestamp(1_000_000_000_000);

/// A session that keeps a journal as the session room does.
struct Live {
    lobby: Lobby,
    number: i64,
    epoch: Timestamp,
    end: JournaledEnd,
    reasons: Vec<String>,
    earlier: Vec<(i64, Finished)>,
    buffer: EntryBuffer,
    journal: Vec<u8>,
}

/// One thing that happens.
#[derive(Clone, Debug)]
enum Step {
    Command(Command),
    End(Verdict),
    /// The match of the game that is over has reached the disk.
    Recorded,
    Delivered,
    /// A decision was made, with this reason.
    Decided(u32),
    /// Everything so far is written as a frame.
    Write,
    /// A new journal begins.
    Compact,
}

impl Live {
    fn new() -> Self {
        let mut live = Self {
            lobby: Lobby::new(LobbySettings::default()),
            number: 1,
            epoch: DATE,
            end: JournaledEnd::Open,
            reasons: Vec::new(),
            earlier: Vec::new(),
            buffer: EntryBuffer::default(),
            journal: Vec::new(),
        };
        live.compact();
        live
    }

    fn compact(&mut self) {
        let end = match &self.end {
            JournaledEnd::Over(_) => return,
            _ if !self.earlier.is_empty() => return,
            JournaledEnd::Answered(answer) => Some(answer.clone()),
            JournaledEnd::Open => None,
        };
        let at = self.lobby.now();
        let snapshot = Snapshot {
            server: Some("s".into()),
            number: self.number,
            date: DATE.plus_millis(at as i64),
            epoch: self.epoch,
            end,
            reasons: Cow::Borrowed(&self.reasons),
            lobby: Cow::Borrowed(&self.lobby),
        };
        let mut buffer = EntryBuffer::default();
        buffer
            .push(at, &Entry::Snapshot(Box::new(snapshot)))
            .unwrap();
        self.buffer.clear();
        self.journal = [&HEADER[..], buffer.frame().unwrap().unwrap()].concat();
    }

    fn note(&mut self, entry: &Entry<'_>) {
        self.buffer.push(self.lobby.now(), entry).unwrap();
    }

    fn write(&mut self) {
        if let Some(frame) = self.buffer.frame().unwrap() {
            self.journal.extend_from_slice(frame);
        }
        self.buffer.clear();
    }

    fn frame(&self) -> RecordFrame {
        RecordFrame {
            server: "s".into(),
            epoch: self.epoch,
            mode: String::new(),
        }
    }

    fn step(&mut self, step: &Step, now: u64) {
        match step {
            Step::Command(command) => self.carry_out(command, now),
            Step::End(verdict) => {
                let frame = self.frame();
                if self.end == JournaledEnd::Open
                    && let Ok(finished) = self.lobby.at(now).end(*verdict, &frame)
                {
                    self.note(&Entry::End(*verdict));
                    self.end = JournaledEnd::Over(Box::new(finished));
                }
            }
            Step::Recorded => {
                if let JournaledEnd::Over(_) = self.end {
                    let answer = EndAnswer {
                        id: self.number,
                        unrated: None,
                        delivered: false,
                    };
                    self.lobby.forget_course();
                    self.note(&Entry::Ended(answer.clone()));
                    self.end = JournaledEnd::Answered(answer);
                    self.number += 1;
                    self.note(&Entry::Number(self.number));
                }
            }
            Step::Delivered => {
                if let JournaledEnd::Answered(answer) = &mut self.end {
                    answer.delivered = true;
                    self.note(&Entry::Delivered);
                }
            }
            Step::Decided(reason) => {
                self.reasons = vec![reason.to_string()];
                let reasons = self.reasons.clone();
                self.note(&Entry::Reasons(reasons.into()));
            }
            Step::Write => self.write(),
            Step::Compact => {
                self.write();
                self.compact();
            }
        }
    }

    fn carry_out(&mut self, command: &Command, now: u64) {
        let frame = self.frame();
        let is_game = matches!(command, Command::Game(_));
        let cut_off = is_game.then(|| self.lobby.at(now).abandoned(&frame));
        if self.lobby.apply(command, now).is_err() {
            return;
        }
        self.note(&Entry::Command(Cow::Borrowed(command)));
        if is_game {
            self.reasons.clear();
        }
        if is_game || *command == Command::Start {
            let over = match std::mem::replace(&mut self.end, JournaledEnd::Open) {
                JournaledEnd::Over(finished) => Some(*finished),
                _ => cut_off.flatten(),
            };
            if let Some(finished) = over {
                self.earlier.push((self.number, finished));
                self.number += 1;
            }
            self.note(&Entry::Number(self.number));
        }
        if *command == Command::Start {
            self.epoch = DATE.plus_millis(7);
            self.note(&Entry::Epoch(self.epoch));
        }
    }

    /// Whether this is what its journal says.
    fn check(&self, read: &JournaledGame) {
        assert_eq!(as_json(&read.lobby), as_json(&self.lobby));
        assert_eq!(read.number, Some(self.number));
        assert_eq!((read.epoch, read.origin), (self.epoch, DATE));
        assert_eq!(read.end, self.end);
        assert_eq!(read.earlier, self.earlier);
        assert_eq!(read.reasons, self.reasons);
        assert_eq!(
            (read.failed, read.server.as_deref()),
            (0, Some("s")),
            "nothing fails that did not fail before"
        );
    }
}

/// The lobby at a later time: a command that fails is in no journal, and moves the lobby's clock.
fn as_json(lobby: &Lobby) -> String {
    serde_json::to_string(lobby.clone().at(1 << 40)).unwrap()
}

fn read(journal: &[u8]) -> Result<JournaledGame, JournalError> {
    JournaledGame::read(journal, &LobbySettings::default())
}

fn ident() -> impl Strategy<Value = Ident> {
    prop_oneof![
        8 => "[abc]".prop_map(|name| Ident::from_text(&name)),
        1 => Just(Ident::new(b"\"Ren\xe9\"", b"Ren\xe9")),
    ]
}

fn command() -> impl Strategy<Value = Command> {
    let team = 0u8..3;
    let update = (
        proptest::option::of(0u8..3),
        proptest::option::of(proptest::option::of(0u8..2)),
        proptest::option::of("[pq]?"),
    );
    let update = update.prop_map(|(team, pin, party)| Update {
        team,
        pin,
        party,
        ..Update::default()
    });
    prop_oneof![
        3 => any::<bool>().prop_map(|has_teams| Command::Game(NewGame {
            game_type: "ctf".into(),
            has_teams,
            tournament: false,
        })),
        6 => Just(Command::Start),
        12 => (ident(), update).prop_map(|(id, update)| Command::Join { id, update }),
        3 => ident().prop_map(|id| Command::Leave { id, reason: LeaveReason::Left }),
        3 => (ident(), team.clone()).prop_map(|(id, team)| Command::Move { id, team }),
        3 => (ident(), team.clone()).prop_map(|(name, team)| Command::BotJoin { name, team }),
        1 => ident().prop_map(|name| Command::BotLeave { name }),
        1 => (2u8..4).prop_map(|teams| Command::Teams { teams }),
        1 => (0u32..9).prop_map(|players| Command::MinPlayers { players }),
        1 => any::<bool>().prop_map(|acts| Command::DeclareBots { acts }),
        1 => Just(Command::ShowBots),
        1 => "[xy]".prop_map(|name| Command::Mutator { name }),
        1 => "[mn]".prop_map(|name| Command::Map { name, players: Some((2, 8)) }),
        2 => (ident(), proptest::option::of(0u64..9_000))
            .prop_map(|(id, millis)| Command::Protect { id, millis }),
        6 => (team.clone(), -2.0..5.0, proptest::option::of(ident()))
            .prop_map(|(team, points, by)| Command::Score { team, points, by }),
        3 => (ident(), -2.0..50.0).prop_map(|(id, points)| Command::Points { id, points }),
        3 => (ident(), ident()).prop_map(|(killer, victim)| Command::Kill { killer, victim }),
        2 => ident().prop_map(|id| Command::Death { id }),
        1 => (0u64..600_000).prop_map(|left| Command::Clock { left }),
        1 => vec(team.clone(), 0..4).prop_map(|team_of| Command::Assign { team_of }),
        1 => (ident(), team.clone()).prop_map(|(id, team)| Command::Place { id, team }),
        1 => (ident(), team.clone()).prop_map(|(id, to)| Command::Advise {
            moves: vec![Move { id, from: None, to }],
        }),
        1 => vec(-1.0..1.0, 0..3).prop_map(|by_score| Command::Help { by_score }),
        1 => (ident(), team.clone()).prop_map(|(id, team)| Command::AutoMove { id, team }),
        1 => proptest::option::of(ident()).prop_map(|id| Command::Ask { id }),
        1 => proptest::option::of((0u8..2, 0u64..9_000)).prop_map(|imbalance| {
            Command::Watch(BalanceWatch { imbalance, stronger: Some(1) })
        }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let verdict = prop_oneof![
        Just(Verdict::Scores),
        Just(Verdict::Draw),
        (0u8..3).prop_map(Verdict::Won)
    ];
    prop_oneof![
        20 => command().prop_map(Step::Command),
        2 => verdict.prop_map(Step::End),
        2 => Just(Step::Recorded),
        1 => Just(Step::Delivered),
        1 => any::<u32>().prop_map(Step::Decided),
        6 => Just(Step::Write),
        1 => Just(Step::Compact),
    ]
}

fn steps() -> impl Strategy<Value = Vec<(Step, u64)>> {
    vec((step(), 0u64..2_000), 0..80)
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
        forged in vec((any::<prop::sample::Index>(), 0u8..10), 1..6),
    ) {
        let live = play(&steps, |_| ());
        let snapshot = Snapshot {
            server: None,
            number: 5,
            date: DATE,
            epoch: DATE,
            end: None,
            reasons: Cow::Borrowed(&[]),
            lobby: Cow::Borrowed(&live.lobby),
        };
        let mut text = serde_json::to_vec(&(9u64, Entry::Snapshot(Box::new(snapshot)))).unwrap();
        let digits: Vec<usize> = (0..text.len()).filter(|&at| text[at].is_ascii_digit()).collect();
        for (at, digit) in forged {
            text[digits[at.index(digits.len())]] = b'0' + digit;
        }
        let mut buffer = crate::journal::frame::FrameBuffer::default();
        buffer.payload().extend_from_slice(&text);
        let journal = [&HEADER[..], buffer.seal().unwrap().unwrap()].concat();
        if let Ok(mut game) = read(&journal) {
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
        has_teams: true,
        tournament: false,
    }))
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
    assert_eq!(of(b"EVKLGAM\x02"), JournalError::Foreign);
    assert_eq!(of(&HEADER), JournalError::Damaged);
    let mut buffer = EntryBuffer::default();
    buffer.push(0, &Entry::Number(1)).unwrap();
    let number = [&HEADER[..], buffer.frame().unwrap().unwrap()].concat();
    assert_eq!(of(&number), JournalError::Unreadable, "no snapshot");
    let mut later = Live::new().journal;
    let mut buffer = crate::journal::frame::FrameBuffer::default();
    buffer.payload().extend_from_slice(b"[0,\"something-new\"]");
    later.extend_from_slice(buffer.seal().unwrap().unwrap());
    assert_eq!(of(&later), JournalError::Unreadable, "of a later version");
}
