//! Removes a player from all tables, and from the records of games that are running.

use std::collections::HashMap;

use super::{Corrections, players::changed};
use crate::{
    domain::{MatchRecord, PlayerKey, Timestamp},
    store::{
        StoreError,
        db::*,
        learned::names::{FORGOTTEN, handle},
        matches::{packed::pack, read_matches::fetch},
        sql::{rows::ROWS, state},
    },
};

impl Corrections<'_> {
    /// Removes the identity and the names of a player, and of all identities that count as them,
    /// from all matches and other tables. The matches stay and keep their fingerprints, so that
    /// reading their logs again adds nothing. Returns the number of matches that contain the
    /// player.
    ///
    /// # Errors
    /// Fails, and forgets nothing, if the record of one of these matches is damaged.
    pub async fn forget_player(self, player: &PlayerKey) -> Result<u64, StoreError> {
        let mut tx = self.0.begin_alone().await?;
        let query =
            scalar("SELECT player FROM merged_players WHERE kind = $1 AND into_player = $2");
        let query = query.bind(player.kind.as_str()).bind(&player.id);
        let mut ids: Vec<String> = query.fetch_all(&mut tx).await?;
        ids.push(player.id.clone());
        let mut matches = 0;
        for id in ids {
            let kind = player.kind;
            matches += forget(&mut tx, &PlayerKey { kind, id }).await?;
        }
        self.0.commit(tx).await?;
        Ok(matches)
    }

    /// Notes that a player is forgotten now: games that have begun before are recorded without the player.
    pub async fn forget_in_running_games(
        self,
        player: &PlayerKey,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let identities = self.identities_of(player).await?;
        let mut tx = self.0.begin_alone().await?;
        note(&mut tx, &identities, now).await?;
        self.0.commit(tx).await
    }

    /// Removes the notes of [`forget_in_running_games`](Self::forget_in_running_games) that are older than `before`.
    pub async fn drop_forgets(self, before: Timestamp) -> Result<(), StoreError> {
        let old = scalar("SELECT EXISTS (SELECT 1 FROM forgotten_lately WHERE at < $1)");
        let old: bool = old.bind(before).fetch_one(&self.0.readers).await?;
        if old {
            let mut tx = self.0.begin_alone().await?;
            let query = sql("DELETE FROM forgotten_lately WHERE at < $1");
            query.bind(before).execute(&mut tx).await?;
            self.0.commit(tx).await?;
        }
        Ok(())
    }
}

/// Forgets one identity. Returns the number of matches that contained it.
async fn forget(tx: &mut Connection, player: &PlayerKey) -> Result<u64, StoreError> {
    let done = forget_in_matches(tx, player).await?;
    let statements = [
        "DELETE FROM merged_players WHERE kind = $1 AND (player = $2 OR into_player = $2)",
        "DELETE FROM player_settings WHERE kind = $1 AND player = $2",
        "DELETE FROM weights WHERE kind = $1 AND player = $2",
        "DELETE FROM recounts WHERE kind = $1 AND player = $2",
        "DELETE FROM behaviour WHERE $1 = 'human' AND player = $2",
        "DELETE FROM links WHERE $1 = 'human' AND (player = $2 OR into_player = $2)",
        "DELETE FROM persons WHERE kind = $1 AND player = $2",
    ];
    for statement in statements {
        let query = sql(statement).bind(player.kind.as_str()).bind(&player.id);
        query.execute(&mut *tx).await?;
    }
    // Decisions, tickets, hosted matches, pick-up matches and pools contain ids of players in JSON. What contains this
    // one is deleted or emptied. A ticket that has not ended stays until a day after its end.
    if let Ok(quoted) = serde_json::to_string(&player.id) {
        for statement in [
            "DELETE FROM decisions WHERE instr(decision, $1) > 0",
            "DELETE FROM tickets WHERE instr(players, $1) > 0
                 AND state NOT IN ('queued', 'proposed', 'hosted', 'called')",
            "UPDATE hosted_matches SET passes = '{}'
                 WHERE instr(passes, $1) > 0 AND state NOT IN ('opening', 'ready', 'joining')",
            "UPDATE hosted_matches SET roster = NULL WHERE instr(roster, $1) > 0",
            "UPDATE hosted_matches SET sent_away = '[]' WHERE instr(sent_away, $1) > 0",
            "DELETE FROM pickups WHERE instr(content, $1) > 0",
            "DELETE FROM pools WHERE instr(known, $1) > 0",
        ] {
            sql(statement).bind(&quoted).execute(&mut *tx).await?;
        }
        // The lines about a formed match may contain the id without quotes.
        let lines = "UPDATE formed_matches SET why = '[]' WHERE instr(why, $1) > 0";
        let inside = quoted.trim_matches('"');
        sql(lines).bind(inside).execute(&mut *tx).await?;
        let seats = "UPDATE formed_seats
             SET player = 'forgotten-' || (SELECT number + 1 FROM state WHERE name = 'player_changes')
             WHERE player = $1
                 AND NOT EXISTS (SELECT 1 FROM tickets t WHERE t.number = formed_seats.ticket)";
        sql(seats).bind(&player.id).execute(&mut *tx).await?;
    }
    changed(tx).await?;
    let latest = sql(
        "UPDATE state SET number = (SELECT number FROM state WHERE name = 'player_changes') WHERE name = 'forgotten'",
    );
    latest.execute(tx).await?;
    Ok(done)
}

/// The identity that a forgotten player gets with the next change.
async fn next_identity(tx: &mut Connection) -> Result<String, StoreError> {
    let changes = state::number(tx, state::PLAYER_CHANGES).await?;
    Ok(format!("{FORGOTTEN}{}", changes + 1))
}

/// Gives an identity another name in the matches that contain it. Returns their number.
async fn forget_in_matches(tx: &mut Connection, player: &PlayerKey) -> Result<u64, StoreError> {
    // The new id contains a number that is in no other id, and does not reveal the old id.
    let instead = next_identity(tx).await?;
    let ids = scalar("SELECT match_id FROM match_players WHERE kind = $1 AND player = $2");
    let ids = ids.bind(player.kind).bind(&player.id);
    let ids: Vec<i64> = ids.fetch_all(&mut *tx).await?;
    for some in ids.chunks(ROWS) {
        for mut stored in fetch(tx, some).await? {
            let all = stored.record.participants.iter_mut();
            for participant in all.filter(|p| p.key == *player) {
                participant.key.id.clone_from(&instead);
                participant.name.clear();
            }
            let query = sql("UPDATE matches SET record = $2 WHERE id = $1").bind(stored.id);
            let record = pack(&stored.record, stored.fingerprint);
            query.bind(record).execute(&mut *tx).await?;
        }
    }
    let rows = "UPDATE match_players SET name = '', player = $3 WHERE kind = $1 AND player = $2";
    let query = sql(rows).bind(player.kind).bind(&player.id);
    query.bind(instead).execute(tx).await
}

/// Notes the identities of a player who is forgotten now, so that games that are running are recorded without them.
/// A note contains a keyed hash instead of the identity.
async fn note(
    tx: &mut Connection,
    identities: &[PlayerKey],
    now: Timestamp,
) -> Result<(), StoreError> {
    let secret = state::handle_key(tx).await?;
    for (number, key) in (0_i64..).zip(identities) {
        let instead = format!("{}-{number}", next_identity(tx).await?);
        let note = "INSERT INTO forgotten_lately (handle, instead, at) VALUES ($1, $2, $3)
             ON CONFLICT (handle) DO UPDATE SET instead = excluded.instead, at = excluded.at";
        let query = sql(note).bind(handle(&secret, key)?).bind(instead);
        query.bind(now).execute(&mut *tx).await?;
    }
    Ok(())
}

/// Removes from a game's record the players who were forgotten after the game began.
pub(in crate::store) async fn remove_from(
    tx: &mut Connection,
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
