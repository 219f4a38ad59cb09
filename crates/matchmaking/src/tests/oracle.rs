//! The violation of each rule, computed from what the players of a match state: from the definitions in the
//! reference alone, with nothing that the rules or the search use.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::{
    Queue, Ticket,
    attribute::Value,
    pool::Pool,
    ticket::{TicketPlayer, unknown},
};

/// The teams of a match, as tickets.
pub(crate) struct SeatedMatch<'a> {
    queue: &'a Queue,
    teams: Vec<Vec<&'a Ticket>>,
}

/// The keys of rules of all types.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct RuleKeys {
    of: Option<String>,
    at_most: Option<f64>,
    at_least: Option<f64>,
    value: Option<String>,
    parties: String,
    within: String,
    counted_by: Option<String>,
    from: Option<f64>,
    to: Option<f64>,
    ceiling: Option<String>,
    asked_by: Option<String>,
    by: String,
    side: String,
    last: Option<usize>,
}

/// What players are counted by.
type Counts = BTreeMap<String, usize>;

fn counts(values: impl Iterator<Item = String>) -> Counts {
    let mut counts = Counts::new();
    values.for_each(|value| *counts.entry(value).or_default() += 1);
    counts
}

fn differences(numbers: &[f64]) -> f64 {
    let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    most - numbers.iter().copied().fold(f64::INFINITY, f64::min)
}

impl<'a> SeatedMatch<'a> {
    /// The teams by the numbers that their tickets have in the pool.
    pub(crate) fn new(pool: &Pool<'a>, teams: &[Vec<u32>]) -> Self {
        let ticket = |number: &u32| pool.tickets[*number as usize];
        let team = |team: &Vec<u32>| team.iter().map(ticket).collect();
        Self {
            queue: pool.queue,
            teams: teams.iter().map(team).collect(),
        }
    }

    /// By how much the rule at this place is violated.
    pub(crate) fn violation(&self, at: usize, limit: f64) -> f64 {
        let Some(rule) = self.queue.settings().rules.get(at) else {
            return self.sizes(limit); // the hard rule that each queue has
        };
        let whole = limit.floor();
        let kind = rule.rule.as_str();
        let rule: &RuleKeys = &serde_json::from_value(rule.keys.clone().into()).unwrap();
        match kind {
            "full" => self.sizes(limit),
            "spread" => self.spread(rule, limit),
            "gap" => (differences(&self.joined(rule)) - limit).max(0.0),
            "mirror" => self.apart(|team| self.counted(rule, team), 0.0),
            "mirror-parties" => self.apart(|team| self.parties(rule, team), 0.0),
            "differ-each" => self.apart(|team| self.counted(rule, team), whole),
            "at-most-each" => {
                let teams = self.teams.iter().map(|team| self.counted(rule, team));
                let each = teams.flat_map(Counts::into_values);
                each.map(|count| (count as f64 - whole).max(0.0)).sum()
            }
            "at-most-together" => {
                let all: Vec<_> = self.teams.iter().flatten().copied().collect();
                let counts = match rule.value {
                    Some(_) => vec![self.with_value(rule, &all)],
                    None => self.counted(rule, &all).into_values().collect(),
                };
                let each = counts.into_iter();
                each.map(|count| (count as f64 - whole).max(0.0)).sum()
            }
            "has" => self.having(rule),
            "common" => self.not_shared(rule),
            "ceiling" => {
                let highest = self.numbers(&rule.of).fold(f64::NEG_INFINITY, f64::max);
                let lowest = self.numbers(&rule.ceiling).fold(f64::INFINITY, f64::min);
                (highest - lowest).max(0.0)
            }
            "alike" => self.unlike(rule),
            "chance" => self.uneven(rule, limit),
            "apart" => self.met(rule),
            "range" => {
                let from = rule.from.unwrap_or(f64::NEG_INFINITY);
                let to = rule.to.unwrap_or(f64::INFINITY);
                let outside = self.numbers(&rule.of).filter(|n| *n < from || *n > to);
                outside.count() as f64
            }
            other => panic!("no oracle for {other}"),
        }
    }

    fn players(&self) -> impl Iterator<Item = &'a TicketPlayer> {
        let tickets = self.teams.iter().flatten();
        tickets.flat_map(|ticket| &ticket.players)
    }

    fn value(&self, player: &'a TicketPlayer, name: &str) -> &'a Value {
        let mut names = self.queue.settings().attributes.keys();
        &player.values[names.position(|key| key == name).unwrap()]
    }

    fn number(&self, player: &'a TicketPlayer, name: &str) -> f64 {
        if name.contains(" + ") {
            return name
                .split(" + ")
                .map(|name| self.number(player, name))
                .sum();
        }
        if name.starts_with('@') {
            return player
                .known
                .numbers
                .get(name)
                .copied()
                .unwrap_or_else(|| unknown(name));
        }
        let (name, word) = name.split_once('.').unwrap_or((name, ""));
        match self.value(player, name) {
            Value::Number(number) => *number,
            Value::Map(map) => map
                .iter()
                .find(|(key, _)| key == word)
                .map_or(1e9, |(_, n)| *n),
            other => panic!("{other:?} is no number"),
        }
    }

    fn numbers(&self, name: &Option<String>) -> impl Iterator<Item = f64> {
        let name = name.clone().unwrap();
        self.players().map(move |player| self.number(player, &name))
    }

    fn text(&self, player: &'a TicketPlayer, name: &str) -> String {
        match name.starts_with('@') {
            true => self.number(player, name).to_string(),
            false => format!("{:?}", self.value(player, name)),
        }
    }

    fn words(&self, player: &'a TicketPlayer, rule: &RuleKeys) -> Vec<String> {
        if let Some(last) = rule.last {
            let met = player.known.met.iter().take(last);
            return met.flatten().cloned().collect();
        }
        match self.value(player, rule.of.as_ref().unwrap()) {
            Value::Set(words) => words.clone(),
            Value::Map(map) => {
                let most = rule.at_most.unwrap();
                let near = map.iter().filter(|(_, number)| *number <= most);
                near.map(|(word, _)| word.clone()).collect()
            }
            Value::Word(word) => vec![word.clone()],
            Value::Number(number) => vec![number.to_string()],
        }
    }

    fn sizes(&self, limit: f64) -> f64 {
        let size = |team: &Vec<&Ticket>| {
            team.iter()
                .map(|ticket| ticket.players.len())
                .sum::<usize>()
        };
        self.teams
            .iter()
            .map(|team| (size(team) as f64 - limit).abs())
            .sum()
    }

    fn spread(&self, rule: &RuleKeys, limit: f64) -> f64 {
        let of = rule.of.as_ref().unwrap();
        let exempt = rule.parties == "exempt";
        let span = |tickets: &mut dyn Iterator<Item = &&'a Ticket>| {
            let counted = tickets.filter(|ticket| !exempt || ticket.players.len() == 1);
            let players = counted.flat_map(|ticket| &ticket.players);
            let numbers: Vec<f64> = players.map(|player| self.number(player, of)).collect();
            if numbers.is_empty() {
                0.0
            } else {
                (differences(&numbers) - limit).max(0.0)
            }
        };
        match rule.within.as_str() {
            "team" => self.teams.iter().map(|team| span(&mut team.iter())).sum(),
            _ => span(&mut self.teams.iter().flatten()),
        }
    }

    /// The sum, mean or maximum of each team. Numbers are rounded to 1/4096, as the reference says.
    fn joined(&self, rule: &RuleKeys) -> Vec<f64> {
        let of = rule.of.as_ref().unwrap();
        let rounded = |player| (self.number(player, of) * 4096.0).round() / 4096.0;
        let team = |team: &Vec<&'a Ticket>| {
            let players = team.iter().flat_map(|ticket| &ticket.players);
            let numbers: Vec<f64> = players.map(rounded).collect();
            let sum: f64 = numbers.iter().sum();
            match rule.by.as_str() {
                _ if numbers.is_empty() => 0.0,
                "mean" => sum / numbers.len() as f64,
                "max" => numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max),
                _ => sum,
            }
        };
        self.teams.iter().map(team).collect()
    }

    /// How many players of a team have each value, of those who count.
    fn counted(&self, rule: &RuleKeys, team: &[&'a Ticket]) -> Counts {
        let players = team.iter().flat_map(|ticket| &ticket.players);
        let counts_by = |player: &&'a TicketPlayer| match (&rule.counted_by, rule.from) {
            (Some(by), Some(from)) => self.number(player, by) >= from,
            _ => true,
        };
        let of = rule.of.as_ref().unwrap();
        counts(
            players
                .filter(counts_by)
                .map(|player| self.text(player, of)),
        )
    }

    fn parties(&self, rule: &RuleKeys, team: &[&'a Ticket]) -> Counts {
        let of = rule.of.as_ref().unwrap();
        let parties = team.iter().filter(|ticket| ticket.players.len() > 1);
        counts(parties.map(|ticket| {
            let numbers = ticket.players.iter().map(|player| self.number(player, of));
            let highest = numbers.fold(f64::NEG_INFINITY, f64::max);
            format!("{} {highest}", ticket.players.len())
        }))
    }

    /// How much more than `allowed` the teams' counts of each value differ.
    fn apart(&self, of: impl Fn(&Vec<&'a Ticket>) -> Counts, allowed: f64) -> f64 {
        let teams: Vec<Counts> = self.teams.iter().map(of).collect();
        let keys: BTreeSet<&String> = teams.iter().flat_map(Counts::keys).collect();
        let beyond = |key: &String| {
            let counts = teams
                .iter()
                .map(|team| team.get(key).copied().unwrap_or(0) as f64);
            (differences(&counts.collect::<Vec<_>>()) - allowed).max(0.0)
        };
        keys.into_iter().map(beyond).sum()
    }

    fn having(&self, rule: &RuleKeys) -> f64 {
        let least = rule.at_least.unwrap_or(0.0);
        let most = rule.at_most.unwrap_or(f64::INFINITY);
        let beyond = |team: &Vec<&'a Ticket>| {
            let count = self.with_value(rule, team) as f64;
            (least - count).max(count - most).max(0.0)
        };
        self.teams.iter().map(beyond).sum()
    }

    /// How many players of these tickets have the value of the rule.
    fn with_value(&self, rule: &RuleKeys, tickets: &[&'a Ticket]) -> usize {
        let value = rule.value.as_ref().unwrap();
        let is_flag = |word: &String| value == "true" && word == "1";
        let plain = RuleKeys {
            at_most: None,
            ..rule.clone()
        };
        let has = |player: &&'a TicketPlayer| {
            let words = self.words(player, &plain);
            words.iter().any(|word| word == value || is_flag(word))
        };
        let players = tickets.iter().flat_map(|ticket| &ticket.players);
        players.filter(has).count()
    }

    fn not_shared(&self, rule: &RuleKeys) -> f64 {
        let words = self.players().flat_map(|player| self.words(player, rule));
        let most = counts(words).into_values().max().unwrap_or(0);
        (self.players().count() - most) as f64
    }

    fn unlike(&self, rule: &RuleKeys) -> f64 {
        let (of, by) = (rule.of.as_ref().unwrap(), rule.asked_by.as_ref().unwrap());
        let asking = self
            .players()
            .filter(|player| self.number(player, by) > 0.0);
        let asked: BTreeSet<String> = asking.map(|player| self.text(player, of)).collect();
        let differs = |player: &&'a TicketPlayer| {
            let own = self.text(player, of);
            asked.iter().any(|asked| *asked != own)
        };
        self.players().filter(differs).count() as f64
    }

    /// How far the share of a team in all weights is from even, where no rating system predicts chances.
    fn uneven(&self, rule: &RuleKeys, limit: f64) -> f64 {
        let of = rule.of.clone().unwrap_or_else(|| "@weight".to_owned());
        let sums = self.joined(&RuleKeys {
            of: Some(of),
            ..rule.clone()
        });
        let total: f64 = sums.iter().sum();
        let even = 1.0 / sums.len() as f64;
        let share = |sum: &f64| if total > 0.0 { sum / total } else { even };
        let off = sums.iter().map(|sum| (share(sum) - even).abs());
        (off.fold(0.0, f64::max) - limit).max(0.0)
    }

    fn met(&self, rule: &RuleKeys) -> f64 {
        let seats = self.teams.iter().enumerate().flat_map(|(at, team)| {
            let tickets = team.iter().map(move |ticket| (at, *ticket));
            tickets.flat_map(|(at, ticket)| {
                ticket
                    .players
                    .iter()
                    .map(move |player| (at, &ticket.id, player))
            })
        });
        let seats: Vec<_> = seats.collect();
        let avoids = |one, other: &TicketPlayer| self.words(one, rule).contains(&other.id);
        let mut pairs = 0;
        for (place, &(team, ticket, one)) in seats.iter().enumerate() {
            for &(other_team, other_ticket, other) in &seats[place + 1..] {
                let counts = match rule.side.as_str() {
                    "with" => team == other_team,
                    "against" => team != other_team,
                    _ => true,
                };
                let apart = avoids(one, other) || avoids(other, one);
                pairs += usize::from(counts && ticket != other_ticket && apart);
            }
        }
        pairs as f64
    }
}
