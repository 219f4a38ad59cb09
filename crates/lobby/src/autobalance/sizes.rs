//! Teams of which one has too many players: somebody goes, whatever the powers, but rather somebody whose
//! move leaves the game even.

use std::cmp::Ordering;

use super::{AutoBalance, MoveRule, Powers, StayReason, turns::Turn};
use evenkeel_partition::EQUAL;

/// What is against the move of a human.
struct Against {
    /// When their turn comes, which counts more than the cost.
    turn: Turn,
    /// How uneven the game would be.
    cost: f64,
}

impl Against {
    fn is_less(&self, other: &Self) -> bool {
        match self.turn.cmp(&other.turn) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => self.cost + EQUAL < other.cost,
        }
    }
}

impl AutoBalance {
    /// The team `smallest` if the human who died goes there because their own team outnumbers it, or why they stay.
    ///
    /// They stay while as many as have to go are waited for: humans of their team who have not died yet since somebody
    /// may be moved, and whose moves are better. So the best go, and once everybody has died, nobody is missing: as long
    /// as nobody moves, no fewer are waited for than have to go.
    pub(super) fn fate_by_sizes(&self, powers: &Powers, smallest: u8) -> Result<u8, StayReason> {
        let rules = &self.situation.rules;
        let team = self.situation.view.humans[self.who].team;
        let larger = |team: &u8| {
            let more = powers.size(*team).saturating_sub(powers.size(smallest));
            rules.are_apart(more)
        };
        let Some(team) = team.filter(larger) else {
            return Err(StayReason::OtherTeam);
        };
        self.may_move_now()?;
        let movable = self.movable(team);
        let order = self.order(movable.clone());
        let against = |who: usize| Against {
            turn: order.turn(who),
            cost: self.cost(powers, who, (team, smallest)),
        };
        let own = against(self.who);
        let sizes: Vec<usize> = powers.sizes().collect();
        let waits = |who: &usize| *who != self.who && !self.died.contains(who);
        let waited_for = movable.into_iter().filter(waits);
        let waited_for = waited_for.filter(|&who| against(who).is_less(&own));
        if waited_for.count() < surplus(&sizes, &self.stuck(&sizes), team) {
            return Ok(smallest);
        }
        Err(own.turn.reason().unwrap_or(match rules.choice {
            MoveRule::WhoDies => StayReason::Tips,
            MoveRule::Closest => StayReason::NotClosest,
        }))
    }

    /// How many players of each team cannot be moved.
    fn stuck(&self, sizes: &[usize]) -> Vec<usize> {
        let teams = (0u8..).zip(sizes);
        teams
            .map(|(team, size)| size.saturating_sub(self.movable(team).len()))
            .collect()
    }

    /// How uneven the game would be with this human of the first team on the second. Where whoever dies is moved, all
    /// moves are as good that do not make the other team too strong.
    fn cost(&self, powers: &Powers, who: usize, (from, to): (u8, u8)) -> f64 {
        let whoever = self.situation.rules.choice == MoveRule::WhoDies;
        if whoever && !self.tips(powers, who, (from, to)) {
            return 0.0;
        }
        match self.chances_of(who, (from, to)) {
            Some((_, after)) => 1.0 - after,
            None => {
                let (left, joined) = powers.after(who, (from, to));
                (left - joined).abs()
            }
        }
    }
}

/// How many players of this team have to go so that no two teams differ by more than one. With more than two teams it
/// can be one more, if others may go instead. A team with more players who are `stuck` than its share keeps these, and
/// the others divide the rest.
fn surplus(sizes: &[usize], stuck: &[usize], team: u8) -> usize {
    let mut divided: Vec<usize> = (0..sizes.len()).collect();
    let mut all: usize = sizes.iter().sum();
    let own = usize::from(team);
    while let Some(at) = divided
        .iter()
        .position(|&one| stuck[one] > all / divided.len())
    {
        let kept = divided.swap_remove(at);
        all -= stuck[kept];
        if kept == own {
            return sizes[own] - stuck[own];
        }
    }
    let (share, rest) = (all / divided.len(), all % divided.len());
    let larger = divided.iter().filter(|&&one| sizes[one] > share).count();
    let keeps = share + usize::from(larger <= rest);
    sizes[own].saturating_sub(keeps)
}
