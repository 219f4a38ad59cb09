//! `evenkeel sidecar xonotic`.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use super::{
    common::{BotsArgs, FollowerArgs, millis, parse_opening},
    follow,
};
use crate::{
    cli::CliError,
    client::drivers::{DarkPlacesConsole, GameLog, RemoteConsole, Security},
    sidecar::{
        follower::{CommandTemplate, TemplateCommands},
        xonotic::Xonotic,
    },
};

/// Xonotic and Nexuiz
#[derive(Debug, Args)]
pub(super) struct XonoticArgs {
    /// Event log that the game server writes (sv_eventlog 1, sv_eventlog_files 1), or the folder of its
    /// logs
    #[arg(long, value_name = "PATH")]
    log: PathBuf,
    #[command(flatten)]
    common: FollowerArgs,
    #[command(flatten)]
    bots: BotsArgs,
    /// How to prove that the password is known: 0 by sending it, 1 by a code of the time, 2 by a code
    /// of a text that the server chooses; the server's rcon_secure or more
    #[arg(long, value_name = "0|1|2", default_value = "2", value_parser = parse_security)]
    rcon_secure: Security,
    /// Console command that moves a player: {player} is the player's number on the server, {team} the
    /// name of the team; for Nexuiz, "sv_cmd movetoteam {player} {team}"
    #[arg(
        long,
        value_name = "COMMAND",
        default_value = "sv_cmd moveplayer {player} {team}",
        value_parser = CommandTemplate::of_move
    )]
    move_command: CommandTemplate,
    /// Choose teams in the warm-up before each game (g_warmup), until the map restarts
    #[arg(long)]
    warm_up: bool,
    /// Without --warm-up: time after the first player has joined a game in which teams are chosen, that
    /// of g_start_delay (0 to 600)
    #[arg(long, value_name = "SECONDS", default_value = "15", value_parser = parse_opening)]
    opening: Duration,
}

fn parse_security(text: &str) -> Result<Security, String> {
    match text {
        "0" => Ok(Security::Password),
        "1" => Ok(Security::Time),
        "2" => Ok(Security::Challenge),
        _ => Err("must be 0, 1 or 2".to_owned()),
    }
}

pub(super) async fn run(args: XonoticArgs) -> Result<(), CliError> {
    let common = &args.common;
    let server = &common.server;
    let settings = common.settings()?;
    let console: Option<Box<dyn RemoteConsole>> = match common.dry_run {
        true => None,
        false => {
            let password = server.password()?;
            let console = DarkPlacesConsole::open(server.rcon, password, args.rcon_secure).await?;
            Some(Box::new(console))
        }
    };
    let commands = TemplateCommands {
        move_command: args.move_command,
        bots_command: args.bots.bots_command,
    };
    let engine = Xonotic::new(commands, args.warm_up, millis(args.opening));
    let log = GameLog::file_or_folder(&args.log);
    follow(engine, settings, log, common, console).await
}
