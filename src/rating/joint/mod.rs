//! `joint`, the default: a probit filter that keeps the full covariance between players.
//!
//! A team game tells only of sums: of a team that won, was it this player or that one? A rating
//! per player, each with an uncertainty of its own, forgets such questions after each match; the
//! covariance between all of them keeps them open until another lineup answers. The state is a
//! Gaussian over `columns`: players, commanders, what being new costs, a head more, friends,
//! sides, and sides of maps. A match is a sparse row a of factors; its latent difference is
//! d = a·x + N(0, 1), and team a wins when d > 0, so the chance is Φ(a·m / √(1 + a·S·a)). Learning is
//! moment matching with one rank-1 change of S (`filter`).
//!
//! - **Ties** say that |d| was small: within the ε at which as many matches of equals are ties as
//!   there were. Decided matches count by their sign alone, since ties in real games are no band
//!   between victory and defeat but whatever the game's rules call one.
//! - **Points** where there are some: the difference of the teams' √points, which has about the same
//!   noise whatever the number of points (Anscombe), divided by its own typical size, is taken for d
//!   itself. This replaces the outcome, which is only its sign.
//! - **Priors** are weighed by evidence (`bank`), so there is nothing to tune. What evidence has not
//!   decided yet are constants with room on both sides, chosen on the first fifth of three sets of finished
//!   games (the benchmark `accuracy` measures on the rest).
//! - **Absence** blurs, in the beginning a week as much as a match.
//! - **Beyond [`ACTIVE`] columns** those who have been away longest leave the covariance: what is known
//!   of them as players stays, independent of all others, until they return.

mod bank;
pub(super) mod columns;
mod filter;
mod triangle;

use std::{cmp::Ordering, collections::BTreeMap};

use serde::{Deserialize, Serialize};

use self::{
    bank::{Bank, Told},
    columns::{Column, Columns},
    filter::{Prior, Sight},
};
use super::{Game, Player, Roll, Scale, Strength, System, normal, running::Running};
use crate::domain::{Crowding, Link, Outlook};

/// Columns in the covariance at most: 8 MB and about half a millisecond a match.
pub const ACTIVE: usize = 2_000;
/// The strength above a newcomer's whose weight is 75, see [`Scale`].
const HALFWAY: f64 = 0.46;

/// The system.
#[derive(Clone, Serialize, Deserialize)]
pub struct Joint {
    columns: Columns,
    bank: Bank,
    matches: u64,
    /// Per ruleset.
    customs: BTreeMap<u32, Customs>,
    /// What is known of those outside the covariance, one entry per member of the bank.
    away: Roll<Away>,
    /// Columns at most.
    active: usize,
    cleared: bool,
}

/// How matches of a ruleset end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Customs {
    /// Mean square of points over what was uncertain.
    points: Running,
    ties: f64,
    decided: f64,
    /// Mean of a·S·a.
    variance: Running,
}

impl Default for Customs {
    /// As if there had been one match with a typical score, 2 : 1, and five outcomes with one tie.
    fn default() -> Self {
        Self {
            points: Running::from(0.1),
            ties: 1.0,
            decided: 4.0,
            variance: Running::from(1.0),
        }
    }
}

/// What is known of somebody outside the covariance.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Away {
    /// From elsewhere: the same for every member.
    Adopted(Strength),
    /// From before: each member's own, by its prior and whether it learns from points.
    Dormant(Vec<(Prior, bool, Strength)>),
}

impl Away {
    /// What a member knows of them. One that wasn't there yet knows what the one knew that it is a
    /// double of.
    fn of(&self, member: &bank::Member) -> Option<Strength> {
        let each = match self {
            Away::Adopted(strength) => return Some(*strength),
            Away::Dormant(each) => each,
        };
        let like = |(prior, points, _): &&(Prior, bool, Strength)| {
            let (points, drift) = (*points == member.points, *prior == member.prior);
            (prior.skill == member.prior.skill, points, drift)
        };
        let closest = each.iter().max_by_key(like);
        closest.map(|(_, _, strength)| *strength)
    }

    fn fade(&mut self, keep: f64) {
        if let Away::Dormant(each) = self {
            for (prior, _, strength) in each {
                *strength = strength.faded(keep, Strength::prior(prior.skill));
            }
        }
    }
}

impl Joint {
    /// Nothing seen yet.
    pub fn new() -> Self {
        Self {
            columns: Columns::default(),
            bank: Bank::default(),
            matches: 0,
            customs: BTreeMap::new(),
            away: Roll::default(),
            active: ACTIVE,
            cleared: false,
        }
    }

    /// Gives numbers to all columns of a row that have none.
    fn admit(&mut self, new: &[(Column, f64)]) {
        for &(column, _) in new {
            let away = match column {
                Column::Skill(player) => self.away.remove(player),
                _ => None,
            };
            for member in &mut self.bank.members {
                let known = away.as_ref().and_then(|away| away.of(member));
                let fresh = || Strength::prior(member.prior.deviation(column));
                member.filter.add(known.unwrap_or_else(fresh));
            }
            self.columns.add(column);
        }
    }

    /// Learns from one pair of teams.
    fn compare(&mut self, game: &Game, a: usize, b: usize, result: Ordering) {
        let mut row = self.columns.row(game, a, b);
        if !row.new.is_empty() {
            self.admit(&row.new);
            row = self.columns.row(game, a, b);
        }
        for member in &mut self.bank.members {
            member.look(&row);
        }
        let variance = self.bank.mean(|m| m.seen.variance);
        let customs = self.customs.entry(game.ruleset).or_default();
        let told = customs.told(game, a, b, result, variance);
        if told.points.is_some() {
            self.bank.try_points();
        }
        let still = self.still(game, a, b);
        for member in &mut self.bank.members {
            member.learn(told, &still);
        }
    }

    /// Columns, ascending, of those who take part without learning.
    fn still(&self, game: &Game, a: usize, b: usize) -> Vec<usize> {
        let seats = game.team(a).iter().chain(game.team(b));
        let players = seats.filter(|s| !s.learns).map(|s| s.player);
        let columns = players.flat_map(|p| [Column::Skill(p), Column::Command(p)]);
        let mut still: Vec<usize> = columns.filter_map(|c| self.columns.number(c)).collect();
        still.sort_unstable();
        still.dedup();
        still
    }

    /// Takes those out of the covariance who have been away longest.
    fn clear(&mut self) {
        self.cleared = true;
        let is_map = |column: &&Column| matches!(column, Column::SideMap(..));
        let many_maps = self.columns.list.iter().filter(is_map).count() > self.active / 4;
        let last_game = |column: &Column| match column {
            Column::Skill(p) | Column::Command(p) => self.columns.last_game(*p),
            // Of maps there are few, unless somebody makes them up.
            Column::SideMap(..) if many_maps => 0,
            _ => u64::MAX,
        };
        let list = &self.columns.list;
        let mut kept: Vec<usize> = (0..list.len()).collect();
        kept.sort_by_key(|&i| (std::cmp::Reverse(last_game(&list[i])), i));
        let leaving = kept.split_off(self.active * 3 / 4); // so that clearing is rare
        kept.sort_unstable();
        for number in leaving {
            if let Column::Skill(player) = list[number] {
                let members = self.bank.members.iter();
                let each = members.map(|m| (m.prior, m.points, m.filter.strength(number)));
                let dormant = Away::Dormant(each.collect());
                self.away.enter(player, || dormant);
            }
        }
        self.columns.keep(&kept);
        for member in &mut self.bank.members {
            member.filter.keep(&kept);
        }
    }

    /// What one member knows of somebody, newness not counted.
    fn skill(&self, member: &bank::Member, player: Player) -> Option<Strength> {
        if let Some(number) = self.columns.number(Column::Skill(player)) {
            return Some(member.filter.strength(number));
        }
        self.away.get(player)?.of(member)
    }

    /// The latent difference of two teams as each member of the bank has it, with the member's weight.
    fn latents(
        &self,
        game: &Game,
        a: usize,
        b: usize,
    ) -> impl Iterator<Item = (f64, filter::Latent)> {
        let mut row = self.columns.row(game, a, b);
        let mut away = Vec::new();
        row.new.retain(|&(column, x)| match column {
            Column::Skill(player) if self.away.get(player).is_some() => {
                away.push((player, x));
                false
            }
            _ => true,
        });
        let members = self.bank.weights().into_iter().zip(&self.bank.members);
        members.map(move |(weight, member)| {
            let mut latent = member.latent(&row);
            for &(player, x) in &away {
                if let Some(s) = self.skill(member, player) {
                    latent.mean += x * s.mean;
                    latent.variance += (x * s.deviation) * (x * s.deviation);
                }
            }
            (weight, latent)
        })
    }

    /// What one unit of a shared column is worth.
    fn effect(&self, column: Column) -> f64 {
        let number = self.columns.number(column);
        number.map_or(0.0, |n| self.bank.mean(|m| m.filter.mean(n)))
    }
}

impl Default for Joint {
    fn default() -> Self {
        Self::new()
    }
}

impl Customs {
    /// What a match tells about the latent difference, and what it tells about the next ones' customs.
    fn told(&mut self, game: &Game, a: usize, b: usize, result: Ordering, variance: f64) -> Told {
        self.variance.add(variance);
        let outcome = match result {
            Ordering::Less => Sight::Sign(1.0),
            Ordering::Greater => Sight::Sign(-1.0),
            Ordering::Equal => Sight::Within(self.tie_margin()),
        };
        match result {
            Ordering::Equal => self.ties += 1.0,
            _ => self.decided += 1.0,
        }
        let points = game.scores.get(a).zip(game.scores.get(b)).map(|(x, y)| {
            let difference = anscombe(*x) - anscombe(*y);
            self.points.add(difference * difference / (1.0 + variance));
            Sight::Value(difference / libm::sqrt(self.points.mean()))
        });
        Told { outcome, points }
    }

    /// The ε at which matches of typical uncertainty are ties as often as matches were.
    fn tie_margin(&self) -> f64 {
        let share = self.ties / (self.ties + self.decided);
        normal::quantile(0.5 + 0.5 * share) * libm::sqrt(1.0 + self.variance.mean())
    }
}

/// Anscombe's transform: counts of any size have about the same noise after it.
fn anscombe(points: f64) -> f64 {
    libm::sqrt(points.max(0.0) + 0.375)
}

impl System for Joint {
    fn beats(&self, game: &Game, a: usize, b: usize) -> f64 {
        let latents = self.latents(game, a, b);
        latents.map(|(weight, latent)| weight * latent.chance()).sum()
    }

    fn update(&mut self, game: &Game) {
        let pairs = game.neighbours();
        if pairs.is_empty() {
            return;
        }
        self.matches += 1;
        let skill = |p| self.columns.number(Column::Skill(p));
        let away = |player| self.columns.absence(player, game.day);
        let seats = game.seats().iter();
        let mut playing: Vec<(usize, f64)> = seats
            .filter_map(|s| Some((skill(s.player)?, away(s.player))))
            .collect();
        playing.sort_unstable_by_key(|(column, _)| *column);
        playing.dedup_by_key(|(column, _)| *column);
        for member in &mut self.bank.members {
            member.drift(playing.iter().copied());
        }
        for (a, b, result) in pairs {
            self.compare(game, a, b, result);
        }
        self.columns.count(game, self.matches);
        self.bank.halve(self.matches);
        if self.columns.list.len() > self.active {
            self.clear();
        }
    }

    fn strength(&self, player: Player) -> Option<Strength> {
        self.skill(&self.bank.members[0], player)?;
        let known = self.effect(Column::Newness) * self.columns.newness(player)
            + self.effect(Column::Record) * self.columns.record(player);
        let of = |member: &bank::Member| {
            let fresh = Strength::prior(member.prior.skill);
            self.skill(member, player).unwrap_or(fresh)
        };
        let mut strength = self.bank.strength(of);
        strength.mean += known;
        Some(strength)
    }

    fn scale(&self) -> Scale {
        Scale::Strengths {
            newcomer: self.effect(Column::Newness),
            halfway: HALFWAY,
        }
    }

    /// The noise is that of this very lineup, 1 + a·S·a.
    fn outlook(&self, game: &Game) -> Outlook {
        let (mut per_unit, mut variance, mut sum) = (0.0, 0.0, 0.0);
        for (weight, latent) in self.latents(game, 0, 1) {
            per_unit += weight / libm::sqrt(1.0 + latent.variance);
            variance += weight * latent.variance;
            sum += weight;
        }
        let variance = variance / f64::max(sum, f64::MIN_POSITIVE);
        let players = game.shares().max(1.0);
        let per_latent = per_unit / f64::max(sum, f64::MIN_POSITIVE);
        let per_strength = per_latent * columns::unit(players);
        let side = |column| per_latent * self.effect(column);
        let sides = match game.sides && game.teams() == 2 {
            true => [
                Column::Side(game.ruleset),
                Column::SideMap(game.ruleset, game.map),
            ]
            .map(side),
            false => [0.0; 2],
        };
        let newcomer = self.effect(Column::Newness);
        Outlook {
            link: Link::Normal,
            per_strength,
            players,
            crowding: Crowding::Root,
            per_head: per_strength * newcomer,
            per_log_size: per_latent * self.effect(Column::Size),
            side: sides.iter().sum(),
            halfway: HALFWAY,
            doubt: per_latent * libm::sqrt(variance),
        }
    }

    fn adopt(&mut self, player: Player, known: Strength) {
        let dormant = matches!(self.away.get(player), Some(Away::Dormant(_)));
        if !dormant && self.columns.number(Column::Skill(player)).is_none() {
            self.away.set(player, Away::Adopted(known));
        }
    }

    fn hint(&mut self, player: Player, told: Strength) {
        let Some(number) = self.columns.number(Column::Skill(player)) else {
            return;
        };
        // Being new counts as it did in the game that the hint comes from.
        let known = self.effect(Column::Newness) * self.columns.newness(player)
            + self.effect(Column::Record) * self.columns.record(player);
        for member in &mut self.bank.members {
            member.observe(number, told.mean - known, told.variance());
        }
    }

    fn new_season(&mut self, keep: f64) {
        for away in self.away.values_mut() {
            away.fade(keep);
        }
        let list = &self.columns.list;
        for member in &mut self.bank.members {
            let prior: Prior = member.prior;
            member.filter.fade(keep, |number| match list[number] {
                column @ (Column::Skill(_) | Column::Command(_)) => Some(prior.deviation(column)),
                _ => None,
            });
        }
    }

    fn remark(&self) -> Option<String> {
        self.cleared.then(|| {
            format!("over {ACTIVE} columns: those away longest are rated without their covariances")
        })
    }
}

#[cfg(test)]
mod tests;
