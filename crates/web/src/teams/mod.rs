//! `/teams`: fair teams for people who play without a game server, from the first form on.
//!
//! A thin layer of forms over `/v1`: the same questions, records and undoing, with the same rights and limits. The
//! daemon keeps nothing between two forms but sign-ins; a pick travels in its form. Works without scripts.
//!
//! Here are the first form, the questions about names, and what several pages share: a form, its faults, and the box
//! to sign in.

mod ask;
mod pick;
mod played;
mod signed;

use std::{net::IpAddr, sync::Arc};

use axum::{
    extract::{Query, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use maud::{Markup, html};
use serde::Deserialize;

use super::{
    Site, WebError,
    answer::{Form, uncached},
    api::{self, Api, ApiProblem, address, read_out, within},
    frame::{self, PageHead, frame},
    links::path_part,
};
use crate::{
    model::text::counted, protocol::request::Charge, rating::history::RulesetTotals,
    session::draw_seed,
};

use ask::{Doubt, UnclearName, called, latest_players, reconcile};
use pick::{FormFields, ListedPlayer, Pick, PickedPerson};
use played::{PlayedTeams, latest};
use signed::Sender;

/// The most bytes of a form.
const FORM: usize = 64 * 1_024;

/// What a link to the page states.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct TeamsQuery {
    ruleset: String,
}

/// `GET /teams`
pub(super) async fn page(State(site): State<Arc<Site>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let choice = Query::<TeamsQuery>::try_from_uri(&parts.uri);
    let opening = async {
        let api = site.api.as_ref().ok_or(WebError::NotFound)?;
        let Query(choice) = choice.map_err(|_| WebError::BadRequest)?;
        let sender = Sender::of(&site, api, &parts.headers, address(&site, &parts)).await?;
        let pick = Pick {
            ruleset: choice.ruleset,
            teams: 2,
            ..Pick::default()
        };
        start_page(&site, &sender, pick, None).await
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
        let fields = FormFields::parse(&within(body, FORM).await?)?;
        act(&site, api, &parts.headers, from, &fields).await
    };
    answer(&site, doing.await)
}

/// Refuses a form that a page of another site sends. Browsers state the site of each form.
fn refuse_foreign(api: &Api, fields: &HeaderMap) -> Result<(), ApiProblem> {
    api.refuse_foreign(fields).map_err(ApiProblem::forbidden)?;
    match fields.contains_key(header::ORIGIN) {
        true => Ok(()),
        false => Err(ApiProblem::forbidden(
            "the Origin of this form is not stated",
        )),
    }
}

/// A page that answers a form, and a cookie to set.
struct ShownPage {
    page: Markup,
    status: StatusCode,
    cookie: Option<String>,
}

impl From<Markup> for ShownPage {
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
    fields: &FormFields,
) -> Result<ShownPage, ApiProblem> {
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
            Err(problem) => start_page(site, &sender, pick, Some(problem)).await,
        };
    }
    sender.check(fields.one("code"))?;
    match action {
        "out" => {
            let cookie = sender.sign_out(site, is_https).await?;
            let nobody = Sender::of(site, api, &HeaderMap::new(), from).await?;
            let mut shown = start_page(site, &nobody, pick, None).await?;
            shown.cookie = Some(cookie);
            Ok(shown)
        }
        "edit" => start_page(site, &sender, pick, None).await,
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
async fn show_pick(site: &Site, sender: &Sender, mut pick: Pick) -> Result<ShownPage, ApiProblem> {
    if pick.is_empty() {
        return start_page(site, sender, pick, None).await;
    }
    if pick.seed == 0 {
        pick.seed = draw_seed();
    }
    match picked(site, sender, &mut pick).await {
        Ok(page) => Ok(page.into()),
        Err(problem) => start_page(site, sender, pick, Some(problem)).await,
    }
}

async fn picked(site: &Site, sender: &Sender, pick: &mut Pick) -> Result<Markup, ApiProblem> {
    if !sender.may_pick() {
        return Err(ApiProblem::forbidden("Sign in to make teams."));
    }
    let who = ask::who(site, pick).await?;
    pick.weights.extend(who.weights);
    pick.reconcile(&who.people);
    if !who.questions.is_empty() {
        return Ok(questions(site, sender, pick, &who.questions));
    }
    let names = site.team_names(&pick.ruleset);
    let game = ask::question(&sender.call, pick, &who.people, &names)?;
    let teams = api::picked(&sender.call, &game).await?;
    let played = PlayedTeams::of(pick, &teams, &who.people)?;
    let unmet = ask::unmet(pick, &who.people, &played.teams)?;
    Ok(html! {
        @if !unmet.is_empty() { p.alert role="alert" { (unmet.join(" ")) } }
        (played::teams(site, sender, pick, &teams, &played))
    })
}

/// Records who has won.
async fn record(
    site: &Site,
    sender: &Sender,
    mut pick: Pick,
    fields: &FormFields,
    action: &str,
) -> Result<ShownPage, ApiProblem> {
    let mut played = PlayedTeams::read(site, fields).await?;
    let outcome = played.outcome(action, fields);
    let again = match &outcome {
        Ok(outcome) if !played.is_sure => played.just_recorded(site, sender, outcome).await?,
        _ => None,
    };
    played.is_sure = again.is_some();
    let recording = async {
        let outcome = outcome?;
        if let Some(number) = again {
            return Err(ApiProblem::conflict(format!(
                "This game seems to be recorded already, as match {number}. If the same people have played again since, \
                 record it once more."
            )));
        }
        let (number, unrated) = played.record(sender, &outcome).await?;
        Ok::<_, ApiProblem>(played::RecordedPick {
            number,
            outcome,
            unrated,
        })
    };
    match recording.await {
        Ok(of) => {
            pick.last = played.last();
            (pick.place, pick.seed) = (0, draw_seed());
            Ok(played::recorded(site, sender, &pick, &played, &of).into())
        }
        Err(problem) => {
            let latest = played::latest(site, sender).await?;
            let page = played::to_record(site, sender, &pick, &played, Some(&problem), latest);
            Ok(ShownPage {
                status: problem.status,
                ..page.into()
            })
        }
    }
}

/// Leaves a match out of the ratings. Its teams may then be recorded with another result.
async fn undo(
    site: &Site,
    sender: &Sender,
    pick: Pick,
    fields: &FormFields,
) -> Result<ShownPage, ApiProblem> {
    let number = played::undo(sender, fields).await?;
    let played = PlayedTeams::read(site, fields).await?.again()?;
    Ok(played::undone(site, sender, &pick, &played, number).into())
}

/// The answer with a page, or with why there is none. Nobody keeps it: it is about one visitor.
fn answer(site: &Site, made: Result<ShownPage, ApiProblem>) -> Response {
    let shown = made.unwrap_or_else(|problem| ShownPage {
        page: html! {
            h1 { "That did not work" }
            p.alert role="alert" { (problem.detail) }
            p { a href=(site.links.to("/teams")) { "Back to the teams" } }
        },
        status: problem.status,
        cookie: None,
    });
    let head = PageHead {
        description: "Fair teams for people who play without a game server, made of the results of their games.",
        ..PageHead::of("Teams", "/teams")
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

/// A form of the page, with fields that are not shown.
fn form_of_pick(
    site: &Site,
    sender: &Sender,
    hidden: &[(&'static str, String)],
    body: &Markup,
) -> Markup {
    html! {
        form.pick method="post" action=(site.links.to("/teams")) {
            @if let Some(code) = sender.code() { input type="hidden" name="code" value=(code); }
            @for (name, value) in hidden { input type="hidden" name=(name) value=(value); }
            (body)
        }
    }
}

/// What was wrong.
fn alert(problem: &ApiProblem) -> Markup {
    html! { p.alert role="alert" { (problem.detail) } }
}

/// The box in which a token is shown once; for a browser that has done so, how to end it.
fn sign_in(site: &Site, sender: &Sender, pick: &Pick) -> Markup {
    if let Some(client) = sender.client() {
        return html! {
            section.sign {
                p { (mark!("This browser records for {0}.", { b { (client) } })) }
                (form_of_pick(site, sender, &pick.fields(), &html! {
                    button type="submit" name="do" value="out" { "Sign out" }
                }))
            }
        };
    }
    let why = match sender.may_pick() {
        true => {
            "To record who has won, show a token once. It is then good for 30 \
         days in this browser."
        }
        false => {
            "To make teams, show a token once. It is then good for 30 days in \
         this browser."
        }
    };
    html! {
        section.sign {
            h2 { "Sign in" }
            p { (why) }
            (form_of_pick(site, sender, &pick.fields(), &html! {
                label for="token" { "Token" }
                input #token type="password" name="token" required maxlength="1024" autocomplete="current-password";
                button.main type="submit" name="do" value="in" { "Sign in" }
            }))
        }
    }
}

/// How many of those who played last can be ticked.
const TICKS: usize = 40;
/// How many rulesets are offered.
const RULESETS: usize = 8;

/// The first page, filled in as far as the pick states it, and what was wrong with it.
async fn start_page(
    site: &Site,
    sender: &Sender,
    mut pick: Pick,
    problem: Option<ApiProblem>,
) -> Result<ShownPage, ApiProblem> {
    let rulesets = site.rulesets();
    if let (true, Some(first)) = (
        pick.ruleset.is_empty() && problem.is_none(),
        rulesets.first(),
    ) {
        pick.ruleset.clone_from(&first.ruleset);
    }
    // Other people play: other teams are as good.
    (pick.seed, pick.place) = (draw_seed(), 0);
    let ticks = ticks(site, &mut pick).await?;
    let latest = latest(site, sender).await?;
    let status = problem.as_ref().map(|problem| problem.status);
    let page = html! {
        h1 { "Fair teams" }
        @if let Some(problem) = &problem { (alert(problem)) }
        @if let Some(line) = &latest { (played::latest_result(site, sender, &pick, line)) }
        @if sender.may_pick() {
            (choice_of_ruleset(site, &pick, &rulesets))
            (form_of_pick(site, sender, &hidden(&pick), &fields(&pick, &rulesets, &ticks, &site.team_names(&pick.ruleset).name(0))))
            script src=(site.links.to(&frame::TEAMS.path)) defer {}
        }
        (sign_in(site, sender, &pick))
    };
    Ok(ShownPage {
        status: status.unwrap_or_default(),
        ..page.into()
    })
}

/// The players who can be ticked: those of the pick, and others who played last. Who was new in the pick may be known by
/// now. Whoever has a weight in the pick stands in its list again.
async fn ticks(site: &Site, pick: &mut Pick) -> Result<Vec<ListedPlayer>, ApiProblem> {
    let known = called(site, &pick.ruleset, &pick.new, &pick.known).await?;
    let people = reconcile(pick, &[], &known, &[]).people;
    let (listed, people): (Vec<PickedPerson>, Vec<PickedPerson>) =
        (people.into_iter()).partition(|one| pick.weight_of(one).is_some());
    let line = |one: &PickedPerson| Some(format!("{} {}", pick.weight_of(one)?, one.name()));
    let mut names: Vec<String> = listed.iter().filter_map(line).collect();
    names.extend(Some(std::mem::take(&mut pick.names)).filter(|names| !names.is_empty()));
    pick.reconcile(&people);
    pick.weights.clear();
    pick.names = names.join("\n");
    let mut ticks: Vec<ListedPlayer> = people.into_iter().filter_map(PickedPerson::known).collect();
    let mut others = latest_players(site, &pick.ruleset, 2 * TICKS as i64).await?;
    others.retain(|one| !pick.known.contains(&one.handle));
    others.sort_by_key(|one| std::cmp::Reverse((one.last_seen, one.games)));
    others.truncate(TICKS.saturating_sub(ticks.len()));
    ticks.extend(others);
    ticks.sort_by_key(|one| one.name.to_lowercase());
    Ok(ticks)
}

/// What the visible fields do not state.
fn hidden(pick: &Pick) -> Vec<(&'static str, String)> {
    let fields = pick.fields().into_iter();
    fields
        .filter(|(name, _)| ["seed", "place", "last"].contains(name))
        .collect()
}

fn choice_of_ruleset(site: &Site, pick: &Pick, rulesets: &[RulesetTotals]) -> Markup {
    let link = |name: &str| {
        let base = site.links.to("/teams");
        format!("{base}?ruleset={}", path_part(name))
    };
    let here = |name: &str| (name == pick.ruleset).then_some("true");
    html! {
        @if rulesets.len() > 1 {
            nav.tabs.wrap aria-label="What is played" {
                @for line in rulesets.iter().take(RULESETS) {
                    a href=(link(&line.ruleset)) aria-current=[here(&line.ruleset)] { (line.ruleset) }
                }
            }
        }
    }
}

/// The visible fields. `team` is what one of the teams is called.
fn fields(pick: &Pick, rulesets: &[RulesetTotals], ticks: &[ListedPlayer], team: &str) -> Markup {
    let is_ticked = |one: &ListedPlayer| pick.known.contains(&one.handle);
    let wishes = [&pick.together, &pick.apart, &pick.pinned];
    let has_wishes = wishes.iter().any(|wish| !wish.is_empty());
    html! {
        label for="ruleset" { "What do you play?" }
        input #ruleset name="ruleset" value=(pick.ruleset) list="rulesets" required maxlength="255"
            autocomplete="off" autocapitalize="none" placeholder="futsal";
        datalist #rulesets {
            @for line in rulesets.iter().take(RULESETS) { option value=(line.ruleset) {} }
        }
        label for="names" { "Who plays? One name on each line, or with commas; with weights before \
        the names, their sums decide" }
        textarea #names name="names" rows="5" autocomplete="off" { (pick.names) }
        @if !ticks.is_empty() || !pick.new.is_empty() {
            fieldset.ticks {
                legend { "Or tick who played last" }
                @for name in &pick.new {
                    label { input type="checkbox" name="new" value=(name) checked; bdi { (name) } span.tag { "new" } }
                }
                @for one in ticks {
                    label { input type="checkbox" name="on" value=(one.handle) checked[is_ticked(one)]; bdi { (one.name) } }
                }
            }
        }
        label for="teams" { "How many teams?" }
        select #teams name="teams" {
            @for number in 2..=8 { option value=(number) selected[number == pick.teams] { (mark!("{0} teams", { (number) })) } }
        }
        details open[has_wishes] {
            summary { "Who must be together, apart, or on a certain team" }
            label for="together" { "Together: one group on each line" }
            textarea #together name="together" rows="2" placeholder="ann, bob" autocomplete="off" { (pick.together) }
            label for="apart" { "Apart: one group on each line" }
            textarea #apart name="apart" rows="2" placeholder="cid, dan" autocomplete="off" { (pick.apart) }
            label for="pinned" { "On a team: the team, a colon, and names, one team on each line" }
            textarea #pinned name="pinned" rows="2" placeholder=(format!("{0}: eve, fay", team)) autocomplete="off" { (pick.pinned) }
        }
        button.main type="submit" name="do" value="pick" { "Make teams" span #count data-of=" of {}" {} }
    }
}

/// The form that asks who is meant by names.
fn questions(site: &Site, sender: &Sender, pick: &Pick, questions: &[UnclearName]) -> Markup {
    let (new, others): (Vec<_>, Vec<_>) = questions.iter().partition(|one| one.is_new());
    let doubt: Vec<&str> = others.iter().map(|one| one.typed.text.as_str()).collect();
    let body = html! {
        input type="hidden" name="doubt" value=(doubt.join("\n"));
        @for (number, one) in others.iter().enumerate() { (question(number, one)) }
        @if !new.is_empty() {
            fieldset.ticks {
                legend { "New players" }
                @for one in new {
                    label { input type="checkbox" name="new" value=(one.name()) checked; bdi { (one.name()) } }
                }
            }
        }
        button.main type="submit" name="do" value="pick" { "Make teams" }
        button type="submit" name="do" value="edit" formnovalidate { "Back" }
    };
    html! {
        h1 { "Who is who?" }
        (form_of_pick(site, sender, &pick.fields(), &body))
    }
}

/// One question. Nothing is chosen before somebody has answered.
fn question(number: usize, question: &UnclearName) -> Markup {
    let field = format!("ask{number}");
    let choice = |value: &str, words: &Markup| {
        html! {
            label.choice {
                input type="radio" name=(field) value=(value) required;
                span { (words) }
            }
        }
    };
    let known = |one: &ListedPlayer| {
        let value = PickedPerson::Known(one.clone()).value();
        let games = counted(u64::try_from(one.games).unwrap_or(0), "game");
        choice(&value, &html! { bdi { (one.name) } ", " (games) })
    };
    let name = question.name();
    let (said, choices) = match &question.why {
        Doubt::Unknown { near } => {
            let said = html! { (mark!("{0}: did you mean", { bdi { (name) } })) };
            let new = choice(
                &format!("new:{name}"),
                &html! { (mark!("{0} is a new player", { bdi { (name) } })) },
            );
            (said, html! { @for one in near { (known(one)) } (new) })
        }
        Doubt::Several { who } => {
            let said = html! { (mark!("Which {0}?", { bdi { (name) } })) };
            (said, html! { @for one in who { (known(one)) } })
        }
        Doubt::Twice { other } => {
            let once = choice("drop", &html! { "The same person: count once" });
            let two = html! { (mark!("Somebody else: {0}", { bdi { (other) } })) };
            let two = choice(&format!("new:{other}"), &two);
            (
                html! { (mark!("{0} is there twice", { bdi { (name) } })) },
                html! { (once) (two) },
            )
        }
    };
    let leave_out = !matches!(question.why, Doubt::Twice { .. });
    html! {
        fieldset {
            legend { (said) }
            (choices)
            @if leave_out { (choice("drop", &html! { "Does not play" })) }
        }
    }
}
