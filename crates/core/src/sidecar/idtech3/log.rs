//! Reads events of the log.

use super::{IdTech3, connection, game::LoggedGame, slots::Slots};
use crate::{
    ingest::{
        idtech3::{
            grammar::{self, Event},
            scoring::{KillScore, TEAMS, TeamPoints},
            setup::GameSetup,
        },
        stamp,
    },
    sidecar::follower::{FollowedServer, FollowedSetup},
};

impl IdTech3 {
    pub(super) fn read_log_line(&mut self, line: &[u8], server: &mut FollowedServer) {
        let line = stamp::bare(line, grammar::has_time);
        let Ok(Some((at, event))) = grammar::read(line, true) else {
            return;
        };
        server.read_clock(at);
        let begins = matches!(event, Event::InitGame(_) | Event::Warmup);
        let opened = self.game.as_ref().is_some_and(|game| game.has_opened(at));
        if !begins && server.is_opening() && opened {
            self.start(server);
        }
        self.end_if_results_are_known(server);
        self.event(event, at, server);
        self.end_if_results_are_known(server);
    }

    /// Starts play once it must have begun, although the log says nothing.
    pub(super) fn open(&mut self, server: &mut FollowedServer) {
        let game = self.game.as_ref();
        if server.is_opening() && game.is_some_and(|game| game.is_silent(server.now())) {
            self.start(server);
        }
    }

    /// Ends the game if all results have been logged, or are overdue.
    fn end_if_results_are_known(&self, server: &mut FollowedServer) {
        let Some(game) = &self.game else { return };
        let known = server.is_over() && {
            let players = server.known_players();
            let numbers = players.filter_map(|connection| connection.0);
            let teams = game.setup.teams;
            game.results
                .are_whole(teams, numbers.map(|number| number as usize))
        };
        if known || server.is_overdue() {
            server.end();
        }
    }

    fn event(&mut self, event: Event<'_>, at: u64, server: &mut FollowedServer) {
        match event {
            Event::InitGame(info) => {
                end_if_over(server);
                self.slots = Slots::default();
                server.leave_map();
                self.begin(info, at, server);
            }
            Event::InitRound(info) => {
                // Before an exit, a round of Urban Terror belongs to the same game, whose play starts with it.
                if !server.has_game() {
                    self.begin(info, at, server);
                }
                self.start(server);
            }
            Event::Shutdown => {
                end_if_over(server);
                server.close_map();
            }
            Event::Warmup if server.is_opening() || server.is_playing() => {
                (self.warms_up, self.warmed) = (true, true);
                if server.is_playing()
                    && let Some(game) = &self.game
                {
                    // What was played until now does not count, if play has begun at all.
                    server.begin(followed(&game.setup));
                }
                server.warm_up();
            }
            Event::Exit => server.over(),
            Event::Disconnect(number) => {
                self.slots.remove(number);
                server.player_left(&connection(number));
            }
            Event::Say(said) => self.hear(said, server),
            other => self.client(other, server),
        }
    }

    /// Handles what the log states of a client.
    fn client(&mut self, event: Event<'_>, server: &mut FollowedServer) {
        if let Some(number) = self.slots.take(&event) {
            if let Some(player) = self.player(number) {
                server.player_named(connection(number), player);
            }
        } else {
            self.play(event, server);
        }
    }

    /// Handles events of play and of its results.
    fn play(&mut self, event: Event<'_>, server: &mut FollowedServer) {
        let Some(game) = &mut self.game else { return };
        match event {
            Event::Kill {
                killer,
                victim,
                team_change,
            } => {
                let team_of = |number| self.slots.team(number);
                let kill = KillScore::of(&game.setup, killer, victim, team_change, team_of);
                let victim = connection(victim);
                let killer = kill.enemy_killed_by.map(connection);
                server.killed(&victim, killer.as_ref());
                if let Some(change) = kill.points {
                    score(change, server);
                }
                if !team_change {
                    server.death(&victim);
                }
            }
            Event::Capture { by, flag } => score(TeamPoints::of_capture(flag, by), server),
            Event::TeamScore { team, total } if server.is_playing() => {
                // The log counts from 1: 0 is "free", 3 "spectators".
                let team = (0..TEAMS as u8).find(|index| i64::from(*index) + 1 == team);
                server.finals(team.map(|team| (team, total as f64)).into_iter().collect());
            }
            Event::Result([red, blue]) if server.is_over() && game.results.note_result() => {
                server.finals(vec![(0, red as f64), (1, blue as f64)]);
            }
            Event::Points { client, points } if server.is_over() => {
                let of = connection(client);
                let known = server.known_players().any(|known| *known == of);
                if known && game.results.note_points(client) {
                    server.points(&of, points as f64);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, info: &[u8], at: u64, server: &mut FollowedServer) {
        let game = LoggedGame::new(info, at, server.now());
        self.game = None;
        if let Some(name) = &game.setup.unsupported {
            server.leave_map();
            if !std::mem::replace(&mut self.refused, true) {
                server.report(&format!(
                    "{name} is not supported; the daemon is sent nothing about this game server"
                ));
            }
            return;
        }
        server.begin(followed(&game.setup));
        self.game = Some(game);
    }

    fn start(&mut self, server: &mut FollowedServer) {
        // A warm-up before this game means that there will be one before the next game.
        self.warms_up = std::mem::take(&mut self.warmed);
        match &self.game {
            // If a game starts again during play, the daemon still regards it as the same game, and its final score
            // corrects the scores that were reported before.
            Some(_) if server.is_playing() => server.start_again(),
            Some(game) => server.start(followed(&game.setup)),
            None => {}
        }
    }
}

fn followed(setup: &GameSetup) -> FollowedSetup {
    FollowedSetup {
        game_type: setup.game_type.clone(),
        mutators: setup.mutators.clone(),
        map: setup.map.clone(),
        teams: setup.teams,
    }
}

/// Called if another game begins or the server shuts down: a game that is over gets no more
/// results.
fn end_if_over(server: &mut FollowedServer) {
    if server.is_over() {
        server.end();
    }
}

fn score(change: TeamPoints, server: &mut FollowedServer) {
    let by = change.by.map(connection);
    server.side_score(change.team, change.points as f64, by.as_ref());
}
