//! What is counted over the matches of a ruleset.

use std::collections::BTreeMap;

use super::{
    super::numbered::Numbered,
    Closeness, OfRuleset,
    match_line::{MatchLine, exact_chance, start_of_week, week_of},
};
use evenkeel_model::{Causes, Timestamp};

/// The rated matches of one ruleset.
#[derive(Clone, Copy, Debug)]
pub struct BalanceOfRuleset<'a> {
    pub(super) own: Option<&'a OfRuleset>,
    pub(super) maps: &'a Numbered<Box<str>>,
}

/// One week of a ruleset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeekOfBalance {
    /// The Monday on which it begins.
    pub begins: Timestamp,
    /// How close its matches were.
    pub closeness: Closeness,
}

/// One map of a ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct MapOfBalance {
    /// The name of the map.
    pub map: String,
    /// How close the matches on it were.
    pub closeness: Closeness,
}

/// Predictions of similar chances, from the side of the favourite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChanceStep {
    /// Number of matches with such a prediction.
    pub matches: i64,
    /// Mean predicted chance of the favourite.
    pub chance: f64,
    /// The share of matches that the favourite won; a draw is half a win.
    pub won: f64,
}

/// The matches with scores that have the same causes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GapsByCauses {
    /// What they have in common.
    pub causes: Causes,
    /// Number of matches.
    pub matches: i64,
    /// Sum of the differences between the highest and the lowest score.
    pub gap: f64,
    /// Sum of the squares of these differences.
    pub squares: f64,
}

/// Where the steps of the chances of favourites begin, but for the first one.
const STEPS: [f64; 9] = [0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95];

/// Smaller differences of scores than this are counted without a search.
const USUAL_GAPS: usize = 1_024;

impl<'a> BalanceOfRuleset<'a> {
    fn lines(self) -> impl Iterator<Item = &'a MatchLine> {
        let own = self.own.into_iter();
        own.flat_map(|own| own.matches.values())
    }

    /// The weeks with matches, the first one first.
    pub fn weeks(self) -> Vec<WeekOfBalance> {
        let mut weeks: BTreeMap<i32, Closeness> = BTreeMap::new();
        // Matches of one week are folded one after the other.
        let mut latest = (0, Closeness::default());
        for line in self.lines() {
            if line.week != latest.0 {
                *weeks.entry(latest.0).or_default() += latest.1;
                latest = (line.week, Closeness::default());
            }
            latest.1 += line.closeness();
        }
        *weeks.entry(latest.0).or_default() += latest.1;
        let with_matches = weeks.into_iter().filter(|(_, of)| of.rated > 0);
        let weeks = with_matches.map(|(week, closeness)| WeekOfBalance {
            begins: start_of_week(week),
            closeness,
        });
        weeks.collect()
    }

    /// The maps, those with most matches first, at most `limit`. Only their matches are added up.
    pub fn maps(self, limit: usize) -> Vec<MapOfBalance> {
        let mut matches = vec![0_u32; self.maps.len()];
        for line in self.lines().filter(|line| line.has_teams) {
            if let Some(matches) = matches.get_mut(line.map as usize) {
                *matches += 1;
            }
        }
        let named = (0_u32..).zip(self.maps.iter().zip(&matches));
        let mut most: Vec<(u32, &str, u32)> = named
            .filter(|(_, (_, matches))| **matches > 0)
            .map(|(map, (name, matches))| (*matches, &**name, map))
            .collect();
        most.sort_unstable_by(|(a, name, _), (b, other, _)| (b, name).cmp(&(a, other)));
        most.truncate(limit);
        let mut places = vec![None; self.maps.len()];
        for (place, (_, _, map)) in most.iter().enumerate() {
            places[*map as usize] = Some(place);
        }
        let mut sums = vec![Closeness::default(); most.len()];
        for line in self.lines() {
            let place = places.get(line.map as usize).copied().flatten();
            if let Some(sum) = place.and_then(|place| sums.get_mut(place)) {
                *sum += line.closeness();
            }
        }
        let maps = most.into_iter().zip(sums);
        maps.map(|((_, map, _), closeness)| MapOfBalance {
            map: map.to_owned(),
            closeness,
        })
        .collect()
    }

    /// The differences of scores, rounded, and the number of matches with each, ascending.
    pub fn gaps(self) -> Vec<(i64, i64)> {
        let mut usual = vec![0; USUAL_GAPS];
        let mut large: BTreeMap<i64, i64> = BTreeMap::new();
        for gap in self.lines().filter_map(MatchLine::gap) {
            let gap = gap.round() as i64;
            let place = usize::try_from(gap).ok();
            match place.and_then(|place| usual.get_mut(place)) {
                Some(matches) => *matches += 1,
                None => *large.entry(gap).or_default() += 1,
            }
        }
        let all = (0..).zip(usual).chain(large);
        all.filter(|(_, matches)| *matches > 0).collect()
    }

    /// The predictions in steps of 5 %, ascending.
    pub fn chances(self) -> Vec<ChanceStep> {
        let mut steps = [(0, 0.0, 0.0); STEPS.len() + 1];
        for (chance, won) in self.lines().filter_map(MatchLine::favourite) {
            let step = STEPS.iter().filter(|begin| chance >= **begin).count();
            let (matches, chances, wins) = &mut steps[step];
            *matches += 1;
            *chances += exact_chance(chance);
            *wins += won;
        }
        let with_matches = steps.into_iter().filter(|(matches, ..)| *matches > 0);
        let means = with_matches.map(|(matches, chance, won)| ChanceStep {
            matches,
            chance: chance / matches as f64,
            won: won / matches as f64,
        });
        means.collect()
    }

    /// The numbers of rated players on teams in the latest `limit` matches.
    pub fn sizes(self, limit: usize) -> Vec<i64> {
        let own = self.own.into_iter();
        let latest = own.flat_map(|own| own.latest().take(limit));
        let sizes = latest.map(|line| i64::from(line.players));
        sizes.filter(|players| *players > 0).collect()
    }

    /// How far apart the scores were, by what the matches have in common, from the week of `since` on.
    pub fn gaps_by_causes(self, since: Timestamp) -> Vec<GapsByCauses> {
        let first = week_of(since);
        let mut groups = vec![(0, 0.0, 0.0); 1 << u8::BITS];
        for line in self.lines().filter(|line| line.week >= first) {
            if let (Some(causes), Some(gap), Some(square)) =
                (line.causes, line.gap(), line.square())
            {
                let (matches, gaps, squares) = &mut groups[usize::from(causes.bits())];
                *matches += 1;
                *gaps += gap;
                *squares += square;
            }
        }
        let groups = (0..=u8::MAX).zip(groups);
        let groups = groups.map(|(bits, (matches, gap, squares))| GapsByCauses {
            causes: Causes::from_bits(bits),
            matches,
            gap,
            squares,
        });
        groups.filter(|group| group.matches > 0).collect()
    }
}
