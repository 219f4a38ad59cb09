//! The division of a player, in the form in which players may see it.

use super::{Learning, Standings};
use crate::model::{Rank, Ruleset, Timestamp};

/// A player's division as it is displayed.
#[derive(Clone, Debug, PartialEq)]
pub struct DisplayedRank {
    /// The name of the division and the progress in it, 0 to 1; `None` while the player is calibrating.
    pub division: Option<(String, f64)>,
    /// The number of rated matches from which the weight was learned.
    pub games: u32,
    /// The weight, if players may see it and it is known.
    pub weight: Option<f64>,
}

impl Learning {
    /// The displayed division of a human under a ruleset. It is lower than the division that the
    /// player reached if the last match was long before `now`. `None` if no divisions are
    /// configured.
    pub fn displayed_rank(
        &self,
        standings: &Standings,
        ruleset: &Ruleset,
        id: &str,
        now: Timestamp,
    ) -> Option<DisplayedRank> {
        let settings = &self.settings.history.divisions;
        if !settings.is_on() {
            return None;
        }
        let view = standings.view(ruleset);
        let reached = view.rank(id);
        let displayed = reached.rank.map(|rank| {
            let away = now.0.saturating_sub(reached.last_seen.0);
            settings.displayed(rank, away)
        });
        let named = |rank: Rank| Some((settings.name(rank.division)?.to_owned(), rank.progress));
        Some(DisplayedRank {
            division: displayed.and_then(named),
            games: reached.games,
            weight: view.human(id).filter(|_| settings.shows_weights()),
        })
    }
}
