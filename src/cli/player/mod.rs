//! `evenkeel player`: shows what is stored about a player, and sets the operator's overrides.

mod find;
mod overrides;
mod show;
mod start;
mod suspects;
mod why;

use std::io::{self, Write};

use clap::{Args, Subcommand};

use super::{
    CliError, CommonArgs,
    identity::{check_identity, named, require_known},
    open,
};
use crate::{
    model::{Kind, PlayerKey},
    server::Service,
};

use find::FindArgs;
use overrides::{forget, hide, is_sure, merge, pin_weight, split};
use show::ShowArgs;
use start::{StartArgs, StartListArgs};
use suspects::SuspectsArgs;
use why::WhyArgs;

/// Show a player, merge two identities, forget a player, or fix a weight
///
/// A running daemon uses the change within seconds. Stored matches do not change, except that `forget`
/// removes the player's identity and names from them.
#[derive(Debug, Args)]
pub(super) struct PlayerArgs {
    #[command(subcommand)]
    command: PlayerCommand,
}

#[derive(Debug, Subcommand)]
enum PlayerCommand {
    /// Find players by a part of a name or identity
    Find(FindArgs),
    /// Show the names a player has used, and their weight in each ruleset
    Show(ShowArgs),
    /// Say why a player has their weight: results beside what was expected, points, and what came from elsewhere
    Why(WhyArgs),
    /// Count the matches of one identity for another one, because both belong to one person
    Merge {
        #[command(flatten)]
        player: IdentityArgs,
        /// The player whom the matches count for: an identity, a handle, or a name that only one player has
        #[arg(value_name = "INTO")]
        into: String,
        /// Also accept identities of players who have not played a match yet
        #[arg(long)]
        new: bool,
    },
    /// Undo a merge
    Split(IdentityArgs),
    /// Remove a player's identity and names from the database; the matches stay
    Forget {
        #[command(flatten)]
        player: IdentityArgs,
        /// Do not ask; without a terminal, nothing is asked
        #[arg(long)]
        yes: bool,
    },
    /// Keep a player off the statistics pages; matches show the player without a name
    Hide(IdentityArgs),
    /// Show a hidden player on the statistics pages again
    Unhide(IdentityArgs),
    /// Let a player start at a weight that you expect; unlike a fixed weight, matches change it
    StartWeight(StartArgs),
    /// Read the weights at which players start from a CSV file
    StartWeights(StartListArgs),
    /// List who plays far above a newcomer with few matches: perhaps another account of a known player
    Suspects(SuspectsArgs),
    /// Fix a player's weight in all rulesets, regardless of the player's matches
    PinWeight {
        #[command(flatten)]
        player: IdentityArgs,
        /// 0 to 100, or "off" to learn the weight from matches again
        #[arg(value_name = "WEIGHT", value_parser = parse_weight)]
        weight: WeightOrOff,
        /// Also accept the identity of a player who has not played a match yet
        #[arg(long)]
        new: bool,
    },
}

#[derive(Debug, Args)]
struct IdentityArgs {
    /// The player: an identity (a guid, a hash, or the name if the game has no other), the handle of the pages, or
    /// the latest name if only one player has it
    #[arg(value_name = "PLAYER")]
    id: String,
    /// The player is a bot
    #[arg(long)]
    bot: bool,
    #[command(flatten)]
    common: CommonArgs,
}

/// A weight as an argument; `None` for "off".
#[derive(Clone, Copy, Debug)]
struct WeightOrOff(Option<f64>);

fn parse_weight(text: &str) -> Result<WeightOrOff, String> {
    let weight = text.parse().ok().filter(|w| (0.0..=100.0).contains(w));
    match text {
        "off" => Ok(WeightOrOff(None)),
        _ => weight
            .map(|w| WeightOrOff(Some(w)))
            .ok_or_else(|| "expected 0 to 100, or off".into()),
    }
}

impl IdentityArgs {
    /// The player whom the arguments name.
    async fn named(&self, service: &Service) -> Result<PlayerKey, CliError> {
        let kind = if self.bot { Kind::Bot } else { Kind::Human };
        named(service, kind, &self.id).await
    }
}

impl PlayerCommand {
    fn common(&self) -> &CommonArgs {
        match self {
            Self::Find(args) => &args.common,
            Self::Show(args) => &args.player.common,
            Self::Why(args) => &args.player.common,
            Self::StartWeight(args) => &args.player.common,
            Self::StartWeights(args) => &args.common,
            Self::Suspects(args) => &args.common,
            Self::Split(player) | Self::Hide(player) | Self::Unhide(player) => &player.common,
            Self::Merge { player, .. }
            | Self::Forget { player, .. }
            | Self::PinWeight { player, .. } => &player.common,
        }
    }

    /// Whether the database is created if it is missing: players may start before the first match.
    fn creates(&self) -> bool {
        matches!(self, Self::StartWeight(_) | Self::StartWeights(_))
    }
}

pub(super) async fn run(args: PlayerArgs) -> Result<(), CliError> {
    let command = &args.command;
    let service = open(&command.common().load()?, command.creates()).await?;
    let nothing = |()| None;
    let changed = match command {
        PlayerCommand::Find(args) => find::run(args, &service).await.map(nothing)?,
        PlayerCommand::Show(args) => show::run(args, &service).await.map(nothing)?,
        PlayerCommand::Why(args) => why::run(args, &service).await.map(nothing)?,
        PlayerCommand::Suspects(args) => suspects::run(args, &service).await.map(nothing)?,
        PlayerCommand::Merge { player, into, new } => {
            let key = player.named(&service).await?;
            Some(merge(&service, &key, into, *new).await?)
        }
        PlayerCommand::Split(player) => {
            let key = player.named(&service).await?;
            Some(split(&service, &key).await?)
        }
        PlayerCommand::Forget { player, yes } => {
            let key = player.named(&service).await?;
            match *yes || is_sure(&service, &key).await? {
                true => Some(forget(&service, &key).await?),
                false => None,
            }
        }
        PlayerCommand::Hide(player) => {
            let key = player.named(&service).await?;
            hide(&service, &key, true).await.map(nothing)?
        }
        PlayerCommand::Unhide(player) => {
            let key = player.named(&service).await?;
            hide(&service, &key, false).await.map(nothing)?
        }
        PlayerCommand::StartWeight(args) => Some(start::run(args, &service).await?),
        PlayerCommand::StartWeights(args) => Some(start::run_list(args, &service).await?),
        PlayerCommand::PinWeight {
            player,
            weight,
            new,
        } => {
            let key = player.named(&service).await?;
            check_identity(&key)?;
            // A weight can always be released.
            if weight.0.is_some() && !new {
                require_known(&service, &key).await?;
            }
            Some(pin_weight(&service, &key, weight.0).await?)
        }
    };
    if let Some(changed) = changed {
        service.learning().refresh().await?;
        writeln!(io::stdout(), "{changed}")?;
    }
    service.close().await;
    Ok(())
}
