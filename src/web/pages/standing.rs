//! Where players stand: the lines of leaderboards, and the places of one player.

use serde::Serialize;

use crate::{
    learning::{BoardQuery, BoardRow, BoardSize, LearningError, Standing, StandingLine},
    model::{Kind, PlayerKey, Ruleset, Timestamp},
    store::PersonRow,
    web::{
        Site, WebError,
        links::NamedPlayer,
        plot::WeightPoint,
        words::{self, as_text},
    },
};

/// A line of the leaderboard.
#[derive(Debug, Serialize)]
pub(in crate::web) struct BoardLine {
    /// `None` without a place, and where only divisions are shown.
    pub(super) place: Option<i64>,
    pub(super) standing: Standing,
    pub(super) player: NamedPlayer,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) weight: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) deviation: Option<f64>,
    pub(super) division: Option<String>,
    /// The percentage of the other players with a place who have a lower one; `None` for the only player.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) percentile: Option<f64>,
    pub(super) games: i64,
    #[serde(serialize_with = "as_text")]
    pub(super) last_seen: Timestamp,
    /// Whether the player is in a running game.
    pub(super) plays_now: bool,
}

impl BoardLine {
    /// The line of a player, with `placed` players who have a place under the ruleset.
    pub(in crate::web) fn new(site: &Site, kind: Kind, row: BoardRow, placed: i64) -> Self {
        let numbers = site.settings.shows_numbers();
        let shown = |number| numbers.then(|| words::rounded(number, 3));
        Self {
            place: row.place.filter(|_| numbers),
            standing: row.standing,
            player: NamedPlayer::new(Some(row.handle), Some(row.name), kind),
            weight: shown(row.weight),
            deviation: shown(row.deviation),
            division: row.division,
            percentile: row.place.filter(|_| placed > 1).map(|place| {
                let behind = (placed - place).max(0) as f64 / (placed - 1) as f64;
                (behind * 1_000.0).round() / 10.0
            }),
            games: row.games,
            last_seen: row.last_seen,
            plays_now: false,
        }
    }

    /// The place, or why there is none.
    pub(super) fn place_or_why(&self) -> String {
        let enough = Standing::MATCHES_TO_PLACE;
        match (self.standing, self.place) {
            (Standing::Placed, place) => words::or_dash(place.map(|place| place.to_string())),
            (Standing::Placing, _) if self.games < enough => {
                format!("placing {0} of {enough}", self.games, enough = enough)
            }
            (Standing::Placing, _) => "placing".to_owned(),
            (Standing::Away, _) => "away".to_owned(),
        }
    }

    /// How many of the other players have a lower place.
    pub(super) fn better_than(&self) -> Option<String> {
        Some(words::percent(self.percentile? / 100.0))
    }

    /// The weight with its deviation.
    pub(super) fn measure(&self) -> Option<String> {
        let weight = words::tenths(self.weight?);
        Some(match self.deviation.filter(|deviation| *deviation > 0.0) {
            Some(deviation) => format!("{weight} ± {}", words::tenths(deviation)),
            None => weight,
        })
    }
}

/// Reads a part of the players of a ruleset, in their order. Returns them, how many there are, and whether more come after.
pub(in crate::web) async fn part_of_board(
    site: &Site,
    query: BoardQuery<'_>,
) -> Result<(Vec<BoardRow>, BoardSize, bool), LearningError> {
    let limit = query.limit;
    if query.search.is_empty() {
        let (rows, size) = site.learning().board(query).await?;
        let last = if query.away { size.all } else { size.listed };
        return Ok((rows, size, last > query.skip + limit));
    }
    let one_more = BoardQuery {
        limit: limit + 1,
        ..query
    };
    let (mut rows, size) = site.learning().board(one_more).await?;
    let has_next = rows.len() as i64 > limit;
    rows.truncate(usize::try_from(limit).unwrap_or(0));
    Ok((rows, size, has_next))
}

/// A player's standing under a ruleset.
#[derive(Debug, Serialize)]
pub(in crate::web) struct PlayerStanding {
    pub(super) ruleset: String,
    pub(super) players: i64,
    #[serde(flatten)]
    pub(super) line: BoardLine,
    /// The weight after each of the latest matches, the first one first, and the weight of now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) history: Vec<WeightPoint>,
}

impl PlayerStanding {
    /// The standing of a player of this kind, without the history.
    pub(in crate::web) fn new(site: &Site, kind: Kind, line: StandingLine) -> Self {
        Self {
            ruleset: line.ruleset,
            players: line.of,
            line: BoardLine::new(site, kind, line.row, line.of),
            history: Vec::new(),
        }
    }

    /// Weight or division, place and ruleset, in a few words.
    pub(in crate::web) fn in_short(&self) -> String {
        let (line, of) = (&self.line, self.players);
        let measure = line.measure().or_else(|| line.division.clone());
        let measure = measure.map_or(String::new(), |measure| format!("{measure} · "));
        let place = match line.place {
            Some(place) => format!("place {place} of {of} · ", place = place, of = of),
            None if line.standing == Standing::Placed => String::new(),
            None => format!("{} · ", line.place_or_why()),
        };
        format!("{measure}{place}{}", self.ruleset)
    }
}

/// A season begins on its date; what is stored is of the former one until the next match.
fn begin_season(site: &Site, player: &PlayerKey, standings: &mut [StandingLine]) {
    let learning = site.learning();
    let starts = &learning.settings().history.seasons;
    for line in standings {
        let has_begun = |start: &&Timestamp| line.learned < Some(**start) && **start <= site.now();
        if starts.iter().any(|start| has_begun(&start)) {
            let view = learning
                .standings_at(site.now())
                .view(&Ruleset::parse(&line.ruleset));
            if let Some(now) = view.measure(player.kind, &player.id) {
                (line.row.weight, line.row.deviation) = now;
            }
        }
    }
}

/// A player with a page, and where the player stands.
pub(in crate::web) struct KnownPlayer {
    pub(in crate::web) person: PersonRow,
    pub(in crate::web) player: NamedPlayer,
    pub(in crate::web) standings: Vec<StandingLine>,
}

impl KnownPlayer {
    /// Reads the player with this handle or identity, who has the name of their latest match.
    pub(in crate::web) async fn read(
        site: &Site,
        text: &str,
        kind: Option<Kind>,
    ) -> Result<Self, WebError> {
        let person = site.learning().person(text, kind).await?;
        let person = person.ok_or(WebError::NoPlayer)?;
        let mut standings = site.learning().standings_of(&person).await?;
        begin_season(site, &person.key, &mut standings);
        let latest = standings.iter().max_by_key(|line| line.row.last_seen);
        let name = latest.map(|line| line.row.name.clone());
        Ok(Self {
            player: NamedPlayer::new(Some(person.handle.clone()), name, person.key.kind),
            person,
            standings,
        })
    }
}
