//! Free seats of matches in play: what the game server asks for, and who is in the game.

use super::{ExpectedPlayer, HostRefused, Lifecycle, Match, Stage};
use crate::domain::MatchId;

impl Lifecycle {
    /// The game server states how many seats of a team players of the queue are to fill, those included
    /// who are on their way. This replaces what it stated before. Returns the number, which is at most that
    /// of the team's free seats.
    ///
    /// # Errors
    /// Fails if the match is not at this instance, is not in play, has no such team, if all its players have left,
    /// or if its queue is gone or does not fill free seats.
    pub fn seek_players(
        &mut self,
        name: &str,
        id: MatchId,
        team: u8,
        seats: u32,
    ) -> Result<u32, HostRefused> {
        let hosted = self.at_instance(name, id)?;
        let terms = self.queues.get(&hosted.queue).ok_or(HostRefused::NoQueue)?;
        if !terms.backfill {
            return Err(HostRefused::NoBackfill);
        }
        if hosted.stage != Stage::Playing {
            return Err(HostRefused::NotPlaying);
        }
        let (teams, size) = self.shape(id);
        if team >= teams {
            return Err(HostRefused::NoTeam);
        }
        if hosted.is_deserted() && seats > 0 {
            return Err(HostRefused::Deserted);
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
    pub(super) fn shape(&self, id: MatchId) -> (u8, u32) {
        let wanted = self.matches.get(id).map(|hosted| &hosted.wanted);
        wanted.map_or((0, 0), |wanted| (wanted.teams, wanted.size))
    }

    /// The game server reports all players of a match in play, each with the team. Players on their way for
    /// whom no seat is free now are released; so are all of them if everybody has left.
    pub fn report_roster(&mut self, name: &str, id: MatchId, roster: Vec<(String, Option<u8>)>) {
        let playing = |hosted: &Match| hosted.stage == Stage::Playing;
        if !self.at_instance(name, id).is_ok_and(playing) {
            return;
        }
        let (_, size) = self.shape(id);
        let same = |hosted: &Match| hosted.roster.as_ref() == Some(&roster);
        if self.matches.get(id).is_none_or(same) {
            return;
        }
        let mut came = Vec::new();
        self.plays_no_longer(id);
        self.change(id, |hosted| {
            (hosted.roster, hosted.version) = (Some(roster), hosted.version + 1);
            let mut asked = std::mem::take(&mut hosted.asked);
            for (player, coming) in std::mem::take(&mut hosted.expected) {
                if !hosted.has(&player) {
                    hosted.expected.insert(player, coming);
                    continue;
                }
                if let Some(seats) = asked.get_mut(&coming.team) {
                    *seats = seats.saturating_sub(1);
                }
                came.push(player);
            }
            for (team, seats) in &mut asked {
                *seats = (*seats).min(size.saturating_sub(hosted.heads(*team)));
            }
            asked.retain(|_, seats| *seats > 0);
            hosted.asked = asked;
        });
        self.plays(id);
        self.came(id, &came);
        self.release_surplus(id);
    }

    /// The players on their way to a match for whom no seat is free. Of those on their way to a team with
    /// too few seats, the tickets that were sent last.
    pub(super) fn surplus(&self, id: MatchId) -> Vec<String> {
        let Some(hosted) = self.matches.get(id) else {
            return Vec::new();
        };
        let (teams, size) = self.shape(id);
        if hosted.is_deserted() {
            return hosted.expected.keys().cloned().collect();
        }
        let mut surplus = Vec::new();
        for team in 0..teams {
            let room = size.saturating_sub(hosted.heads(team)) as usize;
            let mut own: Vec<_> = hosted.expected.iter().collect();
            own.retain(|(_, coming)| coming.team == team);
            own.sort_by_key(|(_, coming)| (coming.until, coming.ticket));
            while own.len() > room
                && let Some((_, last)) = own.last()
            {
                let ticket = last.ticket;
                let of_ticket = |one: &&(&String, &ExpectedPlayer)| one.1.ticket == ticket;
                surplus.extend(own.iter().filter(of_ticket).map(|(id, _)| (*id).clone()));
                own.retain(|one| one.1.ticket != ticket);
            }
        }
        surplus
    }

    /// The matches in play that seek players, with the number of seats of each team that are still to be
    /// filled. A match whose game has no connection seeks nobody meanwhile, and neither does one that
    /// everybody has left.
    pub fn seeking(&self) -> Vec<(&Match, Vec<usize>)> {
        let live = self.live.iter().filter_map(|id| self.matches.get(*id));
        let playing = live.filter(|one| one.stage == Stage::Playing && one.parted.is_none());
        let free = |hosted: &Match| -> Vec<usize> {
            let (teams, size) = self.shape(hosted.id);
            let team = |team: u8| {
                let coming = hosted.expected_on(team);
                let asked = hosted.asked.get(&team).copied().unwrap_or(0);
                let room = size.saturating_sub(hosted.heads(team));
                asked.min(room).saturating_sub(coming) as usize
            };
            (0..teams).map(team).collect()
        };
        playing
            .filter(|hosted| !hosted.asked.is_empty() && hosted.present_players().next().is_some())
            .map(|hosted| (hosted, free(hosted)))
            .filter(|(_, free)| free.iter().any(|free| *free > 0))
            .collect()
    }
}
