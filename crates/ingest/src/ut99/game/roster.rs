//! Who plays, and under which settings.

use super::{Game, MAX_PLAYERS, TEAMS};
use crate::{
    clock::LogClock,
    tabs::Fields,
    text::{self, LineResult},
    ut99::player::{Player, place},
};

impl Game {
    /// Handles `game key value`, a setting of the game.
    pub(super) fn describe(&mut self, mut fields: Fields<'_>, now: LogClock) -> LineResult<()> {
        let key = fields.next()?;
        match key {
            b"realstart" => self.begin(now),
            b"GameClass" => self.class = text::name(fields.next()?),
            b"TeamGame" => self.teams = Some(fields.is_true()?),
            b"GoodMutator" => {
                let name = text::name(fields.next()?);
                if !name.is_empty() && self.mutators.len() < MAX_PLAYERS {
                    self.mutators.insert(name);
                }
            }
            b"insta" | b"JumpMatch" | b"MegaSpeed" if fields.is_true()? => {
                self.mutators.insert(text::name(key));
            }
            b"GameSpeed" => {
                let speed = text::name(fields.next()?);
                if text::real(speed.as_bytes()) != Some(100.0) {
                    self.mutators.insert(format!("GameSpeed={speed}"));
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Handles `player what …`. Depending on `what`, the player's number comes first or last.
    pub(super) fn player(&mut self, mut fields: Fields<'_>, now: LogClock) -> LineResult<()> {
        match fields.next()? {
            what @ (b"Connect" | b"Rename") => {
                let (name, number) = (fields.next()?, fields.player()?);
                self.learn(number, now, what == b"Connect", |player| {
                    name.clone_into(&mut player.name);
                });
            }
            b"IsABot" => {
                let (number, bot) = (fields.player()?, fields.is_true()?);
                self.learn(number, now, false, |player| player.bot = bot);
            }
            b"Team" | b"Teamchange" => {
                let (number, team) = (fields.player()?, fields.team(TEAMS)?);
                self.learn(number, now, true, |player| player.team = team);
            }
            b"Disconnect" => {
                let number = fields.player()?;
                self.learn(number, now, true, |player| player.there = false);
            }
            _ => {}
        }
        Ok(())
    }

    /// Changes the data of a player, who is added if new. `moved` says whether the player may have
    /// changed teams, joined or left.
    fn learn(&mut self, number: u32, now: LogClock, moved: bool, change: impl FnOnce(&mut Player)) {
        if self.players.len() >= MAX_PLAYERS && !self.players.contains_key(&number) {
            return;
        }
        let millis = self.millis(now);
        let player = self.players.entry(number).or_insert_with(|| Player {
            there: true,
            ..Player::default()
        });
        let before = (player.there, player.team);
        change(player);
        if let Some(visit) = player.visit {
            self.recorder.rename(visit, player.key(), player.name());
        }
        let moved = moved && (player.visit.is_none() || before != (player.there, player.team));
        if self.began.is_some() && moved {
            place(player, &mut self.recorder, millis);
        }
    }
}
