//! `/players/ID`: one player, where the player stands, the results of the last matches, and the maps on which the
//! player wins most and least.

mod past;

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use crate::{
    Site, WebError,
    answer::Page,
    learning::{PlayedMatch, StandingLine, WeightHere, WhyQuestion, WhyRating},
    links::PlayerLink as _,
    links::path_part,
    model::{Kind, Timestamp, names::plain_name, weight::Standing},
    pages::standing::LineWords as _,
    pages::{
        parts::{PageTable, RecentSpan, kind},
        player::past::{Record, Recounted, Since, WeightProgress, in_a_line, read_recounts},
        standing::Distribution,
        versus::{CompanionTables, companions},
    },
    plot,
    share::share,
    store::{GameOfPerson, Player},
    words,
};

pub(crate) use super::standing::{KnownPlayer, PlayerStanding};

/// How many of the latest matches are read.
const GAMES: i64 = 300;
/// The most rulesets with a plot, and with reasons for the weight.
const PLOTS: usize = 3;

/// What a visitor chooses on this page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct KindChoice {
    #[serde(deserialize_with = "kind")]
    pub(crate) kind: Option<Kind>,
    /// The ruleset of the badge.
    pub(crate) ruleset: Option<String>,
    /// Which time the plots show.
    span: RecentSpan,
}

/// The page of a player.
#[derive(Debug, Serialize)]
pub(crate) struct PlayerPage {
    player: Player,
    #[serde(skip_serializing_if = "Option::is_none")]
    identity: Option<String>,
    /// Which time the plots show.
    #[serde(skip)]
    span: RecentSpan,
    /// Whether an operator has fixed the weight.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pinned: bool,
    /// How the weight under the first of the standings has moved, unless it is fixed.
    #[serde(skip_serializing_if = "Option::is_none")]
    progress: Option<WeightProgress>,
    record: Record,
    standings: Vec<PlayerStanding>,
    /// How strong the players of the first of the standings are.
    #[serde(skip_serializing_if = "Option::is_none")]
    distribution: Option<Distribution>,
    form: RecentForm,
    /// The latest notices of corrections.
    recounts: Vec<Recounted>,
    /// Why the weights are what they are, those with most matches first; none if numbers are not shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    why: Vec<WhyWeight>,
    games: Vec<PlayedMatch>,
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

fn weight_here(own: &StandingLine) -> Option<WeightHere> {
    let line = &own.line;
    Some(WeightHere {
        ruleset: own.ruleset.clone(),
        weight: line.weight?,
        deviation: line.deviation?,
        games: u32::try_from(line.games).unwrap_or(0),
    })
}

impl PlayerPage {
    fn standings<'a>(&'a self, site: &'a Site) -> PageTable<'a, PlayerStanding> {
        PageTable::of("Standings", &self.standings)
            .name("Game type", |row| site.links.to_ruleset(&row.own.ruleset))
            .num("Weight", |row| words::or_dash(row.own.line.measure()))
            .only_if(site.settings.shows_numbers())
            .text("Division", |row| {
                words::or_dash(row.own.line.division.clone())
            })
            .only_if(
                self.standings
                    .iter()
                    .any(|row| row.own.line.division.is_some()),
            )
            .num("Place", |row| match row.own.line.place {
                Some(place) => format!("{place} of {0}", row.own.players, place = place),
                None => row.own.line.place_or_why(),
            })
            .num("Better than", |row| {
                words::or_dash(row.own.line.better_than())
            })
            .num("Games", |row| row.own.line.games)
            .wide_text("Last seen", |row| words::day(row.own.line.last_seen))
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
        let known = KnownPlayer::read(site, text, choice.kind).await?;
        let (person, standings) = (known.person, known.standings);
        let matches = site.pages().matches();
        let games = matches.games_of(person.person, GAMES).await?;
        let (best_maps, worst_maps) = maps(&games);
        let numbers = site.settings.shows_numbers();
        let weights: Vec<WeightHere> = standings.iter().filter_map(weight_here).collect();
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
                true => past::history(&games, &line, since),
                false => Vec::new(),
            },
            ..PlayerStanding::new(site, line)
        };
        let first = standings.first().filter(|_| numbers);
        let progress = first.filter(|_| !pinned);
        let progress =
            progress.and_then(|own| WeightProgress::of(&games, &own.ruleset, own.line.weight?));
        let placed = first.filter(|own| own.line.standing == Standing::Placed);
        let distribution = async {
            match placed {
                Some(line) => Distribution::read(site, &line.ruleset, person.key.kind).await,
                None => Ok(None),
            }
        };
        let (distribution, companions, listed, recounts) = tokio::try_join!(
            distribution,
            companions(site, person.person, &games),
            past::read_games(site, &games, pinned),
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
            form: RecentForm::of(&games),
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
            h1 { (self.player.coloured()) @if self.player.bot { " " span.tag { "bot" } } }
            @if let Some(identity) = &self.identity { p { (mark!("Identity: {0}", { bdi { (identity) } })) } }
            @if site.settings.shows_numbers() {
                @if let Some(row) = self.standings.first() { (in_a_line(site, row, self.progress.as_ref(), self.pinned)) }
            }
            (self.form.body())
            @if self.standings.len() > 1 || !site.settings.shows_numbers() { (self.standings(site)) }
            (self.plots(site)?)
            @if site.settings.shows_numbers() {
                p.note {
                    "The band is one standard deviation: how far off the weight may \
         easily be. 50 is the average of those who play here. The dots mark the peak and the weight of now; one beside the \
         line is a weight that an operator has fixed."
                }
            }
            (self.distribution()?)
            h2 { "Record" }
            (self.record.body(site, GAMES))
            (self.companions.body(site, self.handle()))
            (self.maps())
            (self.matches(site))
            (past::recounts_list(&self.recounts))
            (self.why())
            (share(site, &self.path(), true, true))
        })
    }
}

/// How many matches are the form.
const FORM: usize = 10;

/// The results of the last matches, the latest first: `W`, `D` or `L`.
#[derive(Debug, Serialize)]
struct RecentForm(Vec<char>);

impl RecentForm {
    /// The form after these matches, the latest first.
    pub fn of(games: &[GameOfPerson]) -> Self {
        let results = games.iter().filter_map(|game| game.result);
        Self(results.map(letter).take(FORM).collect())
    }

    /// As a sentence with a space before it; empty without results.
    pub fn in_a_sentence(&self) -> String {
        let form: String = self.0.iter().collect();
        match form.is_empty() {
            true => form,
            false => format!(" Last results, the latest first: {form}.", form = form),
        }
    }

    /// As a paragraph.
    pub fn body(&self) -> Markup {
        html! {
            @if !self.0.is_empty() {
                p {
                    (mark!("Last results, the latest first: {0}",
                        { span.form { @for result in &self.0 { span class=(result_word(*result)) { (result) } " " } } }
                    ))
                }
            }
        }
    }
}

/// The letter of a result.
fn letter(result: f64) -> char {
    match result {
        result if result > 0.5 => 'W',
        result if result < 0.5 => 'L',
        _ => 'D',
    }
}

/// The word for the letter of a result, which is also its class.
fn result_word(letter: char) -> &'static str {
    match letter {
        'W' => "won",
        'L' => "lost",
        _ => "draw",
    }
}

/// The fewest games on a map that count.
const ON_MAP: i64 = 3;
/// How many maps, of the best and of the worst.
const MAPS: usize = 5;

/// The results on one map.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct MapResult {
    map: String,
    games: i64,
    won: f64,
}

/// The best maps, and the worst ones that are not among them.
fn maps(games: &[GameOfPerson]) -> (Vec<MapResult>, Vec<MapResult>) {
    let mut by_map: BTreeMap<&str, (i64, f64)> = BTreeMap::new();
    for game in games.iter().filter(|game| !game.map.is_empty()) {
        if let Some(result) = game.result {
            let (games, won) = by_map.entry(&game.map).or_default();
            (*games, *won) = (*games + 1, *won + result);
        }
    }
    let enough = by_map
        .into_iter()
        .filter(|(_, (games, _))| *games >= ON_MAP);
    let mut maps: Vec<MapResult> = enough
        .map(|(map, (games, won))| MapResult {
            map: plain_name(map),
            games,
            won: won / games as f64,
        })
        .collect();
    maps.sort_by(|a, b| b.won.total_cmp(&a.won).then(b.games.cmp(&a.games)));
    let best = maps.len().div_ceil(2).min(MAPS);
    let mut worst = maps.split_off(best);
    worst.reverse();
    worst.truncate(MAPS);
    (maps, worst)
}

/// A table of maps with the player's results on each.
fn map_table(title: &str, list: &[MapResult]) -> Markup {
    html! {
        section {
            h3 { (title) }
            (PageTable::of(title, list)
                .name("Map", |row| &row.map)
                .num("Won", |row| words::percent(row.won))
                .num("Games", |row| row.games))
        }
    }
}

impl PlayerPage {
    /// Where the player is among all players of the ruleset with most matches.
    fn distribution(&self) -> Result<Markup, WebError> {
        let (Some(distribution), Some(row)) = (&self.distribution, self.standings.first()) else {
            return Ok(html! {});
        };
        let worth = row.own.line.weight.zip(row.own.line.deviation);
        let own = worth.map(|(weight, deviation)| (self.player.plain(), weight - deviation));
        distribution.body(&row.own.ruleset, own)
    }

    /// A plot of the weight for each of the rulesets with most matches.
    fn plots(&self, site: &Site) -> Result<Markup, WebError> {
        let many = self.standings.iter().filter(|row| row.history.len() > 1);
        let mut plots = Vec::new();
        for row in many.clone().take(PLOTS) {
            let name = self.player.plain();
            let label = format!(
                "Weight of {name} in {0} over time",
                row.own.ruleset,
                name = name
            );
            let points = self.span.part_of(&row.history);
            plots.push((&row.own.ruleset, plot::weights(&label, points)?));
        }
        let path = site.links.to(&self.path());
        Ok(html! {
            @if many.clone().any(|row| RecentSpan::Month.part_of(&row.history).len() < row.history.len()) {
                (self.span.tabs("Time of the plots", |name| format!("{path}?span={name}")))
            }
            @for (ruleset, plot) in plots {
                figure {
                    figcaption { (mark!("Weight in {0}, with its uncertainty", { (words::ruleset(ruleset)) })) }
                    (plot)
                }
            }
        })
    }

    fn maps(&self) -> Markup {
        html! {
            @if !self.best_maps.is_empty() {
                h2 { "Maps" }
                div.columns {
                    (map_table("Best", &self.best_maps))
                    @if !self.worst_maps.is_empty() { (map_table("Worst", &self.worst_maps)) }
                }
                p.note { (mark!("Maps with at least {0} games, of the last {1}.", { (ON_MAP) }, { (GAMES) })) }
            }
        }
    }

    fn matches(&self, site: &Site) -> Markup {
        let all = format!("/matches?player={}", path_part(self.handle()));
        html! {
            h2 { "Latest matches" }
            (past::games_table(site, &self.games))
            p { a href=(site.links.to(&all)) { "All matches" } }
            p.note {
                "Points are those of the player's team, and those against it, while \
         the player was on it."
                @if site.settings.shows_numbers() {
                    " The chance is that of the player's team." " “Change” is what the match did to the weight, and “Reason” what moved it or held it. Between own \
         matches a weight stands still. A win never lowers it, and a defeat never raises it: one that is narrower than \
         expected moves nothing. So it is with half of a strong player's wins, and a defeat costs them more."
                }
            }
        }
    }

    /// Why the weights are what they are.
    fn why(&self) -> Markup {
        html! {
            @if !self.why.is_empty() {
                h2 { "Why this rating" }
                @for why in &self.why {
                    @if self.why.len() > 1 { h3 { (words::ruleset(&why.ruleset)) } }
                    ul { @for sentence in &why.sentences { li { (words::unbroken(sentence)) } } }
                }
            }
        }
    }
}

#[cfg(test)]
pub(in crate::pages) mod tests {
    use super::*;
    use crate::{
        model::{
            Timestamp,
            weight::{WeightCause, WeightEntry},
        },
        store::GameOfPerson,
    };

    /// A match of a player on team 1.
    pub(in crate::pages) fn game(id: i64, map: &str, result: f64) -> GameOfPerson {
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
            points_for: Some(3.0),
            points_against: Some(1.0),
        }
    }

    #[test]
    fn maps_are_in_one_list_only() {
        let results = [("a", 1.0), ("b", 0.0), ("c", 0.5), ("d", 1.0)];
        let mut games: Vec<_> = results
            .iter()
            .flat_map(|(map, r)| vec![game(1, map, *r); 3])
            .collect();
        games.push(game(1, "once", 1.0));
        let (best, worst) = maps(&games);
        let names = |list: &[MapResult]| list.iter().map(|m| m.map.clone()).collect::<Vec<_>>();
        assert_eq!(names(&best), ["a", "d"]);
        assert_eq!(names(&worst), ["b", "c"]);
        assert_eq!((worst[1].games, worst[1].won), (3, 0.5));
    }
}
