//! `evenkeel player show` and `evenkeel player why`: what is stored about a player, and why the player has this
//! weight.

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
    learning::{PlayedMatch, StandingLine, WeightHere, WhyQuestion, WhyRating},
    model::{Kind, PlayerKey, Timestamp, behaviour::BehaviourDay, weight::StartWeight},
    server::Service,
    session::{Clock, MachineClock},
    store::{GameOfPerson, NameSeen},
};

/// The arguments of `player show`.
#[derive(Debug, Args)]
pub(super) struct ShowPlayerArgs {
    #[command(flatten)]
    pub(super) player: IdentityArgs,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

/// The data of a player that is printed. The field names are the keys of `--json`.
#[derive(Debug, Serialize)]
struct PlayerProfile {
    kind: &'static str,
    id: String,
    counts_as: Option<String>,
    /// The identities that count as this player.
    merged: Vec<String>,
    pinned_weight: Option<f64>,
    start_weight: Option<StartWeight>,
    behaviour: f64,
    /// What `behaviour` adds up, by day.
    reports: Vec<ReportLine>,
    names: Vec<NameLine>,
    weights: Vec<OwnStanding>,
}

#[derive(Debug, Serialize)]
struct NameLine {
    name: String,
    matches: u32,
    first: String,
    last: String,
}

#[derive(Debug, Serialize)]
struct ReportLine {
    /// The game server; empty for the daemon itself, which counts no-shows.
    reporter: String,
    last: String,
    points: f64,
    reports: u32,
    no_shows: u32,
}

impl From<BehaviourDay> for ReportLine {
    fn from(day: BehaviourDay) -> Self {
        Self {
            reporter: day.reporter,
            last: day.at.to_string(),
            points: day.points,
            reports: day.reports,
            no_shows: day.no_shows,
        }
    }
}

/// What the player is worth under a ruleset.
#[derive(Debug, Serialize)]
struct OwnStanding {
    #[serde(flatten)]
    standing: StandingLine,
    progress: Option<f64>,
    /// The strengths on side 0 and on side 1, and as a commander, in points.
    sides: Option<[f64; 2]>,
    commander: Option<f64>,
}

impl From<NameSeen> for NameLine {
    fn from(seen: NameSeen) -> Self {
        Self {
            name: seen.name,
            matches: seen.matches,
            first: seen.first.to_string(),
            last: seen.last.to_string(),
        }
    }
}

/// Prints what is stored about the player.
pub(super) async fn run(args: &ShowPlayerArgs, service: &Service) -> Result<(), CliError> {
    let key = args.player.named(service).await?;
    let profile = profile(service, &key, MachineClock::default().now()).await?;
    if profile.start_weight.is_none() && profile.reports.is_empty() {
        require_matches(service, &key).await?;
    }
    if args.json {
        return print_json(&profile);
    }
    let has_divisions = service.learning().settings().history.divisions.is_on();
    write_tables(&mut io::stdout().lock(), &profile, has_divisions)?;
    Ok(())
}

async fn profile(
    service: &Service,
    key: &PlayerKey,
    now: Timestamp,
) -> Result<PlayerProfile, CliError> {
    let store = service.store();
    let overrides = service.learning().overrides().await?;
    let merged = overrides.merged.iter();
    let into = merged.clone().find(|(who, _)| who == key);
    let from = merged.filter(|(_, into)| into == key);
    let pinned = overrides.pinned.iter().find(|(who, _)| who == key);
    let start = overrides.starts.iter().find(|(who, _)| who == key);
    let names = store.matches().names(key).await?.into_iter();
    let (behaviour, reports) = behaviour(service, key, now).await?;
    Ok(PlayerProfile {
        kind: key.kind.as_str(),
        id: key.id.clone(),
        counts_as: into.map(|(_, into)| into.id.clone()),
        merged: from.map(|(who, _)| who.id.clone()).collect(),
        pinned_weight: pinned.map(|(_, weight)| *weight),
        start_weight: start.map(|(_, start)| *start),
        behaviour,
        reports,
        names: names.map(NameLine::from).collect(),
        weights: standings(service, key).await?,
    })
}

/// Where the player stands under each ruleset, and what the standing of the pages leaves out.
async fn standings(service: &Service, key: &PlayerKey) -> Result<Vec<OwnStanding>, CliError> {
    let learning = service.learning();
    let mut roles = learning.roles(key).await?;
    let lines = learning.stored_standings(key).await?.into_iter();
    let own = lines.map(|standing| {
        let roles = roles.remove(&standing.ruleset).unwrap_or_default();
        OwnStanding {
            progress: standing.line.progress,
            sides: roles.sides,
            commander: roles.commander,
            standing,
        }
    });
    Ok(own.collect())
}

/// What the reports about a human add up to, and these reports. There are none about bots.
async fn behaviour(
    service: &Service,
    key: &PlayerKey,
    now: Timestamp,
) -> Result<(f64, Vec<ReportLine>), CliError> {
    if key.kind == Kind::Bot {
        return Ok((0.0, Vec::new()));
    }
    let book = service.learning().behaviour();
    book.refresh().await?;
    let reports = book.days(&key.id, now).into_iter();
    Ok((
        book.score(&key.id, now),
        reports.map(ReportLine::from).collect(),
    ))
}

/// Whether there are reports about the player's behaviour.
pub(super) async fn is_reported(service: &Service, key: &PlayerKey) -> Result<bool, CliError> {
    let (_, reports) = behaviour(service, key, MachineClock::default().now()).await?;
    Ok(!reports.is_empty())
}

/// Writes what the reports about the player add up to, unless there are none.
fn write_reports(out: &mut impl Write, of: &PlayerProfile) -> io::Result<()> {
    if of.reports.is_empty() {
        return Ok(());
    }
    writeln!(out, "behaviour {:.1}", of.behaviour)?;
    let reports = Table::of(&of.reports)
        .text("reported by", |line| {
            or_dash(Some(&line.reporter).filter(|name| !name.is_empty()))
        })
        .num("points", |line| line.points)
        .num("reports", |line| line.reports)
        .num("no-shows", |line| line.no_shows)
        .text("last", |line| &line.last);
    writeln!(out, "{reports}")
}

fn write_tables(out: &mut impl Write, of: &PlayerProfile, divisions: bool) -> io::Result<()> {
    writeln!(out, "{} {}", of.kind, printable(&of.id))?;
    if let Some(into) = &of.counts_as {
        writeln!(out, "counts as {}", printable(into))?;
    }
    for id in &of.merged {
        writeln!(out, "{} counts as this player", printable(id))?;
    }
    if let Some(weight) = of.pinned_weight {
        writeln!(out, "weight fixed at {weight}")?;
    }
    if let Some(start) = of.start_weight {
        let how = if start.uncertain { ", uncertain" } else { "" };
        writeln!(out, "starts at weight {}{how}", start.weight)?;
    }
    write_reports(out, of)?;
    let names = Table::of(&of.names)
        .text("name", |line| &line.name)
        .num("matches", |line| line.matches)
        .text("first", |line| &line.first)
        .text("last", |line| &line.last);
    if !of.names.is_empty() {
        writeln!(out, "{names}")?;
    }
    if of.weights.is_empty() {
        return Ok(());
    }
    let progress = |line: &OwnStanding| line.progress.map(|part| format!("{:.0} %", 100.0 * part));
    let weights = Table::of(&of.weights)
        .text("ruleset", |own| &own.standing.ruleset)
        .num("place", |own| or_dash(own.standing.line.place))
        .num("weight", |own| thousandths(own.standing.line.weight))
        .num("±", |own| thousandths(own.standing.line.deviation))
        .num("games", |own| own.standing.line.games)
        .text("last seen", |own| own.standing.line.last_seen)
        .text("division", |own| {
            or_dash(own.standing.line.division.as_ref())
        })
        .only_if(divisions)
        .num("progress", |line| or_dash(progress(line)))
        .only_if(divisions);
    writeln!(out, "{weights}")?;
    write_roles(out, &of.weights)
}

/// A number with three decimals, or a dash.
fn thousandths(number: Option<f64>) -> String {
    or_dash(number.map(|number| format!("{number:.3}")))
}

/// Writes the strengths on each side and as a commander, unless no ruleset has any.
fn write_roles(out: &mut impl Write, weights: &[OwnStanding]) -> io::Result<()> {
    let rated_apart = |line: &&OwnStanding| line.sides.is_some() || line.commander.is_some();
    let lines: Vec<&OwnStanding> = weights.iter().filter(rated_apart).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let roles = Table::of(lines)
        .text("ruleset", |line| &line.standing.ruleset)
        .num("strength on team 0", |line| {
            thousandths(line.sides.map(|[zero, _]| zero))
        })
        .num("strength on team 1", |line| {
            thousandths(line.sides.map(|[_, one]| one))
        })
        .num("as commander", |line| thousandths(line.commander));
    writeln!(out, "{roles}")
}

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
pub(super) async fn run_why(args: &WhyArgs, service: &Service) -> Result<(), CliError> {
    let key = counted_as(service, args.player.named(service).await?).await?;
    let ratings = read_why(args, service, &key).await?;
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
    Ok(write_why(
        &mut io::stdout().lock(),
        &key,
        first,
        &ratings[1..],
    )?)
}

/// The identity that a player's matches count for.
async fn counted_as(service: &Service, key: PlayerKey) -> Result<PlayerKey, CliError> {
    let overrides = service.learning().overrides().await?;
    let mut merged = overrides.merged.into_iter();
    let into = merged.find(|(who, _)| *who == key);
    Ok(into.map_or(key, |(_, into)| into))
}

/// The facts, of the ruleset with most matches first.
async fn read_why(
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

fn write_why(
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
        writeln!(out, "\n{}", matches(&why.matches))?;
    }
    if !others.is_empty() {
        let names = others.iter().map(|other| printable(&other.ruleset));
        let names: Vec<String> = names.collect();
        writeln!(out, "with --game: {}", names.join(", "))?;
    }
    Ok(())
}

/// The latest matches, with what was expected, what happened, and what moved the weight or held it.
fn matches(matches: &[PlayedMatch]) -> Table<'_, PlayedMatch> {
    let tenths = |number: Option<f64>| or_dash(number.map(|number| format!("{number:.1}")));
    let percent = |chance: f64| format!("{:.0} %", 100.0 * chance);
    Table::of(matches.iter().take(LISTED))
        .num("match", |one| one.id)
        .text("ended (UTC)", |one| one.ended)
        .num("expected", |one| or_dash(one.forecast.map(percent)))
        .text("result", |one| or_dash(one.result.map(word)))
        .num("change", |one| {
            let change = one.entry.map(|entry| entry.change);
            or_dash(change.map(|change| format!("{change:+.1}")))
        })
        .num("weight", |one| tenths(one.entry.map(|entry| entry.weight)))
        .num("points", |one| tenths(one.points))
        .num("others", |one| tenths(one.points_of_others))
        .text("why", |one| {
            or_dash(one.entry.and_then(|entry| entry.reason()))
        })
}

fn word(result: f64) -> &'static str {
    match result {
        result if result > 0.5 => "won",
        result if result < 0.5 => "lost",
        _ => "draw",
    }
}
