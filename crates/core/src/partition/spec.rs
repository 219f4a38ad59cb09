//! What a problem consists of: the players, and the limits that make teams legal.

use super::{Bots, BotsOnTeam, BotsThere, Strengths};

/// A human to put on a team.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct WeightedHuman {
    /// The human's identity, unique within the problem. Together with the seed it breaks ties, so that
    /// the order of the humans does not matter.
    pub key: String,
    /// Strength, in any unit: finite, ≥ 0.
    pub weight: f64,
    /// The team that the human must be on, counted from 0.
    pub pin: Option<usize>,
    /// The team that the human is on now.
    pub current: Option<usize>,
    /// The team that the human was on in the last game.
    pub last: Option<usize>,
    /// The team on which the human would like to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wish: Option<usize>,
    /// Whether nothing is known of the human, so that the weight is a newcomer's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub newcomer: bool,
    /// How often the human was on the weaker side of the map in the last games, the latest counting
    /// most: at least 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub weak_sides: f64,
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl WeightedHuman {
    /// A human without pin, current or last team, of whom something is known.
    pub fn new(key: impl Into<String>, weight: f64) -> Self {
        Self {
            key: key.into(),
            weight,
            ..Self::default()
        }
    }
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
    /// At most 128, each with a different key.
    pub humans: Vec<WeightedHuman>,
    /// Number of teams, 2 to [`MAX_TEAMS`](crate::domain::MAX_TEAMS).
    pub teams: usize,
    /// The bots that fill the teams.
    pub bots: Bots,
    /// The bots that are on each team now; empty if there are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bots_there: Vec<BotsThere>,
    /// Whether the weights are amounts that whoever asks has stated, so that their sums are the reason for the teams.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub amounts: bool,
    /// What predicts the chances of splits. With it, [`Objective::Chance`](super::Objective::Chance) compares
    /// chances; without it, the sums of the weights and the handicap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strengths: Option<Strengths>,
    /// Chances of splits near one half that differ by at most this much count as equal, 0 to 0.5; of less even ones, those
    /// whose odds differ by no more; `None` to compare
    /// them exactly. It needs [`strengths`](Self::strengths).
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
    /// No humans, two teams, no bots. The share is that of the UT2004 page, 18 of 32. The
    /// difference is 1 because players complained most about teams that had fewer humans and weak
    /// bots instead.
    fn default() -> Self {
        Self {
            humans: Vec::new(),
            teams: 2,
            bots: Bots::default(),
            bots_there: Vec::new(),
            amounts: false,
            strengths: None,
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
    /// The number of bots that are on a team now, and the sum of their weights.
    pub(super) fn bots_there(&self, team: usize) -> (usize, f64) {
        let there = self.bots_there.get(team);
        there.map_or((0, 0.0), |bots| (bots.count, bots.weight))
    }

    /// The bots on a team that has this many places left.
    pub(super) fn bots_on(&self, team: usize, places: usize) -> BotsOnTeam {
        let (there, _) = self.bots_there(team);
        BotsOnTeam::new(there, if self.bots.fill { places } else { there })
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
        let teams = self.humans.iter().map(|human| Some(human.current? as u8));
        teams.collect()
    }

    /// The number of humans who would like to be on a certain team.
    pub(super) fn wishes(&self) -> usize {
        self.humans.iter().filter(|one| one.wish.is_some()).count()
    }

    /// The team on the weaker side of the map, if one side is known to be weaker.
    pub fn weaker_side(&self) -> Option<u8> {
        let strengths = self.strengths.as_ref().filter(|_| self.teams == 2)?;
        let side = strengths.outlook.side;
        (side != 0.0).then_some(u8::from(side > 0.0))
    }

    /// What counts in a comparison of teams: the human's strength, or without strengths the weight.
    pub(super) fn value(&self, human: usize) -> f64 {
        match &self.strengths {
            Some(strengths) => strengths.humans[human],
            None => self.humans[human].weight,
        }
    }
}
