//! The first form: who plays what; the questions about names.

use maud::{Markup, html};

use super::{
    Shown,
    ask::{called, latest_players},
    parts::{alert, form, sign_in},
    people::{Known, Person},
    pick::Pick,
    played::latest,
    result,
    settle::{Doubt, Question, settle},
    signed::Sender,
};
use crate::{
    model::counted,
    rating::history::RulesetTotals,
    session::draw_seed,
    web::{Site, api::Problem, asset, encode::path_part},
};

/// How many of those who played last can be ticked.
const TICKS: usize = 40;
/// How many rulesets are offered.
const RULESETS: usize = 8;

/// The first page, filled in as far as the pick states it, and what was wrong with it.
pub(super) async fn page(
    site: &Site,
    sender: &Sender,
    mut pick: Pick,
    problem: Option<Problem>,
) -> Result<Shown, Problem> {
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
        h1 { (text!(teams.fair_teams)) }
        @if let Some(problem) = &problem { (alert(problem)) }
        @if let Some(line) = &latest { (result::latest(site, sender, &pick, line)) }
        @if sender.may_pick() {
            (choice_of_ruleset(site, &pick, &rulesets))
            (form(site, sender, &hidden(&pick), &fields(&pick, &rulesets, &ticks, &site.team_names(&pick.ruleset).name(0))))
            script src=(site.links.to(&asset::TEAMS.path)) defer {}
        }
        (sign_in(site, sender, &pick))
    };
    Ok(Shown {
        status: status.unwrap_or_default(),
        ..page.into()
    })
}

/// The players who can be ticked: those of the pick, and others who played last. Who was new in the pick may be known by
/// now. Whoever has a weight in the pick stands in its list again.
async fn ticks(site: &Site, pick: &mut Pick) -> Result<Vec<Known>, Problem> {
    let known = called(site, &pick.ruleset, &pick.new, &pick.known).await?;
    let people = settle(pick, &[], &known, &[]).people;
    let (listed, people): (Vec<Person>, Vec<Person>) =
        (people.into_iter()).partition(|one| pick.weight_of(one).is_some());
    let line = |one: &Person| Some(format!("{} {}", pick.weight_of(one)?, one.name()));
    let mut names: Vec<String> = listed.iter().filter_map(line).collect();
    names.extend(Some(std::mem::take(&mut pick.names)).filter(|names| !names.is_empty()));
    pick.settle(&people);
    pick.weights.clear();
    pick.names = names.join("\n");
    let mut ticks: Vec<Known> = people.into_iter().filter_map(Person::known).collect();
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
            nav.tabs.wrap aria-label=(text!(teams.what_is_played)) {
                @for line in rulesets.iter().take(RULESETS) {
                    a href=(link(&line.ruleset)) aria-current=[here(&line.ruleset)] { (line.ruleset) }
                }
            }
        }
    }
}

/// The visible fields. `team` is what one of the teams is called.
fn fields(pick: &Pick, rulesets: &[RulesetTotals], ticks: &[Known], team: &str) -> Markup {
    let is_ticked = |one: &Known| pick.known.contains(&one.handle);
    let wishes = [&pick.together, &pick.apart, &pick.pinned];
    let has_wishes = wishes.iter().any(|wish| !wish.is_empty());
    html! {
        label for="ruleset" { (text!(teams.what_do_you_play)) }
        input #ruleset name="ruleset" value=(pick.ruleset) list="rulesets" required maxlength="255"
            autocomplete="off" autocapitalize="none" placeholder=(text!(teams.futsal));
        datalist #rulesets {
            @for line in rulesets.iter().take(RULESETS) { option value=(line.ruleset) {} }
        }
        label for="names" { (text!(teams.who_plays_one_name_on_each_line_or)) }
        textarea #names name="names" rows="5" autocomplete="off" { (pick.names) }
        @if !ticks.is_empty() || !pick.new.is_empty() {
            fieldset.ticks {
                legend { (text!(teams.or_tick_who_played_last)) }
                @for name in &pick.new {
                    label { input type="checkbox" name="new" value=(name) checked; bdi { (name) } span.tag { (text!(teams.new)) } }
                }
                @for one in ticks {
                    label { input type="checkbox" name="on" value=(one.handle) checked[is_ticked(one)]; bdi { (one.name) } }
                }
            }
        }
        label for="teams" { (text!(teams.how_many_teams)) }
        select #teams name="teams" {
            @for number in 2..=8 { option value=(number) selected[number == pick.teams] { (mark!(teams.teams, { (number) })) } }
        }
        details open[has_wishes] {
            summary { (text!(teams.who_must_be_together_and_who_apart)) }
            label for="together" { (text!(teams.together_one_group_on_each_line)) }
            textarea #together name="together" rows="2" placeholder=(text!(teams.ann_bob)) autocomplete="off" { (pick.together) }
            label for="apart" { (text!(teams.apart_one_group_on_each_line)) }
            textarea #apart name="apart" rows="2" placeholder=(text!(teams.cid_dan)) autocomplete="off" { (pick.apart) }
            label for="pinned" { (text!(teams.on_a_team_one_team_on_each_line)) }
            textarea #pinned name="pinned" rows="2" placeholder=(format!(text!(teams.team_and_names), team)) autocomplete="off" { (pick.pinned) }
        }
        button.main type="submit" name="do" value="pick" { (text!(teams.make_teams)) span #count data-of=(text!(teams.of_so_many)) {} }
    }
}

/// The form that asks who is meant by names.
pub(super) fn questions(
    site: &Site,
    sender: &Sender,
    pick: &Pick,
    questions: &[Question],
) -> Markup {
    let (new, others): (Vec<_>, Vec<_>) = questions.iter().partition(|one| one.is_new());
    let doubt: Vec<&str> = others.iter().map(|one| one.typed.text.as_str()).collect();
    let body = html! {
        input type="hidden" name="doubt" value=(doubt.join("\n"));
        @for (number, one) in others.iter().enumerate() { (question(number, one)) }
        @if !new.is_empty() {
            fieldset.ticks {
                legend { (text!(teams.new_players)) }
                @for one in new {
                    label { input type="checkbox" name="new" value=(one.name()) checked; bdi { (one.name()) } }
                }
            }
        }
        button.main type="submit" name="do" value="pick" { (text!(teams.make_teams)) }
        button type="submit" name="do" value="edit" formnovalidate { (text!(teams.back)) }
    };
    html! {
        h1 { (text!(teams.who_is_who)) }
        (form(site, sender, &pick.fields(), &body))
    }
}

/// One question. Nothing is chosen before somebody has answered.
fn question(number: usize, question: &Question) -> Markup {
    let field = format!("ask{number}");
    let choice = |value: &str, words: &Markup| {
        html! {
            label.choice {
                input type="radio" name=(field) value=(value) required;
                span { (words) }
            }
        }
    };
    let known = |one: &Known| {
        let value = Person::Known(one.clone()).value();
        let games = counted(u64::try_from(one.games).unwrap_or(0), "game");
        choice(&value, &html! { bdi { (one.name) } ", " (games) })
    };
    let name = question.name();
    let (said, choices) = match &question.why {
        Doubt::Unknown { near } => {
            let said = html! { (mark!(teams.did_you_mean, { bdi { (name) } })) };
            let new = choice(
                &format!("new:{name}"),
                &html! { (mark!(teams.is_a_new_player, { bdi { (name) } })) },
            );
            (said, html! { @for one in near { (known(one)) } (new) })
        }
        Doubt::Several { who } => {
            let said = html! { (mark!(teams.which, { bdi { (name) } })) };
            (said, html! { @for one in who { (known(one)) } })
        }
        Doubt::Twice { other } => {
            let once = choice("drop", &html! { (text!(teams.the_same_person_count_once)) });
            let two = html! { (mark!(teams.somebody_else, { bdi { (other) } })) };
            let two = choice(&format!("new:{other}"), &two);
            (
                html! { (mark!(teams.is_there_twice, { bdi { (name) } })) },
                html! { (once) (two) },
            )
        }
    };
    let leave_out = !matches!(question.why, Doubt::Twice { .. });
    html! {
        fieldset {
            legend { (said) }
            (choices)
            @if leave_out { (choice("drop", &html! { (text!(teams.does_not_play)) })) }
        }
    }
}
