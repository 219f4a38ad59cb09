//! What other sites show of a page: its badge, its feed and its frame.
//!
//! - `/players/ID.svg`: a player's standing as a picture of one line, for forums and profiles.
//! - The Atom feeds of matches: of all, of a ruleset, and of a player.

use std::fmt::Write;

use axum::{extract::State, http::HeaderMap, response::Response};
use maud::{Markup, html};

use super::{
    Site, WebError,
    answer::{Form, fresh, refuse},
    links::{without_controls, xml},
    pages::{KnownPlayer, MatchSummary, PlayerStanding},
};
use crate::{
    model::{Kind, Timestamp, names::plain_name, text::counted},
    store::{GameOfPerson, Player},
};

/// The ways to show what a page is about elsewhere; `path` is that of the page.
pub(super) fn share(site: &Site, path: &str, has_badge: bool, has_feed: bool) -> Markup {
    let whole = |path: &str| format!("{}{}", site.configured_origin(), site.links.to(path));
    let (page, embed) = (site.links.to(path), whole(&format!("/embed{path}")));
    html! {
        details {
            summary { "Share and embed" }
            ul {
                @if has_badge { li { (mark!("{0}, a picture of one line", { a href=(format!("{page}.svg")) { "Badge" } })) } }
                @if has_feed { li { a href=(format!("{page}.atom")) { "Feed of matches" } } }
                li {
                    (mark!("{0} for another page: {1}",
                        { a href=(site.links.to(&format!("/embed{path}"))) { "Frame" } },
                        { code { "<iframe src=\"" (embed) "\" width=\"400\" height=\"300\"></iframe>" } }
                    ))
                }
            }
        }
    }
}

/// About the width of a character, and the room beside a text, in pixels.
const CHARACTER: usize = 7;
const BESIDE: usize = 8;
/// The most characters of a name, and of what stands beside it.
const LONGEST: usize = 40;

/// The badge of the player with this handle or identity: the standing under a ruleset, or that with most matches.
pub(super) async fn of_player(
    site: &Site,
    text: &str,
    kind: Option<Kind>,
    ruleset: Option<&str>,
) -> Result<String, WebError> {
    let known = KnownPlayer::read(site, text, kind).await?;
    let mut standings = known.standings.into_iter();
    let line = match ruleset {
        Some(name) => standings.find(|line| line.ruleset == name),
        None => standings.next(),
    };
    let line = line.ok_or(WebError::NoRuleset)?;
    let standing = PlayerStanding::new(site, line);
    Ok(badge(known.player.plain(), &standing.in_short()).into_string())
}

/// Two texts beside each other. The widths are guesses: the browser fits each text into its part.
fn badge(name: &str, standing: &str) -> Markup {
    let short = |text: &str| -> String { without_controls(text).chars().take(LONGEST).collect() };
    let (name, standing) = (short(name), short(standing));
    let width = |text: &str| CHARACTER * text.chars().count().max(1);
    let (left, right) = (width(&name) + 2 * BESIDE, width(&standing) + 2 * BESIDE);
    let label = format!("{name}: {standing}");
    let text = |x: usize, text: &str| {
        html! { text x=(x) y="14" textLength=(width(text)) lengthAdjust="spacingAndGlyphs" { (text) } }
    };
    html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(left + right) height="20" role="img" aria-label=(label) {
            title { (label) }
            rect width=(left + right) height="20" rx="3" fill="#24292f" {}
            path d=(format!("M{left} 0h{}a3 3 0 0 1 3 3v14a3 3 0 0 1-3 3h-{}z", right - 3, right - 3)) fill="#0b57a4" {}
            g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" {
                (text(BESIDE, &name))
                (text(left + BESIDE, &standing))
            }
        }
    }
}

/// The number of matches in a feed.
const ENTRIES: usize = 30;

/// The latest matches of something.
struct Feed {
    title: String,
    /// The path of the feed, and that of the page about the same.
    path: String,
    page: String,
    entries: Vec<ShareEntry>,
}

struct ShareEntry {
    game: MatchSummary,
    /// How it ended for the player whom the feed is about.
    own: &'static str,
}

/// The feed of all matches.
pub(super) async fn of_all(
    State(site): State<std::sync::Arc<Site>>,
    headers: HeaderMap,
) -> Response {
    let made = async {
        let lines = site
            .pages()
            .matches()
            .latest_finished(None, ENTRIES)
            .await?;
        let name = plain_name(&site.settings.title);
        Ok(Feed {
            title: format!("{name}: matches", name = name),
            path: site.links.to("/matches.atom"),
            page: site.links.to("/"),
            entries: entries(&site, lines),
        })
    };
    feed_answer(&site, &headers, made.await)
}

/// The feed of a ruleset.
pub(super) async fn of_ruleset(site: &Site, headers: &HeaderMap, name: &str) -> Response {
    let made = async {
        let lines = site
            .pages()
            .matches()
            .latest_finished(Some(name), ENTRIES)
            .await?;
        if lines.is_empty() {
            return Err(WebError::NoRuleset);
        }
        let page = site.links.ruleset(name);
        Ok(Feed {
            title: format!("{name}: matches", name = name),
            path: format!("{page}.atom"),
            page,
            entries: entries(site, lines),
        })
    };
    feed_answer(site, headers, made.await)
}

/// The feed of the player with this handle or identity.
pub(super) async fn feed_of_player(
    site: &Site,
    headers: &HeaderMap,
    text: &str,
    kind: Option<Kind>,
) -> Response {
    let made = async {
        let known = KnownPlayer::read(site, text, kind).await?;
        let games = site
            .pages()
            .matches()
            .games_of(known.person.person, ENTRIES as i64)
            .await?;
        let ids: Vec<i64> = games.iter().map(|game| game.id).collect();
        let lines = site.pages().matches().match_lines(&ids).await?;
        let own = |game: &MatchSummary| {
            let game = games.iter().find(|own| own.id == game.line.id);
            result(game.and_then(|game: &GameOfPerson| game.result))
        };
        let list = MatchSummary::list(site, lines).into_iter();
        let page = site.links.player(&known.person.handle);
        Ok(Feed {
            title: format!("{0}: matches", Player::plain(&known.player)),
            path: format!("{page}.atom"),
            page,
            entries: list
                .map(|game| ShareEntry {
                    own: own(&game),
                    game,
                })
                .collect(),
        })
    };
    feed_answer(site, headers, made.await)
}

fn entries(site: &Site, lines: Vec<crate::store::MatchLine>) -> Vec<ShareEntry> {
    let games = MatchSummary::list(site, lines).into_iter();
    games.map(|game| ShareEntry { game, own: "" }).collect()
}

/// What comes before the title of a player's match.
fn result(result: Option<f64>) -> &'static str {
    match result {
        Some(result) if result > 0.5 => "Won: ",
        Some(result) if result < 0.5 => "Lost: ",
        Some(_) => "Draw: ",
        None => "",
    }
}

fn feed_answer(site: &Site, headers: &HeaderMap, made: Result<Feed, WebError>) -> Response {
    match made {
        Ok(feed) => {
            let text = feed.atom(site, &site.origin(headers));
            fresh(headers, Form::Atom.content_type(), text)
        }
        Err(error) => refuse(site, &error),
    }
}

impl Feed {
    /// The feed as XML. Its links are whole addresses, because readers show it outside of this site.
    fn atom(&self, site: &Site, origin: &str) -> String {
        let updated = self.entries.iter().map(|entry| entry.game.line.ended).max();
        let whole = |path: &str| xml(&format!("{origin}{path}"));
        let (own, page) = (whole(&self.path), whole(&self.page));
        let mut text = format!(
            "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\
             <title>{}</title><id>{own}</id><updated>{}</updated><author><name>{}</name></author>\
             <link rel=\"self\" href=\"{own}\"/><link href=\"{page}\"/>",
            xml(&self.title),
            updated.unwrap_or(Timestamp(0)),
            xml(&plain_name(&site.settings.title)),
        );
        for ShareEntry { game, own } in &self.entries {
            let map = match game.line.map.is_empty() {
                true => String::new(),
                false => format!(" ({})", plain_name(&game.line.map)),
            };
            let title = xml(&format!("{own}{}{map}", game.headline()));
            let link = whole(&site.links.game(game.line.id));
            let _ = write!(
                text,
                "<entry><title>{title}</title><id>{link}</id><updated>{}</updated><link href=\"{link}\"/>\
                 <summary>{}</summary></entry>",
                game.line.ended,
                xml(&summary(game)),
            );
        }
        text.push_str("</feed>\n");
        text
    }
}

/// What was played, by how many, and for how long.
fn summary(game: &MatchSummary) -> String {
    let players = counted(game.line.humans + game.line.bots, "player");
    let minutes = (game.line.ended.0 - game.line.started.0).max(0) / 60_000;
    match game.line.untimed {
        true => format!("{}, {players}", game.ruleset_or_dash()),
        false => format!(
            "{}, {players}, {}",
            game.ruleset_or_dash(),
            counted(minutes, "minute")
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_badge_has_both_texts_escaped_and_short() {
        let svg = badge("<b>\u{0}&\u{ffff}", &"9".repeat(100)).into_string();
        assert!(
            svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"340\""),
            "{svg}"
        );
        assert!(svg.contains(">&lt;b&gt;&amp;</text>"), "{svg}");
        assert!(
            svg.contains(&format!(">{}</text>", "9".repeat(LONGEST))),
            "{svg}"
        );
    }
}
