//! `evenkeel queue simulate`: a queue in virtual time, with random people and the real planner.

mod args;
mod plot;
mod print;
mod search;

use std::{io, sync::atomic::AtomicBool, time::Instant};

use serde::Serialize;

use crate::{
    cli::{CliError, load_config, print_json, progress::Progress},
    matchmaking::{Effort, Queue, Simulation, SimulationReport},
    queues::Threads,
};
pub(super) use args::SimulateArgs;
use search::{Measured, SearchCost, Times};

/// What the command prints.
#[derive(Debug, Serialize)]
struct Outcome {
    #[serde(flatten)]
    report: SimulationReport,
    effort: u32,
    search: SearchCost,
}

pub(super) fn run(args: &SimulateArgs) -> Result<(), CliError> {
    let settings = args.settings().map_err(CliError::Input)?;
    let mut config = load_config(&args.config)?;
    let Some(queue) = config.queue.remove(&args.queue) else {
        let why = format!("{}: no queue {}", args.config.display(), args.queue);
        return Err(CliError::Input(why));
    };
    let queue = Queue::new(&args.queue, queue);
    let queue = queue.map_err(|error| CliError::Input(error.to_string()))?;
    if let Some(folder) = &args.svg {
        std::fs::create_dir_all(folder).map_err(|source| CliError::File {
            path: folder.clone(),
            source,
        })?;
    }
    let outcome = simulate(args, Simulation::new(&queue, settings), settings.length)?;
    if let Some(folder) = &args.svg {
        plot::plot(folder, &outcome.report).map_err(|error| CliError::Plot(error.to_string()))?;
    }
    let mut out = io::stdout().lock();
    if args.json {
        print_json(&outcome)?;
    } else {
        print::print(&mut out, &outcome)?;
    }
    Ok(())
}

/// Runs the rounds of the simulation, each on the planner.
fn simulate(
    args: &SimulateArgs,
    mut simulation: Simulation<'_>,
    length: f64,
) -> Result<Outcome, CliError> {
    let template = "{wide_bar} {pos}/{len} virtual seconds, {eta} to go";
    let mut progress = Progress::new(length as u64, template);
    let cores = Measured::new(Threads(args.threads.into()));
    let effort = Effort::new(args.effort);
    let allowed = simulation.allowed();
    let mut times = Times::default();
    let more = |simulation: &mut Simulation<'_>| {
        let more = simulation.next_round();
        more.map_err(|error| CliError::Input(format!("no ticket can be drawn: {error}")))
    };
    while more(&mut simulation)? {
        let since = Instant::now();
        let input = simulation.round(effort);
        let plan = input.plan(&cores, &AtomicBool::new(false));
        times.add(since.elapsed(), &cores);
        simulation.found(&plan);
        progress.set(simulation.now() as u64);
    }
    progress.done();
    Ok(Outcome {
        report: simulation.report(),
        effort: args.effort,
        search: times.cost(args.threads, length, allowed),
    })
}
