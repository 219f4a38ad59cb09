//! One start of a search: teams are built from tickets that mirror each other, so that the rules that compare teams hold
//! from the beginning, and improved by simulated annealing, with four moves: add, remove, replace, swap.
//!
//! S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Optimization by Simulated Annealing, Science 220
//! (1983). A ticket moves as one piece, so that its players stay together. The seed stays in.
//!
//! The last step has the same players, on teams as even as the rules allow.

use evenkeel_model::{random::Stream, units::Count};
use evenkeel_partition::{
    self as partition, GameView, HumanInGame, Problem, ProblemSpec,
    settings::{Factors, Objective},
};

use super::{
    CandidateTickets, MatchProposal,
    teams::{Cost, TeamsInSearch},
};
use crate::pool::Pool;

/// How many mates are tried for one ticket.
const MATES: usize = 8;
/// How many tickets are tried for one step, once none fits.
const TRIES: usize = 24;
/// How many of these may have the same values by the rules that limit values, if most candidates have: where
/// a team has no room for one more of a kind, those of other kinds have their turn.
const ALIKE: usize = 8;
/// The same among the mates of one ticket.
const ALIKE_MATES: usize = 3;

/// Builds teams of `size` players around the seed. The result may be incomplete or violate rules.
pub(super) fn build(
    pool: &Pool<'_>,
    teams: &mut TeamsInSearch<'_>,
    candidates: &CandidateTickets,
    size: usize,
) {
    Builder::new(pool, teams, candidates, true).build(size);
}

/// Builds teams of at most `size` players, without tickets for which the rules cost more.
pub(super) fn build_whole(
    pool: &Pool<'_>,
    teams: &mut TeamsInSearch<'_>,
    candidates: &CandidateTickets,
    size: usize,
) {
    Builder::new(pool, teams, candidates, false).build(size);
}

/// How many tickets were tried, by their values that rules limit. There are few of these at a time.
#[derive(Default)]
struct TriedTickets(Vec<(u32, usize)>);

impl TriedTickets {
    /// Counts one more ticket with these values; `false` if `most` were tried before.
    fn is_next(&mut self, values: u32, most: usize) -> bool {
        match self.0.iter_mut().find(|(known, _)| *known == values) {
            Some((_, tried)) if *tried >= most => false,
            Some((_, tried)) => {
                *tried += 1;
                true
            }
            None => {
                self.0.push((values, 1));
                true
            }
        }
    }
}

struct Builder<'a, 'p, 't> {
    pool: &'a Pool<'p>,
    teams: &'a mut TeamsInSearch<'t>,
    candidates: &'a CandidateTickets,
    used: Vec<bool>,
    count: usize,
    /// Whether tickets are added for which the rules cost more.
    may_strain: bool,
}

impl<'a, 'p, 't> Builder<'a, 'p, 't> {
    fn new(
        pool: &'a Pool<'p>,
        teams: &'a mut TeamsInSearch<'t>,
        candidates: &'a CandidateTickets,
        may_strain: bool,
    ) -> Self {
        Self {
            pool,
            count: teams.seats.len(),
            teams,
            candidates,
            used: vec![false; candidates.len()],
            may_strain,
        }
    }

    fn build(&mut self, size: usize) {
        self.place_seed();
        let mut from = 0;
        while self.room(size) > 0 && self.step(&mut from, size) {}
    }

    /// Number of players that every team still lacks.
    fn room(&self, size: usize) -> usize {
        let most = (0..self.count).map(|team| self.teams.heads(team)).max();
        size.saturating_sub(most.unwrap_or(0))
    }

    /// Puts the seed on the first team, and on each other team a ticket that mirrors it: exactly if
    /// there is one, else by the strict rules.
    fn place_seed(&mut self) {
        let seed = self.candidates.seed;
        self.teams.put(0, seed);
        for team in 1..self.count {
            let exact = self.candidates.group(self.pool.mirrors.get(seed));
            let mate = self.best_mate(exact, team).or_else(|| {
                let strict = self.pool.strict.get(seed);
                let alike = (0..self.candidates.len())
                    .filter(|&at| self.pool.strict.get(self.candidates.ticket(at)) == strict);
                let alike: Vec<usize> = alike.collect();
                self.best_mate(&alike, team)
            });
            let strains = |cost: Cost| cost != Cost::default();
            if let Some((at, _)) = mate.filter(|(_, cost)| self.may_strain || !strains(*cost)) {
                self.used[at] = true;
                self.teams.put(team, self.candidates.ticket(at));
            }
        }
    }

    /// The unused candidate of a group whose cost on the team is the least; the first without any
    /// ends the search.
    fn best_mate(&mut self, group: &[usize], team: usize) -> Option<(usize, Cost)> {
        let mut best: Option<(usize, Cost)> = None;
        let mut tried = 0;
        let mut alike = TriedTickets::default();
        for &at in group.iter().filter(|at| !self.used[**at]) {
            let ticket = self.candidates.ticket(at);
            if self.candidates.is_crowded()
                && !alike.is_next(self.pool.limited.get(ticket), ALIKE_MATES)
            {
                continue;
            }
            self.teams.put(team, ticket);
            let cost = self.teams.strain();
            self.teams.take(team, ticket);
            if best.is_none_or(|(_, least)| cost.is_below(least)) {
                best = Some((at, cost));
            }
            tried += 1;
            if cost == Cost::default() || tried >= MATES {
                break;
            }
        }
        best
    }

    /// Adds one ticket to each team. Returns whether there were any that fit.
    fn step(&mut self, from: &mut usize, size: usize) -> bool {
        let (room, before) = (self.room(size), self.teams.strain());
        let mut best: Option<(Vec<usize>, Cost)> = None;
        let mut tried = 0;
        let mut alike = TriedTickets::default();
        let mut first = true;
        for place in *from..self.candidates.len() {
            let at = self.candidates.by_priority(place);
            if self.used[at] {
                *from += usize::from(first);
                continue;
            }
            first = false;
            let ticket = self.candidates.ticket(at);
            if self.pool.people.size(ticket) > room || !self.has_mates(ticket) {
                continue;
            }
            if self.candidates.is_crowded() && !alike.is_next(self.pool.limited.get(ticket), ALIKE)
            {
                continue;
            }
            for turn in 0..self.count {
                let Some((tuple, cost)) = self.tuple(at, turn) else {
                    continue;
                };
                if best.as_ref().is_none_or(|(_, least)| cost.is_below(*least)) {
                    best = Some((tuple, cost));
                }
                if !before.is_below(cost) {
                    break;
                }
            }
            tried += 1;
            let good = best
                .as_ref()
                .is_some_and(|(_, cost)| !before.is_below(*cost));
            if good || tried >= TRIES {
                break;
            }
        }
        let sound = |cost: Cost| self.may_strain || !before.is_below(cost);
        let Some((tuple, _)) = best.filter(|(_, cost)| sound(*cost)) else {
            return false;
        };
        for (team, at) in tuple.into_iter().enumerate() {
            self.used[at] = true;
            self.teams.put(team, self.candidates.ticket(at));
        }
        true
    }

    /// Whether there are enough unused tickets that mirror this one.
    fn has_mates(&self, ticket: u32) -> bool {
        let group = self.candidates.group(self.pool.mirrors.get(ticket));
        let mut unused = group.iter().filter(|at| !self.used[**at]);
        unused.nth(self.count - 1).is_some()
    }

    /// The ticket on the team `turn` and a mate on each other team, by team, with their cost.
    fn tuple(&mut self, at: usize, turn: usize) -> Option<(Vec<usize>, Cost)> {
        let ticket = self.candidates.ticket(at);
        let candidates = self.candidates;
        let group = candidates.group(self.pool.mirrors.get(ticket));
        self.used[at] = true;
        self.teams.put(turn, ticket);
        let mut tuple = vec![at; self.count];
        let mut last = Some(Cost::default());
        for team in (0..self.count).filter(|team| *team != turn) {
            match self.best_mate(group, team) {
                Some((mate, cost)) => {
                    self.used[mate] = true;
                    self.teams.put(team, self.candidates.ticket(mate));
                    tuple[team] = mate;
                    last = Some(cost);
                }
                None => last = None,
            }
        }
        for (team, &at) in tuple.iter().enumerate() {
            self.used[at] = false;
            self.teams.take(team, self.candidates.ticket(at));
        }
        last.map(|cost| (tuple, cost))
    }
}

/// The temperature at the start: a hard rule that is violated once more is accepted every third
/// time.
const HOT: f64 = 90.0;
/// The temperature at the end, with soft rules: a violation of 1 is hardly ever accepted.
const COLD: f64 = 0.2;
/// How many moves are made between two questions whether to stop.
const LOOK: usize = 256;

/// A change of the teams that can be undone.
enum SeatMove {
    Add(usize, u32),
    Remove(usize, u32),
    Replace(usize, u32, u32),
    Swap([usize; 2], [u32; 2]),
}

/// Improves the teams by `moves` random moves, and leaves the best that was found. Ends as soon as
/// no rule is violated.
pub(super) fn anneal(
    teams: &mut TeamsInSearch<'_>,
    candidates: &CandidateTickets,
    moves: usize,
    stream: &mut Stream,
    stop: &dyn Fn() -> bool,
) -> Cost {
    let mut out: Vec<u32> = (0..candidates.len())
        .map(|at| candidates.ticket(at))
        .collect();
    out.retain(|ticket| !teams.seats.iter().any(|team| team.contains(ticket)));
    let mut now = teams.cost();
    let (mut best, mut kept) = (now, teams.seats.clone());
    let cooling = libm::pow(COLD / HOT, 1.0 / moves.max(1) as f64);
    let mut heat = HOT;
    for made in 0..moves {
        if now == Cost::default() || made % LOOK == 0 && stop() {
            break;
        }
        heat *= cooling;
        let Some(change) = draw(teams, candidates.seed, &mut out, stream) else {
            continue;
        };
        let next = teams.cost();
        let worse = next.energy() - now.energy();
        if worse <= 0.0 || stream.unit() < libm::exp(-worse / heat) {
            now = next;
            if now.is_below(best) {
                best = now;
                kept.clone_from(&teams.seats);
            }
        } else {
            undo(teams, change, &mut out);
        }
    }
    restore(teams, &kept);
    best
}

/// Makes a random move and returns it; `None` if the drawn one is impossible.
fn draw(
    teams: &mut TeamsInSearch<'_>,
    seed: u32,
    out: &mut Vec<u32>,
    stream: &mut Stream,
) -> Option<SeatMove> {
    let count = teams.seats.len();
    let team = stream.index(count);
    let place = |teams: &TeamsInSearch<'_>, team: usize, stream: &mut Stream| {
        let seats = &teams.seats[team];
        let place = stream.index(seats.len());
        seats
            .get(place)
            .is_some_and(|ticket| *ticket != seed)
            .then_some(place)
    };
    match stream.index(8) {
        0 if !out.is_empty() => {
            let ticket = out.swap_remove(stream.index(out.len()));
            teams.put(team, ticket);
            Some(SeatMove::Add(team, ticket))
        }
        1 => {
            let place = place(teams, team, stream)?;
            let ticket = teams.take_at(team, place)?;
            out.push(ticket);
            Some(SeatMove::Remove(team, ticket))
        }
        2..=5 if !out.is_empty() => {
            let place = place(teams, team, stream)?;
            let ticket = teams.take_at(team, place)?;
            let at = stream.index(out.len());
            let other = std::mem::replace(&mut out[at], ticket);
            teams.put(team, other);
            Some(SeatMove::Replace(team, ticket, other))
        }
        _ => {
            let other = (team + 1 + stream.index(count - 1)) % count;
            let places = [
                stream.index(teams.seats[team].len()),
                stream.index(teams.seats[other].len()),
            ];
            if teams.seats[team].is_empty() || teams.seats[other].is_empty() {
                return None;
            }
            let tickets = [
                teams.take_at(team, places[0])?,
                teams.take_at(other, places[1])?,
            ];
            teams.put(other, tickets[0]);
            teams.put(team, tickets[1]);
            Some(SeatMove::Swap([team, other], tickets))
        }
    }
}

fn undo(teams: &mut TeamsInSearch<'_>, change: SeatMove, out: &mut Vec<u32>) {
    let leave = |out: &mut Vec<u32>, ticket: u32| {
        if let Some(at) = out.iter().rposition(|other| *other == ticket) {
            out.swap_remove(at);
        }
    };
    match change {
        SeatMove::Add(team, ticket) => {
            teams.take(team, ticket);
            out.push(ticket);
        }
        SeatMove::Remove(team, ticket) => {
            leave(out, ticket);
            teams.put(team, ticket);
        }
        SeatMove::Replace(team, ticket, other) => {
            teams.take(team, other);
            teams.put(team, ticket);
            if let Some(at) = out.iter().position(|out| *out == ticket) {
                out[at] = other;
            }
        }
        SeatMove::Swap([team, other], tickets) => {
            teams.take(other, tickets[0]);
            teams.take(team, tickets[1]);
            teams.put(team, tickets[0]);
            teams.put(other, tickets[1]);
        }
    }
}

/// Makes the teams those of `seats`.
pub(super) fn restore(teams: &mut TeamsInSearch<'_>, seats: &[Vec<u32>]) {
    for team in 0..teams.seats.len() {
        while !teams.seats[team].is_empty() {
            teams.take_at(team, 0);
        }
    }
    for (team, tickets) in seats.iter().enumerate() {
        for &ticket in tickets {
            teams.put(team, ticket);
        }
    }
}

/// How many of the most even splits are tried against the rules.
const SPLITS: u32 = 64;
/// How often `partition` may look at the clock, which ends its search: about 3 ms.
const LOOKS: u32 = 100;

/// Exchanges tickets between the teams so that the sums of the queue's `even_by` are as close as the
/// rules allow. The penalty does not become larger than it is.
pub(super) fn even(pool: &Pool<'_>, mut found: MatchProposal, waited: f64) -> MatchProposal {
    let sums = EvenBySums { pool };
    let before = sums.gap(&found.teams);
    if before == 0.0 || sums.is_flat(&found.teams) {
        return found;
    }
    let mut teams = TeamsInSearch::new(pool, found.size, waited, &[]);
    let mut best = before;
    for seats in splits(pool, &found.teams) {
        let gap = sums.gap(&seats);
        if gap >= best {
            break;
        }
        if allowed(&mut teams, &seats, &found) {
            found.teams = seats;
            best = gap;
            break;
        }
    }
    while let Some((seats, gap)) = improved(&sums, &mut teams, &found, best) {
        found.teams = seats;
        best = gap;
    }
    if best < before {
        restore(&mut teams, &found.teams);
        found.cost = teams.cost();
    }
    found
}

/// The sums of the queue's `even_by`.
struct EvenBySums<'a> {
    pool: &'a Pool<'a>,
}

impl EvenBySums<'_> {
    fn of(&self, tickets: &[u32]) -> f64 {
        let players = self.pool.people.all(tickets);
        players.map(|player| self.pool.even_by(player)).sum()
    }

    /// The largest sum minus the smallest.
    fn gap(&self, teams: &[Vec<u32>]) -> f64 {
        let sums = teams.iter().map(|team| self.of(team));
        let ends = sums.fold((f64::INFINITY, f64::NEG_INFINITY), |ends, sum| {
            (sum.min(ends.0), sum.max(ends.1))
        });
        ends.1 - ends.0
    }

    /// Whether all players have the same number.
    fn is_flat(&self, teams: &[Vec<u32>]) -> bool {
        let people = &self.pool.people;
        let mut players = teams.iter().flat_map(|team| people.all(team));
        let first = players.next().map(|player| self.pool.even_by(player));
        players.all(|player| Some(self.pool.even_by(player)) == first)
    }
}

/// Whether these teams violate no hard rule and cost no more than those that were found.
fn allowed(teams: &mut TeamsInSearch<'_>, seats: &[Vec<u32>], found: &MatchProposal) -> bool {
    restore(teams, seats);
    let cost = teams.cost();
    cost.hard == 0.0 && cost.soft <= found.cost.soft
}

/// The exchange of two tickets that makes the teams most even, if any does.
fn improved(
    sums: &EvenBySums<'_>,
    teams: &mut TeamsInSearch<'_>,
    found: &MatchProposal,
    gap: f64,
) -> Option<(Vec<Vec<u32>>, f64)> {
    let size = |ticket: u32| sums.pool.people.size(ticket);
    let mut exchanges = Vec::new();
    for (one, team) in found.teams.iter().enumerate() {
        for (other, others) in found.teams.iter().enumerate().skip(one + 1) {
            for (a, &first) in team.iter().enumerate() {
                for (b, _) in others
                    .iter()
                    .enumerate()
                    .filter(|(_, t)| size(**t) == size(first))
                {
                    let mut seats = found.teams.clone();
                    seats[one][a] = others[b];
                    seats[other][b] = first;
                    exchanges.push((sums.gap(&seats), seats));
                }
            }
        }
    }
    exchanges.retain(|(after, _)| *after < gap - 1e-9);
    exchanges.sort_by(|one, other| one.0.total_cmp(&other.0));
    let first = exchanges
        .into_iter()
        .find(|(_, seats)| allowed(teams, seats, found));
    first.map(|(gap, seats)| (seats, gap))
}

/// The most even splits of all players, parties kept, by `partition`.
fn splits(pool: &Pool<'_>, teams: &[Vec<u32>]) -> Vec<Vec<Vec<u32>>> {
    let tickets: Vec<u32> = teams.iter().flatten().copied().collect();
    let people = &pool.people;
    let number = |player| pool.even_by(player);
    let least = people.all(&tickets).map(number).fold(0.0, f64::min);
    let (mut humans, mut parties, mut first_of) = (Vec::new(), Vec::new(), Vec::new());
    for &ticket in &tickets {
        let from = humans.len();
        humans.extend(people.members(ticket).map(|player| {
            // Teams of the same size compare the same if all numbers grow by as much.
            HumanInGame::new(people.word(people.id(player)), number(player) - least)
        }));
        first_of.push(from);
        if humans.len() > from + 1 {
            parties.push((from..humans.len()).collect());
        }
    }
    let problem = Problem::new(ProblemSpec {
        view: GameView {
            humans,
            teams: u8::try_from(teams.len()).unwrap_or(u8::MAX),
            ..GameView::default()
        },
        max_difference: Some(0),
        parties,
        ..ProblemSpec::default()
    });
    let settings = partition::Settings {
        objective: Objective::Chance,
        top: const { Count::of(SPLITS) },
        factors: no_terms(),
        ..partition::Settings::default()
    };
    let mut looks = 0;
    let mut out_of_time = || {
        looks += 1;
        looks > LOOKS
    };
    let solved =
        problem.and_then(|problem| partition::solve(&problem, &settings, 0, &mut out_of_time));
    let candidates = solved
        .map(|solution| solution.candidates)
        .unwrap_or_default();
    let seats = |candidate: partition::pick::Candidate| {
        let mut seats = vec![Vec::new(); teams.len()];
        for (ticket, first) in tickets.iter().zip(&first_of) {
            seats[usize::from(candidate.team_of[*first])].push(*ticket);
        }
        seats
    };
    candidates.into_iter().map(seats).collect()
}

/// Costs of 0: evenness alone ranks the splits.
fn no_terms() -> Factors {
    Factors::default()
}
