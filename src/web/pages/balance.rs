//! `/balance`: how even the matches of a ruleset are.

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use super::lists::scrolled;
use crate::{
    domain::{Timestamp, plain_name},
    store::{ChanceStep, Closeness, WeekOfBalance},
    web::{
        Site,
        answer::Page,
        encode::path_part,
        error::WebError,
        plot::{self, Bar},
        words,
    },
};

/// The most maps in the table.
const MAPS: i64 = 25;
/// The most weeks in the plot and in the table: the latest.
const WEEKS: usize = 26;
/// The most bars in the plot of differences.
const BARS: i64 = 14;

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

/// How even some matches were.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct BalanceLine {
    matches: i64,
    mean_gap: Option<f64>,
    draws: Option<f64>,
    team_1_won: Option<f64>,
    predicted: i64,
    favourite_won: Option<f64>,
    /// The mean squared difference between chance and result: 0.25 for a coin.
    brier: Option<f64>,
    mean_minutes: Option<f64>,
}

#[derive(Debug, Serialize)]
struct NamedBalance {
    name: String,
    #[serde(flatten)]
    line: BalanceLine,
}

/// Matches whose scores differ by `from` to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct GapBar {
    from: i64,
    to: i64,
    matches: i64,
}

#[derive(Debug, Serialize)]
struct CalibrationPoint {
    #[serde(serialize_with = "rounded")]
    chance: f64,
    #[serde(serialize_with = "rounded")]
    won: f64,
    matches: i64,
}

fn rounded<S: serde::Serializer>(number: &f64, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_f64((number * 10_000.0).round() / 10_000.0)
}

impl From<Closeness> for BalanceLine {
    fn from(of: Closeness) -> Self {
        Self {
            matches: of.matches,
            mean_gap: words::mean(of.gap, of.matches),
            draws: words::mean(of.draws as f64, of.matches),
            team_1_won: words::mean(of.first_won as f64, of.decided),
            predicted: of.predicted,
            favourite_won: words::mean(of.favoured as f64, of.predicted),
            brier: words::mean(of.brier, of.predicted),
            mean_minutes: words::mean(of.minutes, of.matches),
        }
    }
}

/// Reads the balance report of the chosen ruleset, or of that with most matches.
pub(in crate::web) async fn balance(
    site: &Site,
    choice: BalanceChoice,
) -> Result<BalancePage, WebError> {
    let lines = site.pages().ruleset_lines().await?;
    let rulesets: Vec<String> = lines.iter().map(|line| line.ruleset.clone()).collect();
    let ruleset = match choice.ruleset.filter(|name| !name.is_empty()) {
        Some(name) if rulesets.contains(&name) => Some(name),
        Some(_) => return Err(WebError::NoRuleset),
        None => rulesets.first().cloned(),
    };
    let name = ruleset.clone().unwrap_or_default();
    let date = choice.date.filter(|date| !date.is_empty());
    let from = match &date {
        Some(date) => Some(Timestamp::parse(date).ok_or(WebError::BadRequest)?),
        None => None,
    };
    let weeks = site.pages().balance_weeks(&name).await?;
    let part = |wanted: &dyn Fn(Timestamp) -> bool| {
        let weeks = weeks.iter().filter(|week| wanted(week.begins));
        BalanceLine::from(sum(weeks))
    };
    let maps = site.pages().balance_maps(&name, MAPS).await?;
    let steps = site.pages().balance_chances(&name).await?;
    let point = |step: ChanceStep| CalibrationPoint {
        chance: step.chance,
        won: step.won,
        matches: step.matches,
    };
    let week = |week: &WeekOfBalance| NamedBalance {
        name: words::day(week.begins),
        line: week.closeness.into(),
    };
    let with_teams = weeks.iter().filter(|week| week.closeness.matches > 0);
    let latest: Vec<&WeekOfBalance> = with_teams.collect();
    let latest = &latest[latest.len().saturating_sub(WEEKS)..];
    Ok(BalancePage {
        all: part(&|_| true),
        before: from.map(|from| part(&|begins| begins < from)),
        after: from.map(|from| part(&|begins| begins >= from)),
        gaps: gap_bars(&site.pages().balance_gaps(&name).await?),
        calibration: steps.into_iter().map(point).collect(),
        maps: maps
            .into_iter()
            .map(|map| NamedBalance {
                name: plain_name(&map.map),
                line: map.closeness.into(),
            })
            .collect(),
        weeks: latest.iter().map(|own| week(own)).collect(),
        ruleset,
        rulesets,
        date,
    })
}

fn sum<'a>(weeks: impl Iterator<Item = &'a WeekOfBalance>) -> Closeness {
    weeks.fold(Closeness::default(), |sum, week| {
        let of = &week.closeness;
        Closeness {
            rated: sum.rated + of.rated,
            matches: sum.matches + of.matches,
            draws: sum.draws + of.draws,
            gap: sum.gap + of.gap,
            minutes: sum.minutes + of.minutes,
            first_won: sum.first_won + of.first_won,
            decided: sum.decided + of.decided,
            predicted: sum.predicted + of.predicted,
            favoured: sum.favoured + of.favoured,
            brier: sum.brier + of.brier,
        }
    })
}

/// Bars of equal width over the differences. The last one has all differences from 19 of 20 on, so that a
/// few large ones do not squeeze all others.
fn gap_bars(gaps: &[(i64, i64)]) -> Vec<GapBar> {
    let all: i64 = gaps.iter().map(|(_, matches)| matches).sum();
    let (mut seen, mut usual) = (0, 0);
    for (gap, matches) in gaps {
        usual = *gap;
        seen += matches;
        if seen * 20 >= all * 19 {
            break;
        }
    }
    let width = usual.max(0) / (BARS - 1) + 1;
    let count = usual / width + 1;
    let mut bars: Vec<GapBar> = (0..count)
        .map(|at| GapBar {
            from: at * width,
            to: at * width + width - 1,
            matches: 0,
        })
        .collect();
    let largest = gaps.last().map_or(0, |(gap, _)| *gap);
    if gaps.is_empty() {
        return Vec::new();
    }
    if let Some(last) = bars.last_mut()
        && largest > last.to
    {
        let from = last.to + 1;
        bars.push(GapBar {
            from,
            to: largest,
            matches: 0,
        });
    }
    for (gap, matches) in gaps {
        let at = usize::try_from(gap / width)
            .unwrap_or(0)
            .min(bars.len() - 1);
        bars[at].matches += matches;
    }
    bars
}

impl GapBar {
    fn name(&self, is_last: bool) -> String {
        match (self.from == self.to, is_last && self.to > self.from) {
            (true, _) => self.from.to_string(),
            (false, true) => format!("{}+", self.from),
            (false, false) => format!("{}–{}", self.from, self.to),
        }
    }
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
        let steps: Vec<ChanceStep> = self
            .calibration
            .iter()
            .map(|point| ChanceStep {
                matches: point.matches,
                chance: point.chance,
                won: point.won,
            })
            .collect();
        let gaps = plot::bars(
            "Number of matches by the difference of scores",
            "difference of scores",
            &gaps,
        )?;
        let calibration = plot::calibration("How often favourites won, by their chance", &steps)?;
        Ok(html! {
            div.columns {
                figure { figcaption { "Matches by the difference of scores" } (gaps) }
                @if !steps.is_empty() {
                    figure { figcaption { "Predictions: on the line, favourites win as often as predicted" } (calibration) }
                }
            }
        })
    }
}

/// A table with a line for each name.
fn table(label: &str, first: &str, lines: &[(&str, &BalanceLine)]) -> Markup {
    scrolled(
        label,
        &html! {
            table {
                thead {
                    tr {
                        th scope="col" { (first) }
                        th.num scope="col" { "Matches" }
                        th.num scope="col" { "Mean difference" }
                        th.num.wide scope="col" { "Draws" }
                        th.num.wide scope="col" { "Team 1 won" }
                        th.num scope="col" { "Favourite won" }
                        th.num.wide scope="col" { abbr title="Mean squared difference between chance and result" { "Brier" } }
                        th.num.wide scope="col" { "Minutes" }
                    }
                }
                tbody {
                    @for (name, line) in lines {
                        tr {
                            th scope="row" { (name) }
                            td.num { (line.matches) }
                            td.num { (words::or_dash(line.mean_gap.map(words::tenths))) }
                            td.num.wide { (words::or_dash(line.draws.map(words::percent))) }
                            td.num.wide { (words::or_dash(line.team_1_won.map(words::percent))) }
                            td.num { (words::or_dash(line.favourite_won.map(words::percent))) }
                            td.num.wide { (words::or_dash(line.brier.map(|brier| format!("{brier:.3}")))) }
                            td.num.wide { (words::or_dash(line.mean_minutes.map(words::tenths))) }
                        }
                    }
                }
            }
        },
    )
}

fn named(list: &[NamedBalance]) -> Vec<(&str, &BalanceLine)> {
    list.iter()
        .map(|own| (own.name.as_str(), &own.line))
        .collect()
}

impl Page for BalancePage {
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

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        let mut lines = vec![("All", &self.all)];
        lines.extend(self.before.as_ref().map(|line| ("Before", line)));
        lines.extend(self.after.as_ref().map(|line| ("After", line)));
        let weeks: Vec<(&str, &BalanceLine)> = named(&self.weeks).into_iter().rev().collect();
        let by_week = self.weeks.iter().map(|week| Bar {
            name: week.name.clone(),
            height: week.line.mean_gap.unwrap_or(0.0),
        });
        let by_week: Vec<Bar> = by_week.collect();
        Ok(html! {
            h1 { "Balance" }
            @if self.ruleset.is_none() {
                p { "No match has been rated yet." }
            } @else {
                (self.controls(site))
                (table("Balance", "Weeks", &lines))
                p.note {
                    "The favourite is the team that was more likely to win by the weights before the match; the closer to \
                     50 % it won, the more even the teams were. Brier is the mean squared difference between chance and \
                     result: 0.25 for a coin, and the lower, the more was known. A week counts as before a date if it \
                     begins before it."
                }
                (self.plots()?)
                @if self.weeks.len() > 1 {
                    figure {
                        figcaption { "Mean difference of scores by week" }
                        (plot::bars("Mean difference of scores by week", "week that begins on", &by_week)?)
                    }
                }
                h2 { "By map" }
                (table("By map", "Map", &named(&self.maps)))
                h2 { "By week" }
                (table("By week", "Week of", &weeks))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_match_is_in_one_bar() {
        let lists: [&[(i64, i64)]; 5] = [
            &[(0, 3)],
            &[(0, 10), (1, 20), (2, 5), (5, 1)],
            &[(0, 1), (40, 50), (99, 40), (1_000_000, 1)],
            &[(i64::MAX / 2, 1)],
            &[],
        ];
        for gaps in lists {
            let bars = gap_bars(gaps);
            assert!(bars.len() as i64 <= BARS + 1, "{bars:?}");
            let all = |list: &mut dyn Iterator<Item = i64>| list.sum::<i64>();
            assert_eq!(
                all(&mut bars.iter().map(|bar| bar.matches)),
                all(&mut gaps.iter().map(|(_, matches)| *matches)),
            );
            assert!(bars.windows(2).all(|pair| pair[0].to + 1 == pair[1].from));
        }
        let bars = gap_bars(&[(0, 10), (1, 20), (2, 5), (5, 1)]);
        let names: Vec<_> = (0..bars.len())
            .map(|at| bars[at].name(at + 1 == bars.len()))
            .collect();
        assert_eq!(names, ["0", "1", "2", "3+"]);
    }
}
