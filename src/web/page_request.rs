//! What a visitor asks for, read from the path, the query and the header fields of a request.

use std::{collections::BTreeMap, sync::Arc};

use axum::{
    extract::{FromRequestParts, Path, Query},
    http::{HeaderMap, request::Parts},
    response::Response,
};
use serde::{Deserialize, de::DeserializeOwned};

use super::{
    Site,
    answer::{Form, Page, fresh, refuse},
    error::WebError,
    frame::{Head, embedded, frame},
};

/// The query of a page on which there is nothing to choose. What a query contains is ignored then.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Nothing {}

/// A request for a page, with the choice `C` that its query states.
pub(super) struct PageRequest<C> {
    pub(super) form: Form,
    /// The last part of the path without `.json`, where it names what the page is about.
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
                let head = Head {
                    description: &page.description(site),
                    origin: &site.origin(&self.fields),
                    has_feed: page.has_feed(),
                    ..Head::of(&title, &path)
                };
                Ok(frame(site, &head, &body).into_string())
            }
            Form::Json => {
                serde_json::to_string(&page).map_err(|error| WebError::Broken(error.to_string()))
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
            Err(error) => refuse(site, self.form, &error),
        }
    }
}

impl<C: DeserializeOwned> FromRequestParts<Arc<Site>> for PageRequest<C> {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, site: &Arc<Site>) -> Result<Self, Response> {
        let (form, _) = Form::of(parts.uri.path());
        let refused = || refuse(site, form, &WebError::BadRequest);
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
