//! `apart`: nobody is with, or against, players whom they avoid, or whom they met in the last
//! matches. The violation is the number of such pairs. Players of one party are never apart.

use std::collections::HashMap;

use serde::Deserialize;

use super::{
    BuiltRule, Evaluated, PreparedRule, QueueColumns, QueueError, Registered, Rule, RuleSettings,
    RuleTally, Teams, at, counts::Seated,
};
use crate::{columns::SetColumn, people::TicketPeople};
use evenkeel_model::units::Count;

pub(super) const TYPE: Registered = Registered {
    name: "apart",
    build,
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

fn build(settings: &RuleSettings, columns: &mut QueueColumns) -> Result<BuiltRule, QueueError> {
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
            pairs => format!("{} should be apart", evenkeel_model::counted(pairs, "pair")),
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
