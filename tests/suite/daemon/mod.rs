//! The process: how it starts, stops, is watched, and what it survives.

pub(crate) mod disk;
mod exhausted;
mod metrics;
mod passing;
mod process;
mod reported;
mod restart;
mod service_manager;
mod spans;
mod stop;
