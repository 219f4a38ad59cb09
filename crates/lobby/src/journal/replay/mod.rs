//! Restores a game from the bytes of its journal.

use std::borrow::Cow;

use super::{EndAnswer, Entries, Entry, HeldGame, JournalError, JournalSnapshot, frame::Frames};
use crate::{Command, Finished, Lobby, LobbySettings, RecordFrame};
use evenkeel_model::{Timestamp, Verdict};

/// A game, restored from its journal.
#[derive(Clone, Debug)]
pub struct JournaledGame {
    /// The game server, if HELLO has named it.
    pub server: Option<String>,
    /// The number of the game; `None` if the journal breaks off before it.
    pub number: Option<i64>,
    /// The date of the session's millisecond 0, as of START.
    pub epoch: Timestamp,
    /// The date of the session's millisecond 0, as of the snapshot.
    pub origin: Timestamp,
    /// The lobby after the last entry.
    pub lobby: Lobby,
    /// Whether the game has ended, and whether its match is on disk.
    pub end: JournaledEnd,
    /// The reasons for the last decision of the game, one per line.
    pub reasons: Vec<String>,
    /// The game that the lobby keeps because the present one may be the same once more.
    pub held: Option<HeldGame>,
    /// Matches of earlier games of this session, each with the number of its game. Some of them may be
    /// on disk.
    pub earlier: Vec<(i64, Finished)>,
    /// The number of commands that failed, which happens if the settings have changed.
    pub failed: usize,
    /// Whether the beginning of the journal is damaged, and its copy was read.
    pub copied: bool,
    /// The number of bytes of the journal up to the end of the last undamaged frame.
    pub valid: usize,
}

/// Whether a journaled game has ended, and whether its match is on disk.
#[derive(Clone, Debug, PartialEq)]
pub enum JournaledEnd {
    /// The journal contains no END.
    Open,
    /// The journal contains END, but not whether the match is on disk.
    Over {
        /// The match that END must record.
        finished: Box<Finished>,
        /// Whether `ERROR internal kept` has been sent, or was about to be sent.
        delivered: bool,
    },
    /// The match is on disk.
    Answered(EndAnswer),
}

impl JournaledGame {
    /// Reads a journal up to the first frame that is torn or damaged. The commands are carried out under
    /// `settings`.
    ///
    /// # Errors
    /// Fails with a [`JournalError`] if the first frame cannot be read, or if this version does not
    /// understand an undamaged frame.
    pub fn read(journal: &[u8], settings: &LobbySettings) -> Result<Self, JournalError> {
        let mut frames = Frames::read(journal)?;
        let first = frames.next().ok_or(JournalError::Damaged)?;
        let mut entries = Entries::read(first);
        let mut game = match entries.next() {
            Some(Ok((at, Entry::Snapshot(snapshot)))) => Self::begin(*snapshot, at, settings)?,
            _ => return Err(JournalError::Unreadable),
        };
        game.follow(entries, settings)?;
        for frame in frames.by_ref() {
            game.follow(Entries::read(frame), settings)?;
        }
        game.valid = frames.valid();
        game.copied = frames.is_copied();
        Ok(game)
    }

    fn begin(
        snapshot: JournalSnapshot<'_>,
        at: u64,
        settings: &LobbySettings,
    ) -> Result<Self, JournalError> {
        let lobby = snapshot.lobby.into_owned().restored(settings.clone());
        let millis = i64::try_from(at).map_err(|_| JournalError::Inconsistent)?;
        Ok(Self {
            server: snapshot.server.map(Cow::into_owned),
            number: Some(snapshot.number),
            epoch: snapshot.epoch,
            origin: snapshot.date.plus_millis(-millis),
            lobby: lobby.ok_or(JournalError::Inconsistent)?,
            end: match snapshot.end {
                Some(answer) => JournaledEnd::Answered(answer),
                None => JournaledEnd::Open,
            },
            reasons: snapshot.reasons.into_owned(),
            held: snapshot.held.map(Cow::into_owned),
            earlier: Vec::new(),
            failed: 0,
            copied: false,
            valid: 0,
        })
    }

    fn follow(
        &mut self,
        entries: Entries<'_>,
        settings: &LobbySettings,
    ) -> Result<(), JournalError> {
        for entry in entries {
            let (at, entry) = entry?;
            match entry {
                Entry::Snapshot(snapshot) => {
                    let earlier = std::mem::take(&mut self.earlier);
                    *self = Self::begin(*snapshot, at, settings)?;
                    self.earlier = earlier;
                }
                Entry::Server(server) => self.server = Some(server.into_owned()),
                Entry::Command(command) => self.carry_out(&command, at),
                Entry::Reasons(reasons) => self.reasons = reasons.into_owned(),
                Entry::Number(number) => self.number = Some(number),
                Entry::Epoch(epoch) => self.epoch = epoch,
                Entry::End(verdict) => self.end(verdict, at),
                Entry::Ended(answer) => {
                    self.lobby.forget_record();
                    self.end = JournaledEnd::Answered(answer);
                }
                Entry::Delivered => match &mut self.end {
                    JournaledEnd::Open => {}
                    JournaledEnd::Over { delivered, .. } => *delivered = true,
                    JournaledEnd::Answered(answer) => answer.delivered = true,
                },
            }
        }
        Ok(())
    }

    fn carry_out(&mut self, command: &Command, at: u64) {
        self.note_held(command);
        let cut_off = match command {
            Command::Game(_) if self.held.is_none() => {
                let frame = self.frame();
                self.lobby.at(at).abandoned(&frame)
            }
            _ => None,
        };
        if self.lobby.apply(command, at).is_err() {
            self.failed += 1;
            return;
        }
        if let Command::Game(_) = command {
            self.reasons.clear();
        }
        if matches!(command, Command::Game(_) | Command::Start) {
            let over = match std::mem::replace(&mut self.end, JournaledEnd::Open) {
                JournaledEnd::Over { finished, .. } => Some(*finished),
                JournaledEnd::Open | JournaledEnd::Answered(_) => cut_off,
            };
            if let Some(finished) = over {
                // The next game has another number.
                let number = self.number.take();
                self.earlier.extend(number.map(|number| (number, finished)));
            }
        }
    }

    /// Notes, before a command on the game that is kept is carried out, what the session knew of it.
    fn note_held(&mut self, command: &Command) {
        match (command, self.held.take()) {
            (Command::Hold, _) => {
                self.held = self.number.map(|number| HeldGame {
                    number,
                    epoch: self.epoch,
                    reasons: std::mem::take(&mut self.reasons),
                });
            }
            (Command::GoOn, Some(held)) => {
                self.number = Some(held.number);
                if self.reasons.is_empty() {
                    self.reasons = held.reasons;
                }
            }
            (Command::DropBefore, Some(held)) => {
                let frame = RecordFrame {
                    epoch: held.epoch,
                    ..self.frame()
                };
                let finished = self.lobby.abandoned_before(&frame);
                let finished = finished.map(|finished| (held.number, finished));
                self.earlier.extend(finished);
            }
            (_, held) => self.held = held,
        }
    }

    fn end(&mut self, verdict: Verdict, at: u64) {
        let frame = self.frame();
        match self.lobby.at(at).end(verdict, &frame) {
            Ok(finished) => {
                let finished = Box::new(finished);
                self.end = JournaledEnd::Over {
                    finished,
                    delivered: false,
                };
            }
            Err(_) => self.failed += 1,
        }
    }

    /// The parts of a match record that do not come from the game itself.
    fn frame(&self) -> RecordFrame {
        RecordFrame {
            server: self.server.clone().unwrap_or_default(),
            epoch: self.epoch,
            mode: String::new(),
        }
    }
}

#[cfg(test)]
mod tests;
