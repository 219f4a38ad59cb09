//! With whom a player wins, and against whom: `/versus` for two players, and tables for one.
//!
//! Few players are listed: each table says how many of how many.

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use crate::{
    Site, WebError,
    answer::Page,
    links::PlayerLink as _,
    links::path_part,
    model::{Timestamp, text::counted},
    pages::{
        parts::{MatchSummary, PageTable, matches},
        player::KnownPlayer,
    },
    store::{Companion, GameOfPerson, Player, SharedGame},
    words::{self, known},
};

/// The most matches that are counted: the latest.
const COUNTED: i64 = 1_000;
/// The number of matches that are listed.
const LISTED: usize = 20;

/// Two players, by their handles or identities.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct VersusChoice {
    a: String,
    b: String,
}

/// The matches of two players.
#[derive(Debug, Serialize)]
pub(crate) struct VersusPage {
    players: [Player; 2],
    /// On the same team, and on different ones.
    together: SharedLine,
    against: SharedLine,
    #[serde(skip)]
    matches: Vec<MatchSummary>,
}

/// How the first player did in some matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct SharedLine {
    games: usize,
    /// How many the first player won; a draw is half a win.
    won: f64,
    /// How many were expected of those with a forecast, and how many of these the first player won.
    expected: f64,
    won_of_expected: f64,
    predicted: usize,
}

impl SharedLine {
    fn of<'a>(games: impl Iterator<Item = &'a SharedGame>) -> Self {
        games.fold(Self::default(), |sum, game| {
            let expected = game.expected();
            let result = game.result;
            Self {
                games: sum.games + 1,
                won: sum.won + result,
                expected: sum.expected + expected.unwrap_or(0.0),
                won_of_expected: sum.won_of_expected + expected.map_or(0.0, |_| result),
                predicted: sum.predicted + usize::from(expected.is_some()),
            }
        })
    }

    /// The wins above those that were expected.
    fn above(&self) -> Option<f64> {
        (self.predicted > 0).then_some(self.won_of_expected - self.expected)
    }
}

impl VersusPage {
    fn handle(&self, at: usize) -> &str {
        self.players[at].handle.as_deref().unwrap_or_default()
    }

    fn table<'a>(
        &'a self,
        site: &'a Site,
        rows: &'a [(&'static str, SharedLine)],
    ) -> PageTable<'a, (&'static str, SharedLine)> {
        let to = move |word: &str| {
            let (own, other) = (path_part(self.handle(0)), path_part(self.handle(1)));
            site.links
                .to(&format!("/matches?player={own}&{word}={other}"))
        };
        PageTable::of("Matches of both", rows)
            .name("Teams", |(name, _)| *name)
            .num("Matches", move |(name, line)| {
                let word = if *name == TOGETHER { "with" } else { "against" };
                html! { a href=(to(word)) { (line.games) } }
            })
            .num(
                &format!("Won by {0}", self.players[0].plain()),
                |(_, line)| words::number(line.won),
            )
            .num("Above expected", |(_, line)| {
                known(line.above(), words::signed)
            })
            .only_if(site.settings.shows_numbers())
    }
}

/// The name of the line of matches on the same team.
const TOGETHER: &str = "the same";

impl Page for VersusPage {
    type Choice = VersusChoice;
    const PATH: &str = "/versus";

    /// Reads the matches of both players.
    async fn read(site: &Site, _: &str, choice: &VersusChoice) -> Result<Self, WebError> {
        let own = KnownPlayer::read(site, &choice.a, None).await?;
        let other = KnownPlayer::read(site, &choice.b, None).await?;
        let (one, two) = (own.person.person, other.person.person);
        let shared = site
            .pages()
            .matches()
            .shared_games(one, two, COUNTED)
            .await?;
        let line =
            |together| SharedLine::of(shared.iter().filter(|game| game.together == together));
        let latest: Vec<i64> = shared.iter().take(LISTED).map(|game| game.id).collect();
        let lines = site.pages().matches().match_lines(&latest).await?;
        Ok(Self {
            together: line(true),
            against: line(false),
            matches: MatchSummary::list(site, lines),
            players: [own.player, other.player],
        })
    }

    fn title(&self) -> String {
        let [one, two] = &self.players;
        format!("{0} and {1}", one.plain(), two.plain())
    }

    fn path(&self) -> String {
        let (own, other) = (path_part(self.handle(0)), path_part(self.handle(1)));
        format!("/versus?a={own}&b={other}")
    }

    fn description(&self, _: &Site) -> String {
        format!(
            "{0}: {1} matches on one team, {2} against each other.",
            self.title(),
            self.together.games,
            self.against.games
        )
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        let [one, two] = &self.players;
        let rows = [(TOGETHER, self.together), ("different ones", self.against)];
        Ok(html! {
            h1 { (mark!("{0} and {1}", { (one.link(&site.links)) }, { (two.link(&site.links)) })) }
            (self.table(site, &rows))
            p.note {
                (mark!("Rated matches with a result, the last {0}; a draw is half a win. \
         “Above expected” is the wins minus the sum of the forecasts for the team.", { (COUNTED) }))
            }
            h2 { "Latest matches of both" }
            (matches(site, &self.matches, true))
        })
    }
}

/// Over how many of the latest matches companions are counted.
const GAMES: usize = 200;
/// How many of those with most matches are looked at, on the own team and on others.
const LOOKED_AT: usize = 20;
/// How many are listed in each table.
const COMPANIONS: usize = 5;
/// The fewest matches that two players must have been in for a share of wins.
const FEWEST: i64 = 3;

/// Those with whom and against whom a player won most, the highest share first.
#[derive(Debug, Serialize)]
pub(super) struct CompanionTables {
    with: Vec<CompanionLine>,
    /// How many players were on the own team in enough matches.
    with_of: usize,
    against: Vec<CompanionLine>,
    /// How many players were on another team in enough matches.
    against_of: usize,
}

#[derive(Debug, Serialize)]
struct CompanionLine {
    player: Player,
    games: i64,
    /// The share of these matches that the player of this page won; a draw is half a win.
    won: f64,
}

/// Reads the companions in the latest of these games.
pub(super) async fn companions(
    site: &Site,
    person: i64,
    games: &[GameOfPerson],
) -> Result<CompanionTables, WebError> {
    let last = games.get(GAMES - 1).or(games.last());
    let since = last.map_or(Timestamp(i64::MAX), |game| game.ended);
    let pages = site.pages();
    let found = (pages.matches().companions(person, since, FEWEST, LOOKED_AT)).await?;
    let (with, against) =
        (found.list.into_iter()).partition::<Vec<Companion>, _>(|companion| companion.together);
    Ok(CompanionTables {
        with: lines(with),
        with_of: found.together,
        against: lines(against),
        against_of: found.apart,
    })
}

fn lines(list: Vec<Companion>) -> Vec<CompanionLine> {
    let line = |companion: Companion| CompanionLine {
        won: companion.won / companion.games.max(1) as f64,
        games: companion.games,
        player: Player::new(companion.handle, Some(companion.name), companion.kind),
    };
    let mut lines: Vec<CompanionLine> = list.into_iter().map(line).collect();
    lines.sort_by(|a, b| b.won.total_cmp(&a.won).then(b.games.cmp(&a.games)));
    lines.truncate(COMPANIONS);
    lines
}

impl CompanionTables {
    /// The tables; none if no other player was in enough of the matches.
    pub(super) fn body(&self, site: &Site, own: &str) -> Markup {
        html! {
            @if !self.with.is_empty() || !self.against.is_empty() {
                h2 { "Wins with and against" }
                div.columns {
                    (table(site, own, "On the same team", (&self.with, self.with_of)))
                    (table(site, own, "On the other team", (&self.against, self.against_of)))
                }
                p.note {
                    (mark!("Players in at least {0} of the last {1} matches. Of the {2} who \
         were in most of them, each table lists the {3} with whom, or against whom, this page's player won the \
         largest share; a draw is half a win.",
                        { (FEWEST) },
                        { (GAMES) },
                        { (LOOKED_AT) },
                        { (COMPANIONS) }
                    ))
                }
            }
        }
    }
}

/// A table that lists some of `of` players; the numbers of games lead to the matches of both.
fn table(site: &Site, own: &str, title: &str, (list, of): (&[CompanionLine], usize)) -> Markup {
    let both = |row: &CompanionLine| {
        let other = row.player.handle.as_deref().map(path_part)?;
        Some(
            site.links
                .to(&format!("/versus?a={}&b={other}", path_part(own))),
        )
    };
    html! {
        section {
            h3 { (title) }
            @if list.is_empty() { p { "Nobody yet." } } @else {
                p { (mark!("{0} of {1}", { (list.len()) }, { (counted(of as u64, "player")) })) }
                (PageTable::of(title, list)
                    .name("Player", |row| row.player.link(&site.links))
                    .num("Won", |row| words::percent(row.won))
                    .num("Games", |row| {
                        html! {
                            @match both(row) {
                                Some(link) => a href=(link) { (row.games) },
                                None => (row.games),
                            }
                        }
                    }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wins_stand_beside_those_that_were_expected() {
        let game = |team, result, forecast| SharedGame {
            id: 1,
            together: true,
            team: Some(team),
            result,
            forecast,
        };
        let games = [
            game(0, 1.0, Some(0.75)),
            game(1, 0.5, Some(0.5)),
            game(0, 1.0, None),
        ];
        let line = SharedLine::of(games.iter());
        assert_eq!((line.games, line.won, line.predicted), (3, 2.5, 2));
        assert_eq!(line.above(), Some(0.25));
        assert_eq!(SharedLine::default().above(), None);
    }
}
