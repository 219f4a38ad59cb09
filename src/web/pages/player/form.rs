//! The form of a player: the results of the last matches.

use maud::{Markup, html};
use serde::Serialize;

use crate::store::GameOfPerson;

/// How many matches are the form.
const FORM: usize = 10;

/// The results of the last matches, the latest first: `W`, `D` or `L`.
#[derive(Debug, Serialize)]
pub(super) struct Form(Vec<char>);

impl Form {
    /// The form after these matches, the latest first.
    pub fn of(games: &[GameOfPerson]) -> Self {
        let results = games.iter().filter_map(|game| game.result);
        Self(results.map(letter).take(FORM).collect())
    }

    /// As a sentence with a space before it; empty without results.
    pub fn in_a_sentence(&self) -> String {
        let form: String = self.0.iter().collect();
        match form.is_empty() {
            true => form,
            false => format!(text!(player.last_results_the_latest_first_2), form = form),
        }
    }

    /// As a paragraph.
    pub fn body(&self) -> Markup {
        html! {
            @if !self.0.is_empty() {
                p {
                    (mark!(player.last_results_the_latest_first,
                        { span.form { @for result in &self.0 { span class=(result_word(*result)) { (result) } " " } } }
                    ))
                }
            }
        }
    }
}

/// The letter of a result.
pub(super) fn letter(result: f64) -> char {
    match result {
        result if result > 0.5 => 'W',
        result if result < 0.5 => 'L',
        _ => 'D',
    }
}

/// The word for the letter of a result, which is also its class.
pub(super) fn result_word(letter: char) -> &'static str {
    match letter {
        'W' => "won",
        'L' => "lost",
        _ => "draw",
    }
}
