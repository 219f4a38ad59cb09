//! Whether matches have become more even, and whether those that Evenkeel picked are more even than others.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    model::counted,
    rating::history::Closeness,
    store::Favoured,
    web::{pages::table::Table, words},
};

/// The fewest decided matches that are compared: of fewer, intervals are too wide to say anything.
const FEWEST: i64 = 10;

/// How often the favourite won, with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(in crate::web::pages) struct Share {
    decided: i64,
    won: f64,
    low: f64,
    high: f64,
}

impl Share {
    /// `None` for too few matches.
    pub(in crate::web::pages) fn of(won: i64, decided: i64) -> Option<Self> {
        let (low, high) = wilson(won, decided)?;
        (decided >= FEWEST).then(|| Self {
            decided,
            won: words::rounded(won as f64 / decided as f64, 4),
            low: words::rounded(low, 4),
            high: words::rounded(high, 4),
        })
    }

    /// Of matches with a forecast that a team won.
    pub(super) fn of_closeness(of: &Closeness) -> Option<Self> {
        Self::of(of.favoured, of.predicted_won)
    }

    pub(in crate::web::pages) fn text(&self) -> String {
        format!(
            text!(balance.to),
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
pub(super) struct Verdict {
    /// The latest four weeks with matches, and the four before them.
    latest: Option<Share>,
    before: Option<Share>,
    sentence: String,
    /// Of the latest matches, those whose teams Evenkeel has picked, and all others.
    picked: Option<Share>,
    others: Option<Share>,
}

impl Verdict {
    /// Compares weeks, the last one at the end, and the matches that were picked with others.
    pub(super) fn new(weeks: &[Closeness], favoured: &[Favoured]) -> Self {
        let end = weeks.len();
        let part = |from: usize, to: usize| {
            let part = weeks.get(from..to).unwrap_or_default();
            Share::of_closeness(&part.iter().copied().sum())
        };
        let latest = part(end.saturating_sub(MONTH), end);
        let before = match end > MONTH {
            true => part(end.saturating_sub(2 * MONTH), end - MONTH),
            false => None,
        };
        let of = |picked| {
            let found = favoured.iter().find(|of| of.picked == picked)?;
            Share::of(found.won, found.decided)
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
        let rows = [
            (text!(balance.teams_picked_by_evenkeel), self.picked),
            (text!(balance.all_others), self.others),
        ];
        let rows: Vec<(&str, Share)> = rows
            .into_iter()
            .filter_map(|(name, share)| Some((name, share?)))
            .collect();
        html! {
            p { strong { (self.sentence) } }
            @if !rows.is_empty() {
                (Table::of(text!(balance.does_it_help), &rows)
                    .name(text!(balance.of_the_latest_matches), |(name, _)| *name)
                    .num(text!(balance.decided_matches), |(_, share)| share.decided)
                    .num(text!(common.favourite_won), |(_, share)| share.text()))
                p.note {
                    (text!(balance.the_numbers_in_brackets_are_a_95))
                }
            }
        }
    }
}

/// How many weeks are a month.
const MONTH: usize = 4;

/// Whether the latest weeks were more even.
fn sentence(latest: Option<Share>, before: Option<Share>) -> String {
    let Some(latest) = latest else {
        return format!(
            text!(balance.it_is_too_early_for_a_verdict_that),
            counted(FEWEST, "match")
        );
    };
    let Some(before) = before else {
        return format!(
            text!(balance.favourites_won_in_the_last_four),
            latest.text()
        );
    };
    let uneven = |share: &Share| (share.won - 0.5).abs();
    let overlap = latest.low <= before.high && before.low <= latest.high;
    let verdict = match uneven(&latest).total_cmp(&uneven(&before)) {
        _ if overlap => text!(balance.about_as_even_as_the_four_weeks),
        std::cmp::Ordering::Less => text!(balance.more_even_than_the_four_weeks),
        _ => text!(balance.less_even_than_the_four_weeks),
    };
    format!(
        text!(balance.favourites_won_before),
        latest.text(),
        before.text(),
        verdict = verdict
    )
}

#[cfg(test)]
mod tests {
    use super::*;

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
            Verdict::new(&weeks, &[]).sentence
        };
        assert!(
            said(80, 55).starts_with("More even than"),
            "{}",
            said(80, 55)
        );
        assert!(said(55, 80).starts_with("Less even than"));
        assert!(said(60, 61).starts_with("About as even as"));
        assert!(
            said(60, 61).contains("favourites won 61 % (56 to 66), before 60 % (55 to 65)"),
            "{}",
            said(60, 61)
        );
        let early = Verdict::new(&[week(5, 9)], &[]);
        assert!(early.latest.is_none() && early.sentence.starts_with("It is too early"));
        let first = Verdict::new(&[week(6, 10)], &[]);
        assert!(first.before.is_none() && first.sentence.starts_with("Favourites won 60 %"));
    }

    #[test]
    fn picked_matches_stand_beside_others() {
        let favoured = |picked, won, decided| Favoured {
            picked,
            decided,
            won,
        };
        let verdict = Verdict::new(&[], &[favoured(true, 52, 100), favoured(false, 8, 9)]);
        assert_eq!(verdict.picked.unwrap().won, 0.52);
        assert_eq!(verdict.others, None);
    }
}
