//! Which time a part of a page is about.

use maud::{Markup, html};
use serde::Deserialize;

use crate::{model::Timestamp, web::plot::WeightPoint};

const DAY: i64 = 86_400_000;

/// A time up to the latest match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in crate::web::pages) enum Span {
    Month,
    Year,
    #[default]
    All,
}

/// Each with its name in the query, and what visitors read.
const SPANS: [(Span, &str, &str); 3] = [
    (Span::Month, "month", "30 days"),
    (Span::Year, "year", text!(span.a_year)),
    (Span::All, "all", text!(common.all)),
];

impl Span {
    fn millis(self) -> i64 {
        match self {
            Self::Month => 30 * DAY,
            Self::Year => 365 * DAY,
            Self::All => i64::MAX,
        }
    }

    /// The points of this time, and the one before it, from which the line comes.
    pub(in crate::web::pages) fn part_of(self, points: &[WeightPoint]) -> &[WeightPoint] {
        let last = points.last().map_or(0, |point| point.at.0);
        let since = last.saturating_sub(self.millis());
        let before = points.partition_point(|point| point.at.0 < since);
        &points[before.saturating_sub(1)..]
    }

    /// When this time begins, if the latest match ended at `last`; `None` for all.
    pub(in crate::web::pages) fn since(self, last: Timestamp) -> Option<Timestamp> {
        (self != Self::All).then(|| Timestamp(last.0.saturating_sub(self.millis())))
    }

    /// The name in the query; `None` for all, which nobody has to choose.
    pub(in crate::web::pages) fn query(self) -> Option<&'static str> {
        let found = SPANS.iter().find(|(span, ..)| *span == self);
        found
            .map(|(_, name, _)| *name)
            .filter(|_| self != Self::All)
    }

    /// The choice between all of them, each with its address.
    pub(in crate::web::pages) fn tabs(
        self,
        label: &str,
        address: impl Fn(&str) -> String,
    ) -> Markup {
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
    fn a_span_has_its_points_and_the_one_before() {
        let point = |day| WeightPoint {
            at: Timestamp(day * DAY),
            weight: 50.0,
            deviation: 5.0,
            pinned: false,
        };
        let points: Vec<_> = [0, 100, 350, 390, 400].map(point).into();
        let days = |span: Span| -> Vec<i64> {
            let part = span.part_of(&points).iter();
            part.map(|point| point.at.0 / DAY).collect()
        };
        assert_eq!(days(Span::Month), [350, 390, 400]);
        assert_eq!(days(Span::Year), [0, 100, 350, 390, 400]);
        assert_eq!(days(Span::All).len(), 5);
        assert!(Span::Month.part_of(&[]).is_empty());
    }
}
