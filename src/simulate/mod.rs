//! Synthetic worlds: seasons of games whose players' strengths are known, and queues in virtual time. They measure
//! what choosing teams, learning and forming matches achieve. The command line has the options, and prints.

#![allow(
    clippy::disallowed_methods,
    reason = "a simulation reports how long its searches take"
)]

mod error;
mod load;
mod queue_outcome;
mod season;
mod virtual_queue;

pub use error::SimulateError;
pub use load::{Load, Shape, VEHICLE_KINDS};
pub(crate) use queue_outcome::{QueueOutcome, SearchPlan};
pub(crate) use season::{
    Estimate, Policy, PolicyLine, PolicyReport, SeasonPlan, World, WorldSettings,
};
pub(crate) use virtual_queue::{
    CategoryWaits, MatchQuantiles, SimulationReport, SimulationSettings,
};
