//! The legal numbers of humans per team.

use super::ProblemSpec;

/// The legal numbers of humans per team, and the team size that follows from them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counts {
    pub humans: usize,
    pub teams: usize,
    /// The most humans on one team.
    pub most: usize,
    /// The largest legal difference between the human counts of two teams.
    pub difference: usize,
    /// The smallest size of a team, bots included.
    pub floor: usize,
}

impl Counts {
    pub fn of(spec: &ProblemSpec) -> Self {
        Self::within(spec, spec.max_difference)
    }

    /// The numbers that are legal if teams may differ by so many humans.
    pub fn within(spec: &ProblemSpec, max_difference: Option<usize>) -> Self {
        let (humans, teams) = (spec.view.humans.len(), spec.teams());
        let even = humans.div_ceil(teams);
        // The product is at most 128, so the cast drops only the fraction.
        let share = (spec.max_share * humans as f64).floor() as usize;
        let needed = usize::from(!humans.is_multiple_of(teams));
        let difference = max_difference.map_or(humans, |d| d.max(needed));
        // If one team has `most`, each of the others has at least `most - difference`.
        let reach = (even..=humans)
            .rev()
            .find(|&most| most + (teams - 1) * most.saturating_sub(difference) <= humans);
        Self {
            humans,
            teams,
            most: share.max(even).min(reach.unwrap_or(even)),
            difference,
            floor: spec.view.filling().least_size(teams),
        }
    }

    /// The size of every team, bots included, for these human counts; `None` if they are illegal.
    pub fn size(&self, counts: &[usize]) -> Option<usize> {
        let largest = counts.iter().copied().max()?;
        let smallest = counts.iter().copied().min()?;
        let legal = largest <= self.most && largest - smallest <= self.difference;
        legal.then_some(self.floor.max(largest))
    }

    /// Whether a split has a legal number of humans on each team.
    pub fn are_legal(&self, team_of: &[u8]) -> bool {
        let on = |team: usize| {
            team_of
                .iter()
                .filter(|on| usize::from(**on) == team)
                .count()
        };
        let counts: Vec<usize> = (0..self.teams).map(on).collect();
        self.size(&counts).is_some()
    }

    /// The fewest humans on a team in any legal split.
    pub fn least(&self) -> usize {
        let beside_largest = self
            .humans
            .div_ceil(self.teams)
            .saturating_sub(self.difference);
        beside_largest.max(self.humans.saturating_sub((self.teams - 1) * self.most))
    }

    /// The largest possible size of a team, bots included.
    pub fn largest_size(&self) -> usize {
        self.floor.max(self.most)
    }

    /// Whether single humans can complete teams that already contain `pinned` humans.
    pub fn can_fill(&self, pinned: &[usize]) -> bool {
        (0..=self.most).any(|most| {
            let least = most.saturating_sub(self.difference);
            let needed: usize = pinned.iter().map(|&p| p.max(least)).sum();
            pinned.iter().all(|&p| p <= most)
                && needed <= self.humans
                && self.humans <= most * self.teams
        })
    }
}
