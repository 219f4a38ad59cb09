//! `full`: all teams have the wanted size. The violation is the number of missing and surplus
//! players. A hard rule wants the size that is being searched for; a soft one that of the queue, so that a
//! match of smaller teams costs more.

use super::{Bound, QueueColumns, Registered, Rule, RuleSettings, RuleTally, Teams};
use crate::matchmaking::people::People;

pub(super) const TYPE: Registered = Registered {
    name: "full",
    keys: &[],
    build,
};

#[derive(Debug)]
struct Full;

fn build(_: &RuleSettings, _: &mut QueueColumns) -> Result<Box<dyn Rule>, (&'static str, String)> {
    Ok(Box::new(Full))
}

impl Rule for Full {
    fn violation(&self, people: &People, teams: Teams<'_>, limit: f64) -> f64 {
        let missing = |team: &Vec<u32>| (people.all(team).count() as f64 - limit).abs();
        teams.iter().map(missing).sum()
    }

    fn sentence(&self, people: &People, teams: Teams<'_>, limit: f64) -> String {
        let sizes = teams
            .iter()
            .map(|team| people.all(team).count().to_string());
        let sizes: Vec<_> = sizes.collect();
        format!("the teams have {} players of {limit}", sizes.join(" and "))
    }

    fn bind(&self, people: &People) -> Box<dyn Bound> {
        let tickets = 0..people.tickets() as u32;
        Box::new(Sizes(
            tickets.map(|ticket| people.size(ticket) as i64).collect(),
        ))
    }
}

/// Number of players of each ticket.
struct Sizes(Vec<i64>);

impl Bound for Sizes {
    fn tally(&self, teams: usize, limit: f64) -> Box<dyn RuleTally + '_> {
        let wanted = limit as i64;
        Box::new(Heads {
            sizes: self,
            wanted,
            heads: vec![0; teams],
            missing: teams as i64 * wanted,
        })
    }
}

struct Heads<'a> {
    sizes: &'a Sizes,
    wanted: i64,
    heads: Vec<i64>,
    missing: i64,
}

impl Heads<'_> {
    fn add(&mut self, team: usize, by: i64) {
        let heads = &mut self.heads[team];
        self.missing -= (*heads - self.wanted).abs();
        *heads += by;
        self.missing += (*heads - self.wanted).abs();
    }
}

impl RuleTally for Heads<'_> {
    fn put(&mut self, team: usize, ticket: u32) {
        self.add(team, self.sizes.0[ticket as usize]);
    }

    fn take(&mut self, team: usize, ticket: u32) {
        self.add(team, -self.sizes.0[ticket as usize]);
    }

    fn violation(&self) -> f64 {
        self.missing as f64
    }
}
