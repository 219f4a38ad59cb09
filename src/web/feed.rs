//! The Atom feed of matches.

use std::{fmt::Write, sync::Arc};

use axum::{extract::State, http::HeaderMap, response::Response};

use super::{
    Site,
    answer::{Form, fresh, refuse},
    encode::xml,
    error::WebError,
    pages::MatchSummary,
    words,
};
use crate::domain::{Timestamp, plain_name};

/// The number of matches in the feed.
const ENTRIES: i64 = 30;

/// The latest matches as a feed.
pub(super) async fn feed(State(site): State<Arc<Site>>, headers: HeaderMap) -> Response {
    match site.pages().latest_finished(None, ENTRIES).await {
        Ok(lines) => {
            let text = atom(&site, &MatchSummary::list(&site, lines));
            fresh(&headers, "application/atom+xml; charset=utf-8", text)
        }
        Err(error) => refuse(&site, Form::Html, &WebError::from(error)),
    }
}

fn atom(site: &Site, matches: &[MatchSummary]) -> String {
    let updated = matches.iter().map(|line| line.ended).max();
    let name = xml(&plain_name(&site.settings.title));
    let home = xml(&site.links.to("/"));
    let mut text = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\
         <title>{name}: matches</title><id>urn:evenkeel:matches</id><updated>{}</updated>\
         <author><name>{name}</name></author><link href=\"{home}\"/>",
        updated.unwrap_or(Timestamp(0))
    );
    for line in matches {
        let scores = match line.scores.is_empty() {
            true => String::new(),
            false => format!(" {}", words::scores(&line.scores)),
        };
        let title = xml(&format!(
            "{} on {}{scores}",
            line.ruleset_or_dash(),
            line.map
        ));
        let link = xml(&site.links.game(line.id));
        let players = line.humans + line.bots;
        let _ = write!(
            text,
            "<entry><title>{title}</title><id>urn:evenkeel:matches:{}</id><updated>{}</updated>\
             <link href=\"{link}\"/><summary>{players} players, {} minutes</summary></entry>",
            line.id,
            line.ended,
            (line.ended.0 - line.started.0).max(0) / 60_000
        );
    }
    text.push_str("</feed>\n");
    text
}
