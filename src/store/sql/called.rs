//! The players whom a text names.

use crate::{
    model::{Kind, PlayerKey, plain_name},
    store::{FoundPlayer, Store, StoreError},
};

/// Of players with the same name, this many are found.
const MOST: i64 = 20;

impl Store {
    /// The players whom a text names: the one with this identity if it has played; else those with this handle or latest
    /// name, of whom at most 20.
    pub async fn called(&self, kind: Kind, text: &str) -> Result<Vec<FoundPlayer>, StoreError> {
        let found = self.matches().find_players(text, Some(kind), MOST).await?;
        let id = text.to_owned();
        let key = PlayerKey { kind, id };
        let names = self.matches().names(&key).await?;
        if let Some(latest) = names.into_iter().next() {
            let known = found.into_iter().find(|one| one.key == key);
            let bare = || FoundPlayer {
                key,
                name: latest.name,
                handle: None,
                games: 0,
                last_seen: None,
            };
            return Ok(vec![known.unwrap_or_else(bare)]);
        }
        let name = plain_name(text).to_lowercase();
        let is_named = |one: &FoundPlayer| {
            let has_name = plain_name(&one.name).to_lowercase() == name;
            has_name || one.handle.as_deref() == Some(text)
        };
        Ok(found.into_iter().filter(is_named).collect())
    }
}
