//! `evenkeel queue simulate`: a queue in virtual time, with random people and the real planner.

mod args;
mod plot;
mod print;

use std::io;

use crate::{
    cli::{CliError, load_config, print_json, progress::Progress},
    matchmaking::Queue,
    simulate::{QueueOutcome, SearchPlan},
};
pub(super) use args::SimulateArgs;

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
    let template = "{wide_bar} {pos}/{len} virtual seconds, {eta} to go";
    let mut progress = Progress::new(settings.length as u64, template);
    let plan = SearchPlan {
        effort: args.effort,
        threads: args.threads,
    };
    let outcome = QueueOutcome::of(&queue, settings, plan, |now| progress.set(now));
    let outcome =
        outcome.map_err(|error| CliError::Input(format!("no ticket can be drawn: {error}")))?;
    progress.done();
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
