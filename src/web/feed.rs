//! The Atom feeds of matches: of all, of a ruleset, and of a player.

use std::fmt::Write;

use axum::{extract::State, http::HeaderMap, response::Response};

use super::{
    Site,
    answer::{Form, fresh, refuse},
    encode::xml,
    error::WebError,
    name::Player,
    pages::{KnownPlayer, MatchSummary},
};
use crate::{
    model::{Kind, Timestamp, counted, plain_name},
    store::GameOfPerson,
};

/// The number of matches in a feed.
const ENTRIES: i64 = 30;

/// The latest matches of something.
struct Feed {
    title: String,
    /// The path of the feed, and that of the page about the same.
    path: String,
    page: String,
    entries: Vec<Entry>,
}

struct Entry {
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
            title: format!(text!(feed.matches), name = name),
            path: site.links.to("/matches.atom"),
            page: site.links.to("/"),
            entries: entries(&site, lines),
        })
    };
    answer(&site, &headers, made.await)
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
            title: format!(text!(feed.matches), name = name),
            path: format!("{page}.atom"),
            page,
            entries: entries(site, lines),
        })
    };
    answer(site, headers, made.await)
}

/// The feed of the player with this handle or identity.
pub(super) async fn of_player(
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
            .games_of(known.person.person, ENTRIES)
            .await?;
        let ids: Vec<i64> = games.iter().map(|game| game.id).collect();
        let lines = site.pages().matches().match_lines(&ids).await?;
        let own = |game: &MatchSummary| {
            let game = games.iter().find(|own| own.id == game.id);
            result(game.and_then(|game: &GameOfPerson| game.result))
        };
        let list = MatchSummary::list(site, lines).into_iter();
        let page = site.links.player(&known.person.handle);
        Ok(Feed {
            title: format!(text!(feed.matches_2), Player::plain(&known.player)),
            path: format!("{page}.atom"),
            page,
            entries: list
                .map(|game| Entry {
                    own: own(&game),
                    game,
                })
                .collect(),
        })
    };
    answer(site, headers, made.await)
}

fn entries(site: &Site, lines: Vec<crate::store::MatchLine>) -> Vec<Entry> {
    let games = MatchSummary::list(site, lines).into_iter();
    games.map(|game| Entry { game, own: "" }).collect()
}

/// What comes before the title of a player's match.
fn result(result: Option<f64>) -> &'static str {
    match result {
        Some(result) if result > 0.5 => text!(feed.won),
        Some(result) if result < 0.5 => text!(feed.lost),
        Some(_) => text!(feed.draw),
        None => "",
    }
}

fn answer(site: &Site, headers: &HeaderMap, made: Result<Feed, WebError>) -> Response {
    match made {
        Ok(feed) => {
            let text = feed.atom(site, &site.origin(headers));
            fresh(headers, Form::Atom.content_type(), text)
        }
        Err(error) => refuse(site, Form::Html, &error),
    }
}

impl Feed {
    /// The feed as XML. Its links are whole addresses, because readers show it outside of this site.
    fn atom(&self, site: &Site, origin: &str) -> String {
        let updated = self.entries.iter().map(|entry| entry.game.ended).max();
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
        for Entry { game, own } in &self.entries {
            let title = xml(&format!("{own}{} ({})", game.headline(), game.map));
            let link = whole(&site.links.game(game.id));
            let _ = write!(
                text,
                "<entry><title>{title}</title><id>{link}</id><updated>{}</updated><link href=\"{link}\"/>\
                 <summary>{}</summary></entry>",
                game.ended,
                xml(&summary(game)),
            );
        }
        text.push_str("</feed>\n");
        text
    }
}

/// What was played, by how many, and for how long.
fn summary(game: &MatchSummary) -> String {
    let players = counted(game.humans + game.bots, "player");
    let minutes = (game.ended.0 - game.started.0).max(0) / 60_000;
    match game.untimed {
        true => format!("{}, {players}", game.ruleset_or_dash()),
        false => format!(
            "{}, {players}, {}",
            game.ruleset_or_dash(),
            counted(minutes, "minute")
        ),
    }
}
