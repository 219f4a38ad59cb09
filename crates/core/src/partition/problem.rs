//! The problem: a specification that has passed all checks.

use std::collections::BTreeSet;

use super::{
    BotsOnTeam, MAX_HUMANS, MAX_TEAMS, ProblemError, ProblemSpec, TeamSum, counts::Counts,
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
        members.try_for_each(|&member| check_index("human", member, self.view.humans.len()))
    }
}

/// A [`ProblemSpec`] that has passed all checks.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    spec: ProblemSpec,
    counts: Counts,
    /// The sums of each team; empty if no bots count.
    bots: Vec<TeamSum>,
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
        Ok(Self {
            bots: spec.view.teams_with_bots(),
            spec,
            counts,
        })
    }

    /// The specification that was checked.
    pub fn spec(&self) -> &ProblemSpec {
        &self.spec
    }

    /// The legal numbers of humans per team.
    pub(super) fn counts(&self) -> &Counts {
        &self.counts
    }

    /// For each team, the sums over the bots that are on it; empty if no bots count.
    pub(super) fn bots(&self) -> &[TeamSum] {
        &self.bots
    }

    /// The number of bots that are on a team now.
    pub(super) fn bots_there(&self, team: usize) -> usize {
        self.bots.get(team).map_or(0, |team| team.bots)
    }

    /// The bots on a team that has this many places left.
    pub(super) fn bots_on(&self, team: usize, places: usize) -> BotsOnTeam {
        let there = self.bots_there(team);
        let comes = self.spec.view.filling().on;
        BotsOnTeam::new(there, if comes { places } else { there })
    }
}

fn check_ranges(spec: &ProblemSpec) -> Result<(), ProblemError> {
    let view = &spec.view;
    if !(2..=MAX_TEAMS).contains(&spec.teams()) {
        return Err(ProblemError::Teams(spec.teams()));
    }
    if view.humans.len() > MAX_HUMANS {
        return Err(ProblemError::Humans(view.humans.len()));
    }
    check_weight("the mean bot", view.next_bot)?;
    if !view.are_sound(&view.bots) {
        return Err(ProblemError::Bots);
    }
    let model = view.chance.as_ref();
    if !model.is_none_or(|model| model.is_sound(view.humans.len(), view.bots.len())) {
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
    let (min, max) = view.fill.map_range;
    let [min, max, wish] = [min, max, view.fill.wish].map(|players| players as usize);
    if min > max || max > MAX_PLAYERS || wish > MAX_PLAYERS {
        return Err(ProblemError::Level { min, max, wish });
    }
    if !(spec.max_share > 0.0 && spec.max_share <= 1.0) {
        return Err(ProblemError::Share(spec.max_share));
    }
    Ok(())
}

fn check_people(spec: &ProblemSpec) -> Result<(), ProblemError> {
    let mut keys = BTreeSet::new();
    let humans = &spec.view.humans;
    for human in humans {
        check_weight(&human.id, human.weight)?;
        check_weight("the turns at the weaker side", human.weak_sides)?;
        if !keys.insert(&human.id) {
            return Err(ProblemError::SameKey(human.id.clone()));
        }
        let teams = [human.pin, human.team, human.last, human.wish];
        for team in teams.into_iter().flatten() {
            check_index("team", usize::from(team), spec.teams())?;
        }
    }
    let mut torn = spec.torn.iter().flatten();
    torn.try_for_each(|&member| check_index("human", member, humans.len()))?;
    for &(one, other) in &spec.avoid {
        check_index("human", one, humans.len())?;
        check_index("human", other, humans.len())?;
        if one == other {
            return Err(ProblemError::AvoidsSelf(humans[one].id.clone()));
        }
    }
    Ok(())
}

fn check_parties(spec: &ProblemSpec, counts: &Counts) -> Result<(), ProblemError> {
    let mut seen = BTreeSet::new();
    let humans = &spec.view.humans;
    for party in &spec.parties {
        let mut pinned: Option<(usize, u8)> = None;
        for &member in party {
            check_index("human", member, humans.len())?;
            let human = &humans[member];
            if !seen.insert(member) {
                return Err(ProblemError::TwoParties(human.id.clone()));
            }
            let Some(team) = human.pin else { continue };
            match pinned {
                Some((first, other)) if other != team => {
                    return Err(ProblemError::PinsContradict {
                        first: humans[first].id.clone(),
                        second: human.id.clone(),
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
    let pinned = spec.pinned();
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
