//! The options with which a sidecar or an agent finds its game server, and names it to the daemon.

use std::{
    net::SocketAddr,
    path::{Path, PathBuf},
};

use clap::Args;

use super::daemon::DaemonArgs;
use crate::{
    cli::CliError,
    client::drivers::Password,
    config::{AddressError, parse_address},
};

/// The remote console of a game server, the daemon, and what the game server sends in HELLO.
#[derive(Debug, Args)]
pub(super) struct ServerArgs {
    /// Address of the game server's remote console
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_console)]
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

/// The address of a game server's console. What is wrong says on which ports game servers listen, unless their
/// operators choose others.
fn parse_console(text: &str) -> Result<SocketAddr, String> {
    let usual = "; the usual ports are 27960 (Quake III, OpenArena), 27015 (Source), 26000 (Xonotic, Nexuiz) and that \
                 of ec_port (Teeworlds)";
    parse_with(text, 27960).map_err(|why| why + usual)
}

/// An address and a port. If the port is missing, the text that says so suggests this one.
pub(super) fn parse_with(text: &str, port: u16) -> Result<SocketAddr, String> {
    parse_address(text).map_err(|why| match why {
        AddressError::Form => {
            let whole = format!("{text}:{port}");
            let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
            let example = match parse_address(&whole) {
                Ok(_) if !is_number => whole,
                _ => format!("127.0.0.1:{port}"),
            };
            format!("expected ADDRESS:PORT, such as {example}")
        }
        AddressError::UnknownHost(_) => why.to_string(),
    })
}

/// The first line of a file that contains a secret.
///
/// # Errors
/// Fails if the file cannot be read.
pub(super) fn secret_in(file: &Path) -> Result<String, CliError> {
    let text = std::fs::read_to_string(file).map_err(CliError::in_file(file))?;
    Ok(text.lines().next().unwrap_or("").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_console_without_a_port_is_answered_with_that_of_a_game_server() {
        for (text, example) in [
            ("127.0.0.1", "127.0.0.1:27960"),
            ("[::1]", "[::1]:27960"),
            ("localhost", "localhost:27960"),
            ("127.0.0.1:", "127.0.0.1:27960"),
            ("27960", "127.0.0.1:27960"),
            ("", "127.0.0.1:27960"),
        ] {
            let why = parse_console(text).unwrap_err();
            let begin = format!("expected ADDRESS:PORT, such as {example}; ");
            assert!(why.starts_with(&begin), "{text}: {why}");
            assert!(!why.contains("7997"), "{why}");
        }
        assert!(parse_console("127.0.0.1:27015").is_ok());
    }
}
