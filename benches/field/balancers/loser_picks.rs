//! Teiserver, the lobby server of Beyond All Reason: beyond-all-reason/teiserver
//! `lib/teiserver/battle/balance/loser_picks.ex` at commit 000f1ad8 (2024), with the pairs of parties of `balance_lib.ex`.
//!
//! A party is kept if other players can form a group of its size that is like it: means at most 5 apart, and deviations at
//! most 3. The two go to different teams, the weaker team gets the stronger one. All others are picked one by one: the team
//! with the smaller sum that has room picks the best player.
//!
//! On a server, each rating is changed at random by up to half a point, and equal teams draw who picks first.

use rand::{RngExt, rngs::ChaCha8Rng};

use super::{Assembly, with_first};

/// How far the means of a party and of its opponents may be apart.
const MEAN: f64 = 5.0;
/// How far their deviations may be apart.
const DEVIATION: f64 = 3.0;
/// How much each rating is changed on a server, at most.
const FUZZ: f64 = 0.5;

/// Players who are picked together.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    members: Vec<usize>,
    sum: f64,
}

fn deviation(numbers: &[f64]) -> f64 {
    let mean = numbers.iter().sum::<f64>() / numbers.len() as f64;
    let squares = numbers.iter().map(|number| (number - mean).powi(2));
    (squares.sum::<f64>() / numbers.len() as f64).sqrt()
}

/// All ways to take groups with `size` members together, as places, those with the first group first. The last group of one
/// may be too large.
fn combinations(sizes: &[usize], from: usize, size: isize) -> Vec<Vec<usize>> {
    if size <= 0 {
        return vec![Vec::new()];
    }
    let Some(own) = sizes.get(from) else {
        return Vec::new();
    };
    let mut with = combinations(sizes, from + 1, size - *own as isize);
    with.iter_mut().for_each(|places| places.insert(0, from));
    with.extend(combinations(sizes, from + 1, size));
    with
}

/// The groups among `others` that together are most like `party`, as one group.
fn opponents(ratings: &[f64], party: &Group, others: &[Group]) -> Option<Group> {
    let size = party.members.len();
    let own: Vec<f64> = party.members.iter().map(|who| ratings[*who]).collect();
    let mut largest_first: Vec<&Group> = others.iter().collect();
    largest_first.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
    let sizes: Vec<usize> = largest_first.iter().map(|g| g.members.len()).collect();
    let mut best: Option<([f64; 3], Group)> = None;
    for places in combinations(&sizes, 0, size as isize) {
        let groups: Vec<&Group> = places.iter().map(|at| largest_first[*at]).collect();
        let members: Vec<usize> = groups.iter().flat_map(|g| g.members.clone()).collect();
        if members.len() > size {
            continue;
        }
        let sums: Vec<f64> = groups.iter().map(|group| group.sum).collect();
        let sum: f64 = sums.iter().sum();
        let means = (party.sum - sum).abs() / size as f64;
        let deviations = (deviation(&own) - deviation(&sums)).abs();
        let order = [means * deviations, means, deviations];
        let like = means <= MEAN && deviations <= DEVIATION;
        if like && best.as_ref().is_none_or(|(least, _)| order < *least) {
            best = Some((order, Group { members, sum }));
        }
    }
    best.map(|(_, group)| group)
}

/// The pairs of groups that go to different teams, the stronger one first, and the single players that are left.
fn pair(assembly: &Assembly) -> (Vec<[Group; 2]>, Vec<Group>) {
    let ratings = &assembly.ratings;
    let group = |members: &Vec<usize>| Group {
        sum: members.iter().map(|who| ratings[*who]).sum(),
        members: members.clone(),
    };
    let units: Vec<Group> = assembly.units().iter().map(group).collect();
    let (mut parties, singles): (Vec<Group>, Vec<Group>) =
        units.into_iter().partition(|group| group.members.len() > 1);
    let spread = |group: &Group| {
        deviation(
            &group
                .members
                .iter()
                .map(|who| ratings[*who])
                .collect::<Vec<_>>(),
        )
    };
    let order = |group: &Group| (group.members.len(), spread(group));
    parties.sort_by(|a, b| {
        let ((one, spread), (other, of_other)) = (order(a), order(b));
        one.cmp(&other).then(spread.total_cmp(&of_other))
    });
    let mut left: Vec<Group> = parties.into_iter().chain(singles).collect();
    let mut pairs = Vec::new();
    while left.first().is_some_and(|first| first.members.len() > 1) {
        let party = left.remove(0);
        match opponents(ratings, &party, &left) {
            Some(found) => {
                left.retain(|g| !g.members.iter().any(|who| found.members.contains(who)));
                let stronger_first = party.sum >= found.sum;
                let both = if stronger_first {
                    [party, found]
                } else {
                    [found, party]
                };
                pairs.insert(0, both);
            }
            None => left.extend(party.members.iter().map(|who| group(&vec![*who]))),
        }
    }
    left.sort_by(|a, b| b.sum.total_cmp(&a.sum));
    (pairs, left)
}

/// Its teams for these ratings; `first` says which team picks first if both sums are equal.
pub fn pick(assembly: &Assembly, mut first: impl FnMut() -> usize) -> Vec<u8> {
    let size = assembly.len().div_ceil(2);
    let mut teams: [(f64, Vec<usize>); 2] = Default::default();
    let (pairs, singles) = pair(assembly);
    let add = |teams: &mut [(f64, Vec<usize>); 2], team: usize, group: Group| {
        teams[team].0 += group.sum;
        teams[team].1.extend(group.members);
    };
    for [stronger, weaker] in pairs {
        let weak = usize::from(teams[1].0 < teams[0].0);
        add(&mut teams, weak, stronger);
        add(&mut teams, 1 - weak, weaker);
    }
    for single in singles {
        let [one, other] = [0, 1].map(|team| teams[team].0);
        let team = match [0, 1].map(|team| teams[team].1.len() < size) {
            [true, false] => 0,
            [false, true] => 1,
            _ if one == other => first(),
            _ => usize::from(other < one),
        };
        add(&mut teams, team, single);
    }
    with_first(assembly.len(), &teams[0].1)
}

/// The ratings as a server changes them at random.
pub fn fuzzed(assembly: &Assembly, random: &mut ChaCha8Rng) -> Assembly {
    let mut fuzzed = assembly.clone();
    for rating in &mut fuzzed.ratings {
        *rating += FUZZ * (1.0 - 2.0 * random.random::<f64>());
    }
    fuzzed
}

/// Teams as a server picks them.
pub fn teams(assembly: &Assembly, random: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let fuzzed = fuzzed(assembly, random);
    Some(pick(&fuzzed, || random.random_range(0..2)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Asserts that these are the teams in `test/teiserver/battle/loser_picks_balance_test.exs`, with the players by place.
    fn assert_teams(ratings: &[f64], parties: &[&[usize]], first: &[usize]) {
        let mut assembly = Assembly::of(ratings);
        assembly.parties = parties.iter().map(|party| party.to_vec()).collect();
        assert_eq!(pick(&assembly, || 0), with_first(ratings.len(), first));
    }

    /// "simple users", and "bigger game group", whose limits of 5 include the usual ones.
    #[test]
    fn its_tests_with_and_without_parties() {
        assert_teams(&[5.0, 6.0, 7.0, 8.0], &[], &[3, 0]);
        let ratings = [
            41.0, 35.0, 20.0, 17.0, 13.5, 15.0, 7.5, 31.0, 26.0, 25.0, 21.0, 19.0, 16.0, 16.0,
            14.0, 8.0,
        ];
        let first = [11, 12, 13, 14, 15, 0, 8, 10];
        assert_teams(&ratings, &[&[0, 1], &[2, 3, 4], &[5, 6]], &first);
    }

    /// "smurf party": no group is like it, so it is broken up.
    #[test]
    fn its_test_with_a_party_that_nobody_matches() {
        let ratings = [
            51.0, 10.0, 10.0, 35.0, 34.0, 29.0, 28.0, 27.0, 26.0, 25.0, 21.0, 19.0, 16.0, 15.0,
            14.0, 8.0,
        ];
        assert_teams(&ratings, &[&[0, 1, 2]], &[0, 5, 7, 9, 11, 13, 1, 15]);
    }

    /// "two parties": against each other, and then one of them with a single player.
    #[test]
    fn its_tests_with_two_parties() {
        let ratings = [
            52.0, 50.0, 49.0, 51.0, 50.0, 50.0, 28.0, 27.0, 26.0, 25.0, 21.0, 19.0, 16.0, 15.0,
            14.0, 8.0,
        ];
        let both: [&[usize]; 2] = [&[0, 1, 2], &[3, 4, 5]];
        assert_teams(&ratings, &both, &[3, 4, 5, 6, 9, 10, 13, 15]);
        let smaller: [&[usize]; 2] = [&[0, 1, 2], &[3, 4]];
        assert_teams(&ratings, &smaller, &[0, 1, 2, 6, 9, 10, 13, 15]);
    }
}
