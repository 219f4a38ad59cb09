//! `chance`: every team's chance to win is within `at_most` of even.
//!
//! The chances are those that the rating system of the queue's ruleset predicts from the players'
//! strengths. Before its first rated match, and with another attribute than `@weight`, the chance of
//! a team is its share of all numbers, as the ratio of weights implies.

use serde::Deserialize;

use super::{
    BuiltRule, Evaluated, Finding, LintContext, PreparedRule, QueueRule, Registered, Rule,
    RuleTally, Teams, at,
    counts::{Seated, parts},
};
use crate::{columns::NumberColumn, people::TicketPeople, settings::Relax};
use evenkeel_model::{TeamLoad, WinModel, units::Amount};

pub(super) const TYPE: Registered = Registered {
    name: "chance",
    build: |settings, columns| {
        let keys: ChanceKeys = settings.read()?;
        let of = keys.of.as_deref().unwrap_or("@weight");
        let rule = Chance {
            of: columns.number(of).map_err(at("of"))?,
            predicted: of == "@weight",
        };
        Ok(BuiltRule::limited(rule, keys.at_most, keys.relax))
    },
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ChanceKeys {
    of: Option<String>,
    at_most: Amount,
    #[serde(default)]
    relax: Relax,
}

#[derive(Debug)]
struct Chance {
    of: NumberColumn,
    /// Whether the rating system's prediction counts, where there is one.
    predicted: bool,
}

/// Strengths are counted in this part of 1, in whole numbers, so that sums are exact in any order.
const GRAINS: f64 = 16_777_216.0;

/// What a team or a ticket adds up to.
#[derive(Clone, Copy, Debug, Default)]
struct ChanceSum {
    heads: usize,
    /// The strengths in grains, or the numbers in parts.
    total: i64,
}

impl std::iter::Sum for ChanceSum {
    fn sum<I: Iterator<Item = Self>>(sums: I) -> Self {
        sums.fold(Self::default(), |one, other| Self {
            heads: one.heads + other.heads,
            total: one.total + other.total,
        })
    }
}

/// The chance of each team.
fn chances(sums: &[ChanceSum], win_model: Option<&WinModel>) -> Vec<f64> {
    match win_model {
        None => shares(sums),
        Some(win_model) => {
            let load = |sum: &ChanceSum| TeamLoad {
                heads: sum.heads,
                strength: sum.total as f64 / GRAINS,
            };
            predicted(&sums.iter().map(load).collect::<Vec<_>>(), win_model)
        }
    }
}

/// The share of each team. Teams without any weight are even.
fn shares(sums: &[ChanceSum]) -> Vec<f64> {
    let positive = |sum: &ChanceSum| sum.total.max(0) as f64;
    let total: f64 = sums.iter().map(positive).sum();
    let share = |sum: &ChanceSum| match total > 0.0 {
        true => positive(sum) / total,
        false => 1.0 / sums.len() as f64,
    };
    sums.iter().map(share).collect()
}

/// The predicted chance of each team, on sides that are alike. Of more than two teams, each has odds
/// against a team of average strength, and the chances are in proportion to these odds.
fn predicted(loads: &[TeamLoad], win_model: &WinModel) -> Vec<f64> {
    if let &[one, other] = loads {
        let edge = win_model.edge(one, other);
        return vec![win_model.link.chance(edge), win_model.link.chance(-edge)];
    }
    let count = loads.len().max(1);
    let mean = TeamLoad {
        heads: loads.iter().map(|load| load.heads).sum::<usize>() / count,
        strength: loads.iter().map(|load| load.strength).sum::<f64>() / count as f64,
    };
    let odds = |load: &TeamLoad| {
        let edge = win_model.edge(*load, mean) / win_model.link.per_log_odds();
        libm::exp(edge.clamp(-500.0, 500.0))
    };
    let odds: Vec<f64> = loads.iter().map(odds).collect();
    let total: f64 = odds.iter().sum();
    odds.iter().map(|odds| odds / total).collect()
}

fn beyond(sums: &[ChanceSum], win_model: Option<&WinModel>, limit: f64) -> f64 {
    let even = 1.0 / sums.len().max(1) as f64;
    let off = chances(sums, win_model)
        .into_iter()
        .map(|chance| (chance - even).abs());
    (off.fold(0.0, f64::max) - limit).max(0.0)
}

impl Chance {
    fn win_model<'a>(&self, people: &'a TicketPeople) -> Option<&'a WinModel> {
        people.win_model().filter(|_| self.predicted)
    }

    fn sum(&self, people: &TicketPeople, tickets: &[u32]) -> ChanceSum {
        let own = |player: usize| ChanceSum {
            heads: 1,
            total: match self.win_model(people) {
                Some(_) => (people.strength(player).clamp(-1e6, 1e6) * GRAINS).round() as i64,
                None => parts(people.number(self.of, player)),
            },
        };
        people.all(tickets).map(own).sum()
    }

    fn sums(&self, people: &TicketPeople, teams: Teams<'_>) -> Vec<ChanceSum> {
        teams.iter().map(|team| self.sum(people, team)).collect()
    }
}

impl Rule for Chance {
    fn sentence(&self, people: &TicketPeople, teams: Teams<'_>, evaluated: Evaluated) -> String {
        let limit = evaluated.limit;
        let chances = chances(&self.sums(people, teams), self.win_model(people));
        let chances: Vec<String> = chances
            .iter()
            .map(|chance| format!("{chance:.3}"))
            .collect();
        format!(
            "chances by team: {}; {limit} from even is allowed",
            chances.join(" | ")
        )
    }

    fn lint(&self, own: &QueueRule, queue: &LintContext<'_>) -> Vec<Finding> {
        let (limit, teams) = (own.at_most, f64::from(queue.settings.teams.get()));
        let why = || format!("never binds: no chance is {limit} from even");
        let warning = (limit >= 1.0 - 1.0 / teams).then(|| Finding::warning(&own.name, why()));
        warning.into_iter().collect()
    }

    fn prepare(&self, people: &TicketPeople) -> Box<dyn PreparedRule> {
        let tickets = 0..people.tickets() as u32;
        Box::new(ChanceSums {
            own: tickets.map(|ticket| self.sum(people, &[ticket])).collect(),
            win_model: self.win_model(people).copied(),
        })
    }
}

/// What each ticket adds to its team.
struct ChanceSums {
    own: Vec<ChanceSum>,
    win_model: Option<WinModel>,
}

impl PreparedRule for ChanceSums {
    fn tally(&self, teams: usize, limit: f64) -> Box<dyn RuleTally + '_> {
        Box::new(Seated::new(teams, move |teams: &[Vec<u32>]| {
            let own = |ticket: &u32| self.own[*ticket as usize];
            let sum = |team: &Vec<u32>| team.iter().map(own).sum();
            let sums: Vec<ChanceSum> = teams.iter().map(sum).collect();
            beyond(&sums, self.win_model.as_ref(), limit)
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_model::{Crowding, Link};

    fn win_model(link: Link) -> WinModel {
        WinModel {
            link,
            per_strength: 0.8,
            players: 4.0,
            crowding: Crowding::Root,
            per_head: 0.0,
            per_log_size: 0.0,
            side: 0.3,
            unit: 1.0,
            deviation: 0.0,
            company: Default::default(),
        }
    }

    fn of(strengths: &[f64]) -> Vec<ChanceSum> {
        let sum = |strength: &f64| ChanceSum {
            heads: 2,
            total: (strength * GRAINS).round() as i64,
        };
        strengths.iter().map(sum).collect()
    }

    #[test]
    fn two_teams_have_the_chances_that_the_rating_system_predicts() {
        for link in [Link::Normal, Link::Logistic] {
            let win_model = win_model(link);
            let both = chances(&of(&[0.5, -0.25]), Some(&win_model));
            assert!((both[0] - link.chance(0.8 * 0.75)).abs() < 1e-7, "{both:?}");
            assert!((both[0] + both[1] - 1.0).abs() < 1e-12);
            assert_eq!(chances(&of(&[0.5, 0.5]), Some(&win_model)), [0.5, 0.5]);
        }
    }

    #[test]
    fn the_chances_of_more_teams_add_up_to_one_and_follow_the_strengths() {
        let win_model = win_model(Link::Logistic);
        let three = chances(&of(&[1.0, 0.0, -1.0]), Some(&win_model));
        assert!((three.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(three[0] > three[1] && three[1] > three[2], "{three:?}");
        // The odds of the first against the second are those of a game between the two.
        let duel = (win_model.per_strength_at(4)).exp();
        assert!((three[0] / three[1] - duel).abs() < 1e-6);
    }

    #[test]
    fn without_a_win_model_the_shares_count() {
        let weights = [60.0, 40.0].map(|weight| ChanceSum {
            heads: 1,
            total: parts(weight),
        });
        assert_eq!(chances(&weights, None), [0.6, 0.4]);
        assert_eq!(chances(&[ChanceSum::default(); 2], None), [0.5, 0.5]);
    }
}
