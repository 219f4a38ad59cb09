//! `evenkeel queue check`: finds rules that contradict each other, rules that have no effect, and
//! attributes that nothing uses.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::Args;

use crate::{
    cli::{CliError, load_config},
    domain::counted,
    matchmaking::{Queue, Severity},
};

/// Check the queues of a configuration: rules that contradict each other, rules without effect,
/// unused attributes
///
/// The exit code is 1 if no match can ever be formed.
#[derive(Debug, Args)]
pub(super) struct CheckArgs {
    /// The configuration file
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

pub(super) fn run(args: &CheckArgs) -> Result<ExitCode, CliError> {
    let config = load_config(Some(&args.file))?;
    let mut out = io::stdout().lock();
    let mut code = ExitCode::SUCCESS;
    if config.queue.is_empty() {
        writeln!(out, "{}: no queue", args.file.display())?;
    }
    for (name, settings) in config.queue {
        let (rules, attributes) = (settings.rules.len(), settings.attributes.len());
        let queue = Queue::new(&name, settings);
        let queue = queue.map_err(|error| CliError::Input(error.to_string()))?;
        let findings = queue.findings();
        writeln!(
            out,
            "queue {name}: {}, {}, {}",
            counted(rules as u32, "rule"),
            counted(attributes as u32, "attribute"),
            counted(findings.len() as u32, "finding"),
        )?;
        for finding in findings {
            let word = match finding.severity {
                Severity::Contradiction => {
                    code = ExitCode::FAILURE;
                    "contradiction"
                }
                Severity::Warning => "warning",
            };
            writeln!(out, "  {word}: {}: {}", finding.about, finding.why)?;
        }
    }
    Ok(code)
}
