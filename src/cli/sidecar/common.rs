//! The options that the sidecars of several engines share.

use std::time::Duration;

use clap::Args;

use super::{ATTEMPTS, parse_seconds, server::ServerArgs};
use crate::{
    cli::CliError,
    sidecar::{
        ChatSettings,
        follower::{CommandTemplate, FollowerSettings},
    },
};

/// The options of every sidecar.
#[derive(Debug, Args)]
pub(super) struct FollowerArgs {
    #[command(flatten)]
    pub(super) server: ServerArgs,
    /// Choose teams when no player has joined or left for this long (0.1 to 60)
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = parse_seconds)]
    settle: Duration,
    /// Pick a team for each bot by its own weight, as for a human
    #[arg(long)]
    treat_bots_as_players: bool,
    /// Move players during play, too: late arrivals, players who die while their team is too
    /// strong, and between two rounds after a streak
    #[arg(long)]
    auto_balance: bool,
    /// Print the console commands without sending them, and report no match to the daemon
    #[arg(long)]
    pub(super) dry_run: bool,
}

/// The console command for bots, in the sidecars that move players by a console command, too.
#[derive(Debug, Args)]
pub(super) struct BotsArgs {
    /// Console command that sets the number of bots, with {count}; without it, bots only change teams
    #[arg(long, value_name = "COMMAND", value_parser = CommandTemplate::of_bots)]
    pub(super) bots_command: Option<CommandTemplate>,
}

impl FollowerArgs {
    /// The settings of the sidecar.
    ///
    /// # Errors
    /// Fails if the file of the token cannot be read.
    pub(super) fn settings(&self) -> Result<FollowerSettings, CliError> {
        Ok(FollowerSettings {
            server: self.server.name(),
            token: self.server.token()?,
            bots_as_players: self.treat_bots_as_players,
            auto_balance: self.auto_balance,
            settle: millis(self.settle),
            attempts: if self.dry_run { 1 } else { ATTEMPTS },
            chat: ChatSettings::default(),
        })
    }
}

/// A time in milliseconds, at most `u64::MAX`.
pub(super) fn millis(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

/// Parses the time for which a server waits for players.
pub(super) fn parse_opening(text: &str) -> Result<Duration, String> {
    let seconds = text
        .parse()
        .ok()
        .filter(|s: &f64| (0.0..=600.0).contains(s));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "must be 0 to 600 seconds".to_owned())
}
