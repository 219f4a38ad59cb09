//! The lobby as a problem of choosing teams.

use std::collections::BTreeMap;

use super::{Lobby, LobbyError};
use crate::partition::{self, Bots, ProblemSpec};

/// How uneven in numbers teams may be; see [`ProblemSpec`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// The largest share of the humans on one team, above 0, at most 1.
    pub max_share: f64,
    /// The largest difference of human counts; `None` for any.
    pub max_difference: Option<usize>,
}

impl Lobby {
    /// Everybody with the weight they have in this game, their wishes, and where they are and were.
    ///
    /// # Errors
    /// There is no game, or it has no teams.
    pub fn problem(
        &self,
        weight_of: impl Fn(&str) -> f64,
        mean_bot: f64,
        limits: Limits,
    ) -> Result<ProblemSpec, LobbyError> {
        let game = self.game()?;
        if !game.has_teams {
            return Err(LobbyError::NoTeams);
        }
        let (min, max) = self.level()?;
        let humans = game.roster.humans();
        let human = |human: &super::Human| partition::Human {
            key: human.id.text().to_owned(),
            weight: weight_of(human.id.text()),
            pin: human.pin.map(usize::from),
            current: human.team.map(usize::from),
            last: self.last_team(&human.id).map(usize::from),
        };
        Ok(ProblemSpec {
            humans: humans.iter().map(human).collect(),
            teams: usize::from(self.teams()),
            bots: Bots {
                weight: mean_bot,
                min: min as usize,
                max: max as usize,
                target: self.wish() as usize,
            },
            max_share: limits.max_share,
            max_difference: limits.max_difference,
            parties: parties(humans),
            avoid: pairs_to_avoid(humans),
        })
    }
}

/// Who came together, where at least two did.
fn parties(humans: &[super::Human]) -> Vec<Vec<usize>> {
    let mut parties: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, human) in humans.iter().enumerate() {
        if let Some(party) = &human.party {
            parties.entry(party).or_default().push(at);
        }
    }
    let parties = parties.into_values();
    parties.filter(|members| members.len() > 1).collect()
}

/// Wishes about somebody who isn't here wait for them.
fn pairs_to_avoid(humans: &[super::Human]) -> Vec<(usize, usize)> {
    let ids = humans.iter().map(|human| human.id.text());
    let index: BTreeMap<&str, usize> = ids.zip(0..).collect();
    let mut pairs = Vec::new();
    for (at, human) in humans.iter().enumerate() {
        let others = human.avoid.iter().filter_map(|id| index.get(id.as_str()));
        pairs.extend(others.filter(|&&o| o != at).map(|&other| (at, other)));
    }
    pairs
}
