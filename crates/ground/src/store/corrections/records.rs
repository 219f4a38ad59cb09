//! Corrections that change stored records: a player is forgotten, or matches that were held back are rated after all.
//!
//! A player who is forgotten is removed from all tables, and from the records of games that are running. The first
//! transaction notes who is forgotten. From then on, records are read without the player, and pages do not show
//! the player. The matches are rewritten in short transactions, so that a match that ends waits for none of them for long.
//! The last one removes the identity from the note; until then, whoever finds it there goes on.
//!
//! Matches are held back if the share of new rulesets and players of their sender was used up.

use crate::{
    model::{PlayerKey, Timestamp, access::Holder},
    store::{
        Pace, RecountCause, StoreError,
        corrections::{Corrections, Forgetting, changed, corrected, unfinished},
        db::{query::ROWS, *},
        learned::persons::{FORGOTTEN, handle},
        matches::{insert::pack, read_matches::fetch},
        state,
    },
};

impl Corrections<'_> {
    /// Removes the identity and the names of a player, and of all identities that count as them,
    /// from all matches and other tables. Games that have begun before `now` are recorded without the player. The matches
    /// stay and keep their fingerprints, so that reading their logs again adds nothing. Returns the number of matches that
    /// contain the player.
    ///
    /// If this ends early, [`finish_forgetting`](Self::finish_forgetting) does the rest.
    ///
    /// # Errors
    /// Fails, and forgets nothing, if the record of one of these matches is damaged.
    pub async fn forget_player(
        self,
        player: &PlayerKey,
        now: Timestamp,
    ) -> Result<u64, StoreError> {
        let identities = self.identities_of(player).await?;
        let mut matches = 0;
        for identity in &identities {
            let mut tx = self.0.readers.snapshot().await?;
            let ids = matches_with(identity, None).fetch_all(&mut tx).await?;
            for some in ids.chunks(ROWS) {
                fetch(&mut tx, some).await?;
            }
            matches += ids.len() as u64;
        }
        let mut tx = self.0.begin_alone().await?;
        begin(&mut tx, &identities, now).await?;
        self.0.commit(tx).await?;
        self.finish_forgetting().await?;
        Ok(matches)
    }

    /// Removes what is left of players whose forgetting has begun, in this process or in one that has ended.
    ///
    /// # Errors
    /// Fails if a record is damaged. The rest can be removed later.
    pub async fn finish_forgetting(self) -> Result<(), StoreError> {
        for left in &unfinished(&self.0.readers).await? {
            self.forget_in_texts(left).await?;
            let mut pace = Pace::new();
            while self.forget_in_some_seats(left, &mut pace).await? {
                pace.rest().await;
            }
            let last = self.forget_in_all_matches(left, &mut pace).await?;
            self.forget_the_rest(left, last).await?;
        }
        Ok(())
    }

    /// Deletes or empties what contains the identity in JSON: decisions, tickets, hosted matches, pools, and lines about
    /// formed matches.
    async fn forget_in_texts(self, left: &Forgetting) -> Result<(), StoreError> {
        let Ok(quoted) = serde_json::to_string(&left.key.id) else {
            return Ok(());
        };
        for (table, number, statement) in TEXTS {
            // The lines about a formed match may contain the id without quotes.
            let text = match table {
                "formed_matches" => quoted.trim_matches('"'),
                _ => &quoted,
            };
            let next = format!(
                "SELECT max(number) FROM (SELECT {number} AS number FROM {table}
                 WHERE {number} > $1 ORDER BY {number} LIMIT $2) AS next"
            );
            let some = format!("{statement} AND {number} > $2 AND {number} <= $3");
            let (mut pace, mut last) = (Pace::new(), i64::MIN);
            loop {
                let rows = pace.next(usize::MAX);
                let to = scalar(next.clone()).bind(last).bind(rows);
                let Some(to) = to.fetch_one(&self.0.readers).await? else {
                    break;
                };
                let mut tx = self.0.begin_alone().await?;
                let query = sql(some.clone()).bind(text).bind(last).bind(to);
                query.execute(&mut tx).await?;
                self.0.commit(tx).await?;
                pace.took(rows);
                pace.rest().await;
                last = to;
            }
        }
        Ok(())
    }

    /// Forgets a player in some more seats of formed matches. Returns whether there were any.
    async fn forget_in_some_seats(
        self,
        left: &Forgetting,
        pace: &mut Pace,
    ) -> Result<bool, StoreError> {
        let rows = pace.next(usize::MAX);
        let mut tx = self.0.begin_alone().await?;
        let seats = forget_in_seats(&mut tx, left, rows).await?;
        self.0.commit(tx).await?;
        pace.took(rows);
        Ok(seats > 0)
    }

    /// Forgets a player in all matches. Returns the last one: no match up to it contains the player.
    async fn forget_in_all_matches(
        self,
        left: &Forgetting,
        pace: &mut Pace,
    ) -> Result<Option<i64>, StoreError> {
        let mut seen = None;
        loop {
            let last = scalar("SELECT max(match_id) FROM match_players");
            let last: Option<i64> = last.fetch_one(&self.0.readers).await?;
            let ids = matches_with(&left.key, seen);
            let ids = ids.fetch_all(&self.0.readers).await?;
            let mut rest = &ids[..];
            while !rest.is_empty() {
                let (some, later) = rest.split_at(pace.next(rest.len().min(ROWS)));
                let mut tx = self.0.begin_alone().await?;
                forget_in_matches(&mut tx, left, some).await?;
                self.0.commit(tx).await?;
                pace.took(some.len());
                pace.rest().await;
                rest = later;
            }
            seen = last;
            if ids.is_empty() {
                return Ok(seen);
            }
        }
    }

    /// Forgets a player in what was written meanwhile, in matches after the `last` one and by those who had not noticed yet,
    /// and in the note.
    async fn forget_the_rest(self, left: &Forgetting, last: Option<i64>) -> Result<(), StoreError> {
        let mut tx = self.0.begin_alone().await?;
        forget_in_seats(&mut tx, left, usize::MAX).await?;
        let ids = matches_with(&left.key, last).fetch_all(&mut tx).await?;
        for some in ids.chunks(ROWS) {
            forget_in_matches(&mut tx, left, some).await?;
        }
        forget_in_tables(&mut tx, &left.key).await?;
        let done = "UPDATE forgotten_lately SET kind = NULL, player = NULL WHERE kind = $1 AND player = $2";
        let done = sql(done).bind(left.key.kind).bind(&left.key.id);
        done.execute(&mut tx).await?;
        self.0.commit(tx).await
    }

    /// Removes the notes of players who were forgotten before `before`, of whom nothing is left.
    pub async fn drop_forgets(self, before: Timestamp) -> Result<(), StoreError> {
        let old = "at < $1 AND player IS NULL";
        let deleted = self.0.delete_old("forgotten_lately", old, before);
        deleted.await.map(drop)
    }
}

/// A table with JSON, the column of its numbers, and what removes the identity $1 from its rows. A ticket that has not ended
/// stays until a day after its end.
const TEXTS: [(&str, &str, &str); 7] = [
    (
        "decisions",
        "id",
        "DELETE FROM decisions WHERE instr(decision, $1) > 0",
    ),
    (
        "tickets",
        "number",
        "DELETE FROM tickets WHERE instr(players, $1) > 0 AND state NOT IN ('queued', 'proposed', 'hosted', 'called')",
    ),
    (
        "hosted_matches",
        "match_id",
        "UPDATE hosted_matches SET passes = '{}'
         WHERE instr(passes, $1) > 0 AND state NOT IN ('opening', 'ready', 'joining')",
    ),
    (
        "hosted_matches",
        "match_id",
        "UPDATE hosted_matches SET roster = NULL WHERE instr(roster, $1) > 0",
    ),
    (
        "hosted_matches",
        "match_id",
        "UPDATE hosted_matches SET sent_away = '[]' WHERE instr(sent_away, $1) > 0",
    ),
    (
        "pools",
        "pool_id",
        "DELETE FROM pools WHERE instr(known, $1) > 0",
    ),
    (
        "formed_matches",
        "match_id",
        "UPDATE formed_matches SET why = '[]' WHERE instr(why, $1) > 0",
    ),
];

/// Notes the identities of a player who is forgotten now, and forgets them in small tables.
async fn begin(
    tx: &mut PooledConnection,
    identities: &[PlayerKey],
    now: Timestamp,
) -> Result<(), StoreError> {
    let secret = state::handle_key(tx).await?;
    // The new id contains a number that is in no other id, and does not reveal the old id.
    let change = state::number(tx, state::PLAYER_CHANGES).await? + 1;
    for (number, key) in (0_i64..).zip(identities) {
        let note = "INSERT INTO forgotten_lately (handle, instead, at, kind, player) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (handle) DO UPDATE SET at = excluded.at, kind = excluded.kind, player = excluded.player,
                 instead = CASE WHEN forgotten_lately.player IS NULL THEN excluded.instead
                           ELSE forgotten_lately.instead END";
        let query = sql(note).bind(handle(&secret, key)?);
        let query = query.bind(format!("{FORGOTTEN}{change}-{number}"));
        let query = query.bind(now).bind(key.kind).bind(&key.id);
        query.execute(&mut *tx).await?;
        forget_in_tables(tx, key).await?;
        let hide = sql("INSERT INTO player_settings (kind, player, hidden) VALUES ($1, $2, TRUE)");
        hide.bind(key.kind).bind(&key.id).execute(&mut *tx).await?;
    }
    changed(tx).await?;
    let latest = sql(
        "UPDATE state SET number = (SELECT number FROM state WHERE name = 'player_changes') WHERE name = 'forgotten'",
    );
    latest.execute(tx).await.map(drop)
}

/// Forgets one identity where few rows contain it, each as a column.
async fn forget_in_tables(tx: &mut PooledConnection, player: &PlayerKey) -> Result<(), StoreError> {
    for statement in [
        "DELETE FROM merged_players WHERE kind = $1 AND (player = $2 OR into_player = $2)",
        "DELETE FROM player_settings WHERE kind = $1 AND player = $2",
        "DELETE FROM weights WHERE kind = $1 AND player = $2",
        "DELETE FROM recounts WHERE kind = $1 AND player = $2",
        "DELETE FROM behaviour WHERE $1 = 'human' AND player = $2",
        "DELETE FROM links WHERE $1 = 'human' AND (player = $2 OR into_player = $2)",
        "DELETE FROM persons WHERE kind = $1 AND player = $2",
    ] {
        let query = sql(statement).bind(player.kind.as_str()).bind(&player.id);
        query.execute(&mut *tx).await?;
    }
    if let Ok(quoted) = serde_json::to_string(&player.id) {
        let query = sql("DELETE FROM pickups WHERE instr(content, $1) > 0");
        query.bind(quoted).execute(tx).await?;
    }
    Ok(())
}

/// The matches that contain an identity, all or those after one. It reads the players of all these matches, so that only
/// commands should ask.
fn matches_with(player: &PlayerKey, after: Option<i64>) -> Query<i64> {
    let query = scalar(
        "SELECT match_id FROM match_players WHERE match_id > $3 AND kind = $1 AND player = $2 ORDER BY match_id",
    );
    let query = query.bind(player.kind).bind(&player.id);
    query.bind(after.unwrap_or(i64::MIN))
}

/// Gives an identity another name in at most so many seats of formed matches. Returns in how many.
async fn forget_in_seats(
    tx: &mut PooledConnection,
    left: &Forgetting,
    most: usize,
) -> Result<u64, StoreError> {
    let seats = sql(
        "UPDATE formed_seats SET player = $2 WHERE player = $1 AND match_id IN
             (SELECT f.match_id FROM formed_seats f WHERE f.player = $1
                AND NOT EXISTS (SELECT 1 FROM tickets t WHERE t.number = f.ticket) LIMIT $3)",
    );
    let seats = seats.bind(&left.key.id).bind(&left.instead).bind(most);
    seats.execute(tx).await
}

/// Gives an identity another name in these matches.
async fn forget_in_matches(
    tx: &mut PooledConnection,
    left: &Forgetting,
    ids: &[i64],
) -> Result<(), StoreError> {
    // They are read without those who are noted.
    for stored in fetch(tx, ids).await? {
        let query = sql("UPDATE matches SET record = $2 WHERE id = $1").bind(stored.id);
        let record = pack(&stored.record, stored.fingerprint);
        query.bind(record).execute(&mut *tx).await?;
    }
    let mut query = Sql::new("UPDATE match_players SET name = '', player = ");
    query.push_bind(&left.instead);
    query.push(" WHERE kind = ").push_bind(left.key.kind);
    query.push(" AND player = ").push_bind(&left.key.id);
    query.push(" AND match_id IN ").list(ids.iter().copied());
    query.build().execute(tx).await.map(drop)
}

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
