//! The stored matches, a few at a time, for whoever writes them somewhere.

use crate::{
    domain::Timestamp,
    service::{Service, ServiceError},
    store::{Cursor, Stored},
};

/// Matches read at once.
const CHUNK: u32 = 256;

/// See [`Service::export`].
#[derive(Debug)]
pub struct Export<'a> {
    service: &'a Service,
    cursor: Cursor,
}

impl Service {
    /// All matches as they were recorded that ended `since` then, the first to end first.
    pub fn export(&self, since: Option<Timestamp>) -> Export<'_> {
        Export {
            service: self,
            cursor: since.map_or(Cursor::START, Cursor::since),
        }
    }
}

impl Export<'_> {
    /// The next few; none are left where there are none.
    ///
    /// # Errors
    /// The database's, or rows that make no record.
    pub async fn next(&mut self) -> Result<Vec<Stored>, ServiceError> {
        let (matches, cursor) = self.service.store.matches(self.cursor, CHUNK).await?;
        self.cursor = cursor;
        Ok(matches)
    }
}
