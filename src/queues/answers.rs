//! What each call of a client or an instance does, and its answer.

use std::sync::Arc;

use super::{
    Configured, QueuesError,
    call::{Answer, Ask, Call},
    connections::Connections,
    host_ask::HostAsk,
    known::admit,
    links::Links,
    task::Task,
    view::{queue_line, ticket_reply},
};
use crate::{
    domain::MatchId,
    matchmaking::Queue,
    tickets::{Submission, TicketNumber, TicketRecord, TicketRefused},
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
                let mut players = submission.players.iter();
                if let Some(player) = players.find(|id| self.hosting.plays_in(id).is_some()) {
                    let known = self.life.find(&submission.owner, &submission.id);
                    known.map_err(|_| TicketRefused::InMatch(player.clone()))?;
                }
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
        let coordinator = &mut self.hosting.coordinator;
        match ask {
            HostAsk::Join(offer, link) => {
                coordinator.joined((*offer).clone())?;
                links.join(*offer, link);
            }
            HostAsk::Load(name, load, _) => coordinator.load(&name, load)?,
            HostAsk::Refuse(name, id) => coordinator.refused(&name, id)?,
            HostAsk::Ready {
                name,
                id,
                address,
                opens: None,
            } => coordinator.ready(&name, id, address.as_deref())?,
            HostAsk::Ready {
                name,
                id,
                address,
                opens: Some((game, link)),
            } => {
                let plan = self.plan(&name, id)?;
                let coordinator = &mut self.hosting.coordinator;
                coordinator.ready(&name, id, address.as_deref())?;
                coordinator.opened(&name, id, game)?;
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
                self.hosting.coordinator.opened(&name, id, game)?;
                links.host(id, name, game, link);
                return Ok(answer);
            }
            HostAsk::Began(name, id) => coordinator.began(&name, id)?,
            HostAsk::Ended(id) => coordinator.ended(id),
            HostAsk::GaveUp(id) => coordinator.gave_up(id),
            HostAsk::Arrived { name, id, player } => coordinator.arrived(&name, id, &player),
            HostAsk::Allocated {
                id,
                allocation,
                jitter,
            } => self.hosting.allocated(id, &allocation, jitter),
            HostAsk::Roster { name, id, players } => self.hosting.roster(&name, id, players),
            HostAsk::Seek {
                name,
                id,
                team,
                seats,
            } => {
                let seek = self.hosting.seek(self.shared, &name, id, (team, seats));
                self.rounds.changed();
                return Ok(Answer::Seats(seek?));
            }
            HostAsk::SendAway { name, id, player } => {
                let was_coming = coordinator.send_away(&name, id, &player);
                return Ok(Answer::WasComing(was_coming));
            }
        }
        Ok(Answer::Done)
    }

    /// The game that an instance opens for a match.
    fn plan(&self, name: &str, id: MatchId) -> Result<Answer, QueuesError> {
        let plan = self.hosting.plan(self.shared, &self.life, name, id)?;
        Ok(Answer::Plan(Box::new(plan)))
    }

    fn ticket(&self, number: TicketNumber) -> Result<Answer, QueuesError> {
        let record = self.life.ticket(number).ok_or(TicketRefused::NoTicket)?;
        let reply = ticket_reply(&self.life, &self.hosting.coordinator, record);
        Ok(Answer::Ticket(reply))
    }
}
