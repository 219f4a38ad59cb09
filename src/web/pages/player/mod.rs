//! `/players/ID`: one player.

mod form;
mod games;
mod history;
mod maps;
mod parts;
mod record;
mod recounts;
mod standing;

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::{
    companions::{CompanionTables, companions},
    distribution::Distribution,
    span::Span,
    table::Table,
};
use crate::{
    learning::{Standing, StandingLine, WeightHere, WhyQuestion, WhyRating},
    model::{Kind, Timestamp},
    web::{Site, answer::Page, error::WebError, name::Player, share::share, words},
};

use form::Form;
use games::PlayedGame;
use history::Since;
use maps::MapResult;
use record::{Progress, Record, in_a_line};
pub(in crate::web) use recounts::{Recounted, read as read_recounts};
pub(in crate::web) use standing::{KnownPlayer, PlayerStanding};

/// How many of the latest matches are read.
const GAMES: i64 = 300;
/// The most rulesets with a plot, and with reasons for the weight.
const PLOTS: usize = 3;

/// What a visitor chooses on this page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct KindChoice {
    kind: Option<String>,
    /// The ruleset of the badge.
    ruleset: Option<String>,
    /// Which time the plots show.
    span: Span,
}

impl KindChoice {
    pub(in crate::web) fn kind(&self) -> Option<Kind> {
        self.kind.as_deref().and_then(Kind::parse)
    }

    pub(in crate::web) fn ruleset(&self) -> Option<&str> {
        self.ruleset.as_deref()
    }
}

/// The page of a player.
#[derive(Debug, Serialize)]
pub(in crate::web) struct PlayerPage {
    player: Player,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<String>,
    /// Which time the plots show.
    #[serde(skip)]
    span: Span,
    /// Whether an operator has fixed the weight.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pinned: bool,
    /// How the weight under the first of the standings has moved, unless it is fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<Progress>,
    record: Record,
    standings: Vec<PlayerStanding>,
    /// How strong the players of the first of the standings are.
    #[serde(skip_serializing_if = "Option::is_none")]
    distribution: Option<Distribution>,
    form: Form,
    /// The latest notices of corrections.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    recounts: Vec<Recounted>,
    /// Why the weights are what they are, those with most matches first; none if numbers are not shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    why: Vec<WhyWeight>,
    games: Vec<PlayedGame>,
    best_maps: Vec<MapResult>,
    worst_maps: Vec<MapResult>,
    companions: CompanionTables,
}

/// Why the weight under a ruleset is what it is.
#[derive(Debug, Serialize)]
struct WhyWeight {
    ruleset: String,
    sentences: Vec<String>,
}

impl From<&WhyRating> for WhyWeight {
    fn from(why: &WhyRating) -> Self {
        Self {
            ruleset: why.ruleset.clone(),
            sentences: why.sentences(),
        }
    }
}

fn weight_here(line: &StandingLine) -> WeightHere {
    WeightHere {
        ruleset: line.ruleset.clone(),
        weight: line.row.weight,
        deviation: line.row.deviation,
        games: u32::try_from(line.row.games).unwrap_or(0),
    }
}

impl PlayerPage {
    fn standings<'a>(&'a self, site: &'a Site) -> Table<'a, PlayerStanding> {
        Table::of(text!(player.standings), &self.standings)
            .name(text!(common.ruleset), |row| {
                site.links.to_ruleset(&row.ruleset)
            })
            .num(text!(common.weight), |row| {
                words::or_dash(row.line.measure())
            })
            .only_if(site.settings.shows_numbers())
            .text(text!(common.division), |row| {
                words::or_dash(row.line.division.clone())
            })
            .only_if(self.standings.iter().any(|row| row.line.division.is_some()))
            .num(text!(common.place), |row| match row.line.place {
                Some(place) => format!(text!(player.of), row.players, place = place),
                None => row.line.place_or_why(),
            })
            .num(text!(common.better_than), |row| {
                words::or_dash(row.line.better_than())
            })
            .num(text!(common.games), |row| row.line.games)
            .wide_text(text!(common.last_seen), |row| {
                words::day(row.line.last_seen)
            })
    }

    fn handle(&self) -> &str {
        self.player.handle.as_deref().unwrap_or_default()
    }
}

impl Page for PlayerPage {
    type Choice = KindChoice;
    const PATH: &str = "/players/{name}";

    /// Reads the page of the player with this handle or identity.
    async fn read(site: &Site, text: &str, choice: &KindChoice) -> Result<Self, WebError> {
        let known = KnownPlayer::read(site, text, choice.kind()).await?;
        let (person, standings) = (known.person, known.standings);
        let matches = site.pages().matches();
        let games = matches.games_of(person.person, GAMES).await?;
        let (best_maps, worst_maps) = maps::maps(&games);
        let numbers = site.settings.shows_numbers();
        let weights: Vec<WeightHere> = standings.iter().map(weight_here).collect();
        let asked = WhyQuestion {
            player: &person.key,
            person: person.person,
            games: &games,
            weights: &weights,
            ruleset: None,
            most: PLOTS,
            now: site.now(),
        };
        let why = match numbers {
            true => site.learning().why(&asked).await?,
            false => Vec::new(),
        };
        let pinned = why.iter().any(|why| why.pinned.is_some());
        let seasons: Vec<Timestamp> = site.learning().seasons_until(asked.now).collect();
        let since = Since {
            pinned,
            seasons: &seasons,
        };
        let standing = |line: StandingLine| PlayerStanding {
            history: match numbers {
                true => history::history(&games, &line, since),
                false => Vec::new(),
            },
            ..PlayerStanding::new(site, person.key.kind, line)
        };
        let first = standings.first().filter(|_| numbers);
        let progress = first.filter(|_| !pinned);
        let progress =
            progress.and_then(|line| Progress::of(&games, &line.ruleset, line.row.weight));
        let placed = first.filter(|line| line.row.standing == Standing::Placed);
        let distribution = async {
            match placed {
                Some(line) => Distribution::read(site, &line.ruleset, person.key.kind).await,
                None => Ok(None),
            }
        };
        let (distribution, companions, listed, recounts) = tokio::try_join!(
            distribution,
            companions(site, person.person, &games),
            games::read(site, &games, pinned),
            read_recounts(site, &person.key),
        )?;
        Ok(Self {
            span: choice.span,
            distribution,
            pinned,
            progress,
            record: Record::of(&games, numbers),
            standings: standings.into_iter().map(standing).collect(),
            recounts,
            why: why.iter().map(WhyWeight::from).collect(),
            companions,
            form: Form::of(&games),
            games: listed,
            best_maps,
            worst_maps,
            identity: site.settings.show_ids.then_some(person.key.id),
            player: known.player,
        })
    }

    fn title(&self) -> String {
        self.player.plain().to_owned()
    }

    fn path(&self) -> String {
        format!("/players/{}", self.handle())
    }

    fn description(&self, _: &Site) -> String {
        let standing = self.standings.first().map(PlayerStanding::in_short);
        let form = self.form.in_a_sentence();
        format!("{}: {}.{form}", self.title(), words::or_dash(standing))
    }

    fn has_feed(&self) -> bool {
        true
    }

    fn card(&self, site: &Site) -> Option<Markup> {
        Some(html! { (self.form.body()) (self.standings(site)) })
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        Ok(html! {
            h1 { (self.player.coloured()) @if self.player.bot { " " span.tag { (text!(common.bot)) } } }
            @if let Some(identity) = &self.identity { p { (mark!(player.identity, { bdi { (identity) } })) } }
            @if site.settings.shows_numbers() {
                @if let Some(row) = self.standings.first() { (in_a_line(site, row, self.progress.as_ref(), self.pinned)) }
            }
            (self.form.body())
            @if self.standings.len() > 1 || !site.settings.shows_numbers() { (self.standings(site)) }
            (self.plots(site)?)
            @if site.settings.shows_numbers() {
                p.note {
                    (text!(player.the_band_is_one_standard_deviation))
                }
            }
            (self.distribution()?)
            h2 { (text!(player.record)) }
            (self.record.body(site, GAMES))
            (self.companions.body(site, self.handle()))
            (self.maps())
            (self.matches(site))
            (recounts::list(&self.recounts))
            (self.why())
            (share(site, &self.path(), true, true))
        })
    }
}

#[cfg(test)]
pub(in crate::web::pages) mod tests {
    use crate::{
        model::{Timestamp, WeightCause, WeightEntry},
        store::GameOfPerson,
    };

    /// A match of a player on team 1.
    pub(in crate::web::pages) fn game(id: i64, map: &str, result: f64) -> GameOfPerson {
        GameOfPerson {
            id,
            ended: Timestamp(id),
            ruleset: "ctf".into(),
            map: map.into(),
            team: Some(1),
            result: Some(result),
            forecast: Some(0.25),
            entry: Some(WeightEntry {
                before: 49.0 + id as f64,
                weight: 50.0 + id as f64,
                deviation: 5.0,
                cause: Some(WeightCause::Won),
            }),
            points_for: 3.0,
            points_against: 1.0,
        }
    }
}
