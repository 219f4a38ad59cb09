//! Where players stand: the lines of leaderboards, the places of one player, how strong the players of a ruleset are, and
//! where among them one player is.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    Site, WebError,
    learning::{BoardLine, BoardQuery, StandingLine},
    model::{Kind, PlayerKey, Ruleset, Timestamp, weight::Standing},
    pages::live::{identities, running},
    plot::{self, Bar, WeightPoint},
    store::{PersonRow, Player, as_text},
    words,
};

/// The words for a line of a leaderboard.
pub(crate) trait LineWords {
    /// The place, or why there is none.
    fn place_or_why(&self) -> String;
    /// How many of the other players have a lower place.
    fn better_than(&self) -> Option<String>;
    /// The weight with its deviation.
    fn measure(&self) -> Option<String>;
}

impl LineWords for BoardLine {
    fn place_or_why(&self) -> String {
        let enough = Standing::MATCHES_TO_PLACE;
        match (self.standing, self.place) {
            (Standing::Placed, place) => words::or_dash(place.map(|place| place.to_string())),
            (Standing::Placing, _) if self.games < i64::from(enough) => {
                format!("placing {0} of {enough}", self.games, enough = enough)
            }
            (Standing::Placing, _) => "placing".to_owned(),
            (Standing::Away, _) => "away".to_owned(),
        }
    }

    fn better_than(&self) -> Option<String> {
        Some(words::percent(self.percentile? / 100.0))
    }

    fn measure(&self) -> Option<String> {
        let weight = words::tenths(self.weight?);
        Some(match self.deviation.filter(|deviation| *deviation > 0.0) {
            Some(deviation) => format!("{weight} ± {}", words::tenths(deviation)),
            None => weight,
        })
    }
}

/// The longest search, in bytes.
pub(crate) const SEARCH: usize = 64;

/// A part of the leaderboard of a ruleset, or of the players in it whom a search finds.
#[derive(Debug, Serialize)]
pub(crate) struct BoardPart {
    pub(super) ruleset: String,
    #[serde(serialize_with = "as_text")]
    pub(super) kind: Kind,
    /// The number of players, also of those without a place.
    pub(crate) players: i64,
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
    pub(crate) async fn read(site: &Site, query: BoardQuery<'_>) -> Result<Self, WebError> {
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
pub(crate) struct PlayerStanding {
    #[serde(flatten)]
    pub(super) own: StandingLine,
    /// The weight after each of the latest matches, the first one first, and the weight of now.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) history: Vec<WeightPoint>,
}

impl PlayerStanding {
    /// The standing as a site shows it, without the history.
    pub(crate) fn new(site: &Site, own: StandingLine) -> Self {
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
    pub(crate) fn in_short(&self) -> String {
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
pub(crate) struct KnownPlayer {
    pub(crate) person: PersonRow,
    pub(crate) player: Player,
    pub(crate) standings: Vec<StandingLine>,
}

impl KnownPlayer {
    /// Reads the player with this handle or identity, who has the name of their latest match.
    pub(crate) async fn read(
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

/// Of how many players at most it is made; of more, of so many at equal distances by place.
const PLAYERS: usize = 100;
/// The fewest players of whom a distribution says anything.
const FEWEST: usize = 10;
/// The most steps.
const STEPS: usize = 12;

/// How many of the players with a place are worth how much at least: the weight minus one deviation.
#[derive(Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct Distribution(Vec<WorthStep>);

/// The players whose worth is from a number up to the next step's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct WorthStep {
    from: f64,
    /// The share of the players with a place.
    share: f64,
}

impl Distribution {
    /// That of a ruleset; `None` with too few players, and where numbers are not shown.
    pub(super) async fn read(
        site: &Site,
        ruleset: &str,
        kind: Kind,
    ) -> Result<Option<Self>, WebError> {
        if !site.settings.shows_numbers() {
            return Ok(None);
        }
        let worth = site
            .learning()
            .worth_at_least(ruleset, kind, PLAYERS)
            .await?;
        Ok(Self::of(&worth))
    }

    fn of(worth: &[f64]) -> Option<Self> {
        let least = worth.iter().copied().fold(f64::INFINITY, f64::min).floor();
        let most = worth.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if worth.len() < FEWEST || !(most - least).is_finite() {
            return None;
        }
        // Whole numbers from 1 on, so that the steps are easy to read.
        let width = ((most - least) / STEPS as f64).ceil().max(1.0);
        let count = ((most - least) / width).floor() as usize + 1;
        let step = |at: usize| {
            let from = least + at as f64 * width;
            let within = worth
                .iter()
                .filter(|own| (from..from + width).contains(*own));
            let share = within.count() as f64 / worth.len() as f64;
            WorthStep {
                from,
                share: words::rounded(share, 4),
            }
        };
        Some(Self((0..count).map(step).collect()))
    }

    /// The step of a player who is worth this much.
    fn step_of(&self, worth: f64) -> Option<usize> {
        let steps = &self.0;
        let at = steps.partition_point(|step| step.from <= worth);
        (!steps.is_empty()).then(|| at.saturating_sub(1))
    }

    /// The plot, in which the step of a player who is worth `own` is marked.
    pub(super) fn body(&self, ruleset: &str, own: Option<(&str, f64)>) -> Result<Markup, WebError> {
        let marked = own.and_then(|(_, worth)| self.step_of(worth));
        let bar = |(at, step): (usize, &WorthStep)| Bar {
            is_marked: marked == Some(at),
            ..Bar::new(words::number(step.from), 100.0 * step.share)
        };
        let bars: Vec<Bar> = self.0.iter().enumerate().map(bar).collect();
        let here = own.map_or(String::new(), |(name, worth)| {
            format!("; {name} is at {0}", words::tenths(worth), name = name)
        });
        let label = format!(
            "Players with a place in {ruleset} by weight minus uncertainty, \
         in percent{here}",
            ruleset = ruleset,
            here = here
        );
        Ok(html! {
            figure {
                figcaption {
                    "All players with a place, in percent"
                    @if let Some((name, _)) = own { (mark!(": {0} is in the other colour", { (name) })) }
                }
                (plot::bars(&label, "weight minus its uncertainty", &bars)?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_player_is_in_one_step() {
        let worth: Vec<f64> = (0..40).map(|at| 60.5 - f64::from(at)).collect();
        let all = Distribution::of(&worth).unwrap();
        let sum: f64 = all.0.iter().map(|step| step.share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{all:?}");
        assert!(all.0.len() <= STEPS + 1 && all.0[0].from == 21.0, "{all:?}");
        assert_eq!(all.step_of(0.0), Some(0));
        assert_eq!(all.step_of(99.0), Some(all.0.len() - 1));
        let own = all.step_of(43.2).unwrap();
        assert!(all.0[own].from <= 43.2 && 43.2 < all.0[own + 1].from);
    }

    #[test]
    fn few_players_have_no_distribution() {
        assert_eq!(Distribution::of(&[50.0; FEWEST - 1]), None);
        assert_eq!(Distribution::of(&[f64::NAN; FEWEST]), None);
        let equal = Distribution::of(&[50.0; FEWEST]).unwrap();
        assert_eq!(
            equal.0,
            [WorthStep {
                from: 50.0,
                share: 1.0
            }]
        );
    }
}
