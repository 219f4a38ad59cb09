//! `differ-each`: of each value, the teams' numbers of players differ by at most `at_most`. The
//! values need not be known beforehand.

use super::{
    Bound, QueueColumns, Registered, Rule, RuleSettings, RuleTally, Share, Teams,
    counts::{CostTally, Symbols, difference, range, tabulate_column},
};
use crate::matchmaking::people::People;

pub(super) const TYPE: Registered = Registered {
    name: "differ-each",
    keys: &["of", "at_most", "relax"],
    build,
};

#[derive(Debug)]
struct DifferEach {
    of: usize,
    name: String,
}

fn build(
    settings: &RuleSettings,
    columns: &mut QueueColumns,
) -> Result<Box<dyn Rule>, (&'static str, String)> {
    settings.limit()?;
    Ok(Box::new(DifferEach {
        of: columns.value(settings.of()?).map_err(|why| ("of", why))?,
        name: settings.of()?.to_owned(),
    }))
}

impl DifferEach {
    fn table(&self, people: &People, teams: Teams<'_>) -> Vec<(u64, Vec<usize>)> {
        tabulate_column(people, teams, self.of)
    }
}

impl Rule for DifferEach {
    fn violation(&self, people: &People, teams: Teams<'_>, limit: f64) -> f64 {
        let table = self.table(people, teams);
        let beyond = table
            .iter()
            .map(|(_, counts)| difference(counts) as f64 - limit.floor());
        beyond.map(|beyond| beyond.max(0.0)).sum()
    }

    fn sentence(&self, people: &People, teams: Teams<'_>, limit: f64) -> String {
        let table = self.table(people, teams);
        let worst = table
            .iter()
            .max_by_key(|(key, counts)| (difference(counts), *key));
        let of = &self.name;
        let Some((key, counts)) = worst else {
            return format!("nobody has a {of}");
        };
        let player = teams.iter().flat_map(|team| people.all(team));
        let player = player
            .into_iter()
            .find(|player| people.key(self.of, *player) == *key);
        let value = player.map_or_else(String::new, |player| people.text(self.of, player));
        let counts: Vec<String> = counts.iter().map(ToString::to_string).collect();
        format!(
            "players with the {of} {value} by team: {}; {limit} apart is allowed",
            counts.join(" | ")
        )
    }

    fn bind(&self, people: &People) -> Box<dyn Bound> {
        Box::new(DifferingValues(Symbols::of_column(people, self.of)))
    }
}

/// The values of each ticket's players.
struct DifferingValues(Symbols);

impl Bound for DifferingValues {
    fn tally(&self, teams: usize, limit: f64) -> Box<dyn RuleTally + '_> {
        let limit = limit.floor() as i64;
        let cost = move |row: &[i32]| (range(row) - limit).max(0);
        Box::new(CostTally::new(&self.0, teams, cost))
    }

    fn share(&self, _: usize, limit: f64) -> Option<(&Symbols, Share)> {
        let slack = limit.floor().clamp(0.0, 128.0) as i32;
        Some((&self.0, Share::About { slack }))
    }
}
