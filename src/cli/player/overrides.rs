//! What an operator decides about a player: whose matches count for whom, who is shown, and fixed weights.

use std::io::{self, IsTerminal, Write};

use super::show;
use crate::{
    cli::{
        CliError,
        identity::{check_identity, named, require_known, require_matches},
        table::printable,
    },
    model::{PlayerKey, counted},
    server::Service,
};

/// Lets an identity count for itself again.
pub(super) async fn split(service: &Service, key: &PlayerKey) -> Result<String, CliError> {
    let id = printable(&key.id);
    match service.store().corrections().split_player(key).await? {
        true => Ok(format!("{id} counts as a player of its own again")),
        false => Err(CliError::input(format!(
            "{id} is not merged into another identity"
        ))),
    }
}

/// Whether the person at the terminal wants to forget this player. Without a terminal, the command was meant.
pub(super) async fn is_sure(service: &Service, key: &PlayerKey) -> Result<bool, CliError> {
    if !io::stdin().is_terminal() {
        return Ok(true);
    }
    let names = service.store().matches().names(key).await?;
    let name = names.first().map_or(key.id.as_str(), |seen| &seen.name);
    let (name, id) = (printable(name), printable(&key.id));
    write!(
        io::stdout(),
        "Forget {name} ({id})? The identity and all names are removed for ever. [y/N] "
    )?;
    io::stdout().flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// Removes an identity and its names from the database.
pub(super) async fn forget(service: &Service, key: &PlayerKey) -> Result<String, CliError> {
    if !show::is_reported(service, key).await? {
        require_matches(service, key).await?;
    }
    let now = service.sessions().clock().now();
    let matches = service
        .store()
        .corrections()
        .forget_player(key, now)
        .await?;
    Ok(format!("forgotten in {}", counted(matches, "match")))
}

/// Hides a player from the statistics pages, or shows the player again. Weights do not change.
pub(super) async fn hide(service: &Service, key: &PlayerKey, hidden: bool) -> Result<(), CliError> {
    check_identity(key)?;
    if hidden {
        require_matches(service, key).await?;
    }
    let id = printable(&key.id);
    let changed = service
        .store()
        .corrections()
        .set_hidden(key, hidden)
        .await?;
    let done = match (hidden, changed) {
        (true, true) => format!("{id} is not shown on the statistics pages any more"),
        (true, false) => format!("{id} is hidden already"),
        (false, true) => format!("{id} is shown on the statistics pages again"),
        (false, false) => return Err(CliError::input(format!("{id} is not hidden"))),
    };
    writeln!(io::stdout(), "{done}")?;
    Ok(())
}

/// Fixes a weight, or lets it be learned again.
pub(super) async fn pin_weight(
    service: &Service,
    key: &PlayerKey,
    weight: Option<f64>,
) -> Result<String, CliError> {
    service
        .store()
        .corrections()
        .pin_weight(key, weight)
        .await?;
    let id = printable(&key.id);
    Ok(match weight {
        Some(weight) => format!("the weight of {id} is fixed at {weight}"),
        None => format!("the weight of {id} is learned from matches again"),
    })
}

/// Merges `key` into the identity `into` of the same kind.
pub(super) async fn merge(
    service: &Service,
    key: &PlayerKey,
    into: &str,
    new: bool,
) -> Result<String, CliError> {
    let target = named(service, key.kind, into).await?;
    check_identity(key)?;
    check_identity(&target)?;
    if target == *key {
        let message = "an identity cannot be merged into itself";
        return Err(CliError::input(message));
    }
    if !new {
        require_known(service, key).await?;
        require_known(service, &target).await?;
    }
    service
        .store()
        .corrections()
        .merge_player(key, &target)
        .await?;
    let (id, into) = (printable(&key.id), printable(&target.id));
    Ok(format!("{id} counts as {into} now"))
}
