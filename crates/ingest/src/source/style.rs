//! Which game a log is of, and how it states results, as its events show.

use super::grammar::Event;

/// How the log states the result of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultStyle {
    /// With lines of its own, after the game's end.
    #[default]
    Finals,
    /// As Counter-Strike does, which states the score after each round.
    Rounds {
        /// Whether a line marks the end of a match, as in Counter-Strike: Global Offensive.
        has_end: bool,
    },
}

impl ResultStyle {
    /// The name of the game that an event shows, and how its log states results; `None` if it shows nothing new.
    pub(crate) fn shown_by(self, event: Event<'_>) -> Option<(&'static str, Self)> {
        let has_end = self == Self::Rounds { has_end: true };
        Some(match event {
            Event::Over { .. } | Event::MatchStart(_) | Event::Reloaded | Event::WarmUp => {
                ("csgo", Self::Rounds { has_end: true })
            }
            Event::Tally(..) | Event::RoundWon(_) if !has_end => {
                ("cstrike", Self::Rounds { has_end: false })
            }
            Event::Final(..) | Event::Current(..) | Event::RoundLength(_) | Event::Point(_) => {
                ("tf", Self::Finals)
            }
            Event::MatchBegins => ("tfc", Self::Finals),
            _ => return None,
        })
    }
}
