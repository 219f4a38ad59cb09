//! Tickets come, are cancelled, form matches, which their players accept or decline in the ready check, change their
//! states, and are removed.
//!
//! A ticket is *held* while one of its players is in another match that is final: a player can wait in one queue of each
//! group. Once one of these queues has a match of the player that an instance is to host, or hosts, the other tickets of the
//! player keep their places and their time, but no match is formed of them, and a ready check that they are in ends. They are
//! free again when that match has ended or has fallen through. What becomes of a match that needs no instance is not known,
//! so it holds nothing.

use std::collections::BTreeSet;

use evenkeel_model::{Timestamp, record::MatchId};

use super::{
    Change, Happened, KEEP_MILLIS, Lifecycle, MAX_ENDED, Match, MatchSeat, Proposal, QueueTerms,
    QueuedPlayer, Reason, Stage, State, Submission, TicketNumber, TicketRecord, TicketRefused,
    state::Due,
};

impl Lifecycle {
    /// Adds a ticket to its queue. The same ticket submitted again changes nothing, whatever its state
    /// is now.
    ///
    /// # Errors
    /// Fails if the name has another ticket of this id, there is no such queue, the client holds too many tickets, or a
    /// player is in another ticket or in a match that is played.
    pub fn submit(&mut self, ticket: Submission) -> Result<TicketNumber, TicketRefused> {
        if let Some(number) = self.index.id(&ticket.owner, &ticket.id) {
            let same = self
                .tickets
                .get(&number)
                .is_some_and(|known| known.ticket == ticket);
            return match same {
                true => Ok(number),
                false => Err(TicketRefused::OtherContent),
            };
        }
        if let Some(player) = ticket
            .players
            .iter()
            .find(|one| self.plays_in(one).is_some())
        {
            return Err(TicketRefused::InMatch(player.clone()));
        }
        let Some(terms) = self.queues.get(&ticket.queue) else {
            return Err(TicketRefused::NoQueue(ticket.queue));
        };
        self.shares.check(&ticket.owner)?;
        let is_taken = |player: &&String| self.index.player(&terms.group, player).is_some();
        if let Some(player) = ticket.players.iter().find(is_taken) {
            return Err(TicketRefused::InAnother(player.clone()));
        }
        let number = self.next;
        self.next += 1;
        let record = TicketRecord {
            number,
            ticket,
            submitted_at: self.now,
            state: State::Queued,
            reason: Reason::None,
            changed_at: self.now,
            is_sent: true,
        };
        self.effects
            .write
            .push(Change::Submitted(Box::new(record.clone())));
        self.enter_players(&record);
        self.enter_ticket(record);
        Ok(number)
    }

    /// Takes a ticket out of the queue, or out of a match that not all players have accepted. A ticket in
    /// a final state keeps it.
    ///
    /// # Errors
    /// Fails if the name has no such ticket.
    pub fn cancel(&mut self, owner: &str, id: &str) -> Result<TicketNumber, TicketRefused> {
        let number = self.index.id(owner, id).ok_or(TicketRefused::NoTicket)?;
        match self.tickets.get(&number).map(|ticket| ticket.state) {
            Some(State::Queued) => self.become_state(number, State::Cancelled, Reason::None),
            Some(State::Proposed(id)) => {
                self.dissolve(id, &[number].into(), Reason::None, Reason::Cancelled);
            }
            _ => {}
        }
        Ok(number)
    }

    /// Forms matches of the proposals of a round, in the order of their oldest tickets, with ids from
    /// `first` on. Drops a proposal if one of its tickets is not in the queue any more, or is held; its other
    /// tickets stay where they are. Returns the number of matches formed.
    pub fn propose(&mut self, queue: &str, mut found: Vec<Proposal>, first: MatchId) -> usize {
        let oldest = |proposal: &Proposal| proposal.teams.iter().flatten().min().copied();
        found.sort_by_key(oldest);
        let mut formed = 0;
        for proposal in found {
            let id = first.saturating_add(formed as MatchId);
            if self.matches.get(id).is_none() && self.form(queue, proposal, id, first) {
                formed += 1;
            }
        }
        formed
    }

    fn form(&mut self, queue: &str, mut proposal: Proposal, id: MatchId, pool_id: MatchId) -> bool {
        let Some(terms) = self.queues.get(queue) else {
            return false;
        };
        let Some(seats) = self.seats(queue, &proposal) else {
            return false;
        };
        let open_until = (terms.ready_check > 0).then(|| self.now.plus_millis(terms.ready_check));
        let pool = proposal.pool.take();
        let has_pool = pool.is_some();
        if let (Some(pool), true) = (pool, id == pool_id) {
            self.effects.write.push(Change::Searched(pool_id, pool));
        }
        let stage = match open_until {
            Some(_) => Stage::Proposed,
            None => Stage::Formed,
        };
        let mut formed = Match {
            id,
            queue: queue.to_owned(),
            stage,
            proposal,
            seats,
            formed_at: self.now,
            open_until,
            pool_id: has_pool.then_some(pool_id),
            ..Match::default()
        };
        let change = Change::Formed(Box::new(formed.clone()));
        self.effects.write.push(change);
        formed.proposal.why.clear();
        let tickets = formed.tickets();
        self.insert(formed);
        self.follow(id, tickets);
        true
    }

    /// Seeks an instance for a match that is final, if its queue says so, and puts its tickets into the state that
    /// follows from that of the match.
    fn follow(&mut self, id: MatchId, tickets: impl IntoIterator<Item = TicketNumber>) {
        let is_final = |formed: &Match| formed.stage == Stage::Formed;
        if self.matches.get(id).is_some_and(is_final) {
            self.begin_hosting(id);
        }
        let Some(state) = self.matches.get(id).map(|one| one.stage.of_tickets(id)) else {
            return;
        };
        for ticket in tickets {
            self.become_state(ticket, state, Reason::None);
        }
    }

    /// The seats of a proposal; `None` if a ticket has left the queue or is held, or is in it twice.
    fn seats(&self, queue: &str, proposal: &Proposal) -> Option<Vec<MatchSeat>> {
        let mut seats = Vec::new();
        for (team, tickets) in (0u8..).zip(&proposal.teams) {
            for &number in tickets {
                let record = self.tickets.get(&number)?;
                let twice = seats.iter().any(|seat: &MatchSeat| seat.ticket == number);
                let waits = record.state == State::Queued && record.ticket.queue == queue;
                if !waits || twice || self.held(record).is_some() {
                    return None;
                }
                seats.extend(record.ticket.players.iter().map(|player| MatchSeat {
                    player: player.clone(),
                    ticket: number,
                    team,
                    later: false,
                }));
            }
        }
        (!seats.is_empty()).then_some(seats)
    }

    /// Adds a ticket to the indexes.
    pub(super) fn enter_ticket(&mut self, record: TicketRecord) {
        let number = record.number;
        let ticket = &record.ticket;
        self.index.add_id(&ticket.owner, &ticket.id, number);
        if !record.is_sent {
            self.index.add_unsent(&ticket.owner, number);
        }
        if record.state.is_final() {
            self.index.ended.insert((record.changed_at, number));
        } else {
            self.shares.enter(number, &ticket.owner);
        }
        if let Some(due) = self.ticket_due(&record) {
            self.due.insert((due, Due::Ticket(number)));
        }
        self.tickets.insert(number, record);
    }

    /// When a ticket expires or is removed, if no event comes before.
    fn ticket_due(&self, record: &TicketRecord) -> Option<Timestamp> {
        match record.state {
            State::Queued => {
                let ttl = self
                    .queues
                    .get(&record.ticket.queue)
                    .map_or(0, |terms| terms.ttl);
                Some(record.submitted_at.plus_millis(ttl))
            }
            State::Proposed(_) | State::Hosted(_) | State::Called(_) => None,
            State::Matched(_) | State::Cancelled | State::Expired => {
                Some(record.changed_at.plus_millis(KEEP_MILLIS))
            }
        }
    }

    /// Puts a ticket into another state; a final state never changes. A ticket that goes back to its queue
    /// after the end of its time to wait expires at once.
    pub(super) fn become_state(&mut self, number: TicketNumber, state: State, reason: Reason) {
        let Some(mut record) = self.tickets.remove(&number) else {
            return;
        };
        if record.state.is_final() {
            self.tickets.insert(number, record);
            return;
        }
        self.leave_ticket(&record);
        let from = record.state;
        let was_hosted = from.is_hosted();
        (record.state, record.reason) = (state, reason);
        (record.changed_at, record.is_sent) = (self.now, false);
        if state == State::Queued && self.ticket_due(&record).is_some_and(|due| due <= self.now) {
            record.state = State::Expired;
        }
        let is_matched = matches!(record.state, State::Matched(_)) || record.state.is_hosted();
        if is_matched && !was_hosted {
            let waited = self.waited(&record);
            let queue = &record.ticket.queue;
            self.waits.entry(queue.clone()).or_default().add(waited);
            let happened = Happened::Waited(queue.clone(), waited);
            self.effects.count.push(happened);
        }
        self.effects.write.push(Change::Became {
            ticket: number,
            from,
            state: record.state,
            reason,
            at: self.now,
        });
        if record.state.is_final() {
            self.leave_players(&record);
        }
        self.enter_ticket(record);
        while self.index.ended.len() > MAX_ENDED
            && let Some(&(_, oldest)) = self.index.ended.first()
        {
            self.forget(oldest);
        }
    }

    /// Notes that a client was sent the state of a ticket.
    pub fn sent(&mut self, number: TicketNumber) {
        let Some(record) = self.tickets.get_mut(&number) else {
            return;
        };
        if !std::mem::replace(&mut record.is_sent, true) {
            self.index.remove_unsent(&record.ticket.owner, number);
            self.effects.write.push(Change::Sent(number));
        }
    }

    /// Puts the tickets of a match that are in no final state into a state.
    pub(super) fn put_all(&mut self, id: MatchId, state: State) {
        for number in self.members(id) {
            self.become_state(number, state, Reason::None);
        }
    }

    /// Makes the state of a ticket in a match final. A client that was sent the call is sent nothing more.
    pub(super) fn end_in_match(&mut self, number: TicketNumber, id: MatchId) {
        let was_sent = self.ticket(number).is_some_and(|ticket| ticket.is_sent);
        self.become_state(number, State::Matched(id), Reason::None);
        if was_sent {
            self.sent(number);
        }
    }

    /// Removes a ticket from the indexes, except from those of its id and of what was not sent.
    fn leave_ticket(&mut self, record: &TicketRecord) {
        let number = record.number;
        if let Some(due) = self.ticket_due(record) {
            self.due.remove(&(due, Due::Ticket(number)));
        }
        if record.state.is_final() {
            self.index.ended.remove(&(record.changed_at, number));
            return;
        }
        self.shares.leave(number);
    }

    /// The players of a new ticket are in it from now on.
    pub(super) fn enter_players(&mut self, record: &TicketRecord) {
        for one in self.players_of(record) {
            self.index.add_player(&one.group, &one.player, one.ticket);
            self.effects.write.push(Change::Entered(one));
        }
    }

    /// The players of a ticket that has ended can be in another one.
    fn leave_players(&mut self, record: &TicketRecord) {
        for one in self.players_of(record) {
            let Self { index, effects, .. } = self;
            if index.remove_player(&one.group, &one.player, one.ticket) {
                effects.write.push(Change::Left(one));
            }
        }
    }

    /// The players of a ticket, in the group of its queue.
    fn players_of(&self, record: &TicketRecord) -> Vec<QueuedPlayer> {
        let terms = self.queues.get(&record.ticket.queue);
        let group = terms.map_or("", |terms| terms.group.as_str());
        let players = record.ticket.players.iter();
        let player = |player: &String| QueuedPlayer {
            group: group.to_owned(),
            player: player.clone(),
            ticket: record.number,
        };
        players.map(player).collect()
    }

    /// Removes a ticket in a final state, and its match if it was the last of its tickets.
    pub(super) fn forget(&mut self, number: TicketNumber) {
        let Some(record) = self.tickets.remove(&number) else {
            return;
        };
        self.leave_ticket(&record);
        self.index
            .remove_id(&record.ticket.owner, &record.ticket.id);
        self.index.remove_unsent(&record.ticket.owner, number);
        self.effects.write.push(Change::Forgotten(number));
        if let State::Matched(id) = record.state {
            self.drop_empty(id);
        }
    }

    /// Replaces the queues. Tickets of queues that are gone, tickets for which `fits` is false, and
    /// tickets with a player of a hosted or an older ticket in the same group leave the queue.
    pub fn configure(
        &mut self,
        queues: impl IntoIterator<Item = (String, QueueTerms)>,
        fits: impl Fn(&TicketRecord) -> bool,
    ) {
        self.queues = queues.into_iter().collect();
        let players = self.index.take_players();
        self.due.retain(|(_, due)| !matches!(due, Due::Ticket(_)));
        let mut out = BTreeSet::new();
        // Their matches go on, even if the queue has other settings now: a player in one of them cannot wait, too.
        for record in self.tickets.values().filter(|one| one.state.is_hosted()) {
            for one in self.players_of(record) {
                self.index.add_player(&one.group, &one.player, one.ticket);
            }
        }
        for record in self.tickets.values() {
            let number = record.number;
            if let Some(due) = self.ticket_due(record) {
                self.due.insert((due, Due::Ticket(number)));
            }
            if record.state.is_final() || record.state.is_hosted() {
                continue;
            }
            let waiting = self.players_of(record);
            let is_taken =
                |one: &QueuedPlayer| self.index.player(&one.group, &one.player).is_some();
            let has_queue = self.queues.contains_key(&record.ticket.queue);
            if !has_queue || waiting.iter().any(is_taken) || !fits(record) {
                out.insert(number);
                continue;
            }
            for one in waiting {
                self.index.add_player(&one.group, &one.player, number);
            }
        }
        let changes = self.index.changes_since(players);
        self.effects.write.extend(changes);
        for &number in &out {
            match self.tickets.get(&number).map(|ticket| ticket.state) {
                Some(State::Proposed(id)) => {
                    self.dissolve(id, &out, Reason::Reconfigured, Reason::Cancelled);
                }
                _ => self.become_state(number, State::Cancelled, Reason::Reconfigured),
            }
        }
        self.at(self.now);
    }

    /// The tickets in a queue of which a match can be formed, in the order of their places.
    pub fn searchable<'a>(&'a self, queue: &'a str) -> impl Iterator<Item = &'a TicketRecord> {
        self.queued(queue).filter(|one| self.held(one).is_none())
    }

    /// The player because of whom a ticket that waits is held, and the match that the player is in.
    pub fn held<'a>(&self, record: &'a TicketRecord) -> Option<(&'a str, MatchId)> {
        let mut players = record.ticket.players.iter();
        players.find_map(|player| Some((player.as_str(), self.busy(player, record.number)?)))
    }

    /// The match that is final, and not over, in which a player is without this ticket.
    fn busy(&self, player: &str, ticket: TicketNumber) -> Option<MatchId> {
        let called = || self.called_with_others(player, ticket);
        self.plays_in(player).or_else(called)
    }

    /// The match that is final, and whose play has not begun, in which a player is with another ticket.
    fn called_with_others(&self, player: &str, ticket: TicketNumber) -> Option<MatchId> {
        let others = self.index.tickets_of(player);
        let others = others.filter(|number| *number != ticket);
        let mut others = others.filter_map(|number| self.ticket(number));
        let hosted = others.find(|other| other.state.is_hosted())?;
        hosted.state.match_id()
    }

    /// Whether the daemon has sent a player of this match to another one that is not over.
    pub(super) fn is_sent_elsewhere(
        &self,
        id: MatchId,
        player: &str,
        ticket: TicketNumber,
    ) -> bool {
        let seated = |one: &Match| one.seats.iter().any(|seat| seat.player == player);
        let other = self.plays_in(player).filter(|other| *other != id);
        let plays = other.is_some_and(|other| self.formed(other).is_some_and(seated));
        plays
            || self
                .called_with_others(player, ticket)
                .is_some_and(|other| other != id)
    }

    /// Ends the ready checks of other matches with a player of this one, which is final: their tickets go back.
    pub(super) fn hold_others(&mut self, id: MatchId) {
        let players = self.matches.get(id).map_or(Vec::new(), Match::players);
        let mut checks = BTreeSet::new();
        for player in &players {
            let tickets = self.index.tickets_of(player);
            let proposed = tickets.filter_map(|number| match self.ticket(number)?.state {
                State::Proposed(other) if other != id => Some(other),
                _ => None,
            });
            checks.extend(proposed);
        }
        for other in checks {
            self.dissolve(other, &BTreeSet::new(), Reason::None, Reason::Cancelled);
        }
    }
}

impl Lifecycle {
    /// Notes that a player accepts a match. Once all players have accepted it, the match is final. The
    /// same event again changes nothing.
    ///
    /// # Errors
    /// Fails if the match does not wait to be accepted, or the player is in none of the name's tickets in
    /// it.
    pub fn accept(&mut self, owner: &str, id: MatchId, player: &str) -> Result<(), TicketRefused> {
        self.seat_of(owner, id, player)?;
        let formed = self.matches.get_mut(id).ok_or(TicketRefused::NoCheck)?;
        if formed.open_until.is_none() || !formed.accepted.insert(player.to_owned()) {
            return Ok(());
        }
        let all = formed
            .seats
            .iter()
            .all(|seat| formed.accepted.contains(&seat.player));
        let player = player.to_owned();
        self.effects.write.push(Change::Accepted { id, player });
        if all {
            self.close_check(id);
        }
        Ok(())
    }

    /// Notes that a player declines a match. The player's ticket leaves the queue, and the others go back
    /// to it.
    ///
    /// # Errors
    /// Fails if the match does not wait to be accepted, or the player is in none of the name's tickets in
    /// it.
    pub fn decline(&mut self, owner: &str, id: MatchId, player: &str) -> Result<(), TicketRefused> {
        let ticket = self.seat_of(owner, id, player)?;
        if self
            .matches
            .get(id)
            .is_none_or(|formed| formed.open_until.is_none())
        {
            return Err(TicketRefused::NoCheck);
        }
        self.dissolve(id, &[ticket].into(), Reason::Declined, Reason::Declined);
        Ok(())
    }

    /// The ticket of a player in a match, if it belongs to the name.
    fn seat_of(
        &self,
        owner: &str,
        id: MatchId,
        player: &str,
    ) -> Result<TicketNumber, TicketRefused> {
        let formed = self.matches.get(id).ok_or(TicketRefused::NoCheck)?;
        let seat = formed.seats.iter().find(|seat| {
            let ticket = self.tickets.get(&seat.ticket);
            seat.player == player && ticket.is_some_and(|ticket| ticket.ticket.owner == owner)
        });
        seat.map(|seat| seat.ticket)
            .ok_or(TicketRefused::NotInMatch)
    }

    /// The tickets of a match that are in no final state.
    pub(super) fn members(&self, id: MatchId) -> Vec<TicketNumber> {
        let tickets = self.matches.get(id).map(Match::tickets);
        let is_in = |number: &TicketNumber| {
            let ticket = self.tickets.get(number);
            ticket.is_some_and(|ticket| {
                !ticket.state.is_final() && ticket.state.match_id() == Some(id)
            })
        };
        tickets.into_iter().flatten().filter(is_in).collect()
    }

    /// Ends the ready check of a match that all players have accepted.
    fn close_check(&mut self, id: MatchId) {
        self.change(id, |formed| {
            (formed.stage, formed.open_until) = (Stage::Formed, None);
        });
        self.effects.write.push(Change::Closed(id));
        let members = self.members(id);
        self.follow(id, members);
    }

    /// Ends a ready check whose time is over: tickets whose players have not all accepted leave the queue.
    pub(super) fn check_is_over(&mut self, id: MatchId) {
        let Some(formed) = self.matches.get(id) else {
            return;
        };
        let missing = formed
            .seats
            .iter()
            .filter(|seat| !formed.accepted.contains(&seat.player));
        let out = missing.map(|seat| seat.ticket).collect();
        self.dissolve(id, &out, Reason::Unanswered, Reason::Unanswered);
    }

    /// Ends a match that is not final: the tickets in `out` leave the queue, the others go back to their
    /// place in it.
    pub(super) fn dissolve(
        &mut self,
        id: MatchId,
        out: &BTreeSet<TicketNumber>,
        left: Reason,
        back: Reason,
    ) {
        if self.formed(id).is_none() {
            return;
        }
        for ticket in self.members(id) {
            match out.contains(&ticket) {
                true => self.become_state(ticket, State::Cancelled, left),
                false => self.become_state(ticket, State::Queued, back),
            }
        }
        self.drop_formed(id);
    }
}
