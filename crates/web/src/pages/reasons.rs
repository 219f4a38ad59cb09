//! Why a match had these teams: what BALANCE weighed up, in words.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    lobby::{Decided, Decision, balance::Balance},
    model::text::counted,
    partition::settings::Terms,
    words,
};

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
