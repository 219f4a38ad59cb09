//! How strong the players of a ruleset are, and where among them one player is.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    model::Kind,
    web::{
        Site, WebError,
        plot::{self, Bar},
        words,
    },
};

/// Of how many players at most it is made; of more, of so many at equal distances by place.
const PLAYERS: usize = 100;
/// The fewest players of whom a distribution says anything.
const FEWEST: usize = 10;
/// The most steps.
const STEPS: usize = 12;

/// How many of the players with a place are worth how much at least: the weight minus one deviation.
#[derive(Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct Distribution(Vec<WorthStep>);

/// The players whose worth is from a number up to the next step's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct WorthStep {
    from: f64,
    /// The share of the players with a place.
    share: f64,
}

impl Distribution {
    /// That of a ruleset; `None` with too few players, and where numbers are not shown.
    pub(super) async fn read(
        site: &Site,
        ruleset: &str,
        kind: Kind,
    ) -> Result<Option<Self>, WebError> {
        if !site.settings.shows_numbers() {
            return Ok(None);
        }
        let worth = site
            .learning()
            .worth_at_least(ruleset, kind, PLAYERS)
            .await?;
        Ok(Self::of(&worth))
    }

    fn of(worth: &[f64]) -> Option<Self> {
        let least = worth.iter().copied().fold(f64::INFINITY, f64::min).floor();
        let most = worth.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if worth.len() < FEWEST || !(most - least).is_finite() {
            return None;
        }
        // Whole numbers from 1 on, so that the steps are easy to read.
        let width = ((most - least) / STEPS as f64).ceil().max(1.0);
        let count = ((most - least) / width).floor() as usize + 1;
        let step = |at: usize| {
            let from = least + at as f64 * width;
            let within = worth
                .iter()
                .filter(|own| (from..from + width).contains(*own));
            let share = within.count() as f64 / worth.len() as f64;
            WorthStep {
                from,
                share: words::rounded(share, 4),
            }
        };
        Some(Self((0..count).map(step).collect()))
    }

    /// The step of a player who is worth this much.
    fn step_of(&self, worth: f64) -> Option<usize> {
        let steps = &self.0;
        let at = steps.partition_point(|step| step.from <= worth);
        (!steps.is_empty()).then(|| at.saturating_sub(1))
    }

    /// The plot, in which the step of a player who is worth `own` is marked.
    pub(super) fn body(&self, ruleset: &str, own: Option<(&str, f64)>) -> Result<Markup, WebError> {
        let marked = own.and_then(|(_, worth)| self.step_of(worth));
        let bar = |(at, step): (usize, &WorthStep)| Bar {
            is_marked: marked == Some(at),
            ..Bar::new(words::number(step.from), 100.0 * step.share)
        };
        let bars: Vec<Bar> = self.0.iter().enumerate().map(bar).collect();
        let here = own.map_or(String::new(), |(name, worth)| {
            format!("; {name} is at {0}", words::tenths(worth), name = name)
        });
        let label = format!(
            "Players with a place in {ruleset} by weight minus uncertainty, \
         in percent{here}",
            ruleset = ruleset,
            here = here
        );
        Ok(html! {
            figure {
                figcaption {
                    "All players with a place, in percent"
                    @if let Some((name, _)) = own { (mark!(": {0} is in the other colour", { (name) })) }
                }
                (plot::bars(&label, "weight minus its uncertainty", &bars)?)
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_player_is_in_one_step() {
        let worth: Vec<f64> = (0..40).map(|at| 60.5 - f64::from(at)).collect();
        let all = Distribution::of(&worth).unwrap();
        let sum: f64 = all.0.iter().map(|step| step.share).sum();
        assert!((sum - 1.0).abs() < 1e-9, "{all:?}");
        assert!(all.0.len() <= STEPS + 1 && all.0[0].from == 21.0, "{all:?}");
        assert_eq!(all.step_of(0.0), Some(0));
        assert_eq!(all.step_of(99.0), Some(all.0.len() - 1));
        let own = all.step_of(43.2).unwrap();
        assert!(all.0[own].from <= 43.2 && 43.2 < all.0[own + 1].from);
    }

    #[test]
    fn few_players_have_no_distribution() {
        assert_eq!(Distribution::of(&[50.0; FEWEST - 1]), None);
        assert_eq!(Distribution::of(&[f64::NAN; FEWEST]), None);
        let equal = Distribution::of(&[50.0; FEWEST]).unwrap();
        assert_eq!(
            equal.0,
            [WorthStep {
                from: 50.0,
                share: 1.0
            }]
        );
    }
}
