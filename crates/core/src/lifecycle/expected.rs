//! Players who are expected in a match in play: until they come, come too late, or need not come.

use super::{
    ExpectedPlayer, Happened, Lifecycle, MAX_SENT_AWAY, Match, Message, due::Due, settings::millis,
};
use crate::domain::{MatchId, Timestamp};

impl Lifecycle {
    pub(super) fn may_come_until(&self) -> Timestamp {
        self.now.plus_millis(millis(self.settings.backfill_seconds))
    }

    /// Players who were sent to a match in play have not come in time. Their seats are sought again. While
    /// the game server is away they cannot come, so nothing happens until it is back. Whom the daemon has sent to
    /// another match is released.
    pub(super) fn expected_are_due(&mut self, id: MatchId) {
        let Some(hosted) = self.matches.get(id).filter(|one| !self.is_away(one)) else {
            return;
        };
        let now = self.now;
        let late = hosted.expected.iter().filter(|(_, one)| one.until <= now);
        let elsewhere = |(player, one): &(&String, &ExpectedPlayer)| {
            self.is_sent_elsewhere(id, player, one.ticket)
        };
        let (excused, late): (Vec<_>, Vec<_>) = late.partition(elsewhere);
        let names = |all: Vec<(&String, &ExpectedPlayer)>| -> Vec<String> {
            all.into_iter().map(|(player, _)| player.clone()).collect()
        };
        let (excused, late) = (names(excused), names(late));
        if !excused.is_empty() {
            self.release(id, excused);
        }
        if !late.is_empty() {
            self.expect_no_longer(id, &late);
            self.missed(id, &late);
            let players = late.clone();
            self.effects.count.push(Happened::NoShow { id, players });
            self.effects.send.push(Message::Dismiss(id, late));
        }
    }

    /// Whether players cannot come to a match in play: its game has no connection, or its instance is lost.
    fn is_away(&self, hosted: &Match) -> bool {
        let name = hosted.instance.as_ref();
        let instance = name.and_then(|name| self.instances.get(name));
        hosted.parted.is_some() || instance.is_none_or(|one| one.away.is_some())
    }

    /// A game server is back: those who are expected in a match have the whole time to come again.
    pub(super) fn wait_for_expected(&mut self, id: MatchId) {
        let Some(hosted) = self.matches.get(id) else {
            return;
        };
        if hosted.expected.is_empty() || self.is_away(hosted) {
            return;
        }
        let until = self.may_come_until();
        self.change(id, |hosted| {
            for one in hosted.expected.values_mut() {
                one.until = one.until.max(until);
            }
        });
        let hosted = self.matches.get(id).into_iter();
        let all = hosted.flat_map(|hosted| hosted.expected.values());
        let due = all.map(|one| (one.until, Due::Expected(id)));
        self.due.extend(due);
    }

    /// A game server sends a player away who is expected in its match in play, and with the player the others of
    /// the ticket who have not come. They are not sent to this match again. Returns whether the player was
    /// expected.
    pub fn send_away(&mut self, name: &str, id: MatchId, player: &str) -> bool {
        let Ok(hosted) = self.at_instance(name, id) else {
            return false;
        };
        let Some(own) = hosted.expected.get(player) else {
            return false;
        };
        let ticket = own.ticket;
        let together = hosted
            .expected
            .iter()
            .filter(|(_, one)| one.ticket == ticket);
        let together = together.map(|(player, _)| player.clone()).collect();
        self.change(id, |hosted| {
            if hosted.sent_away.len() < MAX_SENT_AWAY {
                hosted.sent_away.insert(player.to_owned());
            }
        });
        self.release(id, together);
        true
    }

    /// Releases the players who are expected, and for whom no seat is free any more.
    pub(super) fn release_surplus(&mut self, id: MatchId) {
        let surplus = self.surplus(id);
        if !surplus.is_empty() {
            self.release(id, surplus);
        }
    }

    fn release(&mut self, id: MatchId, players: Vec<String>) {
        self.expect_no_longer(id, &players);
        self.send_back(id, &players);
        let released = players.clone();
        self.effects.count.push(Happened::Released {
            id,
            players: released,
        });
        self.effects.send.push(Message::Dismiss(id, players));
    }

    fn expect_no_longer(&mut self, id: MatchId, players: &[String]) {
        self.change(id, |hosted| {
            hosted.version += 1;
            for player in players {
                hosted.expected.remove(player);
                hosted.passes.remove(player);
            }
        });
    }

    /// Sends the game's new connection the players who are expected.
    pub(super) fn admit_again(&mut self, id: MatchId) {
        let hosted = self.matches.get(id).into_iter();
        let expected = hosted.flat_map(|hosted| hosted.expected.keys());
        let players: Vec<String> = expected.cloned().collect();
        if !players.is_empty() {
            self.effects.send.push(Message::Admit(id, players));
        }
    }
}
