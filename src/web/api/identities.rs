//! The players whom a request names: by their identities, or by the public handles of the pages.

use std::collections::BTreeMap;

use super::{Call, Problem};
use crate::model::{Kind, PlayerKey};

/// The number of characters of a handle, which are hexadecimal digits.
const HANDLE: usize = 20;

fn may_be_handle(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == HANDLE && text.bytes().all(is_digit)
}

/// The identities of those players whom a request names by their handles.
#[derive(Debug, Default)]
pub(super) struct Identities(BTreeMap<String, String>);

impl Identities {
    /// Looks up those of these texts that may be handles.
    pub(super) async fn of(call: &Call, texts: &[&str]) -> Result<Self, Problem> {
        let mut known = Self::default();
        for text in texts {
            if !may_be_handle(text) || known.0.contains_key(*text) {
                continue;
            }
            let found = call.site.learning().person(text, Some(Kind::Human)).await?;
            if let Some(person) = found {
                known.0.insert((*text).to_owned(), person.key.id);
            }
        }
        Ok(known)
    }

    /// The identity of a player whom the request names like this.
    pub(super) fn get(&self, text: &str) -> String {
        self.0.get(text).map_or(text, String::as_str).to_owned()
    }

    /// Refuses two of these humans who are one player, because a link or a merge says so: each is an identity and the
    /// place where the caller has named it.
    pub(super) async fn check_apart(
        call: &Call,
        named: &[(String, String)],
    ) -> Result<(), Problem> {
        let ids: Vec<String> = named.iter().map(|(id, _)| id.clone()).collect();
        let store = call.site.service().store();
        let counted = store.corrections().count_as(&ids).await?;
        let mut seen = BTreeMap::new();
        for (id, place) in named {
            let player = counted.get(id).unwrap_or(id);
            if let Some(first) = seen.insert(player, place) {
                let why = format!("{place}: is the same player as {first}");
                return Err(Problem::bad(why));
            }
        }
        Ok(())
    }

    /// Those of these humans of whom a caller may know nothing: for one without a token, the hidden ones.
    pub(super) async fn hidden_from(
        &self,
        call: &Call,
        ids: &[String],
    ) -> Result<Vec<String>, Problem> {
        if call.is_client() {
            return Ok(Vec::new());
        }
        let key = |id: &String| PlayerKey {
            kind: Kind::Human,
            id: id.clone(),
        };
        let named: Vec<_> = ids.iter().map(|id| (key(id), id.clone())).collect();
        let shown = call.site.pages().matches().present(&named).await?;
        let hidden = ids.iter().zip(shown).filter(|(_, one)| one.name.is_none());
        Ok(hidden.map(|(id, _)| id.clone()).collect())
    }
}
