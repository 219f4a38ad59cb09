//! Handles scores, points and the end of a game: sends requests to the daemon.

use super::FollowedServer;
use crate::{balancing_window::BalancingWindow, logged::ConnectionKey, progress::GamePhase};
use evenkeel_ingest::GameEvent;
use evenkeel_protocol::Request;

impl FollowedServer {
    /// Handles what the log shows of the clients in play, and of the results.
    pub(crate) fn take(&mut self, event: GameEvent) {
        match event {
            GameEvent::Left(client) => self.player_left(&ConnectionKey::of(client)),
            GameEvent::Over => self.over(),
            GameEvent::Ended => self.end(),
            GameEvent::Death {
                victim,
                by,
                enemy,
                moved,
            } => {
                let victim = ConnectionKey::of(victim);
                let killer = by.filter(|_| enemy).map(ConnectionKey::of);
                self.killed(&victim, killer.as_ref());
                if !moved {
                    self.death(&victim);
                }
            }
            GameEvent::Score { team, points, by } => {
                self.side_score(team, points, by.map(ConnectionKey::of).as_ref());
            }
            GameEvent::Total { team, points } if self.is_playing() => {
                self.finals(vec![(team, points)]);
            }
            GameEvent::Result(scores) if self.is_over() => {
                let game = self.game.as_mut();
                if game.is_some_and(|game| game.logged.note_result()) {
                    let scores = (0..).zip(scores);
                    let stated = scores.filter_map(|(team, score)| Some((team, score?)));
                    self.finals(stated.collect());
                }
            }
            GameEvent::Points { client, points } if self.is_over() && points.is_finite() => {
                self.points(client, points);
            }
            _ => {}
        }
    }

    /// Ends the game if all results have been logged, or are overdue.
    pub(crate) fn end_if_results_are_known(&mut self) {
        let game = self.game.as_ref().filter(|_| self.is_over());
        let known = game.is_some_and(|game| {
            let known = self.roster.seats().filter(|(_, seat)| seat.entry.is_some());
            let numbers = known.filter_map(|(connection, _)| connection.0);
            let numbers = numbers.map(|number| number as usize);
            game.logged.has_results(numbers)
        });
        if known || self.is_overdue() {
            self.end();
        }
    }

    /// The score of a side has changed by `points`, because of a player if the log names one.
    fn side_score(&mut self, side: u8, points: f64, by: Option<&ConnectionKey>) {
        if let Some(game) = &mut self.game
            && game.logged.phase() == GamePhase::Playing
        {
            let entry = by.and_then(|by| self.roster.entry(by));
            let by = entry.map(|entry| entry.id.as_str());
            let team = game.team_of(side);
            game.score(team, points, by, &mut self.link.outbox(&mut self.acts));
        }
    }

    /// The log states the score of a side.
    pub(crate) fn total(&mut self, side: u8, total: f64) {
        if let Some(game) = &mut self.game {
            game.total(side, total, &mut self.link.outbox(&mut self.acts));
        }
    }

    /// The log states the final scores of the sides.
    pub(crate) fn finals(&mut self, finals: Vec<(u8, f64)>) {
        if let Some(game) = &mut self.game {
            game.finals(finals, &mut self.link.outbox(&mut self.acts));
        }
    }

    /// The log states a client's final points.
    fn points(&mut self, client: usize, points: f64) {
        let entry = self.roster.entry(&ConnectionKey::of(client));
        if let (Some(entry), Some(game)) = (entry, &mut self.game)
            && game.logged.note_points(client)
            && game.complete
        {
            let id = entry.ident();
            let mut out = self.link.outbox(&mut self.acts);
            out.send(Request::Points { id, points });
        }
    }

    /// Play has ended. The log states the results next.
    pub(crate) fn over(&mut self) {
        self.settle_sides(u64::MAX);
        let at = self.phase_clock();
        if let Some(game) = &mut self.game
            && game.logged.phase() == GamePhase::Playing
        {
            game.logged.enter(GamePhase::Over, at);
        }
    }

    /// Whether the results are overdue.
    pub(crate) fn is_overdue(&self) -> bool {
        let at = self.phase_clock();
        let game = self.game.as_ref();
        game.is_some_and(|game| game.logged.is_overdue(at))
    }

    /// Ends the game if its results are overdue, and decides whether the teams have exchanged their sides.
    pub(super) fn settle_results(&mut self) {
        if self.is_overdue() {
            self.end();
        }
        self.settle_sides(self.now);
    }

    /// All results have been read, or are overdue.
    pub(crate) fn end(&mut self) {
        let at = self.phase_clock();
        let Some(game) = &mut self.game else { return };
        if !matches!(game.logged.phase(), GamePhase::Playing | GamePhase::Over) {
            return;
        }
        game.logged.enter(GamePhase::Ended, at);
        let complete = game.complete;
        if !(complete && game.met.is_empty()) {
            self.link.end(complete, &mut self.acts);
        }
        if self.between_games {
            self.window = BalancingWindow::new(self.now);
            self.update_all();
        }
    }
}
