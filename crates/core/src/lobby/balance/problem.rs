//! The problem of BALANCE: the humans of a game with their weights and wishes.

use std::collections::BTreeMap;

use super::SizeLimits;
use crate::{
    lobby::{HumanInGame, Snapshot},
    partition::{Bots, BotsThere, ProblemSpec, Settings, Strengths, TeamSum, WeightedHuman},
};

impl Snapshot {
    /// The problem of choosing teams for all humans of the game within these limits: by chances if the game has a model
    /// of them.
    pub(super) fn problem(&self, limits: SizeLimits, settings: &Settings) -> ProblemSpec {
        let there = self.bots_there();
        ProblemSpec {
            humans: self.humans.iter().map(weighted).collect(),
            teams: usize::from(self.teams),
            bots: self.bots_to_come(),
            strengths: self.strengths(&there, settings),
            bots_there: there
                .iter()
                .map(|team| BotsThere {
                    count: team.bots,
                    weight: team.of_bots.weight,
                })
                .collect(),
            max_share: limits.max_team_share.get(),
            max_difference: limits.max_difference.get(),
            parties: self.parties(),
            avoid: self.pairs_to_avoid(),
            ..ProblemSpec::default()
        }
    }

    /// The bots that fill up the teams. Where none are expected, the places that they would fill must have no weight.
    fn bots_to_come(&self) -> Bots {
        let (min, max) = self.fill.map_range;
        let (fill, weight, target) = match self.fill.is_none(self.humans.len()) {
            true => (false, 0.0, 0),
            false => (true, self.next_bot, self.fill.wish as usize),
        };
        Bots {
            fill,
            weight,
            min: min as usize,
            max: max as usize,
            target,
        }
    }

    /// The sums of the teams whose bots count; none without bots. Where the game is expected to get no bots, those that
    /// are there are expected to go.
    fn bots_there(&self) -> Vec<TeamSum> {
        let go = self.fill.on && self.fill.is_none(self.humans.len());
        match self.bots.is_empty() || go {
            true => Vec::new(),
            false => self.sums().sides().to_vec(),
        }
    }

    /// The strengths of the players, from which the chances of all splits follow; `None` without a model.
    fn strengths(&self, there: &[TeamSum], settings: &Settings) -> Option<Strengths> {
        let model = self.chance.as_ref()?;
        let doubts = settings.factors.uncertain.get() > 0.0;
        Some(Strengths {
            outlook: model.outlook,
            humans: model.humans.clone(),
            bot: model.next_bot,
            bots_there: there.iter().map(|team| team.of_bots.strength).collect(),
            doubts: model.doubts.iter().filter(|_| doubts).copied().collect(),
            party_multiplier: settings.party_multiplier.clone(),
        })
    }

    /// The parties with at least two members in the game, as indices.
    fn parties(&self) -> Vec<Vec<usize>> {
        let mut parties: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, human) in self.humans.iter().enumerate() {
            if let Some(party) = &human.party {
                parties.entry(party).or_default().push(at);
            }
        }
        let parties = parties.into_values();
        parties.filter(|members| members.len() > 1).collect()
    }

    /// The pairs of which one human avoids the other, as indices; both are in the game.
    fn pairs_to_avoid(&self) -> Vec<(usize, usize)> {
        let ids = self.humans.iter().map(|human| human.id.as_str());
        let index: BTreeMap<&str, usize> = ids.zip(0..).collect();
        let mut pairs = Vec::new();
        for (at, human) in self.humans.iter().enumerate() {
            let others = human.avoid.iter().filter_map(|id| index.get(id.as_str()));
            pairs.extend(others.filter(|&&o| o != at).map(|&other| (at, other)));
        }
        pairs
    }
}

fn weighted(human: &HumanInGame) -> WeightedHuman {
    WeightedHuman {
        weight: human.weight,
        pin: human.pin.map(usize::from),
        current: human.team.map(usize::from),
        last: human.last.map(usize::from),
        wish: human.wish.map(usize::from),
        newcomer: human.newcomer,
        weak_sides: human.weak_sides,
        ..WeightedHuman::new(&human.id, 0.0)
    }
}
