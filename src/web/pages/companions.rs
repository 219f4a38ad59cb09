//! With whom a player wins, and against whom. Few players are listed: each table says how many of how many.

use maud::{Markup, html};
use serde::Serialize;

use super::table::Table;
use crate::{
    model::{Timestamp, counted},
    store::{Companion, GameOfPerson},
    web::{Site, encode::path_part, error::WebError, name::Player, words},
};

/// Over how many of the latest matches companions are counted.
const GAMES: usize = 200;
/// How many of those with most matches are looked at, on the own team and on others.
const LOOKED_AT: usize = 20;
/// How many are listed in each table.
const LISTED: usize = 5;
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
    lines.truncate(LISTED);
    lines
}

impl CompanionTables {
    /// The tables; none if no other player was in enough of the matches.
    pub(super) fn body(&self, site: &Site, own: &str) -> Markup {
        html! {
            @if !self.with.is_empty() || !self.against.is_empty() {
                h2 { (text!(companions.wins_with_and_against)) }
                div.columns {
                    (table(site, own, text!(companions.on_the_same_team), (&self.with, self.with_of)))
                    (table(site, own, text!(companions.on_the_other_team), (&self.against, self.against_of)))
                }
                p.note {
                    (mark!(companions.players_in_at_least_of_the_last,
                        { (FEWEST) },
                        { (GAMES) },
                        { (LOOKED_AT) },
                        { (LISTED) }
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
            @if list.is_empty() { p { (text!(companions.nobody_yet)) } } @else {
                p { (mark!(common.n_of_all, { (list.len()) }, { (counted(of as u64, "player")) })) }
                (Table::of(title, list)
                    .name(text!(common.player), |row| row.player.link(&site.links))
                    .num(text!(common.won), |row| words::percent(row.won))
                    .num(text!(common.games), |row| {
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
