//! `/balance`: how even the matches of a ruleset are.

mod causes;
mod gaps;
mod lines;
mod predictions;
mod sides;
mod verdict;

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use crate::{
    model::{DAY, Timestamp},
    rating::history::{Closeness, WeekOfBalance, begin_of_week},
    web::{
        Site,
        answer::Page,
        chances::OF_FORECAST,
        encode::path_part,
        error::WebError,
        pages::span::Span,
        plot::{self, Bar, CalibrationPoint},
        words,
    },
};

use causes::CauseLine;
pub(super) use causes::name as cause_name;
use gaps::{GapBar, gap_bars};
use lines::{BalanceLine, WEEK_OF, table};
pub(super) use lines::{NamedBalance, table as balance_table};
use predictions::PredictionLine;
pub(super) use verdict::Share;
use verdict::Verdict;

/// The most weeks in the plot: the latest.
const WEEKS: usize = 26;
/// The most weeks in the table: two months.
const LISTED_WEEKS: usize = 8;

/// Of how many of the latest matches those that Evenkeel picked are compared with others.
const COMPARED: i64 = 1_000;

/// What a visitor chooses on this page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct BalanceChoice {
    ruleset: Option<String>,
    /// The date before and after which matches are compared.
    date: Option<String>,
    /// Of which time the causes are.
    span: Span,
}

/// The balance report of a ruleset.
#[derive(Debug, Serialize)]
pub(in crate::web) struct BalancePage {
    /// `None` as long as there are no rated matches.
    ruleset: Option<String>,
    rulesets: Vec<String>,
    date: Option<String>,
    /// Whether the predictions of the ruleset are better than a coin; `None` while its weights are derived again.
    predictions: Option<PredictionLine>,
    /// Whether the matches have become more even, and those that Evenkeel picked are.
    verdict: Verdict,
    all: BalanceLine,
    /// The weeks that began before the date, and the others.
    before: Option<BalanceLine>,
    after: Option<BalanceLine>,
    /// The number of matches by the difference of scores.
    gaps: Vec<GapBar>,
    calibration: Vec<CalibrationPoint>,
    /// What one-sided matches have in common, and the date from which on they are looked at; `None` for all.
    causes_since: Option<String>,
    #[serde(skip)]
    span: Span,
    causes: Vec<CauseLine>,
    /// The number of players of a team for which the maps have the chance between equally strong teams.
    usual_size: usize,
    maps: Vec<NamedBalance>,
    weeks: Vec<NamedBalance>,
}

impl BalancePage {
    fn controls(&self, site: &Site) -> Markup {
        html! {
            form.controls method="get" action=(site.links.to("/balance")) {
                label for="ruleset" { (text!(common.ruleset)) }
                select #ruleset name="ruleset" {
                    @for name in &self.rulesets {
                        option value=(name) selected[self.ruleset.as_ref() == Some(name)] { (name) }
                    }
                }
                label for="date" { (text!(balance.compare_before_and_after)) }
                input #date type="date" name="date" value=[self.date.as_ref()];
                button type="submit" { (text!(common.show)) }
            }
        }
    }

    /// The address of the page with the causes of this time.
    fn address(&self, span: Option<&str>) -> String {
        let mut path = "/balance".to_owned();
        if let Some(ruleset) = &self.ruleset {
            path.push_str(&format!("?ruleset={}", path_part(ruleset)));
            if let Some(date) = &self.date {
                path.push_str(&format!("&date={}", path_part(date)));
            }
            if let Some(span) = span {
                path.push_str(&format!("&span={span}"));
            }
        }
        path
    }

    /// What one-sided matches have in common, with links to the matches of each cause.
    fn causes(&self, site: &Site) -> Markup {
        let tabs = self.span.tabs(text!(balance.time_of_the_causes), |name| {
            site.links
                .to(&format!("{}#causes", self.address(Some(name))))
        });
        let ruleset = path_part(self.ruleset.as_deref().unwrap_or_default());
        let since = self.causes_since.as_deref();
        let matches = |cause: &str| {
            let since = since.map(|since| format!("&since={since}"));
            let since = since.unwrap_or_default();
            site.links
                .to(&format!("/matches?ruleset={ruleset}&cause={cause}{since}"))
        };
        causes::body(&self.causes, &tabs, since, matches)
    }

    fn plots(&self) -> Result<Markup, WebError> {
        let last = self.gaps.len().saturating_sub(1);
        let gaps = self.gaps.iter().enumerate();
        let gaps = gaps.map(|(at, bar)| Bar::new(bar.name(at == last), bar.matches as f64));
        let gaps: Vec<Bar> = gaps.collect();
        let gaps = plot::bars(
            text!(balance.number_of_matches_by_the_difference),
            text!(balance.difference_of_scores),
            &gaps,
        )?;
        let calibration = plot::calibration(
            text!(balance.how_often_favourites_won_by_their),
            &self.calibration,
        )?;
        Ok(html! {
            div.columns {
                @if !self.gaps.is_empty() {
                    figure { figcaption { (text!(balance.matches_by_the_difference_of_scores)) } (gaps) }
                }
                @if !self.calibration.is_empty() {
                    figure {
                        figcaption { (text!(balance.forecasts_on_the_line_favourites)) }
                        (calibration)
                    }
                }
            }
        })
    }
}

impl Page for BalancePage {
    type Choice = BalanceChoice;
    const PATH: &str = "/balance";

    /// Reads the balance report of the chosen ruleset, or of that with most matches.
    async fn read(site: &Site, _: &str, choice: &BalanceChoice) -> Result<Self, WebError> {
        let balance = site.balance().ok_or(WebError::Counting)?;
        let rulesets: Vec<String> = site.rulesets().into_iter().map(|own| own.ruleset).collect();
        let ruleset = match choice.ruleset.as_ref().filter(|name| !name.is_empty()) {
            Some(name) if rulesets.contains(name) => Some(name.clone()),
            Some(_) => return Err(WebError::NoRuleset),
            None => rulesets.first().cloned(),
        };
        let name = ruleset.clone().unwrap_or_default();
        let date = choice.date.clone().filter(|date| !date.is_empty());
        let from = match &date {
            Some(date) => Some(Timestamp::parse(date).ok_or(WebError::BadRequest)?),
            None => None,
        };
        let favoured = site.pages().matches().favoured(&name, COMPARED).await?;
        let own = balance.of(&name);
        let weeks = own.weeks();
        let part = |wanted: &dyn Fn(Timestamp) -> bool| {
            let weeks = weeks.iter().filter(|week| wanted(week.begins));
            BalanceLine::from(weeks.map(|week| week.closeness).sum::<Closeness>())
        };
        let all = part(&|_| true);
        let week =
            |week: &&WeekOfBalance| NamedBalance::new(words::day(week.begins), week.closeness);
        let usual_size = sides::usual_size(own.sizes(sides::LATEST));
        let last = weeks.last().map_or(Timestamp(0), |week| week.begins);
        let since = choice
            .span
            .since(last.plus_millis(7 * DAY))
            .map(begin_of_week);
        let gaps_by_causes = own.gaps_by_causes(since.unwrap_or(Timestamp(i64::MIN)));
        let with_teams = weeks.iter().filter(|week| week.closeness.matches > 0);
        let latest: Vec<&WeekOfBalance> = with_teams.collect();
        let latest = &latest[latest.len().saturating_sub(WEEKS)..];
        let with_matches = weeks
            .iter()
            .map(|week| week.closeness)
            .filter(|of| of.matches > 0);
        let with_matches: Vec<Closeness> = with_matches.collect();
        let predictions = PredictionLine::of(site, &name);
        Ok(Self {
            predictions,
            verdict: Verdict::new(&with_matches, &favoured),
            before: from.map(|from| part(&|begins| begins < from)),
            after: from.map(|from| part(&|begins| begins >= from)),
            gaps: match all.mean_gap {
                Some(_) => gap_bars(&own.gaps()),
                None => Vec::new(),
            },
            all,
            calibration: own
                .chances()
                .into_iter()
                .map(CalibrationPoint::from)
                .collect(),
            causes: causes::causes(&gaps_by_causes),
            causes_since: since.map(words::day),
            span: choice.span,
            usual_size,
            maps: sides::by_map(site, &name, usual_size, &own.maps(sides::MAPS)),
            weeks: latest.iter().map(week).collect(),
            ruleset,
            rulesets,
            date,
        })
    }

    fn title(&self) -> String {
        match &self.ruleset {
            Some(ruleset) => format!(text!(balance.balance_of), ruleset = ruleset),
            None => text!(common.balance).to_owned(),
        }
    }

    fn path(&self) -> String {
        self.address(self.span.query())
    }

    fn description(&self, _: &Site) -> String {
        let won = self.all.favourite_won.map(|share| {
            let (share, matches) = (words::percent(share), self.all.matches);
            format!(
                text!(balance.favourites_won_of_the_decided_ones),
                share = share,
                matches = matches
            )
        });
        let ruleset = self
            .ruleset
            .as_deref()
            .unwrap_or(text!(balance.all_rulesets));
        format!(
            text!(balance.how_even_the_matches_of_are),
            won.unwrap_or_default(),
            ruleset = ruleset
        )
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        let part = |name: &str, line: &BalanceLine| NamedBalance {
            name: name.to_owned(),
            line: line.clone(),
            between_equals: None,
            team_0: None,
        };
        let mut parts = vec![part(text!(common.all), &self.all)];
        parts.extend(
            self.before
                .iter()
                .map(|line| part(text!(common.before), line)),
        );
        parts.extend(
            self.after
                .iter()
                .map(|line| part(text!(balance.after), line)),
        );
        let by_week = self
            .weeks
            .iter()
            .filter_map(|week| Some(Bar::new(week.name.clone(), week.line.mean_gap?)));
        let by_week: Vec<Bar> = by_week.collect();
        let names = self
            .ruleset
            .as_deref()
            .map(|ruleset| site.team_names(ruleset));
        let team_0 = names.unwrap_or_default().title(0);
        Ok(html! {
            h1 { (text!(common.balance)) }
            @if self.ruleset.is_none() {
                p { (text!(balance.no_match_has_been_rated_yet)) }
            } @else {
                (self.controls(site))
                (self.verdict.body())
                @if let Some(predictions) = &self.predictions { (predictions.body(site)) }
                (table(text!(common.balance), text!(balance.weeks), &parts, &team_0))
                p.note {
                    (mark!(balance.the_favourite_is_the_team_that_was, { (OF_FORECAST) }))
                }
                (self.plots()?)
                @if by_week.len() > 1 {
                    figure {
                        figcaption { (text!(balance.mean_difference_of_scores_by_week)) }
                        (plot::bars(text!(balance.mean_difference_of_scores_by_week), text!(balance.week_that_begins_on), &by_week)?)
                    }
                }
                (self.causes(site))
                h2 { (text!(balance.by_map)) }
                (table(text!(balance.by_map), text!(common.map), &self.maps, &team_0))
                @if self.maps.iter().any(|of| of.between_equals.is_some()) {
                    p.note {
                        (mark!(balance.equal_teams_is_how_often_that_team,
                            { (team_0) },
                            { (self.usual_size) },
                            { (self.usual_size) }
                        ))
                    }
                }
                h2 { (text!(balance.by_week)) }
                (table(text!(balance.by_week), WEEK_OF, self.weeks.iter().rev().take(LISTED_WEEKS), &team_0))
            }
        })
    }
}
