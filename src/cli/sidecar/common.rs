//! The options that the sidecars of several engines share.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::Args;

use super::{
    ATTEMPTS, console::Password, parse_seconds, rcon_password, secret_in, way::DaemonArgs,
};
use crate::{
    cli::CliError,
    sidecar::follower::{CommandTemplate, Settings},
};

#[derive(Debug, Args)]
pub(super) struct CommonArgs {
    /// Address of the game server's remote console
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(super) rcon: SocketAddr,
    /// File whose first line is the rcon password [default: the variable EVENKEEL_RCON_PASSWORD]
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
    #[command(flatten)]
    pub(super) daemon: DaemonArgs,
    /// Name of this game server in the daemon [default: the address of its console]
    #[arg(long, value_name = "NAME")]
    server: Option<String>,
    /// File whose first line is this game server's token, if the daemon requires one
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
    /// Choose teams when no player has joined or left for this long (0.1 to 60)
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = parse_seconds)]
    settle: Duration,
    /// Pick a team for each bot by its own weight, as for a human
    #[arg(long)]
    treat_bots_as_players: bool,
    /// Move players during play, too: late arrivals, and players who die while their team is too
    /// strong
    #[arg(long)]
    auto_balance: bool,
    /// Console command that sets the number of bots, with {count}; without it, bots only change teams
    #[arg(long, value_name = "COMMAND", value_parser = CommandTemplate::of_bots)]
    bots_command: Option<CommandTemplate>,
    /// Print the console commands without sending them
    #[arg(long)]
    pub(super) dry_run: bool,
}

impl CommonArgs {
    /// The password of the remote console.
    ///
    /// # Errors
    /// Fails if there is none, or the console cannot take it.
    pub(super) fn password(&self) -> Result<Password, CliError> {
        rcon_password(self.password_file.as_deref())
    }

    /// The settings of the sidecar.
    ///
    /// # Errors
    /// Fails if the file of the token cannot be read.
    pub(super) fn settings(&self, move_command: &CommandTemplate) -> Result<Settings, CliError> {
        Ok(Settings {
            server: self.server.clone().unwrap_or_else(|| self.rcon.to_string()),
            token: self.token_file.as_deref().map(secret_in).transpose()?,
            bots_as_players: self.treat_bots_as_players,
            auto_balance: self.auto_balance,
            settle: millis(self.settle),
            attempts: if self.dry_run { 1 } else { ATTEMPTS },
            move_command: move_command.clone(),
            bots_command: self.bots_command.clone(),
        })
    }
}

/// A time in milliseconds.
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
