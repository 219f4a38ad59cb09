//! `chance`: every team's chance to win is within `at_most` of even. The chance of a team follows
//! from its sum of weights: its share of all weights, as the ratio of weights implies.

use super::{
    Bound, Columns, Registered, Rule, RuleSettings, Tally, Teams, gap::parts, seated::Seated,
};
use crate::matchmaking::people::People;

pub(super) const TYPE: Registered = Registered {
    name: "chance",
    keys: &["of", "at_most", "relax"],
    build,
};

#[derive(Debug)]
struct Chance {
    of: usize,
}

fn build(
    settings: &RuleSettings,
    columns: &mut Columns,
) -> Result<Box<dyn Rule>, (&'static str, String)> {
    settings.limit()?;
    let of = settings.of.as_deref().unwrap_or("@weight");
    Ok(Box::new(Chance {
        of: columns.number(of).map_err(|why| ("of", why))?,
    }))
}

/// The chance of each team, from its sum of weights. Teams without any weight are even.
pub(in crate::matchmaking) fn chances(sums: &[i64]) -> Vec<f64> {
    let positive = |sum: &i64| (*sum).max(0) as f64;
    let total: f64 = sums.iter().map(positive).sum();
    let chance = |sum: &i64| match total > 0.0 {
        true => positive(sum) / total,
        false => 1.0 / sums.len() as f64,
    };
    sums.iter().map(chance).collect()
}

fn beyond(sums: &[i64], limit: f64) -> f64 {
    let even = 1.0 / sums.len().max(1) as f64;
    let off = chances(sums)
        .into_iter()
        .map(|chance| (chance - even).abs());
    (off.fold(0.0, f64::max) - limit).max(0.0)
}

impl Chance {
    fn sums(&self, people: &People, teams: Teams<'_>) -> Vec<i64> {
        let team = |team: &Vec<u32>| {
            people
                .all(team)
                .map(|player| parts(people.number(self.of, player)))
                .sum()
        };
        teams.iter().map(team).collect()
    }
}

impl Rule for Chance {
    fn violation(&self, people: &People, teams: Teams<'_>, limit: f64) -> f64 {
        beyond(&self.sums(people, teams), limit)
    }

    fn sentence(&self, people: &People, teams: Teams<'_>, limit: f64) -> String {
        let chances = chances(&self.sums(people, teams));
        let chances: Vec<String> = chances
            .iter()
            .map(|chance| format!("{chance:.3}"))
            .collect();
        format!(
            "chances by team: {}; {limit} from even is allowed",
            chances.join(" | ")
        )
    }

    fn bind(&self, people: &People) -> Box<dyn Bound> {
        let tickets = 0..people.tickets() as u32;
        let sum = |ticket| {
            people
                .members(ticket)
                .map(|player| parts(people.number(self.of, player)))
                .sum()
        };
        Box::new(Sums(tickets.map(sum).collect()))
    }
}

/// The sum of each ticket's weights.
struct Sums(Vec<i64>);

impl Bound for Sums {
    fn tally(&self, teams: usize, limit: f64) -> Box<dyn Tally + '_> {
        Box::new(Seated::new(teams, move |teams: &[Vec<u32>]| {
            let sum = |team: &Vec<u32>| {
                team.iter()
                    .filter_map(|ticket| self.0.get(*ticket as usize))
                    .sum()
            };
            let sums: Vec<i64> = teams.iter().map(sum).collect();
            beyond(&sums, limit)
        }))
    }
}
