//! The options with which a sidecar or an agent finds its game server, and names it to the daemon.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use clap::Args;

use super::daemon::DaemonArgs;
use crate::{cli::CliError, client::drivers::Password, config::parse_address};

/// The remote console of a game server, the daemon, and what the game server sends in HELLO.
#[derive(Debug, Args)]
pub(super) struct ServerArgs {
    /// Address of the game server's remote console
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_address)]
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
}

impl ServerArgs {
    /// The password of the remote console, from its file or the environment.
    ///
    /// # Errors
    /// Fails if there is none, if its file cannot be read, or if the console cannot take it.
    pub(super) fn password(&self) -> Result<Password, CliError> {
        let password = match &self.password_file {
            Some(file) => secret_in(file)?,
            None => std::env::var("EVENKEEL_RCON_PASSWORD").unwrap_or_default(),
        };
        Password::new(&password).map_err(CliError::input)
    }

    /// The name of the game server in HELLO: the given one, or the address of the console.
    pub(super) fn name(&self) -> String {
        self.server.clone().unwrap_or_else(|| self.rcon.to_string())
    }

    /// The token of the game server; `None` if no file is given.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub(super) fn token(&self) -> Result<Option<String>, CliError> {
        self.token_file.as_deref().map(secret_in).transpose()
    }
}

/// The first line of a file that contains a secret.
///
/// # Errors
/// Fails if the file cannot be read.
pub(super) fn secret_in(file: &Path) -> Result<String, CliError> {
    let text = std::fs::read_to_string(file).map_err(CliError::in_file(file))?;
    Ok(text.lines().next().unwrap_or("").to_owned())
}
