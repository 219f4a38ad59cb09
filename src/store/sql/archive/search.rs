//! Finds the archived matches of players. There is no index, so chunks are read. To read all of them takes a few seconds for
//! a million matches.

use super::{
    Store, StoreError, apart, bad, numbers,
    read::{Forgets, forgets, load, rename},
};
use crate::{
    domain::{CountsAs, Fingerprint, MatchRecord, Participant, PlayerKey, Timestamp},
    store::{NameSeen, chunk::ChunkCache, db::*},
};

/// The most chunks that are read for one page: some hundredths of a second.
const CHUNKS: usize = 16;

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
    let wanted = in_chunks(players, &forgets);
    for chunk in numbers(&store.readers, since).await? {
        let cache = ChunkCache::default(); // all chunks have their turn once
        let read = read_chunk((&store.readers, &cache), chunk, &wanted, &forgets);
        for (record, fingerprint) in read.await? {
            if record.participants.iter().any(|p| players.contains(&p.key)) {
                found(record, fingerprint);
            }
        }
    }
    Ok(())
}

/// The identities under which chunks may contain these players: a forgotten one may still be in them under the old one.
fn in_chunks(players: &[PlayerKey], forgets: &Forgets) -> Vec<PlayerKey> {
    let old = forgets.iter().filter(|(key, instead)| {
        let now = |player: &PlayerKey| player.kind == key.kind && player.id == **instead;
        players.iter().any(now)
    });
    old.map(|(key, _)| key).chain(players).cloned().collect()
}

/// The matches of a chunk in which one of these identities may be.
async fn read_chunk(
    (pool, cache): (&Pool, &ChunkCache),
    chunk: i64,
    wanted: &[PlayerKey],
    forgets: &Forgets,
) -> Result<Vec<(MatchRecord, Fingerprint)>, StoreError> {
    let mut connection = pool.acquire().await?;
    let content = load(&mut connection, cache, chunk).await?;
    drop(connection);
    let wanted = wanted.to_vec();
    let read = apart(move || {
        let lines = content.lines_with(&wanted).into_iter();
        lines
            .map(|line| content.read(line))
            .collect::<Result<Vec<_>, _>>()
    });
    let mut matches = read.await?.map_err(|why| bad(chunk, why))?;
    for (record, _) in &mut matches {
        rename(record, forgets);
    }
    Ok(matches)
}

/// Which archived matches of a player to look for.
pub(in super::super) struct ArchivedOf {
    /// The player that matches count for.
    pub player: PlayerKey,
    /// Another one who was in the match, too, and whether on the same team.
    pub other: Option<(PlayerKey, bool)>,
    /// All identities of both.
    pub identities: Vec<PlayerKey>,
    /// Whom each of them counts as.
    pub counts_as: CountsAs,
    /// When the first of the matches ended, at the earliest.
    pub from: Timestamp,
    /// When the last of them ended, at the latest.
    pub until: Timestamp,
}

impl ArchivedOf {
    fn has(&self, record: &mut MatchRecord) -> bool {
        if record.end < self.from || record.end > self.until {
            return false;
        }
        record.merge_players(&self.counts_as);
        let of = |key: &PlayerKey| record.participants.iter().find(|p| p.key == *key);
        let has_played = |p: &&Participant| p.presence.iter().any(|stay| stay.span.millis() > 0);
        let Some(own) = of(&self.player).filter(has_played) else {
            return false;
        };
        self.other.as_ref().is_none_or(|(key, together)| {
            let teams = of(key).and_then(|other| own.main_team().zip(other.main_team()));
            teams.is_some_and(|(own, other)| (own == other) == *together)
        })
    }
}

/// The ids of the latest archived matches of a player: at least `enough` of them, if there are so many in the first
/// [`CHUNKS`] chunks. Also returns up to when some may be missing; `None` if none is.
pub(in super::super) async fn latest_in_chunks(
    store: &Store,
    wanted: &ArchivedOf,
    enough: usize,
) -> Result<(Vec<i64>, Option<Timestamp>), StoreError> {
    let mut connection = store.pages.acquire().await?;
    let forgets = forgets(&mut connection).await?;
    drop(connection);
    let query = tuple(
        "SELECT chunk, last_end FROM archive_chunks WHERE matches > 0 AND first_end <= $1 AND last_end >= $2
         ORDER BY last_end DESC, chunk DESC",
    );
    let query = query.bind(wanted.until.0).bind(wanted.from.0);
    let chunks: Vec<(i64, Timestamp)> = query.fetch_all(&store.pages).await?;
    let identities = in_chunks(&wanted.identities, &forgets);
    let mut found: Vec<(Timestamp, Fingerprint)> = Vec::new();
    let mut unread = None;
    for (count, (chunk, last_end)) in chunks.into_iter().enumerate() {
        let is_later = |(end, _): &&(Timestamp, Fingerprint)| *end > last_end;
        let is_enough = count >= CHUNKS || found.iter().filter(is_later).count() >= enough;
        // The next page begins after that match: without one, it would be this page again.
        if is_enough && has_match_between(store, last_end, wanted.until).await? {
            unread = Some(last_end);
            break;
        }
        let read = read_chunk((&store.pages, &store.chunks), chunk, &identities, &forgets);
        for (mut record, fingerprint) in read.await? {
            if wanted.has(&mut record) {
                found.push((record.end, fingerprint));
            }
        }
    }
    let mut ids = Vec::with_capacity(found.len());
    for (_, fingerprint) in found {
        ids.extend(id_of(&store.pages, fingerprint).await?);
    }
    Ok((ids, unread))
}

/// The id of the match with this fingerprint.
async fn id_of(pool: &Pool, fingerprint: Fingerprint) -> Result<Option<i64>, StoreError> {
    let query = scalar("SELECT id FROM matches WHERE fingerprint = $1");
    query.bind(&fingerprint.0[..]).fetch_optional(pool).await
}

/// Whether a match ended after one time and before another one.
async fn has_match_between(
    store: &Store,
    after: Timestamp,
    before: Timestamp,
) -> Result<bool, StoreError> {
    let query =
        scalar("SELECT EXISTS (SELECT 1 FROM matches WHERE ended_at > $1 AND ended_at < $2)");
    let query = query.bind(after.0).bind(before.0);
    query.fetch_one(&store.pages).await
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
        if let Some(id) = id_of(&store.readers, fingerprint).await? {
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
