//! The `evenkeel` binary: see the library.

use std::process::ExitCode;

use clap::Parser;
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    evenkeel::cli::run(evenkeel::cli::Cli::parse())
}
