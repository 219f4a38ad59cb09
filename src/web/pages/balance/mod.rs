//! `/balance`: how even the matches of a ruleset are.

mod gaps;
mod lines;
mod verdict;

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use crate::{
    domain::{Timestamp, plain_name},
    store::{Closeness, MapOfBalance, WeekOfBalance},
    web::{
        Site,
        answer::Page,
        chances::OF_FORECAST,
        encode::path_part,
        error::WebError,
        plot::{self, Bar, CalibrationPoint},
        words,
    },
};

use gaps::{GapBar, gap_bars};
use lines::{BalanceLine, WEEK_OF, table};
pub(super) use lines::{NamedBalance, table as balance_table};
use verdict::Verdict;

/// The most maps in the table.
const MAPS: i64 = 25;
/// The most weeks in the plot: the latest.
const WEEKS: usize = 26;
/// The most weeks in the table: two months.
const LISTED_WEEKS: usize = 8;

/// Of how many of the latest matches those that Evenkeel picked are compared with others.
const COMPARED: i64 = 2_000;

/// What a visitor chooses on this page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::web) struct BalanceChoice {
    ruleset: Option<String>,
    /// The date before and after which matches are compared.
    date: Option<String>,
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
    maps: Vec<NamedBalance>,
    weeks: Vec<NamedBalance>,
}

/// How far the predictions of a ruleset are from a coin.
#[derive(Debug, Serialize)]
struct PredictionLine {
    learned: u64,
    predicted: u64,
    /// By how much the mean log loss is lower than a coin's.
    gain: f64,
    /// The 95 % interval reaches so far on both sides of the gain; `None` for too few predictions.
    gain_reach: Option<f64>,
    sentence: String,
}

impl BalancePage {
    fn controls(&self, site: &Site) -> Markup {
        html! {
            form.controls method="get" action=(site.links.to("/balance")) {
                label for="ruleset" { "Ruleset" }
                select #ruleset name="ruleset" {
                    @for name in &self.rulesets {
                        option value=(name) selected[self.ruleset.as_ref() == Some(name)] { (name) }
                    }
                }
                label for="date" { "Compare before and after" }
                input #date type="date" name="date" value=[self.date.as_ref()];
                button type="submit" { "Show" }
            }
        }
    }

    fn plots(&self) -> Result<Markup, WebError> {
        let last = self.gaps.len().saturating_sub(1);
        let gaps = self.gaps.iter().enumerate().map(|(at, bar)| Bar {
            name: bar.name(at == last),
            height: bar.matches as f64,
        });
        let gaps: Vec<Bar> = gaps.collect();
        let gaps = plot::bars(
            "Number of matches by the difference of scores",
            "difference of scores",
            &gaps,
        )?;
        let calibration = plot::calibration(
            "How often favourites won, by their forecast",
            &self.calibration,
        )?;
        Ok(html! {
            div.columns {
                @if !self.gaps.is_empty() {
                    figure { figcaption { "Matches by the difference of scores" } (gaps) }
                }
                @if !self.calibration.is_empty() {
                    figure {
                        figcaption { "Forecasts: on the line, favourites win as often as predicted. A draw is half a win" }
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
        let lines = site.pages().ruleset_lines().await?;
        let rulesets: Vec<String> = lines.iter().map(|line| line.ruleset.clone()).collect();
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
        let weeks = site.pages().balance_weeks(&name).await?;
        let part = |wanted: &dyn Fn(Timestamp) -> bool| {
            let weeks = weeks.iter().filter(|week| wanted(week.begins));
            BalanceLine::from(weeks.map(|week| week.closeness).sum::<Closeness>())
        };
        let all = part(&|_| true);
        let gaps = match all.mean_gap {
            Some(_) => gap_bars(&site.pages().balance_gaps(&name).await?),
            None => Vec::new(),
        };
        let maps = site.pages().balance_maps(&name, MAPS).await?;
        let steps = site.pages().balance_chances(&name).await?;
        let week =
            |week: &&WeekOfBalance| NamedBalance::new(words::day(week.begins), week.closeness);
        let map = |of: &MapOfBalance| NamedBalance::new(plain_name(&of.map), of.closeness);
        let with_teams = weeks.iter().filter(|week| week.closeness.matches > 0);
        let latest: Vec<&WeekOfBalance> = with_teams.collect();
        let latest = &latest[latest.len().saturating_sub(WEEKS)..];
        let with_matches = weeks
            .iter()
            .map(|week| week.closeness)
            .filter(|of| of.matches > 0);
        let with_matches: Vec<Closeness> = with_matches.collect();
        let favoured = site.pages().favoured(&name, COMPARED).await?;
        let beside_coin = site.learning().metrics().beside_coin(&name);
        let predictions = beside_coin.map(|of| PredictionLine {
            learned: of.learned,
            predicted: of.predicted,
            gain: words::rounded(of.gain, 4),
            gain_reach: of.reach,
            sentence: of.to_string(),
        });
        Ok(Self {
            predictions,
            verdict: Verdict::new(&with_matches, &favoured),
            all,
            before: from.map(|from| part(&|begins| begins < from)),
            after: from.map(|from| part(&|begins| begins >= from)),
            gaps,
            calibration: steps.into_iter().map(CalibrationPoint::from).collect(),
            maps: maps.iter().map(map).collect(),
            weeks: latest.iter().map(week).collect(),
            ruleset,
            rulesets,
            date,
        })
    }

    fn title(&self) -> String {
        match &self.ruleset {
            Some(ruleset) => format!("Balance of {ruleset}"),
            None => "Balance".to_owned(),
        }
    }

    fn path(&self) -> String {
        let mut path = "/balance".to_owned();
        if let Some(ruleset) = &self.ruleset {
            path.push_str(&format!("?ruleset={}", path_part(ruleset)));
            if let Some(date) = &self.date {
                path.push_str(&format!("&date={}", path_part(date)));
            }
        }
        path
    }

    fn description(&self, _: &Site) -> String {
        let won = self.all.favourite_won.map(|share| {
            let (share, matches) = (words::percent(share), self.all.matches);
            format!("Favourites won {share} of the decided ones among {matches} matches.")
        });
        let ruleset = self.ruleset.as_deref().unwrap_or("all rulesets");
        format!(
            "How even the matches of {ruleset} are. {}",
            won.unwrap_or_default()
        )
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        let part = |name: &str, line: &BalanceLine| NamedBalance {
            name: name.to_owned(),
            line: line.clone(),
        };
        let mut parts = vec![part("All", &self.all)];
        parts.extend(self.before.iter().map(|line| part("Before", line)));
        parts.extend(self.after.iter().map(|line| part("After", line)));
        let by_week = self.weeks.iter().filter_map(|week| {
            Some(Bar {
                name: week.name.clone(),
                height: week.line.mean_gap?,
            })
        });
        let by_week: Vec<Bar> = by_week.collect();
        Ok(html! {
            h1 { "Balance" }
            @if self.ruleset.is_none() {
                p { "No match has been rated yet." }
            } @else {
                (self.controls(site))
                (self.verdict.body())
                @if let Some(predictions) = &self.predictions {
                    p {
                        (predictions.sentence) ". "
                        a href=(site.links.to("/systems")) { "All rating systems compared" }
                    }
                }
                (table("Balance", "Weeks", &parts))
                p.note {
                    "The favourite is the team that was more likely to win by the forecast; the closer to 50 % it won, \
                     the more even the teams were. Shares of wins are of the matches that a team won, without draws. \
                     A week counts as before a date if it begins before it. " (OF_FORECAST)
                }
                (self.plots()?)
                @if by_week.len() > 1 {
                    figure {
                        figcaption { "Mean difference of scores by week" }
                        (plot::bars("Mean difference of scores by week", "week that begins on", &by_week)?)
                    }
                }
                h2 { "By map" }
                (table("By map", "Map", &self.maps))
                h2 { "By week" }
                (table("By week", WEEK_OF, self.weeks.iter().rev().take(LISTED_WEEKS)))
            }
        })
    }
}
