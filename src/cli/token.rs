//! `evenkeel token`: makes tokens of clients, and their hashes.

use std::io::{self, Read, Write};

use clap::{Args, Subcommand};
use serde_json::json;

use super::{CliError, print_json, progress::print_error_line, random};
use crate::model::{Secret, to_hex};

/// The number of random bytes of a token.
const BYTES: usize = 32;
/// The most bytes that are read of a token.
const MOST: u64 = 4_096;

/// Make a token for a client, or the hash of one
#[derive(Debug, Args)]
pub(super) struct TokenArgs {
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// Print a random token for a client, and its hash for the daemon's configuration
    New {
        /// Print a JSON object
        #[arg(long)]
        json: bool,
    },
    /// Read a token from the standard input and print its hash
    Hash,
}

pub(super) fn run(args: &TokenArgs) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match args.command {
        TokenCommand::New { json } => {
            let token = to_hex(&random::<BYTES>()?);
            let hash = Secret::of(&token).hash();
            if json {
                return print_json(&json!({"token": token, "hash": hash}));
            }
            writeln!(out, "token {token}")?;
            writeln!(out, "hash  {hash}")?;
        }
        TokenCommand::Hash => {
            let mut text = String::new();
            io::stdin().lock().take(MOST).read_to_string(&mut text)?;
            let token = text.trim();
            if token.is_empty() {
                return Err(CliError::input("the standard input is empty"));
            }
            writeln!(out, "{}", Secret::of(token).hash())?;
            if Secret::can_be_guessed(token) {
                let warning = "warning: this token is short and can be guessed: `evenkeel token new` draws a long one";
                print_error_line(warning);
            }
        }
    }
    Ok(())
}
