//! Files of tickets, one JSON object a line, and `evenkeel queue match`, which forms matches from one.

use std::{
    collections::{BTreeMap, HashSet},
    io::{self, BufRead, BufReader, Read, Write},
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
    time::Instant,
};

use clap::{Args, value_parser};
use serde_json::{Map, Value, json};

use super::{configured, tickets};
use crate::{
    cli::{CliError, open_input, table::print_error_line},
    matchmaking::{
        Effort, KnownAttributes, Plan, PlanInput, PlannedMatch, Queue, Raw, Ticket, TicketSpec,
        is_known,
    },
    queues::Threads,
};

/// The most tickets of a file.
const MAX_TICKETS: usize = 100_000;
/// The longest line of a file, in bytes.
const MAX_LINE: u64 = 1 << 20;

/// Reads the tickets of a file; `-` is standard input. Attributes that begin with `@` are what the
/// daemon would know of the player.
pub(super) fn read(path: &Path, queue: &Queue) -> Result<Vec<Ticket>, CliError> {
    let file = CliError::in_file(path);
    let mut reader = BufReader::new(open_input(path).map_err(file)?);
    let (mut tickets, mut ids, mut players) = (Vec::new(), HashSet::new(), HashSet::new());
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        let fault =
            |why: String| CliError::input(format!("{}: line {number}: {why}", path.display()));
        let read = (&mut reader).take(MAX_LINE).read_until(b'\n', &mut line);
        match read.map_err(file)? {
            0 => break,
            length if length as u64 == MAX_LINE => {
                return Err(fault(format!("longer than {MAX_LINE} bytes")));
            }
            _ => {}
        }
        let text = str::from_utf8(&line).map_err(|error| {
            let at = error.valid_up_to() + 1;
            fault(format!("not UTF-8 from byte {at} of the line on"))
        })?;
        if text.trim().is_empty() {
            continue;
        }
        let ticket = ticket(text, queue).map_err(fault)?;
        if !ids.insert(ticket.id.clone()) {
            return Err(fault(format!("there is another ticket {}", ticket.id)));
        }
        let again = ticket
            .players
            .iter()
            .find(|player| !players.insert(player.id.clone()));
        if let Some(player) = again {
            return Err(fault(format!("{} is in another ticket", player.id)));
        }
        tickets.push(ticket);
        if tickets.len() > MAX_TICKETS {
            return Err(fault(format!("more than {MAX_TICKETS} tickets")));
        }
    }
    Ok(tickets)
}

fn ticket(line: &str, queue: &Queue) -> Result<Ticket, String> {
    let mut spec: TicketSpec = serde_json::from_str(line.trim_end()).map_err(|error| {
        // The parser has seen this line alone, so it counts it as the first one.
        let text = error.to_string();
        let place = format!(" at line 1 column {}", error.column());
        match text.strip_suffix(&place) {
            Some(why) => format!("column {}: {why}", error.column()),
            None => text,
        }
    })?;
    let mut known = BTreeMap::new();
    for player in &mut spec.players {
        let ours = player
            .attributes
            .extract_if(.., |name, _| name.starts_with('@'));
        let ours: Vec<(String, Raw)> = ours.collect();
        known.insert(player.id.clone(), learned(ours)?);
    }
    let ticket = queue.ticket(&spec, &mut |id| known.remove(id).unwrap_or_default());
    ticket.map_err(|error| error.to_string())
}

/// What the attributes that begin with `@` state.
fn learned(attributes: Vec<(String, Raw)>) -> Result<KnownAttributes, String> {
    let mut known = KnownAttributes::default();
    for (name, raw) in attributes {
        match raw {
            Raw::List(met) if name == "@met" => known.met = vec![met],
            _ if name == "@met" => return Err("@met must be a list of players".to_owned()),
            Raw::List(maps) if name == "@maps" => known.maps = maps,
            _ if name == "@maps" => return Err("@maps must be a list of maps".to_owned()),
            _ if !is_known(&name) => {
                return Err(format!("there is no attribute {}", name.escape_debug()));
            }
            Raw::Number(number) if number.is_finite() => {
                known.numbers.insert(name, number);
            }
            _ => return Err(format!("{name} must be a finite number")),
        }
    }
    Ok(known)
}

/// Form matches from a file of tickets
///
/// Each line of the file is a ticket: {"ticket":"t1","waited":12.5,"players":[{"id":"p","tier":8}]}.
/// Attributes that begin with @, such as @weight, are what the daemon would know of the player.
/// Prints one line for each match, in JSON, then one for each ticket that is left, with the reason.
/// The result depends on the tickets, the configuration, the seed and the effort alone.
#[derive(Debug, Args)]
pub(super) struct FormMatchesArgs {
    /// The file of tickets; - is standard input
    #[arg(value_name = "FILE")]
    tickets: PathBuf,
    /// The queue, by its name in the configuration
    #[arg(long, value_name = "NAME")]
    queue: String,
    /// Read the configuration from FILE
    #[arg(long, value_name = "FILE", env = "EVENKEEL_CONFIG")]
    config: PathBuf,
    /// Search on N threads; this changes nothing but the time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u16).range(1..=256))]
    threads: u16,
    /// The seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// How much to search: more places more tickets and takes longer, about in proportion
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..=i64::from(Effort::MOST)))]
    effort: u32,
    /// The maps of the queue's last matches, the latest match first: they are less likely
    #[arg(long, value_name = "MAP,…", value_delimiter = ',')]
    played: Vec<String>,
    /// Print why this ticket is left, or what each rule finds in its match, instead of the matches
    #[arg(long, value_name = "TICKET")]
    explain: Option<String>,
    /// Print nothing but the stream of JSON values, one a line; without it, a summary follows on stderr
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: &FormMatchesArgs) -> Result<(), CliError> {
    let queue = configured(&args.config, &args.queue)?;
    let tickets = tickets::read(&args.tickets, &queue)?;
    let since = Instant::now();
    let threads = Threads(args.threads.into());
    let effort = Effort::new(args.effort);
    let input = PlanInput {
        seed: args.seed,
        effort,
        played: &args.played,
        ..PlanInput::new(&queue, &tickets)
    };
    let plan = input.plan(&threads, &AtomicBool::new(false));
    let took = since.elapsed();
    if let Some(id) = &args.explain {
        return explain(id, &input, &plan);
    }
    print(&plan, &tickets)?;
    if !args.json {
        let players: usize = tickets.iter().map(|ticket| ticket.players.len()).sum();
        let seated: usize = seated(&plan, &tickets);
        print_error_line(&format!(
            "{} matches with {seated} of {players} players ({:.2} %), {} of {} tickets left, in {:.3} s",
            plan.matches.len(),
            100.0 * seated as f64 / players.max(1) as f64,
            plan.left.len(),
            tickets.len(),
            took.as_secs_f64(),
        ));
    }
    Ok(())
}

/// Prints why a ticket is left, or what each rule finds in its match.
fn explain(id: &str, input: &PlanInput<'_>, plan: &Plan) -> Result<(), CliError> {
    let place = input.tickets.iter().position(|ticket| ticket.id == id);
    let place = place.ok_or_else(|| CliError::input(format!("there is no ticket {id}")))?;
    let mut matches = (1..).zip(&plan.matches);
    let seated =
        matches.find(|(_, found)| found.teams.iter().flatten().any(|other| *other == place));
    let lines = match seated {
        Some((number, found)) => {
            let reports = input.explain(found);
            let head = format!("{id} is in match {number}, penalty {:.3}", found.penalty);
            let lines = reports.iter().map(|report| report.line());
            std::iter::once(head).chain(lines).collect()
        }
        None => {
            let free: Vec<usize> = plan.left.iter().map(|left| left.ticket).collect();
            let why = input.why(place, &free, &AtomicBool::new(false));
            why.map_or_else(Vec::new, |why| why.lines())
        }
    };
    let mut out = io::stdout().lock();
    for line in lines {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// Number of players in matches.
fn seated(plan: &Plan, tickets: &[Ticket]) -> usize {
    let places = plan
        .matches
        .iter()
        .flat_map(|found| found.teams.iter().flatten());
    let sizes = places.filter_map(|place| tickets.get(*place));
    sizes.map(|ticket| ticket.players.len()).sum()
}

fn print(plan: &Plan, tickets: &[Ticket]) -> Result<(), CliError> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    for (number, found) in (1..).zip(&plan.matches) {
        writeln!(out, "{}", line(number, found, tickets))?;
    }
    for left in &plan.left {
        let id = tickets
            .get(left.ticket)
            .map_or("", |ticket| ticket.id.as_str());
        writeln!(out, "{}", json!({"left": id, "reason": left.reason}))?;
    }
    Ok(out.flush()?)
}

/// A match as JSON. A queue that picks no mode or no map has null there.
pub(super) fn line(number: i64, found: &PlannedMatch, tickets: &[Ticket]) -> Value {
    let on = |team: &Vec<usize>| {
        let tickets = team.iter().filter_map(|place| tickets.get(*place));
        let players = tickets.flat_map(|ticket| &ticket.players);
        players
            .map(|player| Value::from(player.id.as_str()))
            .collect::<Value>()
    };
    let mut places: Vec<usize> = found.teams.iter().flatten().copied().collect();
    places.sort_unstable();
    let ids = places.iter().filter_map(|place| tickets.get(*place));
    let mut line = Map::from_iter([
        ("match".to_owned(), number.into()),
        ("mode".to_owned(), Value::Null),
        ("map".to_owned(), Value::Null),
        ("penalty".to_owned(), found.penalty.into()),
        ("teams".to_owned(), found.teams.iter().map(on).collect()),
        (
            "tickets".to_owned(),
            ids.map(|ticket| ticket.id.as_str()).collect(),
        ),
    ]);
    for (name, word) in &found.picks {
        line.insert(name.clone(), word.as_str().into());
    }
    line.into()
}
