//! What one-sided matches have in common, by how much each cause explains.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    model::Cause,
    rating::history::GapsByCauses,
    web::{pages::table::Table, words},
};

/// The fewest matches with a cause, and without it, that say anything.
const FEWEST: i64 = 5;
/// A 95 % interval reaches so many standard errors on both sides.
const Z: f64 = 1.959_964;

/// What visitors read of a cause.
pub(in crate::web::pages) fn name(cause: Cause) -> &'static str {
    match cause {
        Cause::LateJoin => text!(balance.a_player_came_late),
        Cause::Leaver => text!(balance.a_player_left_early),
        Cause::UnevenSizes => text!(balance.teams_of_different_sizes),
        Cause::Newcomer => text!(balance.a_player_with_fewer_than_10_matches),
    }
}

/// A cause, and how far matches with it are from those without.
#[derive(Debug, PartialEq, Serialize)]
pub(super) struct CauseLine {
    cause: &'static str,
    #[serde(skip)]
    of: Cause,
    /// The number of matches with it.
    matches: i64,
    /// The mean difference of scores with and without it.
    gap_with: f64,
    gap_without: f64,
    /// The part of all differences of scores that would be missing if the matches with it had been as even as those
    /// without, with its 95 % interval; each at least 0.
    explains: f64,
    explains_low: f64,
    explains_high: f64,
}

/// The differences of scores in some matches.
#[derive(Clone, Copy, Default)]
struct Gaps {
    matches: i64,
    gap: f64,
    squares: f64,
}

impl Gaps {
    fn of<'a>(lines: impl Iterator<Item = &'a GapsByCauses>) -> Self {
        lines.fold(Self::default(), |sum, of| Self {
            matches: sum.matches + of.matches,
            gap: sum.gap + of.gap,
            squares: sum.squares + of.squares,
        })
    }

    fn mean(self) -> f64 {
        self.gap / self.matches as f64
    }

    /// The square of the standard error of the mean.
    fn error(self) -> f64 {
        let (count, mean) = (self.matches as f64, self.mean());
        let variance = (self.squares - count * mean * mean) / (count - 1.0);
        variance.max(0.0) / count
    }
}

/// The causes that enough matches have, those that explain most first.
pub(super) fn causes(lines: &[GapsByCauses]) -> Vec<CauseLine> {
    let all: f64 = lines.iter().map(|of| of.gap).sum();
    let line = |cause: Cause| {
        let part = |has| Gaps::of(lines.iter().filter(|of| of.causes.has(cause) == has));
        let (with, without) = (part(true), part(false));
        if with.matches.min(without.matches) < FEWEST || all <= 0.0 {
            return None;
        }
        let more = with.mean() - without.mean();
        let reach = Z * (with.error() + without.error()).sqrt();
        let explains = |more: f64| words::rounded((with.matches as f64 * more / all).max(0.0), 4);
        Some(CauseLine {
            cause: cause.as_str(),
            of: cause,
            matches: with.matches,
            gap_with: words::rounded(with.mean(), 4),
            gap_without: words::rounded(without.mean(), 4),
            explains: explains(more),
            explains_low: explains(more - reach),
            explains_high: explains(more + reach),
        })
    };
    let mut lines: Vec<CauseLine> = Cause::ALL.into_iter().filter_map(line).collect();
    lines.sort_by(|a, b| b.explains.total_cmp(&a.explains));
    lines
}

impl CauseLine {
    fn text(&self) -> String {
        format!(
            text!(balance.to),
            words::percent(self.explains),
            100.0 * self.explains_low,
            100.0 * self.explains_high
        )
    }
}

/// The causes in a table; `matches` is the address of the matches with a cause, `tabs` the choice of a time.
pub(super) fn body(
    lines: &[CauseLine],
    tabs: &Markup,
    since: Option<&str>,
    matches: impl Fn(&str) -> String,
) -> Markup {
    if lines.is_empty() && since.is_none() {
        return html! {};
    }
    html! {
        h2 #causes { (text!(balance.what_one_sided_matches_have_in)) }
        (tabs)
        @if lines.is_empty() {
            p { (text!(balance.too_few_matches_have_a_cause_in)) }
        } @else {
            (Table::of(text!(balance.causes), lines)
                .name(text!(balance.what_happened), |line| name(line.of))
                .num(text!(balance.explains), CauseLine::text)
                .num(text!(common.matches), |line| html! { a href=(matches(line.cause)) { (line.matches) } })
                .wide_num(text!(balance.difference_with_it), |line| words::tenths(line.gap_with))
                .wide_num(text!(balance.without), |line| words::tenths(line.gap_without)))
        }
        p.note {
            (mark!(balance.of_all_rated_matches_with_scores,
                { @if let Some(since) = since { (mark!(balance.since, { (since) })) } }
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Causes;

    /// Matches with these causes and these differences of scores.
    fn of(causes: &[Cause], gaps: &[f64]) -> GapsByCauses {
        let bits = causes.iter().map(|cause| cause.bit()).sum();
        GapsByCauses {
            causes: Causes::from_bits(bits),
            matches: gaps.len() as i64,
            gap: gaps.iter().sum(),
            squares: gaps.iter().map(|gap| gap * gap).sum(),
        }
    }

    #[test]
    fn a_cause_explains_what_its_matches_have_more() {
        let left = [3.0, 3.0, 3.0, 3.0, 3.0, 9.0, 3.0, 3.0, 3.0, 3.0];
        let found = causes(&[
            of(&[Cause::UnevenSizes], &[2.0; 10]),
            of(&[Cause::Leaver], &left),
            of(&[Cause::Newcomer], &[0.0]),
        ]);
        assert_eq!(found.len(), 2, "one newcomer and no late player: {found:?}");
        let leavers = &found[0];
        assert_eq!((leavers.cause, leavers.matches), ("leavers", 10));
        // 20 in 11 matches without it.
        assert_eq!((leavers.gap_with, leavers.gap_without), (3.6, 1.8182));
        assert_eq!(
            leavers.explains,
            words::rounded(10.0 * (3.6 - 20.0 / 11.0) / 56.0, 4)
        );
        // The variances are 3.6 and 4 / 11: computed by hand.
        let reach = 1.959_964 * (3.6 / 10.0 + (4.0 / 11.0) / 11.0_f64).sqrt();
        let low = 10.0 * (3.6 - 20.0 / 11.0 - reach) / 56.0;
        assert!(
            (leavers.explains_low - low).abs() < 1e-4,
            "{leavers:?} {low}"
        );
        assert_eq!((found[1].cause, found[1].explains), ("uneven-sizes", 0.0));
    }

    #[test]
    fn without_differences_nothing_is_explained() {
        assert!(causes(&[]).is_empty());
        assert!(causes(&[of(&[], &[0.0; 10]), of(&[Cause::Leaver], &[0.0; 10])]).is_empty());
    }
}
