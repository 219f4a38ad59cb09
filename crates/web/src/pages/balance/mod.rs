//! `/balance`: how even the matches of a ruleset are, over time, by map, and by the difference of their scores, and
//! whether its predictions are better than a coin.

mod verdict;

pub(super) use verdict::{FavouriteShare, cause_name};

use maud::{Markup, html};
use serde::{Deserialize, Serialize};

use crate::{
    Site, WebError,
    answer::Page,
    chances::{OF_DECIDED, OF_FORECAST},
    learning::Standings,
    links::path_part,
    model::{
        Kind, PlayerKey, Ruleset, Timestamp, names::plain_name, time::DAY, win_model::LineupPlayer,
    },
    pages::parts::{PageTable, RecentSpan},
    plot::{self, Bar, CalibrationPoint},
    rating::history::{Closeness, MapOfBalance, WeekOfBalance, begin_of_week},
    words::{self, known, percent, tenths},
};

use verdict::{BalanceVerdict, CauseLine};

/// The most weeks in the plot: the latest.
const WEEKS: usize = 26;
/// The most weeks in the table: two months.
const LISTED_WEEKS: usize = 8;

/// Of how many of the latest matches those that Evenkeel picked are compared with others.
const COMPARED: i64 = 1_000;

/// What a visitor chooses on this page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct BalanceChoice {
    ruleset: Option<String>,
    /// The date before and after which matches are compared.
    date: Option<String>,
    /// Of which time the causes are.
    span: RecentSpan,
}

/// The balance report of a ruleset.
#[derive(Debug, Serialize)]
pub(crate) struct BalancePage {
    /// `None` as long as there are no rated matches.
    ruleset: Option<String>,
    rulesets: Vec<String>,
    date: Option<String>,
    /// Whether the predictions of the ruleset are better than a coin; `None` while its weights are derived again.
    predictions: Option<PredictionLine>,
    /// Whether the matches have become more even, and those that Evenkeel picked are.
    verdict: BalanceVerdict,
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
    span: RecentSpan,
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
                label for="ruleset" { "Game type" }
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
        let tabs = self.span.tabs("Time of the causes", |name| {
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
        verdict::causes_body(&self.causes, &tabs, since, matches)
    }

    fn plots(&self) -> Result<Markup, WebError> {
        let last = self.gaps.len().saturating_sub(1);
        let gaps = self.gaps.iter().enumerate();
        let gaps = gaps.map(|(at, bar)| Bar::new(bar.name(at == last), bar.matches as f64));
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
                        figcaption { "Forecasts: on the line, favourites win as often as predicted. A draw \
         is half a win" }
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
        let usual_size = usual_size(own.sizes(LATEST));
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
            verdict: BalanceVerdict::new(&with_matches, &favoured),
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
            causes: verdict::causes(&gaps_by_causes),
            causes_since: since.map(words::day),
            span: choice.span,
            usual_size,
            maps: by_map(site, &name, usual_size, &own.maps(MAPS)),
            weeks: latest.iter().map(week).collect(),
            ruleset,
            rulesets,
            date,
        })
    }

    fn title(&self) -> String {
        match &self.ruleset {
            Some(ruleset) => format!("Balance of {ruleset}", ruleset = ruleset),
            None => "Balance".to_owned(),
        }
    }

    fn path(&self) -> String {
        self.address(self.span.query())
    }

    fn description(&self, _: &Site) -> String {
        let won = self.all.favourite_won.map(|share| {
            let (share, matches) = (words::percent(share), self.all.matches);
            format!(
                "Favourites won {share} of the decided ones among {matches} matches.",
                share = share,
                matches = matches
            )
        });
        let ruleset = self.ruleset.as_deref().unwrap_or("all game types");
        format!(
            "How even the matches of {ruleset} are. {0}",
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
        let mut parts = vec![part("All", &self.all)];
        parts.extend(self.before.iter().map(|line| part("Before", line)));
        parts.extend(self.after.iter().map(|line| part("After", line)));
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
            h1 { "Balance" }
            @if self.ruleset.is_none() {
                p { "No match has been rated yet." }
            } @else {
                (self.controls(site))
                (self.verdict.body())
                @if let Some(predictions) = &self.predictions { (predictions.body(site)) }
                (balance_table("Balance", "Weeks", &parts, &team_0))
                p.note {
                    (mark!("The favourite is the team that was more likely to win by the \
         forecast; the closer to 50\u{a0}% it won, the more even the teams were. Shares of wins are of the matches that a \
         team won, without draws. A week counts as before a date if it begins before it. {0}", { (OF_FORECAST) }))
                }
                (self.plots()?)
                @if by_week.len() > 1 {
                    figure {
                        figcaption { "Mean difference of scores by week" }
                        (plot::bars("Mean difference of scores by week", "week that begins on", &by_week)?)
                    }
                }
                (self.causes(site))
                h2 { "By map" }
                (balance_table("By map", "Map", &self.maps, &team_0))
                @if self.maps.iter().any(|of| of.between_equals.is_some()) {
                    p.note {
                        (mark!("“{0}, equal teams” is how often that team would win between \
         equally strong teams, {1} v {2}: the side alone, without who happened to play on it.",
                            { (team_0) },
                            { (self.usual_size) },
                            { (self.usual_size) }
                        ))
                    }
                }
                h2 { "By week" }
                (balance_table("By week", WEEK_OF, self.weeks.iter().rev().take(LISTED_WEEKS), &team_0))
            }
        })
    }
}

/// How even some matches were.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(super) struct BalanceLine {
    matches: i64,
    /// `None` if no scores were reported.
    mean_gap: Option<f64>,
    draws: Option<f64>,
    /// The share that team 0 won, of the matches that a team won.
    team_0_won: Option<f64>,
    /// The number of matches with a forecast and a result.
    predicted: i64,
    /// The share that the favourite of the forecast won, of the matches that a team won.
    favourite_won: Option<f64>,
    /// The mean squared difference between forecast and result: 0.25 for a coin.
    brier: Option<f64>,
    mean_minutes: Option<f64>,
}

/// A line and its name.
#[derive(Debug, Serialize)]
pub(super) struct NamedBalance {
    name: String,
    #[serde(flatten)]
    line: BalanceLine,
    /// The chance of team 0 between equally strong teams; only of a map.
    #[serde(skip_serializing_if = "Option::is_none")]
    between_equals: Option<f64>,
    /// What team 0 is called, where it is not the same in all lines of a table.
    #[serde(skip)]
    team_0: Option<String>,
}

impl NamedBalance {
    pub(super) fn new(name: String, of: Closeness) -> Self {
        let line = of.into();
        Self {
            name,
            line,
            between_equals: None,
            team_0: None,
        }
    }

    /// The same with a name of team 0 of its own.
    pub(super) fn called(mut self, team_0: String) -> Self {
        self.team_0 = Some(team_0);
        self
    }

    /// How often team 0 won.
    fn team_0_won(&self) -> String {
        let share = known(self.line.team_0_won, percent);
        match &self.team_0 {
            Some(name) => format!("{name} {share}"),
            None => share,
        }
    }
}

impl From<Closeness> for BalanceLine {
    fn from(of: Closeness) -> Self {
        Self {
            matches: of.matches,
            mean_gap: of.mean_gap(),
            draws: of.draw_share(),
            team_0_won: of.first_share(),
            predicted: of.predicted,
            favourite_won: of.favourite_share(),
            brier: of.mean_brier(),
            mean_minutes: of.mean_minutes(),
        }
    }
}

/// The heading of a column of dates, which are not broken into two lines.
const WEEK_OF: &str = "Week of";

/// A table of these lines, without those that have no match.
pub(super) fn balance_table<'a>(
    label: &str,
    first: &str,
    lines: impl IntoIterator<Item = &'a NamedBalance>,
    team_0: &str,
) -> PageTable<'a, NamedBalance> {
    let is_date = first == WEEK_OF;
    let lines = lines.into_iter().filter(|of| of.line.matches > 0);
    let lines: Vec<&NamedBalance> = lines.collect();
    let any_side = lines.iter().any(|of| of.between_equals.is_some());
    PageTable::of(label, lines)
        .name(
            first,
            move |own| html! { span.date[is_date] { (own.name) } },
        )
        .num("Matches", |of| of.line.matches)
        .num("Mean difference", |of| known(of.line.mean_gap, tenths))
        .wide_num(&format!("{team_0} won", team_0 = team_0), |of| {
            of.team_0_won()
        })
        .wide_num(&format!("{team_0}, equal teams", team_0 = team_0), |of| {
            known(of.between_equals, percent)
        })
        .explained(
            "The chance between equally strong teams, as the rating system has \
         learned it",
        )
        .only_if(any_side)
        .num("Favourite won", |of| known(of.line.favourite_won, percent))
        .explained(OF_DECIDED)
        .wide_num("Draws", |of| known(of.line.draws, percent))
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

impl PredictionLine {
    /// That of a ruleset; `None` while its weights are derived again.
    fn of(site: &Site, ruleset: &str) -> Option<Self> {
        let of = site.learning().metrics().beside_coin(ruleset)?;
        Some(Self {
            learned: of.learned,
            predicted: of.predicted,
            gain: words::rounded(of.gain, 4),
            gain_reach: of.reach,
            sentence: of.to_string(),
        })
    }

    fn body(&self, site: &Site) -> Markup {
        html! {
            p {
                (self.sentence) ". "
                a href=(site.links.to("/systems")) { "All rating systems compared" }
            }
        }
    }
}

/// The most maps in the table.
const MAPS: usize = 25;

/// Of how many of the latest matches the usual size is.
const LATEST: usize = 200;
/// The most players of a team for which it is computed.
const MOST: i64 = 16;

/// The usual number of players of a team: half of the median of these numbers of players. 1 without any.
fn usual_size(mut players: Vec<i64>) -> usize {
    players.sort_unstable();
    let median = players.get(players.len() / 2).copied().unwrap_or(2);
    usize::try_from((median / 2).clamp(1, MOST)).unwrap_or(1)
}

/// The balance on each map, with the chance between equal teams of this size where chances are shown as numbers.
fn by_map(site: &Site, name: &str, size: usize, maps: &[MapOfBalance]) -> Vec<NamedBalance> {
    let standings = site.learning().standings_at(site.now());
    let ruleset = Ruleset::parse(name);
    let numbers = site.settings.shows_numbers();
    let chance = |map: &str| {
        let chance = numbers.then(|| between_equals(&standings, &ruleset, map, size));
        chance.flatten().map(|chance| words::rounded(chance, 4))
    };
    let line = |of: &MapOfBalance| NamedBalance {
        between_equals: chance(&of.map),
        ..NamedBalance::new(plain_name(&of.map), of.closeness)
    };
    maps.iter().map(line).collect()
}

/// The chance of team 0 on a map, if all players are newcomers, `size` on each team: the side of the map alone makes the
/// difference, as the rating system has learned it from matches of teams whose strengths it knew. `None` as long as nothing is
/// learned.
fn between_equals(standings: &Standings, ruleset: &Ruleset, map: &str, size: usize) -> Option<f64> {
    // No player has an empty identity: these are strangers.
    let stranger = PlayerKey {
        kind: Kind::Human,
        id: String::new(),
    };
    let team = vec![LineupPlayer::from(stranger); size];
    let chances = standings.chances(ruleset, map, &[team.clone(), team])?;
    chances.first().copied()
}

/// The most bars in the plot of differences.
const BARS: i64 = 14;

/// Matches whose scores differ by `from` to `to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
struct GapBar {
    from: i64,
    to: i64,
    matches: i64,
}

/// Bars of equal width over the differences. The last one has all differences from 19 of 20 on, so that a
/// few large ones do not make all others narrow.
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
    let bar = |from, to| GapBar {
        from,
        to,
        matches: 0,
    };
    let bars = (0..count).map(|at| bar(at * width, (at + 1) * width - 1));
    let mut bars: Vec<GapBar> = bars.collect();
    let largest = gaps.last().map_or(0, |(gap, _)| *gap);
    if gaps.is_empty() {
        return Vec::new();
    }
    if let Some(end) = bars.last().map(|last| last.to)
        && largest > end
    {
        bars.push(bar(end + 1, largest));
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
    /// What stands below the bar.
    fn name(&self, is_last: bool) -> String {
        match (self.from == self.to, is_last && self.to > self.from) {
            (true, _) => self.from.to_string(),
            (false, true) => format!("{}+", self.from),
            (false, false) => format!("{}–{}", self.from, self.to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_size_is_half_of_the_players() {
        assert_eq!(usual_size(vec![8, 8, 7, 10]), 4);
        assert_eq!(usual_size(Vec::new()), 1);
        assert_eq!(usual_size(vec![1_000]), MOST as usize);
    }

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
