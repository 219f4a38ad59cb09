//! `evenkeel config show`: the values that are in force, and where each of them comes from.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::Args;
use serde::Serialize;

use super::{
    CliError, CommonArgs,
    config_file::{ConfigSource, environment},
    print_json,
    serve::OverrideArgs,
    table::printable,
};
use crate::config::{Config, ValueInForce, ValueOrigin};

/// Show the configuration that is in force, and where each value comes from
///
/// A value comes from a flag, a variable of the environment, a line of the configuration file, or it is the default.
/// Takes the flags of `evenkeel serve` that set a value. Tokens and passwords are not shown.
#[derive(Debug, Args)]
pub(super) struct ShowArgs {
    /// Only the values that somebody has set
    #[arg(long)]
    changed: bool,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    overrides: OverrideArgs,
    #[command(flatten)]
    common: CommonArgs,
}

/// The configuration in force. The field names are the keys of `--json`.
#[derive(Debug, Serialize)]
struct ShownConfig {
    /// The configuration file, if there is one.
    file: Option<PathBuf>,
    /// The folder of the relative paths in it; empty for the current folder.
    folder: PathBuf,
    values: Vec<ValueInForce>,
}

pub(super) fn run(args: &ShowArgs) -> Result<(), CliError> {
    // Names the line or the variable of a mistake.
    args.common.load()?;
    let ConfigSource { file, folder } = args.common.source();
    let text = args.common.source().text()?;
    let mut values = Config::values_in_force(&folder, &text, environment())?;
    override_values(args, &mut values);
    if args.changed {
        values.retain(|one| one.origin != ValueOrigin::Default);
    }
    let shown = ShownConfig {
        file,
        folder,
        values,
    };
    match args.json {
        true => print_json(&shown),
        false => Ok(write(&mut io::stdout().lock(), &shown)?),
    }
}

/// Puts the values of flags in the place of those from the file and the environment.
fn override_values(args: &ShowArgs, values: &mut [ValueInForce]) {
    let path = |path: &Path| path.display().to_string();
    let flags = &args.overrides;
    let set = [
        (
            "store.database",
            "--db",
            args.common.db.as_deref().map(path),
        ),
        (
            "server.listen",
            "--listen",
            flags.listen.map(|at| at.to_string()),
        ),
        ("web.listen", "--web", flags.web.map(|at| at.to_string())),
        (
            "log.format",
            "--log-format",
            flags.log_format.map(|format| format.as_str().to_owned()),
        ),
    ];
    for (key, flag, text) in set {
        let Some(text) = text else {
            continue;
        };
        let Some(one) = values.iter_mut().find(|one| one.key == key) else {
            continue;
        };
        one.origin = origin_of(flag, &text);
        one.value = text.into();
    }
}

/// Where the value of a flag comes from: some flags are also set by a variable.
fn origin_of(flag: &str, text: &str) -> ValueOrigin {
    let variable = match flag {
        "--db" => "EVENKEEL_DB",
        "--listen" => "EVENKEEL_LISTEN",
        _ => "",
    };
    let by_variable = !variable.is_empty() && std::env::var(variable).is_ok_and(|set| set == text);
    match by_variable {
        true => ValueOrigin::Environment {
            variable: variable.to_owned(),
        },
        false => ValueOrigin::Flag {
            flag: flag.to_owned(),
        },
    }
}

fn write(out: &mut impl Write, shown: &ShownConfig) -> io::Result<()> {
    match &shown.file {
        Some(file) => writeln!(out, "configuration file: {}", file.display())?,
        None => writeln!(out, "configuration file: none")?,
    }
    let folder = match shown.folder.as_os_str().is_empty() {
        true => "the current folder".to_owned(),
        false => shown.folder.display().to_string(),
    };
    writeln!(out, "relative paths begin in: {folder}\n")?;
    let line = |one: &ValueInForce| printable(&format!("{} = {}", one.key, one.value));
    let lines: Vec<String> = shown.values.iter().map(line).collect();
    let widths = lines.iter().map(|line| line.chars().count());
    let width = widths
        .filter(|width| *width <= LONGEST_COLUMN)
        .max()
        .unwrap_or(0);
    for (line, one) in lines.iter().zip(&shown.values) {
        writeln!(out, "{line:width$}  # {}", words(&one.origin))?;
    }
    Ok(())
}

/// The longest value, with its key, behind which the origins are in one column.
const LONGEST_COLUMN: usize = 60;

fn words(origin: &ValueOrigin) -> String {
    match origin {
        ValueOrigin::Default => "default".to_owned(),
        ValueOrigin::File { line } => format!("line {line}"),
        ValueOrigin::Environment { variable } => format!("variable {variable}"),
        ValueOrigin::Flag { flag } => format!("flag {flag}"),
    }
}
