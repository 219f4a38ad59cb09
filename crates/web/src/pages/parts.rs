//! What many pages consist of: tables, lists of matches, and the choice of a time. Teams are counted from 0, as in the line
//! protocol.

use maud::{Markup, Render, html};
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use crate::{
    Site,
    chances::{
        AS_STARTED, FORECAST, OF_CHANCES, OF_FORECAST, favourite as favourite_words, is_even,
        of_forecast,
    },
    model::{Kind, Timestamp, match_chances::TeamChances, team_names::TeamNames},
    plot::WeightPoint,
    store::MatchLine,
    words,
};

/// A table of rows, which can be scrolled sideways if it does not fit.
pub(super) struct PageTable<'a, R> {
    /// What the table is about, for people who do not see it.
    label: String,
    rows: Vec<&'a R>,
    columns: Vec<PageColumn<'a, R>>,
}

struct PageColumn<'a, R> {
    head: Markup,
    /// The classes of the head and the cells: `num` for numbers, `wide` for what narrow screens leave out.
    class: &'static str,
    /// Whether the cells are the heads of their rows.
    is_name: bool,
    cell: Box<dyn Fn(&'a R) -> Markup + 'a>,
}

impl<'a, R> PageTable<'a, R> {
    /// A table of these rows, without columns yet.
    pub(super) fn of(label: &str, rows: impl IntoIterator<Item = &'a R>) -> Self {
        Self {
            label: label.to_owned(),
            rows: rows.into_iter().collect(),
            columns: Vec::new(),
        }
    }

    /// Adds the column that names the rows.
    pub(super) fn name<C: Render>(self, head: &str, cell: impl Fn(&'a R) -> C + 'a) -> Self {
        self.column(head, "", true, cell)
    }

    /// Adds a column of texts.
    pub(super) fn text<C: Render>(self, head: &str, cell: impl Fn(&'a R) -> C + 'a) -> Self {
        self.column(head, "", false, cell)
    }

    /// Adds a column of texts that narrow screens leave out.
    pub(super) fn wide_text<C: Render>(self, head: &str, cell: impl Fn(&'a R) -> C + 'a) -> Self {
        self.column(head, "wide", false, cell)
    }

    /// Adds a column of numbers.
    pub(super) fn num<C: Render>(self, head: &str, cell: impl Fn(&'a R) -> C + 'a) -> Self {
        self.column(head, "num", false, cell)
    }

    /// Adds a column of numbers that narrow screens leave out.
    pub(super) fn wide_num<C: Render>(self, head: &str, cell: impl Fn(&'a R) -> C + 'a) -> Self {
        self.column(head, "num wide", false, cell)
    }

    /// Explains the head of the last column.
    pub(super) fn explained(mut self, title: &str) -> Self {
        if let Some(column) = self.columns.last_mut() {
            column.head = html! { abbr title=(title) { (column.head) } };
        }
        self
    }

    /// Removes the last column unless it is shown.
    pub(super) fn only_if(mut self, is_shown: bool) -> Self {
        if !is_shown {
            self.columns.pop();
        }
        self
    }

    fn column<C: Render>(
        mut self,
        head: &str,
        class: &'static str,
        is_name: bool,
        cell: impl Fn(&'a R) -> C + 'a,
    ) -> Self {
        self.columns.push(PageColumn {
            head: html! { (head) },
            class,
            is_name,
            cell: Box::new(move |row| cell(row).render()),
        });
        self
    }
}

impl<R> Render for PageTable<'_, R> {
    fn render(&self) -> Markup {
        let class = |class: &'static str| (!class.is_empty()).then_some(class);
        html! {
            div.scroll role="region" aria-label=(self.label) tabindex="0" {
                table {
                    thead {
                        tr {
                            @for column in &self.columns { th class=[class(column.class)] scope="col" { (column.head) } }
                        }
                    }
                    tbody {
                        @for &row in &self.rows {
                            tr {
                                @for column in &self.columns {
                                    @match column.is_name {
                                        true => th class=[class(column.class)] scope="row" { ((column.cell)(row)) },
                                        false => td class=[class(column.class)] { ((column.cell)(row)) },
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The kind of players that a query states.
pub(crate) fn kind<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Kind>, D::Error> {
    let word = String::deserialize(from)?;
    match Kind::parse(&word) {
        Some(kind) => Ok(Some(kind)),
        None => Err(D::Error::custom("kind: must be human or bot")),
    }
}

const DAY: i64 = 86_400_000;

/// A time up to the latest match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RecentSpan {
    Month,
    Year,
    #[default]
    All,
}

/// Each with its name in the query, and what visitors read.
const SPANS: [(RecentSpan, &str, &str); 3] = [
    (RecentSpan::Month, "month", "30 days"),
    (RecentSpan::Year, "year", "A year"),
    (RecentSpan::All, "all", "All"),
];

impl RecentSpan {
    fn millis(self) -> i64 {
        match self {
            Self::Month => 30 * DAY,
            Self::Year => 365 * DAY,
            Self::All => i64::MAX,
        }
    }

    /// The points of this time, and the one before it, from which the line comes.
    pub(super) fn part_of(self, points: &[WeightPoint]) -> &[WeightPoint] {
        let last = points.last().map_or(0, |point| point.at.0);
        let since = last.saturating_sub(self.millis());
        let before = points.partition_point(|point| point.at.0 < since);
        &points[before.saturating_sub(1)..]
    }

    /// When this time begins, if the latest match ended at `last`; `None` for all.
    pub(super) fn since(self, last: Timestamp) -> Option<Timestamp> {
        (self != Self::All).then(|| Timestamp(last.0.saturating_sub(self.millis())))
    }

    /// The name in the query; `None` for all, which nobody has to choose.
    pub(super) fn query(self) -> Option<&'static str> {
        let found = SPANS.iter().find(|(span, ..)| *span == self);
        found
            .map(|(_, name, _)| *name)
            .filter(|_| self != Self::All)
    }

    /// The choice between all of them, each with its address.
    pub(super) fn tabs(self, label: &str, address: impl Fn(&str) -> String) -> Markup {
        html! {
            nav.tabs aria-label=(label) {
                @for (span, name, text) in SPANS {
                    a href=(address(name)) aria-current=[(span == self).then_some("true")] { (text) }
                }
            }
        }
    }
}

/// A match in a list, and what its teams are called.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct MatchSummary {
    #[serde(flatten)]
    pub(crate) line: MatchLine,
    #[serde(skip)]
    pub(super) team_names: TeamNames,
}

impl MatchSummary {
    /// The matches as a site shows them.
    pub(crate) fn list(site: &Site, lines: Vec<MatchLine>) -> Vec<Self> {
        lines
            .into_iter()
            .map(|line| Self::new(site, line))
            .collect()
    }

    /// A match as a site shows it: without chances if it shows no numbers.
    pub(crate) fn new(site: &Site, line: MatchLine) -> Self {
        let ruleset = line.ruleset.as_deref();
        let names = ruleset.map(|ruleset| site.team_names(ruleset));
        Self {
            team_names: names.unwrap_or_default(),
            line: match site.settings.shows_numbers() {
                true => line,
                false => line.without_numbers(),
            },
        }
    }

    /// The scores; `None` without teams, or if they are not known.
    pub(super) fn known_scores(&self) -> Option<Vec<f64>> {
        let scores: Option<Vec<f64>> = self.line.scores.iter().copied().collect();
        scores.filter(|scores| !scores.is_empty())
    }

    pub(crate) fn ruleset_or_dash(&self) -> &str {
        self.line.ruleset.as_deref().unwrap_or("–")
    }

    /// How the match ended: the scores, and who has won, for which a narrow screen has no room beside scores.
    fn ended(&self) -> Markup {
        let scores = self.known_scores().map(|scores| words::scores(&scores));
        html! {
            @match scores {
                Some(scores) => { span.num { (scores) } " " span.wide { (self.result()) } },
                None => (self.result()),
            }
            @if self.is_void() { " " span.tag { "void" } }
        }
    }

    /// How the match ended, in a few words.
    fn result(&self) -> String {
        match (self.line.outcome.as_str(), self.line.winner) {
            (_, Some(team)) => format!("{0} won", self.team_names.name(team.into())),
            ("draw", _) => "draw".to_owned(),
            ("abandoned", _) => "abandoned".to_owned(),
            _ => "–".to_owned(),
        }
    }

    /// Whether it was undone or declared void.
    fn is_void(&self) -> bool {
        self.line.unrated.as_deref() == Some("void")
    }

    /// The team that was most likely to win, and its chance: as started, else by the forecast.
    fn expected(&self) -> Option<(u8, f64)> {
        let started = self
            .line
            .chances
            .started
            .as_ref()
            .and_then(TeamChances::favourite);
        started.or(self.line.forecast.map(of_forecast))
    }

    /// How surprising it is who won; `None` if no team won, or nothing was predicted.
    pub(super) fn surprise(&self) -> Option<String> {
        let (favourite, chance) = self.expected()?;
        let won = self.line.winner?;
        // With more than two teams, the chances of the others are not known here.
        let chance = match (favourite == won, self.line.scores.len()) {
            (true, _) => chance,
            (false, 2) => 1.0 - chance,
            (false, _) => return None,
        };
        let in_hundred = words::percent(chance);
        Some(match chance {
            chance if chance < 0.2 => {
                format!(
                    "A great upset: that happens in {in_hundred} of such matches.",
                    in_hundred = in_hundred
                )
            }
            chance if chance < 0.4 => {
                format!(
                    "An upset: that happens in {in_hundred} of such matches.",
                    in_hundred = in_hundred
                )
            }
            chance if chance <= 0.6 => "It could have gone either way.".to_owned(),
            _ => format!(
                "That happens in {in_hundred} of such matches.",
                in_hundred = in_hundred
            ),
        })
    }

    /// How the match ended, beside what was expected, in a sentence.
    pub(crate) fn headline(&self) -> String {
        match self.is_void() {
            true => format!("Void: {}", self.ending()),
            false => self.ending(),
        }
    }

    fn ending(&self) -> String {
        let scores = self.known_scores();
        let scores = scores.map_or(String::new(), |scores| {
            format!(" {}", words::scores(&scores))
        });
        let teams = self.line.scores.len();
        let favourite = self.expected().filter(|of| !is_even(of.1, teams));
        let expected = favourite.map(|(team, chance)| (team, words::chance(chance)));
        let name = |team: u8| self.team_names.name(team.into());
        let title = |team: u8| self.team_names.title(team.into());
        match (self.line.winner, expected) {
            (Some(won), Some((team, chance))) if won == team => {
                format!(
                    "{0} won{scores}, as expected with {chance}",
                    title(won),
                    scores = scores,
                    chance = chance
                )
            }
            (Some(won), Some((team, chance))) => {
                let (won, team) = (title(won), name(team));
                format!(
                    "{won} won{scores}, against {team} with a chance of {chance}",
                    won = won,
                    scores = scores,
                    team = team,
                    chance = chance
                )
            }
            (Some(won), None) => format!("{0} won{scores}", title(won), scores = scores),
            (None, expected) => {
                let result = match self.line.outcome.as_str() {
                    "draw" => "Draw",
                    "abandoned" => "Abandoned",
                    _ => "Played",
                };
                let favourite = expected.map_or(String::new(), |(team, chance)| {
                    format!(
                        ", {0} had a chance of {chance}",
                        name(team),
                        chance = chance
                    )
                });
                format!("{result}{scores}{favourite}")
            }
        }
    }

    /// The team that was most likely to win, and its chance: as started or, in a list without such matches, by the
    /// forecast.
    fn favourite(&self, as_started: bool) -> Option<String> {
        let (favourite, teams) = match as_started {
            true => {
                let started = self.line.chances.started.as_ref()?;
                (started.favourite()?, started.win.len())
            }
            false => (of_forecast(self.line.forecast?), 2),
        };
        Some(favourite_words(favourite, teams, &self.team_names))
    }
}

/// A table of matches. The ruleset has a column only where it is not that of the page.
pub(super) fn matches(site: &Site, list: &[MatchSummary], with_ruleset: bool) -> Markup {
    if list.is_empty() {
        return html! { p { "No matches yet." } };
    }
    // A column has one kind of chance.
    let as_started = list.iter().any(|of| of.line.chances.started.is_some());
    let (head, means) = chance_head(as_started);
    let numbers = site.settings.shows_numbers();
    let table = PageTable::of("Matches", list)
        .text("Match", |of| match_link(site, of.line.id, of.line.ended))
        .text("Map", |of| site.links.to_map(&of.line.map))
        .only_if(list.iter().any(|of| !of.line.map.is_empty()))
        .wide_text("Game type", |of| ruleset_link(site, &of.line))
        .only_if(with_ruleset)
        .text("Result", MatchSummary::ended)
        .wide_num(head, |of| words::or_dash(of.favourite(as_started)))
        .explained(means)
        .only_if(numbers)
        .wide_num("Players", |of| of.line.humans + of.line.bots);
    html! {
        (table)
        @if numbers { p.note.wide { "“" (head) "”: " (means) } }
    }
}

/// The head of a column of chances, and what they are: as started, or the forecast.
pub(super) fn chance_head(as_started: bool) -> (&'static str, &'static str) {
    match as_started {
        true => (AS_STARTED, OF_CHANCES),
        false => (FORECAST, OF_FORECAST),
    }
}

/// When a match ended, with a link to its page.
pub(super) fn match_link(site: &Site, id: i64, ended: Timestamp) -> Markup {
    html! { a href=(site.links.game(id)) { (words::time(ended)) } }
}

/// The ruleset of a match, with a link if the match is rated.
pub(super) fn ruleset_link(site: &Site, line: &MatchLine) -> Markup {
    match &line.ruleset {
        Some(ruleset) if line.unrated.is_none() => site.links.to_ruleset(ruleset),
        Some(ruleset) => words::ruleset(ruleset),
        None => html! { "–" },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_has_its_head_and_a_cell_in_each_row() {
        let rows = ["<b>", "c"];
        let table = PageTable::of("Words \"a\"", &rows)
            .name("Word", |word| *word)
            .wide_num("Length", |word| word.len())
            .explained("In bytes")
            .text("Not shown", |_| "x")
            .only_if(false);
        assert_eq!(
            table.render().into_string(),
            "<div class=\"scroll\" role=\"region\" aria-label=\"Words &quot;a&quot;\" tabindex=\"0\"><table>\
             <thead><tr><th scope=\"col\">Word</th><th class=\"num wide\" scope=\"col\">\
             <abbr title=\"In bytes\">Length</abbr></th></tr></thead>\
             <tbody><tr><th scope=\"row\">&lt;b&gt;</th><td class=\"num wide\">3</td></tr>\
             <tr><th scope=\"row\">c</th><td class=\"num wide\">1</td></tr></tbody></table></div>"
        );
    }

    #[test]
    fn a_span_has_its_points_and_the_one_before() {
        let point = |day| WeightPoint {
            at: Timestamp(day * DAY),
            weight: 50.0,
            deviation: 5.0,
            pinned: false,
        };
        let points: Vec<_> = [0, 100, 350, 390, 400].map(point).into();
        let days = |span: RecentSpan| -> Vec<i64> {
            let part = span.part_of(&points).iter();
            part.map(|point| point.at.0 / DAY).collect()
        };
        assert_eq!(days(RecentSpan::Month), [350, 390, 400]);
        assert_eq!(days(RecentSpan::Year), [0, 100, 350, 390, 400]);
        assert_eq!(days(RecentSpan::All).len(), 5);
        assert!(RecentSpan::Month.part_of(&[]).is_empty());
    }
}
