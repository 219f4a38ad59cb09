//! The engine id Tech 3: Quake III Arena, OpenArena, Urban Terror and their relatives.
//!
//! `log` reads the log and handles what it shows, also the commands of players, `commands` formats moves, and `hosting` is such
//! a server as an instance, with the settings of its operator.

mod commands;
mod hosting;
mod log;
#[cfg(test)]
mod tests;

pub use commands::SpareBot;
pub use hosting::{IdTech3Host, host_limit, host_mode};

use super::{
    chat::ChatLine,
    engine::{Engine, TeamChanges, TeamOrders},
    follower::FollowedServer,
    progress::GamePhase,
};
use crate::progress::LoggedPlayer;
use commands::{IdTech3Orders, ReplaceableBot, TEAM_NAMES};
use log::{LiveLog, is_bot};

/// The engine of one id Tech 3 game server.
pub struct IdTech3 {
    /// Whether humans are moved with the game's admin command `!putteam` instead of `forceteam`.
    admin: bool,
    /// Bots that may be added and removed to reach the daemon's numbers. If empty, bots only change
    /// teams.
    spare_bots: Vec<SpareBot>,
    log: LiveLog,
    /// Whether games on this server begin with a warm-up. If so, teams are chosen in it; otherwise,
    /// after the previous game.
    warms_up: bool,
    /// Whether the last announced game was a warm-up.
    warmed: bool,
    /// Whether a round of the game has begun, after which the next ones go on with it.
    in_rounds: bool,
    /// Whether the operator was told that the server's game is not supported.
    refused: bool,
}

impl IdTech3 {
    /// An engine that has read no log. `admin` and `spare_bots` are for the moves: see the fields.
    pub fn new(admin: bool, spare_bots: Vec<SpareBot>) -> Self {
        Self {
            admin,
            spare_bots,
            log: LiveLog::default(),
            warms_up: false,
            warmed: false,
            in_rounds: false,
            refused: false,
        }
    }

    /// A bot that is on the server, if it can be added again.
    fn bot(&self, player: &LoggedPlayer, team: u8) -> Option<ReplaceableBot> {
        let number = player.number.filter(|_| player.side.is_some())? as usize;
        let skill = self.log.client(number)?.skill();
        let again = SpareBot::new(&player.name, skill);
        Some(ReplaceableBot {
            number,
            team,
            again,
        })
    }
}

impl Engine for IdTech3 {
    const TEAM_NAMES: &'static [&'static str] = &TEAM_NAMES;
    /// A game server executes about one remote command per second. All lists are written to the same file, so a list
    /// that is sent too early replaces one that the game server has not read yet.
    const COMMAND_PAUSE: u64 = 1_000;
    const BETWEEN_GAMES: bool = true;

    fn log_line(&mut self, line: &[u8], server: &mut FollowedServer) {
        self.read_log_line(line, server);
    }

    fn tick(&mut self, server: &mut FollowedServer) {
        self.pass(server);
    }

    fn may_choose_teams(&self, phase: GamePhase) -> bool {
        match phase {
            GamePhase::WarmUp => true,
            GamePhase::Ended => !self.warms_up,
            GamePhase::Opening | GamePhase::Playing | GamePhase::Over => false,
        }
    }

    fn orders(&self, changes: &TeamChanges<'_>) -> TeamOrders {
        let mut orders = IdTech3Orders::default();
        for &(player, team) in &changes.moves {
            let number = player.number.map(|number| number as usize);
            let client = number.and_then(|number| self.log.client(number));
            match client.is_some_and(is_bot) {
                true => {
                    if let Some(bot) = self.bot(player, team) {
                        orders.reseat(bot, team);
                    }
                }
                false => orders.force.extend(number.map(|number| (number, team))),
            }
        }
        if let Some(counts) = &changes.bot_counts {
            let bots = changes.bots.iter();
            let bots = bots.filter_map(|(player, team)| self.bot(player, *team));
            orders.seat_bots(bots.collect(), counts, &self.spare_bots);
        }
        let removed = orders.kick.iter();
        TeamOrders {
            count: orders.count(),
            removed: removed
                .filter_map(|&number| u32::try_from(number).ok())
                .collect(),
            commands: orders.commands(self.admin),
        }
    }

    fn chat_command(&self, line: &ChatLine) -> String {
        match line.to {
            Some(number) => format!("tell {number} {}", line.text),
            None => format!("say {}", line.text),
        }
    }
}
