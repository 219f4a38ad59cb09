//! `/experiment`: which of two policies does better on the site's own servers.

use std::sync::Arc;

use maud::{Markup, html};
use serde::Serialize;

use super::parts::PageTable;
use crate::{
    Site, WebError,
    answer::{NoQuery, Page},
    experiments::{ArmReport, ExperimentOutcome, ExperimentReport, OutcomeReport, points},
    model::text::counted,
    plot, words,
};

/// The experiments of the site, the latest first.
#[derive(Debug, Serialize)]
pub(crate) struct ExperimentPage {
    experiments: Arc<Vec<ExperimentReport>>,
}

impl Page for ExperimentPage {
    type Choice = NoQuery;
    const PATH: &str = "/experiment";

    async fn read(site: &Site, _: &str, _: &NoQuery) -> Result<Self, WebError> {
        let experiments = site.experiments().await?;
        Ok(Self { experiments })
    }

    fn title(&self) -> String {
        "Experiment".to_owned()
    }

    fn description(&self, _: &Site) -> String {
        let latest = self.experiments.first();
        latest.map_or_else(
            || "Which of two ways to choose teams does better here.".to_owned(),
            |one| format!("{}.", one.verdict),
        )
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        let Some((latest, before)) = self.experiments.split_first() else {
            return Ok(html! {
                h1 { "Experiment" }
                p { "There is no experiment on this server. In one, each game is balanced by one of two policies, which is \
            drawn for it, and this page says which of them does better." }
            });
        };
        Ok(html! {
            h1 { "Experiment" }
            (whole(latest, site)?)
            @if !before.is_empty() {
                h2 { "Before" }
                ul { @for one in before { li { (days(one)) ": " (words::unbroken(&one.verdict)) "." } } }
            }
        })
    }
}

fn days(of: &ExperimentReport) -> String {
    let end = of.ended.map_or_else(|| "now".to_owned(), words::day);
    format!("{} to {end}", words::day(of.began))
}

fn whole(of: &ExperimentReport, site: &Site) -> Result<Markup, WebError> {
    let all: u64 = of.arms.iter().map(|arm| arm.matches).sum();
    Ok(html! {
        p { strong { (words::unbroken(&of.verdict)) "." } }
        p {
            (mark!("{0}: {1} of {2}, {3}.",
                { (days(of)) },
                { (counted(all as usize, "match")) },
                { (site.links.to_ruleset(&of.ruleset)) },
                { @match &of.why_ended { Some(why) => (mark!("ended because {0}", { (why) })), None => "still going on" } }
            ))
        }
        @if !of.course.is_empty() {
            (plot::interval(
                &format!("The difference between the two policies with each match: the interval in which it is. {}.", of.verdict),
                of.course.iter().map(|point| (point.matches as f64, point.interval)).collect(),
            )?)
            p.note { "The range of the difference, second policy minus first, after each match. It holds at every look: \
         whoever looks after each match is misled no more often than in one experiment of twenty." }
        }
        h2 { "The policies" }
        (arms(of))
        h2 { "What was measured" }
        (outcomes(of))
        p.note { "Only the first line has a verdict. The ranges of the others hold together, as often as that of the first \
         line alone. Who stays a member is not measured: that takes longer than an experiment, and a policy that loses \
         strangers can look good." }
        p.note {
            (mark!("The arms follow from a key. Its hash is {0}", { code { (of.commitment) } }))
            @match &of.key {
                Some(key) => { (mark!("; the key is {0}. With it, everybody can compute each arm again.", { code { (key) } })) }
                None => { "; the key is shown here at the end, so that everybody can see that no arm was changed." }
            }
        }
    })
}

fn arms(of: &ExperimentReport) -> PageTable<'_, ArmReport> {
    let share = |count: u64, arm: &ArmReport| match arm.matches {
        0 => "–".to_owned(),
        matches => words::percent(count as f64 / matches as f64),
    };
    PageTable::of("Policies", &of.arms)
        .name("Policy", |arm| &arm.name)
        .num("Games", |arm| arm.games)
        .num("Matches", |arm| arm.matches)
        .wide_num("Given up", move |arm| share(arm.abandoned, arm))
        .wide_num("Teams changed by hand", move |arm| share(arm.changed, arm))
}

fn outcomes(of: &ExperimentReport) -> PageTable<'_, OutcomeReport> {
    let [a, b] = &of.arms;
    let mean =
        |outcome: &OutcomeReport, arm: usize| words::known(outcome.means[arm], words::percent);
    PageTable::of("What was measured", &of.outcomes)
        .name("Matches that", |outcome| name(outcome.outcome))
        .num(&a.name, move |outcome| mean(outcome, 0))
        .num(&b.name, move |outcome| mean(outcome, 1))
        .wide_num("Difference", |outcome| {
            let [low, high] = outcome.interval;
            format!("{} to {}", points(low), points(high))
        })
}

fn name(outcome: ExperimentOutcome) -> &'static str {
    outcome.predicate()
}
