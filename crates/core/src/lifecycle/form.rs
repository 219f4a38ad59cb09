//! Tickets come, are cancelled, and form matches.

use super::{
    Change, Lifecycle, MAX_WAITING, Match, Proposal, Reason, Seat, Stage, State, Submission,
    TicketNumber, TicketRecord, TicketRefused,
};
use crate::domain::MatchId;

impl Lifecycle {
    /// Adds a ticket to its queue. The same ticket submitted again changes nothing, whatever its state
    /// is now.
    ///
    /// # Errors
    /// Fails if the name has another ticket of this id, there is no such queue or no room in it, or a
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
        if self.waiting >= MAX_WAITING {
            return Err(TicketRefused::Full);
        }
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
    pub(super) fn follow(&mut self, id: MatchId, tickets: impl IntoIterator<Item = TicketNumber>) {
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
    fn seats(&self, queue: &str, proposal: &Proposal) -> Option<Vec<Seat>> {
        let mut seats = Vec::new();
        for (team, tickets) in (0u8..).zip(&proposal.teams) {
            for &number in tickets {
                let record = self.tickets.get(&number)?;
                let twice = seats.iter().any(|seat: &Seat| seat.ticket == number);
                let waits = record.state == State::Queued && record.ticket.queue == queue;
                if !waits || twice || self.held(record).is_some() {
                    return None;
                }
                seats.extend(record.ticket.players.iter().map(|player| Seat {
                    player: player.clone(),
                    ticket: number,
                    team,
                    later: false,
                }));
            }
        }
        (!seats.is_empty()).then_some(seats)
    }
}
