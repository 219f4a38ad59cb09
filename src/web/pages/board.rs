//! `/rulesets/NAME`: the players of a ruleset by weight, how strong they are, and where among them one player is.

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::{
    lists::{MatchSummary, matches},
    parts::PageTable,
    standing::{BoardLine, part_of_board},
};
use crate::{
    learning::{BoardQuery, BoardRow, Standing},
    model::{Kind, counted},
    web::{
        Site, WebError,
        answer::Page,
        links::path_part,
        plot::{self, Bar},
        present::{
            PresentGame, PresentLimits, identities, names, present, ruleset as ruleset_of, running,
        },
        share::share,
        words,
    },
};

/// The number of players on a page.
const ROWS: i64 = 50;
/// The number of matches below them.
const MATCHES: i64 = 10;
/// The number of players in a frame of another site.
const CARD: usize = 10;
/// The longest search, in bytes.
pub(in crate::web) const SEARCH: usize = 64;
/// The last page that can be asked for.
const PAGES: i64 = 100_000;

/// What a visitor chooses on this page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct BoardChoice {
    kind: Option<String>,
    q: String,
    page: Option<i64>,
    /// Whether those who are away are listed, too.
    away: bool,
}

/// The page of a ruleset: its players by weight, its games and its matches.
#[derive(Debug, Serialize)]
pub(in crate::web) struct Board {
    ruleset: String,
    kind: &'static str,
    search: String,
    page: i64,
    /// The last page, where it is known.
    pages: Option<i64>,
    has_next: bool,
    /// The number of players, also of those without a place.
    players: i64,
    /// The number of those of them who are being placed, and of those who are away.
    placing: i64,
    away: i64,
    /// Whether those who are away are listed, too.
    shows_away: bool,
    rows: Vec<BoardLine>,
    /// How strong the players with a place are; `None` with too few of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    distribution: Option<Distribution>,
    /// The running games of the ruleset.
    now: Vec<PresentGame>,
    matches: Vec<MatchSummary>,
}

impl Board {
    /// The address of another page of this board, below the base path.
    fn address(&self, kind: &str, page: i64) -> String {
        let mut address = format!("/rulesets/{}?kind={kind}", path_part(&self.ruleset));
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

    fn link(&self, site: &Site, kind: &str, page: i64) -> String {
        site.links.to(&self.address(kind, page))
    }
}

impl Page for Board {
    type Choice = BoardChoice;
    const PATH: &str = "/rulesets/{name}";

    /// Reads one page of the players of a ruleset, or of those whom a search finds.
    async fn read(site: &Site, name: &str, choice: &BoardChoice) -> Result<Self, WebError> {
        let page = choice.page.unwrap_or(1).clamp(1, PAGES);
        let mut search = choice.q.trim().to_lowercase();
        search.truncate(search.floor_char_boundary(SEARCH));
        let read = |kind| BoardQuery {
            ruleset: name,
            kind,
            search: &search,
            away: choice.away,
            skip: (page - 1) * ROWS,
            limit: ROWS,
        };
        let wanted = choice.kind.as_deref().and_then(Kind::parse);
        let mut kind = wanted.unwrap_or(Kind::Human);
        let (mut rows, mut size, mut has_next) = part_of_board(site, read(kind)).await?;
        if size.all == 0 {
            let other = if kind == Kind::Human {
                Kind::Bot
            } else {
                Kind::Human
            };
            let (found, count, more) = part_of_board(site, read(other)).await?;
            if count.all == 0 {
                return Err(WebError::NoRuleset);
            }
            if wanted.is_none() {
                (kind, rows, size, has_next) = (other, found, count, more);
            }
        }
        let listed = if choice.away { size.all } else { size.listed };
        let by_place = search.is_empty();
        // Who looks for somebody wants the player alone.
        let (mut lines, mut distribution) = (Vec::new(), None);
        if by_place {
            lines = site
                .pages()
                .matches()
                .latest_finished(Some(name), MATCHES)
                .await?;
            distribution = Distribution::read(site, name, kind).await?;
        }
        let mut games = running(site);
        let playing = identities(site, &games);
        games.retain(|game| ruleset_of(site, game).to_string() == name);
        let line = |row: BoardRow| {
            let plays_now = playing.contains(&row.key);
            let line = BoardLine::new(site, kind, row, size.placed);
            BoardLine { plays_now, ..line }
        };
        Ok(Self {
            ruleset: name.to_owned(),
            kind: kind.as_str(),
            page,
            pages: by_place.then(|| (listed + ROWS - 1) / ROWS),
            has_next,
            players: size.all,
            placing: size.listed - size.placed,
            away: size.all - size.listed,
            shows_away: choice.away,
            rows: rows.into_iter().map(line).collect(),
            distribution,
            now: present(site, &games, PresentLimits::BESIDES).await?,
            matches: MatchSummary::list(site, lines),
            search,
        })
    }

    fn title(&self) -> String {
        self.ruleset.clone()
    }

    fn path(&self) -> String {
        self.address(self.kind, self.page)
    }

    fn description(&self, _: &Site) -> String {
        let first = self.rows.first().filter(|row| row.place == Some(1));
        let first = first.map(|row| format!(" {0} is first.", row.player.plain()));
        format!(
            "The {0} of {1} by strength.{2}",
            counted(self.players - self.away, self.kind),
            self.ruleset,
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
        let previous = (self.page > 1).then(|| self.link(site, self.kind, self.page - 1));
        let next = self
            .has_next
            .then(|| self.link(site, self.kind, self.page + 1));
        Ok(html! {
            h1 { (words::ruleset(&self.ruleset)) }
            p {
                a href=(site.links.balance(&self.ruleset)) { "How even its matches are" }
                @if site.settings.shows_numbers() {
                    " · " a href=(self.regulars(site)) { "Regulars over time" }
                }
            }
            (self.controls(site))
            @if self.rows.is_empty() && self.search.is_empty() {
                p { "Nobody has played lately." }
            } @else if self.rows.is_empty() {
                p { "No such player." }
            } @else {
                (self.table(site, self.rows.len()))
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
            @if let Some(distribution) = &self.distribution { (distribution.body(&self.ruleset, None)?) }
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
            p { a href=(site.links.to(&format!("/matches?ruleset={}", path_part(&self.ruleset)))) { "All its matches" } }
            (share(site, &format!("/rulesets/{}", path_part(&self.ruleset)), false, true))
        })
    }
}

impl Board {
    fn regulars(&self, site: &Site) -> String {
        let ruleset = path_part(&self.ruleset);
        site.links
            .to(&format!("/regulars?ruleset={ruleset}&kind={}", self.kind))
    }

    /// The choice between humans and bots, and the search.
    fn controls(&self, site: &Site) -> Markup {
        let here = |kind: &str| (self.kind == kind).then_some("true");
        html! {
            div.controls {
                nav.tabs aria-label="Kind of player" {
                    a href=(self.link(site, "human", 1)) aria-current=[here("human")] { "Humans" }
                    a href=(self.link(site, "bot", 1)) aria-current=[here("bot")] { "Bots" }
                }
                form.search role="search" aria-label="In this game type" method="get" action=(site.links.ruleset(&self.ruleset)) {
                    input type="hidden" name="kind" value=(self.kind);
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
            let base = format!("/rulesets/{}?kind={}", path_part(&self.ruleset), self.kind);
            let away = if shows_away { "&away=true" } else { "" };
            site.links.to(&format!("{base}{away}"))
        };
        html! {
            @if self.away > 0 && self.search.is_empty() {
                p {
                    @match self.shows_away {
                        true => { a href=(to(false)) { "Hide those who are away" } },
                        false => { a href=(to(true)) { (mark!("Show those who are away, too ({0})", { (self.away) })) } },
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
        PageTable::of("Players", self.rows.iter().take(most))
            .num("Place", BoardLine::place_or_why)
            .only_if(site.settings.shows_numbers())
            .name("Player", player)
            .num("Weight", |row| words::or_dash(row.measure()))
            .only_if(site.settings.shows_numbers())
            .num("Better than", |row| words::or_dash(row.better_than()))
            .text("Division", |row| words::or_dash(row.division.clone()))
            .only_if(self.rows.iter().any(|row| row.division.is_some()))
            .num("Games", |row| row.games)
            .wide_text("Last seen", |row| words::day(row.last_seen))
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
