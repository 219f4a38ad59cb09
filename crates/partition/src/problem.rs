//! The problem: the game, the limits that make teams legal, and the numbers of humans that they allow.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_model::{
    record::MAX_PLAYERS,
    units::{MaxDifference, PositiveShare},
};

use crate::{
    GameView, MAX_HUMANS, MAX_TEAMS,
    settings::{Engine, Objective},
    sums::{BotsOnTeam, TeamSum},
};

/// How much the sizes of teams may differ; see [`ProblemSpec`].
#[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize)]
pub struct SizeLimits {
    /// The largest share of the humans on one team.
    pub max_team_share: PositiveShare,
    /// The largest difference between the human counts of two teams.
    pub max_difference: MaxDifference,
}

/// Which splits are even enough to be picked.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Tolerance {
    /// The evenness from which on any split may be picked, 0 to 1.
    pub enough: f64,
    /// How much less even than the best split a pick may be where none is even enough, 0 to 1.
    pub slack: f64,
}

impl Tolerance {
    /// The least evenness of a pick if the best split has the evenness `best`.
    pub(super) fn least(self, best: f64) -> f64 {
        if best >= self.enough {
            self.enough
        } else {
            best - self.slack
        }
    }
}

/// The input of a [`Problem`]. Parties and pairs refer to humans by index.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ProblemSpec {
    /// The players, with the teams that they are on and must be on: at most 128 humans, each with a different id.
    pub view: GameView,
    /// Whether the weights are amounts that whoever asks has stated, so that their sums are the reason for the teams.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub amounts: bool,
    /// Chances of splits near one half that differ by at most this much count as equal, 0 to 0.5; of less even ones, those
    /// whose odds differ by no more; `None` to compare them exactly. It needs a [`ChanceModel`](super::view::ChanceModel).
    #[serde(default, skip_serializing_if = "Option::is_none", alias = "doubt")]
    // as decisions of 0.2 have it
    pub equal_within: Option<f64>,
    /// The worth of team 0's side of the map in the unit of the weights: finite, and negative if it
    /// is the worse side. Only [`Objective::Chance`] can count it; it has no
    /// meaning for a ratio.
    pub handicap: f64,
    /// The total t with which a gap g becomes the evenness (t − g)/(t + g), in the unit of the
    /// weights, above 0. `None` for the sum of two average teams, bots included. Like
    /// [`handicap`](Self::handicap), it has no meaning for a ratio.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub even_total: Option<f64>,
    /// The largest share of the humans on one team, above 0 and at most 1. A team may always have
    /// as many as an even split needs.
    pub max_share: f64,
    /// The largest difference between the numbers of humans on two teams; `None` for no limit.
    /// Teams may always differ as much as an even split needs.
    pub max_difference: Option<usize>,
    /// Humans to keep together, as indices; each human is in at most one party.
    pub parties: Vec<Vec<usize>>,
    /// Parties of which not all members are to be together, as indices of them all. Those who are on one team count as
    /// friends; `parties` has the parts to keep together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub torn: Vec<Vec<usize>>,
    /// Pairs of humans, as indices, to keep on different teams if possible.
    pub avoid: Vec<(usize, usize)>,
    /// Which splits are even enough to be picked; `None` for all that are candidates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<Tolerance>,
}

impl Default for ProblemSpec {
    /// Two teams without players. The share is that of the UT2004 page, 18 of 32. The
    /// difference is 1 because players complained most about teams that had fewer humans and weak
    /// bots instead.
    fn default() -> Self {
        Self {
            view: GameView::default(),
            amounts: false,
            equal_within: None,
            handicap: 0.0,
            even_total: None,
            max_share: 18.0 / 32.0,
            max_difference: Some(1),
            parties: Vec::new(),
            torn: Vec::new(),
            avoid: Vec::new(),
            tolerance: None,
        }
    }
}

impl ProblemSpec {
    /// The problem of choosing teams for all humans of a game within these limits.
    pub fn of(view: GameView, limits: SizeLimits) -> Self {
        Self {
            parties: parties(&view),
            avoid: pairs_to_avoid(&view),
            max_share: limits.max_team_share.get(),
            max_difference: limits.max_difference.get(),
            view,
            ..Self::default()
        }
    }

    /// The number of teams.
    pub fn teams(&self) -> usize {
        usize::from(self.view.teams)
    }

    /// The number of humans who must be on each team.
    pub(super) fn pinned(&self) -> Vec<usize> {
        let mut pinned = vec![0; self.teams()];
        let pins = self.view.humans.iter().filter_map(|human| human.pin);
        pins.for_each(|pin| pinned[usize::from(pin)] += 1);
        pinned
    }

    /// The parties whose members count as friends on any team: whole, also where only parts of them are to be kept.
    pub(super) fn friends(&self) -> impl Iterator<Item = &Vec<usize>> {
        let is_part = |party: &[usize]| {
            let first = party.first();
            first.is_some_and(|first| self.torn.iter().any(|whole| whole.contains(first)))
        };
        let whole = self.parties.iter().filter(move |party| !is_part(party));
        self.torn.iter().chain(whole)
    }

    /// The current teams, if every human is on one.
    pub fn present(&self) -> Option<Vec<u8>> {
        self.view.humans.iter().map(|human| human.team).collect()
    }

    /// The number of humans who would like to be on a certain team.
    pub(super) fn wishes(&self) -> usize {
        let humans = self.view.humans.iter();
        humans.filter(|one| one.wish.is_some()).count()
    }

    /// The team on the weaker side of the map, if one side is known to be weaker.
    pub fn weaker_side(&self) -> Option<u8> {
        let model = self.view.chance.as_ref().filter(|_| self.view.teams == 2)?;
        let side = model.win_model.side;
        (side != 0.0).then_some(u8::from(side > 0.0))
    }

    /// What counts in a comparison of teams: the human's strength, or without strengths the weight.
    pub(super) fn value(&self, human: usize) -> f64 {
        match &self.view.chance {
            Some(model) => model.humans[human],
            None => self.view.humans[human].weight,
        }
    }
}

/// The parties with at least two members in the game, as indices.
fn parties(view: &GameView) -> Vec<Vec<usize>> {
    let mut parties: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, human) in view.humans.iter().enumerate() {
        if let Some(party) = &human.party {
            parties.entry(party).or_default().push(at);
        }
    }
    let parties = parties.into_values();
    parties.filter(|members| members.len() > 1).collect()
}

/// The pairs of which one human avoids the other, as indices; both are in the game.
fn pairs_to_avoid(view: &GameView) -> Vec<(usize, usize)> {
    let ids = view.humans.iter().map(|human| human.id.as_str());
    let index: BTreeMap<&str, usize> = ids.zip(0..).collect();
    let mut pairs = Vec::new();
    for (at, human) in view.humans.iter().enumerate() {
        let others = human.avoid.iter().filter_map(|id| index.get(id.as_str()));
        pairs.extend(others.filter(|&&o| o != at).map(|&other| (at, other)));
    }
    pairs
}

impl ProblemSpec {
    /// Checks that all values are in their ranges and all that is referred to exists. Whether the wishes
    /// can be satisfied is for [`Problem::new`].
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
    counts: LegalCounts,
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
        let counts = LegalCounts::of(&spec);
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
    pub(super) fn counts(&self) -> &LegalCounts {
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
    if !spec
        .equal_within
        .is_none_or(|equal_within| (0.0..=0.5).contains(&equal_within))
    {
        return Err(ProblemError::EqualWithin);
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

fn check_parties(spec: &ProblemSpec, counts: &LegalCounts) -> Result<(), ProblemError> {
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

fn check_pins(spec: &ProblemSpec, counts: &LegalCounts) -> Result<(), ProblemError> {
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

/// The legal numbers of humans per team, and the team size that follows from them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct LegalCounts {
    pub humans: usize,
    pub teams: usize,
    /// The most humans on one team.
    pub most: usize,
    /// The largest legal difference between the human counts of two teams.
    pub difference: usize,
    /// The smallest size of a team, bots included.
    pub floor: usize,
}

impl LegalCounts {
    pub(crate) fn of(spec: &ProblemSpec) -> Self {
        Self::within(spec, spec.max_difference)
    }

    /// The numbers that are legal if teams may differ by so many humans.
    pub(crate) fn within(spec: &ProblemSpec, max_difference: Option<usize>) -> Self {
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
    pub(crate) fn size(&self, counts: &[usize]) -> Option<usize> {
        let largest = counts.iter().copied().max()?;
        let smallest = counts.iter().copied().min()?;
        let legal = largest <= self.most && largest - smallest <= self.difference;
        legal.then_some(self.floor.max(largest))
    }

    /// Whether a split has a legal number of humans on each team.
    pub(crate) fn are_legal(&self, team_of: &[u8]) -> bool {
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
    pub(crate) fn least(&self) -> usize {
        let beside_largest = self
            .humans
            .div_ceil(self.teams)
            .saturating_sub(self.difference);
        beside_largest.max(self.humans.saturating_sub((self.teams - 1) * self.most))
    }

    /// The largest possible size of a team, bots included.
    pub(crate) fn largest_size(&self) -> usize {
        self.floor.max(self.most)
    }

    /// Whether single humans can complete teams that already contain `pinned` humans.
    pub(crate) fn can_fill(&self, pinned: &[usize]) -> bool {
        (0..=self.most).any(|most| {
            let least = most.saturating_sub(self.difference);
            let needed: usize = pinned.iter().map(|&p| p.max(least)).sum();
            pinned.iter().all(|&p| p <= most)
                && needed <= self.humans
                && self.humans <= most * self.teams
        })
    }
}

/// Why a problem or a forced engine is invalid.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProblemError {
    /// The number of teams is out of its range.
    #[error("{0} teams: between 2 and {max} are possible", max = crate::MAX_TEAMS)]
    Teams(usize),
    /// There are too many humans to search all splits of.
    #[error("{0} humans: at most {max} are possible", max = crate::MAX_HUMANS)]
    Humans(usize),
    /// A weight is negative, infinite or NaN.
    #[error("the weight of {who} is {weight}: it must be a finite number of at least 0")]
    Weight {
        /// The key of the human, or "the mean bot".
        who: String,
        /// The weight given.
        weight: f64,
    },
    /// The handicap is infinite or NaN.
    #[error("the handicap is {0}: it must be a finite number")]
    Handicap(f64),
    /// [`ProblemSpec::even_total`](crate::ProblemSpec::even_total) is infinite, NaN, 0 or negative.
    #[error("the sum of two average teams is {0}: it must be a finite number above 0")]
    EvenTotal(f64),
    /// There are bots on teams that do not exist, or too many, or their weights are no weights.
    #[error(
        "the bots that are there must be on teams that exist, and have finite weights of at least 0"
    )]
    Bots,
    /// The strengths are not one finite number for each player, or their win model is not sound.
    #[error("there must be one finite strength for each player")]
    Strengths,
    /// [`ProblemSpec::equal_within`](crate::ProblemSpec::equal_within) is out of its range.
    #[error("chances cannot count as equal within that distance: it must be 0 to 0.5")]
    EqualWithin,
    /// The problem has a handicap, and the objective cannot count one.
    #[error("the objective `{0}` cannot count a handicap; `chance` can")]
    HandicapUncounted(Objective),
    /// Two humans have the same key.
    #[error("two humans have the key {0:?}")]
    SameKey(String),
    /// The limits of a map's players contradict each other, or exceed the largest number.
    #[error(
        "a map for {min} to {max} players with a target of {wish}: the minimum may not exceed \
         the maximum, and none may exceed {limit}", limit = evenkeel_model::record::MAX_PLAYERS
    )]
    Level {
        /// The fewest players of the map.
        min: usize,
        /// The most players of the map.
        max: usize,
        /// The number of players that the server wants.
        wish: usize,
    },
    /// The largest share is not above 0 and at most 1.
    #[error("the largest share of the humans on one team is {0}: it must be above 0 and at most 1")]
    Share(f64),
    /// An index of a human or a team is out of range.
    #[error("{what} {index} does not exist: there are {count}")]
    NoSuch {
        /// What the index counts: `"human"` or `"team"`.
        what: &'static str,
        /// The index that is out of range.
        index: usize,
        /// The number of humans or teams.
        count: usize,
    },
    /// A human is in two parties, or twice in one.
    #[error("{0} is in a party more than once")]
    TwoParties(String),
    /// A human is to avoid themselves.
    #[error("{0} cannot avoid being on a team with themselves")]
    AvoidsSelf(String),
    /// Two members of a party are pinned to different teams.
    #[error("{first} and {second} are in one party, but pinned to teams {teams:?}")]
    PinsContradict {
        /// Key of the first member.
        first: String,
        /// Key of the second member.
        second: String,
        /// Their teams, counted from 0.
        teams: (u8, u8),
    },
    /// A party has more members than any legal team.
    #[error("a party of {size} is larger than a team: at most {most} humans may be on one")]
    PartyTooLarge {
        /// Number of its members.
        size: usize,
        /// The most humans that a legal team can have.
        most: usize,
    },
    /// No legal split has all the pins.
    #[error(
        "the pins put {pinned:?} humans on the teams, which no legal split of {humans} can have"
    )]
    PinsTooMany {
        /// Number of humans pinned to each team.
        pinned: Vec<usize>,
        /// Number of humans in the problem.
        humans: usize,
    },
    /// The forced engine cannot solve this problem.
    #[error("the engine `{engine}` cannot solve this: {why}")]
    Engine {
        /// The engine that the settings force.
        engine: Engine,
        /// What prevents it.
        why: &'static str,
    },
}
