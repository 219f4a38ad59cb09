//! What a visitor asks for, and the bytes of the answer that are made from a page.
//!
//! A request is read from its path, its query and its header fields. An answer has header fields that state how long it is
//! valid.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    body::Body,
    extract::{FromRequestParts, Path, Query},
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use maud::{Markup, html};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use sha2::{Digest, Sha256};

use super::{
    Site, WebError,
    compress::{GZIP, VARY, compressed},
    frame::{PageHead, embedded, frame},
};
use crate::model::{
    names::{escaped_json, is_disruptive},
    text::to_hex,
};

/// The query of a page on which there is nothing to choose. What a query contains is ignored then.
#[derive(Debug, Default, Deserialize)]
pub(super) struct NoQuery {}

/// A request for a page, with the choice `C` that its query states.
pub(super) struct PageRequest<C> {
    pub(super) form: Form,
    /// The last part of the path without its ending, where it names what the page is about.
    pub(super) name: String,
    pub(super) choice: C,
    pub(super) fields: HeaderMap,
}

impl<C> PageRequest<C> {
    /// The answer to the request.
    pub(super) fn answer(&self, site: &Site, page: Result<impl Page, WebError>) -> Response {
        let made = page.and_then(|page| match self.form {
            Form::Html => {
                let body = page.body(site)?;
                let (title, path) = (page.title(), page.path());
                let head = PageHead {
                    description: &page.description(site),
                    origin: &site.origin(&self.fields),
                    has_feed: page.has_feed(),
                    ..PageHead::of(&title, &path)
                };
                Ok(frame(site, &head, &body).into_string())
            }
            Form::Atom | Form::Svg => Err(WebError::NotFound),
        });
        self.send(site, made)
    }

    /// The answer with the part of a page that another site shows in a frame.
    pub(super) fn answer_framed(&self, site: &Site, page: Result<impl Page, WebError>) -> Response {
        let made = page.and_then(|page| {
            let card = page.card(site).filter(|_| self.form == Form::Html);
            let card = card.ok_or(WebError::NotFound)?;
            Ok(embedded(site, &page.title(), &page.path(), &card).into_string())
        });
        self.send(site, made)
    }

    /// The answer with a text in the form that was asked for.
    pub(super) fn send(&self, site: &Site, made: Result<String, WebError>) -> Response {
        match made {
            Ok(text) => fresh(&self.fields, self.form.content_type(), text),
            Err(error) => refuse(site, &error),
        }
    }
}

impl<C: DeserializeOwned> FromRequestParts<Arc<Site>> for PageRequest<C> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Response> {
        let (form, _) = Form::of(parts.uri.path());
        let refused = || refuse(site, &WebError::BadRequest);
        let path = Path::<BTreeMap<String, String>>::from_request_parts(parts, site).await;
        let Path(path) = path.map_err(|_| refused())?;
        let name = path.get("name").map(String::as_str).unwrap_or_default();
        let query = Query::<C>::try_from_uri(&parts.uri).map_err(|_| refused())?;
        Ok(Self {
            form,
            name: Form::of(name).1.to_owned(),
            choice: query.0,
            fields: parts.headers.clone(),
        })
    }
}

/// What a visitor asks for: a page, a feed of matches, or a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Html,
    Atom,
    Svg,
}

/// The forms besides that of a page, and how their addresses end.
const ENDINGS: [(Form, &str); 2] = [(Form::Atom, ".atom"), (Form::Svg, ".svg")];

impl Form {
    /// Splits the name at the end of a path from its ending.
    pub(super) fn of(name: &str) -> (Self, &str) {
        let without = |(form, ending): &(Self, &str)| Some((*form, name.strip_suffix(ending)?));
        let found = ENDINGS.iter().find_map(without);
        found
            .filter(|(_, name)| !name.is_empty())
            .unwrap_or((Self::Html, name))
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::Html => "text/html; charset=utf-8",
            Self::Atom => "application/atom+xml; charset=utf-8",
            Self::Svg => "image/svg+xml; charset=utf-8",
        }
    }
}

/// A page, whose data are its fields.
pub(super) trait Page: Send + Sized {
    /// What a visitor chooses on the page, as the query states it.
    type Choice: DeserializeOwned + Send + Sync;
    /// The path of the page below the base path; `{name}` stands for what the page is about.
    const PATH: &str;

    /// Reads the page of what has this name in the path, if it is about one thing.
    fn read(
        site: &Site,
        name: &str,
        choice: &Self::Choice,
    ) -> impl Future<Output = Result<Self, WebError>> + Send;

    /// The title, without the name of the site.
    fn title(&self) -> String;

    /// The path of this page, with its query.
    fn path(&self) -> String {
        Self::PATH.to_owned()
    }

    /// A sentence or two about the page, for search engines and for previews of links.
    fn description(&self, site: &Site) -> String;

    /// Whether the page has a feed of its matches, at its path with `.atom`.
    fn has_feed(&self) -> bool {
        false
    }

    /// The most important part of the page, for a frame on another site; `None` if there is none.
    fn card(&self, _site: &Site) -> Option<Markup> {
        None
    }

    /// The content of the page.
    ///
    /// # Errors
    /// Fails if a plot cannot be drawn.
    fn body(&self, site: &Site) -> Result<Markup, WebError>;
}

/// The text with the characters escaped that control a terminal, or turn the text around them: game types, maps and game
/// servers come from strangers, and a page shows them in many places. Names have lost such characters before.
fn harmless(content_type: &str, text: String) -> String {
    // Also that of a problem.
    if content_type.ends_with("json") {
        return escaped_json(text);
    }
    let harms = |c: char| is_disruptive(c) && !matches!(c, '\n' | '\r' | '\t');
    if !text.contains(harms) {
        return text;
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match harms(c) {
            true => shown.extend(c.escape_unicode()),
            false => shown.push(c),
        }
    }
    shown
}

/// How long visitors and proxies may use an answer without asking again, in seconds.
const FRESH: &str = "public, max-age=5";

/// An answer with the text, or without it if the visitor has the same text already.
pub(super) fn fresh(request: &HeaderMap, content_type: &'static str, text: String) -> Response {
    let text = harmless(content_type, text);
    let hash = Sha256::digest(text.as_bytes());
    let tag = format!("\"{}\"", to_hex(&hash[..8]));
    let has = |value: &HeaderValue| {
        let tags = value.to_str().unwrap_or_default().split(',');
        tags.map(|tag| tag.trim().trim_start_matches("W/"))
            .any(|own| own == tag || own == "*")
    };
    let same = request.get_all(header::IF_NONE_MATCH).iter().any(has);
    let headers = [
        // Weak: the same text may come compressed or not.
        (header::ETAG, format!("W/{tag}")),
        (header::CACHE_CONTROL, FRESH.to_owned()),
    ];
    if same {
        return (StatusCode::NOT_MODIFIED, headers, [VARY]).into_response();
    }
    let kind = [(header::CONTENT_TYPE, content_type)];
    match compressed(request, &text) {
        Some(packed) => (headers, kind, [VARY, GZIP], packed).into_response(),
        None => (headers, kind, [VARY], Body::from(text)).into_response(),
    }
}

/// What programs read.
pub(super) const JSON: &str = "application/json";

/// What a program reads, as JSON.
pub(super) fn encoded(content: &impl Serialize) -> Result<String, serde_json::Error> {
    serde_json::to_string(content)
        .inspect_err(|error| tracing::error!(%error, "an answer cannot be encoded"))
}

/// An answer that programs read at once, and that nobody keeps.
pub(super) fn json(content: &impl Serialize) -> Result<Response, serde_json::Error> {
    Ok(uncached(StatusCode::OK, JSON, encoded(content)?))
}

/// An answer that nobody keeps.
pub(super) fn uncached(status: StatusCode, content_type: &'static str, text: String) -> Response {
    let text = harmless(content_type, text);
    let fields = [
        (header::CONTENT_TYPE, content_type),
        (header::CACHE_CONTROL, "no-store"),
    ];
    (status, fields, text).into_response()
}

/// The answer to a request that has no page.
pub(super) fn refuse(site: &Site, error: &WebError) -> Response {
    match error {
        WebError::Store(error) => tracing::warn!(%error, "cannot read a statistics page"),
        WebError::Broken(error) => tracing::error!(error, "cannot show a statistics page"),
        _ => {}
    }
    let why = error.to_string();
    let body = html! {
        h1 { (why) }
        p { a href=(site.links.to("/")) { "All game types and matches" } }
    };
    let page = frame(site, &PageHead::of(&why, ""), &body).into_string();
    uncached(error.status(), Form::Html.content_type(), page)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_controls_a_terminal_is_escaped_as_the_form_of_the_answer_asks() {
        let shown = |form| harmless(form, "\"\u{9b}\u{202e}\"".to_owned());
        for json in [JSON, "application/problem+json"] {
            assert_eq!(shown(json), r#""\u009b\u202e""#);
        }
        assert_eq!(shown("text/html"), r#""\u{9b}\u{202e}""#);
    }
}
