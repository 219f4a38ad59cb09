//! The last step: the same players, on teams as even as the rules allow.

use super::{MatchProposal, teams::Teams};
use crate::pool::Pool;
use evenkeel_model::units::Count;
use evenkeel_partition::{
    self as partition, Factors, GameView, HumanInGame, Objective, Problem, ProblemSpec,
};

/// How many of the most even splits are tried against the rules.
const SPLITS: u32 = 64;
/// How often `partition` may look at the clock, which ends its search: about 3 ms.
const LOOKS: u32 = 100;

/// Exchanges tickets between the teams so that the sums of the queue's `even_by` are as close as the
/// rules allow. The penalty does not become larger than it is.
pub(super) fn even(pool: &Pool<'_>, mut found: MatchProposal, waited: f64) -> MatchProposal {
    let sums = TeamSums { pool };
    let before = sums.gap(&found.teams);
    if before == 0.0 || sums.is_flat(&found.teams) {
        return found;
    }
    let mut teams = Teams::new(pool, found.size, waited, &[]);
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
        super::anneal::restore(&mut teams, &found.teams);
        found.cost = teams.cost();
    }
    found
}

/// The sums of the queue's `even_by`.
struct TeamSums<'a> {
    pool: &'a Pool<'a>,
}

impl TeamSums<'_> {
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
fn allowed(teams: &mut Teams<'_>, seats: &[Vec<u32>], found: &MatchProposal) -> bool {
    super::anneal::restore(teams, seats);
    let cost = teams.cost();
    cost.hard == 0.0 && cost.soft <= found.cost.soft
}

/// The exchange of two tickets that makes the teams most even, if any does.
fn improved(
    sums: &TeamSums<'_>,
    teams: &mut Teams<'_>,
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
