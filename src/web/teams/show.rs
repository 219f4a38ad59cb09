//! The teams, for people who look at a phone.

use maud::{Markup, html};

use super::{
    parts::{form, sign_in},
    people::Person,
    pick::Pick,
    played::Played,
    signed::Sender,
};
use crate::{
    model::{TeamNames, amount},
    web::{
        Site,
        api::{Team, TeamPlayer, Teams},
        words,
    },
};

/// The teams of a pick, and what can be done with them.
pub(super) fn teams(
    site: &Site,
    sender: &Sender,
    pick: &Pick,
    teams: &Teams<'_>,
    played: &Played,
) -> Markup {
    let weights = |team: &Team<'_>| -> Vec<Option<String>> {
        team.players.iter().map(TeamPlayer::shown_weight).collect()
    };
    let names = site.team_names(&played.ruleset);
    let again = html! {
        button type="submit" name="do" value="again" { (text!(teams.again_the_next_best_teams)) }
        button type="submit" name="do" value="edit" { (text!(teams.change_who_plays)) }
    };
    html! {
        h1 { (sizes(played)) }
        p.odds { (odds(teams, &names)) }
        div.sides {
            @for (at, (team, people)) in teams.teams.iter().zip(&played.teams).enumerate() {
                (side((at, &names), team.chance.flatten(), people, &weights(team)))
            }
        }
        @if sender.may_record() { (who_won(site, sender, pick, played)) }
        (form(site, sender, &pick.fields(), &again))
        (reasons(pick, teams, played, &names))
        @if !sender.may_record() { (sign_in(site, sender, pick)) }
    }
}

/// The numbers of players, as in `3 v 2`.
pub(super) fn sizes(played: &Played) -> String {
    let sizes = played.teams.iter().map(|team| team.len().to_string());
    let sizes: Vec<String> = sizes.collect();
    sizes.join(" v ")
}

fn odds(teams: &Teams<'_>, names: &TeamNames) -> String {
    let chances = teams.teams.iter().filter_map(|team| team.chance.flatten());
    let chances: Vec<f64> = chances.collect();
    let mut players = teams.teams.iter().flat_map(|team| &team.players);
    if !teams.sums.is_empty() {
        let sums: Vec<String> = teams.sums.iter().copied().map(amount).collect();
        return format!(
            text!(teams.the_sums_of_the_weights_decide),
            sums.join(text!(teams.to))
        );
    }
    let chance = |chance| words::chance(chance).replace(" %", "\u{a0}%");
    match chances[..] {
        [one, other] => format!(
            text!(teams.wins_with_with),
            names.title(0),
            chance(one),
            names.name(1),
            chance(other)
        ),
        [] if players.any(|player| player.shown_weight().is_some()) => String::new(),
        [] => text!(teams.nothing_is_known_of_anybody_yet_it).to_owned(),
        _ => text!(teams.the_chance_of_each_team_to_win_is).to_owned(),
    }
}

/// A team with who is on it, and the weights that are known, in the same order.
pub(super) fn side(
    (team, names): (usize, &TeamNames),
    chance: Option<f64>,
    people: &[Person],
    weights: &[Option<String>],
) -> Markup {
    html! {
        section.side {
            h2 class=(words::team_class(names.colour(team))) {
                (names.title(team)) @if let Some(chance) = chance { " " span.weight { (words::chance(chance)) } }
            }
            ul.players {
                @for (at, one) in people.iter().enumerate() {
                    li {
                        bdi { (one.name()) }
                        @if let Some(Some(weight)) = weights.get(at) { " " span.weight { (weight) } }
                    }
                }
            }
        }
    }
}

/// The buttons with which the result is recorded.
pub(super) fn who_won(site: &Site, sender: &Sender, pick: &Pick, played: &Played) -> Markup {
    let mut hidden = pick.fields();
    hidden.extend(played.fields());
    let count = played.teams.len();
    let names = site.team_names(&played.ruleset);
    let buttons = html! {
        div.buttons {
            @for team in 0..count {
                button.main type="submit" name="do" value=(format!("won-{team}")) { (mark!(common.one_won, { (names.title(team)) })) }
            }
            button.main type="submit" name="do" value="draw" { (text!(common.draw)) }
        }
    };
    let scores = html! {
        div.buttons {
            @for team in 0..count {
                label.points { (names.title(team))
                    input name="score" inputmode="decimal" pattern="-?[0-9]+([.,][0-9]+)?" required maxlength="9" autocomplete="off";
                }
            }
        }
        button type="submit" name="do" value="score" { (text!(teams.record_the_score)) }
    };
    html! {
        h2 { (text!(teams.who_won)) }
        (form(site, sender, &hidden, &buttons))
        details {
            summary { (text!(teams.enter_the_score_instead)) }
            (form(site, sender, &hidden, &scores))
        }
    }
}

fn reasons(pick: &Pick, teams: &Teams<'_>, played: &Played, called: &TeamNames) -> Markup {
    let people = || played.teams.iter().flatten();
    let names = |ids: &[&str]| {
        let name = |id: &&str| Some(people().find(|one| one.id() == **id)?.name());
        ids.iter().filter_map(name).collect::<Vec<_>>().join(", ")
    };
    html! {
        @if let Some((reasons, among)) = &teams.weighed {
            p.note { (mark!(teams.these_are_number_of_the_best, { (pick.place as usize % among.max(&1) + 1) }, { (among) })) }
            @if let Some(why) = teams.why.as_ref().filter(|why| !why.is_empty()) {
                details {
                    summary { (text!(common.why_these_teams)) }
                    (reasons.body())
                    details { summary { (text!(teams.in_numbers)) } pre.why { @for line in why { (line) "\n" } } }
                }
            }
        }
        @if let Some(other) = &teams.closest_alternative {
            details {
                summary {
                    (text!(teams.the_closest_alternative))
                    @if let Some(chance) = other.chance.flatten() { (mark!(teams.wins_with, { (called.name(0)) }, { (words::chance(chance)) })) }
                }
                @for (at, team) in other.teams.iter().enumerate() {
                    p { span class=(words::team_class(called.colour(at))) { (called.title(at)) } ": " (names(team)) }
                }
            }
        }
    }
}
