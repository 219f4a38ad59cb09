//! Where players stand: the lines of leaderboards, and the places of one player.

use serde::Serialize;

use super::distribution::Distribution;
use crate::{
    learning::{BoardLine, BoardQuery, Standing, StandingLine},
    model::{Kind, PlayerKey, Ruleset, Timestamp},
    store::{PersonRow, Player, as_text},
    web::{
        Site, WebError,
        plot::WeightPoint,
        present::{identities, running},
        words,
    },
};

impl BoardLine {
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

/// The longest search, in bytes.
pub(in crate::web) const SEARCH: usize = 64;

/// A part of the leaderboard of a ruleset, or of the players in it whom a search finds.
#[derive(Debug, Serialize)]
pub(in crate::web) struct BoardPart {
    pub(super) ruleset: String,
    #[serde(serialize_with = "as_text")]
    pub(super) kind: Kind,
    /// The number of players, also of those without a place.
    pub(in crate::web) players: i64,
    /// The number of those of them who are being placed, and of those who are away.
    pub(super) placing: i64,
    pub(super) away: i64,
    pub(super) rows: Vec<BoardLine>,
    /// How strong the players with a place are; `None` with too few of them, and of a search.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) distribution: Option<Distribution>,
    /// Where the next part begins; `None` after the last one.
    pub(super) next: Option<i64>,
}

impl BoardPart {
    /// Reads the players in their order.
    pub(in crate::web) async fn read(site: &Site, query: BoardQuery<'_>) -> Result<Self, WebError> {
        let (rows, size, has_next) = site.learning().board(query).await?;
        let playing = identities(site, &running(site));
        let line = |row: BoardLine| {
            let plays_now = playing.contains(&row.key);
            let line = match site.settings.shows_numbers() {
                true => row,
                false => row.without_numbers(),
            };
            BoardLine { plays_now, ..line }
        };
        Ok(Self {
            ruleset: query.ruleset.to_owned(),
            kind: query.kind,
            players: size.all,
            placing: size.listed - size.placed,
            away: size.all - size.listed,
            rows: rows.into_iter().map(line).collect(),
            distribution: match query.search.is_empty() {
                true => Distribution::read(site, query.ruleset, query.kind).await?,
                false => None,
            },
            next: has_next.then_some(query.skip + query.limit),
        })
    }
}

/// A player's standing under a ruleset.
#[derive(Debug, Serialize)]
pub(in crate::web) struct PlayerStanding {
    #[serde(flatten)]
    pub(super) own: StandingLine,
    /// The weight after each of the latest matches, the first one first, and the weight of now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) history: Vec<WeightPoint>,
}

impl PlayerStanding {
    /// The standing as a site shows it, without the history.
    pub(in crate::web) fn new(site: &Site, own: StandingLine) -> Self {
        let line = match site.settings.shows_numbers() {
            true => own.line,
            false => own.line.without_numbers(),
        };
        Self {
            own: StandingLine { line, ..own },
            history: Vec::new(),
        }
    }

    /// Weight or division, place and ruleset, in a few words.
    pub(in crate::web) fn in_short(&self) -> String {
        let StandingLine {
            ruleset,
            players: of,
            line,
            ..
        } = &self.own;
        let measure = line.measure().or_else(|| line.division.clone());
        let measure = measure.map_or(String::new(), |measure| format!("{measure} · "));
        let place = match line.place {
            Some(place) => format!("place {place} of {of} · ", place = place, of = of),
            None if line.standing == Standing::Placed => String::new(),
            None => format!("{} · ", line.place_or_why()),
        };
        format!("{measure}{place}{ruleset}")
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
                (line.line.weight, line.line.deviation) = (Some(now.0), Some(now.1));
            }
        }
    }
}

/// A player with a page, and where the player stands.
pub(in crate::web) struct KnownPlayer {
    pub(in crate::web) person: PersonRow,
    pub(in crate::web) player: Player,
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
        let latest = standings.iter().max_by_key(|line| line.line.last_seen);
        let name = latest.map(|line| line.line.player.raw.clone());
        Ok(Self {
            player: Player::new(Some(person.handle.clone()), name, person.key.kind),
            person,
            standings,
        })
    }
}
