//! What each call of a client or an instance does, and its answer.

use std::sync::Arc;

use super::{
    QueuesError,
    call::Call,
    command::{Answer, Command},
    configured::Configured,
    connections::Connections,
    hosting::game,
    instance_command::InstanceCommand,
    known::admit,
    links::Links,
    task::Task,
    view::{Seen, queue_line, ticket_reply},
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
        for Call { command, answer } in calls {
            let outcome = match command {
                Command::Explain(owner, id) => {
                    self.explanations.ask(owner, id, answer);
                    continue;
                }
                Command::Host(command) => self.host(command, &mut connections.links),
                command => self.answer(command),
            };
            self.answers.push((answer, outcome));
        }
    }

    fn answer(&mut self, command: Command) -> Result<Answer, QueuesError> {
        Ok(match command {
            Command::List => {
                let own = self.shared.names_of(&self.partition.name);
                let line = |name: &String| queue_line(&self.life, name);
                Answer::List(own.iter().map(line).collect())
            }
            Command::Submit(queue, submission) => {
                self.still_accepts(queue.as_ref(), &submission)?;
                if self.life.find(&submission.owner, &submission.id).is_err() {
                    admit(self.shared, &submission, self.life.now())?;
                }
                let number = self.life.submit(submission)?;
                self.ticket(number)?
            }
            Command::Cancel(owner, id) => {
                let number = self.life.cancel(&owner, &id)?;
                self.ticket(number)?
            }
            Command::Ticket(owner, id) => {
                let number = self.life.find(&owner, &id)?;
                self.ticket(number)?
            }
            Command::Answer {
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
            Command::Configure(queues) => {
                self.shared.metrics.configure(queues.keys());
                self.configure(queues);
                Answer::Done
            }
            Command::Listen(..) | Command::Explain(..) | Command::Host(_) => Answer::Done,
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
        self.life
            .configure(shared.terms(&self.partition.name), fits);
        self.rounds.changed();
        tracing::info!(
            queues = shared.queues().len(),
            partition = self.partition.name,
            tickets = self.life.waiting(),
            left = before.saturating_sub(self.life.waiting()),
            "the queues are configured again"
        );
    }

    /// What an instance asks for.
    fn host(&mut self, command: InstanceCommand, links: &mut Links) -> Result<Answer, QueuesError> {
        let life = &mut self.life;
        match command {
            InstanceCommand::Join(offer, link) => {
                life.joined((*offer).clone())?;
                links.join(*offer, link);
            }
            InstanceCommand::Load(name, load, _) => life.load(&name, load)?,
            InstanceCommand::Refuse(name, id) => life.refused(&name, id)?,
            InstanceCommand::Ready {
                name,
                id,
                address,
                opens: None,
            } => life.ready(&name, id, address.as_deref())?,
            InstanceCommand::Ready {
                name,
                id,
                address,
                opens: Some((game, link)),
            } => {
                let game_of_match = self.game(&name, id)?;
                let life = &mut self.life;
                life.ready(&name, id, address.as_deref())?;
                life.opened(&name, id, game)?;
                links.host(id, name, game, link);
                return Ok(game_of_match);
            }
            InstanceCommand::Opened {
                name,
                id,
                game,
                link,
                plans,
            } => {
                let answer = match plans {
                    true => self.game(&name, id)?,
                    false => Answer::Done,
                };
                self.life.opened(&name, id, game)?;
                links.host(id, name, game, link);
                return Ok(answer);
            }
            InstanceCommand::Began(name, id) => life.began(&name, id)?,
            InstanceCommand::Ended(id) => life.ended(id),
            InstanceCommand::GaveUp(id) => life.gave_up(id),
            InstanceCommand::Arrived { name, id, player } => life.arrived(&name, id, &player),
            InstanceCommand::Allocated {
                id,
                allocation,
                jitter,
            } => self.allocated(id, &allocation, jitter),
            InstanceCommand::Roster { name, id, players } => life.report_roster(&name, id, players),
            InstanceCommand::Seek {
                name,
                id,
                team,
                seats,
            } => {
                let seek = life.seek_players(&name, id, team, seats);
                self.rounds.changed();
                return Ok(Answer::Seats(seek?));
            }
            InstanceCommand::SendAway { name, id, player } => {
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
    fn game(&self, name: &str, id: MatchId) -> Result<Answer, QueuesError> {
        let game = game(self.shared, &self.life, name, id)?;
        Ok(Answer::Game(Box::new(game)))
    }

    fn ticket(&self, number: TicketNumber) -> Result<Answer, QueuesError> {
        let record = self.life.ticket(number).ok_or(TicketRefused::NoTicket)?;
        let reply = ticket_reply(&Seen::of(&self.life, record));
        Ok(Answer::Ticket(reply))
    }
}
