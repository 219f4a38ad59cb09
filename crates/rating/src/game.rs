//! A finished game, or a lineup to predict, as rating systems see it.

use std::{cmp::Ordering, ops::Range};

use crate::Player;

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

    /// The teams by their places, the first place first; teams that share a place are one group. Empty where
    /// the outcome is unknown.
    pub fn groups(&self) -> Vec<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.places.len().min(self.teams())).collect();
        order.sort_by_key(|&team| self.places[team]);
        let same = |a: &usize, b: &usize| self.places[*a] == self.places[*b];
        order.chunk_by(same).map(<[usize]>::to_vec).collect()
    }

    /// The neighbouring places of a game, the first place first, each with the next one. Two teams are compared even
    /// if they tie, as (0, 1), whichever of them won. Empty where the outcome is unknown.
    pub fn comparisons(&self) -> Vec<Comparison> {
        if self.teams() == 2 {
            let result = self.result(0, 1).into_iter();
            let two = |result| Comparison {
                sides: [vec![0], vec![1]],
                result,
            };
            return result.map(two).collect();
        }
        let groups = self.groups();
        let next = groups.windows(2).map(|next| Comparison {
            sides: [next[0].clone(), next[1].clone()],
            result: Ordering::Less,
        });
        next.collect()
    }

    /// The pairs of teams with neighbouring places, in order of place, and then those that share a place. Two
    /// teams give the one pair (0, 1), whichever of them won. Empty where the outcome is unknown.
    ///
    /// Without ties, each team meets the one before it and the one behind it, and these pairs determine the
    /// whole order. Teams that share a place stand in no order: each pair counts for the share of all orders
    /// of those who share a place in which the two are neighbours. So the same place has the same effect, and
    /// the pairs of a game count as many as it has teams, less one.
    pub fn neighbours(&self) -> Vec<TeamPair> {
        let mut pairs = Vec::new();
        for Comparison { sides, result } in self.comparisons() {
            let [own, behind] = &sides;
            let weight = 1.0 / (own.len() * behind.len()) as f64;
            let against = |&a: &usize| behind.iter().map(move |&b| TeamPair::of(a, b, result));
            let each = own.iter().flat_map(against);
            pairs.extend(each.map(|pair| TeamPair { weight, ..pair }));
        }
        if self.teams() > 2 {
            pairs.extend(self.groups().iter().flat_map(|group| ties(group)));
        }
        pairs
    }
}

/// The pairs of a group of teams that share a place. Of all orders of n teams, two are neighbours in the share 2/n.
fn ties(group: &[usize]) -> impl Iterator<Item = TeamPair> {
    let weight = 2.0 / group.len() as f64;
    let with = move |at: usize| group[at + 1..].iter().map(move |&b| (group[at], b));
    let pairs = (0..group.len()).flat_map(with);
    pairs.map(move |(a, b)| TeamPair {
        weight,
        ..TeamPair::of(a, b, Ordering::Equal)
    })
}

/// Teams of one place, and teams of another. What is known of a side is the mean over its teams, so that each of them
/// counts alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The teams of both sides.
    pub sides: [Vec<usize>; 2],
    /// The result of the first side against the second.
    pub result: Ordering,
}

impl Comparison {
    /// Whether one of these teams is in it.
    pub fn has_any(&self, teams: &[usize]) -> bool {
        self.sides.iter().flatten().any(|team| teams.contains(team))
    }
}

/// Two teams of a game, and what it shows of them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TeamPair {
    /// The first team.
    pub a: usize,
    /// The second team.
    pub b: usize,
    /// The result of the first team against the second.
    pub result: Ordering,
    /// How much the pair counts: 1 unless a place is shared.
    pub weight: f64,
}

impl TeamPair {
    /// A pair that counts in full.
    pub(super) fn of(a: usize, b: usize, result: Ordering) -> Self {
        let weight = 1.0;
        Self {
            a,
            b,
            result,
            weight,
        }
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
    /// Whether the game may change this player's estimate, as [`Seat::learns`](crate::Seat::learns).
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

    /// A game of players for themselves with these places.
    fn everybody(places: &[u16]) -> RatedGame {
        let seats = (0..)
            .zip(places)
            .map(|(i, _)| Seat::new(Player(i.into()), i));
        let mut game = RatedGame::new(seats.collect());
        game.places = places.to_vec();
        game
    }

    #[test]
    fn neighbours_go_from_first_to_last_place() {
        use Ordering::{Equal, Less};
        let pair = |a, b, result, weight| TeamPair {
            a,
            b,
            result,
            weight,
        };
        let game = everybody(&[2, 0, 3, 1]);
        assert_eq!(game.groups(), [[1], [3], [0], [2]]);
        assert_eq!(
            game.neighbours(),
            [(1, 3), (3, 0), (0, 2)].map(|(a, b)| pair(a, b, Less, 1.0))
        );
        // Of the two orders 1 2 3 0 and 1 3 2 0, each pair of neighbours but (2, 3) is in one.
        let game = everybody(&[3, 0, 1, 1]);
        assert_eq!(game.groups(), [vec![1], vec![2, 3], vec![0]]);
        let expected = [
            pair(1, 2, Less, 0.5),
            pair(1, 3, Less, 0.5),
            pair(2, 0, Less, 0.5),
            pair(3, 0, Less, 0.5),
            pair(2, 3, Equal, 1.0),
        ];
        assert_eq!(game.neighbours(), expected);
        let all = everybody(&[0, 0, 0]).neighbours();
        assert!(
            all.iter()
                .all(|pair| pair.result == Equal && pair.weight == 2.0 / 3.0)
        );
        assert_eq!(all.len(), 3);
    }

    #[test]
    fn two_teams_are_one_pair() {
        use Ordering::{Equal, Greater, Less};
        for (places, result) in [([0, 1], Less), ([1, 0], Greater), ([0, 0], Equal)] {
            assert_eq!(
                everybody(&places).neighbours(),
                [TeamPair::of(0, 1, result)]
            );
        }
    }
}
