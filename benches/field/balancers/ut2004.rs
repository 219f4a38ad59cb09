//! The page "Balancing tools for Unreal Tournament" (UT2004; its files are of 2010), with its complete C program: the most even ratio.
//!
//! All divisions with at most 18 of 32 players on a team are tried; of more than 16 players, the best stand fixed. The
//! evenness of a division is the smaller sum of weights divided by the larger one, where a missing player counts as a bot
//! of mean weight. One of the best 20 is drawn, with a probability that is proportional to its evenness.
//!
//! The page's program has no answer for five or seven players, because the limit rounds down: here a team may always have
//! half of them, rounded up.

use rand::{RngExt, rngs::ChaCha8Rng};

use super::Assembly;

/// How many of the best divisions are kept.
const KEPT: usize = 20;
/// The most players of whom all divisions are tried.
const ALL: usize = 16;
/// The players of a game with bots, if there are fewer people.
const TARGET: usize = 8;
/// The teams of those who stand fixed if there are more players than [`ALL`].
const PATTERN: u32 = 0x9999_9999;

/// The best divisions, each with its evenness. In a division, a bit is the team of the player of that place.
fn best(weights: &[f64], bot: f64) -> Vec<(f64, u32)> {
    let players = weights.len();
    let (fixed, free) = match players > ALL {
        true => ((PATTERN >> (32 - players)) & !((1 << ALL) - 1), ALL),
        false => (0, players - 1),
    };
    let most = (18 * players / 32).min(16).max(players.div_ceil(2));
    let mut kept: Vec<(f64, u32)> = Vec::with_capacity(KEPT + 1);
    for division in (0..1_u32 << free).map(|number| number | fixed) {
        let second = division.count_ones() as usize;
        let counts = [players - second, second];
        if counts.iter().any(|count| *count > most) {
            continue;
        }
        let seats = TARGET.max(2 * counts[0].max(counts[1])) / 2;
        let mut sums = counts.map(|count| bot * (seats - count) as f64);
        for (place, weight) in weights.iter().enumerate() {
            sums[(division >> place & 1) as usize] += weight;
        }
        let largest = sums[0].max(sums[1]);
        let ratio = if largest > 0.0 {
            sums[0].min(sums[1]) / largest
        } else {
            1.0
        };
        // As in the program, a later one of equal evenness comes first.
        let at = kept.partition_point(|(other, _)| *other > ratio);
        if at < KEPT {
            kept.insert(at, (ratio, division));
            kept.truncate(KEPT);
        }
    }
    kept
}

/// Teams of people without bots: who is missing on a team is worth nothing.
pub fn teams(assembly: &Assembly, random: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let mut order: Vec<usize> = (0..assembly.len()).collect();
    if order.len() > ALL {
        order.sort_by(|a, b| assembly.ratings[*a].total_cmp(&assembly.ratings[*b]));
    }
    let weights: Vec<f64> = order.iter().map(|who| assembly.ratings[*who]).collect();
    let kept = best(&weights, 0.0);
    let mut left = random.random::<f64>() * kept.iter().map(|(ratio, _)| ratio).sum::<f64>();
    let drawn = kept.iter().find(|(ratio, _)| {
        left -= ratio;
        left < 0.0
    });
    let (_, division) = drawn.or(kept.last())?;
    let mut teams = vec![0; order.len()];
    for (place, who) in order.into_iter().enumerate() {
        teams[who] = (division >> place & 1) as u8;
    }
    Some(teams)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 17 players of the page's example, by weight.
    const EXAMPLE: [f64; 17] = [
        1.0, 2.0, 3.0, 5.0, 7.0, 23.0, 23.0, 27.0, 28.0, 41.0, 49.0, 56.0, 83.0, 92.0, 93.0, 95.0,
        99.0,
    ];

    /// What the page's own program prints for the page's own input, with the lines that it leaves out by `#if 0`:
    /// `sed 's/#if 0/#if 1/' page.c > p.c && cc p.c -lm && ./a.out < page.txt`. It gives a bot the weight 20.
    #[test]
    fn the_pages_program_keeps_the_same_divisions() {
        let printed = [
            0x1c80f, 0x1c48f, 0x1c45b, 0x1c43b, 0x1c41e, 0x1c31e, 0x1c1cd, 0x1c1cb, 0x1c1ad,
            0x1c1ab, 0x1c196, 0x1c195, 0x1c179, 0x1c176, 0x1c15c, 0x1c13c, 0x1c0fa, 0x1c0f9,
            0x1a80f, 0x1a50f,
        ];
        let kept = best(&EXAMPLE, 20.0);
        let divisions: Vec<u32> = kept.iter().map(|(_, division)| *division).collect();
        assert_eq!(divisions, printed);
        assert!(
            kept.iter()
                .all(|(ratio, _)| (ratio - 0.997_326).abs() < 1e-6)
        );
    }

    /// The same program with `-bot 0` and the first 16 lines of the input, in their order.
    #[test]
    fn without_bots_it_keeps_the_same_divisions() {
        let unsorted = [
            5.0, 3.0, 2.0, 7.0, 23.0, 92.0, 93.0, 95.0, 27.0, 56.0, 28.0, 99.0, 1.0, 23.0, 83.0,
            41.0,
        ];
        let printed = [
            0x7c8a, 0x7c87, 0x7c4e, 0x7c49, 0x792d, 0x789b, 0x7792, 0x7751, 0x6f10, 0x6c2d, 0x698e,
            0x6989, 0x694d, 0x692b, 0x6738, 0x6735, 0x64cf, 0x5d43, 0x5d2c, 0x5c9a,
        ];
        let kept = best(&unsorted, 0.0);
        let divisions: Vec<u32> = kept.iter().map(|(_, division)| *division).collect();
        assert_eq!(divisions, printed);
    }

    #[test]
    fn five_players_have_teams() {
        assert!(
            best(&[1.0; 5], 0.0)
                .iter()
                .all(|(_, d)| [2, 3].contains(&d.count_ones()))
        );
    }
}
