//! Checks that involve several keys, and patterns; types check single values.

use super::Config;
use crate::domain::{Patterns, Rulebook};

/// A broken rule and the keys that break it together; the operator should change the first one.
pub(super) struct Fault {
    /// The paths of the keys.
    pub(super) keys: Vec<String>,
    /// What is wrong, as a predicate whose subject is the first key.
    pub(super) why: String,
}

impl Config {
    /// The first broken rule; `None` if the configuration is valid.
    pub(super) fn first_fault(&self) -> Option<Fault> {
        self.order_fault().or_else(|| self.pattern_fault())
    }

    /// Checks pairs of keys of which the first must not be above the second.
    fn order_fault(&self) -> Option<Fault> {
        let (lobby, elo, advantage) = (&self.lobby, &self.rating.rating.elo, &self.advantage);
        let pairs = [
            (
                ("lobby.level_min", f64::from(lobby.level_min.get())),
                ("lobby.level_max", f64::from(lobby.level_max.get())),
            ),
            (
                ("advantage.dead_band", advantage.dead_band.get()),
                ("advantage.max", advantage.max.get()),
            ),
            (
                ("rating.elo_worst", elo.worst.get()),
                ("rating.elo_best", elo.best.get()),
            ),
        ];
        let ((low, least), (high, most)) =
            pairs.into_iter().find(|((_, low), (_, high))| low > high)?;
        Some(Fault {
            keys: vec![low.to_owned(), high.to_owned()],
            why: format!("must not be above {high}: {least} is above {most}"),
        })
    }

    fn pattern_fault(&self) -> Option<Fault> {
        let rulebook = Rulebook::new(&self.rulebook()).err();
        let tournament = || Patterns::new("tournament", &self.auto_balance.tournament).err();
        let error = rulebook.or_else(tournament)?;
        let section = match error.list {
            "gameplay" | "ignore" => "mutators",
            "tournament" => "auto_balance",
            _ => "game_types",
        };
        Some(Fault {
            keys: vec![format!("{section}.{}", error.list)],
            why: format!("has a bad pattern: {error}"),
        })
    }
}
