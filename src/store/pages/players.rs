//! Players as pages read them: in leaderboards, with their matches, and in running games.

use crate::domain::{Kind, PlayerKey, TeamChances, Timestamp};

/// Which part of a leaderboard to read.
#[derive(Clone, Copy, Debug)]
pub struct BoardQuery<'a> {
    /// The key of the ruleset.
    pub ruleset: &'a str,
    /// Whether to read the humans or the bots.
    pub kind: Kind,
    /// A part of the name in lower case; empty for all players.
    pub search: &'a str,
    /// How many rows to skip; without a search, how many places.
    pub skip: i64,
    /// The most rows to read.
    pub limit: i64,
}

/// A line of a leaderboard.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardRow {
    /// The player; the identity is not for the page.
    pub key: PlayerKey,
    /// The place by weight, from 1.
    pub place: i64,
    /// The handle of the player; `None` if the player has none.
    pub handle: Option<String>,
    /// The name in the player's latest match.
    pub name: String,
    /// The weight, 0 to 100.
    pub weight: f64,
    /// The standard deviation of the weight.
    pub deviation: f64,
    /// Number of rated matches.
    pub games: i64,
    /// The end of the latest of them.
    pub last_seen: Timestamp,
    /// The name of the division as it is displayed now.
    pub division: Option<String>,
}

/// A player who has a page.
#[derive(Clone, Debug, PartialEq)]
pub struct PersonRow {
    /// The number of the person; it may change when weights are derived again.
    pub person: i64,
    /// The identity that the player's matches count for.
    pub key: PlayerKey,
    /// The public handle of the player.
    pub handle: String,
}

/// A player's standing under one ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct StandingLine {
    /// The key of the ruleset.
    pub ruleset: String,
    /// The number of players of this kind who have a place there.
    pub of: i64,
    /// When the latest match of the ruleset ended, from which the weight was learned; `None` without any.
    pub learned: Option<Timestamp>,
    /// The player's line in the leaderboard.
    pub row: BoardRow,
}

/// A rated match of one player.
#[derive(Clone, Debug, PartialEq)]
pub struct GameOfPerson {
    /// The id of the match.
    pub id: i64,
    /// The end of the match.
    pub ended: Timestamp,
    /// The key of the ruleset.
    pub ruleset: String,
    /// Name of the map.
    pub map: String,
    /// The player's team; `None` without teams.
    pub team: Option<u8>,
    /// 1 if it won, 0.5 for a draw, 0 if it lost; `None` without a result.
    pub result: Option<f64>,
    /// The teams as they were at START, with the chances that were predicted then.
    pub started: Option<TeamChances>,
    /// The forecast: see [`MatchLine::forecast`](super::MatchLine::forecast).
    pub forecast: Option<f64>,
    /// The weight after the match, and its deviation.
    pub after: Option<(f64, f64)>,
    /// Points that the player's team scored meanwhile; kills without teams.
    pub points_for: f64,
    /// Points scored against it; deaths without teams.
    pub points_against: f64,
}

impl GameOfPerson {
    /// The forecast for the player's team; `None` unless the match had two teams.
    pub fn expected(&self) -> Option<f64> {
        match self.team {
            Some(0) => self.forecast,
            Some(1) => self.forecast.map(|chance| 1.0 - chance),
            _ => None,
        }
    }
}

/// Points on the scoreboard of a match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PointsInMatch {
    /// The id of the match.
    pub id: i64,
    /// The points of one player.
    pub own: f64,
    /// The mean of the others' points; `None` if nobody else has any.
    pub others: Option<f64>,
}

/// Who has played with and against a player.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Companions {
    /// Those with most matches, on the player's team and on others.
    pub list: Vec<Companion>,
    /// How many there are on the player's team, with those who are not in the list.
    pub together: usize,
    /// How many there are on other teams.
    pub apart: usize,
}

/// A player who was in matches with another one.
#[derive(Clone, Debug, PartialEq)]
pub struct Companion {
    /// The handle; `None` if the player has none.
    pub handle: Option<String>,
    /// The kind of the player.
    pub kind: Kind,
    /// The name in the player's latest match.
    pub name: String,
    /// Whether they were on one team.
    pub together: bool,
    /// Number of matches that both were in.
    pub games: i64,
    /// How many of these the first player won; a draw is half a win.
    pub won: f64,
}

/// A player of a running game, as pages show them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresentPlayer {
    /// The handle; `None` if the player has no page.
    pub handle: Option<String>,
    /// The name; `None` for players who are hidden.
    pub name: Option<String>,
}
