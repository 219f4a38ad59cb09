//! Matches that are not rated, since the share of new rulesets and players of their sender was used up.

use super::{Corrections, corrected};
use crate::{
    model::access::Holder,
    store::{
        Pace, RecountCause, StoreError,
        db::*,
        matches::{insert::pack, read_matches::fetch},
        sql::rows::ROWS,
    },
};

impl Corrections<'_> {
    /// Whose shares of new rulesets and players were used up when matches were recorded that are not rated since, and how
    /// many matches.
    pub async fn held_back(self) -> Result<Vec<(Holder, i64)>, StoreError> {
        let query = tuple(
            "SELECT too_many_new, count(*) FROM matches WHERE too_many_new IS NOT NULL
             GROUP BY too_many_new ORDER BY too_many_new",
        );
        let held: Vec<(String, i64)> = query.fetch_all(&self.0.readers).await?;
        let held = held.into_iter();
        Ok(held
            .filter_map(|(owner, count)| Some((Holder::parse(&owner)?, count)))
            .collect())
    }

    /// Lets the matches count that are not rated because this sender's share of new rulesets and players was used up. Returns
    /// how many there were. If this ends early, what is done counts, and the rest can be admitted later.
    ///
    /// # Errors
    /// Fails if the record of one of them is damaged.
    pub async fn admit(self, owner: &Holder) -> Result<u64, StoreError> {
        let (mut pace, mut admitted) = (Pace::new(), 0);
        loop {
            let rows = pace.next(ROWS);
            let mut tx = self.0.begin_alone().await?;
            let query = scalar(
                "SELECT id FROM matches WHERE too_many_new = $1 ORDER BY ended_at, fingerprint LIMIT $2",
            );
            let query = query.bind(owner.to_string()).bind(rows);
            let ids: Vec<i64> = query.fetch_all(&mut tx).await?;
            if ids.is_empty() {
                tx.abandon().await?;
                return Ok(admitted);
            }
            for mut stored in fetch(&mut tx, &ids).await? {
                stored.record.too_many_new = None;
                let record = pack(&stored.record, stored.fingerprint);
                let query =
                    sql("UPDATE matches SET record = $2, too_many_new = NULL WHERE id = $1");
                let query = query.bind(stored.id).bind(record);
                admitted += query.execute(&mut tx).await?;
            }
            corrected(&mut tx, RecountCause::Admitted).await?;
            self.0.commit(tx).await?;
            pace.took(rows);
            pace.rest().await;
        }
    }
}
