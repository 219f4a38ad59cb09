//! What all pages have in common: head, navigation and foot.

use maud::{DOCTYPE, Markup, html};

use super::{Site, asset};
use crate::domain::plain_name;

/// A whole page. `path` is empty for a page without data of its own.
pub(super) fn frame(site: &Site, title: &str, path: &str, body: &Markup) -> Markup {
    let links = &site.links;
    let (name, imprint) = (plain_name(&site.settings.title), &site.settings.imprint);
    let own = path.split('?').next().unwrap_or_default();
    let here = |to: &str| (own == to).then_some("page");
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " · " (name) }
                link rel="stylesheet" href=(links.to(&asset::STYLE.path));
                link rel="icon" href="data:,";
                link rel="alternate" type="application/atom+xml" title="Matches" href=(links.to("/matches.atom"));
                @if has_data(path) {
                    link rel="alternate" type="application/json" href=(links.to(&data(path)));
                }
            }
            body {
                a.skip href="#content" { "Skip to the content" }
                header {
                    nav aria-label="Pages" {
                        a.site href=(links.to("/")) aria-current=[here("/")] { (name) }
                        @if site.api.is_some() {
                            a href=(links.to("/teams")) aria-current=[here("/teams")] { "Teams" }
                        }
                        a href=(links.to("/live")) aria-current=[here("/live")] { "Live" }
                        a href=(links.to("/balance")) aria-current=[here("/balance")] { "Balance" }
                        @if !site.queues().names().is_empty() {
                            a href=(links.to("/queues")) aria-current=[here("/queues")] { "Queues" }
                        }
                    }
                }
                main #content { (body) }
                footer {
                    p {
                        "Times are in UTC. "
                        @if has_data(path) { a href=(links.to(&data(path))) { "This page as JSON" } " · " }
                        a href=(links.to("/matches.atom")) { "Feed of matches" }
                        @if !imprint.is_empty() { " · " a href=(imprint) { "Imprint" } }
                    }
                }
            }
        }
    }
}

/// Whether a page is also there as JSON. The page of teams is not: programs use `/v1`.
fn has_data(path: &str) -> bool {
    !path.is_empty() && path != "/teams"
}

/// The path of the data of a page, which may have a query.
pub(super) fn data(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let mark = if query.is_empty() { "" } else { "?" };
    match path {
        "/" => format!("/index.json{mark}{query}"),
        _ => format!("{path}.json{mark}{query}"),
    }
}
