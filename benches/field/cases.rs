//! The cases in which the balancers are compared: the lobbies as they were, with an odd number of players, with parties, and
//! with wishes for a side.

use std::cmp::Ordering;

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};

use crate::common::{daemon::wish, lobbies::Lobby};

/// A case.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Case {
    Plain,
    /// One player of each lobby with an even number is left out.
    Odd,
    /// Two pairs of eight players, three of twelve, want to play together.
    Parties,
    /// Half of the players wish for a side.
    Wishes,
}

/// The players from whom on a lobby is changed: two against two have nothing to choose.
const FEWEST: usize = 6;
/// The share of the players who wish for a side.
const WISHING: f64 = 0.5;

impl Case {
    pub const ALL: [Self; 4] = [Self::Plain, Self::Odd, Self::Parties, Self::Wishes];

    /// The name in the data.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Odd => "odd",
            Self::Parties => "parties",
            Self::Wishes => "wishes",
        }
    }

    /// The probability of a player to wish for a side.
    pub fn wishes(self) -> f64 {
        match self {
            Self::Wishes => WISHING,
            _ => 0.0,
        }
    }

    /// The lobbies of this case. What is drawn depends on the match alone.
    pub fn lobbies(self, lobbies: &[Lobby]) -> Vec<Lobby> {
        if self == Self::Plain {
            return lobbies.to_vec();
        }
        let large = lobbies.iter().filter(|lobby| lobby.players.len() >= FEWEST);
        large.map(|lobby| self.changed(lobby.clone())).collect()
    }

    fn changed(self, mut lobby: Lobby) -> Lobby {
        let mut draw = ChaCha8Rng::seed_from_u64(lobby.at as u64);
        match self {
            Self::Odd if lobby.players.len().is_multiple_of(2) => {
                let out = draw.random_range(0..lobby.players.len());
                lobby.players.remove(out);
            }
            Self::Parties => {
                let mut order: Vec<usize> = (0..lobby.players.len()).collect();
                order.shuffle(&mut draw);
                let pairs = order.chunks_exact(2).take(lobby.players.len() / 4);
                lobby.parties = pairs.map(<[usize]>::to_vec).collect();
            }
            _ => (),
        }
        lobby
    }

    /// What the players of a lobby wish for.
    pub fn wished(self, lobby: &Lobby) -> Vec<Option<u8>> {
        let of = |(id, _): &(String, usize)| wish(id, lobby.at, self.wishes());
        lobby.players.iter().map(of).collect()
    }
}

/// Where the players stand before a balancer is asked: in a random order, each on the side that they wish for as long as
/// it has room, and the others on the smaller team. Who is the one more on an odd team is drawn, too.
pub fn standing(wishes: &[Option<u8>], draw: &mut ChaCha8Rng) -> Vec<u8> {
    let mut order: Vec<usize> = (0..wishes.len()).collect();
    order.shuffle(draw);
    order.sort_by_key(|who| wishes[*who].is_none());
    let (mut sizes, mut teams) = ([0; 2], vec![0; wishes.len()]);
    let first = u8::from(draw.random_bool(0.5));
    for who in order {
        let smaller = match sizes[0].cmp(&sizes[1]) {
            Ordering::Equal => first,
            order => u8::from(order.is_gt()),
        };
        let room = |team: &u8| sizes[usize::from(*team)] < wishes.len().div_ceil(2);
        teams[who] = wishes[who].filter(room).unwrap_or(smaller);
        sizes[usize::from(teams[who])] += 1;
    }
    teams
}
