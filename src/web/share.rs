//! What other sites show of a page: the badge, the feed and the frame of it.

use maud::{Markup, html};

use super::Site;

/// The ways to show what a page is about elsewhere; `path` is that of the page.
pub(super) fn share(site: &Site, path: &str, has_badge: bool, has_feed: bool) -> Markup {
    let whole = |path: &str| format!("{}{}", site.configured_origin(), site.links.to(path));
    let (page, embed) = (site.links.to(path), whole(&format!("/embed{path}")));
    html! {
        details {
            summary { (text!(share.share_and_embed)) }
            ul {
                @if has_badge { li { (mark!(share.a_picture_of_one_line, { a href=(format!("{page}.svg")) { (text!(share.badge)) } })) } }
                @if has_feed { li { a href=(format!("{page}.atom")) { (text!(common.feed_of_matches)) } } }
                li {
                    (mark!(share.for_another_page,
                        { a href=(site.links.to(&format!("/embed{path}"))) { (text!(share.frame)) } },
                        { code { "<iframe src=\"" (embed) "\" width=\"400\" height=\"300\"></iframe>" } }
                    ))
                }
            }
        }
    }
}
