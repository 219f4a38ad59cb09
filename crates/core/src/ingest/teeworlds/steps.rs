//! What a server's output means, step by step.

use super::scoring::Change;

/// How far the game is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The output began in the middle.
    #[default]
    Unknown,
    WarmUp,
    /// A match has begun, and there are not enough players.
    Waiting,
    Playing,
    /// The final score is shown.
    Over,
}

/// What a line, or the time, means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    /// The map is loaded, and a warm-up begins. No player is there yet.
    Map,
    /// A setting is known.
    Setting,
    /// Players vote, so that the limits may change soon. They are unknown until somebody asks for them.
    Vote,
    /// Players have come, gone or changed teams.
    Roster,
    /// Play starts with the players who are there.
    Start,
    Score(Change),
    /// A player was killed; the killer is `None` if nobody else killed an enemy.
    Death {
        killer: Option<u32>,
        victim: u32,
    },
    /// The match is over since this time, in milliseconds.
    Over(u64),
    /// The match was broken off.
    Aborted,
}
