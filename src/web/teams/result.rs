//! What became of the game of two teams: the pages on which its result is recorded, and taken back.

use maud::{Markup, html};

use super::{
    parts::{alert, form, sign_in},
    pick::Pick,
    played::{Outcome, Played},
    show::{side, sizes, who_won},
    signed::Sender,
};
use crate::{
    store::MatchLine,
    web::{Site, api::Problem, words},
};

/// A match that was recorded.
pub(super) struct Recorded {
    pub(super) number: i64,
    pub(super) outcome: Outcome,
    /// Why it is not rated.
    pub(super) unrated: Option<String>,
}

/// The page after recording.
pub(super) fn recorded(
    site: &Site,
    sender: &Sender,
    pick: &Pick,
    played: &Played,
    of: &Recorded,
) -> Markup {
    let mut undone = pick.fields();
    undone.extend(played.fields());
    undone.push(("match", of.number.to_string()));
    let said = match &of.outcome {
        Outcome::Won(team) => {
            let names = site.team_names(&played.ruleset);
            format!(text!(common.one_has_won), names.title((*team).into()))
        }
        Outcome::Draw => text!(teams.a_draw).to_owned(),
        Outcome::Scores(scores) => format!("{}.", words::scores(scores)),
    };
    html! {
        h1 { (text!(teams.recorded)) }
        p role="status" {
            (mark!(teams.it_is,
                { (said) },
                { a href=(site.links.game(of.number)) { (mark!(teams.match, { (of.number) })) } }
            ))
            @if let Some(code) = &of.unrated { (mark!(teams.it_does_not_count, { (words::unrated(code)) })) }
        }
        (form(site, sender, &undone, &html! {
            button type="submit" name="do" value="undo" { (text!(teams.undo)) }
        }))
        (lineups(site, played))
        (form(site, sender, &pick.fields(), &html! {
            button.main type="submit" name="do" value="pick" { (text!(teams.next_game_same_people)) }
            button type="submit" name="do" value="edit" { (text!(teams.change_who_plays)) }
        }))
    }
}

/// The page after undoing: the same teams, to be recorded as they should be.
pub(super) fn undone(
    site: &Site,
    sender: &Sender,
    pick: &Pick,
    played: &Played,
    number: i64,
) -> Markup {
    html! {
        p role="status" { (mark!(teams.match_does_not_count_any_more, { (number) })) }
        @if played.teams.is_empty() {
            h1 { (text!(teams.undone)) }
            p { a href=(site.links.to("/teams")) { (text!(teams.back_to_the_teams)) } }
        } @else {
            (to_record(site, sender, pick, played, None, None))
        }
    }
}

/// Teams whose result is to be recorded, and why it was not.
pub(super) fn to_record(
    site: &Site,
    sender: &Sender,
    pick: &Pick,
    played: &Played,
    problem: Option<&Problem>,
    before: Option<MatchLine>,
) -> Markup {
    html! {
        h1 { (sizes(played)) }
        @match problem {
            Some(problem) if problem.is_repeated() => p.alert role="alert" {
                (text!(teams.this_game_is_recorded_already_with))
            },
            Some(problem) => (alert(problem)),
            None => {},
        }
        @if let Some(line) = &before { (latest(site, sender, pick, line)) }
        (lineups(site, played))
        @match sender.may_record() {
            true => (who_won(site, sender, pick, played)),
            false => (sign_in(site, sender, pick)),
        }
        (form(site, sender, &pick.fields(), &html! {
            button type="submit" name="do" value="edit" { (text!(teams.change_who_plays)) }
        }))
    }
}

/// Who was on which team.
fn lineups(site: &Site, played: &Played) -> Markup {
    let names = site.team_names(&played.ruleset);
    html! {
        div.sides { @for (at, people) in played.teams.iter().enumerate() { (side((at, &names), None, people, &[])) } }
    }
}

/// The latest match that this client has recorded, and how to undo it.
pub(super) fn latest(site: &Site, sender: &Sender, pick: &Pick, line: &MatchLine) -> Markup {
    let mut hidden = pick.fields();
    hidden.push(("match", line.id.to_string()));
    let said = match (line.winner, line.outcome.as_str()) {
        (Some(team), _) => {
            let names = site.team_names(line.ruleset.as_deref().unwrap_or_default());
            format!(text!(common.one_won), names.name(team.into()))
        }
        (None, outcome) => outcome.to_owned(),
    };
    html! {
        section.sign {
            p {
                (mark!(teams.recorded_last,
                    { a href=(site.links.game(line.id)) { (mark!(teams.match, { (line.id) })) } },
                    { (said) },
                    { (words::time(line.ended)) }
                ))
            }
            (form(site, sender, &hidden, &html! {
                button type="submit" name="do" value="undo" { (mark!(teams.undo_match, { (line.id) })) }
            }))
        }
    }
}
