//! How even the rated matches were, by ruleset.
//!
//! [`Balance`] keeps 48 bytes of each rated match. Whatever somebody asks is counted over the matches of one ruleset then;
//! only the sums over a whole ruleset are kept, for lists of all rulesets. Peers can invent rulesets and maps: the name of
//! each is kept once, so that there are at most as many as rated matches, each as long as a record may state it.

mod closeness;
mod counts;
mod match_line;

use serde::{Deserialize, Serialize};

use super::{
    Ruling,
    numbered::{Keyed, Numbered},
};
use crate::{Player, PlayerMap, Shared};
use evenkeel_model::{MatchRecord, Timestamp};

use match_line::MatchLine;

pub use closeness::Closeness;
pub use counts::{BalanceOfRuleset, ChanceStep, GapsByCauses, MapOfBalance, WeekOfBalance};
pub use match_line::begin_of_week;

/// How even the rated matches were. A copy shares with it whatever neither changes.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Balance {
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
    matches: PlayerMap<MatchLine>,
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

impl Balance {
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
            let line = MatchLine::new(record, ruling, played, map);
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
            own.totals(lines.map(MatchLine::closeness).sum())
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
    fn latest(&self) -> impl Iterator<Item = &MatchLine> {
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

#[cfg(test)]
mod tests;
