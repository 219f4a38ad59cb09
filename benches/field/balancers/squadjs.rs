//! A plugin of SquadJS: mikebjoyce/squadjs-team-balancer `utils/tb-scrambler.js` at commit 09bf2a8a
//! (2025), random plans.
//!
//! It tries 500 plans. Each moves some squads and single players from each team to the other, as many as it draws, up to half
//! of all; large squads come first, with a random part. It keeps the plan with the lowest score: for unequal sizes, for a
//! difference of the teams' mean ratings, and for a difference of the shares of regulars, who have ten rounds.
//!
//! From the 251st plan on, as long as the score is above 10, one squad at random is broken up; in the last five, all are.
//! It publishes no example; the tests have scores and plans that follow from these rules.

use rand::{RngExt, rngs::ChaCha8Rng, seq::SliceRandom};

use super::Assembly;

const PLANS: usize = 500;
/// The first plan that may break up a squad, and the first that breaks up all.
const BREAKS_UP: usize = 250;
const BREAKS_ALL: usize = PLANS - 5;
/// A score that is good enough to keep all squads.
const GOOD: f64 = 10.0;
/// The share of the players who are to be moved at most.
const MOVED: f64 = 0.5;
/// The rounds that make a regular.
const REGULAR: u32 = 10;
/// By how many players more than wanted a squad may exceed a plan.
const EXCESS: usize = 3;

/// The penalty for a difference of mean ratings, on TrueSkill's scale.
fn of_ratings(apart: f64) -> f64 {
    let penalty = match apart {
        small if small <= 0.2 => small * 10.0,
        medium if medium <= 0.5 => 2.0 + (medium - 0.2) * 25.0,
        large => 9.5 + (large - 0.5) * 50.0,
    };
    penalty.min(480.0)
}

/// The score of teams: the lower, the better.
fn score(assembly: &Assembly, teams: &[u8]) -> f64 {
    let (mut sums, mut sizes, mut regulars) = ([0.0; 2], [0_usize; 2], [0_usize; 2]);
    for (who, team) in teams.iter().enumerate() {
        let team = usize::from(*team);
        sizes[team] += 1;
        sums[team] += assembly.ratings[who];
        regulars[team] += usize::from(assembly.games[who] >= REGULAR);
    }
    let apart = sizes[0].abs_diff(sizes[1]) as f64;
    let of_sizes = if apart <= 1.0 {
        0.0
    } else {
        (apart + 1.0).powi(2) * 100.0
    };
    let share = |part: f64, team: usize, none: f64| match sizes[team] {
        0 => none,
        size => part / size as f64,
    };
    let means = [0, 1].map(|team| share(sums[team], team, 25.0));
    let shares = [0, 1].map(|team| share(regulars[team] as f64, team, 0.0));
    let half = assembly.len() as f64 / 2.0;
    let outnumbered = sizes.iter().any(|size| (*size as f64) < half - 5.0);
    of_sizes
        + if outnumbered { 50.0 } else { 0.0 }
        + of_ratings((means[0] - means[1]).abs())
        + 300.0 * (shares[0] - shares[1]).abs()
}

/// Squads with about `wanted` players together, from those of a team.
fn selected(mut squads: Vec<Vec<usize>>, wanted: usize, random: &mut ChaCha8Rng) -> Vec<usize> {
    squads.shuffle(random);
    let mut order: Vec<(bool, f64, Vec<usize>)> = squads
        .into_iter()
        .map(|squad| {
            (
                squad.len() == 1,
                random.random_range(-10.0..10.0) - squad.len() as f64,
                squad,
            )
        })
        .collect();
    order.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut chosen = Vec::new();
    for (_, _, squad) in order {
        let with = chosen.len() + squad.len();
        if with <= wanted || chosen.len() < wanted && with - wanted <= EXCESS {
            chosen.extend(squad);
        }
    }
    chosen
}

/// The squads of each team after breaking up those that the plan of this number breaks up.
fn squads(
    assembly: &Assembly,
    plan: usize,
    best: f64,
    random: &mut ChaCha8Rng,
) -> [Vec<Vec<usize>>; 2] {
    let mut units: Vec<Vec<usize>> = Vec::new();
    // A squad is on one team: those of a party who stand apart are two.
    for unit in assembly.units() {
        let on = |team: u8| {
            unit.iter()
                .copied()
                .filter(move |who| assembly.standing[*who] == team)
        };
        let parts = [0, 1].map(|team| on(team).collect::<Vec<_>>());
        units.extend(parts.into_iter().filter(|part| !part.is_empty()));
    }
    let victim = {
        let larger: Vec<usize> = (0..units.len()).filter(|at| units[*at].len() > 1).collect();
        let breaks = (BREAKS_UP..BREAKS_ALL).contains(&plan) && best > GOOD && !larger.is_empty();
        breaks.then(|| larger[random.random_range(0..larger.len())])
    };
    let mut teams: [Vec<Vec<usize>>; 2] = Default::default();
    for (at, unit) in units.into_iter().enumerate() {
        let team = usize::from(assembly.standing[unit[0]]);
        match victim == Some(at) || plan >= BREAKS_ALL {
            true => teams[team].extend(unit.into_iter().map(|who| vec![who])),
            false => teams[team].push(unit),
        }
    }
    teams
}

/// Teams after the best of its plans.
pub fn teams(assembly: &Assembly, random: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let players = assembly.len();
    let second = assembly.standing.iter().filter(|team| **team == 1).count();
    let apart = (players - second) as f64 - second as f64;
    let most = ((players as f64 * MOVED).round() / 2.0).floor() as usize;
    let mut best: Option<(f64, Vec<u8>)> = None;
    for plan in 0..PLANS {
        let least = best.as_ref().map_or(f64::INFINITY, |(score, _)| *score);
        let squads = squads(assembly, plan, least, random);
        let base = random.random_range(0..=most) as f64;
        let wanted = [1.0, -1.0].map(|sign| {
            let about = (base + sign * apart / 4.0 + 0.5).floor();
            (about.max(0.0) + f64::from(random.random_range(-1..=1))).max(0.0) as usize
        });
        let mut teams = assembly.standing.clone();
        for (team, squads) in squads.into_iter().enumerate() {
            let wanted = wanted[team].min(squads.iter().map(Vec::len).sum());
            let moved = selected(squads, wanted, random);
            moved
                .into_iter()
                .for_each(|who| teams[who] = 1 - team as u8);
        }
        let score = score(assembly, &teams);
        if score < least {
            best = Some((score, teams));
        }
    }
    best.map(|(_, teams)| teams)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;

    use super::*;

    /// Where its formula bends: 2 at a difference of 0.2, 9.5 at 0.5, 34.5 at 1, and 480 at most.
    #[test]
    fn the_penalty_for_a_difference_of_ratings() {
        let expected = [
            (0.1, 1.0),
            (0.2, 2.0),
            (0.4, 7.0),
            (0.5, 9.5),
            (1.0, 34.5),
            (100.0, 480.0),
        ];
        for (apart, penalty) in expected {
            assert!((of_ratings(apart) - penalty).abs() < 1e-9, "{apart}");
        }
    }

    /// Sizes of 4 and 2 cost 900, means of 25 and 26 cost 34.5, and all four of one team but none of the other being
    /// regulars costs 300.
    #[test]
    fn the_score_adds_three_penalties() {
        let mut assembly = Assembly::of(&[25.0, 25.0, 25.0, 25.0, 26.0, 26.0]);
        assembly.games = vec![10, 10, 10, 10, 9, 9];
        assert!((score(&assembly, &[0, 0, 0, 0, 1, 1]) - 1_234.5).abs() < 1e-9);
    }

    /// A plan moves at most half of the players, so that of eight who stand by rating, two of each team change: 4 plans of 36
    /// are even, and 500 random ones find one of them.
    #[test]
    fn it_finds_even_teams_by_trying() {
        let assembly = Assembly::of(&[31.0, 30.0, 29.0, 28.0, 27.0, 26.0, 25.0, 24.0]);
        for seed in 0..20 {
            let teams = teams(&assembly, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap();
            assert_eq!(score(&assembly, &teams), 0.0, "{teams:?}");
        }
    }

    #[test]
    fn squads_stay_together_if_that_is_good_enough() {
        let mut assembly = Assembly::of(&[25.0; 8]);
        assembly.parties = vec![vec![0, 1, 2], vec![4, 5, 6]];
        for seed in 0..20 {
            let teams = teams(&assembly, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap();
            assert!(teams[0] == teams[1] && teams[1] == teams[2], "{teams:?}");
            assert!(teams[4] == teams[5] && teams[5] == teams[6], "{teams:?}");
        }
    }
}
