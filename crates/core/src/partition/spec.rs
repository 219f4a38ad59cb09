//! What a problem consists of: the game, and the limits that make teams legal.

use std::collections::BTreeMap;

use super::GameView;
use crate::domain::units::{MaxDifference, PositiveShare};

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

/// The input of a [`Problem`](super::Problem). Parties and pairs refer to humans by index.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ProblemSpec {
    /// The players, with the teams that they are on and must be on: at most 128 humans, each with a different id.
    pub view: GameView,
    /// Whether the weights are amounts that whoever asks has stated, so that their sums are the reason for the teams.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub amounts: bool,
    /// Chances of splits near one half that differ by at most this much count as equal, 0 to 0.5; of less even ones, those
    /// whose odds differ by no more; `None` to compare them exactly. It needs a [`ChanceModel`](super::ChanceModel).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doubt: Option<f64>,
    /// The worth of team 0's side of the map in the unit of the weights: finite, and negative if it
    /// is the worse side. Only [`Objective::Chance`](super::Objective::Chance) can count it; it has no
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
            doubt: None,
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
        let side = model.outlook.side;
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
