//! `evenkeel man` and `evenkeel completions`: what packages install beside the program, made from the
//! command line's own description.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;

use super::{Cli, CliError};

/// Print the manual page of evenkeel, or write the pages of all its commands
#[derive(Debug, Args)]
pub(super) struct ManArgs {
    /// Write one page per command into this folder, which is created if it is missing
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,
}

/// Print the completions for a shell
#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// The shell that reads them
    #[arg(value_enum)]
    shell: Shell,
}

pub(super) fn man(args: &ManArgs) -> Result<(), CliError> {
    let mut command = Cli::command();
    command.build();
    match &args.write {
        None => Ok(page(command, &mut io::stdout().lock())?),
        Some(folder) => {
            fs::create_dir_all(folder)?;
            Ok(pages(&command, "evenkeel", folder)?)
        }
    }
}

/// Writes the page of a command, and those of the commands below it: `evenkeel-queue-match.1`.
fn pages(command: &Command, name: &str, folder: &Path) -> io::Result<()> {
    let mut text = Vec::new();
    page(command.clone(), &mut text)?;
    fs::write(folder.join(format!("{name}.1")), text)?;
    let subcommands = command.get_subcommands();
    for below in subcommands.filter(|below| below.get_name() != "help") {
        pages(below, &format!("{name}-{}", below.get_name()), folder)?;
    }
    Ok(())
}

fn page(command: Command, to: &mut impl Write) -> io::Result<()> {
    let source = format!("Evenkeel {}", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command).source(source).manual("User Commands");
    man.render(to)
}

pub(super) fn completions(args: &CompletionsArgs) -> Result<(), CliError> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "evenkeel", &mut text);
    // Written at once: the generator panics if the reader has gone.
    Ok(io::stdout().lock().write_all(&text)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a command, its flags and all commands below it have one name each, and are listed.
    fn check(command: &Command) {
        let name = command.get_name();
        assert!(!command.is_hide_set(), "{name}");
        assert_eq!(command.get_all_aliases().count(), 0, "{name}");
        for flag in command.get_arguments() {
            assert!(!flag.is_hide_set(), "{name} {flag}");
            assert_eq!(flag.get_all_aliases().unwrap_or_default(), [""; 0]);
        }
        command.get_subcommands().for_each(check);
    }

    #[test]
    fn commands_and_flags_have_one_name_and_are_listed() {
        check(&Cli::command());
    }
}
