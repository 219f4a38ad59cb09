//! The problem of BALANCE: the humans of a game with their weights and wishes.

use std::collections::BTreeMap;

use super::SizeLimits;
use crate::{
    domain::{Company, units::Factor},
    lobby::{
        ChanceModel, Lobby, LobbyError, Weights,
        decide::command_strength,
        roster::Human,
        weights::{Counted, counted_bot, next_bot, sane_strength},
    },
    partition::{Bots, ProblemSpec, Tolerance, WeightedHuman},
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
            false => (self.mean_bot(weights)?.weight, fill.wish as usize),
        };
        let weighted = |human: &Human| WeightedHuman {
            key: human.id.text().to_owned(),
            weight: weights.human(human.id.text()),
            pin: human.pin.map(usize::from),
            current: human.team.map(usize::from),
            last: self.last_team(&human.id).map(usize::from),
        };
        Ok(ProblemSpec {
            humans: humans.iter().map(weighted).collect(),
            teams: usize::from(self.teams()),
            bots: Bots {
                weight: bot_weight,
                min: min as usize,
                max: max as usize,
                target,
            },
            handicap: 0.0,
            even_total: None,
            max_share: limits.max_team_share.get(),
            max_difference: limits.max_difference.get(),
            parties: parties(humans),
            avoid: pairs_to_avoid(humans),
            // What REBALANCE would leave alone.
            tolerance: Some(Tolerance {
                enough: self.settings.rebalance.enough.get(),
                slack: self.settings.rebalance.min_gain.get(),
            }),
        })
    }

    /// Replaces weights by strengths, on a scale on which 25 points are the strength whose weight
    /// is 75. Adds the worth of the side of the map and of a place that no bot fills. The teams
    /// whose sums differ least are then the teams whose chances differ least, and the evenness is
    /// that of the chances.
    pub(super) fn go_by_chance(
        &self,
        weights: &dyn Weights,
        model: &ChanceModel,
        problem: &mut ProblemSpec,
    ) -> Result<(), LobbyError> {
        let outlook = &model.outlook;
        let humans = problem.humans.len();
        let bots = match self.expected_fill()?.is_none(humans) {
            true => 0,
            false => self.bots()?.players as usize,
        };
        let players = bots.max(humans);
        // Players in a game of two teams. Of more than two teams, each pair is compared as such a
        // game.
        let players = (2 * players).div_ceil(problem.teams);
        let per_strength = outlook.per_strength_at(players);
        let points = 25.0 / outlook.halfway;
        let strength = |human: &WeightedHuman| sane_strength(weights.human_strength(&human.key));
        let mut strengths: Vec<f64> = problem.humans.iter().map(strength).collect();
        let (lineup, roster) = (self.lineup()?, &self.team_game()?.roster);
        for (strength, human) in strengths.iter_mut().zip(roster.humans()) {
            *strength += command_strength(weights, human, &lineup);
        }
        for party in &problem.parties {
            let friends = party.len().saturating_sub(1) as f64;
            for &member in party {
                strengths[member] += outlook.company.per_friend * friends;
            }
        }
        let bot = if bots > 0 {
            self.mean_bot(weights)?.strength
        } else {
            0.0
        };
        // Without bots and with an odd number of humans, one of two teams has one head more.
        let head = match bots {
            0 => outlook.heads(players.div_ceil(2), players - players.div_ceil(2)) / per_strength,
            _ => 0.0,
        };
        let least = strengths.iter().copied().fold(bot.min(0.0), f64::min);
        let zero = f64::max(50.0, points * f64::max(-least, head));
        for (human, strength) in problem.humans.iter_mut().zip(&strengths) {
            human.weight = (zero + points * strength).max(0.0);
        }
        problem.bots.weight = match bots {
            0 => zero - points * head,
            _ => zero + points * bot,
        };
        if problem.teams == 2 {
            problem.handicap = points * outlook.side / per_strength;
        }
        // (t − g)/(t + g) is then nearly the odds of a gap g, e^(−g · slope).
        let slope = per_strength / outlook.link.per_log_odds() / points;
        problem.even_total = Some(2.0 / slope);
        Ok(())
    }

    /// What a bot counts on average once bots have filled up the game: of those in the game that
    /// stay, and those that will be added.
    fn mean_bot(&self, weights: &dyn Weights) -> Result<Counted, LobbyError> {
        let game = self.team_game()?;
        let wanted = self.bots()?.per_team.iter().sum::<u32>() as usize;
        let here = game.roster.bots();
        let names = || here.iter().map(|bot| bot.name.text());
        let counted = here.iter().map(|bot| counted_bot(weights, bot));
        let sum = counted.fold(Counted::default(), |sum, bot| sum + bot);
        let stay = here.len().min(wanted) as f64;
        let come = wanted as f64 - stay;
        let next = next_bot(weights, names());
        if stay + come == 0.0 {
            return Ok(next);
        }
        let all = sum.times(stay / here.len().max(1) as f64) + next.times(come);
        Ok(all.times(1.0 / (stay + come)))
    }
}

/// The part of the configured party multipliers that still counts, besides the effect that matches
/// have shown; see [`Outlook::befriended`](crate::domain::Outlook::befriended).
pub(super) fn assumed(multipliers: &[Factor], company: Company) -> Vec<Factor> {
    let left = |multiplier: &Factor| {
        let left = 1.0 + (1.0 - company.learned) * (multiplier.get() - 1.0);
        Factor::try_from(left).unwrap_or(*multiplier)
    };
    multipliers.iter().map(left).collect()
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
