//! Simulated annealing over the tickets on the teams, with four moves: add, remove, replace, swap.
//!
//! S. Kirkpatrick, C. D. Gelatt, M. P. Vecchi, Optimization by Simulated Annealing, Science 220
//! (1983). A ticket moves as one piece, so that its players stay together. The seed stays in.
//!
//! The last step has the same players, on teams as even as the rules allow.

use evenkeel_model::{Stream, units::Count};
use evenkeel_partition::{
    self as partition, Factors, GameView, HumanInGame, Objective, Problem, ProblemSpec,
};

use super::{
    CandidateTickets, MatchProposal,
    teams::{Cost, TeamsInSearch},
};
use crate::pool::Pool;

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
    let seats = |candidate: partition::Candidate| {
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
