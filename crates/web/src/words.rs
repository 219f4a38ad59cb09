//! Numbers and times as people read them.

use maud::{Markup, html};

use crate::model::{Timestamp, names::plain_name, team_names::TeamNames};

/// A date and time to the minute in UTC, such as `2026-11-20 15:28`.
pub(super) fn minute(at: Timestamp) -> String {
    let text = at.to_string();
    match text.get(..16) {
        Some(minute) if text.ends_with('Z') => minute.replace('T', " "),
        _ => "–".to_owned(),
    }
}

/// A date in UTC, such as `2026-11-20`.
pub(super) fn day(at: Timestamp) -> String {
    minute(at).get(..10).unwrap_or("–").to_owned()
}

/// An hour in UTC, such as `15`.
pub(super) fn hour(at: Timestamp) -> String {
    minute(at).get(11..13).unwrap_or("–").to_owned()
}

/// The class of the colour with this number.
pub(super) fn team_class(colour: usize) -> String {
    format!("team t{}", colour.min(7))
}

/// A time for people and for programs. Where there is little room, a line may end after the date.
pub(super) fn time(at: Timestamp) -> Markup {
    let text = minute(at);
    let (day, hour) = text.split_once(' ').unwrap_or((&text, ""));
    html! { time datetime=(at) { span { (day) } " " span { (hour) } } }
}

/// A share as a percentage without decimals. No line ends before the sign.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0}\u{a0}%", 100.0 * share)
}

/// A sentence in which no line ends before the sign of a percentage.
pub(super) fn unbroken(sentence: &str) -> String {
    sentence.replace(" %", "\u{a0}%")
}

/// A predicted chance, which is never quite 0 or 100 %.
pub(super) fn chance(chance: f64) -> String {
    match chance {
        chance if chance > 0.995 => ">\u{a0}99\u{a0}%".to_owned(),
        chance if chance < 0.005 => "<\u{a0}1\u{a0}%".to_owned(),
        chance => percent(chance),
    }
}

/// A number rounded to these decimals.
pub(super) fn rounded(number: f64, decimals: i32) -> f64 {
    let scale = 10.0_f64.powi(decimals);
    (number * scale).round() / scale
}

/// A number with one decimal.
pub(super) fn tenths(number: f64) -> String {
    // Without this, -0.04 would be "-0.0".
    let rounded = (10.0 * number).round() / 10.0 + 0.0;
    format!("{rounded:.1}")
}

/// A number with one decimal, or without decimals if that would be 0.
pub(super) fn number(number: f64) -> String {
    let text = tenths(number);
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

/// A difference with its sign.
pub(super) fn signed(number: f64) -> String {
    match tenths(number) {
        text if text.starts_with('-') => text.replace('-', "−"),
        text => format!("+{text}"),
    }
}

/// Scores such as `5 : 3`.
pub(super) fn scores(scores: &[f64]) -> String {
    let scores: Vec<String> = scores.iter().map(|score| number(*score)).collect();
    scores.join(" : ")
}

/// Scores in the colours of their teams.
pub(super) fn coloured_scores(scores: &[f64], names: &TeamNames) -> Markup {
    html! {
        p.score {
            @for (team, score) in scores.iter().enumerate() {
                @if team > 0 { " : " }
                span class=(team_class(names.colour(team))) { (number(*score)) }
            }
        }
    }
}

/// The name of a game server; empty for one without a name.
pub(super) fn server_name(name: &str) -> String {
    match name.is_empty() {
        true => String::new(),
        false => plain_name(name),
    }
}

/// Minutes and seconds, such as `3:13`.
pub(super) fn length(millis: i64) -> String {
    let seconds = millis.max(0) / 1_000;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// A mean, or `None` without anything to take it over.
pub(super) fn mean(sum: f64, count: i64) -> Option<f64> {
    (count > 0).then(|| sum / count as f64)
}

/// A text that may be missing.
pub(super) fn or_dash(text: Option<String>) -> String {
    text.unwrap_or_else(|| "–".to_owned())
}

/// A number in these words, or a dash if it is not known.
pub(super) fn known(number: Option<f64>, words: fn(f64) -> String) -> String {
    or_dash(number.map(words))
}

/// The key of a ruleset with places to break the line.
pub(super) fn ruleset(key: &str) -> Markup {
    html! {
        @for (at, part) in key.split('+').enumerate() {
            @if at > 0 { wbr; "+" }
            (part)
        }
    }
}

/// What the table of a map counts.
pub(super) const OF_MAPS: &str = "Rated matches between teams. The favourite is the team that was more \
         likely to win by the forecast; the closer to 50\u{a0}% it won, the more even the teams were.";

/// What stands in the place of numbers that are not known yet.
pub(super) const COUNTING: &str = "The matches are being counted again. This takes a moment.";

/// Why weights are about to change.
pub(super) const CORRECTING: &str = "History was corrected, and the matches are being counted again. Until that is done, \
         weights are those without the correction.";

/// Why a match is not rated, as a sentence.
pub(super) fn unrated(code: &str) -> &'static str {
    match code {
        "no-play-time" => "Nobody played.",
        "too-short" => "It was too short.",
        "abandoned" => "It was abandoned.",
        "no-scores" => "No score was reported.",
        "team-empty" => "A team had no player.",
        "no-opponent" => "Only one player took part.",
        "too-few-humans" => "There were too few humans.",
        "too-many-new" => {
            "Its game server had reported too many new players or rulesets, and an operator has to admit it."
        }
        "two-places" => {
            "Its players were in another match of the same game server at the same time."
        }
        "void" => "It was undone, or declared void.",
        _ => "It does not count.",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        assert_eq!(minute(Timestamp(1_795_188_516_000)), "2026-11-20 15:28");
        assert_eq!(day(Timestamp(1_795_188_516_000)), "2026-11-20");
        assert_eq!(minute(Timestamp(i64::MAX)), "–");
        assert_eq!(hour(Timestamp(1_795_188_516_000)), "15");
        assert_eq!(
            [tenths(-0.04), number(3.0), number(2.5)],
            ["0.0", "3", "2.5"]
        );
        assert_eq!(scores(&[0.0, 0.97]), "0 : 1");
        assert_eq!(scores(&[2.96, 2.0]), "3 : 2");
        assert_eq!([number(-0.04), number(1e12)], ["0", "1000000000000"]);
        assert_eq!([signed(0.26), signed(-1.0)], ["+0.3", "−1.0"]);
        assert_eq!(scores(&[5.0, -1.0]), "5 : -1");
        assert_eq!([length(193_001), length(-5)], ["3:13", "0:00"]);
        assert_eq!(mean(3.0, 0), None);
        assert_eq!(
            [0.999, 0.5, 0.0].map(chance),
            [">\u{a0}99\u{a0}%", "50\u{a0}%", "<\u{a0}1\u{a0}%"]
        );
    }
}
