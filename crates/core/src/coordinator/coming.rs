//! Players on their way to a match in play: until they come, come too late, or need not come.

use super::{Act, Coming, Coordinator, Hosted, MAX_SENT_AWAY, settings::millis, state::Due};
use crate::domain::{MatchId, Timestamp};

/// A player of the queue whom a match in play gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Newcomer {
    /// The player's identity.
    pub player: String,
    /// The number of the player's ticket.
    pub ticket: i64,
    /// The team with the free seat.
    pub team: u8,
    /// The secret by which the game server recognises the player.
    pub pass: String,
}

impl Hosted {
    /// Number of players on their way to a team.
    pub(super) fn on_their_way(&self, team: u8) -> u32 {
        let to = self.coming.values().filter(|coming| coming.team == team);
        u32::try_from(to.count()).unwrap_or(u32::MAX)
    }
}

impl Coordinator {
    /// Sends players of the queue to a match in play.
    pub fn call_later(&mut self, id: MatchId, players: Vec<Newcomer>) {
        let until = self.may_come_until();
        let called = players.iter().map(|one| one.player.clone()).collect();
        self.change(id, |hosted| {
            hosted.version += 1;
            for one in players {
                let (team, ticket) = (one.team, one.ticket);
                let coming = Coming {
                    team,
                    until,
                    ticket,
                };
                hosted.passes.insert(one.player.clone(), one.pass);
                hosted.coming.insert(one.player, coming);
            }
        });
        self.due.insert((until, Due::Coming(id)));
        self.acts.push(Act::Admit(id, called));
    }

    fn may_come_until(&self) -> Timestamp {
        self.now.plus_millis(millis(self.settings.backfill_seconds))
    }

    /// Players who were sent to a match in play have not come in time. Their seats are sought again. While
    /// the game server is away they cannot come, so nothing happens until it is back.
    pub(super) fn coming_is_due(&mut self, id: MatchId) {
        let Some(hosted) = self.matches.get(&id).filter(|one| !self.is_away(one)) else {
            return;
        };
        let now = self.now;
        let late = hosted.coming.iter().filter(|(_, one)| one.until <= now);
        let late: Vec<String> = late.map(|(player, _)| player.clone()).collect();
        if !late.is_empty() {
            self.do_not_come(id, &late);
            self.acts.push(Act::NoShow(id, late));
        }
    }

    /// Whether players cannot come to a match in play: its game has no connection, or its instance is lost.
    fn is_away(&self, hosted: &Hosted) -> bool {
        let name = hosted.instance.as_ref();
        let instance = name.and_then(|name| self.instances.get(name));
        hosted.parted.is_some() || instance.is_none_or(|one| one.away.is_some())
    }

    /// A game server is back: those on their way to a match have the whole time to come again.
    pub(super) fn wait_for_coming(&mut self, id: MatchId) {
        let Some(hosted) = self.matches.get(&id) else {
            return;
        };
        if hosted.coming.is_empty() || self.is_away(hosted) {
            return;
        }
        let until = self.may_come_until();
        self.change(id, |hosted| {
            for one in hosted.coming.values_mut() {
                one.until = one.until.max(until);
            }
        });
        let hosted = self.matches.get(&id);
        let all = hosted.into_iter().flat_map(|hosted| hosted.coming.values());
        let due: Vec<_> = all.map(|one| (one.until, Due::Coming(id))).collect();
        self.due.extend(due);
    }

    /// A game server sends a player away who is on the way to its match in play, and with the player the
    /// others of the ticket who have not come. They are not sent to this match again. Returns whether the
    /// player was on the way.
    pub fn send_away(&mut self, name: &str, id: MatchId, player: &str) -> bool {
        let Ok(hosted) = self.at_instance(name, id) else {
            return false;
        };
        let Some(own) = hosted.coming.get(player) else {
            return false;
        };
        let ticket = own.ticket;
        let together = hosted.coming.iter().filter(|(_, one)| one.ticket == ticket);
        let together = together.map(|(player, _)| player.clone()).collect();
        self.change(id, |hosted| {
            if hosted.sent_away.len() < MAX_SENT_AWAY {
                hosted.sent_away.insert(player.to_owned());
            }
        });
        self.release(id, together);
        true
    }

    /// Releases the players on their way for whom no seat is free any more.
    pub(super) fn release_surplus(&mut self, id: MatchId) {
        let surplus = self.surplus(id);
        if !surplus.is_empty() {
            self.release(id, surplus);
        }
    }

    fn release(&mut self, id: MatchId, players: Vec<String>) {
        self.do_not_come(id, &players);
        self.acts.push(Act::Release(id, players));
    }

    /// These players are not on their way any more.
    fn do_not_come(&mut self, id: MatchId, players: &[String]) {
        self.change(id, |hosted| {
            hosted.version += 1;
            for player in players {
                hosted.coming.remove(player);
                hosted.passes.remove(player);
            }
        });
    }

    /// Sends the game's new connection the players who are on their way.
    pub(super) fn admit_again(&mut self, id: MatchId) {
        let hosted = self.matches.get(&id);
        let coming = hosted.into_iter().flat_map(|hosted| hosted.coming.keys());
        let players: Vec<String> = coming.cloned().collect();
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
}
