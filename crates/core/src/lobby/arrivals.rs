//! Places all humans without a team at once: provisionally for PLACE, as advice for REBALANCE.

use super::Snapshot;
use crate::partition::{Counted, EQUAL, TeamSums};

/// The number of placements up to which all are tried; with more, the heaviest groups are placed
/// first. A thousand take some 50 µs; in real games, rarely more than ten humans wait for a team.
const MAX_TRIED: usize = 1_024;

/// How good a placement is, by criteria in order of priority.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrivalScore {
    /// How many humans too many there are on teams that outnumber the smallest by more than allowed.
    pub(super) over: usize,
    /// How even the teams are once bots have been added or removed, 0 to 1.
    pub(super) evenness: f64,
    spread: usize,
}

impl ArrivalScore {
    /// The score of these teams, with `limit` as the allowed difference in humans.
    pub(super) fn of(strength: &TeamSums, limit: usize) -> Self {
        Self {
            over: strength.excess(limit),
            evenness: strength.evenness_settled(),
            spread: strength.spread(),
        }
    }

    /// Compares the humans too many, then the evenness, then the difference itself.
    pub(super) fn beats(&self, other: &Self) -> bool {
        if self.over != other.over {
            return self.over < other.over;
        }
        if (self.evenness - other.evenness).abs() > EQUAL {
            return self.evenness > other.evenness;
        }
        self.spread < other.spread
    }
}

/// Humans who are placed on one team: a party, or one human.
#[derive(Clone, Debug)]
struct Group {
    members: Vec<usize>,
    counted: Counted,
    pin: Option<u8>,
}

/// The groups to place, and the best placement found so far.
#[derive(Debug)]
pub(super) struct Arrivals {
    groups: Vec<Group>,
    /// The team of each group placed so far.
    trial: Vec<usize>,
    best: Option<(ArrivalScore, Vec<usize>)>,
    limit: usize,
}

/// A placement of all groups.
#[derive(Clone, Debug)]
pub(super) struct Arrived {
    /// How good the resulting teams are.
    pub(super) score: ArrivalScore,
    /// The ratio of the weights, once bots have been added or removed.
    pub(super) ratio: f64,
    /// Each human, by index, with their team.
    pub(super) teams: Vec<(usize, u8)>,
    /// Whether all placements were tried, so that no other is better.
    pub(super) exact: bool,
}

impl Arrivals {
    /// All humans without a team except those in `except`. The members of a party form one group,
    /// except pinned ones.
    pub(super) fn of(snapshot: &Snapshot, except: &[usize], limit: usize) -> Self {
        let mut groups: Vec<Group> = Vec::new();
        let mut parties: Vec<(&str, usize)> = Vec::new();
        for (index, human) in snapshot.humans.iter().enumerate() {
            if human.team.is_some() || except.contains(&index) {
                continue;
            }
            let party = human.party.as_deref().filter(|_| human.pin.is_none());
            let known = parties.iter().find(|(name, _)| Some(*name) == party);
            if let Some(&(_, group)) = known {
                groups[group].members.push(index);
                groups[group].counted = groups[group].counted + snapshot.counted(index);
                continue;
            }
            parties.extend(party.map(|party| (party, groups.len())));
            groups.push(Group {
                members: vec![index],
                counted: snapshot.counted(index),
                pin: human.pin,
            });
        }
        groups.sort_by(|a, b| b.counted.weight.total_cmp(&a.counted.weight));
        Self {
            groups,
            trial: Vec::new(),
            best: None,
            limit,
        }
    }

    /// Finds the best placement on these teams.
    ///
    /// Tries all placements if there are at most [`MAX_TRIED`]. Otherwise puts the heaviest group
    /// on the team where the score is best, then the next heaviest (Graham's LPT rule, 1969):
    /// O(groups · teams²).
    pub(super) fn place(mut self, strength: &TeamSums) -> Arrived {
        let teams = strength.sides().len();
        let ways = |ways: usize, _: &Group| ways.saturating_mul(teams);
        let exact = self.groups.iter().fold(1, ways) <= MAX_TRIED;
        let mut trial = strength.clone();
        if exact {
            self.try_all(&mut trial);
        } else {
            self.heaviest_first(&mut trial);
        }
        let mut strength = strength.clone();
        let now = ArrivalScore::of(&strength, self.limit);
        let (score, teams) = self.best.unwrap_or((now, Vec::new()));
        let placed = || self.groups.iter().zip(&teams);
        for (group, &team) in placed() {
            strength.add(team, group.members.len(), group.counted);
        }
        Arrived {
            score,
            ratio: strength.ratio_settled(),
            teams: placed()
                .flat_map(|(group, team)| group.members.iter().map(move |&who| (who, *team as u8)))
                .collect(),
            exact,
        }
    }

    fn try_all(&mut self, strength: &mut TeamSums) {
        let Some(group) = self.groups.get(self.trial.len()) else {
            let score = ArrivalScore::of(strength, self.limit);
            if self.best.as_ref().is_none_or(|(best, _)| score.beats(best)) {
                self.best = Some((score, self.trial.clone()));
            }
            return;
        };
        let (size, counted, pin) = (group.members.len(), group.counted, group.pin);
        for team in open_to(pin, strength) {
            let before = strength.add(team, size, counted);
            self.trial.push(team);
            self.try_all(strength);
            self.trial.pop();
            strength.restore(team, before);
        }
    }

    fn heaviest_first(&mut self, strength: &mut TeamSums) {
        let mut placed = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let mut best: Option<(ArrivalScore, usize)> = None;
            for team in open_to(group.pin, strength) {
                let before = strength.add(team, group.members.len(), group.counted);
                let score = ArrivalScore::of(strength, self.limit);
                strength.restore(team, before);
                if best.is_none_or(|(other, _)| score.beats(&other)) {
                    best = Some((score, team));
                }
            }
            let team = best.map_or(0, |(_, team)| team);
            strength.add(team, group.members.len(), group.counted);
            placed.push(team);
        }
        self.best = Some((ArrivalScore::of(strength, self.limit), placed));
    }
}

/// The teams that a human with this pin can join.
pub(super) fn open_to(pin: Option<u8>, strength: &TeamSums) -> std::ops::Range<usize> {
    let teams = strength.sides().len();
    match pin.map(usize::from).filter(|&pin| pin < teams) {
        Some(pin) => pin..pin + 1,
        None => 0..teams,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lobby::snapshot::tests::{by_chance, snapshot};
    use proptest::prelude::*;

    /// The reference: tries every placement, without groups or order.
    fn naive(snapshot: &Snapshot, limit: usize) -> ArrivalScore {
        let mut found = vec![snapshot.clone()];
        for human in 0..snapshot.humans.len() {
            let spread = |game: Snapshot| -> Vec<Snapshot> {
                if game.humans[human].team.is_some() {
                    return vec![game];
                }
                let on = |team| {
                    let mut game = game.clone();
                    game.humans[human].team = Some(team);
                    game
                };
                (0..game.teams).map(on).collect()
            };
            found = found.into_iter().flat_map(spread).collect();
        }
        let scores = found
            .iter()
            .map(|game| ArrivalScore::of(&game.sums(), limit));
        scores
            .reduce(|a, b| if b.beats(&a) { b } else { a })
            .unwrap()
    }

    #[test]
    fn parties_go_together_and_pins_are_kept() {
        let mut game = snapshot(2, &[(10.0, 9), (10.0, 9), (10.0, 9), (10.0, 9)]);
        game.humans[0].party = Some("p".into());
        game.humans[3].party = Some("p".into());
        game.humans[1].pin = Some(1);
        let mut placed = Arrivals::of(&game, &[], 1).place(&game.sums());
        placed.teams.sort_unstable();
        assert_eq!(placed.teams, [(0, 0), (1, 1), (2, 1), (3, 0)]);
        assert!(placed.exact);
    }

    #[test]
    fn a_crowd_is_placed_in_time_and_well() {
        let crowd: Vec<(f64, u8)> = (0..64).map(|n| (f64::from(n % 13) * 7.0, 9)).collect();
        let game = snapshot(2, &crowd);
        let placed = Arrivals::of(&game, &[], 1).place(&game.sums());
        assert!(!placed.exact);
        assert_eq!(placed.teams.len(), 64);
        assert!(
            placed.score.over == 0 && placed.score.evenness > 0.98,
            "{placed:?}"
        );
    }

    proptest! {
        #[test]
        fn nothing_beats_what_is_exact(
            teams in 2u8..4,
            humans in proptest::collection::vec((0u32..30, 0u8..6), 1..6),
            limit in 0usize..3,
            chances in any::<bool>(),
        ) {
            let humans: Vec<_> = humans.into_iter().map(|(weight, team)| (f64::from(weight), team)).collect();
            let game = snapshot(teams, &humans);
            let game = if chances { by_chance(game) } else { game };
            let placed = Arrivals::of(&game, &[], limit).place(&game.sums());
            let oracle = naive(&game, limit);
            prop_assert!(!oracle.beats(&placed.score) && !placed.score.beats(&oracle));
        }
    }
}
