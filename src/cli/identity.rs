//! The one player whom a text names, wherever a command takes a player.

use super::{CliError, table::printable};
use crate::{
    domain::{Kind, PlayerKey, plain_name},
    server::Service,
    store::FoundPlayer,
};

/// Of players with the same name, this many are named in an error.
const NAMED: i64 = 20;

/// The player whom a text names: by the identity, else by the handle or the latest name, if only one has it. A text that
/// names nobody is taken as an identity.
pub(super) async fn named(
    service: &Service,
    kind: Kind,
    text: &str,
) -> Result<PlayerKey, CliError> {
    let key = PlayerKey {
        kind,
        id: text.to_owned(),
    };
    if has_matches(service, &key).await? {
        return Ok(key);
    }
    let found = service.store().find_players(text, Some(kind), NAMED);
    let name = plain_name(text).to_lowercase();
    let is_named = |one: &FoundPlayer| {
        let has_name = plain_name(&one.name).to_lowercase() == name;
        has_name || one.handle.as_deref() == Some(text)
    };
    let named: Vec<FoundPlayer> = found.await?.into_iter().filter(is_named).collect();
    match &named[..] {
        [] => Ok(key),
        [one] => Ok(one.key.clone()),
        several => {
            let ids = several.iter().map(|one| printable(&one.key.id));
            let ids: Vec<String> = ids.collect();
            Err(CliError::input(format!(
                "{} players are called {}: give one of the identities {}",
                ids.len(),
                printable(text),
                ids.join(", ")
            )))
        }
    }
}

/// Whether a stored match has a player with this identity.
pub(super) async fn has_matches(service: &Service, key: &PlayerKey) -> Result<bool, CliError> {
    Ok(!service.store().names(key).await?.is_empty())
}
