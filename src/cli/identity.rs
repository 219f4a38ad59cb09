//! The one player whom a text names, wherever a command takes a player, and what must hold of the player.

use super::{CliError, table::printable};
use crate::{
    model::{Kind, PlayerKey, Timestamp, ident::Ident, steam},
    server::Service,
};

/// The player whom a text names: by the identity, else by the handle or the latest name, if only one has it. A text that
/// names nobody is taken as an identity.
pub(super) async fn named(
    service: &Service,
    kind: Kind,
    text: &str,
) -> Result<PlayerKey, CliError> {
    if let Some(known) = service.learning().canonical(kind, text) {
        return Ok(known);
    }
    let named = service.store().called(kind, text).await?;
    match &named[..] {
        [] => Ok(PlayerKey {
            kind,
            id: text.to_owned(),
        }),
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
    let store = service.store();
    if !store.matches().names(key).await?.is_empty() {
        return Ok(true);
    }
    // Or with another form of the Steam id.
    let is_account = steam::account(&key.id).is_some();
    Ok(is_account
        && !store
            .matches()
            .matches_of(key, Timestamp(i64::MIN))
            .await?
            .is_empty())
}

/// Rejects the identities that games give to all players without an identity of their own.
pub(super) fn check_identity(key: &PlayerKey) -> Result<(), CliError> {
    match Ident::from_text(&key.id).is_nobody() {
        true => Err(CliError::input(format!(
            "\"{}\" identifies no player: games give it to everyone whose identity they do not know",
            printable(&key.id)
        ))),
        false => Ok(()),
    }
}

/// Fails unless the player has a name in a stored match.
pub(super) async fn require_matches(service: &Service, key: &PlayerKey) -> Result<(), CliError> {
    if has_matches(service, key).await? {
        return Ok(());
    }
    Err(CliError::input(nobody(service, key).await?))
}

/// Fails unless the player has a name in a stored match, and says how to set something for a player to come.
pub(super) async fn require_known(service: &Service, key: &PlayerKey) -> Result<(), CliError> {
    if has_matches(service, key).await? {
        return Ok(());
    }
    let nobody = nobody(service, key).await?;
    Err(CliError::input(format!(
        "{nobody}; for a player who has not played yet, add --new"
    )))
}

/// That nobody has played under an identity; and whether one of the other kind has.
async fn nobody(service: &Service, key: &PlayerKey) -> Result<String, CliError> {
    let (kind, id) = (key.kind, printable(&key.id));
    let (other, hint) = match kind {
        Kind::Human => (Kind::Bot, "add --bot"),
        Kind::Bot => (Kind::Human, "leave out --bot"),
    };
    let other = PlayerKey {
        kind: other,
        id: key.id.clone(),
    };
    let nobody = format!("no stored match has a {kind} with the identity {id}");
    Ok(match has_matches(service, &other).await? {
        true => format!("{nobody}, but there is a {} {id}: {hint}", other.kind),
        false => nobody,
    })
}
