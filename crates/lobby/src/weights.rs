//! The players' weights, as numbers that the caller supplies, and the factors on those of parties. This room does not
//! know how they are learned.
//!
//! The configured factor of a party is what is assumed before matches show anything. As they do, what the rating
//! system has learned of friends takes its place, in proportion to how much it has learned.

use std::fmt;

use evenkeel_model::{LineupPlayer, UNITS, WinModel, units::Factor};
use evenkeel_partition::{Counted, party_factor};

use crate::{Lobby, LobbyError, ScoreSpread};

/// The players' weights in one game, and the rating system's predictions for it. Weights are
/// finite, at least 0 and all in one unit.
pub trait Weights {
    /// A human's weight; the default for an unknown human.
    fn human(&self, id: &str) -> f64;

    /// Whether anything is known of a human: matches, also of other rulesets, or what an operator has
    /// stated.
    fn knows(&self, _id: &str) -> bool {
        true
    }

    /// Whether the weights are amounts that whoever asks has stated, on a scale of their own. Then their sums decide, and
    /// nothing predicts a chance.
    fn are_amounts(&self) -> bool {
        false
    }

    /// A bot's own weight; `None` for an unknown bot, which counts as the mean bot.
    fn bot(&self, name: &str) -> Option<BotWeight>;

    /// The mean weight of the known bots, and their number; the default and 0 if there are none.
    fn mean_bot(&self) -> (f64, usize);

    /// A human's strength minus an average newcomer's, in the unit of [`win_model`](Self::win_model).
    fn human_strength(&self, _id: &str) -> f64 {
        0.0
    }

    /// The standard deviation of a human's strength, in the same unit; `None` where the rating system has
    /// none, or does not know the human.
    fn human_deviation(&self, _id: &str) -> Option<f64> {
        None
    }

    /// The strength that this human adds by commanding in a game of these teams, in the same unit.
    fn command_strength(&self, _id: &str, _teams: &[Vec<LineupPlayer>]) -> f64 {
        0.0
    }

    /// The mean strength of the known bots, in the same unit; if none is known, the strength of a
    /// bot of the default weight.
    fn mean_bot_strength(&self) -> f64 {
        0.0
    }

    /// How far apart the final scores of such games are; the default if no such match is stored.
    fn spread(&self) -> ScoreSpread {
        ScoreSpread::default()
    }

    /// Names of known bots, the most typical first: they stand for bots that have not been chosen
    /// yet.
    fn typical_bots(&self) -> Vec<&str> {
        Vec::new()
    }

    /// How strengths become chances in a game of these teams; `None` if nothing has been learned
    /// that predicts one.
    fn win_model(&self, _teams: &[Vec<LineupPlayer>]) -> Option<WinModel> {
        None
    }

    /// The chance that the first of these teams wins, 0 to 1, as the rating system predicts it;
    /// `None` if it has learned nothing.
    ///
    /// `strengths` is the sum of the strengths of each team, as decisions count them. Unlike the
    /// rating system's own, they include what parties and pinned weights add.
    fn chance(&self, _teams: &[Vec<LineupPlayer>], _strengths: &[f64]) -> Option<f64> {
        None
    }

    /// The same for each team, adding up to 1; empty if the rating system predicts nothing.
    fn chances(&self, teams: &[Vec<LineupPlayer>], strengths: &[f64]) -> Vec<f64> {
        match (teams, self.chance(teams, strengths)) {
            ([_, _], Some(chance)) => vec![chance, 1.0 - chance],
            _ => Vec::new(),
        }
    }
}

/// A known bot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BotWeight {
    /// The bot's own weight, 0 to 100.
    pub weight: f64,
    /// Its strength, in the unit of [`Weights::human_strength`].
    pub strength: f64,
    /// Whether this bot is one of those over which [`Weights::mean_bot`] is the mean.
    pub in_mean: bool,
}

/// The expected weight and strength of the next bot that is added: the means over the known bots
/// that do not play already. O(bots).
pub(super) fn next_bot<'a>(
    weights: &dyn Weights,
    playing: impl Iterator<Item = &'a str>,
) -> Counted {
    let (mean, known) = weights.mean_bot();
    let mean = Counted {
        weight: sane(mean),
        strength: sane_strength(weights.mean_bot_strength()),
        variance: 0.0,
    };
    let counted = playing.filter_map(|name| weights.bot(name).filter(|bot| bot.in_mean));
    let (mut sum, mut count) = (Counted::default(), 0);
    for bot in counted {
        sum = sum + of_bot(&bot);
        count += 1;
    }
    if count >= known {
        return mean;
    }
    let rest = (known - count) as f64;
    Counted {
        weight: sane((mean.weight * known as f64 - sum.weight) / rest),
        strength: (mean.strength * known as f64 - sum.strength) / rest,
        variance: 0.0,
    }
}

/// The weight and strength of a bot of the game; the means if the bot is unknown.
pub(super) fn counted_bot(weights: &dyn Weights, name: &str) -> Counted {
    let mean = || Counted {
        weight: sane(weights.mean_bot().0),
        strength: sane_strength(weights.mean_bot_strength()),
        variance: 0.0,
    };
    let known = weights.bot(name);
    known.map_or_else(mean, |bot| of_bot(&bot))
}

/// The weight and strength of a known bot.
fn of_bot(bot: &BotWeight) -> Counted {
    Counted {
        weight: sane(bot.weight),
        strength: sane_strength(bot.strength),
        variance: 0.0,
    }
}

/// The strength, clamped to the range of [`sane`]; 0 if it is NaN.
pub(super) fn sane_strength(strength: f64) -> f64 {
    match strength.is_nan() {
        true => 0.0,
        false => strength.clamp(-1e9, 1e9),
    }
}

/// The weight, clamped to a range in which sums are finite; 0 if it is NaN.
pub(super) fn sane(weight: f64) -> f64 {
    /// Far above any weight, and far below the numbers whose sums are no longer finite.
    const MOST: f64 = 1e300;
    if weight.is_nan() {
        0.0
    } else {
        weight.clamp(0.0, MOST)
    }
}

/// The largest party with a factor of its own, if something has been learned; larger ones have the same.
const LARGEST: usize = 8;

/// The factors on the weights of parties in a game.
#[derive(Clone, Debug, PartialEq)]
pub struct PartyFactors {
    /// One for parties of 2, 3 and so on, the last one for all larger parties. Empty stands for 1.
    pub factors: Vec<Factor>,
    /// How much of them is learned from matches, 0 to 1; the rest is configured.
    pub learned: f64,
}

impl PartyFactors {
    fn new(configured: &[Factor], win_model: Option<&WinModel>) -> Self {
        let learned = win_model.map_or(0.0, |win_model| win_model.company.learned);
        let factors = match win_model.filter(|_| learned > 0.0) {
            Some(win_model) => (2..=LARGEST)
                .map(|size| blended(win_model, size, party_factor(configured, size)))
                .collect(),
            None => configured.to_vec(),
        };
        Self { factors, learned }
    }

    /// The factor on the weight of each member of a party of this size.
    pub(crate) fn of(&self, size: usize) -> f64 {
        party_factor(&self.factors, size)
    }
}

/// The factor that adds as much to the weight of an average player as friends add: what was learned of their strength,
/// and the part of the configured factor that was not learned. Friends who are weaker together have 1.
fn blended(win_model: &WinModel, size: usize, configured: f64) -> Factor {
    let friends = size.saturating_sub(1) as f64;
    let learned = win_model.company.per_friend * friends / (UNITS * win_model.unit);
    let assumed = (1.0 - win_model.company.learned) * (configured - 1.0);
    let most = Factor::of(10.0);
    Factor::try_from((1.0 + learned + assumed).clamp(1.0, most.get())).unwrap_or(most)
}

/// The line for EXPLAIN.
impl fmt::Display for PartyFactors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let percent = 100.0 * self.learned;
        write!(
            f,
            "parties: two friends count {:.3} times their weights, three {:.3} times; {percent:.0} % of that is \
             learned from matches, the rest is party_multiplier",
            self.of(2),
            self.of(3)
        )
    }
}

impl Lobby {
    /// The factors on the weights of parties in the current game; `None` if no two players of it are in
    /// one party.
    ///
    /// # Errors
    /// Fails if there is no game, or if it has no teams.
    pub fn party_factors(&self, weights: &dyn Weights) -> Result<Option<PartyFactors>, LobbyError> {
        let humans = self.team_game()?.roster.humans();
        let has_friend = humans.iter().enumerate().any(|(index, human)| {
            human.party.is_some() && humans[..index].iter().any(|h| h.party == human.party)
        });
        if !has_friend {
            return Ok(None);
        }
        let win_model = weights.win_model(&self.lineup()?);
        let configured = &self.settings.party_multiplier;
        Ok(Some(PartyFactors::new(configured, win_model.as_ref())))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::collections::BTreeMap;

    use evenkeel_model::{Company, TeamLoad};

    use super::*;
    use crate::{Command, NewGame, games::win_model};

    /// A new game with teams.
    pub(crate) fn ctf() -> Command {
        game("ctf", true)
    }

    /// A new game of any type.
    pub(crate) fn game(game_type: &str, has_teams: bool) -> Command {
        Command::Game(NewGame {
            game_type: game_type.into(),
            canonical_type: game_type.into(),
            has_teams,
            tournament: false,
        })
    }

    /// Weights by name, of humans and bots separately.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct WeightTable {
        pub(crate) humans: BTreeMap<String, f64>,
        pub(crate) bots: BTreeMap<String, f64>,
        pub(crate) win_model: Option<WinModel>,
    }

    impl WeightTable {
        pub(crate) fn new(humans: &[(&str, f64)], bots: &[(&str, f64)]) -> Self {
            let owned = |pairs: &[(&str, f64)]| {
                let pair = |&(name, weight): &(&str, f64)| (name.to_owned(), weight);
                pairs.iter().map(pair).collect()
            };
            Self {
                humans: owned(humans),
                bots: owned(bots),
                win_model: None,
            }
        }
    }

    impl Weights for WeightTable {
        fn human(&self, id: &str) -> f64 {
            self.humans.get(id).copied().unwrap_or(50.0)
        }

        fn knows(&self, id: &str) -> bool {
            self.humans.contains_key(id)
        }

        fn bot(&self, name: &str) -> Option<BotWeight> {
            let weight = *self.bots.get(name)?;
            Some(BotWeight {
                weight,
                strength: (weight - 50.0) / 25.0,
                in_mean: true,
            })
        }

        fn mean_bot(&self) -> (f64, usize) {
            let count = self.bots.len();
            match count {
                0 => (50.0, 0),
                _ => (self.bots.values().sum::<f64>() / count as f64, count),
            }
        }

        fn human_strength(&self, id: &str) -> f64 {
            (self.human(id) - 50.0) / 25.0
        }

        fn mean_bot_strength(&self) -> f64 {
            (self.mean_bot().0 - 50.0) / 25.0
        }

        fn typical_bots(&self) -> Vec<&str> {
            let off = |name: &str| (self.bots[name] - self.mean_bot().0).abs();
            let mut names: Vec<&str> = self.bots.keys().map(String::as_str).collect();
            names.sort_by(|a, b| off(a).total_cmp(&off(b)));
            names
        }

        fn win_model(&self, _teams: &[Vec<LineupPlayer>]) -> Option<WinModel> {
            self.win_model
        }

        fn chance(&self, teams: &[Vec<LineupPlayer>], strengths: &[f64]) -> Option<f64> {
            let (win_model, heads) = (self.win_model?, |team: usize| teams[team].len());
            let load = |team: usize| TeamLoad {
                heads: heads(team),
                strength: strengths[team],
            };
            Some(
                win_model
                    .link
                    .chance(win_model.edge_of_first(load(0), load(1))),
            )
        }
    }

    #[test]
    fn the_next_bot_is_none_of_those_that_play() {
        let table = WeightTable::new(&[], &[("a", 10.0), ("b", 20.0), ("c", 60.0)]);
        let next = |playing: &[&str]| next_bot(&table, playing.iter().copied()).weight;
        assert_eq!(next(&[]), 30.0);
        assert_eq!(next(&["c"]), 15.0);
        assert_eq!(next(&["a", "c", "unknown"]), 20.0);
        assert_eq!(next(&["a", "b", "c"]), 30.0, "then it is anybody's guess");
        assert_eq!(
            next_bot(&WeightTable::default(), ["x"].into_iter()).weight,
            50.0
        );
    }

    #[test]
    fn weights_that_are_none_are_mended() {
        let mended = [f64::NAN, -1.0, f64::INFINITY, 3.5].map(sane);
        assert_eq!(mended, [0.0, 0.0, 1e300, 3.5]);
    }

    fn factors(per_friend: f64, learned: f64) -> PartyFactors {
        let configured = [1.15, 1.2].map(Factor::of);
        let company = Company {
            per_friend,
            learned,
        };
        PartyFactors::new(
            &configured,
            Some(&WinModel {
                company,
                ..win_model()
            }),
        )
    }

    #[test]
    fn what_is_configured_gives_way_to_what_is_learned() {
        let sizes = |found: &PartyFactors| [1, 2, 3, 4, 9].map(|size| found.of(size));
        assert_eq!(sizes(&factors(0.0, 0.0)), [1.0, 1.15, 1.2, 1.2, 1.2]);
        // With a unit of 1, a strength of 0.1 is a sixtieth of the weight 50.
        let near = |found: PartyFactors, by_hand: [f64; 5]| {
            let found = sizes(&found);
            let close = found
                .iter()
                .zip(by_hand)
                .all(|(x, y)| (x - y).abs() < 1e-12);
            assert!(close, "{found:?} {by_hand:?}");
        };
        let learned = [0.0, 1.0, 2.0, 3.0, 7.0].map(|friends| friends / 60.0);
        near(factors(0.1, 1.0), learned.map(|learned| 1.0 + learned));
        let half = [0.0, 0.075, 0.1, 0.1, 0.1];
        near(
            factors(0.1, 0.5),
            [0, 1, 2, 3, 4].map(|at| 1.0 + half[at] + learned[at]),
        );
        near(factors(-0.1, 1.0), [1.0; 5]);
        near(factors(1e9, 1.0), [1.0, 10.0, 10.0, 10.0, 10.0]);
        let without = PartyFactors::new(&[], None);
        assert_eq!(sizes(&without), [1.0; 5]);
    }
}
