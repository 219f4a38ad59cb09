//! `evenkeel queue check`: finds rules that contradict each other, rules that have no effect, and
//! attributes that nothing uses.

use std::{
    io::{self, Write},
    path::PathBuf,
    process::ExitCode,
};

use clap::Args;
use serde::Serialize;

use crate::{
    cli::{CliError, load_config, print_json},
    matchmaking::{Queue, QueueSettings, Severity},
    model::counted,
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
    /// Print a JSON array
    #[arg(long)]
    json: bool,
}

/// The severity of a finding with which no match can ever be formed.
const CONTRADICTION: &str = "contradiction";

/// What was found in one queue. The field names are the keys of `--json`.
#[derive(Debug, Serialize)]
struct CheckedQueue {
    queue: String,
    rules: usize,
    attributes: usize,
    findings: Vec<FoundFault>,
}

/// One finding.
#[derive(Debug, Serialize)]
struct FoundFault {
    severity: &'static str,
    about: String,
    why: String,
}

pub(super) fn run(args: &CheckArgs) -> Result<ExitCode, CliError> {
    let config = load_config(&args.file)?;
    let queues = config.queue.into_iter();
    let queues = queues.map(|(name, settings)| checked(name, settings));
    let queues: Vec<CheckedQueue> = queues.collect::<Result<_, _>>()?;
    match args.json {
        true => print_json(&queues)?,
        false => write(&mut io::stdout().lock(), args, &queues)?,
    }
    let mut findings = queues.iter().flat_map(|queue| &queue.findings);
    Ok(match findings.any(|one| one.severity == CONTRADICTION) {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

fn checked(name: String, settings: QueueSettings) -> Result<CheckedQueue, CliError> {
    let (rules, attributes) = (settings.rules.len(), settings.attributes.len());
    let queue = Queue::new(&name, settings);
    let queue = queue.map_err(CliError::input)?;
    let findings = queue.findings().into_iter().map(|finding| FoundFault {
        severity: match finding.severity {
            Severity::Contradiction => CONTRADICTION,
            Severity::Warning => "warning",
        },
        about: finding.about,
        why: finding.why,
    });
    Ok(CheckedQueue {
        findings: findings.collect(),
        queue: name,
        rules,
        attributes,
    })
}

fn write(out: &mut impl Write, args: &CheckArgs, queues: &[CheckedQueue]) -> io::Result<()> {
    if queues.is_empty() {
        writeln!(out, "{}: no queue", args.file.display())?;
    }
    for checked in queues {
        writeln!(
            out,
            "queue {}: {}, {}, {}",
            checked.queue,
            counted(checked.rules as u32, "rule"),
            counted(checked.attributes as u32, "attribute"),
            counted(checked.findings.len() as u32, "finding"),
        )?;
        for finding in &checked.findings {
            let FoundFault {
                severity,
                about,
                why,
            } = finding;
            writeln!(out, "  {severity}: {about}: {why}")?;
        }
    }
    Ok(())
}
