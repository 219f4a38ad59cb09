//! A player with a page, and where the player stands.

use serde::Serialize;

use crate::{
    learning::{Standing, StandingLine},
    model::{Kind, PlayerKey, Ruleset, Timestamp},
    store::PersonRow,
    web::{Site, error::WebError, name::Player, pages::board_line::BoardLine, plot::WeightPoint},
};

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
            Some(place) => format!(text!(player.place_of_2), place = place, of = of),
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
        let latest = standings.iter().max_by_key(|line| line.row.last_seen);
        let name = latest.map(|line| line.row.name.clone());
        Ok(Self {
            player: Player::new(Some(person.handle.clone()), name, person.key.kind),
            person,
            standings,
        })
    }
}
