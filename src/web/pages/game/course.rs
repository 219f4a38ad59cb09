//! The score of a match over time, with the chance that went with it.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    model::{Ruleset, TeamNames},
    store::PageMatch,
    web::{
        Site,
        error::WebError,
        pages::lists::MatchSummary,
        plot,
        with_score::{OF_WITH_SCORE, UsualScores},
        words,
    },
};

/// How a match went on.
#[derive(Debug, Serialize)]
pub(super) struct Course {
    /// Changes of the score: milliseconds, team, and points.
    events: Vec<(i64, u8, f64)>,
    /// The chance of team 0 with the score, as (milliseconds, chance). Empty if it is not known.
    chance_over_time: Vec<(u64, f64)>,
}

impl Course {
    /// The course of a match under this ruleset.
    pub(super) async fn read(
        site: &Site,
        found: &PageMatch,
        ruleset: &Ruleset,
    ) -> Result<Self, WebError> {
        let line = &found.line;
        let before = before(found);
        let whole = found.events.len() < PageMatch::MOST_EVENTS;
        let told = site.settings.shows_numbers() && line.scores.len() == 2 && !before.is_empty();
        let chance_over_time = match told && whole && !found.events.is_empty() && !line.untimed {
            true => {
                let millis = u64::try_from(line.ended.0.saturating_sub(line.started.0));
                let usual = UsualScores::of(site, ruleset).await?;
                usual.course(&before, &found.events, millis.unwrap_or(0))
            }
            false => Vec::new(),
        };
        Ok(Self {
            events: found.events.clone(),
            chance_over_time,
        })
    }

    /// The plots.
    pub(super) fn body(&self, summary: &MatchSummary, millis: i64) -> Result<Markup, WebError> {
        let names = &summary.team_names;
        let Some(scores) = summary.known_scores().filter(|_| !self.events.is_empty()) else {
            return Ok(html! {});
        };
        let label = format!(
            text!(game.score_over_time_to_the_result),
            words::scores(&scores)
        );
        let score = plot::score(&label, (scores.len(), names), millis, &self.events)?;
        let chance = match self.chance_over_time.is_empty() {
            true => html! {},
            false => self.chance(names)?,
        };
        Ok(html! {
            div.columns {
                figure {
                    figcaption {
                        (text!(game.score_over_time))
                        @for team in 0..scores.len() { span class=(words::team_class(names.colour(team))) { (names.name(team)) } " " }
                    }
                    (score)
                }
                (chance)
            }
            @if !self.chance_over_time.is_empty() { p.note { (OF_WITH_SCORE) } }
        })
    }

    /// The plot of the chance.
    fn chance(&self, names: &TeamNames) -> Result<Markup, WebError> {
        let of = |point: Option<&(u64, f64)>| {
            point.map_or(String::new(), |(_, chance)| words::chance(*chance))
        };
        let points = &self.chance_over_time;
        let least = points.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let most = points.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let label = format!(
            text!(game.chance_of_over_time_at_the_start),
            names.name(0),
            of(points.first()),
            of(least),
            of(most)
        );
        let plot = plot::chance(&label, points, names.colour(0))?;
        Ok(html! {
            figure {
                figcaption { (mark!(game.chance_of_with_the_score, { span class=(words::team_class(names.colour(0))) { (names.name(0)) } })) }
                (plot)
            }
        })
    }
}

/// The chances of team 0 without the score, each with the time from which it holds: those that were predicted while the
/// match was played, else the forecast.
fn before(found: &PageMatch) -> Vec<(u64, f64)> {
    let told = &found.line.chances;
    let started = told.started.as_ref().or(told.picked.as_ref());
    let started = started.and_then(|teams| teams.of_first());
    let start = started.or(found.line.forecast).map(|chance| (0, chance));
    let changes = found.changes.iter();
    let changes = changes.filter_map(|change| Some((change.at, change.teams.of_first()?)));
    start.into_iter().chain(changes).collect()
}
