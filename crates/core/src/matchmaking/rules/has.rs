//! `has`: every team has at least `at_least` and at most `at_most` players with one value, such as
//! one medic. A player whose attribute is a set has every value in it.

use super::{
    Bound, Mirror, QueueColumns, Registered, Rule, RuleSettings, RuleTally, Teams, list,
    settings::required,
};
use crate::matchmaking::people::People;

pub(super) const TYPE: Registered = Registered {
    name: "has",
    keys: &["of", "value", "at_least", "at_most"],
    build,
};

#[derive(Debug)]
struct Has {
    of: usize,
    value: String,
    range: CountRange,
}

/// The numbers of players for which the rule holds.
#[derive(Clone, Copy, Debug)]
struct CountRange {
    least: i64,
    most: i64,
}

impl CountRange {
    fn beyond(self, count: i64) -> i64 {
        (self.least - count).max(count - self.most).max(0)
    }
}

fn build(
    settings: &RuleSettings,
    columns: &mut QueueColumns,
) -> Result<Box<dyn Rule>, (&'static str, String)> {
    let value = required("value", settings.value.clone())?;
    let of = columns.any(settings.of()?).map_err(|why| ("of", why))?;
    let words = columns.words(of);
    if !words.is_empty() && !words.contains(&value) {
        return Err(("value", format!("must be one of: {}", words.join(", "))));
    }
    if settings.at_least.is_none() && settings.at_most.is_none() {
        return Err(("at_least", "or the key at_most is missing".to_owned()));
    }
    let range = CountRange {
        least: settings.at_least.map_or(0, |least| i64::from(least.get())),
        most: settings.at_most.map_or(i64::MAX, |most| most.get() as i64),
    };
    if range.least > range.most {
        return Err(("at_least", "must not be above at_most".to_owned()));
    }
    Ok(Box::new(Has { of, value, range }))
}

impl Has {
    fn has(&self, people: &People, player: usize) -> bool {
        let words = people.set(self.of, player);
        match words.is_empty() {
            true if self.value == "true" => people.number(self.of, player) == 1.0,
            true => people.text(self.of, player) == self.value,
            false => words.iter().any(|word| people.word(*word) == self.value),
        }
    }

    fn count(&self, people: &People, tickets: &[u32]) -> i64 {
        people
            .all(tickets)
            .filter(|player| self.has(people, *player))
            .count() as i64
    }
}

impl Rule for Has {
    fn violation(&self, people: &People, teams: Teams<'_>, _: f64) -> f64 {
        let counts = teams.iter().map(|team| self.count(people, team));
        counts.map(|count| self.range.beyond(count) as f64).sum()
    }

    fn sentence(&self, people: &People, teams: Teams<'_>, _: f64) -> String {
        let counts = teams
            .iter()
            .map(|team| self.count(people, team).to_string());
        let counts: Vec<String> = counts.collect();
        format!(
            "players with the value {} by team: {}",
            self.value,
            counts.join(" | ")
        )
    }

    fn wanted(&self, people: &People, teams: Teams<'_>, _: f64) -> Option<String> {
        let lacking = (0..).zip(teams).filter_map(|(at, team)| {
            let lacking: i64 = self.range.least - self.count(people, team);
            (lacking > 0).then(|| format!("{lacking} for team {at}"))
        });
        let lacking: Vec<String> = lacking.collect();
        (!lacking.is_empty())
            .then(|| format!("with the value {}: {}", self.value, list(&lacking, "and")))
    }

    fn likeness(&self, people: &People, ticket: u32) -> Option<String> {
        (self.count(people, &[ticket]) > 0).then(|| format!("the value {}", self.value))
    }

    fn bind(&self, people: &People) -> Box<dyn Bound> {
        let tickets = 0..people.tickets() as u32;
        Box::new(Having {
            own: tickets
                .map(|ticket| self.count(people, &[ticket]))
                .collect(),
            range: self.range,
        })
    }
}

/// Number of each ticket's players who have the value.
struct Having {
    own: Vec<i64>,
    range: CountRange,
}

impl Bound for Having {
    fn demand(&self) -> usize {
        usize::try_from(self.range.least).unwrap_or(0)
    }

    fn supply(&self, ticket: u32) -> usize {
        let own = self.own[ticket as usize];
        usize::try_from(own).unwrap_or(0)
    }

    fn tally(&self, teams: usize, _: f64) -> Box<dyn RuleTally + '_> {
        Box::new(Held {
            having: self,
            counts: vec![0; teams],
        })
    }

    fn mirror(&self, ticket: u32) -> Option<Mirror> {
        let own = self.own[ticket as usize];
        Some(Mirror {
            keys: vec![own as u64],
            strict: false,
        })
    }
}

struct Held<'a> {
    having: &'a Having,
    counts: Vec<i64>,
}

impl Held<'_> {
    fn add(&mut self, team: usize, ticket: u32, by: i64) {
        self.counts[team] += by * self.having.own[ticket as usize];
    }
}

impl RuleTally for Held<'_> {
    fn put(&mut self, team: usize, ticket: u32) {
        self.add(team, ticket, 1);
    }

    fn take(&mut self, team: usize, ticket: u32) {
        self.add(team, ticket, -1);
    }

    fn violation(&self) -> f64 {
        let beyond = self
            .counts
            .iter()
            .map(|count| self.having.range.beyond(*count));
        beyond.sum::<i64>() as f64
    }
}
