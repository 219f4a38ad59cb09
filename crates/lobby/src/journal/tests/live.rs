//! A session that keeps a journal, as the session room does, without files.

use std::borrow::Cow;

use super::{super::*, DATE, steps::Step};
use crate::journal::{EntryBuffer, HEADER};

/// A session, and the journal that it has written.
pub(super) struct Live {
    pub(super) lobby: Lobby,
    pub(super) number: i64,
    pub(super) epoch: Timestamp,
    pub(super) end: JournaledEnd,
    pub(super) reasons: Vec<String>,
    pub(super) earlier: Vec<(i64, Finished)>,
    pub(super) buffer: EntryBuffer,
    pub(super) journal: Vec<u8>,
}

impl Live {
    pub(super) fn new() -> Self {
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
            JournaledEnd::Over { .. } => return,
            _ if !self.earlier.is_empty() => return,
            JournaledEnd::Answered(answer) => Some(answer.clone()),
            JournaledEnd::Open => None,
        };
        let at = self.lobby.now();
        let snapshot = JournalSnapshot {
            server: Some("s".into()),
            number: self.number,
            date: DATE.plus_millis(at as i64),
            epoch: self.epoch,
            end,
            reasons: Cow::Borrowed(&self.reasons),
            lobby: Cow::Borrowed(&self.lobby),
            held: None,
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

    pub(super) fn write(&mut self) {
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

    pub(super) fn step(&mut self, step: &Step, now: u64) {
        match step {
            Step::Command(command) => self.carry_out(command, now),
            Step::End(verdict) => {
                let frame = self.frame();
                if self.end == JournaledEnd::Open
                    && let Ok(finished) = self.lobby.at(now).end(*verdict, &frame)
                {
                    self.note(&Entry::End(*verdict));
                    self.end = JournaledEnd::Over {
                        finished: Box::new(finished),
                        delivered: false,
                    };
                }
            }
            Step::Recorded => {
                if let JournaledEnd::Over { .. } = self.end {
                    let answer = EndAnswer {
                        id: self.number,
                        unrated: None,
                        delivered: false,
                    };
                    self.lobby.forget_record();
                    self.note(&Entry::Ended(answer.clone()));
                    self.end = JournaledEnd::Answered(answer);
                    self.number += 1;
                    self.note(&Entry::Number(self.number));
                }
            }
            Step::Delivered => {
                match &mut self.end {
                    JournaledEnd::Open => return,
                    JournaledEnd::Over { delivered, .. } => *delivered = true,
                    JournaledEnd::Answered(answer) => answer.delivered = true,
                }
                self.note(&Entry::Delivered);
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
                JournaledEnd::Over { finished, .. } => Some(*finished),
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
    pub(super) fn check(&self, read: &JournaledGame) {
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
pub(super) fn as_json(lobby: &Lobby) -> String {
    serde_json::to_string(lobby.clone().at(1 << 40)).unwrap()
}
