//! What each call of a client or an instance does, and its answer.

use std::sync::Arc;

use super::{
    Configured, QueuesError,
    call::{Answer, Ask, Call},
    connections::Connections,
    host_ask::HostAsk,
    hosting::plan,
    known::admit,
    links::Links,
    task::Task,
    view::{queue_line, ticket_reply},
};
use crate::{
    domain::MatchId,
    lifecycle::{Allocation, Submission, TicketNumber, TicketRecord, TicketRefused},
    matchmaking::Queue,
};

impl Task<'_> {
    /// Handles calls. Their answers are sent once the changes of the batch are on disk.
    pub(super) fn handle(
        &mut self,
        calls: impl IntoIterator<Item = Call>,
        connections: &mut Connections,
    ) {
        for Call { ask, answer } in calls {
            let outcome = match ask {
                Ask::Explain(owner, id) => {
                    self.explanations.ask(owner, id, answer);
                    continue;
                }
                Ask::Host(ask) => self.host(ask, &mut connections.links),
                ask => self.answer(ask),
            };
            self.answers.push((answer, outcome));
        }
    }

    fn answer(&mut self, ask: Ask) -> Result<Answer, QueuesError> {
        Ok(match ask {
            Ask::List => {
                let own = self.shared.names_of(&self.part.name);
                let line = |name: &String| queue_line(&self.life, name);
                Answer::List(own.iter().map(line).collect())
            }
            Ask::Submit(queue, submission) => {
                self.still_accepts(queue.as_ref(), &submission)?;
                if self.life.find(&submission.owner, &submission.id).is_err() {
                    admit(self.shared, &submission, self.life.now())?;
                }
                let number = self.life.submit(submission)?;
                self.ticket(number)?
            }
            Ask::Cancel(owner, id) => {
                let number = self.life.cancel(&owner, &id)?;
                self.ticket(number)?
            }
            Ask::Ticket(owner, id) => {
                let number = self.life.find(&owner, &id)?;
                self.ticket(number)?
            }
            Ask::Answer {
                owner,
                id,
                player,
                accepts,
            } => {
                match accepts {
                    true => self.life.accept(&owner, id, &player)?,
                    false => self.life.decline(&owner, id, &player)?,
                }
                Answer::Done
            }
            Ask::Configure(queues) => {
                self.shared.metrics.configure(queues.keys());
                self.configure(queues);
                Answer::Done
            }
            Ask::Listen(..) | Ask::Explain(..) | Ask::Host(_) => Answer::Done,
        })
    }

    /// Refuses a ticket that another configuration of its queue has checked and the present one does not
    /// accept.
    fn still_accepts(
        &self,
        queue: Option<&Arc<Queue>>,
        ticket: &Submission,
    ) -> Result<(), QueuesError> {
        let is_same = match self.shared.queue(&ticket.queue) {
            Some(now) => queue.is_some_and(|queue| Arc::ptr_eq(&now, queue)),
            None => true,
        };
        match is_same || self.shared.accepts(ticket) {
            true => Ok(()),
            false => Err(QueuesError::Reconfigured),
        }
    }

    /// Goes on with other queues. Rounds that run with an old configuration of a queue find nothing.
    fn configure(&mut self, queues: Configured) {
        let before = self.life.waiting();
        *self.shared.queues.write() = Arc::new(queues);
        let shared = self.shared;
        let fits = |record: &TicketRecord| shared.accepts(&record.ticket);
        self.life.configure(shared.terms(&self.part.name), fits);
        self.rounds.changed();
        tracing::info!(
            queues = shared.queues().len(),
            partition = self.part.name,
            tickets = self.life.waiting(),
            left = before.saturating_sub(self.life.waiting()),
            "the queues are configured again"
        );
    }

    /// What an instance asks for.
    fn host(&mut self, ask: HostAsk, links: &mut Links) -> Result<Answer, QueuesError> {
        let life = &mut self.life;
        match ask {
            HostAsk::Join(offer, link) => {
                life.joined((*offer).clone())?;
                links.join(*offer, link);
            }
            HostAsk::Load(name, load, _) => life.load(&name, load)?,
            HostAsk::Refuse(name, id) => life.refused(&name, id)?,
            HostAsk::Ready {
                name,
                id,
                address,
                opens: None,
            } => life.ready(&name, id, address.as_deref())?,
            HostAsk::Ready {
                name,
                id,
                address,
                opens: Some((game, link)),
            } => {
                let plan = self.plan(&name, id)?;
                let life = &mut self.life;
                life.ready(&name, id, address.as_deref())?;
                life.opened(&name, id, game)?;
                links.host(id, name, game, link);
                return Ok(plan);
            }
            HostAsk::Opened {
                name,
                id,
                game,
                link,
                plans,
            } => {
                let answer = match plans {
                    true => self.plan(&name, id)?,
                    false => Answer::Done,
                };
                self.life.opened(&name, id, game)?;
                links.host(id, name, game, link);
                return Ok(answer);
            }
            HostAsk::Began(name, id) => life.began(&name, id)?,
            HostAsk::Ended(id) => life.ended(id),
            HostAsk::GaveUp(id) => life.gave_up(id),
            HostAsk::Arrived { name, id, player } => life.arrived(&name, id, &player),
            HostAsk::Allocated {
                id,
                allocation,
                jitter,
            } => self.allocated(id, &allocation, jitter),
            HostAsk::Roster { name, id, players } => life.report_roster(&name, id, players),
            HostAsk::Seek {
                name,
                id,
                team,
                seats,
            } => {
                let seek = life.seek_players(&name, id, team, seats);
                self.rounds.changed();
                return Ok(Answer::Seats(seek?));
            }
            HostAsk::SendAway { name, id, player } => {
                let was_coming = life.send_away(&name, id, &player);
                return Ok(Answer::WasComing(was_coming));
            }
        }
        Ok(Answer::Done)
    }

    /// Handles an answer of the allocator.
    fn allocated(&mut self, id: MatchId, allocation: &Allocation, jitter: f64) {
        let is_used = self.life.answered(id, allocation, jitter);
        if let (false, Allocation::Done(server)) = (is_used, allocation) {
            let (name, unused) = (&server.name, self.life.unused());
            tracing::warn!(match_id = id, name, unused, "a game server is not needed");
        }
    }

    /// The game that an instance opens for a match.
    fn plan(&self, name: &str, id: MatchId) -> Result<Answer, QueuesError> {
        let plan = plan(self.shared, &self.life, name, id)?;
        Ok(Answer::Plan(Box::new(plan)))
    }

    fn ticket(&self, number: TicketNumber) -> Result<Answer, QueuesError> {
        let record = self.life.ticket(number).ok_or(TicketRefused::NoTicket)?;
        let reply = ticket_reply(&self.life, record);
        Ok(Answer::Ticket(reply))
    }
}
