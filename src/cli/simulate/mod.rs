//! `evenkeel simulate`: seasons of synthetic games, and what each way to choose teams made of them.

mod args;
mod print;

use std::io;

use super::{CliError, print_json, progress::Progress};
use crate::simulate::{Policy, PolicyReport, SeasonPlan};

pub(super) use args::SimulateArgs;

pub(super) async fn run(args: SimulateArgs) -> Result<(), CliError> {
    let config = args.settings.load()?;
    let mut policies = args.policies.clone();
    if policies.is_empty() {
        policies = Policy::ALL.to_vec();
    }
    let plan = SeasonPlan {
        policies,
        seasons: args.seasons,
        games: args.games,
        seed: args.seed,
        world: args.world.settings(),
        quit_reason: args.quit_reason,
    };
    let mut progress = Progress::new(plan.total(), "{wide_bar} {pos}/{len} games, {eta} to go");
    let seasons = plan.play(&config, |done| progress.set(done)).await?;
    progress.done();
    let system = config.rating.rating.system.as_str();
    let report = PolicyReport::new(system, &plan, &seasons);
    if args.json {
        print_json(&report)?;
    } else {
        print::print(&mut io::stdout().lock(), &report)?;
    }
    Ok(())
}
