//! Numbers and times as people read them, and why a match had these teams: what BALANCE weighed up, in words.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    lobby::{Decided, Decision, balance::Balance},
    model::{Timestamp, names::plain_name, team_names::TeamNames, text::counted},
    partition::settings::Terms,
    words,
};

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

/// The reasons for teams, in numbers.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Reasons {
    /// The weight of the weaker team divided by that of the stronger one.
    ratio: f64,
    /// Number of humans whom BALANCE divided.
    humans: usize,
    /// Number of splits from which these teams were picked.
    candidates: usize,
    /// Whether no more even split is possible.
    best_possible: bool,
    /// Number of parties, and how many of them are not together.
    parties: usize,
    parties_apart: usize,
    /// Why wishes for a side were not granted, one entry for each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    wishes_refused: Vec<String>,
    /// What is undesirable about the teams.
    #[serde(flatten)]
    terms: Terms,
}

/// The reasons for the teams of a stored BALANCE. `None` if this version cannot read it.
pub(super) fn reasons(json: &str) -> Option<Reasons> {
    let Decision::Balance(decided) = serde_json::from_str(json).ok()? else {
        return None;
    };
    Reasons::of(&decided)
}

impl Reasons {
    /// The reasons for teams that BALANCE has picked.
    pub(crate) fn of(decided: &Decided<Balance>) -> Option<Self> {
        let question = &decided.question;
        let (solution, parties_apart) = question.solution_of(&decided.answer)?;
        let pick = solution.pick();
        Some(Self {
            ratio: pick.figures.ratio,
            humans: question.problem.view.humans.len(),
            candidates: question.settings.top.as_usize(),
            best_possible: solution.exact && pick.figures.evenness >= solution.bound - 1e-9,
            parties: question.problem.parties.len() + question.problem.torn.len(),
            parties_apart,
            wishes_refused: solution.refusals(),
            terms: pick.terms,
        })
    }

    /// The reasons as a list.
    pub(crate) fn body(&self) -> Markup {
        let terms = &self.terms;
        let players = |number: f64| counted(number as u64, "player");
        html! {
            ul {
                li {
                    (mark!("The weaker team had {0} of the weight of the stronger one, among \
         {1}.",
                        { (words::percent(self.ratio)) },
                        { (counted(self.humans as u64, "human")) }
                    ))
                }
                @if terms.best_gap > 0.005 {
                    li { (mark!("The best players of the teams differed by {0} in weight.", { (words::percent(terms.best_gap)) })) }
                }
                @if terms.spread_gap > 0.005 {
                    li { (mark!("One team was more mixed than the other: the spread of weights \
         differed by {0}.", { (words::percent(terms.spread_gap)) })) }
                }
                @if self.parties > 0 {
                    li {
                        @match self.parties { 1 => "1 party", parties => { (mark!("{0} parties", { (parties) })) } }
                        " asked to be together; "
                        @match self.parties_apart { 0 => "all were.", apart => { (mark!("{0} could not be.", { (apart) })) } }
                    }
                }
                @if terms.avoided_pairs > 0.0 {
                    li { (mark!("{0} of players who avoid each other shared a team.", { (counted(terms.avoided_pairs as u64, "pair")) })) }
                }
                @for why in &self.wishes_refused {
                    li { (mark!("A wish for a side was not granted: {0}.", { (why) })) }
                }
                @if terms.moved > 0.0 { li { (mark!("{0} had to change teams.", { (players(terms.moved)) })) } }
                @if terms.repeated > 0.0 {
                    li { (mark!("{0} of the pairs of the match before were together again.", { (words::percent(terms.repeated)) })) }
                }
            }
        }
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
