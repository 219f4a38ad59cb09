//! Free seats of a match in play: what its game server asks for, the tickets that join, and players who are expected until
//! they come, come too late, or need not come.

use std::collections::BTreeSet;

use super::{
    Change, ExpectedPlayer, Happened, HostRefused, Lifecycle, MAX_SENT_AWAY, Match, MatchSeat,
    Message, Reason, Stage, State, TicketNumber, millis, state::Due,
};
use evenkeel_model::{Timestamp, record::MatchId};

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

/// Tickets that a round has found for a match in play.
#[derive(Clone, Debug)]
pub struct Filling {
    /// The match in play.
    pub id: MatchId,
    /// The [version](super::Match::version) of the match that the search saw.
    pub version: u64,
    /// Each ticket with its team.
    pub seats: Vec<(TicketNumber, u8)>,
    /// What the search found, one line each.
    pub why: Vec<String>,
}

impl Lifecycle {
    /// Sends the tickets that a round has found to a match in play, unless its players have changed since. Each
    /// call of `pass` returns another secret. Returns whether the tickets have joined.
    pub fn fill(&mut self, filling: Filling, pass: impl Fn() -> String) -> bool {
        let Filling { id, version, .. } = filling;
        let mut seeking = self.seeking().into_iter();
        let same = seeking.find(|(hosted, _)| hosted.id == id && hosted.version == version);
        let Some((_, mut free)) = same else {
            return false;
        };
        for (number, team) in &filling.seats {
            let players = self
                .ticket(*number)
                .map_or(usize::MAX, |one| one.ticket.players.len());
            match free.get_mut(usize::from(*team)) {
                Some(free) if *free >= players => *free -= players,
                _ => return false,
            }
        }
        let Some(seats) = self.join(id, &filling.seats, filling.why) else {
            return false;
        };
        self.expect(id, seats, pass);
        true
    }

    /// Waits for players with these seats from now on.
    fn expect(&mut self, id: MatchId, seats: Vec<MatchSeat>, pass: impl Fn() -> String) {
        let until = self.may_come_until();
        let players = seats.iter().map(|seat| seat.player.clone()).collect();
        self.change(id, |hosted| {
            hosted.version += 1;
            for seat in seats {
                let expected = ExpectedPlayer {
                    team: seat.team,
                    until,
                    ticket: seat.ticket,
                };
                hosted.passes.insert(seat.player.clone(), pass());
                hosted.expected.insert(seat.player, expected);
            }
        });
        self.due.insert((until, Due::Expected(id)));
        self.effects.send.push(Message::Admit(id, players));
    }

    /// Adds tickets to a match, each to a team, and calls their players. `why` is what the search found, one line
    /// each. Returns the seats of their players; `None`, and changes nothing, if there is no such match or a
    /// ticket has left its queue or is held.
    pub(super) fn join(
        &mut self,
        id: MatchId,
        tickets: &[(TicketNumber, u8)],
        why: Vec<String>,
    ) -> Option<Vec<MatchSeat>> {
        let formed = self.formed(id).filter(|one| one.open_until.is_none())?;
        let mut seats: Vec<MatchSeat> = Vec::new();
        for &(number, team) in tickets {
            let record = self.tickets.get(&number)?;
            let taken = |seat: &MatchSeat| {
                seat.ticket == number || record.ticket.players.contains(&seat.player)
            };
            let is_new = !formed.seats.iter().chain(&seats).any(taken);
            let waits = record.state == State::Queued && record.ticket.queue == formed.queue;
            if !waits || !is_new || self.held(record).is_some() {
                return None;
            }
            seats.extend(record.ticket.players.iter().map(|player| MatchSeat {
                player: player.clone(),
                ticket: number,
                team,
                later: true,
            }));
        }
        let called = seats.clone();
        self.matches.seat(id, &seats);
        let change = Change::Seated { id, seats, why };
        self.effects.write.push(change);
        for &(number, _) in tickets {
            self.become_state(number, State::Called(id), Reason::None);
        }
        (!called.is_empty()).then_some(called)
    }

    /// Players who were called to a match in play have come: the state of their tickets is final.
    pub(super) fn came(&mut self, id: MatchId, players: &[String]) {
        for number in self.later(id, |seat| players.contains(&seat.player)) {
            self.end_in_match(number, id);
        }
    }

    /// Players who were called to a match in play have not come in time. A ticket of which nobody has come
    /// leaves the queue.
    pub(super) fn missed(&mut self, id: MatchId, players: &[String]) {
        for number in self.later(id, |seat| players.contains(&seat.player)) {
            self.unseat(id, number);
            self.become_state(number, State::Cancelled, Reason::NoShow);
        }
    }

    /// Players who were called to a match in play need not come. A ticket of which nobody has come goes back
    /// to its place.
    pub(super) fn send_back(&mut self, id: MatchId, players: &[String]) {
        for number in self.later(id, |seat| players.contains(&seat.player)) {
            self.unseat(id, number);
            self.become_state(number, State::Queued, Reason::Released);
        }
    }

    /// A match ends before the players who were called to it in play have come: their tickets go back to their
    /// places.
    pub(super) fn dismiss_expected(&mut self, id: MatchId) {
        for number in self.later(id, |_| true) {
            self.unseat(id, number);
            self.become_state(number, State::Queued, Reason::Ended);
        }
    }

    /// The tickets that were called to a match in play, and of whose players none has come.
    fn later(&self, id: MatchId, is: impl Fn(&MatchSeat) -> bool) -> BTreeSet<TicketNumber> {
        let seats = self.matches.get(id).map(|formed| formed.seats.as_slice());
        let later = seats.unwrap_or_default().iter();
        let later = later
            .filter(|seat| seat.later && is(seat))
            .map(|seat| seat.ticket);
        let called = |number: &TicketNumber| {
            let ticket = self.tickets.get(number);
            ticket.is_some_and(|ticket| ticket.state == State::Called(id))
        };
        later.filter(called).collect()
    }

    fn unseat(&mut self, id: MatchId, ticket: TicketNumber) {
        if self.matches.unseat(id, ticket) {
            let change = Change::Unseated { id, ticket };
            self.effects.write.push(change);
            // After a day of play, this may have been the last ticket of the match.
            self.drop_empty(id);
        }
    }

    fn may_come_until(&self) -> Timestamp {
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
    fn release_surplus(&mut self, id: MatchId) {
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
