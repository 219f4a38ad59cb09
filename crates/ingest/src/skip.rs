//! Why a game in a log makes no match.

use std::fmt;

use evenkeel_model::RecordError;

/// Why a game in a log makes no match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Skip {
    /// The log ends, or another game begins, before this game's end.
    Unfinished,
    /// The game was broken off: the map was changed or the server was stopped.
    Aborted,
    /// The log contains only the warm-up of this game, and no play.
    WarmUp,
    /// The game began before the log did, so that the players' teams are unknown.
    StartedBeforeLog,
    /// A team game whose score the log does not state.
    NoResult,
    /// Nobody played.
    Empty,
    /// The log is of this game, whose logs resemble those of a supported one.
    Unsupported(String),
    /// The game has more players, team changes or score changes than any real game.
    TooLarge,
    /// The log contradicts itself: the record would fail
    /// [`MatchRecord::check`](evenkeel_model::MatchRecord::check).
    Impossible(RecordError),
    /// The log contradicts itself: this in it cannot be of one game.
    Contradiction(&'static str),
}

impl Skip {
    /// A stable word for tables and scripts.
    pub fn code(&self) -> &'static str {
        match self {
            Skip::Unfinished => "unfinished",
            Skip::Aborted => "aborted",
            Skip::WarmUp => "warm-up",
            Skip::StartedBeforeLog => "started-before-log",
            Skip::NoResult => "no-result",
            Skip::Empty => "empty",
            Skip::Unsupported(_) => "unsupported",
            Skip::TooLarge => "too-large",
            Skip::Impossible(_) | Skip::Contradiction(_) => "impossible",
        }
    }
}

impl fmt::Display for Skip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Skip::Unfinished => "the log does not contain the end of this game",
            Skip::Aborted => "the game was broken off by a map change or a server stop",
            Skip::WarmUp => "the game was never played beyond warm-up",
            Skip::StartedBeforeLog => "the game began before the log did",
            Skip::NoResult => "the log does not contain the final score of this game",
            Skip::Empty => "nobody played in this game",
            Skip::Unsupported(game) => return write!(f, "{game} is not supported"),
            Skip::TooLarge => "the game has more players or events than a real game can have",
            Skip::Impossible(why) => return write!(f, "the log contradicts itself: {why}"),
            Skip::Contradiction(why) => return write!(f, "the log contradicts itself: {why}"),
        })
    }
}
