//! Lists of matches by what they have in common: `/matches` has all, `/maps/NAME` those on a map, and `/servers/NAME`
//! those of a game server.

use std::collections::BTreeSet;

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use crate::{
    Site, WebError,
    answer::{NoQuery, Page},
    links::PlayerLink as _,
    links::path_part,
    model::{Timestamp, match_chances::Cause, names::plain_name, team_names::TeamNames},
    pages::{
        balance::{NamedBalance, balance_table, cause_name},
        parts::{MatchSummary, matches},
        player::KnownPlayer,
    },
    rating::history::RulesetTotals,
    store::{MatchFilter, Player},
    words,
};

/// The number of matches on a page.
const LISTED: usize = 50;
/// The longest name in a filter, in bytes.
const LONGEST: usize = 1_024;

/// What a visitor chooses on this page.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct MatchesChoice {
    ruleset: Option<String>,
    map: Option<String>,
    server: Option<String>,
    /// The handle of a player, and that of another one, on the same team or on another.
    player: Option<String>,
    with: Option<String>,
    against: Option<String>,
    /// Whether only those are listed whose teams Evenkeel has picked.
    picked: bool,
    /// What the matches have in common, as the balance page names it, and the date from which on they ended.
    cause: Option<String>,
    since: Option<String>,
    /// How many are listed; a page has always as many.
    pub(crate) limit: Option<i64>,
    /// Where the part begins: `next` of the one before.
    cursor: Option<i64>,
}

/// A part of a list of matches, the last one first.
#[derive(Debug, Serialize)]
pub(crate) struct MatchesPart {
    matches: Vec<MatchSummary>,
    /// The cursor of the next part; `None` after the last one.
    next: Option<i64>,
    /// What the matches have in common, as names and values of the query, and whose they are.
    #[serde(skip)]
    filter: Vec<(&'static str, String)>,
    #[serde(skip)]
    players: Vec<Player>,
}

/// A page of matches, the last one first.
#[derive(Debug)]
pub(crate) struct MatchesPage {
    part: MatchesPart,
    rulesets: Vec<String>,
    cursor: Option<i64>,
    /// Why nothing is listed.
    nothing: Option<String>,
}

/// A value of a form; empty is the same as missing.
fn stated(text: &Option<String>) -> Result<Option<&str>, WebError> {
    match text.as_deref().filter(|text| !text.is_empty()) {
        Some(text) if text.len() > LONGEST => Err(WebError::BadRequest),
        text => Ok(text),
    }
}

impl MatchesPage {
    /// The address of this page, from a match on.
    fn address(&self, cursor: Option<i64>) -> String {
        let mut parts: Vec<String> = self
            .part
            .filter
            .iter()
            .map(|(name, value)| format!("{name}={}", path_part(value)))
            .collect();
        parts.extend(cursor.map(|id| format!("cursor={id}")));
        match parts.is_empty() {
            true => "/matches".to_owned(),
            false => format!("/matches?{}", parts.join("&")),
        }
    }

    fn value(&self, name: &str) -> Option<&String> {
        let found = self.part.filter.iter().find(|(own, _)| *own == name);
        found.map(|(_, value)| value)
    }

    fn controls(&self, site: &Site) -> Markup {
        let ruleset = self.value("ruleset");
        html! {
            form.controls method="get" action=(site.links.to("/matches")) {
                span.field {
                    label for="ruleset" { "Game type" }
                    select #ruleset name="ruleset" {
                        option value="" { "all" }
                        @for name in &self.rulesets {
                            option value=(name) selected[ruleset == Some(name)] { (name) }
                        }
                    }
                }
                @for name in ["map", "server"] {
                    span.field {
                        label for=(name) { (if name == "map" { "Map" } else { "Server" }) }
                        input id=(name) type="text" name=(name) value=[self.value(name)] maxlength=(LONGEST);
                    }
                }
                @for name in ["player", "with", "against", "cause", "since"] {
                    @if let Some(value) = self.value(name) { input type="hidden" name=(name) value=(value); }
                }
                label { input type="checkbox" name="picked" value="true" checked[self.value("picked").is_some()]; " picked by Evenkeel" }
                button type="submit" { "Show" }
            }
        }
    }

    /// What the matches have in common, and since when.
    fn caused(&self) -> Markup {
        let cause = self.value("cause").and_then(|name| Cause::parse(name));
        html! {
            @if cause.is_some() || self.value("since").is_some() {
                p {
                    @match cause {
                        Some(cause) => { (mark!("Rated matches with scores: {0}", { (cause_name(cause)) })) },
                        None => "Matches",
                    }
                    @if let Some(since) = self.value("since") { (mark!(", since {0}", { (since) })) }
                    "."
                }
            }
        }
    }

    /// Whose matches these are.
    fn whose(&self, site: &Site) -> Markup {
        let how = if self.value("with").is_some() {
            " with "
        } else {
            " against "
        };
        html! {
            @if let Some(player) = self.part.players.first() {
                p {
                    (mark!("Rated matches of {0}{1}.",
                        { (player.link(&site.links)) },
                        { @if let Some(other) = self.part.players.get(1) { (how) (other.link(&site.links)) } }
                    ))
                }
            }
        }
    }
}

impl MatchesPart {
    /// Why a choice leaves no match; `None` if it leaves some, or if nothing was chosen.
    async fn why_nothing(&self, site: &Site) -> Result<Option<String>, WebError> {
        if !self.matches.is_empty() || self.filter.is_empty() {
            return Ok(None);
        }
        for (name, value) in &self.filter {
            let filter = MatchFilter::default();
            let filter = match *name {
                "map" => MatchFilter {
                    map: Some(value),
                    ..filter
                },
                "server" => MatchFilter {
                    server: Some(value),
                    ..filter
                },
                "ruleset" => MatchFilter {
                    ruleset: Some(value),
                    ..filter
                },
                _ => continue,
            };
            let found = site.pages().matches().filtered_matches(&filter, 1).await?;
            if found.lines.is_empty() {
                let what = if *name == "ruleset" {
                    "game type"
                } else {
                    name
                };
                return Ok(Some(format!("There is no {what} “{}”.", plain_name(value))));
            }
        }
        Ok(Some("No match fits.".to_owned()))
    }

    /// Reads a part of the matches that the choice leaves; `abandoned` ones only if they are wanted.
    pub(crate) async fn read(
        site: &Site,
        choice: &MatchesChoice,
        abandoned: bool,
        limit: usize,
    ) -> Result<Self, WebError> {
        let mut filter = MatchFilter {
            ruleset: stated(&choice.ruleset)?,
            map: stated(&choice.map)?,
            server: stated(&choice.server)?,
            picked: choice.picked,
            before: choice.cursor,
            abandoned,
            ..MatchFilter::default()
        };
        let (mut players, mut said) = (Vec::new(), Vec::new());
        if let Some(name) = stated(&choice.cause)? {
            let cause = Cause::parse(name).ok_or(WebError::BadRequest)?;
            filter.cause = Some(cause);
            said.push(("cause", cause.as_str().to_owned()));
        }
        if let Some(date) = stated(&choice.since)? {
            filter.since = Some(Timestamp::parse(date).ok_or(WebError::BadRequest)?);
            said.push(("since", date.to_owned()));
        }
        let texts = [
            ("ruleset", filter.ruleset),
            ("map", filter.map),
            ("server", filter.server),
        ];
        said.extend(
            texts
                .into_iter()
                .filter_map(|(name, text)| Some((name, text?.to_owned()))),
        );
        said.extend(filter.picked.then(|| ("picked", "true".to_owned())));
        if let Some(player) = stated(&choice.player)? {
            let known = KnownPlayer::read(site, player, None).await?;
            filter.person = Some(known.person.person);
            said.push(("player", known.person.handle));
            players.push(known.player);
            let (with, against) = (stated(&choice.with)?, stated(&choice.against)?);
            if let Some(other) = with.or(against) {
                let known = KnownPlayer::read(site, other, None).await?;
                filter.other = Some((known.person.person, with.is_some()));
                let name = if with.is_some() { "with" } else { "against" };
                said.push((name, known.person.handle));
                players.push(known.player);
            }
        }
        let list = site
            .pages()
            .matches()
            .filtered_matches(&filter, limit)
            .await?;
        Ok(Self {
            next: list.next,
            matches: MatchSummary::list(site, list.lines),
            filter: said,
            players,
        })
    }
}

impl Page for MatchesPage {
    type Choice = MatchesChoice;
    const PATH: &str = "/matches";

    /// Reads one page of the matches that the choice leaves.
    async fn read(site: &Site, _: &str, choice: &MatchesChoice) -> Result<Self, WebError> {
        let part = MatchesPart::read(site, choice, false, LISTED).await?;
        Ok(Self {
            nothing: part.why_nothing(site).await?,
            part,
            rulesets: site.rulesets().into_iter().map(|own| own.ruleset).collect(),
            cursor: choice.cursor,
        })
    }

    fn title(&self) -> String {
        "Matches".to_owned()
    }

    fn path(&self) -> String {
        self.address(self.cursor)
    }

    fn description(&self, _: &Site) -> String {
        "All matches with their results and the chances that were predicted.".to_owned()
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        Ok(html! {
            h1 { "Matches" }
            (self.whose(site))
            (self.caused())
            (self.controls(site))
            @match &self.nothing {
                Some(why) => p { (why) },
                None => (matches(site, &self.part.matches, self.value("ruleset").is_none())),
            }
            nav.pages aria-label="Pages of matches" {
                @if self.cursor.is_some() { a href=(site.links.to(&self.address(None))) { "← Latest" } }
                @if self.part.next.is_some() {
                    a rel="next" href=(site.links.to(&self.address(self.part.next))) { "Earlier →" }
                }
            }
        })
    }
}

/// The number of matches on these pages.
const MATCHES: usize = 20;
/// The most rulesets on the page of a map.
const RULESETS: usize = 50;

/// The page of a map.
#[derive(Debug, Serialize)]
pub(crate) struct MapPage {
    map: String,
    /// How even its matches are, by ruleset.
    rulesets: Vec<NamedBalance>,
    /// Whether they are being counted again.
    #[serde(skip)]
    pub(crate) is_counting: bool,
    /// What team 0 is called, if it is the same in all of them.
    #[serde(skip)]
    first_team: String,
    #[serde(skip)]
    matches: Vec<MatchSummary>,
    /// The name as the game sent it.
    #[serde(skip)]
    raw: String,
}

/// The page of a game server.
#[derive(Debug)]
pub(crate) struct ServerPage {
    server: String,
    matches: Vec<MatchSummary>,
    raw: String,
}

/// The latest matches that a filter leaves.
async fn latest(site: &Site, filter: MatchFilter<'_>) -> Result<Vec<MatchSummary>, WebError> {
    let list = site
        .pages()
        .matches()
        .filtered_matches(&filter, MATCHES)
        .await?;
    let lines = list.lines;
    match lines.is_empty() {
        true => Err(WebError::NotFound),
        false => Ok(MatchSummary::list(site, lines)),
    }
}

/// The list of matches, and the way to all of them.
fn list(site: &Site, name: &str, raw: &str, found: &[MatchSummary]) -> Markup {
    let all = format!("/matches?{name}={}", path_part(raw));
    html! {
        h2 { "Latest matches" }
        (matches(site, found, true))
        p { a href=(site.links.to(&all)) { "All its matches" } }
    }
}

impl Page for MapPage {
    type Choice = NoQuery;
    const PATH: &str = "/maps/{name}";

    async fn read(site: &Site, name: &str, _: &NoQuery) -> Result<Self, WebError> {
        let filter = MatchFilter {
            map: Some(name),
            ..MatchFilter::default()
        };
        let matches = latest(site, filter).await?;
        let balance = site.balance();
        let is_counting = balance.is_none();
        let rulesets = balance.unwrap_or_default().on_map(name, RULESETS);
        let title = |of: &RulesetTotals| site.team_names(&of.ruleset).title(0);
        let called: BTreeSet<String> = rulesets.iter().map(title).collect();
        let line = |of: RulesetTotals| {
            let team_0 = title(&of);
            let line = NamedBalance::new(of.ruleset, of.closeness);
            match called.len() {
                0 | 1 => line,
                _ => line.called(team_0),
            }
        };
        Ok(Self {
            map: plain_name(name),
            first_team: match called.first() {
                Some(only) if called.len() == 1 => only.clone(),
                _ => TeamNames::default().title(0),
            },
            rulesets: rulesets.into_iter().map(line).collect(),
            is_counting,
            matches,
            raw: name.to_owned(),
        })
    }

    fn title(&self) -> String {
        format!("Map {0}", self.map)
    }

    fn path(&self) -> String {
        format!("/maps/{}", path_part(&self.raw))
    }

    fn description(&self, _: &Site) -> String {
        format!("The matches on {0}, and how even they are.", self.map)
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        Ok(html! {
            h1 { (self.title()) }
            @if self.is_counting { p { (words::COUNTING) } }
            @if !self.rulesets.is_empty() {
                (balance_table("Game types", "Game type", &self.rulesets, &self.first_team))
                p.note { (words::OF_MAPS) }
            }
            (list(site, "map", &self.raw, &self.matches))
        })
    }
}

impl Page for ServerPage {
    type Choice = NoQuery;
    const PATH: &str = "/servers/{name}";

    async fn read(site: &Site, name: &str, _: &NoQuery) -> Result<Self, WebError> {
        let filter = MatchFilter {
            server: Some(name),
            ..MatchFilter::default()
        };
        Ok(Self {
            server: plain_name(name),
            matches: latest(site, filter).await?,
            raw: name.to_owned(),
        })
    }

    fn title(&self) -> String {
        format!("Server {0}", self.server)
    }

    fn path(&self) -> String {
        format!("/servers/{}", path_part(&self.raw))
    }

    fn description(&self, _: &Site) -> String {
        format!("The latest matches on the server {0}.", self.server)
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        Ok(html! {
            h1 { (self.title()) }
            (list(site, "server", &self.raw, &self.matches))
        })
    }
}
