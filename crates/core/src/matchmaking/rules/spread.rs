//! `spread`: the largest minus the smallest number is at most `at_most`, over the match or within
//! each team. With `parties = "exempt"` the players of parties do not count.

use std::borrow::Cow;

use super::{
    Bound, Choice, Parties, QueueColumns, Registered, Rule, RuleSettings, RuleTally, Teams, Within,
    list, seated::Seated, short,
};
use crate::matchmaking::{bits::Bits, people::People};

pub(super) const TYPE: Registered = Registered {
    name: "spread",
    keys: &["of", "at_most", "parties", "within", "relax"],
    build,
};

#[derive(Debug)]
struct SpreadRule {
    of: usize,
    name: String,
    exempt: bool,
    within: Within,
}

fn build(
    settings: &RuleSettings,
    columns: &mut QueueColumns,
) -> Result<Box<dyn Rule>, (&'static str, String)> {
    settings.limit()?;
    Ok(Box::new(SpreadRule {
        of: columns.number(settings.of()?).map_err(|why| ("of", why))?,
        name: settings.of()?.to_owned(),
        exempt: settings.parties.unwrap_or_default() == Parties::Exempt,
        within: settings.within.unwrap_or_default(),
    }))
}

impl SpreadRule {
    fn counts(&self, people: &People, ticket: u32) -> bool {
        !(self.exempt && people.size(ticket) > 1)
    }

    /// The smallest and the largest number of the tickets that count.
    fn ends<'a>(
        &self,
        people: &People,
        tickets: impl Iterator<Item = &'a u32>,
    ) -> Option<(f64, f64)> {
        let counted = tickets.filter(|ticket| self.counts(people, **ticket));
        let numbers = counted.flat_map(|&ticket| people.members(ticket));
        let numbers = numbers.map(|player| people.number(self.of, player));
        numbers.fold(None, |ends, number| match ends {
            None => Some((number, number)),
            Some((least, most)) => Some((number.min(least), number.max(most))),
        })
    }
}

fn beyond(ends: Option<(f64, f64)>, limit: f64) -> f64 {
    ends.map_or(0.0, |(least, most)| (most - least - limit).max(0.0))
}

impl Rule for SpreadRule {
    fn violation(&self, people: &People, teams: Teams<'_>, limit: f64) -> f64 {
        match self.within {
            Within::Match => beyond(self.ends(people, teams.iter().flatten()), limit),
            Within::Team => {
                let each = teams
                    .iter()
                    .map(|team| beyond(self.ends(people, team.iter()), limit));
                each.sum()
            }
        }
    }

    fn sentence(&self, people: &People, teams: Teams<'_>, limit: f64) -> String {
        let of = &self.name;
        let ends = match self.within {
            Within::Match => self.ends(people, teams.iter().flatten()),
            Within::Team => {
                let ends = teams
                    .iter()
                    .filter_map(|team| self.ends(people, team.iter()));
                ends.max_by(|one, other| (one.1 - one.0).total_cmp(&(other.1 - other.0)))
            }
        };
        match ends {
            Some((least, most)) => {
                let (least, most) = (short(least), short(most));
                format!("{of} ranges from {least} to {most}; {limit} apart is allowed")
            }
            None => format!("nobody's {of} counts"),
        }
    }

    fn wanted(&self, people: &People, teams: Teams<'_>, limit: f64) -> Option<String> {
        if self.within == Within::Team {
            return None;
        }
        let (least, most) = self.ends(people, teams.iter().flatten())?;
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

    fn bind(&self, people: &People) -> Box<dyn Bound> {
        let tickets = 0..people.tickets() as u32;
        let ends = tickets.map(|ticket| self.ends(people, [ticket].iter()));
        let ends: Vec<_> = ends.collect();
        let mut exempt = Bits::empty(people.tickets());
        let mut sorted = Vec::new();
        let mut lowest = Vec::new();
        for (ticket, ends) in (0..).zip(&ends) {
            match ends {
                Some((least, most)) => sorted.push((*least, *most, ticket)),
                None => exempt.insert(ticket),
            }
            let own = people
                .members(ticket)
                .map(|player| people.number(self.of, player));
            lowest.push(own.fold(f64::INFINITY, f64::min));
        }
        sorted.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.2.cmp(&other.2)));
        let mut levels: Vec<f64> = sorted.iter().map(|(least, ..)| *least).collect();
        levels.dedup();
        Box::new(SpreadEnds {
            levels,
            ends,
            exempt,
            sorted,
            lowest,
            within: self.within,
        })
    }
}

/// The smallest and largest number of each ticket that counts.
struct SpreadEnds {
    ends: Vec<Option<(f64, f64)>>,
    exempt: Bits,
    /// Smallest and largest number with the ticket, ascending by the smallest.
    sorted: Vec<(f64, f64, u32)>,
    /// The different smallest numbers, ascending.
    levels: Vec<f64>,
    /// The smallest number of each ticket, whether it counts or not.
    lowest: Vec<f64>,
    within: Within,
}

impl SpreadEnds {
    fn join<'a>(&self, tickets: impl Iterator<Item = &'a u32>) -> Option<(f64, f64)> {
        let ends = tickets.filter_map(|ticket| self.ends[*ticket as usize]);
        ends.reduce(|one, other| (one.0.min(other.0), one.1.max(other.1)))
    }

    /// The tickets all of whose numbers are from `low` to `high`, and those that do not count.
    fn band(&self, low: f64, high: f64) -> Choice<'static> {
        let mut tickets = self.exempt.clone();
        let from = self.sorted.partition_point(|(least, ..)| *least < low);
        let later = self.sorted.iter().skip(from);
        for &(_, most, ticket) in later.take_while(|(least, ..)| *least <= high) {
            if most <= high {
                tickets.insert(ticket);
            }
        }
        Choice {
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

    /// Number of tickets that begin in the band.
    fn crowd(&self, low: f64, high: f64) -> usize {
        let from = self.sorted.partition_point(|(least, ..)| *least < low);
        let to = self.sorted.partition_point(|(least, ..)| *least <= high);
        to.saturating_sub(from)
    }
}

/// The most bands that are tried for one ticket.
const BANDS: usize = 4;

impl Bound for SpreadEnds {
    fn tally(&self, teams: usize, limit: f64) -> Box<dyn RuleTally + '_> {
        let violation = move |teams: &[Vec<u32>]| match self.within {
            Within::Match => beyond(self.join(teams.iter().flatten()), limit),
            Within::Team => teams
                .iter()
                .map(|team| beyond(self.join(team.iter()), limit))
                .sum(),
        };
        Box::new(Seated::new(teams, violation))
    }

    fn choices(&self, seed: u32, limit: f64) -> Option<Vec<Choice<'_>>> {
        if self.within == Within::Team {
            return None;
        }
        let starts = match self.ends[seed as usize] {
            Some((least, most)) if most - least > limit => Vec::new(),
            Some((least, most)) => self.starts(least, most, limit),
            None => {
                let lowest = self.lowest[seed as usize];
                let mut starts = self.starts(lowest, lowest, limit);
                starts.extend([lowest + 1.0, lowest - limit - 1.0]);
                starts
            }
        };
        Some(
            starts
                .into_iter()
                .map(|low| self.band(low, low + limit))
                .collect(),
        )
    }

    fn selectivity(&self, ticket: u32, limit: f64) -> f64 {
        let lowest = self.lowest[ticket as usize];
        let below = self.crowd(lowest - limit, lowest);
        let above = self.crowd(lowest, lowest + limit);
        below.max(above) as f64 / self.ends.len().max(1) as f64
    }

    fn is_monotone(&self) -> bool {
        true
    }
}
