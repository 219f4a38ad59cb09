//! `/rulesets/NAME`: the players of a ruleset by weight.

mod parts;

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::{
    board_line::{BoardLine, part_of_board},
    distribution::Distribution,
    lists::{MatchSummary, matches},
};
use crate::{
    learning::{BoardQuery, BoardRow},
    model::{Kind, counted},
    web::{
        Site,
        answer::Page,
        encode::path_part,
        error::WebError,
        present::{PresentGame, Room, identities, names, present, ruleset as ruleset_of, running},
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
            now: present(site, &games, Room::BESIDES).await?,
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
        let first = first.map(|row| format!(text!(board.is_first), row.player.plain()));
        format!(
            text!(board.the_of_by_strength),
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
                a href=(site.links.balance(&self.ruleset)) { (text!(board.how_even_its_matches_are)) }
                @if site.settings.shows_numbers() {
                    " · " a href=(self.regulars(site)) { (text!(board.regulars_over_time)) }
                }
            }
            (self.controls(site))
            @if self.rows.is_empty() && self.search.is_empty() {
                p { (text!(board.nobody_has_played_lately)) }
            } @else if self.rows.is_empty() {
                p { (text!(board.no_such_player)) }
            } @else {
                (self.table(site, self.rows.len()))
            }
            nav.pages aria-label=(text!(board.pages_of_players)) {
                @if let Some(link) = &previous { a rel="prev" href=(link) { (text!(board.previous)) } }
                span {
                    (mark!(board.page, { (self.page) }))
                    @if let Some(pages) = self.pages.filter(|pages| *pages > 0) { (mark!(board.of, { (pages) })) }
                }
                @if let Some(link) = &next { a rel="next" href=(link) { (text!(board.next)) } }
            }
            (self.order(site))
            @if let Some(distribution) = &self.distribution { (distribution.body(&self.ruleset, None)?) }
            @if site.settings.shows_numbers() {
                p.note {
                    (text!(board.a_weight_is_between_0_and_100_a)) " " (text!(board.better_than_is))
                }
            }
            @if !self.now.is_empty() {
                h2 { a href=(site.links.to("/live")) { (text!(common.playing_now)) } }
                @for game in &self.now {
                    p { (game.server_or_dash()) ", " (game.score()) ": " (names(site, game.players())) }
                }
            }
            @if self.search.is_empty() {
                h2 { (text!(common.latest_matches)) }
                (matches(site, &self.matches, false))
            }
            p { a href=(site.links.to(&format!("/matches?ruleset={}", path_part(&self.ruleset)))) { (text!(common.all_its_matches)) } }
            (share(site, &format!("/rulesets/{}", path_part(&self.ruleset)), false, true))
        })
    }
}
