//! Who has a place in a leaderboard, and how many have.

use serde::Serialize;

use crate::{
    domain::Kind,
    store::{StoreError, db::*},
};

/// Whether a player has a place in a leaderboard. The view `ranked_weights` decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// The player has a place.
    Placed,
    /// The player has fewer matches than [`MATCHES_TO_PLACE`](Self::MATCHES_TO_PLACE), or the weight is too uncertain.
    Placing,
    /// The player had not played for [`DAYS_AWAY`](Self::DAYS_AWAY) days when the latest match was played.
    Away,
}

impl Standing {
    /// The rated matches after which a player may have a place.
    pub const MATCHES_TO_PLACE: i64 = 10;
    /// The days after which a player is away.
    pub const DAYS_AWAY: i64 = 60;

    /// The standing with this number in the database.
    pub(super) fn of_number(number: i64) -> Self {
        match number {
            0 => Self::Placed,
            1 => Self::Placing,
            _ => Self::Away,
        }
    }
}

/// How many players a leaderboard has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BoardSize {
    /// Those who have a place.
    pub placed: i64,
    /// These and those who are being placed.
    pub listed: i64,
    /// All, also those who are away.
    pub all: i64,
}

/// How many players of a kind a leaderboard has. Positions are counted in the order of standings.
pub(super) async fn size(
    tx: &mut Connection,
    ruleset: &str,
    kind: Kind,
) -> Result<BoardSize, StoreError> {
    let mut last = [0; 3];
    for (standing, most) in (0_i64..).zip(&mut last) {
        let text = "SELECT max(position) FROM weight_places WHERE ruleset = $1 AND kind = $2 AND standing = $3";
        let found = scalar(text).bind(ruleset).bind(kind.as_str());
        let found: Option<i64> = found.bind(standing).fetch_one(&mut *tx).await?;
        *most = found.unwrap_or(0);
    }
    let [placed, placing, away] = last;
    Ok(BoardSize {
        placed,
        listed: placing.max(placed),
        all: away.max(placing).max(placed),
    })
}
