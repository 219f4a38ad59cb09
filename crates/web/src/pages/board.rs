//! `/rulesets/NAME`: the players of a ruleset by weight, and how strong they are.

use maud::{Markup, html};
use serde::Deserialize;

use crate::{
    Site, WebError,
    answer::Page,
    learning::{BoardLine, BoardQuery},
    links::PlayerLink as _,
    links::path_part,
    model::{Kind, text::counted, weight::Standing},
    pages::standing::LineWords,
    pages::{
        live::{PresentGame, PresentLimits, names, present, ruleset as ruleset_of, running},
        parts::{MatchSummary, PageTable, kind, matches},
        standing::{BoardPart, SEARCH},
    },
    share::share,
    words,
};

/// The number of players on a page.
const ROWS: i64 = 50;
/// The number of matches below them.
const MATCHES: usize = 10;
/// The number of players in a frame of another site.
const CARD: usize = 10;
/// The last page that can be asked for.
const PAGES: i64 = 100_000;

/// What a visitor chooses on this page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct BoardChoice {
    #[serde(deserialize_with = "kind")]
    kind: Option<Kind>,
    q: String,
    page: Option<i64>,
    /// Whether those who are away are listed, too.
    away: bool,
}

/// The page of a ruleset: its players by weight, its games and its matches.
#[derive(Debug)]
pub(crate) struct Board {
    part: BoardPart,
    search: String,
    page: i64,
    /// The last page, where it is known.
    pages: Option<i64>,
    /// Whether those who are away are listed, too.
    shows_away: bool,
    /// Whether both humans and bots have played.
    has_both: bool,
    /// The running games of the ruleset.
    now: Vec<PresentGame>,
    matches: Vec<MatchSummary>,
}

impl Board {
    /// The address of another page of this board, below the base path.
    fn address(&self, kind: Kind, page: i64) -> String {
        let mut address = format!("/rulesets/{}?kind={kind}", path_part(&self.part.ruleset));
        if !self.search.is_empty() {
            address.push_str(&format!("&q={}", path_part(&self.search)));
        }
        if self.shows_away {
            address.push_str("&away=true");
        }
        if page > 1 {
            address.push_str(&format!("&page={page}"));
        }
        address
    }

    fn link(&self, site: &Site, kind: Kind, page: i64) -> String {
        site.links.to(&self.address(kind, page))
    }
}

impl Page for Board {
    type Choice = BoardChoice;
    const PATH: &str = "/rulesets/{name}";

    /// Reads one page of the players of a ruleset, or of those whom a search finds.
    async fn read(site: &Site, name: &str, choice: &BoardChoice) -> Result<Self, WebError> {
        let page = choice.page.unwrap_or(1).clamp(1, PAGES);
        let mut search = choice.q.trim().to_owned();
        search.truncate(search.floor_char_boundary(SEARCH));
        let read = |kind| BoardQuery {
            ruleset: name,
            kind,
            search: &search,
            away: choice.away,
            skip: (page - 1) * ROWS,
            limit: ROWS,
        };
        let mut part = BoardPart::read(site, read(choice.kind.unwrap_or(Kind::Human))).await?;
        let sizes = site.learning().board_sizes(&[name.to_owned()]).await?;
        let [humans, bots] = sizes.first().copied().unwrap_or_default();
        if humans.all + bots.all == 0 {
            return Err(WebError::NoRuleset);
        }
        if part.players == 0 && choice.kind.is_none() {
            part = BoardPart::read(site, read(Kind::Bot)).await?;
        }
        if part.rows.is_empty() && page > 1 {
            return Err(WebError::NotFound);
        }
        let listed = match choice.away {
            true => part.players,
            false => part.players - part.away,
        };
        let by_place = search.is_empty();
        // Who looks for somebody wants the player alone.
        let matches = site.pages().matches();
        let lines = match by_place {
            true => matches.latest_finished(Some(name), MATCHES).await?,
            false => Vec::new(),
        };
        let mut games = running(site);
        games.retain(|game| ruleset_of(site, game).to_string() == name);
        Ok(Self {
            part,
            page,
            pages: by_place.then(|| (listed + ROWS - 1) / ROWS),
            shows_away: choice.away,
            has_both: humans.all > 0 && bots.all > 0,
            now: present(site, &games, PresentLimits::BESIDES).await?,
            matches: MatchSummary::list(site, lines),
            search,
        })
    }

    fn title(&self) -> String {
        self.part.ruleset.clone()
    }

    fn path(&self) -> String {
        self.address(self.part.kind, self.page)
    }

    fn description(&self, _: &Site) -> String {
        let first = self.part.rows.first().filter(|row| row.place == Some(1));
        let first = first.map(|row| format!(" {0} is first.", row.player.plain()));
        format!(
            "The {0} of {1} by strength.{2}",
            counted(self.part.players - self.part.away, self.part.kind.as_str()),
            self.part.ruleset,
            first.unwrap_or_default()
        )
    }

    fn has_feed(&self) -> bool {
        true
    }

    fn card(&self, site: &Site) -> Option<Markup> {
        Some(html! { (self.table(site, CARD)) })
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        let previous = (self.page > 1).then(|| self.link(site, self.part.kind, self.page - 1));
        let next = self.part.next;
        let next = next.map(|_| self.link(site, self.part.kind, self.page + 1));
        Ok(html! {
            h1 { (words::ruleset(&self.part.ruleset)) }
            p {
                a href=(site.links.balance(&self.part.ruleset)) { "How even its matches are" }
                @if site.settings.shows_numbers() && self.part.players > 0 {
                    " · " a href=(self.regulars(site)) { "Regulars over time" }
                }
            }
            (self.controls(site))
            @if self.part.rows.is_empty() && self.search.is_empty() {
                p { "Nobody has played lately." }
            } @else if self.part.rows.is_empty() {
                p { "No such player." }
            } @else {
                (self.table(site, self.part.rows.len()))
            }
            nav.pages aria-label="Pages of players" {
                @if let Some(link) = &previous { a rel="prev" href=(link) { "← Previous" } }
                span {
                    (mark!("Page {0}", { (self.page) }))
                    @if let Some(pages) = self.pages.filter(|pages| *pages > 0) { (mark!(" of {0}", { (pages) })) }
                }
                @if let Some(link) = &next { a rel="next" href=(link) { "Next →" } }
            }
            (self.order(site))
            @if let Some(distribution) = &self.part.distribution { (distribution.body(&self.part.ruleset, None)?) }
            @if site.settings.shows_numbers() {
                p.note {
                    "A weight is between 0 and 100; 50 is the average of those who play here. \
         The number after ± is how uncertain it is. In a game in which people hardly differ, all weights are near 50." " " "“Better than” is the share of the others with a place who have a lower one."
                }
            }
            @if !self.now.is_empty() {
                h2 { a href=(site.links.to("/live")) { "Playing now" } }
                @for game in &self.now {
                    p { (game.server_or_dash()) ", " (game.score()) ": " (names(site, game.players())) }
                }
            }
            @if self.search.is_empty() {
                h2 { "Latest matches" }
                (matches(site, &self.matches, false))
            }
            p { a href=(site.links.to(&format!("/matches?ruleset={}", path_part(&self.part.ruleset)))) { "All its matches" } }
            (share(site, &format!("/rulesets/{}", path_part(&self.part.ruleset)), false, true))
        })
    }
}

impl Board {
    fn regulars(&self, site: &Site) -> String {
        let ruleset = path_part(&self.part.ruleset);
        site.links.to(&format!(
            "/regulars?ruleset={ruleset}&kind={}",
            self.part.kind
        ))
    }

    /// The choice between humans and bots, and the search.
    fn controls(&self, site: &Site) -> Markup {
        let here = |kind: Kind| (self.part.kind == kind).then_some("true");
        html! {
            div.controls {
                @if self.has_both {
                    nav.tabs aria-label="Kind of player" {
                        a href=(self.link(site, Kind::Human, 1)) aria-current=[here(Kind::Human)] { "Humans" }
                        a href=(self.link(site, Kind::Bot, 1)) aria-current=[here(Kind::Bot)] { "Bots" }
                    }
                }
                form.search role="search" aria-label="In this game type" method="get" action=(site.links.ruleset(&self.part.ruleset)) {
                    input type="hidden" name="kind" value=(self.part.kind);
                    label for="q" { "Search a name" }
                    input #q type="search" name="q" value=(self.search) maxlength=(SEARCH);
                    button type="submit" { "Search" }
                }
            }
        }
    }

    /// How the players are ordered, and the way to those who are folded away.
    fn order(&self, site: &Site) -> Markup {
        let to = |shows_away| {
            let base = format!(
                "/rulesets/{}?kind={}",
                path_part(&self.part.ruleset),
                self.part.kind
            );
            let away = if shows_away { "&away=true" } else { "" };
            site.links.to(&format!("{base}{away}"))
        };
        html! {
            @if self.part.away > 0 && self.search.is_empty() {
                p {
                    @match self.shows_away {
                        true => { a href=(to(false)) { "Hide those who are away" } },
                        false => { a href=(to(true)) { (mark!("Show those who are away, too ({0})", { (self.part.away) })) } },
                    }
                }
            }
            p.note {
                (mark!("The order is that of the weight minus its uncertainty: what a player is \
         worth at least. Who has played fewer than {0} matches, or has an uncertain weight, is being placed; who had \
         not played for {1} days when the latest match was played is away.",
                    { (Standing::MATCHES_TO_PLACE) },
                    { (Standing::DAYS_AWAY) }
                ))
            }
        }
    }

    /// A table of the first of the players.
    fn table<'a>(&'a self, site: &'a Site, most: usize) -> PageTable<'a, BoardLine> {
        let player = |row: &BoardLine| {
            html! {
                (row.player.link(&site.links))
                @if row.plays_now { " " span.tag { "plays now" } }
            }
        };
        PageTable::of("Players", self.part.rows.iter().take(most))
            .num("Place", LineWords::place_or_why)
            .only_if(site.settings.shows_numbers())
            .name("Player", player)
            .num("Weight", |row| words::or_dash(row.measure()))
            .only_if(site.settings.shows_numbers())
            .num("Better than", |row| words::or_dash(row.better_than()))
            .text("Division", |row| words::or_dash(row.division.clone()))
            .only_if(self.part.rows.iter().any(|row| row.division.is_some()))
            .num("Games", |row| row.games)
            .wide_text("Last seen", |row| words::day(row.last_seen))
    }
}
