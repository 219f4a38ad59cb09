//! The `evenkeel` binary: see the library.

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    evenkeel::cli::run(evenkeel::cli::Cli::parse())
}
