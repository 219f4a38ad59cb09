//! The verdict on the balance of a ruleset.
//!
//! - Whether matches have become more even, and whether those that Evenkeel picked are more even than others.
//! - What one-sided matches have in common, by how much each cause explains.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    model::{match_chances::Cause, text::counted},
    pages::parts::PageTable,
    rating::history::{Closeness, GapsByCauses},
    store::Favoured,
    words,
};

/// The fewest decided matches that are compared: of fewer, intervals are too wide to say anything.
const FEWEST: i64 = 10;

/// How often the favourite won, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(in crate::pages) struct FavouriteShare {
    decided: i64,
    won: f64,
    low: f64,
    high: f64,
}

impl FavouriteShare {
    /// `None` for too few matches.
    pub(in crate::pages) fn of(won: i64, decided: i64) -> Option<Self> {
        let (low, high) = wilson(won, decided)?;
        (decided >= FEWEST).then(|| Self {
            decided,
            won: words::rounded(won as f64 / decided as f64, 4),
            low: words::rounded(low, 4),
            high: words::rounded(high, 4),
        })
    }

    /// Of matches with a forecast that a team won.
    fn of_closeness(of: &Closeness) -> Option<Self> {
        Self::of(of.favoured, of.predicted_won)
    }

    pub(in crate::pages) fn text(&self) -> String {
        format!(
            "{0} ({1:.0} to {2:.0})",
            words::percent(self.won),
            100.0 * self.low,
            100.0 * self.high
        )
    }
}

/// The 95 % interval of a share, after Wilson: it stays within 0 and 1, also for few matches.
fn wilson(won: i64, of: i64) -> Option<(f64, f64)> {
    if of <= 0 {
        return None;
    }
    let (z, n) = (1.959_964, of as f64);
    let share = won as f64 / n;
    let middle = share + z * z / (2.0 * n);
    let reach = z * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    let all = 1.0 + z * z / n;
    Some(((middle - reach) / all, (middle + reach) / all))
}

/// What the page answers first.
#[derive(Debug, Serialize)]
pub(super) struct BalanceVerdict {
    /// The latest four weeks with matches, and the four before them.
    latest: Option<FavouriteShare>,
    before: Option<FavouriteShare>,
    sentence: String,
    /// Of the latest matches, those whose teams Evenkeel has picked, and all others.
    picked: Option<FavouriteShare>,
    others: Option<FavouriteShare>,
}

impl BalanceVerdict {
    /// Compares weeks, the last one at the end, and the matches that were picked with others.
    pub(super) fn new(weeks: &[Closeness], favoured: &[Favoured]) -> Self {
        let end = weeks.len();
        let part = |from: usize, to: usize| {
            let part = weeks.get(from..to).unwrap_or_default();
            FavouriteShare::of_closeness(&part.iter().copied().sum())
        };
        let latest = part(end.saturating_sub(MONTH), end);
        let before = match end > MONTH {
            true => part(end.saturating_sub(2 * MONTH), end - MONTH),
            false => None,
        };
        let of = |picked| {
            let found = favoured.iter().find(|of| of.picked == picked)?;
            FavouriteShare::of(found.won, found.decided)
        };
        Self {
            sentence: sentence(latest, before),
            latest,
            before,
            picked: of(true),
            others: of(false),
        }
    }

    pub(super) fn body(&self) -> Markup {
        let others = match self.picked {
            Some(_) => "All others",
            None => "All matches",
        };
        let rows = [
            ("Teams picked by Evenkeel", self.picked),
            (others, self.others),
        ];
        let rows: Vec<(&str, FavouriteShare)> = rows
            .into_iter()
            .filter_map(|(name, share)| Some((name, share?)))
            .collect();
        html! {
            p { strong { (self.sentence) } }
            @if !rows.is_empty() {
                (PageTable::of("Does it help?", &rows)
                    .name("Of the latest matches", |(name, _)| *name)
                    .num("Decided matches", |(_, share)| share.decided)
                    .num("Favourite won", |(_, share)| share.text()))
                p.note {
                    "The numbers in brackets are a 95\u{a0}% interval: with more matches, the \
         share comes to lie in it in 95 of 100 cases. The closer to 50\u{a0}%, the more even. Matches are counted as \
         picked if BALANCE or a queue has chosen their teams."
                }
            }
        }
    }
}

/// How many weeks are a month.
const MONTH: usize = 4;

/// Whether the latest weeks were more even.
fn sentence(latest: Option<FavouriteShare>, before: Option<FavouriteShare>) -> String {
    let Some(latest) = latest else {
        return format!(
            "It is too early for a verdict: that needs {0} with a forecast that \
         a team won.",
            counted(FEWEST, "match")
        );
    };
    let Some(before) = before else {
        return format!(
            "Favourites won {0} in the last four weeks with matches.",
            latest.text()
        );
    };
    let uneven = |share: &FavouriteShare| (share.won - 0.5).abs();
    let overlap = latest.low <= before.high && before.low <= latest.high;
    let verdict = match uneven(&latest).total_cmp(&uneven(&before)) {
        _ if overlap => "About as even as the four weeks before",
        std::cmp::Ordering::Less => "More even than the four weeks before",
        _ => "Less even than the four weeks before",
    };
    format!(
        "{verdict}: favourites won {0}, before {1}.",
        latest.text(),
        before.text(),
        verdict = verdict
    )
}

/// The fewest matches with a cause, and without it, that say anything.
const FEWEST_WITH_A_CAUSE: i64 = 5;
/// A 95 % interval reaches so many standard errors on both sides.
const Z: f64 = 1.959_964;

/// What visitors read of a cause.
pub(in crate::pages) fn cause_name(cause: Cause) -> &'static str {
    match cause {
        Cause::LateJoin => "A player came late",
        Cause::Leaver => "A player left early",
        Cause::UnevenSizes => "Teams of different sizes",
        Cause::Newcomer => "A player with fewer than 10 matches",
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
struct GapCounts {
    matches: i64,
    gap: f64,
    squares: f64,
}

impl GapCounts {
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
        let part = |has| GapCounts::of(lines.iter().filter(|of| of.causes.has(cause) == has));
        let (with, without) = (part(true), part(false));
        if with.matches.min(without.matches) < FEWEST_WITH_A_CAUSE || all <= 0.0 {
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
            "{0} ({1:.0} to {2:.0})",
            words::percent(self.explains),
            100.0 * self.explains_low,
            100.0 * self.explains_high
        )
    }
}

/// The causes in a table; `matches` is the address of the matches with a cause, `tabs` the choice of a time.
pub(super) fn causes_body(
    lines: &[CauseLine],
    tabs: &Markup,
    since: Option<&str>,
    matches: impl Fn(&str) -> String,
) -> Markup {
    if lines.is_empty() && since.is_none() {
        return html! {};
    }
    html! {
        h2 #causes { "What one-sided matches have in common" }
        (tabs)
        @if lines.is_empty() {
            p { "Too few matches have a cause in this time." }
        } @else {
            (PageTable::of("Causes", lines)
                .name("What happened", |line| cause_name(line.of))
                .num("Explains", CauseLine::text)
                .num("Matches", |line| html! { a href=(matches(line.cause)) { (line.matches) } })
                .wide_num("Difference with it", |line| words::tenths(line.gap_with))
                .wide_num("without", |line| words::tenths(line.gap_without)))
        }
        p.note {
            (mark!("Of all rated matches with scores{0}. “Explains” \
         is the part of all differences of scores that would be missing if these matches had been as even as the \
         others, with its 95\u{a0}% interval: one that begins at 0 may be chance alone. Two causes may meet in one match, \
         and neither needs to be the reason.",
                { @if let Some(since) = since { (mark!(" since {0}", { (since) })) } }
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::match_chances::Causes;

    fn week(favoured: i64, predicted_won: i64) -> Closeness {
        Closeness {
            favoured,
            predicted_won,
            ..Closeness::default()
        }
    }

    #[test]
    fn an_interval_is_wilsons() {
        // Computed by hand for 8 of 10: (0.8 + 0.19207 ± 0.27705) / 1.38415.
        let (low, high) = wilson(8, 10).unwrap();
        assert!(
            (low - 0.490_2).abs() < 1e-3 && (high - 0.943_3).abs() < 1e-3,
            "{low} {high}"
        );
        assert_eq!(wilson(0, 0), None);
        let (low, high) = wilson(10, 10).unwrap();
        assert!(low > 0.7 && high <= 1.0);
    }

    #[test]
    fn a_verdict_says_more_or_less_even_only_if_the_intervals_lie_apart() {
        let said = |before: i64, latest: i64| {
            let weeks: Vec<Closeness> = [before, latest]
                .iter()
                .flat_map(|won| vec![week(*won, 100); MONTH])
                .collect();
            BalanceVerdict::new(&weeks, &[]).sentence
        };
        assert!(
            said(80, 55).starts_with("More even than"),
            "{}",
            said(80, 55)
        );
        assert!(said(55, 80).starts_with("Less even than"));
        assert!(said(60, 61).starts_with("About as even as"));
        assert!(
            said(60, 61)
                .contains("favourites won 61\u{a0}% (56 to 66), before 60\u{a0}% (55 to 65)"),
            "{}",
            said(60, 61)
        );
        let early = BalanceVerdict::new(&[week(5, 9)], &[]);
        assert!(early.latest.is_none() && early.sentence.starts_with("It is too early"));
        let first = BalanceVerdict::new(&[week(6, 10)], &[]);
        assert!(first.before.is_none() && first.sentence.starts_with("Favourites won 60\u{a0}%"));
    }

    #[test]
    fn picked_matches_stand_beside_others() {
        let favoured = |picked, won, decided| Favoured {
            picked,
            decided,
            won,
        };
        let verdict = BalanceVerdict::new(&[], &[favoured(true, 52, 100), favoured(false, 8, 9)]);
        assert_eq!(verdict.picked.unwrap().won, 0.52);
        assert_eq!(verdict.others, None);
    }

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
