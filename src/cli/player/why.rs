//! `evenkeel player why`: why a player has their weight.

use std::io::{self, Write};

use clap::Args;
use serde::Serialize;

use super::IdentityArgs;
use crate::{
    cli::{
        CliError,
        identity::require_matches,
        print_json,
        table::{Table, or_dash, printable},
    },
    learning::{WeighedMatch, WeightHere, WhyQuestion, WhyRating, reason},
    model::PlayerKey,
    server::Service,
    session::{Clock, MachineClock},
    store::GameOfPerson,
};

/// How many of the latest matches are looked at.
const GAMES: i64 = 300;
/// The most rulesets.
const RULESETS: usize = 50;
/// How many matches are listed.
const LISTED: usize = 10;

/// The arguments of `player why`.
#[derive(Debug, Args)]
pub(super) struct WhyArgs {
    #[command(flatten)]
    pub(super) player: IdentityArgs,
    /// The weight under this ruleset, as `evenkeel weights` prints it [default: the one with most matches]
    #[arg(long, value_name = "RULESET")]
    game: Option<String>,
    /// Print a JSON object, without --game with all rulesets
    #[arg(long)]
    json: bool,
}

/// What a player's weights follow from. The field names are the keys of `--json`.
#[derive(Debug, Serialize)]
struct ShownWhy<'a> {
    kind: &'static str,
    id: &'a str,
    ratings: Vec<ShownRating<'a>>,
}

/// The facts about one weight, and the sentences.
#[derive(Debug, Serialize)]
struct ShownRating<'a> {
    #[serde(flatten)]
    facts: &'a WhyRating,
    sentences: Vec<String>,
}

/// Prints why the player has the weight.
pub(super) async fn run(args: &WhyArgs, service: &Service) -> Result<(), CliError> {
    let key = counted_as(service, args.player.named(service).await?).await?;
    let ratings = read(args, service, &key).await?;
    let Some(first) = ratings.first() else {
        require_matches(service, &key).await?;
        let game = args.game.as_deref().map(printable);
        let under = game.map_or_else(String::new, |game| format!(" under {game}"));
        let (kind, id) = (key.kind, printable(&key.id));
        let why = format!("{kind} {id} has no rated match{under}");
        return Err(CliError::input(why));
    };
    if args.json {
        let shown = |facts| ShownRating {
            facts,
            sentences: WhyRating::sentences(facts),
        };
        return print_json(&ShownWhy {
            kind: key.kind.as_str(),
            id: &key.id,
            ratings: ratings.iter().map(shown).collect(),
        });
    }
    Ok(write(&mut io::stdout().lock(), &key, first, &ratings[1..])?)
}

/// The identity that a player's matches count for.
async fn counted_as(service: &Service, key: PlayerKey) -> Result<PlayerKey, CliError> {
    let overrides = service.learning().overrides().await?;
    let mut merged = overrides.merged.into_iter();
    let into = merged.find(|(who, _)| *who == key);
    Ok(into.map_or(key, |(_, into)| into))
}

/// The facts, of the ruleset with most matches first.
async fn read(
    args: &WhyArgs,
    service: &Service,
    key: &PlayerKey,
) -> Result<Vec<WhyRating>, CliError> {
    let store = service.store();
    let Some(person) = store.learned().person_number(key).await? else {
        return Ok(Vec::new());
    };
    let games: Vec<GameOfPerson> = store.matches().games_of(person, GAMES).await?;
    let weights = store.learned().weights_of(key).await?.into_iter();
    let weights = weights.map(|row| WeightHere {
        ruleset: row.ruleset,
        weight: row.weight,
        deviation: row.deviation,
        games: row.games,
    });
    let weights: Vec<WeightHere> = weights.collect();
    let asked = WhyQuestion {
        player: key,
        person,
        games: &games,
        weights: &weights,
        ruleset: args.game.as_deref(),
        most: RULESETS,
        now: MachineClock::default().now(),
    };
    Ok(service.learning().why(&asked).await?)
}

fn write(
    out: &mut impl Write,
    key: &PlayerKey,
    why: &WhyRating,
    others: &[WhyRating],
) -> io::Result<()> {
    let ruleset = printable(&why.ruleset);
    writeln!(out, "{} {} under {ruleset}\n", key.kind, printable(&key.id))?;
    for sentence in why.sentences() {
        writeln!(out, "{}", printable(&sentence))?;
    }
    if !why.matches.is_empty() {
        writeln!(out, "\n{}", matches(&why.matches, why.pinned.is_some()))?;
    }
    if !others.is_empty() {
        let names = others.iter().map(|other| printable(&other.ruleset));
        let names: Vec<String> = names.collect();
        writeln!(out, "with --game: {}", names.join(", "))?;
    }
    Ok(())
}

/// The latest matches, with what was expected, what happened, and what moved the weight or held it.
fn matches(matches: &[WeighedMatch], pinned: bool) -> Table<'_, WeighedMatch> {
    let tenths = |number: Option<f64>| or_dash(number.map(|number| format!("{number:.1}")));
    let percent = |chance: f64| format!("{:.0} %", 100.0 * chance);
    Table::of(matches.iter().take(LISTED))
        .num("match", |one| one.id)
        .text("ended (UTC)", |one| one.ended)
        .num("expected", |one| or_dash(one.expected.map(percent)))
        .text("result", |one| or_dash(one.result.map(word)))
        .num("change", |one| {
            let change = one.entry.map(|entry| entry.change());
            or_dash(change.map(|change| format!("{change:+.1}")))
        })
        .num("weight", |one| tenths(one.entry.map(|entry| entry.weight)))
        .num("points", |one| tenths(one.points))
        .num("others", |one| tenths(one.points_of_others))
        .text("why", move |one| {
            or_dash(one.entry.and_then(|entry| reason(&entry, pinned)))
        })
}

fn word(result: f64) -> &'static str {
    match result {
        result if result > 0.5 => "won",
        result if result < 0.5 => "lost",
        _ => "draw",
    }
}
