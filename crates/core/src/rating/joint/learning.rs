//! What `joint` learns from a game.

use std::cmp::Ordering;

use super::{Joint, columns::Column};
use crate::rating::{RatedGame, Strength};

impl Joint {
    /// Learns from a game.
    pub(super) fn learn(&mut self, game: &RatedGame) {
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
        if !game.departures.is_empty() {
            self.bank.try_points(); // so that every member has an outlook
        }
        let mut outlooks = Vec::with_capacity(game.departures.len());
        for departure in &game.departures {
            outlooks.push(self.look_ahead(departure));
        }
        let mut expected = Vec::with_capacity(game.arrivals.len());
        for arrival in &game.arrivals {
            expected.push(self.expect(game, arrival));
        }
        for (a, b, result) in pairs {
            self.compare(game, a, b, result);
        }
        for (arrival, expected) in game.arrivals.iter().zip(&expected) {
            self.welcome(game, arrival, expected);
        }
        let others = self.stayers(game);
        for (departure, outlook) in game.departures.iter().zip(&outlooks) {
            self.charge(game, departure, outlook, &others);
        }
        self.columns.count(game, self.matches);
        self.bank.prune(self.matches);
        if self.columns.list.len() > self.active {
            self.clear();
        }
    }

    /// Adds a column for each entry of a game's row that has none.
    pub(super) fn admit(&mut self, new: &[(Column, f64)], game: &RatedGame) {
        for &(column, _) in new {
            let away = match column {
                Column::Skill(player) => self.away.take(player),
                _ => None,
            };
            for member in &mut self.bank.members {
                let known = away.as_ref().and_then(|away| self.away.of(away, member));
                let fresh = || member.prior.strength_in(column, game.no_map);
                member.filter.add(known.unwrap_or_else(fresh));
            }
            self.columns.add(column);
        }
    }

    /// Learns from one pair of teams and its result.
    fn compare(&mut self, game: &RatedGame, a: usize, b: usize, result: Ordering) {
        let mut row = self.columns.row(game, a, b);
        if !row.new.is_empty() {
            self.admit(&row.new, game);
            row = self.columns.row(game, a, b);
        }
        for member in &mut self.bank.members {
            member.look(&row);
        }
        let variance = self.bank.mean(|m| m.seen.variance);
        let mean = self.bank.mean(|m| m.seen.mean);
        let statistics = self.outcomes.entry(game.mode).or_default();
        let observed = statistics.observe(game, a, b, result, mean, variance);
        if observed.points.is_some() {
            self.bank.try_points();
        }
        let still = self.still(game, a, b);
        let record = self.columns.number(Column::Record);
        for member in &mut self.bank.members {
            member.learn(game.ruleset, observed, &still, record);
        }
        self.bank.weigh();
    }

    /// The columns, ascending, of players who take part in the game without learning from it.
    fn still(&self, game: &RatedGame, a: usize, b: usize) -> Vec<usize> {
        let seats = game.team(a).iter().chain(game.team(b));
        let players = seats.filter(|s| !s.learns).map(|s| s.player);
        let columns = players.flat_map(|p| [Column::Skill(p), Column::Command(p)]);
        let mut still: Vec<usize> = columns.filter_map(|c| self.columns.number(c)).collect();
        still.sort_unstable();
        still.dedup();
        still
    }

    /// Moves the players who have been away longest out of the covariance.
    fn clear(&mut self) {
        self.cleared = true;
        let is_map = |column: &&Column| matches!(column, Column::SideMap(..));
        let many_maps = self.columns.list.iter().filter(is_map).count() > self.active / 4;
        let last_game = |column: &Column| match column {
            Column::Skill(p) | Column::Command(p) => self.columns.last_game(*p),
            // There are few maps, unless a game server invents names.
            Column::SideMap(..) if many_maps => 0,
            _ => u64::MAX,
        };
        let list = &self.columns.list;
        let mut kept: Vec<usize> = (0..list.len()).collect();
        kept.sort_by_key(|&i| (std::cmp::Reverse(last_game(&list[i])), i));
        let leaving = kept.split_off(self.active * 3 / 4); // a quarter at once, so that clearing is rare
        kept.sort_unstable();
        let bank = self.away.number(&self.bank);
        for number in leaving {
            if let Column::Skill(player) = list[number] {
                let members = self.bank.members.iter();
                let each: Vec<Strength> = members.map(|m| m.filter.strength(number)).collect();
                self.away.leave(player, bank, &each);
            }
        }
        self.columns.keep(&kept);
        for member in &mut self.bank.members {
            member.filter.keep(&kept);
        }
    }
}
