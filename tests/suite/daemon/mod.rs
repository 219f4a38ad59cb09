//! The process: how it starts, stops, is watched, and what it survives.

pub(crate) mod disk;
mod exhausted;
mod first;
mod metrics;
mod modes;
mod passing;
mod process;
mod reported;
mod restart;
mod service_manager;
mod spans;
mod stop;
mod taken;
