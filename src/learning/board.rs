//! A leaderboard: the players of a ruleset by what they are worth at least.

use std::{cmp::Ordering, collections::BTreeSet};

use serde::Serialize;

use crate::{
    domain::{Kind, PlayerKey, Rank, Timestamp, plain_name},
    store::{WeightRow, is_forgotten, public_name},
};

const MILLIS_A_DAY: i64 = 86_400_000;

/// Whether a player has a place in a leaderboard. The view `ranked_weights` decides it in the same way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
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
    /// The highest standard deviation of the weight with which a player may have a place.
    const MOST_UNCERTAIN: f64 = 15.0;

    /// That of a player with this weight, in a ruleset whose latest match ended then.
    fn of(row: &WeightRow, latest: Timestamp) -> Self {
        if row.last_seen.0 < latest.0.saturating_sub(Self::DAYS_AWAY * MILLIS_A_DAY) {
            Self::Away
        } else if i64::from(row.games) < Self::MATCHES_TO_PLACE
            || row.deviation > Self::MOST_UNCERTAIN
        {
            Self::Placing
        } else {
            Self::Placed
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

/// The leaderboards of a ruleset, and when its latest match ended.
#[derive(Debug)]
pub(super) struct Boards {
    humans: Board,
    bots: Board,
    pub(super) latest: Option<Timestamp>,
}

/// The players of one kind, without those who were forgotten.
#[derive(Debug)]
pub(super) struct Board {
    pub(super) kind: Kind,
    /// The players, ordered by identity.
    pub(super) lines: Vec<Line>,
    ids: Texts,
    names: Texts,
    /// The names without colours in lower case, for searches.
    plain: Texts,
    /// The players in the order of the leaderboard.
    order: Vec<usize>,
    pub(super) size: BoardSize,
}

/// A player in a leaderboard.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    pub(super) weight: f64,
    pub(super) deviation: f64,
    pub(super) games: u32,
    pub(super) last_seen: Timestamp,
    /// The division that the player has reached.
    pub(super) rank: Option<Rank>,
    pub(super) standing: Standing,
    /// The place in the order, from 0, among all.
    pub(super) position: usize,
}

/// Many texts in one: they need less memory and time than each on its own.
#[derive(Debug, Default)]
struct Texts {
    all: String,
    ends: Vec<usize>,
}

impl Texts {
    fn push(&mut self, text: &str) {
        self.all.push_str(text);
        self.ends.push(self.all.len());
    }

    fn get(&self, at: usize) -> &str {
        let from = if at == 0 { 0 } else { self.ends[at - 1] };
        &self.all[from..self.ends[at]]
    }
}

impl Default for Boards {
    fn default() -> Self {
        Self::new(Vec::new())
    }
}

impl Boards {
    /// The leaderboards of a ruleset with these weights.
    pub(super) fn new(mut rows: Vec<WeightRow>) -> Self {
        let latest = rows.iter().map(|row| row.last_seen).max();
        rows.retain(|row| !is_forgotten(&row.key, &row.name));
        rows.sort_unstable_by(|a, b| a.key.cmp(&b.key));
        let humans = rows.partition_point(|row| row.key.kind == Kind::Human);
        let (humans, bots) = rows.split_at(humans);
        let board = |kind, rows| Board::new(kind, rows, latest.unwrap_or_default());
        Self {
            humans: board(Kind::Human, humans),
            bots: board(Kind::Bot, bots),
            latest,
        }
    }

    pub(super) fn of(&self, kind: Kind) -> &Board {
        match kind {
            Kind::Human => &self.humans,
            Kind::Bot => &self.bots,
        }
    }
}

impl Board {
    /// That of players of one kind, who are ordered by identity.
    fn new(kind: Kind, rows: &[WeightRow], latest: Timestamp) -> Self {
        let mut board = Self {
            kind,
            lines: Vec::with_capacity(rows.len()),
            ids: Texts::default(),
            names: Texts::default(),
            plain: Texts::default(),
            order: Vec::new(),
            size: BoardSize::default(),
        };
        for row in rows {
            let name = public_name(&row.key, row.name.clone());
            board.ids.push(&row.key.id);
            board.plain.push(&plain_name(&name).to_lowercase());
            board.names.push(&name);
            board.lines.push(Line {
                weight: row.weight,
                deviation: row.deviation,
                games: row.games,
                last_seen: row.last_seen,
                rank: row.rank,
                standing: Standing::of(row, latest),
                position: 0,
            });
        }
        board.sort();
        board
    }

    fn sort(&mut self) {
        let lines = self.lines.iter().enumerate();
        let keys = lines.map(|(at, line)| (line.standing, line.at_least(), at));
        let mut keys: Vec<(Standing, f64, usize)> = keys.collect();
        keys.sort_unstable_by(|one, other| {
            let by_worth = || other.1.total_cmp(&one.1);
            let standing: Ordering = one.0.cmp(&other.0);
            standing.then_with(by_worth).then(one.2.cmp(&other.2))
        });
        self.order = keys.iter().map(|(_, _, at)| *at).collect();
        for (position, at) in self.order.iter().enumerate() {
            self.lines[*at].position = position;
        }
        let up_to = |last| keys.partition_point(|(standing, ..)| *standing <= last) as i64;
        self.size = BoardSize {
            placed: up_to(Standing::Placed),
            listed: up_to(Standing::Placing),
            all: up_to(Standing::Away),
        };
    }

    pub(super) fn id(&self, at: usize) -> &str {
        self.ids.get(at)
    }

    pub(super) fn key(&self, at: usize) -> PlayerKey {
        PlayerKey {
            kind: self.kind,
            id: self.id(at).to_owned(),
        }
    }

    pub(super) fn name(&self, at: usize) -> &str {
        self.names.get(at)
    }

    /// The players at these positions, from 0.
    pub(super) fn at_positions(&self, positions: std::ops::Range<usize>) -> &[usize] {
        let end = positions.end.min(self.order.len());
        self.order.get(positions.start..end).unwrap_or_default()
    }

    /// The player with this identity.
    pub(super) fn find(&self, id: &str) -> Option<usize> {
        let (mut low, mut high) = (0, self.lines.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.id(middle).cmp(id) {
                Ordering::Less => low = middle + 1,
                Ordering::Greater => high = middle,
                Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// The players of whom this is true, in the order of the leaderboard.
    fn those(&self, is_one: impl Fn(usize) -> bool) -> Vec<usize> {
        let mut found: Vec<usize> = (0..self.lines.len()).filter(|at| is_one(*at)).collect();
        found.sort_unstable_by_key(|at| self.lines[*at].position);
        found
    }

    /// The players whose names contain a text in lower case.
    pub(super) fn containing(&self, text: &str) -> Vec<usize> {
        self.those(|at| self.plain.get(at).contains(text))
    }

    /// The players whose name is one of these texts in lower case, or whose identity is one of these or of those.
    pub(super) fn called(&self, texts: &BTreeSet<String>, ids: &BTreeSet<String>) -> Vec<usize> {
        self.those(|at| {
            let (id, name) = (self.id(at), self.plain.get(at));
            texts.contains(name) || texts.contains(&id.to_lowercase()) || ids.contains(id)
        })
    }
}

impl Line {
    /// What the player is worth at least.
    pub(super) fn at_least(&self) -> f64 {
        self.weight - self.deviation
    }
}
