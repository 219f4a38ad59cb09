//! Free seats of matches in play: what the game server asks for, and the players who are on their way.

use super::{Act, Coordinator, HostRefused, Hosted, Stage, settings::millis, state::Due};
use crate::domain::{MatchId, Timestamp};

impl Hosted {
    /// Number of players on a team, of those whom the game server has reported.
    fn heads(&self, team: u8) -> u32 {
        let on = self.roster.iter().filter(|(_, on)| *on == Some(team));
        u32::try_from(on.count()).unwrap_or(u32::MAX)
    }

    /// Number of players on their way to a team.
    fn on_their_way(&self, team: u8) -> u32 {
        let to = self.coming.values().filter(|(to, _)| *to == team);
        u32::try_from(to.count()).unwrap_or(u32::MAX)
    }

    /// Whether a player is in the game, or on the way to it.
    pub fn has(&self, player: &str) -> bool {
        self.coming.contains_key(player) || self.roster.iter().any(|(id, _)| id == player)
    }
}

impl Coordinator {
    /// The game server states how many seats of a team players of the queue are to fill, those included
    /// who are on their way. This replaces what it stated before. Returns the number, which is at most that
    /// of the team's free seats.
    ///
    /// # Errors
    /// Fails if the match is not at this instance, is not in play, or has no such team.
    pub fn seek_players(
        &mut self,
        name: &str,
        id: MatchId,
        team: u8,
        seats: u32,
    ) -> Result<u32, HostRefused> {
        let hosted = self.at_instance(name, id)?;
        if hosted.stage != Stage::Playing {
            return Err(HostRefused::NotPlaying);
        }
        let (teams, size) = self.shape(id);
        if team >= teams {
            return Err(HostRefused::NoTeam);
        }
        let seats = seats.min(size.saturating_sub(hosted.heads(team)));
        if hosted.asked.get(&team).copied().unwrap_or(0) != seats {
            self.change(id, |hosted| {
                hosted.asked.insert(team, seats);
                hosted.asked.retain(|_, seats| *seats > 0);
            });
        }
        Ok(seats)
    }

    /// The number of teams of a match, and of players of a full team.
    fn shape(&self, id: MatchId) -> (u8, u32) {
        let wanted = self.wanted.get(&id);
        wanted.map_or((0, 0), |wanted| (wanted.teams, wanted.size))
    }

    /// The game server reports all players of a match in play, each with the team.
    pub fn report_roster(&mut self, name: &str, id: MatchId, roster: Vec<(String, Option<u8>)>) {
        let playing = |hosted: &Hosted| hosted.stage == Stage::Playing;
        if !self.at_instance(name, id).is_ok_and(playing) {
            return;
        }
        let (_, size) = self.shape(id);
        let Some(hosted) = self.matches.get_mut(&id) else {
            return;
        };
        if hosted.roster == roster {
            return;
        }
        (hosted.roster, hosted.version) = (roster, hosted.version + 1);
        let mut asked = hosted.asked.clone();
        let mut came = Vec::new();
        for (player, (team, _)) in &hosted.coming {
            if hosted.roster.iter().any(|(id, _)| id == player) {
                came.push(player.clone());
                if let Some(seats) = asked.get_mut(team) {
                    *seats = seats.saturating_sub(1);
                }
            }
        }
        for (team, seats) in &mut asked {
            *seats = (*seats).min(size.saturating_sub(hosted.heads(*team)));
        }
        asked.retain(|_, seats| *seats > 0);
        if asked != hosted.asked || !came.is_empty() {
            self.change(id, |hosted| {
                hosted.asked = asked;
                hosted.coming.retain(|player, _| !came.contains(player));
            });
        }
        if !came.is_empty() {
            self.acts.push(Act::Came(id, came));
        }
    }

    /// The matches in play that seek players, with the number of seats of each team that are still to be
    /// filled. A match whose game has no connection seeks nobody meanwhile.
    pub fn seeking(&self) -> Vec<(&Hosted, Vec<usize>)> {
        let live = self.live.iter().filter_map(|id| self.matches.get(id));
        let playing = live.filter(|one| one.stage == Stage::Playing && one.parted.is_none());
        let free = |hosted: &Hosted| -> Vec<usize> {
            let (teams, size) = self.shape(hosted.id);
            let team = |team: u8| {
                let coming = hosted.on_their_way(team);
                let asked = hosted.asked.get(&team).copied().unwrap_or(0);
                let room = size.saturating_sub(hosted.heads(team));
                asked.min(room).saturating_sub(coming) as usize
            };
            (0..teams).map(team).collect()
        };
        playing
            .filter(|hosted| !hosted.asked.is_empty() && !hosted.roster.is_empty())
            .map(|hosted| (hosted, free(hosted)))
            .filter(|(_, free)| free.iter().any(|free| *free > 0))
            .collect()
    }

    /// Sends players of the queue, each with a team and a pass, to a match in play.
    pub fn call_later(&mut self, id: MatchId, players: Vec<(String, u8, String)>) {
        let until = self.now.plus_millis(millis(self.settings.backfill_seconds));
        let called = players.iter().map(|(player, ..)| player.clone()).collect();
        self.change(id, |hosted| {
            hosted.version += 1;
            for (player, team, pass) in players {
                hosted.passes.insert(player.clone(), pass);
                hosted.coming.insert(player, (team, until));
            }
        });
        self.due.insert((until, Due::Coming(id)));
        self.acts.push(Act::Admit(id, called));
    }

    /// Players who were sent to a match in play have not come in time. Their seats are sought again.
    pub(super) fn coming_is_due(&mut self, id: MatchId) {
        let Some(hosted) = self.matches.get(&id) else {
            return;
        };
        let now = self.now;
        let late = hosted.coming.iter().filter(|(_, (_, until))| *until <= now);
        let late: Vec<String> = late.map(|(player, _)| player.clone()).collect();
        if late.is_empty() {
            return;
        }
        self.change(id, |hosted| {
            hosted.version += 1;
            for player in &late {
                hosted.coming.remove(player);
                hosted.passes.remove(player);
            }
        });
        self.acts.push(Act::NoShow(id, late));
    }

    /// Sends the game's new connection the players who are on their way.
    pub(super) fn admit_again(&mut self, id: MatchId) {
        let coming = self.matches.get(&id).map(|hosted| &hosted.coming);
        let players: Vec<String> = coming
            .into_iter()
            .flatten()
            .map(|(one, _)| one.clone())
            .collect();
        if !players.is_empty() {
            self.acts.push(Act::Admit(id, players));
        }
    }

    /// The pass of a player, as long as it is valid.
    pub fn pass(&self, id: MatchId, player: &str) -> Option<&String> {
        let hosted = self.matches.get(&id)?;
        let coming = hosted.coming.contains_key(player);
        let passes = if coming {
            Some(&hosted.passes)
        } else {
            self.passes(id)
        };
        passes?.get(player)
    }

    /// The region of an instance, if it states one.
    pub fn region(&self, name: &str) -> Option<String> {
        self.instances.get(name)?.offer.region.clone()
    }

    /// Until when the players on their way may come, after a restart.
    pub(super) fn wait_again(&mut self, hosted: &mut Hosted) {
        let again = self.now.plus_millis(millis(self.settings.backfill_seconds));
        for (_, until) in hosted.coming.values_mut() {
            *until = Timestamp::max(*until, again);
            self.due.insert((*until, Due::Coming(hosted.id)));
        }
    }
}
