//! Adds tickets to the indexes, changes their states, and removes them.

use std::collections::BTreeSet;

use super::{
    Change, Happened, KEEP_MILLIS, Lifecycle, MAX_ENDED, QueueTerms, Reason, State, TicketNumber,
    TicketPlayer, TicketRecord, due::Due,
};
use crate::domain::{MatchId, Timestamp};

impl Lifecycle {
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
            self.waiting += 1;
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
        self.waiting -= 1;
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
    fn players_of(&self, record: &TicketRecord) -> Vec<TicketPlayer> {
        let terms = self.queues.get(&record.ticket.queue);
        let group = terms.map_or("", |terms| terms.group.as_str());
        let players = record.ticket.players.iter();
        let player = |player: &String| TicketPlayer {
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
                |one: &TicketPlayer| self.index.player(&one.group, &one.player).is_some();
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
}
