//! Synthetic worlds: seasons of games whose players' strengths are known, and queues in virtual time. They measure
//! what choosing teams, learning and forming matches achieve. The command line has the options, and prints.

#![allow(
    clippy::disallowed_methods,
    reason = "a simulation reports how long its searches take"
)]

mod load;
mod queue_outcome;
mod season;
mod virtual_queue;

pub use load::{Load, Shape, VEHICLE_KINDS};
pub(crate) use queue_outcome::{QueueOutcome, SearchPlan};
pub(crate) use season::{
    Estimate, Policy, PolicyLine, PolicyReport, SeasonPlan, World, WorldSettings,
};
pub(crate) use virtual_queue::{
    CategoryWaits, MatchQuantiles, SimulationReport, SimulationSettings,
};

use std::io;

use crate::{server::ServiceError, session::SessionError, store::StoreError};

/// Why a simulation failed.
#[derive(Debug, thiserror::Error)]
pub enum SimulateError {
    /// The service of a season could not be opened, or has not learned from a game.
    #[error(transparent)]
    Service(#[from] ServiceError),
    /// A simulated game was refused.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The database of a season failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There is no temporary folder for the database of a season.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A task has ended by itself.
    #[error(transparent)]
    Task(#[from] tokio::task::JoinError),
}
