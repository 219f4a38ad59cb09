//! What several pages of teams have: a form, what was wrong, and the box to sign in.

use maud::{Markup, html};

use super::{pick::Pick, signed::Sender};
use crate::web::{Site, api::Problem};

/// A form of the page, with fields that are not shown.
pub(super) fn form(
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
pub(super) fn alert(problem: &Problem) -> Markup {
    html! { p.alert role="alert" { (problem.detail) } }
}

/// The box in which a token is shown once; for a browser that has done so, how to end it.
pub(super) fn sign_in(site: &Site, sender: &Sender, pick: &Pick) -> Markup {
    if let Some(client) = sender.client() {
        return html! {
            section.sign {
                p { (mark!(teams.this_browser_records_for, { b { (client) } })) }
                (form(site, sender, &pick.fields(), &html! {
                    button type="submit" name="do" value="out" { (text!(teams.sign_out)) }
                }))
            }
        };
    }
    let why = match sender.may_pick() {
        true => {
            text!(teams.to_record_who_has_won_show_a_token)
        }
        false => text!(teams.to_make_teams_show_a_token_once_it),
    };
    html! {
        section.sign {
            h2 { (text!(teams.sign_in)) }
            p { (why) }
            (form(site, sender, &pick.fields(), &html! {
                label for="token" { (text!(teams.token)) }
                input #token type="password" name="token" required maxlength="1024" autocomplete="current-password";
                button.main type="submit" name="do" value="in" { (text!(teams.sign_in)) }
            }))
        }
    }
}
