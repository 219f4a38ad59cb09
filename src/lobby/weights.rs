//! What players weigh, as numbers from outside: this room never asks where they come from.

/// What everybody of one game weighs: finite and at least 0, in any unit, the same for all.
pub trait Weights {
    /// A human's weight; for somebody unknown, the default.
    fn human(&self, id: &str) -> f64;

    /// A bot's own weight; `None` for an unknown bot, which weighs the mean.
    fn bot(&self, name: &str) -> Option<BotWeight>;

    /// The mean weight of the known bots, and how many those are; a default and 0 without any.
    fn mean_bot(&self) -> (f64, usize);

    /// How much likelier this side of the map wins than an even chance, between teams that are even
    /// otherwise; 1 where nothing is known of it. Two sides' ratio is the odds of one over the other.
    fn side(&self, _team: u8) -> f64 {
        1.0
    }
}

/// A known bot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BotWeight {
    /// What it weighs.
    pub weight: f64,
    /// Whether it is one of those whose mean [`Weights::mean_bot`] tells.
    pub in_mean: bool,
}

/// What the next bot to come weighs: nobody knows which it will be, but it is none of those that
/// play already, so it is the mean over the others. O(bots).
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

/// A weight that sums can be made of, whatever came from outside.
pub(super) fn sane(weight: f64) -> f64 {
    /// Far above any scale, and far from where sums of f64 lose whole numbers.
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
    use std::collections::BTreeMap;

    /// Weights by name; `a` to `z` may be humans and bots alike.
    #[derive(Clone, Debug, Default)]
    pub(in crate::lobby) struct Table {
        pub(in crate::lobby) humans: BTreeMap<String, f64>,
        pub(in crate::lobby) bots: BTreeMap<String, f64>,
        pub(in crate::lobby) sides: Vec<f64>,
    }

    impl Table {
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

    impl Weights for Table {
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
        let table = Table::new(&[], &[("a", 10.0), ("b", 20.0), ("c", 60.0)]);
        let next = |playing: &[&str]| next_bot(&table, playing.iter().copied());
        assert_eq!(next(&[]), 30.0);
        assert_eq!(next(&["c"]), 15.0);
        assert_eq!(next(&["a", "c", "unknown"]), 20.0);
        assert_eq!(next(&["a", "b", "c"]), 30.0, "then it is anybody's guess");
        assert_eq!(next_bot(&Table::default(), ["x"].into_iter()), 50.0);
    }

    #[test]
    fn weights_that_are_none_are_mended() {
        let mended = [f64::NAN, -1.0, f64::INFINITY, 3.5].map(sane);
        assert_eq!(mended, [0.0, 0.0, 1e9, 3.5]);
    }
}
