//! `evenkeel sidecar source`.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::Args;

use super::{
    common::{BotsArgs, FollowerArgs, millis, parse_opening},
    follow,
    server::{parse_with, secret_in},
};
use crate::{
    cli::CliError,
    client::drivers::{GameLog, RemoteConsole, SourceConsole},
    sidecar::{
        follower::{CommandTemplate, TemplateCommands},
        source::Source,
    },
};

/// Team Fortress 2, Counter-Strike: Source, Counter-Strike: Global Offensive and their relatives
#[derive(Debug, Args)]
pub(super) struct SourceArgs {
    /// Log that the game server writes (log on, sv_logflush 1), or the folder of its logs
    #[arg(long, value_name = "PATH", required_unless_present = "log_udp")]
    log: Option<PathBuf>,
    /// Address on which to receive the log, in place of --log (logaddress_add)
    #[arg(long, value_name = "ADDRESS:PORT", conflicts_with = "log", value_parser = parse_log)]
    log_udp: Option<SocketAddr>,
    /// File whose first line is the sv_logsecret of the game server
    #[arg(long, value_name = "FILE", requires = "log_udp")]
    log_secret_file: Option<PathBuf>,
    #[command(flatten)]
    common: FollowerArgs,
    #[command(flatten)]
    bots: BotsArgs,
    /// Console command of a plugin that moves a player: {player} is the userid, {number} the team
    /// (2 or 3), {team} its name (red, blue, t, ct) [the default is that of SourceMod's SwapTeam]
    #[arg(
        long,
        value_name = "COMMAND",
        default_value = "sm_team \"#{player}\" {number}",
        value_parser = CommandTemplate::of_move
    )]
    move_command: CommandTemplate,
    /// Time after the first player has joined a map in which the server waits for others, a little
    /// longer than mp_waitingforplayers_time (0 to 600)
    #[arg(long, value_name = "SECONDS", default_value = "40", value_parser = parse_opening)]
    opening: Duration,
    /// Folder of the game, such as tf or cstrike, if the log does not state it
    #[arg(long, value_name = "NAME")]
    game: Option<String>,
}

fn parse_log(text: &str) -> Result<SocketAddr, String> {
    parse_with(text, 27_500)
}

pub(super) async fn run(args: SourceArgs) -> Result<(), CliError> {
    let common = &args.common;
    let server = &common.server;
    let settings = common.settings()?;
    let console: Option<Box<dyn RemoteConsole>> = match common.dry_run {
        true => None,
        false => Some(Box::new(SourceConsole::open(
            server.rcon,
            server.password()?,
        ))),
    };
    let log = match (&args.log, args.log_udp) {
        (_, Some(listen)) => {
            let secret = args.log_secret_file.as_deref().map(secret_in).transpose()?;
            GameLog::datagrams(listen, server.rcon.ip(), secret)?
        }
        (Some(path), None) => GameLog::file_or_folder(path),
        (None, None) => return Err(CliError::input("--log or --log-udp is missing")),
    };
    let commands = TemplateCommands {
        move_command: args.move_command,
        bots_command: args.bots.bots_command,
    };
    let engine = Source::new(commands, args.game, millis(args.opening));
    follow(engine, settings, log, common, console).await
}
