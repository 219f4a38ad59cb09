//! `mirror-parties`: all teams have parties of the same sizes and highest values, each as many
//! times. Single players do not count.

use super::{
    Bound, Mirror, QueueColumns, Registered, Rule, RuleSettings, RuleTally, Share, Teams,
    counts::{CostTally, Symbols, range, tabulate, unmirrored},
};
use crate::matchmaking::people::People;

pub(super) const TYPE: Registered = Registered {
    name: "mirror-parties",
    keys: &["of"],
    build,
};

#[derive(Debug)]
struct MirrorParties {
    of: usize,
    name: String,
}

fn build(
    settings: &RuleSettings,
    columns: &mut QueueColumns,
) -> Result<Box<dyn Rule>, (&'static str, String)> {
    Ok(Box::new(MirrorParties {
        of: columns.number(settings.of()?).map_err(|why| ("of", why))?,
        name: settings.of()?.to_owned(),
    }))
}

impl MirrorParties {
    fn highest(&self, people: &People, ticket: u32) -> f64 {
        let numbers = people
            .members(ticket)
            .map(|player| people.number(self.of, player));
        numbers.fold(f64::NEG_INFINITY, f64::max)
    }

    /// A party's size and the bits of its highest value; `None` for a single player.
    fn key(&self, people: &People, ticket: u32) -> Option<(usize, u64)> {
        let size = people.size(ticket);
        // Adding 0 makes -0 and 0 the same.
        (size > 1).then(|| (size, (self.highest(people, ticket) + 0.0).to_bits()))
    }
}

impl Rule for MirrorParties {
    fn violation(&self, people: &People, teams: Teams<'_>, _: f64) -> f64 {
        let mut kinds: Vec<(usize, f64)> = Vec::new();
        let kind = |ticket: u32| (people.size(ticket), self.highest(people, ticket));
        for &ticket in teams
            .iter()
            .flatten()
            .filter(|ticket| people.size(**ticket) > 1)
        {
            if !kinds.contains(&kind(ticket)) {
                kinds.push(kind(ticket));
            }
        }
        let place = |ticket: &u32| kinds.iter().position(|known| *known == kind(*ticket));
        let keys = |team: &Vec<u32>| team.iter().filter_map(place).map(|at| at as u64).collect();
        let teams: Vec<Vec<u64>> = teams.iter().map(keys).collect();
        unmirrored(&tabulate(&teams))
    }

    fn sentence(&self, people: &People, teams: Teams<'_>, _: f64) -> String {
        let list = |team: &Vec<u32>| {
            let parties = team.iter().filter(|ticket| people.size(**ticket) > 1);
            let mut kinds: Vec<String> = parties
                .map(|&ticket| {
                    format!(
                        "{} up to {}",
                        people.size(ticket),
                        self.highest(people, ticket)
                    )
                })
                .collect();
            kinds.sort_unstable();
            match kinds.is_empty() {
                true => "none".to_owned(),
                false => kinds.join(", "),
            }
        };
        let lists: Vec<String> = teams.iter().map(list).collect();
        format!(
            "parties by size and highest {}: {}",
            self.name,
            lists.join(" | ")
        )
    }

    fn likeness(&self, people: &People, ticket: u32) -> Option<String> {
        let highest = self.highest(people, ticket);
        (people.size(ticket) > 1).then(|| format!("the highest {} {highest}", self.name))
    }

    fn bind(&self, people: &People) -> Box<dyn Bound> {
        Box::new(Kinds(Symbols::of(people, |ticket, keys| {
            keys.extend(self.key(people, ticket));
        })))
    }
}

/// The kind of each party; single players have none.
struct Kinds(Symbols);

impl Bound for Kinds {
    fn tally(&self, teams: usize, _: f64) -> Box<dyn RuleTally + '_> {
        Box::new(CostTally::new(&self.0, teams, range))
    }

    fn share(&self, teams: usize, _: f64) -> Option<(&Symbols, Share)> {
        let teams = teams as i32;
        Some((&self.0, Share::Parties { teams }))
    }

    /// A party of which a player has left cannot be mirrored any more.
    fn is_met_by_more(&self) -> bool {
        false
    }

    fn mirror(&self, ticket: u32) -> Option<Mirror> {
        let keys = self
            .0
            .of_ticket(ticket)
            .iter()
            .map(|symbol| u64::from(*symbol));
        Some(Mirror {
            keys: keys.collect(),
            strict: true,
        })
    }
}
