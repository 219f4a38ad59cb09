//! `mirror`: all teams have the same values, each as many times. The violation is the number of
//! values that a team has more often than another.

use super::{
    Bound, Mirror, QueueColumns, Registered, Rule, RuleSettings, RuleTally, Share, Teams,
    counts::{CostTally, Symbols, range, tabulate_column, unmirrored},
    list,
};
use crate::matchmaking::people::People;

pub(super) const TYPE: Registered = Registered {
    name: "mirror",
    keys: &["of"],
    build,
};

#[derive(Debug)]
struct MirrorValues {
    of: usize,
    name: String,
}

fn build(
    settings: &RuleSettings,
    columns: &mut QueueColumns,
) -> Result<Box<dyn Rule>, (&'static str, String)> {
    Ok(Box::new(MirrorValues {
        of: columns.value(settings.of()?).map_err(|why| ("of", why))?,
        name: settings.of()?.to_owned(),
    }))
}

impl Rule for MirrorValues {
    fn violation(&self, people: &People, teams: Teams<'_>, _: f64) -> f64 {
        unmirrored(&tabulate_column(people, teams, self.of))
    }

    fn sentence(&self, people: &People, teams: Teams<'_>, _: f64) -> String {
        let list = |team: &Vec<u32>| {
            let mut players: Vec<usize> = people.all(team).collect();
            players.sort_by(|&a, &b| {
                let numbers = people
                    .number(self.of, b)
                    .total_cmp(&people.number(self.of, a));
                numbers.then(people.key(self.of, a).cmp(&people.key(self.of, b)))
            });
            let values = players
                .into_iter()
                .map(|player| people.text(self.of, player));
            values.collect::<Vec<_>>().join(" ")
        };
        let lists: Vec<String> = teams.iter().map(list).collect();
        format!("{} by team: {}", self.name, lists.join(" | "))
    }

    fn wanted(&self, _: &People, _: Teams<'_>, _: f64) -> Option<String> {
        Some(format!("of the same {} on all teams", self.name))
    }

    fn likeness(&self, people: &People, ticket: u32) -> Option<String> {
        let texts = people
            .members(ticket)
            .map(|player| people.text(self.of, player));
        let texts: Vec<String> = texts.collect();
        Some(format!("{} {}", self.name, list(&texts, "and")))
    }

    fn bind(&self, people: &People) -> Box<dyn Bound> {
        Box::new(MirroredValues(Symbols::of_column(people, self.of)))
    }
}

/// The values of each ticket's players.
struct MirroredValues(Symbols);

impl Bound for MirroredValues {
    fn tally(&self, teams: usize, _: f64) -> Box<dyn RuleTally + '_> {
        Box::new(CostTally::new(&self.0, teams, range))
    }

    fn share(&self, teams: usize, _: f64) -> Option<(&Symbols, Share)> {
        let teams = teams as i32;
        Some((&self.0, Share::Players { teams }))
    }

    fn mirror(&self, ticket: u32) -> Option<Mirror> {
        let mut keys: Vec<u64> = self
            .0
            .of_ticket(ticket)
            .iter()
            .map(|s| u64::from(*s))
            .collect();
        keys.sort_unstable();
        Some(Mirror {
            keys,
            strict: false,
        })
    }
}
