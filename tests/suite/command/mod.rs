//! Commands as an operator uses them.

mod cli;
mod configuration;
mod demo;
mod find;
mod messages;
mod outputs;
mod upkeep;
mod why;
