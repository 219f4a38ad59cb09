//! Rules that measure: a number of each team, or of the match, compared with a limit.
//!
//! - `gap`: the teams' sums (or means, or maxima) of a number differ by at most `at_most`.
//! - `spread`: the largest minus the smallest number is at most `at_most`, over the match or within each
//!   team. With `parties = "exempt"` the players of parties do not count.
//! - `chance`: every team's chance to win is within `at_most` of even. The chances are those that the rating system of the
//!   queue's ruleset predicts from the players' strengths. Before its first rated match, and with another attribute than
//!   `@weight`, the chance of a team is its share of all numbers, as the ratio of weights implies.

use std::borrow::Cow;

use evenkeel_model::{WinModel, units::Amount, win_model::TeamLoad};
use serde::Deserialize;

use super::{
    BuiltRule, Evaluated, Finding, LintContext, PreparedRule, QueueRule, Registered, Rule,
    RuleScope, RuleTally, Teams, at,
    counts::{NumberSums, Seated, Statistic, parts},
    list, short,
};
use crate::{
    columns::{Bits, NumberColumn, TicketPeople},
    settings::Relax,
};

pub(super) const GAP: Registered = Registered {
    name: "gap",
    build: |settings, columns| {
        let keys: GapKeys = settings.read()?;
        let rule = MeasureRule {
            of: columns.number(&keys.of).map_err(at("of"))?,
            name: keys.of,
            statistic: keys.by,
            within: Within::Team,
            exempt: false,
        };
        Ok(BuiltRule::limited(rule, keys.at_most, keys.relax))
    },
};

pub(super) const SPREAD: Registered = Registered {
    name: "spread",
    build: |settings, columns| {
        let keys: SpreadKeys = settings.read()?;
        let rule = MeasureRule {
            of: columns.number(&keys.of).map_err(at("of"))?,
            name: keys.of,
            statistic: Statistic::Span,
            within: keys.within,
            exempt: keys.parties == PartyCount::Exempt,
        };
        Ok(BuiltRule::limited(rule, keys.at_most, keys.relax))
    },
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GapKeys {
    of: String,
    at_most: Amount,
    #[serde(default)]
    by: Statistic,
    #[serde(default)]
    relax: Relax,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpreadKeys {
    of: String,
    at_most: Amount,
    #[serde(default)]
    parties: PartyCount,
    #[serde(default)]
    within: Within,
    #[serde(default)]
    relax: Relax,
}

/// Whether the players of parties count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PartyCount {
    /// Members of parties count like single players.
    #[default]
    Counted,
    /// They do not.
    Exempt,
}

/// Whether the match has a number, or each team one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Within {
    /// All players of the match.
    #[default]
    Match,
    /// The players of each team.
    Team,
}

/// A rule that measures.
#[derive(Debug)]
struct MeasureRule {
    of: NumberColumn,
    name: String,
    statistic: Statistic,
    /// Whether each team has a number, or the match one.
    within: Within,
    /// Whether the players of parties do not count.
    exempt: bool,
}

impl MeasureRule {
    /// What the tickets that count add up to.
    fn numbers<'a>(
        &self,
        people: &TicketPeople,
        tickets: impl Iterator<Item = &'a u32>,
    ) -> NumberSums {
        let counted = tickets.filter(|ticket| !(self.exempt && people.size(**ticket) > 1));
        let players = counted.flat_map(|&ticket| people.members(ticket));
        let own = players.map(|player| {
            let number = people.number(self.of, player);
            NumberSums {
                players: 1,
                sum: parts(number),
                least: number,
                most: number,
            }
        });
        own.fold(NumberSums::NONE, NumberSums::and)
    }

    /// The numbers of the match, or of each team.
    fn rows(&self, people: &TicketPeople, teams: Teams<'_>) -> Vec<NumberSums> {
        match self.within {
            Within::Match => vec![self.numbers(people, teams.iter().flatten())],
            Within::Team => {
                let rows = teams.iter().map(|team| self.numbers(people, team.iter()));
                rows.collect()
            }
        }
    }
}

impl Rule for MeasureRule {
    fn sentence(&self, people: &TicketPeople, teams: Teams<'_>, evaluated: Evaluated) -> String {
        let limit = evaluated.limit;
        let of = &self.name;
        let rows = self.rows(people, teams);
        let by = match self.statistic {
            Statistic::Sum => "sums",
            Statistic::Mean => "means",
            Statistic::Highest => "maxima",
            Statistic::Span => {
                let counted = rows.into_iter().filter(|row| row.players > 0);
                let span = |row: &NumberSums| row.most - row.least;
                let widest = counted.max_by(|one, other| span(one).total_cmp(&span(other)));
                return match widest {
                    Some(NumberSums { least, most, .. }) => {
                        let (least, most) = (short(least), short(most));
                        format!("{of} ranges from {least} to {most}; {limit} apart is allowed")
                    }
                    None => format!("nobody's {of} counts"),
                };
            }
        };
        let numbers = rows
            .into_iter()
            .map(|row| format!("{:.1}", self.statistic.of(row)));
        let numbers: Vec<String> = numbers.collect();
        format!(
            "{by} of {of} by team: {}; {limit} apart is allowed",
            numbers.join(" | ")
        )
    }

    fn wanted(&self, people: &TicketPeople, teams: Teams<'_>, limit: f64) -> Option<String> {
        if self.within == Within::Team {
            return None;
        }
        let all = self.numbers(people, teams.iter().flatten());
        let NumberSums { least, most, .. } = Some(all).filter(|all| all.players > 0)?;
        let (low, high) = (most - limit, least + limit);
        let is_whole = least.fract() == 0.0 && most.fract() == 0.0 && limit.fract() == 0.0;
        let range = match is_whole && high - low <= 3.0 {
            true => {
                let numbers = std::iter::successors(Some(low), |number| Some(number + 1.0));
                let numbers = numbers.take_while(|number| *number <= high);
                list(&numbers.map(|n| n.to_string()).collect::<Vec<_>>(), "or")
            }
            false => format!("from {} to {}", short(low), short(high)),
        };
        let whose = if self.exempt { " (single players)" } else { "" };
        Some(format!("with {} {range}{whose}", self.name))
    }

    fn lint(&self, own: &QueueRule, queue: &LintContext<'_>) -> Vec<Finding> {
        let Some((least, most)) = queue.extent(&self.name) else {
            return Vec::new();
        };
        let size = f64::from(queue.settings.size.get());
        let (what, apart) = match self.statistic {
            Statistic::Span => ("values", most - least),
            Statistic::Sum => ("teams", (most - least) * size),
            Statistic::Mean | Statistic::Highest => ("teams", most - least),
        };
        let limit = own.at_most;
        let why =
            || format!("never binds: {what} are at most {apart} apart, and {limit} is allowed");
        let warning = (limit >= apart).then(|| Finding::warning(&own.name, why()));
        warning.into_iter().collect()
    }

    fn prepare(&self, people: &TicketPeople) -> Box<dyn PreparedRule> {
        let tickets = 0..people.tickets() as u32;
        let own = tickets.map(|ticket| self.numbers(people, [ticket].iter()));
        let own: Vec<NumberSums> = own.collect();
        let bands = || Bands::new(people, self.of, &own);
        Box::new(PreparedMeasure {
            bands: (self.statistic == Statistic::Span).then(bands),
            own,
            statistic: self.statistic,
            within: self.within,
        })
    }
}

/// What each ticket adds to its team.
struct PreparedMeasure {
    own: Vec<NumberSums>,
    statistic: Statistic,
    within: Within,
    /// The tickets whose numbers are near each other, for a span.
    bands: Option<Bands>,
}

impl PreparedMeasure {
    fn joined<'a>(&self, tickets: impl Iterator<Item = &'a u32>) -> f64 {
        let own = tickets.map(|ticket| self.own[*ticket as usize]);
        self.statistic
            .of(own.fold(NumberSums::NONE, NumberSums::and))
    }
}

impl PreparedRule for PreparedMeasure {
    fn tally(&self, teams: usize, limit: f64) -> Box<dyn RuleTally + '_> {
        let comparison = self.statistic.comparison(limit);
        Box::new(Seated::new(teams, move |teams: &[Vec<u32>]| {
            match self.within {
                Within::Match => {
                    comparison.beyond([self.joined(teams.iter().flatten())].into_iter())
                }
                Within::Team => {
                    comparison.beyond(teams.iter().map(|team| self.joined(team.iter())))
                }
            }
        }))
    }

    fn choices(&self, seed: u32, limit: f64) -> Option<Vec<RuleScope<'_>>> {
        let bands = self.bands.as_ref()?;
        (self.within == Within::Match).then(|| bands.around(seed, self.own[seed as usize], limit))
    }

    fn selectivity(&self, ticket: u32, limit: f64) -> f64 {
        let bands = self.bands.as_ref();
        bands.map_or(1.0, |bands| bands.share(ticket, limit))
    }

    fn is_monotone(&self) -> bool {
        self.statistic == Statistic::Span
    }
}

/// The tickets of a pool by their numbers.
pub(super) struct Bands {
    /// The tickets that do not count.
    exempt: Bits,
    /// Smallest and largest number with the ticket, ascending by the smallest.
    sorted: Vec<(f64, f64, u32)>,
    /// The different smallest numbers, ascending.
    levels: Vec<f64>,
    /// The smallest number of each ticket, whether it counts or not.
    lowest: Vec<f64>,
}

/// The most bands that are tried for one ticket.
const BANDS: usize = 4;

impl Bands {
    /// `own` is what the players of each ticket add up to who count.
    pub(super) fn new(people: &TicketPeople, column: NumberColumn, own: &[NumberSums]) -> Self {
        let mut exempt = Bits::empty(people.tickets());
        let mut sorted = Vec::new();
        let mut lowest = Vec::new();
        for (ticket, own) in (0..).zip(own) {
            match own.players {
                0 => exempt.insert(ticket),
                _ => sorted.push((own.least, own.most, ticket)),
            }
            let players = people.members(ticket);
            let numbers = players.map(|player| people.number(column, player));
            lowest.push(numbers.fold(f64::INFINITY, f64::min));
        }
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.2.cmp(&other.2)));
        let mut levels: Vec<f64> = sorted.iter().map(|(least, ..)| *least).collect();
        levels.dedup();
        Self {
            exempt,
            sorted,
            levels,
            lowest,
        }
    }

    /// Bands of this width in which the ticket fits, which adds `own`.
    pub(super) fn around(
        &self,
        ticket: u32,
        own: NumberSums,
        width: f64,
    ) -> Vec<RuleScope<'static>> {
        let starts = match own.players {
            0 => {
                let lowest = self.lowest[ticket as usize];
                let mut starts = self.starts(lowest, lowest, width);
                starts.extend([lowest + 1.0, lowest - width - 1.0]);
                starts
            }
            _ if own.most - own.least > width => Vec::new(),
            _ => self.starts(own.least, own.most, width),
        };
        let bands = starts.into_iter().map(|low| self.band(low, low + width));
        bands.collect()
    }

    /// The tickets all of whose numbers are from `low` to `high`, and those that do not count.
    fn band(&self, low: f64, high: f64) -> RuleScope<'static> {
        let mut tickets = self.exempt.clone();
        let from = self.sorted.partition_point(|(least, ..)| *least < low);
        let later = self.sorted.iter().skip(from);
        for &(_, most, ticket) in later.take_while(|(least, ..)| *least <= high) {
            if most <= high {
                tickets.insert(ticket);
            }
        }
        RuleScope {
            tickets: Cow::Owned(tickets),
            word: None,
        }
    }

    /// The lower ends of bands of this width in which a ticket with the numbers from `least` to
    /// `most` fits: those at which another ticket begins, at most [`BANDS`].
    fn starts(&self, least: f64, most: f64, width: f64) -> Vec<f64> {
        let from = self.levels.partition_point(|level| *level < most - width);
        let to = self.levels.partition_point(|level| *level <= least);
        // By rounding, `from` can be behind `to`.
        let starts = self.levels.get(from..to).unwrap_or(&[]);
        let step = starts.len().div_ceil(BANDS).max(1);
        starts.iter().rev().step_by(step).copied().collect()
    }

    /// The share of the tickets that begin within this width of the ticket, on the side where more do.
    pub(super) fn share(&self, ticket: u32, width: f64) -> f64 {
        let lowest = self.lowest[ticket as usize];
        let below = self.crowd(lowest - width, lowest);
        let above = self.crowd(lowest, lowest + width);
        below.max(above) as f64 / self.lowest.len().max(1) as f64
    }

    /// Number of tickets that begin in the band.
    fn crowd(&self, low: f64, high: f64) -> usize {
        let from = self.sorted.partition_point(|(least, ..)| *least < low);
        let to = self.sorted.partition_point(|(least, ..)| *least <= high);
        to.saturating_sub(from)
    }
}

pub(super) const CHANCE: Registered = Registered {
    name: "chance",
    build: |settings, columns| {
        let keys: ChanceKeys = settings.read()?;
        let of = keys.of.as_deref().unwrap_or("@weight");
        let rule = Chance {
            of: columns.number(of).map_err(at("of"))?,
            predicted: of == "@weight",
        };
        Ok(BuiltRule::limited(rule, keys.at_most, keys.relax))
    },
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChanceKeys {
    of: Option<String>,
    at_most: Amount,
    #[serde(default)]
    relax: Relax,
}

#[derive(Debug)]
struct Chance {
    of: NumberColumn,
    /// Whether the rating system's prediction counts, where there is one.
    predicted: bool,
}

/// Strengths are counted in this part of 1, in whole numbers, so that sums are exact in any order.
const GRAINS: f64 = 16_777_216.0;

/// What a team or a ticket adds up to.
#[derive(Clone, Copy, Debug, Default)]
struct ChanceSum {
    heads: usize,
    /// The strengths in grains, or the numbers in parts.
    total: i64,
}

impl std::iter::Sum for ChanceSum {
    fn sum<I: Iterator<Item = Self>>(sums: I) -> Self {
        sums.fold(Self::default(), |one, other| Self {
            heads: one.heads + other.heads,
            total: one.total + other.total,
        })
    }
}

/// The chance of each team.
fn chances(sums: &[ChanceSum], win_model: Option<&WinModel>) -> Vec<f64> {
    match win_model {
        None => shares(sums),
        Some(win_model) => {
            let load = |sum: &ChanceSum| TeamLoad {
                heads: sum.heads,
                strength: sum.total as f64 / GRAINS,
            };
            predicted(&sums.iter().map(load).collect::<Vec<_>>(), win_model)
        }
    }
}

/// The share of each team. Teams without any weight are even.
fn shares(sums: &[ChanceSum]) -> Vec<f64> {
    let positive = |sum: &ChanceSum| sum.total.max(0) as f64;
    let total: f64 = sums.iter().map(positive).sum();
    let share = |sum: &ChanceSum| match total > 0.0 {
        true => positive(sum) / total,
        false => 1.0 / sums.len() as f64,
    };
    sums.iter().map(share).collect()
}

/// The predicted chance of each team, on sides that are alike. Of more than two teams, each has odds
/// against a team of average strength, and the chances are in proportion to these odds.
fn predicted(loads: &[TeamLoad], win_model: &WinModel) -> Vec<f64> {
    if let &[one, other] = loads {
        let edge = win_model.edge(one, other);
        return vec![win_model.link.chance(edge), win_model.link.chance(-edge)];
    }
    let count = loads.len().max(1);
    let mean = TeamLoad {
        heads: loads.iter().map(|load| load.heads).sum::<usize>() / count,
        strength: loads.iter().map(|load| load.strength).sum::<f64>() / count as f64,
    };
    let odds = |load: &TeamLoad| {
        let edge = win_model.edge(*load, mean) / win_model.link.per_log_odds();
        libm::exp(edge.clamp(-500.0, 500.0))
    };
    let odds: Vec<f64> = loads.iter().map(odds).collect();
    let total: f64 = odds.iter().sum();
    odds.iter().map(|odds| odds / total).collect()
}

fn beyond(sums: &[ChanceSum], win_model: Option<&WinModel>, limit: f64) -> f64 {
    let even = 1.0 / sums.len().max(1) as f64;
    let off = chances(sums, win_model)
        .into_iter()
        .map(|chance| (chance - even).abs());
    (off.fold(0.0, f64::max) - limit).max(0.0)
}

impl Chance {
    fn win_model<'a>(&self, people: &'a TicketPeople) -> Option<&'a WinModel> {
        people.win_model().filter(|_| self.predicted)
    }

    fn sum(&self, people: &TicketPeople, tickets: &[u32]) -> ChanceSum {
        let own = |player: usize| ChanceSum {
            heads: 1,
            total: match self.win_model(people) {
                Some(_) => (people.strength(player).clamp(-1e6, 1e6) * GRAINS).round() as i64,
                None => parts(people.number(self.of, player)),
            },
        };
        people.all(tickets).map(own).sum()
    }

    fn sums(&self, people: &TicketPeople, teams: Teams<'_>) -> Vec<ChanceSum> {
        teams.iter().map(|team| self.sum(people, team)).collect()
    }
}

impl Rule for Chance {
    fn sentence(&self, people: &TicketPeople, teams: Teams<'_>, evaluated: Evaluated) -> String {
        let limit = evaluated.limit;
        let chances = chances(&self.sums(people, teams), self.win_model(people));
        let chances: Vec<String> = chances
            .iter()
            .map(|chance| format!("{chance:.3}"))
            .collect();
        format!(
            "chances by team: {}; {limit} from even is allowed",
            chances.join(" | ")
        )
    }

    fn lint(&self, own: &QueueRule, queue: &LintContext<'_>) -> Vec<Finding> {
        let (limit, teams) = (own.at_most, f64::from(queue.settings.teams.get()));
        let why = || format!("never binds: no chance is {limit} from even");
        let warning = (limit >= 1.0 - 1.0 / teams).then(|| Finding::warning(&own.name, why()));
        warning.into_iter().collect()
    }

    fn prepare(&self, people: &TicketPeople) -> Box<dyn PreparedRule> {
        let tickets = 0..people.tickets() as u32;
        Box::new(ChanceSums {
            own: tickets.map(|ticket| self.sum(people, &[ticket])).collect(),
            win_model: self.win_model(people).copied(),
        })
    }
}

/// What each ticket adds to its team.
struct ChanceSums {
    own: Vec<ChanceSum>,
    win_model: Option<WinModel>,
}

impl PreparedRule for ChanceSums {
    fn tally(&self, teams: usize, limit: f64) -> Box<dyn RuleTally + '_> {
        Box::new(Seated::new(teams, move |teams: &[Vec<u32>]| {
            let own = |ticket: &u32| self.own[*ticket as usize];
            let sum = |team: &Vec<u32>| team.iter().map(own).sum();
            let sums: Vec<ChanceSum> = teams.iter().map(sum).collect();
            beyond(&sums, self.win_model.as_ref(), limit)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_model::win_model::{Crowding, Link};

    fn win_model(link: Link) -> WinModel {
        WinModel {
            link,
            per_strength: 0.8,
            players: 4.0,
            crowding: Crowding::Root,
            per_head: 0.0,
            per_log_size: 0.0,
            side: 0.3,
            unit: 1.0,
            deviation: 0.0,
            company: Default::default(),
        }
    }

    fn of(strengths: &[f64]) -> Vec<ChanceSum> {
        let sum = |strength: &f64| ChanceSum {
            heads: 2,
            total: (strength * GRAINS).round() as i64,
        };
        strengths.iter().map(sum).collect()
    }

    #[test]
    fn two_teams_have_the_chances_that_the_rating_system_predicts() {
        for link in [Link::Normal, Link::Logistic] {
            let win_model = win_model(link);
            let both = chances(&of(&[0.5, -0.25]), Some(&win_model));
            assert!((both[0] - link.chance(0.8 * 0.75)).abs() < 1e-7, "{both:?}");
            assert!((both[0] + both[1] - 1.0).abs() < 1e-12);
            assert_eq!(chances(&of(&[0.5, 0.5]), Some(&win_model)), [0.5, 0.5]);
        }
    }

    #[test]
    fn the_chances_of_more_teams_add_up_to_one_and_follow_the_strengths() {
        let win_model = win_model(Link::Logistic);
        let three = chances(&of(&[1.0, 0.0, -1.0]), Some(&win_model));
        assert!((three.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(three[0] > three[1] && three[1] > three[2], "{three:?}");
        // The odds of the first against the second are those of a game between the two.
        let duel = (win_model.per_strength_at(4)).exp();
        assert!((three[0] / three[1] - duel).abs() < 1e-6);
    }

    #[test]
    fn without_a_win_model_the_shares_count() {
        let weights = [60.0, 40.0].map(|weight| ChanceSum {
            heads: 1,
            total: parts(weight),
        });
        assert_eq!(chances(&weights, None), [0.6, 0.4]);
        assert_eq!(chances(&[ChanceSum::default(); 2], None), [0.5, 0.5]);
    }
}
