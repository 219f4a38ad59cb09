//! The problem of BALANCE: the humans of a game with their weights and wishes.

use std::collections::BTreeMap;

use super::SizeLimits;
use crate::{
    lobby::{
        Lobby, LobbyError, Weights,
        decide::command_strength,
        roster::Human,
        weights::{counted_bot, sane, sane_strength},
    },
    partition::{Bots, BotsThere, ProblemSpec, Settings, Strengths, Tolerance, WeightedHuman},
};

impl Lobby {
    /// The humans with their weights and wishes, and their teams now and in the last game.
    pub(super) fn problem(
        &self,
        weights: &dyn Weights,
        limits: SizeLimits,
    ) -> Result<ProblemSpec, LobbyError> {
        let humans = self.team_game()?.roster.humans();
        let fill = self.expected_fill()?;
        let (min, max) = fill.map_range;
        // Where no bots are expected, the places that `partition` fills with bots must have no weight.
        let (bot_weight, target) = match fill.is_none(humans.len()) {
            true => (0.0, 0),
            false => (self.next_bot(weights)?.weight, fill.wish as usize),
        };
        let weighted = |human: &Human| WeightedHuman {
            weight: sane(weights.human(human.id.text())),
            pin: human.pin.map(usize::from),
            current: human.team.map(usize::from),
            last: self.last_team(&human.id).map(usize::from),
            newcomer: !weights.knows(human.id.text()),
            weak_sides: self.memory.of(human.id.text()).weak_sides,
            wish: self.wish_of(human).map(usize::from),
            ..WeightedHuman::new(human.id.text(), 0.0)
        };
        Ok(ProblemSpec {
            humans: humans.iter().map(weighted).collect(),
            teams: usize::from(self.teams()),
            bots: Bots {
                fill: !fill.is_none(humans.len()),
                weight: bot_weight,
                min: min as usize,
                max: max as usize,
                target,
            },
            bots_there: self.bots_there(weights)?.0,
            amounts: weights.are_amounts(),
            max_share: limits.max_team_share.get(),
            max_difference: limits.max_difference.get(),
            parties: parties(humans),
            avoid: pairs_to_avoid(humans),
            // What REBALANCE would leave alone. Of amounts, the most even sums win.
            tolerance: (!weights.are_amounts()).then(|| Tolerance {
                enough: self.settings.rebalance.enough.get(),
                slack: self.settings.rebalance.min_gain.get(),
            }),
            ..ProblemSpec::default()
        })
    }

    /// The strengths of the players, from which the chances of all splits follow; `None` as long as
    /// nothing has been learned that predicts one.
    pub(super) fn strengths(
        &self,
        weights: &dyn Weights,
        settings: &Settings,
    ) -> Result<Option<Strengths>, LobbyError> {
        let (lineup, roster) = (self.lineup()?, &self.team_game()?.roster);
        let Some(outlook) = weights.outlook(&lineup) else {
            return Ok(None);
        };
        let strength = |human: &Human| {
            let alone = sane_strength(weights.human_strength(human.id.text()));
            alone + command_strength(weights, human, &lineup)
        };
        // A human of whom the rating system has no deviation counts as the mean player of the lineup.
        let usual = outlook.usual_doubt();
        let doubt = |human: &Human| weights.human_doubt(human.id.text()).unwrap_or(usual);
        let counts = settings.factors.uncertain.get() > 0.0;
        let doubtful = roster.humans().iter().filter(|_| counts);
        Ok(Some(Strengths {
            outlook,
            doubts: doubtful.map(doubt).collect(),
            humans: roster.humans().iter().map(strength).collect(),
            bot: self.next_bot(weights)?.strength,
            bots_there: self.bots_there(weights)?.1,
            party_multiplier: settings.party_multiplier.clone(),
        }))
    }

    /// The bots that are on each team, and the sums of their strengths; empty without bots. Where the
    /// game is expected to get no bots, those that are there are expected to go.
    fn bots_there(&self, weights: &dyn Weights) -> Result<(Vec<BotsThere>, Vec<f64>), LobbyError> {
        let roster = &self.team_game()?.roster;
        let fill = self.expected_fill()?;
        let go = fill.on && fill.is_none(roster.humans().len());
        if roster.bots().is_empty() || go {
            return Ok((Vec::new(), Vec::new()));
        }
        let mut there = vec![BotsThere::default(); usize::from(self.teams())];
        let mut strengths = vec![0.0; there.len()];
        for bot in roster.bots() {
            let (team, counted) = (usize::from(bot.team), counted_bot(weights, bot.name.text()));
            if let (Some(there), Some(sum)) = (there.get_mut(team), strengths.get_mut(team)) {
                there.count += 1;
                there.weight += counted.weight;
                *sum += counted.strength;
            }
        }
        Ok((there, strengths))
    }
}

/// The parties with at least two members in the game, as indices.
fn parties(humans: &[Human]) -> Vec<Vec<usize>> {
    let mut parties: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, human) in humans.iter().enumerate() {
        if let Some(party) = &human.party {
            parties.entry(party).or_default().push(at);
        }
    }
    let parties = parties.into_values();
    parties.filter(|members| members.len() > 1).collect()
}

/// The pairs of which one human avoids the other, as indices; both are in the game.
fn pairs_to_avoid(humans: &[Human]) -> Vec<(usize, usize)> {
    let ids = humans.iter().map(|human| human.id.text());
    let index: BTreeMap<&str, usize> = ids.zip(0..).collect();
    let mut pairs = Vec::new();
    for (at, human) in humans.iter().enumerate() {
        let others = human.avoid.iter().filter_map(|id| index.get(id.as_str()));
        pairs.extend(others.filter(|&&o| o != at).map(|&other| (at, other)));
    }
    pairs
}
