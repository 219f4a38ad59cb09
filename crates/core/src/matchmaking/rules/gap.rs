//! `gap`: the teams' sums (or means, or maxima) of a number differ by at most `at_most`.

use super::{
    Bound, By, QueueColumns, Registered, Rule, RuleSettings, RuleTally, Teams, seated::Seated,
};
use crate::matchmaking::people::People;

pub(super) const TYPE: Registered = Registered {
    name: "gap",
    keys: &["of", "at_most", "by", "relax"],
    build,
};

#[derive(Debug)]
struct Gap {
    of: usize,
    name: String,
    by: By,
}

fn build(
    settings: &RuleSettings,
    columns: &mut QueueColumns,
) -> Result<Box<dyn Rule>, (&'static str, String)> {
    settings.limit()?;
    Ok(Box::new(Gap {
        of: columns.number(settings.of()?).map_err(|why| ("of", why))?,
        name: settings.of()?.to_owned(),
        by: settings.by.unwrap_or_default(),
    }))
}

/// Numbers are counted in this part of 1, in whole numbers, so that sums are exact in any order.
const PARTS: f64 = 4096.0;

/// A number in whole parts. Numbers beyond 10^12 count as that.
pub(super) fn parts(number: f64) -> i64 {
    (number.clamp(-1e12, 1e12) * PARTS).round() as i64
}

/// What a team has, from the sum, the number and the maximum of its players' parts.
fn joined(by: By, sum: i64, players: usize, most: i64) -> f64 {
    match by {
        By::Sum => sum as f64 / PARTS,
        By::Mean => sum as f64 / PARTS / players.max(1) as f64,
        By::Max => most as f64 / PARTS,
    }
}

fn beyond(numbers: impl Iterator<Item = f64>, limit: f64) -> f64 {
    let ends = numbers.fold(
        (f64::INFINITY, f64::NEG_INFINITY),
        |(least, most), number| (number.min(least), number.max(most)),
    );
    (ends.1 - ends.0 - limit).max(0.0)
}

impl Gap {
    fn team(&self, people: &People, team: &[u32]) -> f64 {
        let numbers = people
            .all(team)
            .map(|player| parts(people.number(self.of, player)));
        let numbers: Vec<i64> = numbers.collect();
        let most = numbers.iter().copied().max().unwrap_or(0);
        joined(self.by, numbers.iter().sum(), numbers.len(), most)
    }
}

impl Rule for Gap {
    fn violation(&self, people: &People, teams: Teams<'_>, limit: f64) -> f64 {
        beyond(teams.iter().map(|team| self.team(people, team)), limit)
    }

    fn sentence(&self, people: &People, teams: Teams<'_>, limit: f64) -> String {
        let numbers = teams
            .iter()
            .map(|team| format!("{:.1}", self.team(people, team)));
        let by = match self.by {
            By::Sum => "sums",
            By::Mean => "means",
            By::Max => "maxima",
        };
        let numbers: Vec<String> = numbers.collect();
        format!(
            "{by} of {} by team: {}; {limit} apart is allowed",
            self.name,
            numbers.join(" | ")
        )
    }

    fn bind(&self, people: &People) -> Box<dyn Bound> {
        let tickets = 0..people.tickets() as u32;
        let own = |ticket: u32| {
            let numbers = people
                .members(ticket)
                .map(|player| parts(people.number(self.of, player)));
            numbers.fold((0, 0, i64::MIN), |(sum, players, most), number| {
                (sum + number, players + 1, most.max(number))
            })
        };
        Box::new(GapSums {
            own: tickets.map(own).collect(),
            by: self.by,
        })
    }
}

/// The sum, the number and the maximum of each ticket's players.
struct GapSums {
    own: Vec<(i64, usize, i64)>,
    by: By,
}

impl Bound for GapSums {
    fn tally(&self, teams: usize, limit: f64) -> Box<dyn RuleTally + '_> {
        Box::new(Seated::new(teams, move |teams: &[Vec<u32>]| {
            let team = |team: &Vec<u32>| {
                let own = team.iter().map(|ticket| self.own[*ticket as usize]);
                let none = (0, 0, i64::MIN);
                let all = own.fold(none, |all, one| {
                    (all.0 + one.0, all.1 + one.1, all.2.max(one.2))
                });
                let most = if team.is_empty() { 0 } else { all.2 };
                joined(self.by, all.0, all.1, most)
            };
            beyond(teams.iter().map(team), limit)
        }))
    }
}
