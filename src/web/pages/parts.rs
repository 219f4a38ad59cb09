//! What many pages consist of: tables, and the choice of a time.
//!
//! - The tables of pages: each column is stated once, with its head, and what it has in each row.
//! - Which time, and which kind of players, a page is about.

use maud::{Markup, Render, html};
use serde::{Deserialize, Deserializer, de::Error};

use crate::{
    model::{Kind, Timestamp},
    web::plot::WeightPoint,
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
pub(in crate::web) fn kind<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Kind>, D::Error> {
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
