//! A leaderboard: the players of a ruleset by what they are worth at least.

use std::collections::BTreeSet;

use crate::{
    model::{
        Kind, PlayerKey, Timestamp,
        names::{folded, own_name, plain_name},
        weight::{Rank, Standing},
    },
    store::{WeightRow, is_forgotten},
};

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

/// The leaderboards of a ruleset, and when its latest match ended.
#[derive(Debug, Default)]
pub(super) struct Boards {
    humans: BoardOfKind,
    bots: BoardOfKind,
    pub(super) latest: Option<Timestamp>,
}

/// The players of one kind, without those who were forgotten.
#[derive(Debug, Default)]
pub(super) struct BoardOfKind {
    /// The players, ordered by identity.
    lines: Vec<BoardPlayer>,
    /// The numbers of the lines in the order of the leaderboard.
    order: Vec<usize>,
    pub(super) size: BoardSize,
}

/// A player in a leaderboard.
#[derive(Debug)]
pub(super) struct BoardPlayer {
    pub(super) key: PlayerKey,
    /// The name in the latest match; `None` if none was stated.
    pub(super) name: Option<String>,
    /// The name without colours in lower case, for searches.
    plain: String,
    pub(super) weight: f64,
    pub(super) deviation: f64,
    pub(super) games: u32,
    pub(super) last_seen: Timestamp,
    /// The division that the player has reached.
    pub(super) rank: Option<Rank>,
    pub(super) standing: Standing,
    /// The position in the order, from 0, among all.
    pub(super) position: usize,
    /// That of the first of those who are equal to this player, with whom the player shares a place.
    pub(super) first: usize,
}

impl Boards {
    /// The leaderboards of a ruleset with these weights, which are ordered by player.
    pub(super) fn new(rows: Vec<WeightRow>) -> Self {
        let latest = rows.iter().map(|row| row.last_seen).max();
        let shown = rows.into_iter();
        let shown = shown.filter(|row| !is_forgotten(&row.key, &row.name));
        let lines = shown.map(|row| BoardPlayer::new(row, latest.unwrap_or_default()));
        let (humans, bots) = lines.partition(|line| line.key.kind == Kind::Human);
        Self {
            humans: BoardOfKind::new(humans),
            bots: BoardOfKind::new(bots),
            latest,
        }
    }

    pub(super) fn of(&self, kind: Kind) -> &BoardOfKind {
        match kind {
            Kind::Human => &self.humans,
            Kind::Bot => &self.bots,
        }
    }
}

impl BoardOfKind {
    /// That of players of one kind, who are ordered by identity.
    fn new(mut lines: Vec<BoardPlayer>) -> Self {
        let mut order: Vec<usize> = (0..lines.len()).collect();
        order.sort_unstable_by(|one, other| {
            let (a, b) = (&lines[*one], &lines[*other]);
            let by_worth = || b.at_least().total_cmp(&a.at_least());
            let standing = a.standing.cmp(&b.standing);
            standing.then_with(by_worth).then(one.cmp(other))
        });
        let up_to = |last| order.partition_point(|at| lines[*at].standing <= last) as i64;
        let size = BoardSize {
            placed: up_to(Standing::Placed),
            listed: up_to(Standing::Placing),
            all: up_to(Standing::Away),
        };
        let mut first = 0;
        for (position, at) in order.iter().enumerate() {
            let is_equal = |one: &BoardPlayer, other: &BoardPlayer| {
                (one.standing, one.at_least()) == (other.standing, other.at_least())
            };
            if position > 0 && !is_equal(&lines[*at], &lines[order[position - 1]]) {
                first = position;
            }
            (lines[*at].position, lines[*at].first) = (position, first);
        }
        Self { lines, order, size }
    }

    pub(super) fn find(&self, key: &PlayerKey) -> Option<&BoardPlayer> {
        let at = self.lines.binary_search_by(|line| line.key.cmp(key));
        at.ok().map(|at| &self.lines[at])
    }

    /// The players at these positions, from 0.
    pub(super) fn at_positions(
        &self,
        skip: usize,
        limit: usize,
    ) -> impl Iterator<Item = &BoardPlayer> {
        let order = self.order.iter().skip(skip).take(limit);
        order.map(|at| &self.lines[*at])
    }

    /// The players of whom this is true, in the order of the leaderboard.
    pub(super) fn those(&self, is_one: impl Fn(&BoardPlayer) -> bool) -> Vec<&BoardPlayer> {
        let mut found: Vec<&BoardPlayer> = self.lines.iter().filter(|line| is_one(line)).collect();
        found.sort_unstable_by_key(|line| line.position);
        found
    }
}

impl BoardPlayer {
    fn new(row: WeightRow, latest: Timestamp) -> Self {
        let standing = Standing::of(row.games, row.deviation, row.last_seen, latest);
        let name = own_name(&row.key, row.name);
        let plain = |name: &String| folded(&plain_name(name));
        Self {
            plain: name.as_ref().map(plain).unwrap_or_default(),
            name,
            key: row.key,
            weight: row.weight,
            deviation: row.deviation,
            games: row.games,
            last_seen: row.last_seen,
            rank: row.rank,
            standing,
            position: 0,
            first: 0,
        }
    }

    /// What the player is worth at least.
    pub(super) fn at_least(&self) -> f64 {
        self.weight - self.deviation
    }

    /// Whether the name contains a text that is [`folded`].
    pub(super) fn has(&self, text: &str) -> bool {
        self.plain.contains(text)
    }

    /// Whether the name or the identity is one of these texts in lower case, which are there once more [`folded`].
    pub(super) fn is_called(&self, texts: &BTreeSet<String>, by_fold: &BTreeSet<String>) -> bool {
        let is_name = |name: &String| texts.contains(&plain_name(name).to_lowercase());
        let has_name = by_fold.contains(&self.plain) && self.name.as_ref().is_some_and(is_name);
        has_name || texts.contains(&self.key.id.to_lowercase())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::model::time::DAY;

    fn row(id: &str, weight: f64, deviation: f64, games: u32, day: i64) -> WeightRow {
        let (kind, id) = (Kind::Human, id.to_owned());
        WeightRow {
            ruleset: "ctf".into(),
            name: format!("^2{}", id.to_uppercase()),
            key: PlayerKey { kind, id },
            weight,
            deviation,
            rank: None,
            games,
            wins: 1,
            last_seen: Timestamp(day * DAY),
            is_pinned: false,
        }
    }

    #[test]
    fn standing_then_what_a_player_is_worth_at_least_then_the_identity_decide() {
        let mut forgotten = row("forgotten-7", 99.0, 0.0, 50, 100);
        forgotten.name.clear();
        let rows = vec![
            row("ann", 60.0, 15.0, 10, 100),
            row("bob", 50.0, 5.0, 10, 40),
            row("cid", 90.0, 15.1, 50, 100),
            row("dan", 90.0, 1.0, 9, 100),
            row("eve", 99.0, 0.0, 50, 39),
            forgotten,
            row("gus", 46.0, 0.0, 10, 100),
            row("hal", 20.0, 0.0, 10, 99),
        ];
        let boards = Boards::new(rows);
        let board = boards.of(Kind::Human);
        let listed = |skip, limit| -> Vec<&str> {
            let lines = board.at_positions(skip, limit);
            lines.map(|line| line.key.id.as_str()).collect()
        };
        assert_eq!(
            listed(0, 9),
            ["gus", "ann", "bob", "hal", "dan", "cid", "eve"]
        );
        assert_eq!(listed(5, 9), ["cid", "eve"]);
        assert_eq!(listed(9, 9), [""; 0]);
        let BoardSize {
            placed,
            listed,
            all,
        } = board.size;
        assert_eq!((placed, listed, all), (4, 6, 7));
        assert_eq!(boards.latest, Some(Timestamp(100 * DAY)));
        assert_eq!(boards.of(Kind::Bot).size, BoardSize::default());
        let firsts = board.at_positions(0, 4).map(|line| line.first);
        assert_eq!(
            firsts.collect::<Vec<_>>(),
            [0, 1, 1, 3],
            "ann and bob share one"
        );
        let found = board.those(|line| line.has("n"));
        let found: Vec<usize> = found.iter().map(|line| line.position).collect();
        assert_eq!(found, [1, 4]);
        assert!(board.those(|line| line.has("^2")).is_empty());
        assert_eq!(
            board.find(&row("hal", 0.0, 0.0, 0, 0).key).unwrap().weight,
            20.0
        );
        assert!(
            board
                .find(&row("forgotten-7", 0.0, 0.0, 0, 0).key)
                .is_none()
        );
    }
}
