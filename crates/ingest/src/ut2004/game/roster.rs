//! Who plays: players who come, go, change teams, or turn out to be bots.

use super::{Game, MAX_PLAYERS};
use crate::{
    clock::LogClock,
    record::UNKNOWN_TEAM,
    tabs::Fields,
    text::LineResult,
    ut2004::player::{Player, is_hash},
};

impl Game {
    /// Handles `C number id name …`. In the stock log the id is a hash of the CD key and of the
    /// name and password at the statistics site. For a bot, OLStats writes its name instead.
    pub(super) fn connect(&mut self, mut fields: Fields<'_>, now: LogClock) -> LineResult<()> {
        let (number, login) = (fields.player_or_none()?, fields.next()?);
        let site_name = fields.next().unwrap_or_default();
        self.disconnect(number, now);
        let number = number.ok_or("a player's number is missing")?;
        if self.players.len() >= MAX_PLAYERS {
            return Err("too many players");
        }
        let named = is_hash(login) || login.is_empty();
        let mut player = Player {
            connected: true,
            login: if named { login.to_owned() } else { Vec::new() },
            name: if named { site_name } else { login }.to_owned(),
            joined: self.millis(now),
            ..Player::default()
        };
        self.seat(&mut player, now);
        self.players.insert(number, player);
        Ok(())
    }

    pub(super) fn disconnect(&mut self, number: Option<u32>, now: LogClock) {
        let Some(mut player) = number.and_then(|number| self.players.remove(&number)) else {
            return;
        };
        player.connected = false;
        self.seat(&mut player, now);
    }

    /// Handles a line about a player's team. At login it contains the team that the player got.
    /// Later it contains the team that the player requested, and is written only if the player did
    /// change teams; in a game of two teams, the new team is then the other one.
    pub(super) fn team_change(&mut self, number: Option<u32>, team: Option<u8>, now: LogClock) {
        let Some(stated) = team else { return };
        self.teams = self.teams.max(usize::from(stated) + 1);
        let two_teams = self.teams <= 2;
        let Some(mut player) = number.and_then(|number| self.players.remove(&number)) else {
            return;
        };
        match player.team {
            None => {
                player.team = Some(stated);
                if let Some(visit) = player.visit
                    && let Some((team, _)) = &mut self.recorder.player(visit).current
                {
                    *team = stated;
                }
            }
            Some(team) => {
                player.team = Some(if two_teams { 1 - team } else { stated });
                self.seat(&mut player, now);
            }
        }
        self.players.extend(number.map(|number| (number, player)));
    }

    /// Marks a player as a bot. The log mentions a bot only when it first does something. It has
    /// been there since the last human with a lower number joined, or since play began.
    pub(super) fn is_bot(&mut self, number: Option<u32>) {
        let Some(number) = number else { return };
        if self.players.get(&number).is_none_or(|player| player.bot) {
            return;
        }
        let earlier = self.players.range(..number);
        let humans = earlier.filter(|(_, player)| !player.bot);
        let since = humans.map(|(_, player)| player.joined).max().unwrap_or(0);
        let Some(player) = self.players.get_mut(&number) else {
            return;
        };
        player.bot = true;
        if let Some(visit) = player.visit
            && let Some((_, from)) = &mut self.recorder.player(visit).current
        {
            *from = since.min(*from);
        }
        self.learn(Some(number), |_| {});
    }

    /// Changes the data of a player.
    pub(super) fn learn(&mut self, number: Option<u32>, change: impl FnOnce(&mut Player)) {
        if let Some(player) = number.and_then(|number| self.players.get_mut(&number)) {
            change(player);
            if let Some(visit) = player.visit {
                self.recorder.rename(visit, player.key(), player.name());
            }
        }
    }

    /// Moves a player to their present team in the record; to none once they have left.
    pub(super) fn seat(&mut self, player: &mut Player, now: LogClock) {
        if self.began.is_none() {
            return;
        }
        let team = player
            .connected
            .then_some(player.team.unwrap_or(UNKNOWN_TEAM));
        let (visit, millis) = (player.visit, self.millis(now));
        let named = || (player.key(), player.name());
        player.visit = self.recorder.place(visit, team, millis, named);
    }
}
