//! A finished game, or a lineup to predict, as rating systems see it.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// A player's dense number: whoever folds the games counts identities from 0 as they first appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Player(pub u32);

impl Player {
    /// The number as an index.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One player's part in one team.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seat {
    /// Who.
    pub player: Player,
    /// The team, counted from 0. In a game without teams everyone is a team.
    pub team: u16,
    /// Weighted share of the game they were on it, 0 to 1; 1 for somebody there from start to end.
    pub share: f64,
    /// Share of the game they commanded it, 0 to 1.
    pub command: f64,
    /// The premade party they belong to; 0 for none.
    pub party: u32,
    /// Whether the game may change what is known of them (humans among mostly bots don't learn).
    pub learns: bool,
}

impl Seat {
    /// A seat from start to end, with no special part.
    pub fn new(player: Player, team: u16) -> Self {
        Self {
            player,
            team,
            share: 1.0,
            command: 0.0,
            party: 0,
            learns: true,
        }
    }
}

/// What one player did in one game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tally {
    /// Who.
    pub player: Player,
    /// Points scored by a team while they were on it (F of the UT2004 page), 0 or more.
    pub scored: f64,
    /// Points scored against a team while they were on it (A), 0 or more.
    pub conceded: f64,
    /// Scoreboard points, or kills where the log tells none. `None` where it tells neither.
    pub points: Option<f64>,
    /// Others they killed.
    pub kills: f64,
    /// Their deaths.
    pub deaths: f64,
    /// Times their team scored by them.
    pub captures: f64,
    /// How long they played.
    pub minutes: f64,
    /// As [`Seat::learns`].
    pub learns: bool,
}

impl Tally {
    /// Somebody of whom nothing is told.
    pub fn new(player: Player) -> Self {
        Self {
            player,
            scored: 0.0,
            conceded: 0.0,
            points: None,
            kills: 0.0,
            deaths: 0.0,
            captures: 0.0,
            minutes: 0.0,
            learns: true,
        }
    }

    /// Points, kills, deaths and captures per minute; nothing for nobody there.
    pub fn rates(&self) -> [f64; 4] {
        let told = [
            self.points.unwrap_or(0.0),
            self.kills,
            self.deaths,
            self.captures,
        ];
        told.map(|count| {
            if self.minutes > 0.0 {
                count / self.minutes
            } else {
                0.0
            }
        })
    }
}

/// A game.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Game {
    seats: Vec<Seat>,
    teams: Vec<Range<usize>>,
    /// Each team's place: the lowest won, equal is a tie. Empty where the outcome isn't known.
    pub places: Vec<u16>,
    /// Each team's final points, where they show the outcome; otherwise empty.
    pub scores: Vec<f64>,
    /// One entry per player, in the order of the record.
    pub tallies: Vec<Tally>,
    /// The ruleset's dense number.
    pub ruleset: u32,
    /// The map's dense number.
    pub map: u32,
    /// Whether the team number is a side that may be easier to win on.
    pub sides: bool,
    /// When it ended, in days since any instant.
    pub day: f64,
}

impl Game {
    /// A game of these seats, in any order, with nothing told about the rest. Teams are numbered
    /// without gaps; somebody listed twice on a team counts once, the first time.
    pub fn new(mut seats: Vec<Seat>) -> Self {
        seats.sort_by_key(|s| (s.team, s.player));
        seats.dedup_by_key(|s| (s.team, s.player));
        let mut teams = Vec::new();
        let mut from = 0;
        for team in seats.chunk_by(|a, b| a.team == b.team) {
            teams.push(from..from + team.len());
            from += team.len();
        }
        Self {
            seats,
            teams,
            ..Self::default()
        }
    }

    /// Everyone, team by team.
    pub fn seats(&self) -> &[Seat] {
        &self.seats
    }

    /// The time shares of everyone, together.
    pub fn shares(&self) -> f64 {
        self.seats.iter().map(|seat| seat.share).sum()
    }

    /// Number of teams.
    pub fn teams(&self) -> usize {
        self.teams.len()
    }

    /// Those of one team, by player; nobody for a team that doesn't exist.
    pub fn team(&self, team: usize) -> &[Seat] {
        self.teams
            .get(team)
            .map_or(&[], |range| &self.seats[range.clone()])
    }

    /// How team `a` did against team `b`: `Less` is a better place. `None` where nobody knows.
    pub fn result(&self, a: usize, b: usize) -> Option<Ordering> {
        Some(self.places.get(a)?.cmp(self.places.get(b)?))
    }

    /// Neighbouring teams in order of place, each with its result. All of the order is in these
    /// pairs, and for two teams the one pair is (0, 1), whoever won. Empty where the outcome isn't known.
    pub fn neighbours(&self) -> Vec<(usize, usize, Ordering)> {
        let mut order: Vec<usize> = (0..self.places.len().min(self.teams())).collect();
        if order.len() > 2 {
            order.sort_by_key(|&team| self.places[team]);
        }
        let pair = |w: &[usize]| Some((w[0], w[1], self.result(w[0], w[1])?));
        order.windows(2).filter_map(pair).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn teams_are_slices_of_sorted_seats() {
        let seat = |p, t| Seat::new(Player(p), t);
        let game = Game::new(vec![seat(3, 1), seat(2, 0), seat(1, 1), seat(3, 1)]);
        let players = |t| {
            let team = game.team(t).iter();
            team.map(|s| s.player.0).collect::<Vec<_>>()
        };
        assert_eq!(
            (game.teams(), players(0), players(1)),
            (2, vec![2], vec![1, 3])
        );
        assert!(players(2).is_empty());
        assert!(game.neighbours().is_empty());
    }

    #[test]
    fn neighbours_go_from_first_to_last_place() {
        let seats = (0..4).map(|i| Seat::new(Player(i.into()), i));
        let mut game = Game::new(seats.collect());
        game.places = vec![2, 0, 1, 1];
        use Ordering::{Equal, Less};
        assert_eq!(
            game.neighbours(),
            [(1, 2, Less), (2, 3, Equal), (3, 0, Less)]
        );
    }
}
