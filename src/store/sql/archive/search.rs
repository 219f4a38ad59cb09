//! Finds the archived matches of players. There is no index, so every chunk is read. This takes a few seconds for a
//! million matches.

use super::{
    Store, StoreError, apart, bad, numbers,
    read::{forgets, load, rename},
};
use crate::{
    domain::{Fingerprint, MatchRecord, PlayerKey, Timestamp},
    store::{NameSeen, chunk::ChunkCache, db::*},
};

/// Finds the archived matches of these players, in chunks whose latest match ended at `since` or later. Calls `found`
/// with each match.
async fn search(
    store: &Store,
    players: &[PlayerKey],
    since: Timestamp,
    mut found: impl FnMut(MatchRecord, Fingerprint),
) -> Result<(), StoreError> {
    let forgets = {
        let mut connection = store.readers.acquire().await?;
        forgets(&mut connection).await?
    };
    // A chunk may still contain a forgotten player under the old identity.
    let old = forgets.iter().filter(|(key, instead)| {
        let now = |player: &PlayerKey| player.kind == key.kind && player.id == **instead;
        players.iter().any(now)
    });
    let wanted: Vec<PlayerKey> = old.map(|(key, _)| key).chain(players).cloned().collect();
    for chunk in numbers(&store.readers, since).await? {
        let mut connection = store.readers.acquire().await?;
        let content = load(&mut connection, &ChunkCache::default(), chunk).await?;
        drop(connection);
        let wanted = wanted.clone();
        let read = apart(move || {
            let lines = content.lines_with(&wanted).into_iter();
            lines
                .map(|line| content.read(line))
                .collect::<Result<Vec<_>, _>>()
        });
        for (mut record, fingerprint) in read.await?.map_err(|why| bad(chunk, why))? {
            rename(&mut record, &forgets);
            if record.participants.iter().any(|p| players.contains(&p.key)) {
                found(record, fingerprint);
            }
        }
    }
    Ok(())
}

/// The end, the fingerprint and the id of each archived match of these players that ended at `since` or later.
pub(in super::super) async fn matches_in_chunks(
    store: &Store,
    players: &[PlayerKey],
    since: Timestamp,
) -> Result<Vec<(i64, Vec<u8>, i64)>, StoreError> {
    let mut found: Vec<(i64, Fingerprint)> = Vec::new();
    let add = |record: MatchRecord, fingerprint| found.push((record.end.0, fingerprint));
    search(store, players, since, add).await?;
    let mut matches = Vec::with_capacity(found.len());
    for (end, fingerprint) in found.into_iter().filter(|(end, _)| *end >= since.0) {
        let query = scalar("SELECT id FROM matches WHERE fingerprint = $1");
        let query = query.bind(&fingerprint.0[..]);
        if let Some(id) = query.fetch_optional(&store.readers).await? {
            matches.push((end, fingerprint.0.to_vec(), id));
        }
    }
    Ok(matches)
}

/// Adds the names that a player had in archived matches to `names`, and sorts them, the latest first.
pub(in super::super) async fn names_in_chunks(
    store: &Store,
    player: &PlayerKey,
    names: &mut Vec<NameSeen>,
) -> Result<(), StoreError> {
    let add = |record: MatchRecord, _| {
        let own = record.participants.iter().find(|p| p.key == *player);
        let Some(own) = own else { return };
        let (start, end) = (record.start, record.end);
        match names.iter_mut().find(|seen| seen.name == own.name) {
            Some(seen) => {
                seen.matches += 1;
                seen.first = seen.first.min(start);
                seen.last = seen.last.max(end);
            }
            None => names.push(NameSeen {
                name: own.name.clone(),
                matches: 1,
                first: start,
                last: end,
            }),
        }
    };
    search(
        store,
        std::slice::from_ref(player),
        Timestamp(i64::MIN),
        add,
    )
    .await?;
    names.sort_by(|a, b| b.last.cmp(&a.last).then_with(|| a.name.cmp(&b.name)));
    Ok(())
}
