//! The players' weights, as numbers from outside: this room does not know how they are learned.

use crate::domain::PlayerKey;

/// The weights in one game: finite and at least 0, all in one unit, and what else the rating system
/// knows of the game.
pub trait Weights {
    /// A human's weight; the default for an unknown human.
    fn human(&self, id: &str) -> f64;

    /// A bot's own weight; `None` for an unknown bot, which counts the mean.
    fn bot(&self, name: &str) -> Option<BotWeight>;

    /// The mean weight of the known bots, and their number; the default and 0 if none is known.
    fn mean_bot(&self) -> (f64, usize);

    /// A human's strength on a scale on which teams' strengths are sums, in the unit of
    /// [`bonus`](Self::bonus); the weight if there is no such scale.
    fn human_worth(&self, id: &str) -> f64 {
        self.human(id)
    }

    /// The mean of the known bots on that scale.
    fn mean_bot_worth(&self) -> f64 {
        self.mean_bot().0
    }

    /// How much more often this side of the map wins than in an even game, between equal teams; 1 if
    /// nothing is known. The ratio of two sides' values is the odds of the one against the other.
    fn side(&self, _team: u8) -> f64 {
        1.0
    }

    /// Known bots, the most typical first: they stand for bots that are not yet chosen.
    fn typical_bots(&self) -> Vec<&str> {
        Vec::new()
    }

    /// The chance that the first of these teams wins, 0 to 1, as the rating system predicts it;
    /// `None` if it knows nothing.
    fn chance(&self, _teams: &[Vec<PlayerKey>]) -> Option<f64> {
        None
    }

    /// What the sides and sizes of two such teams are worth beside weights.
    fn bonus(&self, _teams: &[Vec<PlayerKey>]) -> TeamBonus {
        TeamBonus::default()
    }
}

/// What sides and sizes of two teams are worth, in the unit of [`Weights::human_worth`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TeamBonus {
    /// What team 0's side is worth; below 0 if it is the worse one.
    pub side: f64,
    /// What an empty place on the smaller team counts.
    pub empty: f64,
}

/// A known bot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BotWeight {
    /// Its weight.
    pub weight: f64,
    /// Whether it is one of those whose mean is [`Weights::mean_bot`].
    pub in_mean: bool,
}

/// The expected weight of the next bot to be added: the mean over the known bots that do not play
/// already. O(bots).
pub(super) fn next_bot<'a>(weights: &dyn Weights, playing: impl Iterator<Item = &'a str>) -> f64 {
    let (mean, known) = weights.mean_bot();
    let mean = sane(mean);
    let counted = playing.filter_map(|name| weights.bot(name).filter(|bot| bot.in_mean));
    let (sum, count) = counted.fold((0.0, 0), |(sum, count), bot| {
        (sum + sane(bot.weight), count + 1)
    });
    if count >= known {
        return mean;
    }
    sane((mean * known as f64 - sum) / (known - count) as f64)
}

/// The weight, limited to what can be summed without loss; 0 if it is not a number.
pub(super) fn sane(weight: f64) -> f64 {
    /// Far above any scale, and far below where sums of f64 lose whole numbers.
    const MOST: f64 = 1e9;
    if weight.is_nan() {
        0.0
    } else {
        weight.clamp(0.0, MOST)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::lobby::{Command, NewGame};
    use std::collections::BTreeMap;

    /// A new game in teams.
    pub(in crate::lobby) fn ctf() -> Command {
        game("ctf", true)
    }

    /// A new game.
    pub(in crate::lobby) fn game(game_type: &str, has_teams: bool) -> Command {
        Command::Game(NewGame {
            game_type: game_type.into(),
            has_teams,
            tournament: false,
        })
    }

    /// Weights by name; `a` to `z` may be humans and bots alike.
    #[derive(Clone, Debug, Default)]
    pub(in crate::lobby) struct WeightTable {
        pub(in crate::lobby) humans: BTreeMap<String, f64>,
        pub(in crate::lobby) bots: BTreeMap<String, f64>,
        pub(in crate::lobby) sides: Vec<f64>,
    }

    impl WeightTable {
        pub(in crate::lobby) fn new(humans: &[(&str, f64)], bots: &[(&str, f64)]) -> Self {
            let owned = |pairs: &[(&str, f64)]| {
                let pair = |&(name, weight): &(&str, f64)| (name.to_owned(), weight);
                pairs.iter().map(pair).collect()
            };
            Self {
                humans: owned(humans),
                bots: owned(bots),
                sides: Vec::new(),
            }
        }
    }

    impl Weights for WeightTable {
        fn human(&self, id: &str) -> f64 {
            self.humans.get(id).copied().unwrap_or(50.0)
        }

        fn bot(&self, name: &str) -> Option<BotWeight> {
            let weight = *self.bots.get(name)?;
            Some(BotWeight {
                weight,
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

        fn side(&self, team: u8) -> f64 {
            self.sides.get(usize::from(team)).copied().unwrap_or(1.0)
        }
    }

    #[test]
    fn the_next_bot_is_none_of_those_that_play() {
        let table = WeightTable::new(&[], &[("a", 10.0), ("b", 20.0), ("c", 60.0)]);
        let next = |playing: &[&str]| next_bot(&table, playing.iter().copied());
        assert_eq!(next(&[]), 30.0);
        assert_eq!(next(&["c"]), 15.0);
        assert_eq!(next(&["a", "c", "unknown"]), 20.0);
        assert_eq!(next(&["a", "b", "c"]), 30.0, "then it is anybody's guess");
        assert_eq!(next_bot(&WeightTable::default(), ["x"].into_iter()), 50.0);
    }

    #[test]
    fn weights_that_are_none_are_mended() {
        let mended = [f64::NAN, -1.0, f64::INFINITY, 3.5].map(sane);
        assert_eq!(mended, [0.0, 0.0, 1e9, 3.5]);
    }
}
