//! What `joint` learns from a game.

use super::{Joint, columns::Column};
use crate::{RatedGame, Strength, game::Comparison};

impl Joint {
    /// Learns from a game.
    pub(super) fn learn(&mut self, game: &RatedGame) {
        if game.places.is_empty() || game.teams() < 2 {
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
            self.bank.try_points(); // so that every member has a win model
        }
        let mut predictions = Vec::with_capacity(game.departures.len());
        for departure in &game.departures {
            predictions.push(self.look_ahead(departure));
        }
        let mut expected = Vec::with_capacity(game.arrivals.len());
        for arrival in &game.arrivals {
            expected.push(self.expect(game, arrival));
        }
        for comparison in &game.comparisons() {
            self.compare(game, comparison);
        }
        self.meet(game);
        for (arrival, expected) in game.arrivals.iter().zip(&expected) {
            self.welcome(game, arrival, expected);
        }
        let others = self.stayers(game);
        for (departure, prediction) in game.departures.iter().zip(&predictions) {
            self.charge(game, departure, prediction, &others);
        }
        self.columns.count(game, self.matches);
        self.bank.prune(self.matches);
        if self.columns.list.len() > self.active {
            self.clear();
        }
    }

    /// Adds a column for each of these entries, which have none.
    pub(super) fn admit(&mut self, new: &[(Column, f64)], game: &RatedGame) {
        for &(column, _) in new {
            let away = match column {
                Column::Skill(player) => self.away.take(player),
                _ => None,
            };
            for member in &mut self.bank.members {
                if let Column::Newness | Column::Experience = column {
                    let deviation = member.prior.deviation(column);
                    member.filter.add_optional(deviation);
                    continue;
                }
                let known = away.as_ref().and_then(|away| self.away.of(away, member));
                let fresh = || member.prior.strength_in(column, game.no_map);
                member.filter.add(known.unwrap_or_else(fresh));
            }
            self.columns.add(column);
        }
    }

    /// Gives columns to the players who have none yet: where all share a place, nothing is compared.
    fn meet(&mut self, game: &RatedGame) {
        let players = game.seats().iter().map(|seat| Column::Skill(seat.player));
        let mut new: Vec<Column> = players
            .filter(|column| self.columns.number(*column).is_none())
            .collect();
        new.sort_unstable();
        new.dedup();
        let entries: Vec<(Column, f64)> = new.into_iter().map(|column| (column, 0.0)).collect();
        self.admit(&entries, game);
    }

    /// Learns from two teams, or two neighbouring places, and the result.
    fn compare(&mut self, game: &RatedGame, comparison: &Comparison) {
        let mut row = self.columns.compared(game, comparison);
        if !row.new.is_empty() {
            self.admit(&row.new, game);
            row = self.columns.compared(game, comparison);
        }
        for member in &mut self.bank.members {
            member.look(&row);
        }
        let variance = self.bank.mean(|m| m.seen.variance);
        let mean = self.bank.mean(|m| m.seen.mean);
        let statistics = self.outcomes.entry(game.mode).or_default();
        let observed = statistics.observe(game, comparison, mean, variance);
        if observed.points.is_some() {
            self.bank.try_points();
        }
        let still = self.still(game, comparison);
        let record = self.columns.number(Column::Record);
        for member in &mut self.bank.members {
            member.learn(game.ruleset, observed, &still, record);
        }
        self.bank.weigh();
    }

    /// The columns, ascending, of players who take part in the game without learning from it.
    fn still(&self, game: &RatedGame, comparison: &Comparison) -> Vec<usize> {
        let teams = comparison.sides.iter().flatten();
        let seats = teams.flat_map(|&team| game.team(team));
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
