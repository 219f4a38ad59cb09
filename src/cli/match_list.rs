//! `evenkeel match list`: the latest matches.

use clap::Args;
use serde::Serialize;

use super::{
    CliError, CommonArgs,
    identity::named,
    open, print_json,
    table::{Table, or_dash, printable},
};
use crate::{
    model::{Kind, Timestamp, plain_name, score_text},
    server::Service,
    store::MatchLine,
};

/// How many matches of a player are read at a time.
const READ: usize = 500;

/// The arguments of `match list`.
#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Only matches of this ruleset, as `evenkeel weights` prints it
    #[arg(long, value_name = "RULESET")]
    game: Option<String>,
    /// Only matches of this player: an identity, a handle, or a name that only one player has
    #[arg(long, value_name = "PLAYER")]
    player: Option<String>,
    /// The player is a bot
    #[arg(long, requires = "player")]
    bot: bool,
    /// The most matches to list
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(i64).range(1..=1_000))]
    limit: i64,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: CommonArgs,
}

/// One match. The field names are the keys of `--json`.
#[derive(Debug, Serialize)]
pub(super) struct ListedMatch {
    id: i64,
    ended: String,
    minutes: f64,
    ruleset: Option<String>,
    map: String,
    server: String,
    scores: Vec<Option<f64>>,
    outcome: String,
    winner: Option<u8>,
    humans: i64,
    bots: i64,
    /// The chance of team 0, as predicted before the match was learned from.
    forecast: Option<f64>,
    /// Why it is not rated.
    unrated: Option<String>,
}

impl From<MatchLine> for ListedMatch {
    fn from(line: MatchLine) -> Self {
        let millis = line.ended.0.saturating_sub(line.started.0);
        Self {
            id: line.id,
            ended: line.ended.to_string(),
            minutes: millis as f64 / 60_000.0,
            ruleset: line.ruleset,
            map: line.map,
            server: line.server,
            scores: line.scores,
            outcome: line.outcome,
            winner: line.winner,
            humans: line.humans,
            bots: line.bots,
            forecast: line.forecast,
            unrated: line.unrated,
        }
    }
}

/// Prints the matches, the last one first.
pub(super) async fn run(args: &ListArgs) -> Result<(), CliError> {
    let service = open(&args.common.load()?, false).await?;
    let game = args.game.as_deref();
    let latest = match &args.player {
        Some(player) => of_player(args, player, &service).await?,
        None => {
            service
                .store()
                .matches()
                .latest_matches(game, None, args.limit)
                .await?
        }
    };
    service.close().await;
    let lines: Vec<ListedMatch> = latest.into_iter().map(ListedMatch::from).collect();
    if args.json {
        return print_json(&lines);
    }
    let of = args.game.as_deref().map(printable);
    let of = of.map_or(String::new(), |game| format!(" of {game}"));
    let none = format!("there is no match{of}");
    let scores = |line: &ListedMatch| score_text(&line.scores);
    Table::of(&lines)
        .num("id", |line| line.id)
        .text("ended (UTC)", |line| &line.ended)
        .num("minutes", |line| format!("{:.1}", line.minutes))
        .text("ruleset", |line| or_dash(line.ruleset.as_ref()))
        .text("map", |line| plain_name(&line.map))
        .text("server", |line| plain_name(&line.server))
        .num("humans", |line| line.humans)
        .num("bots", |line| line.bots)
        .text("score", scores)
        .text("rated", |line| line.unrated.as_deref().unwrap_or("yes"))
        .print_or(&none)
}

/// The latest matches of a player.
async fn of_player(
    args: &ListArgs,
    player: &str,
    service: &Service,
) -> Result<Vec<MatchLine>, CliError> {
    let kind = if args.bot { Kind::Bot } else { Kind::Human };
    let key = named(service, kind, player).await?;
    let store = service.store();
    let ids = store
        .matches()
        .matches_of(&key, Timestamp(i64::MIN))
        .await?;
    let most = usize::try_from(args.limit).unwrap_or(0);
    let wanted = |line: &MatchLine| args.game.is_none() || line.ruleset == args.game;
    let mut latest = Vec::new();
    for some in ids.rchunks(READ) {
        let lines = store.matches().match_lines(some).await?.into_iter().rev();
        latest.extend(lines.filter(wanted));
        if latest.len() >= most {
            break;
        }
    }
    latest.truncate(most);
    Ok(latest)
}
