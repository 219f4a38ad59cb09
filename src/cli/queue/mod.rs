//! `evenkeel queue`: tries, checks and watches queues.
//!
//! - `match` forms matches from a file of tickets, `simulate` runs a queue in virtual time, and `load` prints random
//!   tickets for the queues of `config/queues/wotb.toml`.
//! - `check` finds rules that contradict each other, rules that have no effect, and attributes that nothing uses.
//! - `status` counts the tickets of the last day by their state, and `replay` finds a match of the queue again.

mod simulate;
mod tickets;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use clap::{Args, Subcommand, ValueEnum, value_parser};
use serde::Serialize;
use serde_json::json;

use super::{
    CliError, CommonArgs, block_on, load_config, open, print_json,
    table::{Table, or_dash, printable},
};
use crate::{
    matchmaking::{Queue, QueueSettings, Severity},
    model::{Stream, StreamPurpose, counted},
    queues::{Threads, replay},
    simulate::{Load, Shape},
    store::QueueRow,
};

use tickets::line;

/// What is printed instead of an empty table.
pub(super) const NO_QUEUE: &str = "no queue is configured: see [queue] in the manual";

/// Form matches from a file of tickets, check or simulate the queues of a configuration, or show who
/// waits
#[derive(Debug, Args)]
pub(super) struct QueueArgs {
    #[command(subcommand)]
    command: QueueCommand,
}

#[derive(Debug, Subcommand)]
enum QueueCommand {
    Match(tickets::FormMatchesArgs),
    Check(CheckQueuesArgs),
    Load(LoadArgs),
    Status(StatusArgs),
    Simulate(Box<simulate::SimulateQueueArgs>),
    Replay(ReplaySearchArgs),
}

pub(super) fn run(args: &QueueArgs) -> Result<ExitCode, CliError> {
    match &args.command {
        QueueCommand::Match(args) => tickets::run(args).map(|()| ExitCode::SUCCESS),
        QueueCommand::Check(args) => run_check(args),
        QueueCommand::Replay(args) => block_on(run_replay(args)),
        QueueCommand::Load(args) => run_load(args).map(|()| ExitCode::SUCCESS),
        QueueCommand::Status(args) => block_on(run_status(args)).map(|()| ExitCode::SUCCESS),
        QueueCommand::Simulate(args) => simulate::run(args).map(|()| ExitCode::SUCCESS),
    }
}

/// The queue of this name in a configuration file.
fn configured(file: &Path, name: &str) -> Result<Queue, CliError> {
    let settings = load_config(file)?.queue.remove(name);
    let none = || CliError::input(format!("{}: no queue {name}", file.display()));
    Queue::new(name, settings.ok_or_else(none)?).map_err(CliError::input)
}

/// Check the queues of a configuration: rules that contradict each other, rules without effect,
/// unused attributes
///
/// The exit code is 1 if no match can ever be formed.
#[derive(Debug, Args)]
struct CheckQueuesArgs {
    /// The configuration file
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

/// The severity of a finding with which no match can ever be formed.
const CONTRADICTION: &str = "contradiction";

/// What was found in one queue. The field names are the keys of `--json`.
#[derive(Debug, Serialize)]
struct CheckedQueue {
    queue: String,
    rules: usize,
    attributes: usize,
    findings: Vec<FoundFault>,
}

/// One finding.
#[derive(Debug, Serialize)]
struct FoundFault {
    severity: &'static str,
    about: String,
    why: String,
}

fn run_check(args: &CheckQueuesArgs) -> Result<ExitCode, CliError> {
    let config = load_config(&args.file)?;
    let queues = config.queue.into_iter();
    let queues = queues.map(|(name, settings)| checked(name, settings));
    let queues: Vec<CheckedQueue> = queues.collect::<Result<_, _>>()?;
    match args.json {
        true => print_json(&queues)?,
        false => write_findings(&mut io::stdout().lock(), args, &queues)?,
    }
    let mut findings = queues.iter().flat_map(|queue| &queue.findings);
    Ok(match findings.any(|one| one.severity == CONTRADICTION) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

fn checked(name: String, settings: QueueSettings) -> Result<CheckedQueue, CliError> {
    let (rules, attributes) = (settings.rules.len(), settings.attributes.len());
    let queue = Queue::new(&name, settings);
    let queue = queue.map_err(CliError::input)?;
    let findings = queue.findings().into_iter().map(|finding| FoundFault {
        severity: match finding.severity {
            Severity::Contradiction => CONTRADICTION,
            Severity::Warning => "warning",
        },
        about: finding.about,
        why: finding.why,
    });
    Ok(CheckedQueue {
        findings: findings.collect(),
        queue: name,
        rules,
        attributes,
    })
}

fn write_findings(
    out: &mut impl Write,
    args: &CheckQueuesArgs,
    queues: &[CheckedQueue],
) -> io::Result<()> {
    if queues.is_empty() {
        writeln!(out, "{}: no queue", args.file.display())?;
    }
    for checked in queues {
        writeln!(
            out,
            "queue {}: {}, {}, {}",
            checked.queue,
            counted(checked.rules as u32, "rule"),
            counted(checked.attributes as u32, "attribute"),
            counted(checked.findings.len() as u32, "finding"),
        )?;
        for finding in &checked.findings {
            let FoundFault {
                severity,
                about,
                why,
            } = finding;
            writeln!(out, "  {severity}: {about}: {why}")?;
        }
    }
    Ok(())
}

/// Print random tickets for the queues of config/queues/wotb.toml, to measure `queue match` with
///
/// 75 % of the tickets are single players, 17 % pairs and 8 % parties of three. Tiers are normal
/// with a mean of 7 and a standard deviation of 2.2. Players have loaded 85 % of 20 maps, 25 % of the
/// tickets ask for players with the same control, and 8 % of the players have a new vehicle. Vehicles
/// and the tiers of parties are drawn as `--shape` says.
#[derive(Debug, Args)]
struct LoadArgs {
    /// Number of tickets
    #[arg(long, value_name = "N", default_value_t = 4_000, value_parser = value_parser!(u32).range(1..=100_000))]
    tickets: u32,
    /// The seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// How long the oldest ticket has waited, in seconds; the others wait evenly from there to 0
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    waited: f64,
    /// How vehicles and the tiers of parties are drawn
    #[arg(long, value_enum, default_value_t = ShapeArg::Popular)]
    shape: ShapeArg,
    /// Add ratings, as the queue `rated` needs them
    #[arg(long)]
    rated: bool,
}

/// The names of the shapes.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ShapeArg {
    /// The vehicles of a tier follow Zipf's law; of the other members of a party, 20 % are one tier
    /// below
    Popular,
    /// Each tier has four kinds with six vehicles each, all equally popular; each seat of a party has
    /// its own tier, at most one from the party's
    Seats,
}

impl From<ShapeArg> for Shape {
    fn from(shape: ShapeArg) -> Self {
        match shape {
            ShapeArg::Popular => Self::Popular,
            ShapeArg::Seats => Self::Seats,
        }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text
        .parse()
        .ok()
        .filter(|n: &f64| n.is_finite() && *n >= 0.0);
    number.ok_or_else(|| "must be a number of at least 0".to_owned())
}

fn run_load(args: &LoadArgs) -> Result<(), CliError> {
    let load = Load {
        shape: args.shape.into(),
        ..Load::default()
    };
    let mut stream = Stream::new(args.seed, StreamPurpose::Arrivals);
    let mut out = io::BufWriter::new(io::stdout().lock());
    for number in 0..args.tickets {
        let waited = args.waited * (1.0 - f64::from(number) / f64::from(args.tickets));
        let ticket = load.ticket(number as usize, waited, args.rated, &mut stream);
        writeln!(out, "{}", serde_json::to_string(&ticket)?)?;
    }
    Ok(out.flush()?)
}

/// Find a match of the queue again, in the tickets that waited then
///
/// The daemon stores with each match what its search saw: the tickets, their waits, what was known of
/// the players, the configuration of the queue and the seed. Prints the match as `queue match` does, then
/// what each rule finds in it. The exit code is 1 if the search finds other teams, another mode or another map.
#[derive(Debug, Args)]
struct ReplaySearchArgs {
    #[command(flatten)]
    common: CommonArgs,
    /// The id of the match, as in MATCHED
    #[arg(value_name = "MATCH")]
    id: i64,
    /// Search on N threads; this changes nothing but the time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
}

async fn run_replay(args: &ReplaySearchArgs) -> Result<ExitCode, CliError> {
    let config = args.common.load()?;
    let service = open(&config, false).await?;
    let found = service.store().queues().formed_match(args.id).await;
    service.close().await;
    let missing = || {
        let why = "there is no such match of the queue, or a day has passed since";
        CliError::input(format!("{}: {why}", args.id))
    };
    let found = found?.ok_or_else(missing)?;
    let now = config.queue.get(&found.formed.queue);
    let replayed = replay(&found, now, Threads(args.threads.into()))
        .map_err(|why| CliError::input(format!("match {}: {why}", args.id)))?;
    let planned = replayed.found.as_ref();
    let planned = planned.map(|planned| line(args.id, planned, &replayed.tickets));
    let (code, what) = match (replayed.same_teams, replayed.same_picks) {
        (true, true) => (ExitCode::SUCCESS, "the same teams"),
        (true, false) => (ExitCode::FAILURE, "the same teams with another mode or map"),
        (false, _) => (ExitCode::FAILURE, "other teams"),
    };
    if args.json {
        print_json(&json!({
            "match": args.id,
            "queue": found.formed.queue,
            "formed": found.formed.formed_at.to_string(),
            "seed": found.formed.proposal.seed,
            "same_teams": replayed.same_teams,
            "same_picks": replayed.same_picks,
            "found": planned,
            "notes": replayed.notes,
            "why": replayed.why,
        }))?;
        return Ok(code);
    }
    let mut out = io::stdout().lock();
    if let Some(planned) = planned {
        writeln!(out, "{planned}")?;
    }
    writeln!(
        out,
        "match {} of {}, formed at {}, seed {}: {what}",
        args.id,
        printable(&found.formed.queue),
        found.formed.formed_at,
        found.formed.proposal.seed,
    )?;
    for text in replayed.notes.iter().chain(&replayed.why) {
        writeln!(out, "{}", printable(text))?;
    }
    Ok(code)
}

/// The states of tickets, in the order of [`QueueRow::tickets`].
const STATES: [&str; 6] = [
    "queued",
    "proposed",
    "hosted",
    "matched",
    "cancelled",
    "expired",
];

/// Show how many tickets of the last day are in which state
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// Print a JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: CommonArgs,
}

async fn run_status(args: &StatusArgs) -> Result<(), CliError> {
    let config = args.common.load()?;
    let service = open(&config, false).await?;
    let rows = service.store().queues().queue_rows().await?;
    service.close().await;
    if args.json {
        return print_json(&rows.iter().map(row_json).collect::<Vec<_>>());
    }
    let none = match config.queue.is_empty() {
        true => NO_QUEUE,
        false => "nobody has been in a queue in the last day",
    };
    let mut table = Table::of(&rows).text("queue", |row| &row.name);
    for (at, state) in STATES.iter().enumerate() {
        table = table.num(state, |row| row.tickets[at]);
    }
    table
        .num("players waiting", |row| row.players)
        .text("oldest", |row| or_dash(row.oldest))
        .print_or(none)
}

fn row_json(row: &QueueRow) -> serde_json::Value {
    let mut line = json!({
        "queue": row.name,
        "players_waiting": row.players,
        "oldest": row.oldest.map(|at| at.to_string()),
    });
    for (state, count) in STATES.iter().zip(row.tickets) {
        line[*state] = count.into();
    }
    line
}
