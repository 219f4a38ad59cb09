//! `evenkeel balance`: chooses teams for a list of players, without a daemon.

mod args;
mod lobby;
mod report;
mod strengths;

use std::{
    io::{self, Read},
    time::{Duration, Instant},
};

use super::{CliError, open_input, print_json, progress::Progress};
use crate::{
    model::{Ident, Naming},
    partition::{self, Problem, ProblemError, Solution},
    session::draw_seed,
};
pub(super) use args::BalanceArgs;
use args::{apply_flags, settings};
use lobby::{FileFormat, LobbyFile};

/// The largest lobby file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

pub(super) fn run(args: &BalanceArgs) -> Result<(), CliError> {
    let config = args.config.load()?;
    let (text, format) = read(args)?;
    let input = |why: String| CliError::input(format!("{}: {why}", args.file.display()));
    let mut lobby = LobbyFile::parse(&text, format).map_err(input)?;
    apply_flags(&mut lobby, args).map_err(CliError::input)?;
    if lobby.players.is_empty() {
        return Err(input("there are no players in it".to_owned()));
    }
    let humans = lobby.players.len();
    let has_bots =
        config.lobby.bots && !args.no_bots && humans >= config.lobby.min_humans.as_usize();
    let spec = lobby.into_spec(&config, has_bots, args.by_chance());
    let mut spec = spec.map_err(input)?;
    spec.check().map_err(CliError::input)?;
    let mut settings = settings(args, &config, spec.amounts).map_err(CliError::input)?;
    strengths::decide(&mut spec, &mut settings, &config.rating.rating);
    let pins = spec.relax();
    let seed = args.seed.unwrap_or_else(draw_seed);
    let problem = Problem::new(spec).map_err(CliError::input)?;
    let time = Duration::from_millis(args.time.unwrap_or(config.balance.deadline_ms.get().into()));
    let mut solution = solve(&problem, &settings, seed, time).map_err(CliError::input)?;
    if !has_bots {
        // The places that bots would fill stay empty.
        solution.bots.fill(0);
    }
    let notes = notes(&problem, pins, &solution, &settings, seed, time);
    let chosen = report::Chosen {
        problem: &problem,
        settings: &settings,
        solution: &solution,
        seed,
    };
    let mut out = io::stdout().lock();
    if args.json {
        let report = report::whole(&chosen, &notes);
        print_json(&report)?;
    } else {
        report::write(&mut out, &chosen, &notes, args.explain)?;
    }
    Ok(())
}

/// What could not be granted, one line each, and what pins cost then.
fn notes(
    problem: &Problem,
    pins: Option<String>,
    solution: &Solution,
    settings: &partition::Settings,
    seed: u64,
    time: Duration,
) -> Vec<String> {
    let spec = problem.spec();
    let are_costly = pins.is_some();
    let mut notes: Vec<String> = pins.into_iter().collect();
    let torn = spec.torn.iter();
    notes.extend(torn.map(|party| spec.torn_note(party, &solution.team_of, &Naming::default())));
    if are_costly {
        let began = Instant::now();
        let free = spec.without_pins(settings, seed, &mut || began.elapsed() >= time);
        let free = free.map(|evenness| solution.evenness(evenness));
        notes.extend(free.map(|evenness| format!("without the pins: {evenness}")));
    }
    notes
}

/// Solves the problem; shows a progress bar if the time limit is long.
fn solve(
    problem: &Problem,
    settings: &partition::Settings,
    seed: u64,
    time: Duration,
) -> Result<Solution, ProblemError> {
    let began = Instant::now();
    let total = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let mut progress = Progress::new(total, "{wide_bar} {pos} of at most {len} ms");
    let mut shown = Duration::ZERO;
    let mut out_of_time = || {
        let elapsed = began.elapsed();
        if elapsed >= shown + Duration::from_millis(50) {
            shown = elapsed;
            progress.set(u64::try_from(elapsed.as_millis()).unwrap_or(total));
        }
        elapsed >= time
    };
    let solution = partition::solve(problem, settings, seed, &mut out_of_time);
    progress.done();
    solution
}

fn read(args: &BalanceArgs) -> Result<(String, FileFormat), CliError> {
    let fail = CliError::in_file(&args.file);
    let reader = open_input(&args.file).map_err(fail)?;
    let mut bytes = Vec::new();
    let read = reader.take(MAX_FILE + 1).read_to_end(&mut bytes);
    read.map_err(fail)?;
    if bytes.len() as u64 > MAX_FILE {
        let path = args.file.display();
        return Err(CliError::input(format!(
            "{path}: the file is longer than {MAX_FILE} bytes"
        )));
    }
    let format = match (
        args.format,
        args.file.extension().and_then(|ext| ext.to_str()),
    ) {
        (FileFormat::Auto, Some("toml")) => FileFormat::Toml,
        (FileFormat::Auto, Some("json")) => FileFormat::Json,
        (FileFormat::Auto, _) => FileFormat::List,
        (given, _) => given,
    };
    // Decode names as the protocol does, and skip the byte-order mark that some editors write.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    Ok((Ident::new(&[], bytes).text().to_owned(), format))
}
