//! What a daemon reads that takes over the weights which another daemon writes.

use std::collections::BTreeMap;

use super::{Store, rows::with_given};
use crate::{
    domain::{Kind, PlayerKey, PointScale},
    store::{Cursor, PartRow, SharesRow, StoreError, db::*},
};

columns! {
    /// How new the weights and the checkpoints in the database are.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct WrittenSoFar {
        /// The number of matches from which the weights are made.
        pub weighed: i64,
        /// The number of matches in the newest checkpoint; 0 if there is none.
        pub checkpointed: i64,
    }
}

/// What weights are computed from, as of one moment.
#[derive(Clone, Debug, Default)]
pub struct NewParts {
    /// The number of matches from which they are made.
    pub weighed: i64,
    /// The parts of players.
    pub parts: Vec<PartRow>,
    /// What each ruleset's weights have in common, for all rulesets.
    pub shares: Vec<SharesRow>,
}

impl Store {
    /// How new the weights and the checkpoints in the database are.
    pub async fn written_so_far(&self) -> Result<WrittenSoFar, StoreError> {
        let query = tuple(
            "SELECT coalesce((SELECT weighed FROM derived_from), 0) AS weighed,
                    coalesce((SELECT max(matches) FROM derived_checkpoint), 0) AS checkpointed",
        );
        query.fetch_one(&self.readers).await
    }

    /// The identities with which players were in the matches after a position, each one once.
    pub async fn played_after(&self, cursor: Cursor) -> Result<Vec<PlayerKey>, StoreError> {
        let (end, fingerprint) = cursor.place();
        let query = sql("SELECT DISTINCT p.kind, p.player
             FROM matches m JOIN match_players p ON p.match_id = m.id
             WHERE (m.ended_at, m.fingerprint) > ($1, $2)");
        let query = query.bind(end).bind(&fingerprint[..]);
        let mut connection = self.readers.acquire().await?;
        let rows = query.fetch_all(&mut connection).await?;
        rows.iter().map(key).collect()
    }

    /// The parts of these players under all rulesets, and of all players of these rulesets.
    pub async fn new_parts(
        &self,
        players: &[PlayerKey],
        rulesets: &[String],
    ) -> Result<NewParts, StoreError> {
        let mut tx = self.readers.snapshot().await?;
        let weighed = scalar("SELECT coalesce((SELECT weighed FROM derived_from), 0)");
        let weighed = weighed.fetch_one(&mut tx).await?;
        let of_players = with_given(
            &mut tx,
            "of_kind text, who text",
            "SELECT p.* FROM {given} JOIN weight_parts p ON p.player = given.who AND p.kind = given.of_kind",
            players.iter().map(|key| values![key.kind, &key.id]),
        );
        let mut rows = of_players.await?;
        let in_rulesets = with_given(
            &mut tx,
            "name text",
            "SELECT p.* FROM {given} JOIN weight_parts p ON p.ruleset = given.name",
            rulesets.iter().map(|ruleset| values![ruleset]),
        );
        rows.extend(in_rulesets.await?);
        Ok(NewParts {
            weighed,
            parts: rows.iter().map(part).collect::<Result<_, _>>()?,
            shares: shares(&mut tx).await?,
        })
    }
}

async fn shares(tx: &mut Connection) -> Result<Vec<SharesRow>, StoreError> {
    let spans = tuple("SELECT ruleset, low, high FROM division_spans ORDER BY ruleset, division");
    let spans: Vec<(String, f64, f64)> = spans.fetch_all(&mut *tx).await?;
    let mut divisions: BTreeMap<String, Vec<(f64, f64)>> = BTreeMap::new();
    for (ruleset, low, high) in spans {
        divisions.entry(ruleset).or_default().push((low, high));
    }
    let rows = sql("SELECT * FROM weight_shares").fetch_all(tx).await?;
    let share = |row: &Row| {
        let ruleset: String = row.get("ruleset")?;
        let scale: [Option<f64>; 3] = [row.get("average")?, row.get("newcomer")?, row.get("unit")?];
        Ok(SharesRow {
            effects: [
                row.get("newness")?,
                row.get("experience")?,
                row.get("record")?,
            ],
            scale: match scale {
                [Some(average), Some(newcomer), Some(unit)] => Some(PointScale {
                    average,
                    newcomer,
                    unit,
                }),
                _ => None,
            },
            points: row.get("points")?,
            divisions: divisions.remove(&ruleset).unwrap_or_default(),
            ruleset,
        })
    };
    rows.iter().map(share).collect()
}

fn part(row: &Row) -> Result<PartRow, StoreError> {
    let pair = |zero, one| Ok::<_, StoreError>(row.get::<Option<f64>>(zero)?.zip(row.get(one)?));
    let rest = pair("experience", "record")?;
    let newness: Option<f64> = row.get("newness")?;
    Ok(PartRow {
        ruleset: row.get("ruleset")?,
        key: key(row)?,
        name: row.get("name")?,
        weight: row.get("weight")?,
        own: row.get("own")?,
        sides: pair("side_0", "side_1")?.map(|(zero, one)| [zero, one]),
        commander: row.get("commander")?,
        factors: newness
            .zip(rest)
            .map(|(newness, (experience, record))| [newness, experience, record]),
        deviation: row.get("deviation")?,
        doubt: row.get("doubt")?,
        division: row.get("division")?,
        progress: row.get("progress")?,
        games: row.get("games")?,
        last_seen: row.get("last_seen")?,
    })
}

fn key(row: &Row) -> Result<PlayerKey, StoreError> {
    let kind = row.get("kind")?;
    let kind = Kind::parse(kind).ok_or_else(|| StoreError::BadValue(format!("kind {kind}")))?;
    let id = row.get("player")?;
    Ok(PlayerKey { kind, id })
}
