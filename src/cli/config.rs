//! `evenkeel config`: the documented defaults, and what is wrong in a file.

use std::{
    io::{self, Write},
    path::PathBuf,
};

use clap::{Args, Subcommand};

use super::{CliError, load_config};
use crate::config::DEFAULT;

/// Print the documented defaults, or check a configuration file
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print every key with its default, as a file to start from
    Default,
    /// Say whether a file is a valid configuration, and if not, in which line it isn't
    Check {
        /// The file
        file: PathBuf,
    },
}

pub(super) fn run(args: &ConfigArgs) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    match &args.what {
        What::Default => out.write_all(DEFAULT.as_bytes())?,
        What::Check { file } => {
            load_config(Some(file))?;
            writeln!(out, "{}: valid", file.display())?;
        }
    }
    Ok(())
}
