//! How even the rated matches were, by ruleset.
//!
//! [`BalanceStatistics`] keeps 48 bytes of each rated match. Whatever somebody asks is counted over the matches of one ruleset
//! then; only the sums over a whole ruleset are kept, for lists of all rulesets. Peers can invent rulesets and maps:
//! the name of each is kept once, so that there are at most as many as rated matches, each as long as a record may
//! state it.

use std::{collections::BTreeMap, iter::Sum, ops::AddAssign};

use evenkeel_model::{Causes, DAY, MatchRecord, Outcome, Timestamp};
use serde::{Deserialize, Serialize};

use super::{
    Played, Ruling,
    people::{Keyed, Numbered},
};
use crate::{Player, PlayerMap, Shared};

/// How even the rated matches were. A copy shares with it whatever neither changes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct BalanceStatistics {
    rulesets: Numbered<Shared<OfRuleset>>,
    /// The names of all maps.
    maps: Numbered<Box<str>>,
}

/// The rated matches of a ruleset.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct OfRuleset {
    ruleset: Box<str>,
    /// When its last match ended, rated or not.
    last: Timestamp,
    all: Closeness,
    /// They are numbered from 0 in the order in which they were folded.
    matches: PlayerMap<CompactMatch>,
}

/// A ruleset with rated matches, and how even they all were.
#[derive(Clone, Debug, PartialEq)]
pub struct RulesetTotals {
    /// The key of the ruleset.
    pub ruleset: String,
    /// When its last match ended, rated or not.
    pub last: Timestamp,
    /// How close its rated matches were.
    pub closeness: Closeness,
}

impl Keyed for Box<str> {
    type Key<'a> = &'a str;

    fn key(&self) -> &str {
        self
    }

    fn has(&self, name: &&str) -> bool {
        **self == **name
    }
}

impl Keyed for Shared<OfRuleset> {
    type Key<'a> = &'a str;

    fn key(&self) -> &str {
        &self.ruleset
    }

    fn has(&self, name: &&str) -> bool {
        *self.ruleset == **name
    }
}

impl BalanceStatistics {
    /// Adds a match that was folded, as the fold has ruled on it.
    pub fn push(&mut self, record: &MatchRecord, ruling: &Ruling) {
        let name = ruling.ruleset.to_string();
        let Ok(played) = &ruling.rated else {
            let own = self.rulesets.find(&name);
            if let Some(own) = own.and_then(|own| self.rulesets.get_mut(own)) {
                own.edit().last = record.end;
            }
            return;
        };
        let map = self.maps.find(&record.map);
        let map = map.unwrap_or_else(|| self.maps.push(record.map.as_str().into()));
        let number = self.rulesets.find(&name).unwrap_or_else(|| {
            self.rulesets.push(Shared::new(OfRuleset {
                ruleset: name.into(),
                last: record.end,
                all: Closeness::default(),
                matches: PlayerMap::default(),
            }))
        });
        if let Some(own) = self.rulesets.get_mut(number) {
            let line = CompactMatch::new(record, ruling, played, map);
            let own = own.edit();
            own.matches.set(own.next(), line);
            own.last = record.end;
            own.all += line.closeness();
        }
    }

    /// All rulesets with rated matches, those with most of them first, at most `limit`.
    pub fn rulesets(&self, limit: usize) -> Vec<RulesetTotals> {
        let mut all: Vec<&Shared<OfRuleset>> = self.rulesets.iter().collect();
        all.sort_by(|a, b| (b.all.rated, &a.ruleset).cmp(&(a.all.rated, &b.ruleset)));
        let totals = all.into_iter().take(limit);
        totals.map(|own| own.totals(own.all)).collect()
    }

    /// How close the matches on a map were, by ruleset, those with most matches first, at most `limit`.
    pub fn on_map(&self, map: &str, limit: usize) -> Vec<RulesetTotals> {
        let Some(map) = self.maps.find(map) else {
            return Vec::new();
        };
        let of_ruleset = |own: &Shared<OfRuleset>| {
            let lines = own.matches.values().filter(|line| line.map == map);
            own.totals(lines.map(CompactMatch::closeness).sum())
        };
        let all = self.rulesets.iter().map(of_ruleset);
        let mut all: Vec<RulesetTotals> = all.filter(|own| own.closeness.matches > 0).collect();
        all.sort_by(|a, b| {
            let matches = b.closeness.matches.cmp(&a.closeness.matches);
            matches.then_with(|| a.ruleset.cmp(&b.ruleset))
        });
        all.truncate(limit);
        all
    }

    /// Whether a ruleset has rated matches.
    pub fn has(&self, ruleset: &str) -> bool {
        self.rulesets.find(ruleset).is_some()
    }

    /// The matches of a ruleset; none if it has no rated match.
    pub fn of(&self, ruleset: &str) -> BalanceOfRuleset<'_> {
        let number = self.rulesets.find(ruleset);
        let own = number.and_then(|number| self.rulesets.get(number));
        BalanceOfRuleset {
            own: own.map(|own| &**own),
            maps: &self.maps,
        }
    }
}

impl OfRuleset {
    /// The number of the next match.
    fn next(&self) -> Player {
        Player(u32::try_from(self.all.rated).unwrap_or(u32::MAX))
    }

    /// The matches, the last one first.
    fn latest(&self) -> impl Iterator<Item = &CompactMatch> {
        let numbers = (0..self.next().0).rev().map(Player);
        numbers.filter_map(|number| self.matches.get(number))
    }

    fn totals(&self, closeness: Closeness) -> RulesetTotals {
        RulesetTotals {
            ruleset: self.ruleset.to_string(),
            last: self.last,
            closeness,
        }
    }
}

/// How close some matches were, as sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Closeness {
    /// Number of rated matches.
    pub rated: i64,
    /// Number of rated matches with teams; the other fields count only these.
    pub matches: i64,
    /// Number of matches that were draws.
    pub draws: i64,
    /// Number of matches with scores: not those that a team has won with the same score as all others.
    pub scored: i64,
    /// Sum of the differences between the highest and the lowest score.
    pub gap: f64,
    /// Sum of the lengths of play, in minutes.
    pub minutes: f64,
    /// Number of matches whose length is not known.
    pub untimed: i64,
    /// Number of matches that team 0 won.
    pub first_won: i64,
    /// Number of matches that a team won.
    pub decided: i64,
    /// Number of matches with a prediction and a result.
    pub predicted: i64,
    /// How many of these a team won.
    pub predicted_won: i64,
    /// In how many of these the team with the higher chance won.
    pub favoured: i64,
    /// Sum of the squared differences between chance and result; a draw is half a win.
    pub brier: f64,
}

impl Closeness {
    /// The mean difference between the highest and the lowest score; `None` if no scores were reported. Then only the
    /// draws, if there are any, seem to have scores.
    pub fn mean_gap(&self) -> Option<f64> {
        let has_scores = self.gap > 0.0 || self.scored == self.matches;
        mean(self.gap, self.scored).filter(|_| has_scores)
    }

    /// The share of draws.
    pub fn draw_share(&self) -> Option<f64> {
        mean(self.draws as f64, self.matches)
    }

    /// The share of matches that team 0 won, of those that a team won.
    pub fn first_share(&self) -> Option<f64> {
        mean(self.first_won as f64, self.decided)
    }

    /// The share of predicted matches that the favourite won, of those that a team won.
    pub fn favourite_share(&self) -> Option<f64> {
        mean(self.favoured as f64, self.predicted_won)
    }

    /// The mean squared difference between chance and result.
    pub fn mean_brier(&self) -> Option<f64> {
        mean(self.brier, self.predicted)
    }

    /// The mean length of play, in minutes.
    pub fn mean_minutes(&self) -> Option<f64> {
        mean(self.minutes, self.matches - self.untimed)
    }
}

impl AddAssign for Closeness {
    fn add_assign(&mut self, of: Self) {
        self.rated += of.rated;
        self.matches += of.matches;
        self.draws += of.draws;
        self.scored += of.scored;
        self.gap += of.gap;
        self.minutes += of.minutes;
        self.untimed += of.untimed;
        self.first_won += of.first_won;
        self.decided += of.decided;
        self.predicted += of.predicted;
        self.predicted_won += of.predicted_won;
        self.favoured += of.favoured;
        self.brier += of.brier;
    }
}

impl Sum for Closeness {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        parts.fold(Self::default(), |mut sum, of| {
            sum += of;
            sum
        })
    }
}

/// A mean, or `None` without anything to take it over.
fn mean(sum: f64, count: i64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

/// The rated matches of one ruleset.
#[derive(Clone, Copy, Debug)]
pub struct BalanceOfRuleset<'a> {
    own: Option<&'a OfRuleset>,
    maps: &'a Numbered<Box<str>>,
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
    fn lines(self) -> impl Iterator<Item = &'a CompactMatch> {
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
        for gap in self.lines().filter_map(CompactMatch::gap) {
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
        for (chance, won) in self.lines().filter_map(CompactMatch::favourite) {
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

/// What is kept of a rated match: 48 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct CompactMatch {
    /// The length of play.
    pub minutes: f64,
    /// The difference between the highest and the lowest score; 0 without teams.
    spread: f64,
    /// The forecast that team 0 wins, where there was one.
    chance: Option<f64>,
    pub week: i32,
    /// The number of the map.
    pub map: u32,
    outcome: Outcome,
    pub causes: Option<Causes>,
    /// The number of rated players with a team.
    pub players: u16,
    pub has_teams: bool,
    untimed: bool,
}

const WEEK_MILLIS: i64 = 7 * DAY;
/// From 1969-12-29, the Monday from which weeks are counted, to 1970-01-01.
const BEFORE_1970: i64 = 3 * DAY;

/// The number of the week of an instant. The first and the last week have all that is before and after them.
fn week_of(at: Timestamp) -> i32 {
    let week = at.0.saturating_add(BEFORE_1970).div_euclid(WEEK_MILLIS);
    i32::try_from(week).unwrap_or(if week < 0 { i32::MIN } else { i32::MAX })
}

/// The instant at which a week begins.
fn start_of_week(week: i32) -> Timestamp {
    Timestamp(i64::from(week) * WEEK_MILLIS - BEFORE_1970)
}

/// The instant at which the week of another one begins.
pub fn begin_of_week(at: Timestamp) -> Timestamp {
    start_of_week(week_of(at))
}

/// What is added up is a multiple of a part of one, a power of two. Then sums are exact, in whatever order they are added
/// up: those of scores up to 2³³, those of minutes up to 2²¹ (100,000 matches of 20 minutes), those of chances up to 2¹⁷
/// (500,000 matches).
const SCORES: f64 = (1_u64 << 20) as f64;
const MINUTES: f64 = (1_u64 << 32) as f64;
const CHANCES: f64 = (1_u64 << 36) as f64;

/// A chance as it is added up.
fn exact_chance(chance: f64) -> f64 {
    rounded(chance, CHANCES)
}

/// The closest multiple of one of so many parts of one.
fn rounded(number: f64, parts: f64) -> f64 {
    (number * parts).round() / parts
}

impl CompactMatch {
    pub fn new(record: &MatchRecord, ruling: &Ruling, played: &[Played], map: u32) -> Self {
        let of_teams = played.iter().filter(|own| {
            let player = record.participants.get(own.participant);
            record.has_teams() && player.is_some_and(|player| player.main_team().is_some())
        });
        let millis = record.end.0.saturating_sub(record.start.0);
        Self {
            minutes: rounded(millis as f64 / 60_000.0, MINUTES),
            spread: rounded(record.score_gap().unwrap_or(0.0), SCORES),
            chance: ruling.chance,
            week: week_of(record.end),
            map,
            outcome: record.outcome,
            causes: ruling.causes,
            players: u16::try_from(of_teams.count()).unwrap_or(u16::MAX),
            has_teams: record.has_teams(),
            untimed: record.untimed,
        }
    }

    /// The difference between the highest and the lowest score; `None` without teams, and where a team has won with the
    /// same score as all others: then no scores were reported.
    pub fn gap(&self) -> Option<f64> {
        let is_known = self.spread > 0.0 || !matches!(self.outcome, Outcome::Won(_));
        (self.has_teams && is_known).then_some(self.spread)
    }

    /// The square of this difference.
    pub fn square(&self) -> Option<f64> {
        self.gap().map(|gap| rounded(gap * gap, SCORES))
    }

    /// The result for team 0; `None` without one.
    fn won(&self) -> Option<f64> {
        match self.outcome {
            Outcome::Won(team) => Some(f64::from(u8::from(team == 0))),
            Outcome::Draw => Some(0.5),
            Outcome::Undecided | Outcome::Abandoned => None,
        }
    }

    /// The forecast for the favourite, and their result; `None` without both.
    pub fn favourite(&self) -> Option<(f64, f64)> {
        let (chance, won) = self.chance.zip(self.won())?;
        Some(match chance >= 0.5 {
            true => (chance, won),
            false => (1.0 - chance, 1.0 - won),
        })
    }

    /// How close the match was.
    pub fn closeness(&self) -> Closeness {
        let count = |is: bool| i64::from(is);
        let predicted = self.chance.zip(self.won());
        let decided = predicted.filter(|(_, won)| *won != 0.5);
        let is_right = |(chance, won): (f64, f64)| (chance >= 0.5) == (won > 0.5);
        let brier = |(chance, won): (f64, f64)| exact_chance((chance - won) * (chance - won));
        Closeness {
            rated: 1,
            matches: count(self.has_teams),
            draws: count(self.has_teams && self.outcome == Outcome::Draw),
            scored: count(self.gap().is_some()),
            gap: self.gap().unwrap_or(0.0),
            minutes: if self.has_teams { self.minutes } else { 0.0 },
            untimed: count(self.has_teams && self.untimed),
            first_won: count(self.outcome == Outcome::Won(0)),
            decided: count(matches!(self.outcome, Outcome::Won(_))),
            predicted: count(predicted.is_some()),
            predicted_won: count(decided.is_some()),
            favoured: count(decided.is_some_and(is_right)),
            brier: predicted.map_or(0.0, brier),
        }
    }
}

#[cfg(test)]
mod tests;
