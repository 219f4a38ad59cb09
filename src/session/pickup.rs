//! Pick-up matches: applies what happens to one, and learns from its result.

use std::sync::Arc;

use super::{Report, SessionError, Sessions};
use crate::{matchmaking::lifecycle::PickupEvent, store::ChangedPickup};

impl Sessions {
    /// Applies an event to a pick-up match of a client. If it has a result then, it is recorded as `result`. All of it is
    /// on disk when this returns; the background task learns from it later.
    ///
    /// # Errors
    /// Fails if the record is not valid, or if the database does.
    pub async fn change_pickup(
        self: &Arc<Self>,
        client: &str,
        id: &str,
        event: PickupEvent,
        result: Option<Report>,
    ) -> Result<ChangedPickup, SessionError> {
        let (sessions, client, id) = (self.clone(), client.to_owned(), id.to_owned());
        // A task of its own, which completes even if the caller is dropped: what is on disk is also learned from.
        let changing = async move {
            let now = sessions.clock.now();
            let result = result.map(|report| sessions.reported(&client, report, now));
            let store = &sessions.store;
            let changed = store
                .change_pickup(&client, &id, event, now, result.as_ref())
                .await?;
            if let (ChangedPickup::Done(_, true), Some(result)) = (&changed, &result) {
                sessions.learn_of(std::slice::from_ref(result));
            }
            Ok(changed)
        };
        self.tasks().spawn(changing).await?
    }
}
