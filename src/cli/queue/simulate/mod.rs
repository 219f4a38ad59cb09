//! `evenkeel queue simulate`: a queue in virtual time, with random people and the real planner.

mod args;
mod plot;
mod print;

use std::io;

use super::configured;
use crate::{
    cli::{CliError, print_json, progress::Progress},
    simulate::{QueueOutcome, SearchPlan},
};
pub(super) use args::SimulateArgs;

pub(super) fn run(args: &SimulateArgs) -> Result<(), CliError> {
    let settings = args.settings().map_err(CliError::input)?;
    let queue = configured(&args.config, &args.queue)?;
    if let Some(folder) = &args.svg {
        std::fs::create_dir_all(folder).map_err(CliError::in_file(folder))?;
    }
    let template = "{wide_bar} {pos}/{len} virtual seconds, {eta} to go";
    let mut progress = Progress::new(settings.length as u64, template);
    let plan = SearchPlan {
        effort: args.effort,
        threads: args.threads,
    };
    let outcome = QueueOutcome::of(&queue, settings, plan, |now| progress.set(now));
    let outcome =
        outcome.map_err(|error| CliError::input(format!("no ticket can be drawn: {error}")))?;
    progress.done();
    if let Some(folder) = &args.svg {
        plot::plot(folder, &outcome.report)
            .map_err(|error| CliError::failed(format!("cannot draw the plot: {error}")))?;
    }
    let mut out = io::stdout().lock();
    if args.json {
        print_json(&outcome)?;
    } else {
        print::print(&mut out, &outcome)?;
    }
    Ok(())
}
