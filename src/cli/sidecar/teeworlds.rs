//! `evenkeel sidecar teeworlds`.

use std::path::PathBuf;

use clap::Args;

use super::{chat::ChatArgs, common::FollowerArgs, follow};
use crate::{
    cli::CliError,
    client::drivers::{GameLog, RemoteConsole, TeeworldsConsole},
    sidecar::{follower::FollowerSettings, teeworlds::Teeworlds},
};

/// Teeworlds 0.7
#[derive(Debug, Args)]
pub(super) struct TeeworldsArgs {
    /// File with what the game server prints [default: what its external console prints]
    #[arg(long, value_name = "FILE", required_if_eq("dry_run", "true"))]
    log: Option<PathBuf>,
    #[command(flatten)]
    common: FollowerArgs,
    #[command(flatten)]
    chat: ChatArgs,
}

pub(super) async fn run(args: TeeworldsArgs) -> Result<(), CliError> {
    let common = &args.common;
    let server = &common.server;
    let settings = FollowerSettings {
        chat: args.chat.settings(),
        ..common.settings()?
    };
    let console: Option<Box<dyn RemoteConsole>> = match common.dry_run {
        true => None,
        false => Some(Box::new(TeeworldsConsole::open(
            server.rcon,
            server.password()?,
        ))),
    };
    let log = match &args.log {
        Some(path) => GameLog::file(path)?,
        None => GameLog::console(),
    };
    let engine = Teeworlds::default();
    follow(engine, settings, log, common, console).await
}
