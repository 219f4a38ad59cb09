//! The state after a restart, from what is stored.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    CoordinatorSettings, InstanceOffer, Lifecycle, MAX_INSTANCES, Match, QueueTerms, QueuedPlayer,
    Reason, Stage, State, TicketNumber, TicketRecord, Why, millis,
};
use evenkeel_model::{MatchId, Timestamp};

/// What is stored of tickets, matches and instances.
#[derive(Clone, Debug, Default)]
pub struct StoredState {
    /// The tickets that are kept.
    pub tickets: Vec<TicketRecord>,
    /// Who is in which ticket that has not ended.
    pub players: Vec<QueuedPlayer>,
    /// The matches that were formed of them.
    pub formed: Vec<Match>,
    /// The instances.
    pub offers: Vec<InstanceOffer>,
    /// The matches whose hosting is kept, without what was formed.
    pub hosted: Vec<Match>,
    /// The matches for which instances must be sent CLOSE when they come back, and why.
    pub owed: Vec<(String, MatchId, Why)>,
    /// The matches in play whose results are stored: the daemon was killed after END, before it stored the match's
    /// new state.
    pub recorded: Vec<MatchId>,
}

impl Lifecycle {
    /// Restores the state from what is stored. `now` is the time of day; if it is before the last stored change,
    /// because the clock was set back, time goes on from that change. No instance is connected yet: each has as
    /// much time to come back as after a lost connection, and so has each game in play.
    ///
    /// Rows that were changed by hand can contradict each other. A ticket that is not in its match as both say goes
    /// back to the queue; a match before START without tickets fails; of two tickets with the same client and id,
    /// the newer one is left out.
    pub fn restore(
        settings: CoordinatorSettings,
        queues: impl IntoIterator<Item = (String, QueueTerms)>,
        stored: StoredState,
        now: Timestamp,
        fits: impl Fn(&TicketRecord) -> bool,
    ) -> Self {
        let times = stored.tickets.iter();
        let times = times.map(|one| one.submitted_at.max(one.changed_at));
        let times = times.chain(stored.hosted.iter().map(|one| one.since));
        let mut restored = Self {
            settings,
            queues: queues.into_iter().collect(),
            now: times.fold(now, Timestamp::max),
            next: 1,
            ..Self::default()
        };
        for offer in stored.offers.into_iter().take(MAX_INSTANCES) {
            restored.absent(offer);
        }
        let formed_ids: Vec<_> = stored.formed.iter().map(|one| one.id).collect();
        let mut formed = BTreeMap::from_iter(stored.formed.into_iter().map(|one| (one.id, one)));
        for hosted in stored.hosted {
            let formed = formed.remove(&hosted.id).unwrap_or_default();
            restored.insert(hosted.formed_as(formed));
        }
        for (_, one) in formed {
            restored.insert(one);
        }
        for (name, id, why) in stored.owed {
            restored.owed.entry(name).or_default().insert(id, why);
        }
        restored.restore_tickets(stored.tickets);
        for one in stored.players {
            let index = &mut restored.index;
            index.add_player(&one.group, &one.player, one.ticket);
        }
        restored.restore_hosting();
        // Everything up to here is what is stored.
        (restored.effects, restored.rehosted) = Default::default();
        restored.changed_instances.clear();
        restored.mend(&formed_ids, &stored.recorded);
        let queues = std::mem::take(&mut restored.queues);
        restored.configure(queues, fits);
        restored.stale = true;
        restored
    }

    fn restore_tickets(&mut self, mut tickets: Vec<TicketRecord>) {
        tickets.sort_by_key(|ticket| ticket.number);
        for record in tickets {
            self.next = self.next.max(record.number.saturating_add(1));
            let is_known = self.find(&record.ticket.owner, &record.ticket.id).is_ok();
            if is_known || self.tickets.contains_key(&record.number) {
                continue;
            }
            if let State::Matched(_) = record.state {
                let waited = self.waited(&record);
                let waits = self.waits.entry(record.ticket.queue.clone()).or_default();
                waits.add(waited);
            }
            self.enter_ticket(record);
        }
    }

    /// Starts the time limit of each match's current step again.
    fn restore_hosting(&mut self) {
        let back = self.now.plus_millis(millis(self.settings.return_seconds));
        for id in self.live.clone() {
            let Some(hosted) = self.matches.get(id) else {
                continue;
            };
            let (wanted, now) = (self.wanted_by(hosted), self.now);
            let is_formed = hosted.has_seats();
            self.change(id, |hosted| {
                if is_formed {
                    hosted.wanted = wanted;
                }
                match hosted.stage {
                    Stage::Reserved => hosted.wait_until = hosted.wait_until.max(back),
                    Stage::Opening | Stage::Ready => hosted.since = now,
                    Stage::Joining => (hosted.stage, hosted.since) = (Stage::Ready, now),
                    Stage::Playing => hosted.parted = Some(now),
                    _ => {}
                }
            });
            self.occupy(id);
            if self
                .hosted(id)
                .is_some_and(|one| one.stage == Stage::Playing)
            {
                self.plays(id);
            }
        }
    }

    /// Notes that a match is at its instance.
    fn occupy(&mut self, id: MatchId) {
        let hosted = self.hosted(id).filter(|one| one.stage != Stage::Reserved);
        let Some((name, address)) =
            hosted.and_then(|one| Some((one.instance.clone()?, &one.address)))
        else {
            return;
        };
        if !self.instances.contains_key(&name) {
            let address = address.clone().unwrap_or_default();
            self.absent(InstanceOffer {
                name: name.clone(),
                address,
                slots: 1,
                ..InstanceOffer::default()
            });
        }
        if let Some(instance) = self.instances.get_mut(&name) {
            instance.matches.insert(id);
        }
    }

    /// Brings tickets and matches into line, and ends the matches that are recorded.
    fn mend(&mut self, formed: &[MatchId], recorded: &[MatchId]) {
        let waits = |record: &&TicketRecord| !record.state.is_final();
        let is_lost = |record: &&TicketRecord| {
            let id = record.state.match_id();
            id.is_some_and(|id| {
                let one = self.matches.get(id);
                one.is_none_or(|one| !one.agrees(record.number, record.state))
            })
        };
        let lost = self.tickets.values().filter(waits).filter(is_lost);
        for number in lost.map(|record| record.number).collect::<Vec<_>>() {
            self.become_state(number, State::Queued, Reason::Cancelled);
        }
        let of = |record: &TicketRecord| record.state.match_id();
        let with_tickets: BTreeSet<MatchId> = self.tickets.values().filter_map(of).collect();
        for id in formed.iter().filter(|id| !with_tickets.contains(id)) {
            self.drop_formed(*id);
        }
        for id in recorded {
            self.ended(*id);
        }
        for id in self.live.clone() {
            let hosted = self.hosted(id).filter(|one| !one.has_seats());
            if hosted.is_some_and(|one| one.stage != Stage::Playing) {
                self.withdraw(id);
            }
        }
    }

    /// Gives all later tickets numbers above this one.
    pub fn number_above(&mut self, number: TicketNumber) {
        self.next = self.next.max(number.saturating_add(1));
    }
}

impl Match {
    /// A hosted match, together with what was formed of its tickets.
    #[must_use]
    pub fn formed_as(self, formed: Self) -> Self {
        Self {
            proposal: formed.proposal,
            seats: formed.seats,
            formed_at: formed.formed_at,
            open_until: formed.open_until,
            accepted: formed.accepted,
            pool_id: formed.pool_id,
            ..self
        }
    }
}
