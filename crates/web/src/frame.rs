//! What all pages have in common: head, navigation and foot, the style sheet and the scripts.
//!
//! The style sheet and each script have a path that changes with their content. The pages can be used without the
//! scripts.

use std::sync::LazyLock;

use axum::{
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
};
use maud::{DOCTYPE, Markup, html};
use sha2::{Digest, Sha256};

use super::{
    Site,
    compress::{GZIP, VARY, accepts_gzip, gzip},
    words,
};
use crate::model::{names::plain_name, text::to_hex};

/// What the head of a page states about it.
pub(super) struct PageHead<'a> {
    pub(super) title: &'a str,
    /// Empty for a page without an address of its own.
    pub(super) path: &'a str,
    /// For search engines and previews of links; empty for none.
    pub(super) description: &'a str,
    /// The address of the site without a path; empty if it is not known.
    pub(super) origin: &'a str,
    pub(super) has_feed: bool,
}

impl<'a> PageHead<'a> {
    /// A page with this title at this path, about which nothing else is stated.
    pub(super) fn of(title: &'a str, path: &'a str) -> Self {
        Self {
            title,
            path,
            description: "",
            origin: "",
            has_feed: false,
        }
    }

    /// What search engines and previews of links read.
    fn about(&self, site: &Site) -> Markup {
        let whole = format!("{}{}", self.origin, site.links.to(self.path));
        let own_feed = format!("{}.atom", site.links.to(without_query(self.path)));
        html! {
            @if !self.description.is_empty() {
                meta name="description" content=(self.description);
                meta property="og:title" content=(self.title);
                meta property="og:description" content=(self.description);
                meta property="og:site_name" content=(plain_name(&site.settings.title));
                meta property="og:type" content="website";
                @if !self.origin.is_empty() { meta property="og:url" content=(whole); }
            }
            @if self.has_feed {
                link rel="alternate" type="application/atom+xml" title=(self.title) href=(own_feed);
            }
        }
    }
}

/// A path without its query.
fn without_query(path: &str) -> &str {
    path.split('?').next().unwrap_or_default()
}

/// What every page loads.
fn loads(site: &Site) -> Markup {
    let links = &site.links;
    html! {
        meta charset="utf-8";
        meta name="viewport" content="width=device-width, initial-scale=1";
        meta name="color-scheme" content="light dark";
        link rel="stylesheet" href=(links.to(&STYLE.path));
        link rel="icon" type="image/svg+xml" href=(links.to(&ICON.path));
    }
}

/// A part of the page at `path`, which another site shows in a frame. Its links leave the frame.
pub(super) fn embedded(site: &Site, title: &str, path: &str, card: &Markup) -> Markup {
    let name = plain_name(&site.settings.title);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (loads(site))
                title { (title) " · " (name) }
                meta name="robots" content="noindex";
                base target="_blank";
            }
            body.embed {
                main #content { h1 { a href=(site.links.to(path)) { (title) } } (card) }
                footer { p { a href=(site.links.to(path)) { (name) } } }
            }
        }
    }
}

/// A whole page.
pub(super) fn frame(site: &Site, about: &PageHead<'_>, body: &Markup) -> Markup {
    let (links, title, path) = (&site.links, about.title, about.path);
    let (name, imprint) = (plain_name(&site.settings.title), &site.settings.imprint);
    let own = without_query(path);
    let here = |to: &str| (own == to).then_some("page");
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                (loads(site))
                title { (title) " · " (name) }
                (about.about(site))
                script src=(links.to(&TIMES.path)) defer {}
                link rel="alternate" type="application/atom+xml" title="Matches" href=(links.to("/matches.atom"));
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header {
                    nav aria-label="Pages" {
                        a.site href=(links.to("/")) aria-current=[here("/")] { (name) }
                        @if site.takes_calls() {
                            a href=(links.to("/teams")) aria-current=[here("/teams")] { "Teams" }
                        }
                        a href=(links.to("/matches")) aria-current=[here("/matches")] { "Matches" }
                        a href=(links.to("/live")) aria-current=[here("/live")] { "Live" }
                        a href=(links.to("/balance")) aria-current=[here("/balance")] { "Balance" }
                        @if !site.queues().names().is_empty() {
                            a href=(links.to("/queues")) aria-current=[here("/queues")] { "Queues" }
                        }
                    }
                    form.search role="search" aria-label="Everywhere" method="get" action=(links.to("/search")) {
                        input type="search" name="q" maxlength="64" required placeholder="Player" aria-label="Search players and game types";
                        button type="submit" { "Search" }
                    }
                }
                main #content {
                    @if site.learning().is_learning_again() { p.note { (words::CORRECTING) } }
                    (body)
                }
                footer {
                    p {
                        span #zone { "Times are in UTC." } " "
                        a href=(links.to("/matches.atom")) { "Feed of matches" }
                        " · " a href=(links.to("/v1/openapi.json")) { "For programs" }
                        @if !imprint.is_empty() { " · " a href=(imprint) { "Imprint" } }
                    }
                }
            }
        }
    }
}

/// A file that pages load.
pub(super) struct Asset {
    /// The path, below the base path.
    pub(super) path: String,
    content_type: &'static str,
    text: &'static str,
    /// The same, compressed.
    packed: Option<Vec<u8>>,
}

pub(super) static STYLE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("style", "css", include_str!("style.css")));
/// The picture of the site in tabs and bookmarks.
pub(super) static ICON: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("icon", "svg", include_str!("icon.svg")));
/// Shows the times of a page in the visitor's own time zone.
pub(super) static TIMES: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("times", "js", include_str!("times.js")));
/// Loads the page of running games again when its data has changed.
pub(super) static LIVE: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("live", "js", include_str!("live.js")));
/// Counts the players in the form of the page of teams.
pub(super) static TEAMS: LazyLock<Asset> =
    LazyLock::new(|| Asset::new("teams", "js", include_str!("teams/teams.js")));

impl Asset {
    fn new(name: &str, ending: &str, text: &'static str) -> Self {
        let hash = Sha256::digest(text.as_bytes());
        Self {
            path: format!("/{name}-{}.{ending}", to_hex(&hash[..6])),
            content_type: match ending {
                "css" => "text/css; charset=utf-8",
                "svg" => "image/svg+xml",
                _ => "text/javascript; charset=utf-8",
            },
            text,
            packed: gzip(text.as_bytes()),
        }
    }

    /// The content. It may be kept for ever, because another content has another path.
    pub(super) fn answer(&self, request: &HeaderMap) -> Response {
        let headers = [
            (header::CONTENT_TYPE, self.content_type),
            (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
        ];
        match self.packed.as_ref().filter(|_| accepts_gzip(request)) {
            Some(packed) => (headers, [VARY, GZIP], packed.clone()).into_response(),
            None => (headers, [VARY], self.text).into_response(),
        }
    }
}
