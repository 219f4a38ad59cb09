//! Rules of who plays together.
//!
//! - `alike`: where one player asks for it, all players have that player's value. The violation is the number of players
//!   whose value differs from one that is asked for.
//! - `common`: all players share a value of their sets. The violation is the number of players without the value that
//!   most have. With `picks`, the match gets one of the shared values.
//! - `apart`: nobody is with, or against, players whom they avoid, or whom they met in the last matches. The violation is
//!   the number of such pairs. Players of one party are never apart.

use std::{borrow::Cow, collections::HashMap};

use evenkeel_model::units::{Amount, Count};
use serde::Deserialize;

use super::{
    BuiltRule, Evaluated, PreparedRule, QueueColumns, QueueError, Registered, Rule, RuleScope,
    RuleSettings, RuleTally, Teams, at,
    counts::{Seated, Symbols, TeamCounts},
    list,
};
use crate::columns::{Bits, NumberColumn, SetColumn, TicketPeople, ValueColumn};

pub(super) const ALIKE: Registered = Registered {
    name: "alike",
    build: |settings, columns| {
        let keys: AlikeKeys = settings.read()?;
        let rule = Alike {
            of: columns.value(&keys.of).map_err(at("of"))?,
            name: keys.of,
            asked_by: columns.number(&keys.asked_by).map_err(at("asked_by"))?,
        };
        Ok(rule.into())
    },
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct AlikeKeys {
    of: String,
    asked_by: String,
}

#[derive(Debug)]
struct Alike {
    of: ValueColumn,
    name: String,
    asked_by: NumberColumn,
}

impl Alike {
    fn asks(&self, people: &TicketPeople, player: usize) -> bool {
        people.number(self.asked_by, player) > 0.0
    }

    fn text(&self, people: &TicketPeople, player: usize) -> String {
        people.text_of(self.of, people.key(self.of, player))
    }
}

impl Rule for Alike {
    fn sentence(&self, people: &TicketPeople, teams: Teams<'_>, evaluated: Evaluated) -> String {
        let all: Vec<usize> = teams.iter().flat_map(|team| people.all(team)).collect();
        let asking = all.iter().find(|player| self.asks(people, **player));
        match asking {
            None => format!("nobody asks for one {}", self.name),
            Some(&player) => format!(
                "a player asks for the {} {}; {} of {} players differ from it or from another that is asked for",
                self.name,
                self.text(people, player),
                evaluated.violation,
                all.len(),
            ),
        }
    }

    fn wanted(&self, people: &TicketPeople, teams: Teams<'_>, _: f64) -> Option<String> {
        let mut all = teams.iter().flat_map(|team| people.all(team));
        let asking = all.find(|player| self.asks(people, *player))?;
        Some(format!(
            "with the {} {}",
            self.name,
            self.text(people, asking)
        ))
    }

    fn prepare(&self, people: &TicketPeople) -> Box<dyn PreparedRule> {
        let symbols = Symbols::of(people, [], |ticket, keys| {
            let players = people.members(ticket);
            keys.extend(players.map(|player| people.key(self.of, player)));
        });
        let mut silent = Bits::empty(people.tickets());
        let mut having: Vec<Vec<u32>> = vec![Vec::new(); symbols.count()];
        let mut asked = Vec::new();
        for ticket in 0..people.tickets() as u32 {
            let asks = people
                .members(ticket)
                .map(|player| self.asks(people, player));
            let asks: Vec<bool> = asks.collect();
            if !asks.contains(&true) {
                silent.insert(ticket);
            }
            if let Some(value) = single(symbols.of_ticket(ticket)) {
                having[value as usize].push(ticket);
            }
            asked.push(asks);
        }
        Box::new(AlikeValues {
            symbols,
            asked,
            silent,
            having,
        })
    }
}

/// The symbol, if there is only one.
fn single(symbols: &[u32]) -> Option<u32> {
    let first = *symbols.first()?;
    symbols
        .iter()
        .all(|symbol| *symbol == first)
        .then_some(first)
}

/// The values of each ticket's players, and whether they ask for it.
struct AlikeValues {
    symbols: Symbols,
    asked: Vec<Vec<bool>>,
    /// The tickets of which nobody asks.
    silent: Bits,
    /// The tickets all of whose players have the value.
    having: Vec<Vec<u32>>,
}

impl AlikeValues {
    /// The tickets with the value that all players of this ticket have.
    fn having(&self, ticket: u32) -> Option<&Vec<u32>> {
        let value = single(self.symbols.of_ticket(ticket))?;
        Some(&self.having[value as usize])
    }
}

impl PreparedRule for AlikeValues {
    fn tally(&self, _: usize, _: f64) -> Box<dyn RuleTally + '_> {
        Box::new(AskedValues {
            values: self,
            having: TeamCounts::new(&self.symbols, 1),
            asking: vec![0; self.symbols.count()],
            asked: 0,
            players: 0,
        })
    }

    fn choices(&self, seed: u32, _: f64) -> Option<Vec<RuleScope<'_>>> {
        let choice = |tickets| RuleScope {
            tickets,
            word: None,
        };
        let silent = Some(&self.silent).filter(|silent| silent.contains(seed));
        let having = self
            .having(seed)
            .map(|list| Cow::Owned(Bits::of(list, self.asked.len())));
        let choices = having.into_iter().chain(silent.map(Cow::Borrowed));
        Some(choices.map(choice).collect())
    }

    fn selectivity(&self, ticket: u32, _: f64) -> f64 {
        let all = self.asked.len().max(1) as f64;
        match self.silent.contains(ticket) {
            true => 1.0,
            false => self
                .having(ticket)
                .map_or(0.0, |list| list.len() as f64 / all),
        }
    }

    fn is_monotone(&self) -> bool {
        true
    }
}

struct AskedValues<'a> {
    values: &'a AlikeValues,
    having: TeamCounts<'a>,
    /// Number of players who ask, by value.
    asking: Vec<i32>,
    /// Number of values that are asked for.
    asked: i32,
    players: i32,
}

impl AskedValues<'_> {
    fn change(&mut self, ticket: u32, by: i32) {
        let values = self.values;
        self.having.change(0, ticket, by, |_| 0);
        let symbols = values.symbols.of_ticket(ticket);
        self.players += by * symbols.len() as i32;
        let asks = &values.asked[ticket as usize];
        for (&symbol, _) in symbols.iter().zip(asks).filter(|(_, asks)| **asks) {
            let count = &mut self.asking[symbol as usize];
            let before = i32::from(*count > 0);
            *count += by;
            self.asked += i32::from(*count > 0) - before;
        }
    }
}

impl RuleTally for AskedValues<'_> {
    fn put(&mut self, _: usize, ticket: u32) {
        self.change(ticket, 1);
    }

    fn take(&mut self, _: usize, ticket: u32) {
        self.change(ticket, -1);
    }

    fn violation(&self) -> f64 {
        let alike = match self.asked {
            0 => self.players,
            1 => {
                let value = self.asking.iter().position(|count| *count > 0);
                value.map_or(0, |value| self.having.get(value as u32))
            }
            _ => 0,
        };
        f64::from(self.players - alike)
    }
}

pub(super) const COMMON: Registered = Registered {
    name: "common",
    build: build_common,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CommonKeys {
    of: String,
    at_most: Option<Amount>,
    picks: Option<String>,
}

#[derive(Debug)]
struct Common {
    of: SetColumn,
    name: String,
}

fn build_common(
    settings: &RuleSettings,
    columns: &mut QueueColumns,
) -> Result<BuiltRule, QueueError> {
    let keys: CommonKeys = settings.read()?;
    let is_wrong = |picks: &String| picks.trim().is_empty() || picks.len() > 32;
    if keys.picks.as_ref().is_some_and(is_wrong) {
        return Err(QueueError::new(
            "picks",
            "must be a short name, such as map",
        ));
    }
    let within = keys.at_most.map(Amount::get);
    let rule = Common {
        of: columns.set(&keys.of, within).map_err(at("of"))?,
        name: keys.of,
    };
    Ok(BuiltRule {
        picks: keys.picks,
        ..rule.into()
    })
}

impl Common {
    /// The texts of the words that all players have.
    fn shared_by_all(&self, people: &TicketPeople, teams: Teams<'_>) -> Vec<String> {
        let shared = self.words(people, teams).into_iter();
        shared.map(|word| people.word(word).to_owned()).collect()
    }

    /// The words that all of these players have.
    fn shared(&self, people: &TicketPeople, mut players: impl Iterator<Item = usize>) -> Vec<u32> {
        let first = players.next();
        let first = first.map_or(&[][..], |player| people.set(self.of, player));
        let mut shared: Vec<u32> = first.to_vec();
        for player in players {
            shared.retain(|word| people.set(self.of, player).contains(word));
        }
        shared
    }
}

/// The tickets all of whose players have a word.
enum Sharing {
    /// So many tickets that bits take less memory than a list; the number is theirs.
    Bits(Bits, usize),
    /// So few that bits would take more memory.
    List(Vec<u32>, usize),
}

impl Sharing {
    fn of(list: Vec<u32>, tickets: usize) -> Self {
        match list.len() * 64 < tickets {
            true => Self::List(list, tickets),
            false => Self::Bits(Bits::of(&list, tickets), list.len()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Bits(_, count) => *count,
            Self::List(list, _) => list.len(),
        }
    }

    fn tickets(&self) -> Cow<'_, Bits> {
        match self {
            Self::Bits(bits, _) => Cow::Borrowed(bits),
            Self::List(list, tickets) => Cow::Owned(Bits::of(list, *tickets)),
        }
    }
}

impl Rule for Common {
    fn sentence(&self, people: &TicketPeople, teams: Teams<'_>, _: Evaluated) -> String {
        let shared = self.shared_by_all(people, teams);
        match shared.is_empty() {
            true => format!("the players share no value of {}", self.name),
            false => format!("{} that all share: {}", self.name, shared.join(", ")),
        }
    }

    fn wanted(&self, people: &TicketPeople, teams: Teams<'_>, _: f64) -> Option<String> {
        let shared = self.shared_by_all(people, teams);
        (!shared.is_empty()).then(|| format!("with {} in {}", list(&shared, "or"), self.name))
    }

    fn words(&self, people: &TicketPeople, teams: Teams<'_>) -> Vec<u32> {
        let tickets = teams.iter().flatten();
        self.shared(people, tickets.flat_map(|ticket| people.members(*ticket)))
    }

    fn admits(&self, people: &TicketPeople, ticket: u32, pick: &str) -> bool {
        let has = |player| {
            let mut words = people.set(self.of, player).iter();
            words.any(|word| people.word(*word) == pick)
        };
        people.members(ticket).all(has)
    }

    fn prepare(&self, people: &TicketPeople) -> Box<dyn PreparedRule> {
        let symbols = Symbols::of(people, [], |ticket, keys| {
            let words = people
                .members(ticket)
                .flat_map(|player| people.set(self.of, player));
            keys.extend(words.map(|word| u64::from(*word)));
        });
        let mut sharing: Vec<(u32, Vec<u32>)> = Vec::new();
        let mut places = HashMap::new();
        let mut shared = Vec::new();
        for ticket in 0..people.tickets() as u32 {
            let own = self.shared(people, people.members(ticket));
            for &word in &own {
                let place = *places.entry(word).or_insert(sharing.len());
                match sharing.get_mut(place) {
                    Some((_, list)) => list.push(ticket),
                    None => sharing.push((word, vec![ticket])),
                }
            }
            let own = own.iter().filter_map(|word| places.get(word).copied());
            shared.push(own.collect());
        }
        let count = people.tickets();
        let sharing = sharing
            .into_iter()
            .map(|(word, list)| (word, Sharing::of(list, count)));
        let sharing = sharing.collect();
        let tickets = 0..people.tickets() as u32;
        Box::new(SharedWords {
            symbols,
            sizes: tickets.map(|ticket| people.size(ticket) as i32).collect(),
            sharing,
            shared,
        })
    }
}

/// The words of each ticket.
struct SharedWords {
    /// A symbol for each word of each player.
    symbols: Symbols,
    sizes: Vec<i32>,
    /// The tickets all of whose players have the word.
    sharing: Vec<(u32, Sharing)>,
    /// The places in `sharing` of the words that all players of each ticket have.
    shared: Vec<Vec<usize>>,
}

impl PreparedRule for SharedWords {
    fn tally(&self, _: usize, _: f64) -> Box<dyn RuleTally + '_> {
        Box::new(Shares {
            words: self,
            counts: TeamCounts::new(&self.symbols, 1),
            seated: Vec::new(),
            players: 0,
        })
    }

    fn choices(&self, seed: u32, _: f64) -> Option<Vec<RuleScope<'_>>> {
        let shared = self.shared[seed as usize].iter();
        let sharing = shared.map(|place| &self.sharing[*place]);
        Some(
            sharing
                .map(|(word, sharing)| RuleScope {
                    tickets: sharing.tickets(),
                    word: Some(*word),
                })
                .collect(),
        )
    }

    fn selectivity(&self, ticket: u32, _: f64) -> f64 {
        let shared = self.shared[ticket as usize].iter();
        let sharing = shared.map(|place| &self.sharing[*place]);
        let most = sharing.map(|(_, sharing)| sharing.len()).sum::<usize>();
        most as f64 / (self.sizes.len() * self.sharing.len()).max(1) as f64
    }

    fn is_monotone(&self) -> bool {
        true
    }
}

struct Shares<'a> {
    words: &'a SharedWords,
    counts: TeamCounts<'a>,
    seated: Vec<u32>,
    players: i32,
}

impl Shares<'_> {
    fn change(&mut self, ticket: u32, by: i32) {
        self.players += by * self.words.sizes[ticket as usize];
        self.counts.change(0, ticket, by, |_| 0);
    }
}

impl RuleTally for Shares<'_> {
    fn put(&mut self, _: usize, ticket: u32) {
        self.seated.push(ticket);
        self.change(ticket, 1);
    }

    fn take(&mut self, _: usize, ticket: u32) {
        if let Some(at) = self.seated.iter().position(|other| *other == ticket) {
            self.seated.swap_remove(at);
            self.change(ticket, -1);
        }
    }

    fn violation(&self) -> f64 {
        let symbols = self
            .seated
            .iter()
            .flat_map(|ticket| self.words.symbols.of_ticket(*ticket));
        let counts = symbols.map(|symbol| self.counts.get(*symbol));
        f64::from(self.players - counts.max().unwrap_or(0))
    }
}

pub(super) const APART: Registered = Registered {
    name: "apart",
    build: build_apart,
};

/// With `of`, an attribute lists the players to avoid; with `last`, they are those met in that
/// number of last matches.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ApartKeys {
    of: Option<String>,
    last: Option<Count<1, 20>>,
    #[serde(default)]
    side: ApartPairs,
}

/// Which pairs of players a rule is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum ApartPairs {
    /// Players of the same team.
    With,
    /// Players of different teams.
    Against,
    /// All players of the match.
    #[default]
    Both,
}

#[derive(Debug)]
struct Apart {
    of: SetColumn,
    side: ApartPairs,
}

fn build_apart(
    settings: &RuleSettings,
    columns: &mut QueueColumns,
) -> Result<BuiltRule, QueueError> {
    let keys: ApartKeys = settings.read()?;
    let of = match (keys.of, keys.last) {
        (Some(of), None) => columns.players(&of).map_err(at("of"))?,
        (None, Some(last)) => columns.met(last.as_usize()),
        (None, None) => return Err(QueueError::new("of", "or the key last is missing")),
        (Some(_), Some(_)) => {
            return Err(QueueError::new(
                "last",
                "cannot be combined with the key of",
            ));
        }
    };
    let side = keys.side;
    Ok(Apart { of, side }.into())
}

/// Whether pairs on these teams count.
fn counts(side: ApartPairs, one: usize, other: usize) -> bool {
    match side {
        ApartPairs::With => one == other,
        ApartPairs::Against => one != other,
        ApartPairs::Both => true,
    }
}

impl Rule for Apart {
    fn sentence(&self, _: &TicketPeople, _: Teams<'_>, evaluated: Evaluated) -> String {
        // Without names: a client is not shown whom other clients' players avoid.
        match evaluated.violation as u32 {
            0 => "no two players have to be apart".to_owned(),
            pairs => format!(
                "{} should be apart",
                evenkeel_model::text::counted(pairs, "pair")
            ),
        }
    }

    fn prepare(&self, people: &TicketPeople) -> Box<dyn PreparedRule> {
        let mut tickets_of = HashMap::new();
        for ticket in 0..people.tickets() as u32 {
            for player in people.members(ticket) {
                tickets_of.insert(people.id(player), (ticket, player));
            }
        }
        let mut pairs: Vec<HashMap<u32, Vec<(usize, usize)>>> =
            vec![HashMap::new(); people.tickets()];
        for ticket in 0..people.tickets() as u32 {
            for player in people.members(ticket) {
                let avoided = people
                    .set(self.of, player)
                    .iter()
                    .filter_map(|id| tickets_of.get(id));
                for &(other, avoided) in avoided.filter(|(other, _)| *other != ticket) {
                    let pair = (player.min(avoided), player.max(avoided));
                    for (from, to) in [(ticket, other), (other, ticket)] {
                        pairs[from as usize].entry(to).or_default().push(pair);
                    }
                }
            }
        }
        let counted = |found: HashMap<u32, Vec<(usize, usize)>>| {
            let mut counted: Vec<(u32, u32)> = Vec::new();
            for (other, mut pairs) in found {
                pairs.sort_unstable();
                pairs.dedup();
                counted.push((other, pairs.len() as u32));
            }
            counted.sort_unstable();
            counted
        };
        Box::new(Pairs {
            apart: pairs.into_iter().map(counted).collect(),
            side: self.side,
        })
    }
}

/// For each ticket the tickets that it has pairs with, ascending, and how many.
struct Pairs {
    apart: Vec<Vec<(u32, u32)>>,
    side: ApartPairs,
}

impl Pairs {
    fn between(&self, one: u32, other: u32) -> u32 {
        let apart = &self.apart[one as usize];
        let at = apart.binary_search_by_key(&other, |(ticket, _)| *ticket);
        at.map_or(0, |at| apart[at].1)
    }
}

impl PreparedRule for Pairs {
    fn tally(&self, teams: usize, _: f64) -> Box<dyn RuleTally + '_> {
        Box::new(Seated::new(teams, |teams: &[Vec<u32>]| {
            let mut sum = 0;
            for (at, team) in teams.iter().enumerate() {
                for (place, &one) in team.iter().enumerate() {
                    if self.apart[one as usize].is_empty() {
                        continue;
                    }
                    let mates = team
                        .iter()
                        .skip(place + 1)
                        .filter(|_| counts(self.side, at, at));
                    let foes = teams.iter().skip(at + 1).flatten();
                    let foes = foes.filter(|_| counts(self.side, at, at + 1));
                    sum += mates
                        .chain(foes)
                        .map(|&other| self.between(one, other))
                        .sum::<u32>();
                }
            }
            f64::from(sum)
        }))
    }

    fn is_monotone(&self) -> bool {
        true
    }
}
