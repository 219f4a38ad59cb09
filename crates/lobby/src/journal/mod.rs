//! The format of the journal, from which a game is resumed after the daemon was stopped or killed.
//!
//! A journal belongs to one session's game. It begins with a [`JournalSnapshot`] of the game and continues with an
//! [`Entry`] for everything that changed it, collected in frames with a length and a checksum.
//! [`JournaledGame::read`] applies the entries again. Reading does not trust the bytes: a torn or damaged tail is cut
//! off, a damaged beginning is replaced by its copy, and inconsistent content is an error, never a panic. Entries are
//! in the encoding of postcard. Of a lobby, it stores the commands, from which the lobby can be made again, and the
//! lobby itself as plain data.
//!
//! This module does not read or write files, and does not use a clock.
//!
//! Entry points: [`EntryBuffer`] to write, [`JournaledGame::read`] to read.

mod frame;

pub use frame::{HEADER, before_copy, copy_of_beginning};

use std::{borrow::Cow, collections::BTreeSet};

use evenkeel_model::{
    Timestamp,
    in_game::Verdict,
    record::{MAX_PLAYERS, MAX_TEAMS},
};
use serde::{Deserialize, Serialize};

use crate::{
    Command, Lobby, LobbySettings,
    command::Offer,
    recorder::{Finished, RecordFrame},
    state::{GameBefore, MAX_MUTATORS, RunningGame},
    streak::Win,
};

use frame::{FrameBuffer, Frames};

/// One entry of a journal, in a frame beside the millisecond of the session at which it happened.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Entry<'a> {
    /// This state replaces all entries before it.
    Snapshot(Box<JournalSnapshot<'a>>),
    /// HELLO named the game server.
    Server(Cow<'a, str>),
    /// A command that the lobby has carried out.
    Command(Cow<'a, Command>),
    /// The reasons for the last decision, one per line. They belong to the present game only.
    Reasons(Cow<'a, [String]>),
    /// The number that the game has from this entry on.
    Number(i64),
    /// The date of the session's millisecond 0, as of START.
    Epoch(Timestamp),
    /// END ended the game; its match is not on disk yet.
    End(Verdict),
    /// The match is on disk, and this is the answer to END.
    Ended(EndAnswer),
    /// An answer to END is about to be sent: the match's id, or that the match is kept.
    Delivered,
}

/// The state of a session's game.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JournalSnapshot<'a> {
    /// The game server, once HELLO has named it.
    pub server: Option<Cow<'a, str>>,
    /// The number of the game, which no other game has.
    pub number: i64,
    /// The date of the snapshot.
    pub date: Timestamp,
    /// The date of the session's millisecond 0, as of START.
    pub epoch: Timestamp,
    /// The answer to END; `None` if the game is not over.
    pub end: Option<EndAnswer>,
    /// The reasons for the last decision of the game, one per line.
    pub reasons: Cow<'a, [String]>,
    /// The lobby. Its game is not over, or its match is on disk.
    pub lobby: Cow<'a, Lobby>,
    /// The game that the lobby keeps because the present one may be the same once more.
    pub held: Option<Cow<'a, HeldGame>>,
}

/// What a session knows of a game that its lobby keeps.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldGame {
    /// The number of the game.
    pub number: i64,
    /// The date of the session's millisecond 0, as of its START.
    pub epoch: Timestamp,
    /// The reasons for its last decision, one per line.
    pub reasons: Vec<String>,
}

/// The answer to END.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndAnswer {
    /// The id under which the match is stored.
    pub id: i64,
    /// Why the match is not rated; `None` if it is.
    pub unrated: Option<String>,
    /// Whether the answer has been sent, or was about to be sent.
    pub delivered: bool,
}

/// An entry, and the millisecond of the session at which it happened.
type TimedEntry = (u64, Entry<'static>);

/// Collects entries for one frame.
#[derive(Debug, Default)]
pub struct EntryBuffer(FrameBuffer);

impl EntryBuffer {
    /// Adds an entry for something that happened at `at`, in milliseconds of the session.
    ///
    /// # Errors
    /// Fails if the entry cannot be encoded. The buffer cannot be used after that.
    pub fn push(&mut self, at: u64, entry: &Entry<'_>) -> Result<(), JournalError> {
        let payload = self.0.payload();
        let written = postcard::to_extend(&(at, entry), std::mem::take(payload));
        *payload = written.map_err(|_| JournalError::Unwritable)?;
        Ok(())
    }

    /// Whether nothing was added since the buffer was cleared.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Discards all entries.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The frame of all entries; `None` if there are none.
    ///
    /// # Errors
    /// Fails if the entries do not fit into one frame.
    pub fn frame(&mut self) -> Result<Option<&[u8]>, JournalError> {
        self.0.seal()
    }
}

/// The entries of a frame, each with its millisecond. Ends after the first that cannot be read.
#[derive(Debug)]
struct Entries<'a>(&'a [u8]);

impl<'a> Entries<'a> {
    /// The entries that [`EntryBuffer`] has collected in this payload.
    fn read(payload: &'a [u8]) -> Self {
        Self(payload)
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<TimedEntry, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        let bytes = std::mem::take(&mut self.0);
        (!bytes.is_empty()).then(|| {
            let read = postcard::take_from_bytes::<TimedEntry>(bytes);
            match read {
                Ok((entry, rest)) if is_finite(&entry) => {
                    self.0 = rest;
                    Ok(entry)
                }
                _ => Err(JournalError::Unreadable),
            }
        })
    }
}

/// Whether all numbers of an entry are finite, so that no other number gets into a game.
fn is_finite((_, entry): &TimedEntry) -> bool {
    !matches!(entry, Entry::Command(command) if !command.is_finite())
}

/// Why a journal cannot be resumed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// The bytes are not a journal, or belong to another version.
    #[error("it is not a journal of this version")]
    Foreign,
    /// Even the first frame is torn or damaged.
    #[error("its beginning is incomplete or damaged")]
    Damaged,
    /// An undamaged frame contains an entry that this version does not know.
    #[error("it holds entries that this version cannot read")]
    Unreadable,
    /// The state in the first entry contradicts itself.
    #[error("the state at its beginning is inconsistent")]
    Inconsistent,
    /// An entry cannot be written.
    #[error("an entry cannot be written")]
    Unwritable,
}

impl Lobby {
    /// Milliseconds of the session at the last command or question.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Notes the commands that decisions apply from now on. It does not note those of
    /// [`apply`](Self::apply), which the caller knows.
    pub fn keep_trail(&mut self) {
        self.trail.get_or_insert_default();
    }

    /// Passes to `each` the commands that decisions have applied since the last call, in order, each
    /// with its millisecond.
    pub fn drain_trail(&mut self, mut each: impl FnMut(u64, Command)) {
        // It is called for every event, and there is seldom a command.
        if let Some(trail) = &mut self.trail
            && !trail.is_empty()
        {
            trail.drain(..).for_each(|(at, command)| each(at, command));
        }
    }

    /// Has these settings from now on. To be called before GAME: a running game keeps its settings.
    pub fn set_settings(&mut self, settings: LobbySettings) {
        self.settings = settings;
    }

    /// Completes a lobby that was read as plain data, and gives it these settings instead of its
    /// own; `None` if its parts are inconsistent.
    pub fn restored(mut self, settings: LobbySettings) -> Option<Self> {
        let teams = self.teams;
        if !(2..=MAX_TEAMS).contains(&usize::from(teams))
            || self.last_teams.len() > MAX_PLAYERS
            || !self.memory.is_sound()
            || self.wins.len() > MAX_PLAYERS
            || !self.wins.iter().all(Win::is_sound)
        {
            return None;
        }
        let room = settings.roster.max_roster.as_usize();
        if let Some(game) = self.game.take() {
            self.game = Some(restored_game(game, teams, room)?);
        }
        if let Some(before) = self.before.take() {
            self.before = Some(Box::new(before.restored(room)?));
        }
        self.settings = settings;
        Some(self)
    }
}

impl GameBefore {
    /// Completes a game that is kept, like [`Lobby::restored`].
    fn restored(mut self, room: usize) -> Option<Self> {
        let sound = (2..=MAX_TEAMS).contains(&usize::from(self.teams))
            && self.last_teams.len() <= MAX_PLAYERS
            && self.memory.is_sound();
        self.game = restored_game(self.game, self.teams, room)?;
        sound.then_some(self)
    }
}

fn restored_game(mut game: RunningGame, teams: u8, room: usize) -> Option<RunningGame> {
    let exists = |team: Option<u8>| team.is_none_or(|team| team < teams);
    let (humans, bots) = (game.roster.humans(), game.roster.bots());
    let mut ids = BTreeSet::new();
    let sound = humans.len() <= MAX_PLAYERS
        && bots.len() <= MAX_PLAYERS
        && game.mutators.len() <= MAX_MUTATORS
        && game.advised.len() <= MAX_PLAYERS
        && game.died.len() <= MAX_PLAYERS
        && game.offer.as_ref().is_none_or(Offer::is_sound)
        && humans
            .iter()
            .all(|human| exists(human.team) && exists(human.pin))
        && bots.iter().all(|bot| exists(Some(bot.team)))
        && humans.iter().all(|human| ids.insert(human.id.text()))
        && game.by_score.as_ref().is_none_or(|(by_score, _)| {
            by_score.len() <= MAX_TEAMS && by_score.iter().all(|one| one.is_finite())
        })
        && exists(game.watch.imbalance.map(|(team, _)| team))
        && exists(game.watch.stronger);
    if !sound {
        return None;
    }
    game.roster = game.roster.with_room(room);
    game.recorder = game.recorder.restored()?;
    Some(game)
}

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
