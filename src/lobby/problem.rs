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
        let humans = game.roster.humans();
        let fill = self.fill()?;
        let (min, max) = fill.level;
        // Where no bots come, those that fill up the smaller teams on paper must weigh nothing.
        let (bot_weight, target) = match fill.is_none(humans.len()) {
            true => (0.0, 0),
            false => (mean_bot, fill.wish as usize),
        };
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
                weight: bot_weight,
                min: min as usize,
                max: max as usize,
                target,
            },
            handicap: 0.0,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Ident;
    use crate::lobby::{LobbySettings, Update};

    fn bots(settings: LobbySettings) -> Bots {
        let mut lobby = Lobby::new(settings);
        lobby.begin("ctf", true);
        for id in ["a", "b", "c"] {
            let id = Ident::from_text(id);
            lobby.join(&id, Update::default()).unwrap();
        }
        let limits = Limits {
            max_share: 1.0,
            max_difference: None,
        };
        lobby.problem(|_| 50.0, 40.0, limits).unwrap().bots
    }

    #[test]
    fn bots_that_do_not_come_weigh_nothing() {
        let usual = bots(LobbySettings::default());
        assert_eq!((usual.weight, usual.target), (40.0, 6));
        let off = LobbySettings {
            bots: false,
            ..LobbySettings::default()
        };
        let waiting = LobbySettings {
            min_humans: 4,
            ..LobbySettings::default()
        };
        for settings in [off, waiting] {
            let none = bots(settings);
            assert_eq!((none.weight, none.target), (0.0, 0));
        }
    }
}
