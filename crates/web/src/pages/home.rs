//! Where a visitor begins: `/` with the rulesets and the latest matches, and `/search` for players and rulesets whose
//! names contain a text.

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use crate::{
    Site, WebError,
    answer::{NoQuery, Page},
    chances::{OF_DECIDED, OF_FORECAST},
    learning::{BoardSize, FoundPerson, MOST_FOUND},
    links::PlayerLink as _,
    links::path_part,
    model::{
        Timestamp,
        names::{folded, plain_name},
        text::counted,
    },
    pages::{
        live::{PresentGame, PresentLimits, names, present, running},
        parts::{MatchSummary, PageTable, matches},
        standing::SEARCH,
    },
    rating::history::RulesetTotals,
    site::RULESETS,
    store::as_text,
    words::{self, known, percent, tenths},
};

/// The number of matches on the page.
const MATCHES: usize = 20;
/// The fewest rated matches of a ruleset that is listed at once: of fewer, no share means much.
const FEWEST: i64 = 10;

/// The home page: rulesets, running games and the latest matches.
#[derive(Debug)]
pub(crate) struct Home {
    rulesets: Vec<RulesetSummary>,
    /// Whether they are being counted again.
    is_counting: bool,
    /// The running games with most humans.
    now: Vec<PresentGame>,
    matches: Vec<MatchSummary>,
}

/// A ruleset in the list.
#[derive(Debug, Serialize)]
pub(crate) struct RulesetSummary {
    name: String,
    rated_matches: i64,
    humans: i64,
    bots: i64,
    /// The mean difference between the highest and the lowest score; `None` if no scores were reported.
    mean_gap: Option<f64>,
    /// The share of its matches that were draws.
    draws: Option<f64>,
    /// The share that the favourite of the forecast won, of the matches that a team won.
    favourite_won: Option<f64>,
    #[serde(serialize_with = "as_text")]
    last: Timestamp,
}

impl RulesetSummary {
    /// The rulesets with rated matches, those with most of them first; `None` while they are counted again.
    pub(crate) async fn all(site: &Site) -> Result<Option<Vec<Self>>, WebError> {
        let Some(balance) = site.balance() else {
            return Ok(None);
        };
        let rulesets = balance.rulesets(RULESETS);
        let names: Vec<String> = rulesets.iter().map(|own| own.ruleset.clone()).collect();
        let sizes = site.learning().board_sizes(&names).await?;
        let rulesets = rulesets.into_iter().zip(sizes);
        Ok(Some(
            rulesets.map(|(own, sizes)| Self::new(own, sizes)).collect(),
        ))
    }

    /// Whether its name contains this text.
    pub(crate) fn is_called(&self, text: &str) -> bool {
        folded(&self.name).contains(&folded(text))
    }

    /// That of a ruleset with leaderboards of these sizes.
    fn new(own: RulesetTotals, [humans, bots]: [BoardSize; 2]) -> Self {
        let of = own.closeness;
        Self {
            name: own.ruleset,
            rated_matches: of.rated,
            humans: humans.all,
            bots: bots.all,
            mean_gap: of.mean_gap(),
            draws: of.draw_share(),
            favourite_won: of.favourite_share(),
            last: own.last,
        }
    }
}

impl Page for Home {
    type Choice = NoQuery;
    const PATH: &str = "/";

    /// Reads what the home page shows.
    async fn read(site: &Site, _: &str, _: &NoQuery) -> Result<Self, WebError> {
        let rulesets = RulesetSummary::all(site).await?;
        let lines = site
            .pages()
            .matches()
            .latest_finished(None, MATCHES)
            .await?;
        let now = present(site, &running(site), PresentLimits::BESIDES).await?;
        Ok(Self {
            is_counting: rulesets.is_none(),
            rulesets: rulesets.unwrap_or_default(),
            now,
            matches: MatchSummary::list(site, lines),
        })
    }

    fn title(&self) -> String {
        "Game types and matches".to_owned()
    }

    fn description(&self, site: &Site) -> String {
        let (rulesets, now) = (self.rulesets.len(), self.now.len());
        let name = plain_name(&site.settings.title);
        format!(
            "{name}: {0} with leaderboards, and how even their matches are. Running \
         now: {1}.",
            counted(rulesets, "game type"),
            counted(now, "game"),
            name = name
        )
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        Ok(html! {
            h1 { "Game types" }
            @if self.is_counting {
                p { (words::COUNTING) }
            } @else if self.rulesets.is_empty() {
                p { "No match has been rated yet. Weights are learned from finished \
         matches." }
            } @else {
                (self.lists(site))
                p.note {
                    (mark!("The difference is that between the highest and the lowest score of a \
         match. The favourite is the team that was more likely to win by the forecast: the closer to 50\u{a0}% it won, of \
         the matches that a team won, the more even the teams were. {0}", { (OF_FORECAST) }))
                }
            }
            @if !self.now.is_empty() {
                h2 { a href=(site.links.to("/live")) { "Playing now" } }
                (games(site, &self.now))
            }
            h2 { "Latest matches" }
            (matches(site, &self.matches, true))
            p { a href=(site.links.to("/matches")) { "All matches" } }
        })
    }
}

impl Home {
    /// The rulesets; those with few matches are folded away, unless there are no others.
    fn lists(&self, site: &Site) -> Markup {
        let lines = self.rulesets.iter();
        let (many, few) = lines.partition::<Vec<_>, _>(|line| line.rated_matches >= FEWEST);
        html! {
            @if many.is_empty() { (rulesets(site, &few)) } @else {
                (rulesets(site, &many))
                @if !few.is_empty() {
                    details {
                        summary { (mark!("{0} with fewer than {1} matches", { (counted(few.len(), "game type")) }, { (FEWEST) })) }
                        (rulesets(site, &few))
                    }
                }
            }
        }
    }
}

fn games<'a>(site: &'a Site, list: &'a [PresentGame]) -> PageTable<'a, PresentGame> {
    let players = |game: &PresentGame| match game.players().count() {
        0 => html! { (game.humans + game.bots) },
        _ => names(site, game.players()),
    };
    PageTable::of("Playing now", list)
        .name("Server", PresentGame::server_or_dash)
        .wide_text("Game type", |game| words::ruleset(&game.ruleset))
        .wide_text("Map", |game| words::or_dash(game.map.clone()))
        .num("Score", PresentGame::score)
        .text("Players", players)
}

/// A table of rulesets, without the columns that have nothing to say about any of them.
fn rulesets<'a>(site: &'a Site, list: &[&'a RulesetSummary]) -> PageTable<'a, RulesetSummary> {
    let any = |has: fn(&RulesetSummary) -> bool| list.iter().any(|line| has(line));
    PageTable::of("Game types", list.iter().copied())
        .name("Game type", |line| site.links.to_ruleset(&line.name))
        .num("Matches", |line| line.rated_matches)
        .wide_num("Humans", |line| line.humans)
        .only_if(any(|line| line.humans > 0))
        .wide_num("Bots", |line| line.bots)
        .only_if(any(|line| line.bots > 0))
        .num("Mean difference", |line| known(line.mean_gap, tenths))
        .only_if(any(|line| line.mean_gap.is_some()))
        .num("Favourite won", |line| known(line.favourite_won, percent))
        .explained(OF_DECIDED)
        .only_if(any(|line| line.favourite_won.is_some()))
        .wide_num("Draws", |line| known(line.draws, percent))
        .only_if(any(|line| line.draws.is_some_and(|share| share > 0.0)))
        .wide_text("Last match", |line| words::time(line.last))
}

/// The most players that are listed.
const LISTED: usize = 50;

/// What a visitor searches.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct SearchChoice {
    q: String,
}

/// What a search has found in all rulesets.
#[derive(Debug)]
pub(crate) struct SearchPage {
    search: String,
    players: Vec<FoundPerson>,
    rulesets: Vec<String>,
}

impl Page for SearchPage {
    type Choice = SearchChoice;
    const PATH: &str = "/search";

    /// Searches the names. A part of an identity finds nobody: it would tell whose it is.
    async fn read(site: &Site, _: &str, choice: &SearchChoice) -> Result<Self, WebError> {
        let mut search = choice.q.trim().to_owned();
        search.truncate(search.floor_char_boundary(SEARCH));
        let (mut players, mut rulesets) = (Vec::new(), Vec::new());
        if !search.is_empty() {
            players = site
                .learning()
                .find_persons(&search, None, MOST_FOUND)
                .await?;
            let (all, part) = (site.rulesets().into_iter(), folded(&search));
            rulesets = all
                .map(|own| own.ruleset)
                .filter(|name| folded(name).contains(&part))
                .collect();
        }
        Ok(Self {
            players,
            rulesets,
            search,
        })
    }

    fn title(&self) -> String {
        "Search".to_owned()
    }

    fn path(&self) -> String {
        format!("/search?q={}", path_part(&self.search))
    }

    fn description(&self, _: &Site) -> String {
        "Players and game types by a part of their names.".to_owned()
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        Ok(html! {
            h1 { "Search" }
            @if self.search.is_empty() { p { "Type a part of a name above." } }
            @else if self.players.is_empty() && self.rulesets.is_empty() {
                p { (mark!("No player and no game type has “{0}” in the name.", { (self.search) })) }
            }
            @if !self.players.is_empty() {
                h2 {
                    (counted(self.players.len(), "player"))
                    @if self.players.len() >= MOST_FOUND { " and more" }
                }
                (PageTable::of("Players", self.players.iter().take(LISTED))
                    .name("Player", |row| row.player.link(&site.links))
                    .num("Games", |row| row.games)
                    .text("Mostly", |row| html! { @if let Some(name) = &row.ruleset { (site.links.to_ruleset(name)) } })
                    .wide_text("Last seen", |row| words::or_dash(row.last_seen.map(words::day))))
                @if self.players.len() > LISTED {
                    p.note {
                        (mark!("The {0} with most games are listed. A longer part of the name finds fewer.", { (LISTED) }))
                    }
                }
            }
            @if !self.rulesets.is_empty() {
                h2 { (counted(self.rulesets.len(), "game type")) }
                ul { @for name in &self.rulesets { li { (site.links.to_ruleset(name)) } } }
            }
        })
    }
}
