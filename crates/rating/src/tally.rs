//! What a player did in a game, as rating systems see it.

use super::Player;

/// What one player did in one game.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// The player whose counts these are.
    pub player: Player,
    /// Points scored by a team while they were on it (F of the UT2004 page), 0 or more.
    pub scored: f64,
    /// Points scored against a team while they were on it (A), 0 or more.
    pub conceded: f64,
    /// Points on the scoreboard, or kills where the log contains no points. `None` where it
    /// contains neither.
    pub points: Option<f64>,
    /// How often they killed another player.
    pub kills: f64,
    /// How often they died.
    pub deaths: f64,
    /// How often they scored for their team, such as captures of a flag.
    pub captures: f64,
    /// Time played, in minutes.
    pub minutes: f64,
    /// Whether the team that they were on for longest has won.
    pub won: bool,
    /// Whether the game may change this player's estimate, as [`Seat::learns`](super::Seat::learns).
    pub learns: bool,
}

impl Tally {
    /// A tally of zeros, for a player about whom the log contains no counts.
    pub fn new(player: Player) -> Self {
        Self {
            player,
            learns: true,
            ..Self::default()
        }
    }

    /// Points, kills, deaths and captures per minute; zeros for a player with no time in the game.
    pub fn rates(&self) -> [f64; 4] {
        let counts = [
            self.points.unwrap_or(0.0),
            self.kills,
            self.deaths,
            self.captures,
        ];
        counts.map(|count| {
            if self.minutes > 0.0 {
                count / self.minutes
            } else {
                0.0
            }
        })
    }
}
