//! `at-most-each`: no team has more than `at_most` players of one value. With `counted_by` and
//! `from`, only players count whose `counted_by` is at least `from`.

use super::{
    Bound, QueueColumns, Registered, Rule, RuleSettings, RuleTally, Share, Teams,
    counts::{CostTally, Symbols, tabulate},
    settings::required,
};
use crate::matchmaking::people::People;

pub(super) const TYPE: Registered = Registered {
    name: "at-most-each",
    keys: &["of", "at_most", "counted_by", "from", "relax"],
    build,
};

#[derive(Debug)]
struct AtMostEach {
    of: usize,
    name: String,
    /// The column and the number from which on a player counts.
    counted: Option<(usize, f64)>,
}

fn build(
    settings: &RuleSettings,
    columns: &mut QueueColumns,
) -> Result<Box<dyn Rule>, (&'static str, String)> {
    settings.limit()?;
    let counted = match (&settings.counted_by, settings.from) {
        (None, None) => None,
        (by, from) => {
            let column = columns.number(required("counted_by", by.as_deref())?);
            Some((
                column.map_err(|why| ("counted_by", why))?,
                required("from", from)?,
            ))
        }
    };
    Ok(Box::new(AtMostEach {
        of: columns.value(settings.of()?).map_err(|why| ("of", why))?,
        name: settings.of()?.to_owned(),
        counted,
    }))
}

impl AtMostEach {
    fn counts(&self, people: &People, player: usize) -> bool {
        self.counted
            .is_none_or(|(by, from)| people.number(by, player) >= from)
    }

    fn counted<'a>(
        &'a self,
        people: &'a People,
        team: &'a [u32],
    ) -> impl Iterator<Item = usize> + 'a {
        people
            .all(team)
            .filter(|player| self.counts(people, *player))
    }
}

impl Rule for AtMostEach {
    fn violation(&self, people: &People, teams: Teams<'_>, limit: f64) -> f64 {
        let keys = |team: &Vec<u32>| {
            let players = self.counted(people, team);
            players.map(|player| people.key(self.of, player)).collect()
        };
        let teams: Vec<Vec<u64>> = teams.iter().map(keys).collect();
        let table = tabulate(&teams);
        let counts = table.iter().flat_map(|(_, counts)| counts);
        counts
            .map(|&count| (count as f64 - limit.floor()).max(0.0))
            .sum()
    }

    fn sentence(&self, people: &People, teams: Teams<'_>, limit: f64) -> String {
        let mut most = (0, String::new());
        for team in teams {
            let players: Vec<usize> = self.counted(people, team).collect();
            for &player in &players {
                let same =
                    |other: &&usize| people.key(self.of, **other) == people.key(self.of, player);
                let count = players.iter().filter(same).count();
                if count > most.0 {
                    most = (count, people.text(self.of, player));
                }
            }
        }
        let (count, value) = most;
        match count {
            0 => format!("nobody's {} counts", self.name),
            _ => format!(
                "a team has {count} with the {} {value}; {limit} are allowed",
                self.name
            ),
        }
    }

    fn bind(&self, people: &People) -> Box<dyn Bound> {
        Box::new(CountedValues(Symbols::of(people, |ticket, keys| {
            let players = people
                .members(ticket)
                .filter(|player| self.counts(people, *player));
            keys.extend(players.map(|player| people.key(self.of, player)));
        })))
    }
}

/// The values of each ticket's players who count.
struct CountedValues(Symbols);

impl Bound for CountedValues {
    fn tally(&self, teams: usize, limit: f64) -> Box<dyn RuleTally + '_> {
        let limit = limit.floor() as i32;
        let surplus = move |count: &i32| i64::from((count - limit).max(0));
        let cost = move |row: &[i32]| row.iter().map(surplus).sum();
        Box::new(CostTally::new(&self.0, teams, cost))
    }

    /// Players with a value that many have are placed first, while teams have room for them.
    fn selectivity(&self, ticket: u32, _: f64) -> f64 {
        let symbols = self.0.of_ticket(ticket).iter();
        symbols
            .map(|symbol| 1.0 - self.0.share(*symbol))
            .fold(1.0, f64::min)
    }

    fn share(&self, teams: usize, limit: f64) -> Option<(&Symbols, Share)> {
        let most = limit.floor().clamp(0.0, 128.0) as i32 * teams as i32;
        Some((&self.0, Share::Limited { most }))
    }

    fn is_monotone(&self) -> bool {
        true
    }
}
