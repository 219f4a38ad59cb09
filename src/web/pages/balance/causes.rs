//! What one-sided matches have in common, by how much each cause explains.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    store::MatchCauses,
    web::{Site, pages::table::Table, words},
};

/// How many of the latest matches are looked at.
pub(super) const MATCHES: i64 = 200;
/// The fewest matches with a cause, and without it, that say anything.
const FEWEST: usize = 5;

/// Each cause: its name in the data, what visitors read, and whether a match has it.
type Cause = (&'static str, &'static str, fn(&MatchCauses) -> bool);
const CAUSES: [Cause; 4] = [
    ("late-joins", "A player came late", |of| of.late),
    ("leavers", "A player left early", |of| of.left),
    ("uneven-sizes", "Teams of different sizes", |of| of.uneven),
    ("newcomers", "A player with fewer than 10 matches", |of| {
        of.newcomer
    }),
];

/// A cause, and how far matches with it are from those without.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct CauseLine {
    cause: &'static str,
    #[serde(skip)]
    name: &'static str,
    /// The number of matches with it.
    matches: usize,
    /// The mean difference of scores with and without it.
    gap_with: f64,
    gap_without: f64,
    /// The part of all differences of scores that would be missing if the matches with it had been as even as those
    /// without; at least 0.
    explains: f64,
    /// The most one-sided match with it.
    example: i64,
}

/// The causes that enough matches have, those that explain most first.
pub(super) fn causes(matches: &[MatchCauses]) -> Vec<CauseLine> {
    let sum = |list: &[&MatchCauses]| list.iter().map(|of| of.gap).sum::<f64>();
    let all: f64 = matches.iter().map(|of| of.gap).sum();
    let line = |(cause, name, has): Cause| {
        let (with, without): (Vec<&MatchCauses>, Vec<&MatchCauses>) =
            matches.iter().partition(|of| has(of));
        if with.len().min(without.len()) < FEWEST || all <= 0.0 {
            return None;
        }
        let mean = |list: &[&MatchCauses]| sum(list) / list.len() as f64;
        let (gap_with, gap_without) = (mean(&with), mean(&without));
        let explains = with.len() as f64 * (gap_with - gap_without) / all;
        // The first one of several, which is the latest.
        let worst = with
            .iter()
            .copied()
            .reduce(|worst, of| if of.gap > worst.gap { of } else { worst });
        Some(CauseLine {
            cause,
            name,
            matches: with.len(),
            gap_with: words::rounded(gap_with, 4),
            gap_without: words::rounded(gap_without, 4),
            explains: words::rounded(explains.max(0.0), 4),
            example: worst?.id,
        })
    };
    let mut lines: Vec<CauseLine> = CAUSES.into_iter().filter_map(line).collect();
    lines.sort_by(|a, b| b.explains.total_cmp(&a.explains));
    lines
}

/// The causes in a table, each with its most one-sided match.
pub(super) fn body(site: &Site, lines: &[CauseLine]) -> Markup {
    if lines.is_empty() {
        return html! {};
    }
    let example = |line: &CauseLine| {
        html! { a href=(site.links.game(line.example)) { "match " (line.example) } }
    };
    html! {
        h2 { "What one-sided matches have in common" }
        (Table::of("Causes", lines)
            .name("What happened", |line| line.name)
            .num("Explains", |line| words::percent(line.explains))
            .num("Matches", |line| line.matches)
            .num("Difference with it", |line| words::tenths(line.gap_with))
            .num("without", |line| words::tenths(line.gap_without))
            .wide_num("Most one-sided", example))
        p.note {
            "Of the latest " (MATCHES) " rated matches, those with scores. “Explains” is the part of all differences of scores that would \
             be missing if these matches had been as even as the others. Two causes may meet in one match, and neither needs to be \
             the reason."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(id: i64, gap: f64, left: bool) -> MatchCauses {
        MatchCauses {
            id,
            gap,
            players: 8,
            late: false,
            left,
            uneven: !left,
            newcomer: id == 0,
        }
    }

    #[test]
    fn a_cause_explains_what_its_matches_have_more() {
        let mut matches: Vec<_> = (0..10).map(|id| of(id, 2.0, false)).collect();
        matches.extend((10..20).map(|id| of(id, if id == 15 { 9.0 } else { 3.0 }, true)));
        let found = causes(&matches);
        assert_eq!(found.len(), 2, "one newcomer and no late player: {found:?}");
        let leavers = &found[0];
        assert_eq!(
            (leavers.cause, leavers.matches, leavers.example),
            ("leavers", 10, 15)
        );
        assert_eq!((leavers.gap_with, leavers.gap_without), (3.6, 2.0));
        // 10 matches with 1.6 more each, of 56 together.
        assert_eq!(leavers.explains, words::rounded(16.0 / 56.0, 4));
        assert_eq!((found[1].cause, found[1].explains), ("uneven-sizes", 0.0));
    }

    #[test]
    fn without_differences_nothing_is_explained() {
        assert!(causes(&[]).is_empty());
        let even: Vec<_> = (0..20).map(|id| of(id, 0.0, id < 10)).collect();
        assert!(causes(&even).is_empty());
    }
}
