//! The problem: a specification that has passed all checks.

use std::collections::BTreeSet;

use super::{
    Bots, BotsThere, MAX_HUMANS, MAX_TEAMS, ProblemError, ProblemSpec, Strengths, counts::Counts,
};
use crate::domain::MAX_PLAYERS;

impl ProblemSpec {
    /// Checks that all values are in their ranges and all that is referred to exists. Whether the wishes
    /// can be granted is for [`Problem::new`].
    ///
    /// # Errors
    /// Returns the first value that is out of its range or does not exist.
    pub fn check(&self) -> Result<(), ProblemError> {
        check_ranges(self)?;
        check_people(self)?;
        let mut members = self.parties.iter().flatten();
        members.try_for_each(|&member| check_index("human", member, self.humans.len()))
    }
}

/// A [`ProblemSpec`] that has passed all checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    spec: ProblemSpec,
    counts: Counts,
}

impl Problem {
    /// Checks `spec`. It does not check whether all parties can be kept; [`solve`](super::solve)
    /// decides that.
    ///
    /// # Errors
    /// Returns the first value that is out of its range, does not exist or contradicts another.
    pub fn new(spec: ProblemSpec) -> Result<Self, ProblemError> {
        check_ranges(&spec)?;
        check_people(&spec)?;
        let counts = Counts::of(&spec);
        check_parties(&spec, &counts)?;
        check_pins(&spec, &counts)?;
        Ok(Self { spec, counts })
    }

    /// The specification that was checked.
    pub fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    /// The legal numbers of humans per team.
    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }
}

fn check_ranges(spec: &ProblemSpec) -> Result<(), ProblemError> {
    if !(2..=MAX_TEAMS).contains(&spec.teams) {
        return Err(ProblemError::Teams(spec.teams));
    }
    if spec.humans.len() > MAX_HUMANS {
        return Err(ProblemError::Humans(spec.humans.len()));
    }
    let Bots {
        weight,
        min,
        max,
        target,
        fill: _,
    } = spec.bots;
    check_weight("the mean bot", weight)?;
    let there = |bots: &BotsThere| {
        check_weight("the bots on a team", bots.weight)?;
        let fine = bots.count <= MAX_PLAYERS;
        fine.then_some(()).ok_or(ProblemError::BotsThere)
    };
    spec.bots_there.iter().try_for_each(there)?;
    if ![0, spec.teams].contains(&spec.bots_there.len()) {
        return Err(ProblemError::BotsThere);
    }
    let sound = |strengths: &Strengths| strengths.is_sound(spec.humans.len(), spec.teams);
    if !spec.strengths.as_ref().is_none_or(sound) {
        return Err(ProblemError::Strengths);
    }
    if !spec.doubt.is_none_or(|doubt| (0.0..=0.5).contains(&doubt)) {
        return Err(ProblemError::Doubt);
    }
    if !spec.handicap.is_finite() {
        return Err(ProblemError::Handicap(spec.handicap));
    }
    if let Some(total) = spec.even_total
        && !(total.is_finite() && total > 0.0)
    {
        return Err(ProblemError::EvenTotal(total));
    }
    if min > max || max > MAX_PLAYERS || target > MAX_PLAYERS {
        return Err(ProblemError::Level { min, max, target });
    }
    if !(spec.max_share > 0.0 && spec.max_share <= 1.0) {
        return Err(ProblemError::Share(spec.max_share));
    }
    Ok(())
}

fn check_people(spec: &ProblemSpec) -> Result<(), ProblemError> {
    let mut keys = BTreeSet::new();
    for human in &spec.humans {
        check_weight(&human.key, human.weight)?;
        check_weight("the turns at the weaker side", human.weak_sides)?;
        if !keys.insert(&human.key) {
            return Err(ProblemError::SameKey(human.key.clone()));
        }
        let teams = [human.pin, human.current, human.last, human.wish];
        for team in teams.into_iter().flatten() {
            check_index("team", team, spec.teams)?;
        }
    }
    let mut torn = spec.torn.iter().flatten();
    torn.try_for_each(|&member| check_index("human", member, spec.humans.len()))?;
    for &(one, other) in &spec.avoid {
        check_index("human", one, spec.humans.len())?;
        check_index("human", other, spec.humans.len())?;
        if one == other {
            return Err(ProblemError::AvoidsSelf(spec.humans[one].key.clone()));
        }
    }
    Ok(())
}

fn check_parties(spec: &ProblemSpec, counts: &Counts) -> Result<(), ProblemError> {
    let mut seen = BTreeSet::new();
    for party in &spec.parties {
        let mut pinned: Option<(usize, usize)> = None;
        for &member in party {
            check_index("human", member, spec.humans.len())?;
            let human = &spec.humans[member];
            if !seen.insert(member) {
                return Err(ProblemError::TwoParties(human.key.clone()));
            }
            let Some(team) = human.pin else { continue };
            match pinned {
                Some((first, other)) if other != team => {
                    return Err(ProblemError::PinsContradict {
                        first: spec.humans[first].key.clone(),
                        second: human.key.clone(),
                        teams: (other, team),
                    });
                }
                _ => pinned = Some((member, team)),
            }
        }
        if party.len() > counts.most {
            return Err(ProblemError::PartyTooLarge {
                size: party.len(),
                most: counts.most,
            });
        }
    }
    Ok(())
}

fn check_pins(spec: &ProblemSpec, counts: &Counts) -> Result<(), ProblemError> {
    let mut pinned = vec![0; spec.teams];
    for team in spec.humans.iter().filter_map(|human| human.pin) {
        pinned[team] += 1;
    }
    if counts.can_fill(&pinned) {
        Ok(())
    } else {
        Err(ProblemError::PinsTooMany {
            pinned,
            humans: counts.humans,
        })
    }
}

fn check_weight(who: &str, weight: f64) -> Result<(), ProblemError> {
    if weight.is_finite() && weight >= 0.0 {
        Ok(())
    } else {
        Err(ProblemError::Weight {
            who: who.to_owned(),
            weight,
        })
    }
}

fn check_index(what: &'static str, index: usize, count: usize) -> Result<(), ProblemError> {
    if index < count {
        Ok(())
    } else {
        Err(ProblemError::NoSuch { what, index, count })
    }
}
