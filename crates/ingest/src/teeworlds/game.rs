//! The record of one match.

use std::collections::BTreeMap;

use super::play::Play;
use crate::{
    clock::signed,
    event::GameEvent,
    record::{self, UNKNOWN_TEAM},
    skip::Skip,
};
use evenkeel_model::{MatchRecord, MatchRecorder, PlayerKey, Timestamp};

/// The game in the names of game types.
pub const GAME: &str = "teeworlds";

/// A match that is being played.
pub(super) struct Game {
    /// The line on which it began.
    pub(super) line: u64,
    date: Option<Timestamp>,
    /// When it began, in milliseconds since the log began.
    began: u64,
    recorder: MatchRecorder,
    /// The earliest end: after the last change of the score, in milliseconds since it began.
    earliest: u64,
    /// The players' timelines in the record, by their numbers on the server.
    visits: BTreeMap<usize, (PlayerKey, usize)>,
}

impl Game {
    pub(super) fn new(line: u64, date: Option<Timestamp>, began: u64, play: &Play) -> Self {
        let mut game = Self {
            line,
            date,
            began,
            recorder: MatchRecorder::default(),
            earliest: 0,
            visits: BTreeMap::new(),
        };
        game.settle(play, 0);
        game
    }

    /// Handles what happens in the match at this time, in milliseconds since the log began.
    pub(super) fn event(&mut self, event: GameEvent, now: u64, play: &Play) {
        let now = now.saturating_sub(self.began);
        match event {
            GameEvent::Client(_) | GameEvent::Left(_) => self.settle(play, now),
            other => {
                let visits = &self.visits;
                let visit = |client| visits.get(&client).map(|(_, visit)| *visit);
                record::take(&mut self.recorder, other, now, visit);
                if matches!(other, GameEvent::Score { .. }) {
                    self.earliest = self.recorder.last() + 1;
                }
            }
        }
    }

    /// Puts all players in the record on the teams on which they are.
    fn settle(&mut self, play: &Play, now: u64) {
        let key = |slot| {
            let (_, player) = play.players.iter().find(|(other, _)| *other == slot)?;
            Some(play.players.key(slot, player))
        };
        let recorder = &mut self.recorder;
        self.visits.retain(|&slot, (known, visit)| {
            let stays = key(slot).as_ref() == Some(known);
            if !stays {
                let nobody = || (known.clone(), String::new());
                recorder.place(Some(*visit), None, now, nobody);
            }
            stays
        });
        for (slot, player) in play.players.iter() {
            let key = play.players.key(slot, player);
            let visit = self.visits.get(&slot).map(|(_, visit)| *visit);
            let team = match play.teams {
                true => player.team,
                false => player.team.map(|_| UNKNOWN_TEAM),
            };
            let named = || (key.clone(), player.name.clone());
            if let Some(visit) = recorder.place(visit, team, now, named) {
                self.visits.insert(slot, (key, visit));
            }
        }
    }

    /// Builds the record of the match, which is over.
    ///
    /// # Errors
    /// Returns why there is no record.
    pub(super) fn finish(mut self, play: &Play, server: &str) -> Result<MatchRecord, Skip> {
        // What players did while the final score was shown does not count.
        let lasted = play.ended.saturating_sub(self.began).max(self.earliest);
        self.recorder.end_at(lasted);
        for (&slot, (_, visit)) in &self.visits {
            self.recorder.player(*visit).points = Some(play.points(slot));
        }
        let began = Timestamp(signed(self.began));
        let record = MatchRecord {
            server: server.to_owned(),
            start: self.date.unwrap_or(began),
            clock: self.date.is_none().then_some(self.began),
            map: play.map.clone(),
            game_type: format!("{GAME}.{}", play.kind),
            scores: match play.teams {
                true => play.scores().to_vec(),
                false => Vec::new(),
            },
            ..MatchRecord::default()
        };
        record::complete(&self.recorder, record, lasted)
    }
}
