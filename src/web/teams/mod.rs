//! `/teams`: fair teams for people who play without a game server, and who has won.
//!
//! A thin layer of forms over `/v1`: the same questions, records and undoing, with the same rights and limits. The daemon
//! keeps nothing between two forms but sign-ins; a pick travels in its form. Works without scripts.

mod ask;
mod names;
mod parts;
mod people;
mod pick;
mod played;
mod result;
mod settle;
mod show;
mod signed;
mod start;

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{Query, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    Site,
    answer::{Form, uncached},
    api::{self, Api, Problem, address, read_out, within},
    error::WebError,
    frame::{Head, frame},
};
use crate::{protocol::Charge, session::draw_seed};
use pick::{Fields, Pick};
use played::Played;
use signed::Sender;

/// The most bytes of a form.
const FORM: usize = 64 * 1_024;

/// What a link to the page states.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice {
    ruleset: String,
}

/// `GET /teams`
pub(super) async fn page(State(site): State<Arc<Site>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let choice = Query::<Choice>::try_from_uri(&parts.uri);
    let opening = async {
        let api = site.api.as_ref().ok_or(WebError::NotFound)?;
        let Query(choice) = choice.map_err(|_| WebError::BadRequest)?;
        let sender = Sender::of(&site, api, &parts.headers, address(&site, &parts)).await?;
        let pick = Pick {
            ruleset: choice.ruleset,
            teams: 2,
            ..Pick::default()
        };
        start::page(&site, &sender, pick, None).await
    };
    answer(&site, opening.await)
}

/// `POST /teams`: a form of the page.
pub(super) async fn form(State(site): State<Arc<Site>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let from = address(&site, &parts);
    let allowed = match &site.api {
        Some(api) => refuse_foreign(api, &parts.headers).map(|()| api),
        None => Err(WebError::NotFound.into()),
    };
    let api = match allowed {
        Ok(api) => api,
        Err(problem) => {
            read_out(body).await;
            return answer(&site, Err(problem));
        }
    };
    let doing = async {
        let fields = Fields::parse(&within(body, FORM).await?)?;
        act(&site, api, &parts.headers, from, &fields).await
    };
    answer(&site, doing.await)
}

/// Refuses a form that a page of another site sends. Browsers state the site of each form.
fn refuse_foreign(api: &Api, fields: &HeaderMap) -> Result<(), Problem> {
    api.refuse_foreign(fields).map_err(Problem::forbidden)?;
    match fields.contains_key(header::ORIGIN) {
        true => Ok(()),
        false => Err(Problem::forbidden(text!(
            teams.the_origin_of_this_form_is_not
        ))),
    }
}

/// A page that answers a form, and a cookie to set.
struct Shown {
    page: Markup,
    status: StatusCode,
    cookie: Option<String>,
}

impl From<Markup> for Shown {
    fn from(page: Markup) -> Self {
        Self {
            page,
            status: StatusCode::OK,
            cookie: None,
        }
    }
}

/// Does what a button of a form says.
async fn act(
    site: &Arc<Site>,
    api: &Api,
    headers: &HeaderMap,
    from: IpAddr,
    fields: &Fields,
) -> Result<Shown, Problem> {
    let sender = Sender::of(site, api, headers, from).await?;
    let counted = sender.call.caller.count(Charge::Line, 1);
    counted.map_err(api::too_often)?;
    let is_https = headers
        .get(header::ORIGIN)
        .is_some_and(|origin| origin.as_bytes().starts_with(b"https://"));
    let mut pick = Pick::read(fields);
    let action = fields.one("do");
    if action == "in" {
        let token = fields.one("token");
        return match Sender::sign_in(site, api, token, from, is_https).await {
            Ok((sender, cookie)) => {
                let mut shown = show_pick(site, &sender, pick).await?;
                shown.cookie = Some(cookie);
                Ok(shown)
            }
            Err(problem) => start::page(site, &sender, pick, Some(problem)).await,
        };
    }
    sender.check(fields.one("code"))?;
    match action {
        "out" => {
            let cookie = sender.sign_out(site, is_https).await?;
            let nobody = Sender::of(site, api, &HeaderMap::new(), from).await?;
            let mut shown = start::page(site, &nobody, pick, None).await?;
            shown.cookie = Some(cookie);
            Ok(shown)
        }
        "edit" => start::page(site, &sender, pick, None).await,
        "again" => {
            pick.place = pick.place.saturating_add(1);
            show_pick(site, &sender, pick).await
        }
        "undo" => undo(site, &sender, pick, fields).await,
        "draw" | "score" => record(site, &sender, pick, fields, action).await,
        won if won.starts_with("won-") => record(site, &sender, pick, fields, action).await,
        _ => show_pick(site, &sender, pick).await,
    }
}

/// Shows the teams of a pick; before that, asks who is meant where this is not clear.
async fn show_pick(site: &Site, sender: &Sender, mut pick: Pick) -> Result<Shown, Problem> {
    if pick.is_empty() {
        return start::page(site, sender, pick, None).await;
    }
    if pick.seed == 0 {
        pick.seed = draw_seed();
    }
    match picked(site, sender, &mut pick).await {
        Ok(page) => Ok(page.into()),
        Err(problem) => start::page(site, sender, pick, Some(problem)).await,
    }
}

async fn picked(site: &Site, sender: &Sender, pick: &mut Pick) -> Result<Markup, Problem> {
    if !sender.may_pick() {
        return Err(Problem::forbidden(text!(teams.sign_in_to_make_teams)));
    }
    let who = ask::who(site, pick).await?;
    pick.weights.extend(who.weights);
    pick.settle(&who.people);
    if !who.questions.is_empty() {
        return Ok(start::questions(site, sender, pick, &who.questions));
    }
    let names = site.team_names(&pick.ruleset);
    let game = ask::question(&sender.call, pick, &who.people, &names)?;
    let teams = api::picked(&sender.call, &game).await?;
    let played = Played::of(pick, &teams, &who.people)?;
    Ok(show::teams(site, sender, pick, &teams, &played))
}

/// Records who has won.
async fn record(
    site: &Site,
    sender: &Sender,
    mut pick: Pick,
    fields: &Fields,
    action: &str,
) -> Result<Shown, Problem> {
    let played = Played::read(site, fields).await?;
    let recording = async {
        let outcome = played.outcome(action, fields)?;
        let (number, unrated) = played.record(sender, &outcome).await?;
        Ok::<_, Problem>(result::Recorded {
            number,
            outcome,
            unrated,
        })
    };
    match recording.await {
        Ok(of) => {
            pick.last = played.last();
            (pick.place, pick.seed) = (0, draw_seed());
            Ok(result::recorded(site, sender, &pick, &played, &of).into())
        }
        Err(problem) => {
            let latest = played::latest(site, sender).await?;
            let page = result::to_record(site, sender, &pick, &played, Some(&problem), latest);
            Ok(Shown {
                status: problem.status,
                ..page.into()
            })
        }
    }
}

/// Leaves a match out of the ratings. Its teams may then be recorded with another result.
async fn undo(site: &Site, sender: &Sender, pick: Pick, fields: &Fields) -> Result<Shown, Problem> {
    let number = played::undo(sender, fields).await?;
    let played = Played::read(site, fields).await?.again()?;
    Ok(result::undone(site, sender, &pick, &played, number).into())
}

/// The answer with a page, or with why there is none. Nobody keeps it: it is about one visitor.
fn answer(site: &Site, made: Result<Shown, Problem>) -> Response {
    let shown = made.unwrap_or_else(|problem| Shown {
        page: html! {
            h1 { (text!(teams.that_did_not_work)) }
            p.alert role="alert" { (problem.detail) }
            p { a href=(site.links.to("/teams")) { (text!(teams.back_to_the_teams)) } }
        },
        status: problem.status,
        cookie: None,
    });
    let head = Head {
        description: text!(teams.description),
        ..Head::of(text!(common.teams), "/teams")
    };
    let page = frame(site, &head, &shown.page).into_string();
    let mut response = uncached(shown.status, Form::Html.content_type(), page);
    let cookie = shown
        .cookie
        .and_then(|cookie| HeaderValue::try_from(cookie).ok());
    if let Some(cookie) = cookie {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
    response
}
