//! What operators and players correct: merges, pins, start weights, void matches, hidden and forgotten players, links.
//!
//! Records are read and written without those who are being forgotten, or were lately. Links are claims that an
//! identity is that of a player who has played.

mod records;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::{
    model::{Kind, MatchRecord, PlayerKey, Timestamp, names::ClanTags, steam, weight::StartWeight},
    store::{
        RecountCause, Store, StoreError, StoredMatch,
        db::*,
        learned::{
            self,
            persons::{self, handle},
        },
        state,
    },
};

/// The operator's corrections, and the players that they name.
#[derive(Clone, Copy, Debug)]
pub struct Corrections<'a>(&'a Store);

impl Store {
    /// The operator's corrections, and the players that they name.
    pub fn corrections(&self) -> Corrections<'_> {
        Corrections(self)
    }
}

/// Somebody whose matches are being rewritten, and the identity that they get instead.
struct Forgetting {
    pub key: PlayerKey,
    pub instead: String,
}

/// Those who are noted as being forgotten.
async fn unfinished(on: impl Into<Executor<'_>>) -> Result<Vec<Forgetting>, StoreError> {
    let query = sql(
        "SELECT kind, player, instead FROM forgotten_lately WHERE player IS NOT NULL ORDER BY handle",
    );
    let rows = query.fetch_all(on).await?;
    let left = rows.iter().map(|row| {
        Ok(Forgetting {
            key: row.player()?,
            instead: row.get("instead")?,
        })
    });
    left.collect()
}

/// Removes from matches that were read those who are being forgotten.
pub(super) async fn leave_out(
    tx: &mut PooledConnection,
    matches: &mut [StoredMatch],
) -> Result<(), StoreError> {
    let all = unfinished(&mut *tx).await?;
    let instead: HashMap<&PlayerKey, &String> =
        all.iter().map(|one| (&one.key, &one.instead)).collect();
    let records = matches.iter_mut().map(|stored| &mut stored.record);
    for participant in records.flat_map(|record| &mut record.participants) {
        if let Some(instead) = instead.get(&participant.key) {
            participant.key.id.clone_from(instead);
            participant.name.clear();
        }
    }
    Ok(())
}

/// Removes from a game's record the players who were forgotten after the game began.
pub(super) async fn remove_from(
    tx: &mut PooledConnection,
    record: &mut MatchRecord,
) -> Result<(), StoreError> {
    let query = tuple("SELECT handle, instead FROM forgotten_lately WHERE at >= $1");
    let forgotten: Vec<(String, String)> = query.bind(record.start).fetch_all(&mut *tx).await?;
    if forgotten.is_empty() {
        return Ok(());
    }
    let forgotten: HashMap<String, String> = forgotten.into_iter().collect();
    let secret = state::handle_key(tx).await?;
    for participant in &mut record.participants {
        if let Some(instead) = forgotten.get(&handle(&secret, &participant.key)?) {
            participant.key.id.clone_from(instead);
            participant.name.clear();
        }
    }
    Ok(())
}

/// An identity, and the player whose it is said to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityLink {
    /// The identity.
    pub player: String,
    /// The identity of the player, who has played.
    pub into: String,
    /// The client that has asked.
    pub client: String,
    /// When it has asked.
    pub asked_at: Timestamp,
    /// Who has confirmed it, and when.
    pub confirmed: Option<(String, Timestamp)>,
}

impl Corrections<'_> {
    /// The link of an identity.
    pub async fn link(self, player: &str) -> Result<Option<IdentityLink>, StoreError> {
        let query = "SELECT into_player, client, asked_at, confirmed_by, confirmed_at FROM links WHERE player = $1";
        let row = sql(query)
            .bind(player)
            .fetch_optional(&self.0.readers)
            .await?;
        let Some(row) = row else {
            return Ok(None);
        };
        let by: Option<String> = row.get("confirmed_by")?;
        let at: Option<Timestamp> = row.get("confirmed_at")?;
        Ok(Some(IdentityLink {
            player: player.to_owned(),
            into: row.get("into_player")?,
            client: row.get("client")?,
            asked_at: row.get("asked_at")?,
            confirmed: by.zip(at),
        }))
    }

    /// The identity as which the matches of an identity count.
    pub async fn counts_as(self, player: &str) -> Result<String, StoreError> {
        let query = "SELECT into_player FROM merged_players WHERE kind = $1 AND player = $2";
        let player = steam::canonical(player);
        let query = scalar(query).bind(Kind::Human.as_str()).bind(&player);
        let into: Option<String> = query.fetch_optional(&self.0.readers).await?;
        Ok(into.unwrap_or(player))
    }

    /// The identities as which the matches of these identities count, for those that count as another one.
    pub async fn count_as(
        self,
        players: &[String],
    ) -> Result<BTreeMap<String, String>, StoreError> {
        if players.is_empty() {
            return Ok(BTreeMap::new());
        }
        let mut query = Sql::new(
            "SELECT player, into_player FROM merged_players WHERE kind = 'human' AND player IN ",
        );
        query.list(players.iter().map(|player| steam::canonical(player)));
        let rows = query.build().fetch_all(&self.0.readers).await?;
        let pair = |row: &Row| Ok((row.get("player")?, row.get("into_player")?));
        let merged: Result<BTreeMap<String, String>, StoreError> = rows.iter().map(pair).collect();
        let merged = merged?;
        let into = players.iter().map(|player| {
            let account = steam::canonical(player);
            let into = merged.get(&account).cloned().unwrap_or(account);
            (player.clone(), into)
        });
        Ok(into.filter(|(player, into)| player != into).collect())
    }

    /// Writes a link that is not confirmed, in place of another one that is not. Returns whether it could: a confirmed
    /// one stays.
    pub async fn ask_link(self, link: &IdentityLink) -> Result<bool, StoreError> {
        let mut tx = self.0.begin_alone().await?;
        let query =
            "INSERT INTO links (player, into_player, client, asked_at) VALUES ($1, $2, $3, $4)
                     ON CONFLICT (player) DO UPDATE SET into_player = excluded.into_player,
                         client = excluded.client, asked_at = excluded.asked_at
                     WHERE links.confirmed_at IS NULL";
        let query = sql(query).bind(&link.player).bind(&link.into);
        let query = query.bind(&link.client).bind(link.asked_at);
        let done = query.execute(&mut tx).await?;
        tx.commit().await?;
        Ok(done > 0)
    }

    /// Confirms a link if it is still to this player: from now on, the matches of the identity count for the player.
    /// Returns whether it was.
    pub async fn confirm_link(
        self,
        player: &str,
        into: &str,
        by: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.0.begin_alone().await?;
        let query = "UPDATE links SET confirmed_by = $3, confirmed_at = $4
                     WHERE player = $1 AND into_player = $2 AND confirmed_at IS NULL";
        let query = sql(query).bind(player).bind(into).bind(by).bind(now);
        if query.execute(&mut tx).await? == 0 {
            tx.abandon().await?;
            return Ok(false);
        }
        merge(&mut tx, &human(player), &human(into)).await?;
        self.0.commit(tx).await?;
        Ok(true)
    }

    /// Deletes a link. If it was confirmed, the identity counts as itself again.
    pub async fn drop_link(self, player: &str) -> Result<bool, StoreError> {
        let mut tx = self.0.begin_alone().await?;
        let query = scalar("SELECT confirmed_at IS NOT NULL FROM links WHERE player = $1");
        let confirmed: Option<bool> = query.bind(player).fetch_optional(&mut tx).await?;
        let query = sql("DELETE FROM links WHERE player = $1").bind(player);
        query.execute(&mut tx).await?;
        if confirmed == Some(true) {
            let query = "DELETE FROM merged_players WHERE kind = $1 AND player = $2";
            let query = sql(query).bind(Kind::Human.as_str()).bind(player);
            query.execute(&mut tx).await?;
            corrected(&mut tx, RecountCause::Split).await?;
        }
        self.0.commit(tx).await?;
        Ok(confirmed.is_some())
    }
}

fn human(id: &str) -> PlayerKey {
    PlayerKey {
        kind: Kind::Human,
        id: id.to_owned(),
    }
}

/// The operator's overrides on players.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OperatorOverrides {
    /// Merged identities, as pairs: an identity, and the identity that it counts as.
    pub merged: Vec<(PlayerKey, PlayerKey)>,
    /// Players with a fixed weight, 0 to 100.
    pub pinned: Vec<(PlayerKey, f64)>,
    /// Players whose weight starts elsewhere than at 50.
    pub starts: Vec<(PlayerKey, StartWeight)>,
    /// Ids of void matches, which are stored and not rated.
    pub void: BTreeSet<i64>,
    /// Number of changes so far that made derived weights outdated: changes of overrides, and of
    /// matches on disk.
    pub changes: i64,
    /// The number of the last of them that forgot a player.
    pub forgotten: i64,
    /// The number of the last of them that corrected history, and what it was; `None` if none has.
    pub corrected: Option<(i64, RecountCause)>,
}

impl OperatorOverrides {
    /// The same where names have no tags of clans: what is set for a name with tags is set for its player; what is set for
    /// the name without them comes last, and counts.
    pub fn without_tags(mut self, tags: &ClanTags) -> Self {
        without_tags(&mut self.pinned, tags);
        without_tags(&mut self.starts, tags);
        self
    }
}

fn without_tags<T>(set: &mut Vec<(PlayerKey, T)>, tags: &ClanTags) {
    let bare = |(key, value): (PlayerKey, T)| match tags.without(key.kind, &key.id) {
        Some(bare) => (false, (bare, value)),
        None => (true, (key, value)),
    };
    let mut all: Vec<_> = std::mem::take(set).into_iter().map(bare).collect();
    all.sort_by_key(|(is_own, _)| *is_own);
    set.extend(all.into_iter().map(|(_, one)| one));
}

/// The matches that an operator has made void.
pub(super) const VOID: &str = "SELECT m.id AS match_id
     FROM voided_fingerprints v CROSS JOIN matches m WHERE m.fingerprint = v.fingerprint
     UNION
     SELECT h.match_id
     FROM voided_fingerprints v CROSS JOIN match_halves h WHERE h.fingerprint = v.fingerprint";

/// Makes a match void, unless it is.
const MAKE_VOID: &str = "INSERT INTO voided_fingerprints SELECT fingerprint FROM matches
     WHERE id = $1 AND fingerprint NOT IN (SELECT fingerprint FROM voided_fingerprints)
       AND NOT EXISTS (SELECT 1 FROM match_halves h JOIN voided_fingerprints v ON v.fingerprint = h.fingerprint
                       WHERE h.match_id = $1)";

impl Corrections<'_> {
    /// Lets these identities count as the ones under which their players are known, where they do not yet. With `all`,
    /// these are all that do: other names than before may have tags.
    pub async fn add_accounts(
        self,
        forms: &BTreeMap<PlayerKey, PlayerKey>,
        all: bool,
    ) -> Result<(), StoreError> {
        if forms.is_empty() && !all {
            return Ok(());
        }
        let mut tx = self.0.begin().await?;
        if all {
            sql("DELETE FROM merged_players WHERE automatic")
                .execute(&mut tx)
                .await?;
        }
        persons::add_accounts(&mut tx, forms).await?;
        self.0.commit(tx).await
    }

    /// The overrides on all players.
    pub async fn overrides(self) -> Result<OperatorOverrides, StoreError> {
        let mut tx = self.0.readers.snapshot().await?;
        let mut overrides = OperatorOverrides::default();
        let merged = "SELECT kind, player, into_player FROM merged_players WHERE NOT automatic ORDER BY kind, player";
        for row in sql(merged).fetch_all(&mut tx).await? {
            let kind = row.get("kind")?;
            let key = |id| PlayerKey { kind, id };
            let (player, into) = (key(row.get("player")?), key(row.get("into_player")?));
            // A form of a Steam id counts as its account without an operator.
            if steam::canonical_key(kind, &player.id).as_ref() != Some(&into) {
                overrides.merged.push((player, into));
            }
        }
        let pinned = "SELECT kind, player, pinned_weight FROM player_settings
                      WHERE pinned_weight IS NOT NULL ORDER BY kind, player";
        for row in sql(pinned).fetch_all(&mut tx).await? {
            let (key, at) = account(&row, overrides.pinned.len())?;
            overrides
                .pinned
                .insert(at, (key, row.get("pinned_weight")?));
        }
        let starts = "SELECT kind, player, start_weight, start_uncertain FROM player_settings
                      WHERE start_weight IS NOT NULL ORDER BY kind, player";
        for row in sql(starts).fetch_all(&mut tx).await? {
            let start = StartWeight {
                weight: row.get("start_weight")?,
                uncertain: row.get("start_uncertain")?,
            };
            let (key, at) = account(&row, overrides.starts.len())?;
            overrides.starts.insert(at, (key, start));
        }
        let void = scalar(VOID);
        overrides.void = void.fetch_all(&mut tx).await?.into_iter().collect();
        overrides.changes = state::number(&mut tx, state::PLAYER_CHANGES).await?;
        overrides.forgotten = state::number(&mut tx, "forgotten").await?;
        let corrected = tuple("SELECT number, text FROM state WHERE name = 'corrected'");
        let (number, cause): (i64, String) = corrected.fetch_one(&mut tx).await?;
        overrides.corrected = RecountCause::parse(&cause).map(|cause| (number, cause));
        Ok(overrides)
    }

    /// Makes `player`, and every identity that counts as `player`, count as `into` in all matches.
    pub async fn merge_player(
        self,
        player: &PlayerKey,
        into: &PlayerKey,
    ) -> Result<(), StoreError> {
        let mut tx = self.0.begin_alone().await?;
        merge(&mut tx, player, into).await?;
        self.0.commit(tx).await
    }

    /// Makes `player` count as itself again. Returns whether it counted as another identity.
    pub async fn split_player(self, player: &PlayerKey) -> Result<bool, StoreError> {
        let mut tx = self.0.begin_alone().await?;
        let done = sql("DELETE FROM merged_players WHERE kind = $1 AND player = $2")
            .bind(player.kind.as_str())
            .bind(&player.id)
            .execute(&mut tx)
            .await?;
        if player.kind == Kind::Human {
            let link = sql("DELETE FROM links WHERE player = $1");
            link.bind(&player.id).execute(&mut tx).await?;
        }
        corrected(&mut tx, RecountCause::Split).await?;
        self.0.commit(tx).await?;
        Ok(done > 0)
    }

    /// Fixes a player's weight, 0 to 100; `None` lets the matches decide again.
    pub async fn pin_weight(self, player: &PlayerKey, to: Option<f64>) -> Result<(), StoreError> {
        let mut tx = self.0.begin_alone().await?;
        unset(&mut tx, "pinned_weight = NULL", player).await?;
        let query = sql(
            "INSERT INTO player_settings (kind, player, pinned_weight) VALUES ($1, $2, $3)
             ON CONFLICT (kind, player) DO UPDATE SET pinned_weight = excluded.pinned_weight",
        );
        let query = query.bind(player.kind).bind(&player.id).bind(to);
        query.execute(&mut tx).await?;
        drop_empty(&mut tx).await?;
        changed(&mut tx).await?;
        self.0.commit(tx).await
    }

    /// Sets the weights at which players start; `None` lets a player start as a newcomer again. All of it
    /// or nothing.
    pub async fn set_start_weights(
        self,
        starts: &[(PlayerKey, Option<StartWeight>)],
    ) -> Result<(), StoreError> {
        let mut tx = self.0.begin_alone().await?;
        for (player, start) in starts {
            unset(
                &mut tx,
                "start_weight = NULL, start_uncertain = NULL",
                player,
            )
            .await?;
            let query = sql(
                "INSERT INTO player_settings (kind, player, start_weight, start_uncertain) VALUES ($1, $2, $3, $4)
                 ON CONFLICT (kind, player) DO UPDATE
                 SET start_weight = excluded.start_weight, start_uncertain = excluded.start_uncertain",
            );
            let query = query.bind(player.kind).bind(&player.id);
            let query = query.bind(start.map(|start| start.weight));
            let query = query.bind(start.map(|start| start.uncertain));
            query.execute(&mut tx).await?;
        }
        drop_empty(&mut tx).await?;
        corrected(&mut tx, RecountCause::StartWeight).await?;
        self.0.commit(tx).await
    }

    /// Makes matches void, or with `false` valid again. Returns the number of matches that this
    /// changes; ignores ids that no match has.
    pub async fn set_void(self, matches: &[i64], void: bool) -> Result<u64, StoreError> {
        let mut tx = self.0.begin_alone().await?;
        let mut count = 0;
        for id in matches {
            count += set_void(&mut tx, *id, void).await?;
        }
        if count > 0 {
            void_changed(&mut tx, void).await?;
        }
        self.0.commit(tx).await?;
        Ok(count)
    }

    /// Keeps a player off the pages, or shows the player again. Returns whether that changes anything.
    pub async fn set_hidden(self, player: &PlayerKey, hidden: bool) -> Result<bool, StoreError> {
        let mut tx = self.0.begin().await?;
        let kind = player.kind.as_str();
        let merged = "SELECT into_player FROM merged_players WHERE kind = $1 AND player = $2";
        let merged = scalar(merged).bind(kind).bind(&player.id);
        let merged: Option<String> = merged.fetch_optional(&mut tx).await?;
        let mut done = 0;
        for id in [Some(&player.id), merged.as_ref()].into_iter().flatten() {
            let query = match hidden {
                true => sql(
                    "INSERT INTO player_settings (kind, player, hidden) VALUES ($1, $2, TRUE)
                     ON CONFLICT (kind, player) DO UPDATE SET hidden = excluded.hidden WHERE NOT player_settings.hidden",
                ),
                false => sql(
                    "UPDATE player_settings SET hidden = FALSE WHERE kind = $1 AND hidden AND (player = $2 OR player IN
                         (SELECT player FROM merged_players WHERE kind = $1 AND into_player = $2))",
                ),
            };
            let query = query.bind(kind).bind(id);
            done += query.execute(&mut tx).await?;
        }
        drop_empty(&mut tx).await?;
        self.0.commit(tx).await?;
        Ok(done > 0)
    }
}

/// Removes rows that say nothing.
async fn drop_empty(tx: &mut PooledConnection) -> Result<(), StoreError> {
    let empty = "DELETE FROM player_settings
                  WHERE pinned_weight IS NULL AND start_weight IS NULL AND NOT hidden";
    sql(empty).execute(tx).await.map(drop)
}

/// Removes what is set for the other forms of a player's Steam id.
async fn unset(
    tx: &mut PooledConnection,
    unset: &str,
    player: &PlayerKey,
) -> Result<(), StoreError> {
    let mut others = steam::forms(&player.id);
    others.retain(|form| *form != player.id);
    if player.kind == Kind::Human && !others.is_empty() {
        let mut query = Sql::new("UPDATE player_settings SET ");
        query.push(unset);
        query.push(" WHERE kind = 'human' AND player IN ");
        query.list(others);
        query.build().execute(&mut *tx).await?;
    }
    Ok(())
}

/// The player of a row under the form by which a Steam account is known, and the place in a list of `length` at which what
/// is set for the player belongs: what is set under another form comes first, so that the last one counts.
fn account(row: &Row, length: usize) -> Result<(PlayerKey, usize), StoreError> {
    let key = row.player()?;
    Ok(match steam::canonical_key(key.kind, &key.id) {
        Some(canonical) => (canonical, 0),
        None => (key, length),
    })
}

impl Corrections<'_> {
    /// A player's identity, and those that are merged into it.
    async fn identities_of(self, player: &PlayerKey) -> Result<Vec<PlayerKey>, StoreError> {
        let query =
            scalar("SELECT player FROM merged_players WHERE kind = $1 AND into_player = $2");
        let query = query.bind(player.kind.as_str()).bind(&player.id);
        let ids: Vec<String> = query.fetch_all(&self.0.readers).await?;
        let key = |id| PlayerKey { id, ..*player };
        Ok(ids
            .into_iter()
            .chain([player.id.clone()])
            .map(key)
            .collect())
    }
}

/// Counts a change after which weights that were derived before are no longer right.
pub(super) async fn changed(tx: &mut PooledConnection) -> Result<(), StoreError> {
    state::count(tx, state::PLAYER_CHANGES).await
}

/// Counts a change that corrects history: weights are counted again, and players get notices of it.
pub(super) async fn corrected(
    tx: &mut PooledConnection,
    what: RecountCause,
) -> Result<(), StoreError> {
    changed(tx).await?;
    let query = sql(
        "UPDATE state SET number = (SELECT number FROM state WHERE name = 'player_changes'), text = $1
         WHERE name = 'corrected'",
    );
    query.bind(what.as_str()).execute(tx).await.map(drop)
}

/// Makes a match void, or valid again. Returns whether this changes anything, as a number. If it does, the caller
/// then calls [`void_changed`].
pub(super) async fn set_void(
    tx: &mut PooledConnection,
    id: i64,
    void: bool,
) -> Result<u64, StoreError> {
    let statement = match void {
        true => MAKE_VOID,
        // A match is also void if one half of it was made void before the halves were joined.
        false => {
            "DELETE FROM voided_fingerprints WHERE fingerprint IN
             (SELECT fingerprint FROM matches WHERE id = $1
              UNION SELECT fingerprint FROM match_halves WHERE match_id = $1)"
        }
    };
    let done = sql(statement).bind(id).execute(tx).await?;
    Ok(u64::from(done > 0))
}

/// Lets the weights be derived again after matches became void, or with `false` valid.
pub(super) async fn void_changed(tx: &mut PooledConnection, void: bool) -> Result<(), StoreError> {
    let what = match void {
        true => RecountCause::Void,
        false => RecountCause::Valid,
    };
    corrected(tx, what).await
}

/// Makes `player`, and every identity that counts as `player`, count as `into` in all matches.
pub(super) async fn merge(
    tx: &mut PooledConnection,
    player: &PlayerKey,
    into: &PlayerKey,
) -> Result<(), StoreError> {
    let statements = [
        "DELETE FROM merged_players WHERE kind = $1 AND player = $3 AND into_player = $2",
        "UPDATE merged_players SET into_player = $3 WHERE kind = $1 AND into_player = $2",
        "INSERT INTO merged_players (kind, player, into_player) VALUES ($1, $2, $3)
         ON CONFLICT (kind, player) DO UPDATE SET into_player = excluded.into_player, automatic = excluded.automatic",
        persons::STAYS_HIDDEN,
    ];
    for statement in statements {
        let query = sql(statement).bind(player.kind.as_str());
        query
            .bind(&player.id)
            .bind(&into.id)
            .execute(&mut *tx)
            .await?;
    }
    learned::merge_notices(tx, player, into).await?;
    corrected(tx, RecountCause::Merge).await
}
