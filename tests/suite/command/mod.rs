//! Commands as an operator uses them.

mod archive;
mod cli;
mod configuration;
mod demo;
mod find;
mod messages;
mod outputs;
mod why;
