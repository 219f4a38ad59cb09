//! stub
use super::CliError;
#[derive(Debug, clap::Args)]
pub(super) struct BalanceArgs {}
pub(super) fn run(_: &BalanceArgs) -> Result<(), CliError> {
    Ok(())
}
