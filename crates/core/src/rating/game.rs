//! A finished game, or a lineup to predict, as rating systems see it.

use std::{cmp::Ordering, ops::Range};

use super::{Player, Tally};

/// One player's part in one team.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seat {
    /// The player in this seat; a player who changed teams has a seat on each.
    pub player: Player,
    /// The team, counted from 0. In a game without teams every player is a team.
    pub team: u16,
    /// Share of the game that the player was on this team, weighted, 0 to 1; 1 for a player who was
    /// there from start to end.
    pub share: f64,
    /// The part of `share` that the player missed by leaving early of their own accord; the rest of
    /// the game counts for them as if they had stayed. 0 for all other players.
    pub missed: f64,
    /// Share of the game that the player commanded this team, 0 to 1.
    pub command: f64,
    /// The number of the player's party; 0 for none.
    pub party: u32,
    /// Whether the game may change this player's estimate. False for humans in a game played mostly
    /// by bots.
    pub learns: bool,
}

impl Seat {
    /// A seat from start to end, without command or party.
    pub fn new(player: Player, team: u16) -> Self {
        Self {
            player,
            team,
            share: 1.0,
            missed: 0.0,
            command: 0.0,
            party: 0,
            learns: true,
        }
    }

    /// How many other players in these seats of one team are of the same party.
    pub(super) fn friends(&self, team: &[Seat]) -> usize {
        let same = |s: &&Seat| s.party == self.party && s.player != self.player;
        match self.party {
            0 => 0,
            _ => team.iter().filter(same).count(),
        }
    }
}

/// A game in the form that rating systems learn from: seats by team, places and tallies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RatedGame {
    seats: Vec<Seat>,
    teams: Vec<Range<usize>>,
    /// Each team's place: the lowest won, equal places are a tie. Empty where the outcome is
    /// unknown.
    pub places: Vec<u16>,
    /// Each team's final score, where the score decides the outcome; otherwise empty.
    pub scores: Vec<f64>,
    /// Whether of three teams or more only the winner is known, so that the others share a place.
    pub winner_alone: bool,
    /// One entry per player, in the order of the match record.
    pub tallies: Vec<Tally>,
    /// The dense number of the ruleset.
    pub ruleset: u32,
    /// The dense number of the combination of ruleset and mode. A mode, such as a limit of
    /// captures, decides how many points a game has.
    pub mode: u32,
    /// How much of a usual game of its mode it was, 0 to 1: its length or its points beside the usual
    /// ones, whichever is more. Most of a short game without points is chance.
    pub extent: f64,
    /// The dense number of the map.
    pub map: u32,
    /// Whether no map is stated.
    pub no_map: bool,
    /// Whether the team number is a side of the map that may be easier to win on.
    pub sides: bool,
    /// When the game ended, in days since an instant that all games share.
    pub day: f64,
    /// The players who left early of their own accord, in the order of the match record. Empty where
    /// the scores do not decide the outcome.
    pub departures: Vec<Departure>,
    /// The bots that came after one of those had left, in the order of the match record.
    pub arrivals: Vec<Arrival>,
}

/// A player who left early of their own accord, and the state of the game when they left.
#[derive(Clone, Debug, PartialEq)]
pub struct Departure {
    /// The player who left.
    pub player: Player,
    /// The share of the whole game's play time that was over, 0 to 1.
    pub played: f64,
    /// The game up to then, with the scores and places of that moment.
    pub game: RatedGame,
}

/// A bot that came after a player had left early, and the stretch of the game that it played.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrival {
    /// The bot that came.
    pub player: Player,
    /// The share of the whole game's play time that was over when it came, 0 to 1.
    pub since: f64,
    /// The game up to then, with the scores and places of that moment.
    pub before: RatedGame,
    /// The share of the whole game's play time from then until it had left for good, 0 to 1.
    pub played: f64,
    /// The game in that time, with the scores and places of that time alone.
    pub game: RatedGame,
}

impl RatedGame {
    /// A game with these seats, in any order, and no outcome, tallies or map. Teams are numbered
    /// without gaps; of two seats of a player on one team only the first counts.
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
            extent: 1.0,
            ..Self::default()
        }
    }

    /// All seats, sorted by team and then by player.
    pub fn seats(&self) -> &[Seat] {
        &self.seats
    }

    /// All seats, sorted by player and then by team, so that the seats of a player who changed
    /// teams follow each other.
    pub fn by_player(&self) -> Vec<Seat> {
        let mut seats = self.seats.clone();
        seats.sort_by_key(|seat| (seat.player, seat.team));
        seats
    }

    /// The same game, with one seat for each player who changed sides: on the team that they were
    /// on for longer, with the difference of their two shares. The difference between the teams'
    /// sums of strengths stays the same. `None` if no player changed sides, or if the game does not
    /// have two teams.
    pub fn net(&self) -> Option<Self> {
        let (one, other) = (self.team(0), self.team(1));
        if self.teams() != 2 || !share_a_player(one, other) {
            return None;
        }
        let mut net = self.clone();
        let (one, other) = net.seats.split_at_mut(one.len());
        for seat in one {
            if let Some(twin) = other.iter_mut().find(|s| s.player == seat.player) {
                let less = seat.share.min(twin.share);
                seat.share -= less;
                twin.share -= less;
            }
        }
        Some(net)
    }

    /// The sum of the time shares of all seats.
    pub fn shares(&self) -> f64 {
        self.seats.iter().map(|seat| seat.share).sum()
    }

    /// Number of teams.
    pub fn teams(&self) -> usize {
        self.teams.len()
    }

    /// The seats of one team, sorted by player; empty for a team that does not exist.
    pub fn team(&self, team: usize) -> &[Seat] {
        self.teams
            .get(team)
            .map_or(&[], |range| &self.seats[range.clone()])
    }

    /// The number of other players of a seat's party on the same team.
    pub fn friends(&self, seat: &Seat) -> usize {
        seat.friends(self.team(usize::from(seat.team)))
    }

    /// The result of team `a` against team `b`: `Less` if `a` has the better place. `None` where
    /// the outcome is unknown.
    pub fn result(&self, a: usize, b: usize) -> Option<Ordering> {
        Some(self.places.get(a)?.cmp(self.places.get(b)?))
    }

    /// How much of the victory a team has: 1 for the first, 0 for all others, and ½ for each of several
    /// that share the first place. `None` where the outcome is unknown.
    pub fn victory(&self, team: usize) -> Option<f64> {
        let own = self.places.get(team)?;
        let best = self.places.iter().min()?;
        let first = self.places.iter().filter(|place| *place == best).count();
        Some(match (own == best, first) {
            (false, _) => 0.0,
            (true, 1) => 1.0,
            (true, _) => 0.5,
        })
    }

    /// Pairs of teams with neighbouring places, in order of place, each with its result. These
    /// pairs determine the whole order; two teams give the one pair (0, 1), whichever of them won.
    /// Empty where the outcome is unknown.
    pub fn neighbours(&self) -> Vec<(usize, usize, Ordering)> {
        let mut order: Vec<usize> = (0..self.places.len().min(self.teams())).collect();
        if order.len() > 2 {
            order.sort_by_key(|&team| self.places[team]);
        }
        let pair = |w: &[usize]| Some((w[0], w[1], self.result(w[0], w[1])?));
        order.windows(2).filter_map(pair).collect()
    }
}

/// The first team's share of a victory by its [result](RatedGame::result): 1, ½ for a tie, or 0.
pub fn score(result: Ordering) -> f64 {
    0.5 - 0.5 * f64::from(result as i8)
}

/// Whether some player has a seat in both lists, which are sorted by player.
fn share_a_player(one: &[Seat], other: &[Seat]) -> bool {
    let (mut i, mut j) = (0, 0);
    while let (Some(a), Some(b)) = (one.get(i), other.get(j)) {
        match a.player.cmp(&b.player) {
            Ordering::Less => i += 1,
            Ordering::Greater => j += 1,
            Ordering::Equal => return true,
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn teams_are_slices_of_sorted_seats() {
        let seat = |p, t| Seat::new(Player(p), t);
        let game = RatedGame::new(vec![seat(3, 1), seat(2, 0), seat(1, 1), seat(3, 1)]);
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
    fn who_changed_sides_has_the_difference() {
        let seat = |player, team, share| Seat {
            share,
            ..Seat::new(Player(player), team)
        };
        let seats = vec![
            seat(1, 0, 0.25),
            seat(2, 0, 1.0),
            seat(1, 1, 0.75),
            seat(0, 1, 1.0),
        ];
        let game = RatedGame::new(seats);
        let net = game.net().unwrap();
        let shares = net.seats().iter().map(|s| (s.player.0, s.team, s.share));
        let by_hand = [(1, 0, 0.0), (2, 0, 1.0), (0, 1, 1.0), (1, 1, 0.5)];
        assert_eq!(shares.collect::<Vec<_>>(), by_hand);
        assert_eq!(net.net().map(|again| again == net), Some(true));
        let players = game.by_player().into_iter().map(|s| (s.player.0, s.team));
        let by_hand = [(0, 1), (1, 0), (1, 1), (2, 0)];
        assert_eq!(players.collect::<Vec<_>>(), by_hand);
        assert_eq!(
            RatedGame::new(vec![seat(0, 0, 1.0), seat(1, 1, 1.0)]).net(),
            None
        );
    }

    #[test]
    fn neighbours_go_from_first_to_last_place() {
        let seats = (0..4).map(|i| Seat::new(Player(i.into()), i));
        let mut game = RatedGame::new(seats.collect());
        game.places = vec![2, 0, 1, 1];
        use Ordering::{Equal, Less};
        assert_eq!(
            game.neighbours(),
            [(1, 2, Less), (2, 3, Equal), (3, 0, Less)]
        );
    }
}
