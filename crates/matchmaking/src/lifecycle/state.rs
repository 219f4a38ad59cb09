//! All tickets, matches and instances, how they are looked up and changed, what has come up since the last time, and what is
//! done when it is due.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    sync::Arc,
};

use evenkeel_model::{Timestamp, record::MatchId};

use super::{
    Change, CoordinatorSettings, Effects, Instance, KEEP_MILLIS, Match, MatchSeat, Message,
    QueueTerms, Reason, Stage, State, TicketNumber, TicketRecord, TicketRefused, Why, millis,
    tables::{HostAsking, KeptMatches, TicketIndexes, TicketShares, Waits},
};

/// Something that happens at a time unless something else happens before.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    /// A match has been in its state for too long.
    Match(MatchId),
    /// A ticket that waits expires, or a ticket that has ended is removed.
    Ticket(TicketNumber),
    /// An instance was silent for too long, or has not come back in time.
    Instance(String),
    /// Players who were sent to a match in play have not come.
    Expected(MatchId),
    /// An instance has rested, or a match may ask the allocator again.
    Allocate,
}

impl CoordinatorSettings {
    /// When the state of a match times out, if it does.
    fn deadline(&self, one: &Match) -> Option<Timestamp> {
        let after = |limit| one.since.plus_millis(limit);
        Some(match (one.stage, one.parted) {
            (Stage::Proposed, _) => return one.open_until,
            (Stage::Formed, _) => return None,
            (Stage::Reserved, _) => one.wait_until,
            (Stage::Opening | Stage::Ready, _) => after(millis(self.open_seconds)),
            (Stage::Joining, _) => after(millis(self.join_seconds)),
            (Stage::Playing, Some(parted)) => parted.plus_millis(self.resume_millis()),
            (Stage::Playing, None) => after(millis(self.play_seconds)),
            (Stage::Over | Stage::Failed, _) => after(KEEP_MILLIS),
        })
    }
}

/// All tickets whose state is kept, their matches, and the instances that host these.
#[derive(Debug, Default)]
pub struct Lifecycle {
    pub(super) settings: CoordinatorSettings,
    pub(super) queues: BTreeMap<String, QueueTerms>,
    pub(super) tickets: BTreeMap<TicketNumber, TicketRecord>,
    pub(super) matches: KeptMatches,
    pub(super) instances: BTreeMap<String, Instance>,
    pub(super) index: TicketIndexes,
    pub(super) waits: HashMap<String, Waits>,
    /// The tickets in no final state.
    pub(super) shares: TicketShares,
    /// The number of the next ticket.
    pub(super) next: TicketNumber,
    /// Hosted matches in no final state.
    pub(super) live: BTreeSet<MatchId>,
    /// Matches that wait for an instance.
    pub(super) reserved: BTreeSet<MatchId>,
    /// How each of them has asked the allocator, if there is one.
    pub(super) asking: BTreeMap<MatchId, HostAsking>,
    /// How many game servers were allocated and could not be used.
    pub(super) unused: u64,
    /// Matches for which an absent instance must be sent CLOSE when it comes back, and why.
    pub(super) owed: BTreeMap<String, BTreeMap<MatchId, Why>>,
    /// The players of matches in play.
    pub(super) playing: HashMap<String, MatchId>,
    /// What is due, the next first.
    pub(super) due: BTreeSet<(Timestamp, Due)>,
    pub(super) now: Timestamp,
    /// Whether a match that waits may find an instance now.
    pub(super) stale: bool,
    /// What has come up for the next [`Effects`].
    pub(super) effects: Effects,
    /// The matches whose hosting has changed since the last write.
    pub(super) rehosted: BTreeSet<MatchId>,
    /// The instances that have changed since the last write.
    pub(super) changed_instances: BTreeSet<String>,
}

impl Lifecycle {
    /// Says whose share of the room for tickets the name of a client counts for. Before, each name has one of its own.
    pub fn share_by(&mut self, of: Arc<dyn Fn(&str) -> String + Send + Sync>) {
        self.shares = TicketShares::by(of);
        let waiting = self.tickets.values().filter(|one| !one.state.is_final());
        for record in waiting {
            self.shares.enter(record.number, &record.ticket.owner);
        }
    }

    /// The time of the last event.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// The configured queues.
    pub fn queues(&self) -> impl Iterator<Item = &str> {
        self.queues.keys().map(String::as_str)
    }

    /// The ticket with this number.
    pub fn ticket(&self, number: TicketNumber) -> Option<&TicketRecord> {
        self.tickets.get(&number)
    }

    /// The number of a client's ticket.
    ///
    /// # Errors
    /// Fails if the name has no such ticket.
    pub fn find(&self, owner: &str, id: &str) -> Result<TicketNumber, TicketRefused> {
        self.index.id(owner, id).ok_or(TicketRefused::NoTicket)
    }

    /// The match with this id, while any of its tickets is kept.
    pub fn formed(&self, id: MatchId) -> Option<&Match> {
        self.matches.get(id).filter(|one| one.has_seats())
    }

    /// The hosted match with this id, while its hosting is kept.
    pub fn hosted(&self, id: MatchId) -> Option<&Match> {
        self.matches.get(id).filter(|one| one.stage.is_hosted())
    }

    /// All matches whose hosting is kept.
    pub fn hosted_matches(&self) -> impl Iterator<Item = &Match> {
        self.matches.iter().filter(|one| one.stage.is_hosted())
    }

    /// The matches that are final and have tickets, the latest first.
    pub fn latest_matches(&self) -> impl Iterator<Item = &Match> {
        let matches = self.matches.iter().rev();
        matches.filter(|formed| formed.has_seats() && formed.open_until.is_none())
    }

    /// The matches of a player that are final, the latest first.
    pub fn latest_of_player(&self, player: &str) -> impl Iterator<Item = &Match> {
        self.matches.of_player(player)
    }

    /// The matches of a queue that are final, the latest first.
    pub fn latest_of_queue(&self, queue: &str) -> impl Iterator<Item = &Match> {
        self.matches.of_queue(queue)
    }

    /// The tickets in a queue that wait for a match, in the order of their places.
    pub fn queued<'a>(&'a self, queue: &'a str) -> impl Iterator<Item = &'a TicketRecord> {
        let waits = move |ticket: &&TicketRecord| {
            ticket.state == State::Queued && ticket.ticket.queue == queue
        };
        self.tickets.values().filter(waits)
    }

    /// The tickets of all queues that wait for a match.
    pub fn waiting_tickets(&self) -> impl Iterator<Item = &TicketRecord> {
        let tickets = self.tickets.values();
        tickets.filter(|ticket| ticket.state == State::Queued)
    }

    /// How long a ticket has waited, in milliseconds: until now, until it was in a match that is hosted,
    /// or until its final state.
    pub fn waited(&self, ticket: &TicketRecord) -> i64 {
        let until = match ticket.state {
            State::Hosted(id) | State::Called(id) => {
                let formed = self.formed(id);
                formed.map_or(self.now, |formed| match formed.is_later(ticket.number) {
                    true => ticket.changed_at,
                    false => formed.formed_at,
                })
            }
            state if state.is_final() => ticket.changed_at,
            _ => self.now,
        };
        until.0.saturating_sub(ticket.submitted_at.0).max(0)
    }

    /// Number of tickets in no final state.
    pub fn waiting(&self) -> usize {
        self.shares.len()
    }

    /// The median wait of the tickets of a queue's last matches, in milliseconds.
    pub fn median_wait(&self, queue: &str) -> Option<i64> {
        self.waits.get(queue)?.median()
    }

    /// All instances, by name.
    pub fn instances(&self) -> impl Iterator<Item = &Instance> {
        self.instances.values()
    }

    /// Whether there is an instance of this name, connected or not.
    pub fn knows(&self, instance: &str) -> bool {
        self.instances.contains_key(instance)
    }

    /// The region of an instance, if it states one.
    pub fn region(&self, name: &str) -> Option<String> {
        self.instances.get(name)?.offer.region.clone()
    }

    /// Whether an instance that was heard at this time is not silent for too long.
    pub fn is_recent(&self, heard: Timestamp) -> bool {
        self.now < heard.plus_millis(millis(self.settings.heartbeat_seconds))
    }

    /// The match that a player plays in now.
    pub(crate) fn plays_in(&self, player: &str) -> Option<MatchId> {
        self.playing.get(player).copied()
    }

    /// The pass of a player, as long as it is valid.
    pub fn pass(&self, id: MatchId, player: &str) -> Option<&String> {
        self.hosted(id)?.pass(player, self.now)
    }

    /// Tickets of a client that have changed since the client was last sent their state.
    pub fn unsent(&self, owner: &str) -> Vec<TicketNumber> {
        let unsent = self.index.unsent.get(owner);
        unsent.map_or(Vec::new(), |unsent| unsent.iter().copied().collect())
    }

    /// Changes a match, and with it its time-out and what has to be written. Its queue and its seats stay.
    pub(super) fn change(&mut self, id: MatchId, change: impl FnOnce(&mut Match)) {
        let Some(one) = self.matches.get_mut(id) else {
            return;
        };
        if let Some(at) = self.settings.deadline(one) {
            self.due.remove(&(at, Due::Match(id)));
        }
        change(one);
        if let Some(at) = self.settings.deadline(one) {
            self.due.insert((at, Due::Match(id)));
        }
        let stage = one.stage;
        match stage == Stage::Reserved {
            true => self.reserved.insert(id),
            false => {
                self.asking.remove(&id);
                self.reserved.remove(&id)
            }
        };
        match stage.is_live() {
            true => self.live.insert(id),
            false => self.live.remove(&id),
        };
        if stage.is_hosted() {
            self.rehosted.insert(id);
        }
    }

    /// Adds a match.
    pub(super) fn insert(&mut self, one: Match) {
        let id = one.id;
        self.matches.insert(one);
        self.change(id, |_| {});
    }

    /// Removes a match, and its time-out.
    fn remove_match(&mut self, id: MatchId) {
        if let Some(one) = self.matches.remove(id)
            && let Some(at) = self.settings.deadline(&one)
        {
            self.due.remove(&(at, Due::Match(id)));
        }
    }

    /// Removes what was formed: none of its tickets is in the match any more. Its hosting is still kept.
    pub(super) fn drop_formed(&mut self, id: MatchId) {
        let Some(stage) = self.matches.get(id).map(|one| one.stage) else {
            return;
        };
        match stage.is_hosted() {
            true => self.matches.clear_seats(id),
            false => self.remove_match(id),
        }
        self.effects.write.push(Change::Dropped(id));
    }

    /// Removes what was formed if none of its tickets is kept any more.
    pub(super) fn drop_empty(&mut self, id: MatchId) {
        let kept = |number| self.tickets.contains_key(&number);
        let is_empty = |formed: &Match| !formed.tickets().into_iter().any(kept);
        if self.matches.get(id).is_some_and(is_empty) {
            self.drop_formed(id);
        }
    }

    /// Removes the hosting of a match that has been in a final state for long enough.
    fn forget_hosting(&mut self, id: MatchId) {
        match self.formed(id).is_some() {
            true => self.change(id, |one| one.stage = Stage::Formed),
            false => self.remove_match(id),
        }
        self.rehosted.remove(&id);
        self.effects.write.push(Change::HostingForgotten(id));
        let owing = self.owed.iter().filter(|(_, owed)| owed.contains_key(&id));
        for name in owing.map(|(name, _)| name.clone()).collect::<Vec<_>>() {
            self.finalise(&name, id);
        }
    }

    /// An instance need not be sent CLOSE for a match any more.
    pub(super) fn finalise(&mut self, name: &str, id: MatchId) {
        if let Some(owed) = self.owed.get_mut(name)
            && owed.remove(&id).is_some()
        {
            let instance = name.to_owned();
            self.effects.write.push(Change::Finalised { instance, id });
            if owed.is_empty() {
                self.owed.remove(name);
            }
        }
    }

    /// Notes that what is stored of an instance has changed.
    pub(super) fn instance_changed(&mut self, name: &str) {
        self.changed_instances.insert(name.to_owned());
    }

    /// What is to be done after the events since the last call. Finds instances for the matches that wait. If all
    /// changes can wait, they are left for a later call, unless `all` of them are asked for. Each call of `pass`
    /// returns another secret, by which an instance recognises a player.
    pub fn take_effects(&mut self, all: bool, pass: impl Fn() -> String) -> Effects {
        if std::mem::take(&mut self.stale) {
            self.allocate();
        }
        let mut effects = std::mem::take(&mut self.effects);
        // The instance may have refused the match after the message was added.
        effects.send.retain(|message| match message {
            Message::Open { instance, id } => self
                .at_instance(instance, *id)
                .is_ok_and(|hosted| hosted.stage.is_before_start()),
            _ => true,
        });
        for message in &effects.send {
            if let Message::Open { id, .. } = message {
                self.issue(*id, &pass);
            }
        }
        if all || !self.rehosted.is_empty() || effects.must_write() {
            self.add_hosting(&mut effects.write);
        } else {
            self.effects.write = std::mem::take(&mut effects.write);
        }
        effects
    }

    /// Whether tickets have come, gone or changed their state since the last write.
    pub fn have_tickets_changed(&self) -> bool {
        self.effects.must_write()
    }

    /// Draws the passes of a match that has none.
    fn issue(&mut self, id: MatchId, pass: impl Fn() -> String) {
        let Some(hosted) = self.matches.get(id).filter(|one| one.passes.is_empty()) else {
            return;
        };
        let issued = |seat: &MatchSeat| (seat.player.clone(), pass());
        let passes: BTreeMap<_, _> = hosted.seats.iter().map(issued).collect();
        self.change(id, |hosted| hosted.passes = passes);
    }

    /// Adds what has changed of the hosting of matches and of the instances, each once as it is now.
    fn add_hosting(&mut self, changes: &mut Vec<Change>) {
        let hosted = |id: MatchId| {
            let hosted = self.matches.get(id).filter(|one| one.stage.is_hosted())?;
            Some(Change::Hosted(Box::new(hosted.clone())))
        };
        let rehosted = std::mem::take(&mut self.rehosted);
        changes.extend(rehosted.into_iter().filter_map(hosted));
        let instance = |name: String| match self.instances.get(&name) {
            Some(instance) => Change::Instance(Box::new(instance.clone())),
            None => Change::InstanceGone(name),
        };
        let changed = std::mem::take(&mut self.changed_instances);
        changes.extend(changed.into_iter().map(instance));
    }
}

impl Lifecycle {
    /// Moves the time forward to `now` and does everything that is due: tickets expire, ready checks end, matches
    /// leave instances that do not answer, and what was kept for a day is removed. An earlier time changes
    /// nothing.
    pub fn at(&mut self, now: Timestamp) {
        self.now = self.now.max(now);
        while let Some((at, _)) = self.due.first()
            && *at <= self.now
            && let Some((_, due)) = self.due.pop_first()
        {
            match due {
                Due::Match(id) => self.match_is_due(id),
                Due::Ticket(number) => match self.tickets.get(&number).map(|one| one.state) {
                    Some(State::Queued) => self.become_state(number, State::Expired, Reason::None),
                    Some(state) if state.is_final() => self.forget(number),
                    _ => {}
                },
                Due::Instance(name) => self.instance_is_due(&name),
                Due::Expected(id) => self.expected_are_due(id),
                Due::Allocate => self.stale = true,
            }
        }
    }

    fn match_is_due(&mut self, id: MatchId) {
        let Some(one) = self.matches.get(id) else {
            return;
        };
        match one.stage {
            Stage::Proposed => self.check_is_over(id),
            Stage::Formed => {}
            Stage::Reserved => self.fail(id, Why::NoInstance),
            Stage::Opening | Stage::Ready => {
                self.close(id, Why::Silent);
                self.leave_instance(id, Why::Silent);
            }
            Stage::Joining => {
                self.close(id, Why::NotStarted);
                self.fail(id, Why::NotStarted);
            }
            Stage::Playing => {
                let why = match one.parted {
                    Some(_) => Why::Lost,
                    None => Why::TooLong,
                };
                self.close(id, why);
                self.fail(id, why);
            }
            Stage::Over | Stage::Failed => self.forget_hosting(id),
        }
    }

    /// An instance was silent for too long, or has not come back.
    fn instance_is_due(&mut self, name: &str) {
        let Some(instance) = self.instances.get(name) else {
            return;
        };
        let settings = &self.settings;
        let at = match instance.away {
            None => instance
                .heard
                .plus_millis(millis(settings.heartbeat_seconds)),
            Some(away) => away.plus_millis(millis(settings.return_seconds)),
        };
        if at > self.now {
            self.due.insert((at, Due::Instance(name.to_owned())));
        } else if instance.away.is_none() {
            self.lost(name);
        } else {
            self.remove_instance(name);
        }
    }
}
