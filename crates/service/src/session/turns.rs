//! Whose question for teams has its turn on a core.
//!
//! A question waits until a core is free for it, and has the core until its answer is explained. Game servers come first,
//! then programs with a token, then visitors. Within a class, the question comes first whose asker has used the least time
//! lately; several questions of one asker keep their order. Programs and visitors together have at most half of the cores. An
//! asker who has used much leaves the last free core to game servers who have used less. So nobody who asks all the time
//! holds up somebody who asks now and then.
//!
//! Times are arguments: durations since any fixed moment.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use crate::model::access::Holder;

/// Who asks. The first class is served first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AskerClass {
    /// A connection with a running game.
    GameServer,
    /// A program with the token of a client.
    Program,
    /// Somebody without a token.
    Visitor,
}

impl AskerClass {
    /// All classes, in the order in which they are served.
    pub const ALL: [Self; 3] = [Self::GameServer, Self::Program, Self::Visitor];

    /// How long a question waits for its turn; `None` until all before it are answered.
    pub fn patience(self) -> Option<Duration> {
        match self {
            Self::GameServer => None,
            Self::Program => Some(Duration::from_secs(2)),
            Self::Visitor => Some(Duration::from_secs(1)),
        }
    }

    /// The name in messages and metrics.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::GameServer => "game servers",
            Self::Program => "programs",
            Self::Visitor => "visitors",
        }
    }
}

/// Who takes turns with others: the holder of a share. Connections of this machine take turns with each other.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TurnAsker {
    /// The class of its questions.
    pub class: AskerClass,
    holder: Holder,
    /// The number of the connection, if it is this machine's; else 0.
    connection: u64,
}

impl TurnAsker {
    /// The asker on a connection with this number.
    pub fn new(class: AskerClass, holder: Holder, connection: u64) -> Self {
        let connection = match holder {
            Holder::ThisMachine => connection,
            Holder::Client(_) | Holder::Address(_) => 0,
        };
        Self {
            class,
            holder,
            connection,
        }
    }
}

/// Turns of game servers that ask at the same time end within this time on one core, unless [`SHORTEST`] forbids it.
const ALL_TURNS: Duration = Duration::from_secs(2);
/// No turn need be shorter.
const SHORTEST: Duration = Duration::from_millis(20);
/// An asker who has asked nothing for this long is forgotten.
const LATELY: Duration = Duration::from_secs(600);
/// In this time, what an asker has used counts half as much.
const HALF_LIFE: Duration = Duration::from_secs(30);
/// The most askers that are remembered without a question.
const MOST_ASKERS: usize = 1_024;
/// An asker who has used less than this lately keeps nobody waiting.
const LITTLE: Duration = Duration::from_millis(200);

/// The end of a turn, which may be moved forward while the turn goes on.
#[derive(Clone, Debug, Default)]
pub(super) struct TurnEnd(Arc<AtomicU64>);

impl TurnEnd {
    fn at(moment: Duration) -> Self {
        Self(Arc::new(AtomicU64::new(nanos(moment))))
    }

    fn not_later_than(&self, moment: Duration) {
        self.0.fetch_min(nanos(moment), Ordering::Relaxed);
    }

    /// Whether the search has to end.
    pub(super) fn has_come(&self, now: Duration) -> bool {
        nanos(now) >= self.0.load(Ordering::Relaxed)
    }
}

fn nanos(moment: Duration) -> u64 {
    u64::try_from(moment.as_nanos()).unwrap_or(u64::MAX)
}

/// The questions that wait and those that have their turn. `W` is what a waiting question is woken with.
#[derive(Debug)]
pub(super) struct TurnQueue<W> {
    cores: usize,
    /// In the order in which they were asked.
    waiting: Vec<WaitingQuestion<W>>,
    running: Vec<RunningTurn>,
    /// What each asker has used lately.
    used: BTreeMap<TurnAsker, Used>,
    next: u64,
    /// The mean length of a turn.
    mean: Duration,
}

#[derive(Debug)]
struct WaitingQuestion<W> {
    number: u64,
    asker: TurnAsker,
    deadline: Duration,
    waker: W,
}

#[derive(Debug)]
struct RunningTurn {
    number: u64,
    asker: TurnAsker,
    since: Duration,
    end: TurnEnd,
}

/// The time that an asker has used, which fades.
#[derive(Clone, Copy, Debug, Default)]
struct Used {
    time: Duration,
    /// When it was computed, or when the asker last asked or ended a turn.
    at: Duration,
}

impl Used {
    fn by(self, now: Duration) -> Duration {
        let halves = now.saturating_sub(self.at).as_secs_f64() / HALF_LIFE.as_secs_f64();
        self.time.mul_f64((-halves).exp2())
    }
}

/// A question that has its turn now.
#[derive(Debug)]
pub(super) struct StartedTurn<W> {
    pub(super) waker: W,
    pub(super) end: TurnEnd,
}

impl<W> TurnQueue<W> {
    /// Nobody asks yet.
    pub(super) fn new(cores: usize) -> Self {
        Self {
            cores: cores.max(1),
            waiting: Vec::new(),
            running: Vec::new(),
            used: BTreeMap::new(),
            next: 0,
            mean: Duration::ZERO,
        }
    }

    /// Adds a question, whose turn takes at most `deadline`. Returns its number; [`start`](Self::start) says when its
    /// turn has come.
    pub(super) fn ask(
        &mut self,
        asker: TurnAsker,
        deadline: Duration,
        waker: W,
        now: Duration,
    ) -> u64 {
        let number = self.next;
        self.next += 1;
        if !self.used.contains_key(&asker) && self.used.len() >= MOST_ASKERS {
            self.forget(now);
        }
        self.spend(&asker, Duration::ZERO, now);
        self.waiting.push(WaitingQuestion {
            number,
            asker,
            deadline,
            waker,
        });
        number
    }

    /// Gives the turn to as many questions as may have it now. If a game server waits and no core is free, the turns that
    /// go on end early.
    pub(super) fn start(&mut self, now: Duration) -> Vec<StartedTurn<W>> {
        let mut started = Vec::new();
        while let Some(at) = self.first(now) {
            let end = TurnEnd::at(now + self.length(at));
            let WaitingQuestion {
                number,
                asker,
                waker,
                ..
            } = self.waiting.remove(at);
            started.push(StartedTurn {
                waker,
                end: end.clone(),
            });
            self.running.push(RunningTurn {
                number,
                asker,
                since: now,
                end,
            });
        }
        let servers = self.waiting(AskerClass::GameServer);
        if servers > 0 && self.running.len() >= self.cores {
            for turn in &self.running {
                let most = match turn.asker.class {
                    AskerClass::GameServer => self.share(servers),
                    AskerClass::Program | AskerClass::Visitor => SHORTEST,
                };
                turn.end.not_later_than(turn.since + most);
            }
        }
        started
    }

    /// Takes a question back, or ends its turn.
    pub(super) fn leave(&mut self, number: u64, now: Duration) {
        self.waiting.retain(|question| question.number != number);
        let ended = self.running.iter().position(|turn| turn.number == number);
        if let Some(RunningTurn { asker, since, .. }) = ended.map(|at| self.running.remove(at)) {
            let took = now.saturating_sub(since);
            self.mean = match self.mean {
                Duration::ZERO => took,
                mean => (7 * mean + took) / 8,
            };
            self.spend(&asker, took, now);
        }
    }

    /// The number of questions of a class that wait.
    pub(super) fn waiting(&self, class: AskerClass) -> usize {
        let of = self.waiting.iter();
        of.filter(|question| question.asker.class == class).count()
    }

    /// The number of turns that go on.
    pub(super) fn running(&self) -> usize {
        self.running.len()
    }

    /// After how long a question of a class may have its turn, if nobody else asks: those that wait before it take as
    /// long as turns have lately.
    pub(super) fn room_in(&self, class: AskerClass) -> Duration {
        let before: usize = AskerClass::ALL
            .into_iter()
            .filter(|other| *other <= class)
            .map(|other| self.waiting(other))
            .sum();
        let cores = match class {
            AskerClass::GameServer => self.cores,
            AskerClass::Program | AskerClass::Visitor => self.others_cores(),
        };
        let rounds = before.div_ceil(cores).max(1);
        self.mean * u32::try_from(rounds).unwrap_or(u32::MAX)
    }

    /// The place of the question whose turn is next, if it may have it now.
    fn first(&self, now: Duration) -> Option<usize> {
        let free = self.cores.saturating_sub(self.running.len());
        if free == 0 || self.waiting.is_empty() {
            return None;
        }
        let servers = self.running.iter();
        let servers = servers.filter(|turn| turn.asker.class == AskerClass::GameServer);
        let servers = servers.count();
        let others = self.running.len() - servers;
        let kept = match free == 1 && servers > 0 {
            true => self.least_idle(now),
            false => None,
        };
        let has_core = |asker: &TurnAsker| match asker.class {
            AskerClass::GameServer => {
                let used = self.used_by(asker, now);
                used < LITTLE || kept.is_none_or(|least| least >= 2 * used)
            }
            AskerClass::Program | AskerClass::Visitor => others < self.others_cores(),
        };
        let may = self.waiting.iter().enumerate();
        let may = may.filter(|(_, question)| has_core(&question.asker));
        let key = |asker: &TurnAsker| (asker.class, self.used_by(asker, now));
        may.min_by_key(|(at, question)| (key(&question.asker), *at))
            .map(|(at, _)| at)
    }

    /// The most cores that programs and visitors have together.
    fn others_cores(&self) -> usize {
        (self.cores / 2).max(1)
    }

    /// The least that a game server has used lately who asks nothing now, and may at any moment.
    fn least_idle(&self, now: Duration) -> Option<Duration> {
        let waiting = self.waiting.iter().map(|question| &question.asker);
        let asking: BTreeSet<&TurnAsker> = waiting
            .chain(self.running.iter().map(|turn| &turn.asker))
            .collect();
        let idle = self.used.iter().filter(|(asker, used)| {
            asker.class == AskerClass::GameServer
                && now.saturating_sub(used.at) < LATELY
                && !asking.contains(asker)
        });
        idle.map(|(_, used)| used.by(now)).min()
    }

    /// How long the turn of the question at this place may take.
    fn length(&self, at: usize) -> Duration {
        let deadline = self
            .waiting
            .get(at)
            .map_or(Duration::ZERO, |one| one.deadline);
        let servers = self.waiting(AskerClass::GameServer);
        deadline.min(self.share(servers.max(1)))
    }

    /// How long each turn may take, so that this many game servers are all answered in time.
    fn share(&self, servers: usize) -> Duration {
        let cores = u32::try_from(self.cores).unwrap_or(u32::MAX);
        let servers = u32::try_from(servers).unwrap_or(u32::MAX);
        (ALL_TURNS * cores / servers).max(SHORTEST)
    }

    fn used_by(&self, asker: &TurnAsker, now: Duration) -> Duration {
        self.used
            .get(asker)
            .map_or(Duration::ZERO, |used| used.by(now))
    }

    fn spend(&mut self, asker: &TurnAsker, took: Duration, now: Duration) {
        let used = self.used.entry(asker.clone()).or_default();
        *used = Used {
            time: used.by(now) + took,
            at: now,
        };
    }

    /// Forgets the askers who have asked nothing lately; if these are few, all who ask nothing now.
    fn forget(&mut self, now: Duration) {
        self.used
            .retain(|_, used| now.saturating_sub(used.at) < LATELY);
        if self.used.len() >= MOST_ASKERS {
            let waiting = self.waiting.iter().map(|question| &question.asker);
            let running = self.running.iter().map(|turn| &turn.asker);
            let asking: Vec<TurnAsker> = waiting.chain(running).cloned().collect();
            self.used.retain(|asker, _| asking.contains(asker));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const MILLI: Duration = Duration::from_millis(1);
    /// `[balance] deadline_ms`
    const DEADLINE: Duration = Duration::from_millis(250);

    fn client(class: AskerClass, name: &str) -> TurnAsker {
        TurnAsker::new(class, Holder::Client(name.into()), 7)
    }

    fn server(name: &str) -> TurnAsker {
        client(AskerClass::GameServer, name)
    }

    /// Somebody who asks again and again.
    struct Player {
        asker: TurnAsker,
        /// How long a search takes if it is not cut short.
        search: Duration,
        /// The time from an answer to the next question.
        pause: Duration,
    }

    impl Player {
        /// Asks at once again, and uses each turn to its end.
        fn greedy(asker: TurnAsker) -> Self {
            Self {
                asker,
                search: Duration::MAX,
                pause: Duration::ZERO,
            }
        }

        /// Asks three times a second, for teams that are found in 5 ms.
        fn modest(asker: TurnAsker) -> Self {
            Self {
                asker,
                search: 5 * MILLI,
                pause: 333 * MILLI,
            }
        }
    }

    /// What became of the questions of a player.
    #[derive(Clone, Default)]
    struct Fate {
        /// How long each answered one took, in order of length.
        took: Vec<Duration>,
        refused: usize,
    }

    impl Fate {
        fn p99(&self) -> Duration {
            self.took[self.took.len() * 99 / 100]
        }
    }

    /// Lets them ask for a minute of virtual time, in steps of a millisecond.
    fn play(cores: usize, players: &[Player]) -> Vec<Fate> {
        enum Now {
            Pauses(Duration),
            Waits(u64, Duration),
            Searches(u64, Duration, Duration, TurnEnd),
        }
        let mut turns = TurnQueue::new(cores);
        let mut fates = vec![Fate::default(); players.len()];
        let mut states: Vec<Now> = players
            .iter()
            .map(|_| Now::Pauses(Duration::ZERO))
            .collect();
        for now in (0..60_000).map(|at| at * MILLI) {
            for (at, player) in players.iter().enumerate() {
                match &states[at] {
                    Now::Searches(number, asked, since, end) => {
                        let is_found = now.saturating_sub(*since) >= player.search;
                        if is_found || end.has_come(now) {
                            turns.leave(*number, now);
                            fates[at].took.push(now - *asked);
                            states[at] = Now::Pauses(now + player.pause);
                        }
                    }
                    Now::Waits(number, asked) => {
                        let patience = player.asker.class.patience();
                        if patience.is_some_and(|most| now - *asked >= most) {
                            turns.leave(*number, now);
                            fates[at].refused += 1;
                            states[at] = Now::Pauses(now + player.pause);
                        }
                    }
                    Now::Pauses(_) => {}
                }
                if let Now::Pauses(until) = states[at]
                    && now >= until
                {
                    let number = turns.ask(player.asker.clone(), DEADLINE, at, now);
                    states[at] = Now::Waits(number, now);
                }
            }
            for StartedTurn { waker, end } in turns.start(now) {
                let Now::Waits(number, asked) = states[waker] else {
                    panic!("a question that does not wait has its turn")
                };
                states[waker] = Now::Searches(number, asked, now, end);
            }
            assert!(turns.running() <= cores);
        }
        for fate in &mut fates {
            fate.took.sort();
        }
        fates
    }

    /// The fates of a modest game server alone, and of one beside greedy askers.
    fn beside(cores: usize, greedy: &[TurnAsker]) -> (Fate, Vec<Fate>) {
        let modest = || Player::modest(server("club"));
        let alone = play(cores, &[modest()]).remove(0);
        let greedy = greedy.iter().cloned().map(Player::greedy);
        let mut all = play(
            cores,
            &[modest()].into_iter().chain(greedy).collect::<Vec<_>>(),
        );
        let own = all.remove(0);
        assert_eq!((alone.refused, own.refused), (0, 0));
        assert!(alone.took.len() >= 170 && own.took.len() >= 100);
        if cores > 1 {
            assert!(own.p99() <= 2 * alone.p99(), "{:?}", own.p99());
        } else {
            assert!(own.p99() <= DEADLINE + alone.p99(), "{:?}", own.p99());
        }
        (own, all)
    }

    #[test]
    fn who_asks_all_the_time_does_not_hold_up_a_game_server() {
        for cores in [1, 2, 4, 16] {
            let visitors: Vec<TurnAsker> = (0..6)
                .map(|_| client(AskerClass::Visitor, "somebody"))
                .collect();
            let (own, _) = beside(cores, &visitors);
            if cores == 1 {
                assert!(own.p99() <= SHORTEST + 6 * MILLI, "a visitor's turn ends");
            }
            let programs: Vec<TurnAsker> =
                (0..8).map(|_| client(AskerClass::Program, "bot")).collect();
            beside(cores, &programs);
            let servers: Vec<TurnAsker> = (0..8).map(|_| server("rogue")).collect();
            let (_, rogue) = beside(cores, &servers);
            assert!(rogue.iter().all(|fate| fate.refused == 0));
            // Connections of this machine that are no client are told apart, too.
            let here = |connection| {
                TurnAsker::new(AskerClass::GameServer, Holder::ThisMachine, connection)
            };
            beside(cores, &(0..8).map(here).collect::<Vec<_>>());
        }
    }

    #[test]
    fn two_who_ask_all_the_time_have_as_much() {
        for cores in [1, 2, 3] {
            let greedy = |name| Player::greedy(server(name));
            let many = (0..8).map(|_| greedy("many"));
            let all: Vec<Player> = [greedy("one")].into_iter().chain(many).collect();
            let fates = play(cores, &all);
            let answers = |fates: &[Fate]| fates.iter().map(|fate| fate.took.len()).sum::<usize>();
            let (one, many) = (answers(&fates[..1]), answers(&fates[1..]));
            assert!(
                one * 5 >= many * (if cores == 3 { 2 } else { 4 }),
                "{cores}: {one}, {many}"
            );
        }
    }

    #[test]
    fn visitors_come_last_and_are_refused_in_time() {
        let programs = (0..4).map(|_| Player::greedy(client(AskerClass::Program, "bot")));
        let visitor = Player::modest(client(AskerClass::Visitor, "somebody"));
        let all: Vec<Player> = programs.chain([visitor]).collect();
        let fates = play(2, &all);
        let visitor = &fates[4];
        assert!(visitor.took.is_empty() && visitor.refused > 40);
        assert!(fates[..4].iter().all(|fate| fate.refused == 0));
    }

    #[test]
    fn forty_game_servers_whose_maps_end_together_are_all_answered() {
        let mut turns = TurnQueue::new(2);
        for number in 0..40 {
            // One client, such as `farm-*`.
            turns.ask(server("farm"), DEADLINE, number, Duration::ZERO);
        }
        let (mut ends, mut answered) = (Vec::new(), 0);
        for now in (0..10_000).map(|at| at * MILLI) {
            ends.retain(|(number, end): &(u64, TurnEnd)| {
                let is_over = end.has_come(now);
                if is_over {
                    turns.leave(*number, now);
                    answered += 1;
                }
                !is_over
            });
            let started = turns.start(now);
            ends.extend(started.into_iter().map(|turn| (turn.waker, turn.end)));
            if answered == 40 {
                assert!(now <= 2 * ALL_TURNS, "{now:?}");
                return;
            }
        }
        panic!("{answered} of 40");
    }

    #[test]
    fn room_is_told_and_a_question_that_was_taken_back_has_no_turn() {
        let mut turns = TurnQueue::new(2);
        let visitor = || client(AskerClass::Visitor, "somebody");
        assert_eq!(turns.room_in(AskerClass::Visitor), Duration::ZERO);
        let first = turns.ask(visitor(), DEADLINE, 'a', Duration::ZERO);
        let second = turns.ask(visitor(), DEADLINE, 'b', Duration::ZERO);
        let third = turns.ask(visitor(), DEADLINE, 'c', Duration::ZERO);
        let started = turns.start(Duration::ZERO);
        assert_eq!(started.len(), 1, "half of the cores");
        assert_eq!(started[0].waker, 'a');
        turns.leave(second, MILLI);
        turns.leave(first, DEADLINE);
        let started = turns.start(DEADLINE);
        assert_eq!(started[0].waker, 'c');
        for _ in 0..4 {
            turns.ask(visitor(), DEADLINE, 'd', DEADLINE);
        }
        assert_eq!(turns.room_in(AskerClass::Visitor), 4 * DEADLINE);
        assert_eq!(turns.room_in(AskerClass::GameServer), DEADLINE);
        turns.leave(third, 2 * DEADLINE);
        turns.leave(99, 2 * DEADLINE);
    }

    #[test]
    fn many_askers_cost_bounded_memory() {
        let mut turns = TurnQueue::new(2);
        let kept = turns.ask(server("kept"), DEADLINE, (), Duration::ZERO);
        for number in 0..10_000 {
            let asker = client(AskerClass::Visitor, &number.to_string());
            let number = turns.ask(asker, DEADLINE, (), Duration::ZERO);
            turns.leave(number, Duration::ZERO);
            assert!(turns.used.len() <= MOST_ASKERS);
        }
        assert!(turns.used.contains_key(&server("kept")));
        assert_eq!(turns.waiting(AskerClass::GameServer), 1);
        turns.leave(kept, Duration::ZERO);
    }

    proptest! {
        #[test]
        fn every_question_has_its_turn_once_and_no_core_has_two(
            cores in 1_usize..5,
            asked in prop::collection::vec((0_usize..3, 0_u8..4, 0_u64..400), 1..60),
        ) {
            let mut turns = TurnQueue::new(cores);
            let mut running: Vec<(u64, TurnEnd)> = Vec::new();
            let mut seen = BTreeSet::new();
            let mut numbers = Vec::new();
            let mut now = Duration::ZERO;
            for (at, (class, name, pause)) in asked.iter().enumerate() {
                now += MILLI * u32::try_from(*pause).unwrap();
                let asker = client(AskerClass::ALL[*class], &name.to_string());
                numbers.push(turns.ask(asker, DEADLINE, at, now));
                running.retain(|(number, end)| {
                    let is_over = end.has_come(now);
                    if is_over { turns.leave(*number, now); }
                    !is_over
                });
                for turn in turns.start(now) {
                    prop_assert!(seen.insert(turn.waker));
                    running.push((numbers[turn.waker], turn.end));
                }
                prop_assert!(running.len() <= cores && running.len() == turns.running());
            }
            for _ in 0..2 * asked.len() {
                now += DEADLINE;
                running.drain(..).for_each(|(number, _)| turns.leave(number, now));
                for turn in turns.start(now) {
                    prop_assert!(seen.insert(turn.waker));
                    running.push((numbers[turn.waker], turn.end));
                }
            }
            prop_assert_eq!(seen.len(), asked.len());
        }
    }
}
