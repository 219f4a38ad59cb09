//! Made-up tickets for the queues of `config/queues/wotb.toml`: the load of benchmarks and of
//! simulations.

use std::collections::BTreeMap;

use super::{
    PlayerSpec, Raw, TicketSpec,
    draw::{Zipf, normal},
};
use crate::domain::Stream;

/// The shares and distributions of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// The share of tickets with two players.
    pub pairs: f64,
    /// The share of tickets with three players.
    pub threes: f64,
    /// The mean of the tiers, which are normally distributed.
    pub tier_mean: f64,
    /// Their standard deviation.
    pub tier_deviation: f64,
    /// The share of party members whose tier is one below the party's.
    pub below: f64,
    /// Number of vehicles of a tier; how many players have each follows Zipf's law.
    pub vehicles: usize,
    /// Number of maps.
    pub maps: usize,
    /// The share of maps that a player has loaded.
    pub loaded: f64,
    /// The share of tickets that accept only one of the two modes.
    pub one_mode: f64,
    /// The share of tickets that play with a mouse.
    pub mouse: f64,
    /// The share of tickets that ask for players with the same control.
    pub single_control: f64,
    /// The share of players with a new vehicle.
    pub newcomers: f64,
}

impl Default for Load {
    fn default() -> Self {
        Self {
            pairs: 0.17,
            threes: 0.08,
            tier_mean: 7.0,
            tier_deviation: 2.2,
            below: 0.2,
            vehicles: 30,
            maps: 20,
            loaded: 0.85,
            one_mode: 0.2,
            mouse: 0.3,
            single_control: 0.25,
            newcomers: 0.08,
        }
    }
}

/// The kinds of the vehicles of a tier, from the most popular vehicle on, repeating: with 30 vehicles
/// 29 % of the players have a heavy, 28 % a medium, 23 % a destroyer and 20 % a light vehicle.
pub const VEHICLE_KINDS: [&str; 10] = [
    "heavy",
    "medium",
    "destroyer",
    "light",
    "medium",
    "destroyer",
    "light",
    "medium",
    "destroyer",
    "light",
];

impl Load {
    /// Draws a ticket with the id `t<number>`. With `rated`, its players have a rating.
    pub fn ticket(
        &self,
        number: usize,
        waited: f64,
        rated: bool,
        stream: &mut Stream,
    ) -> TicketSpec {
        let drawn = stream.unit();
        let size = match drawn {
            _ if drawn < self.threes => 3,
            _ if drawn < self.threes + self.pairs => 2,
            _ => 1,
        };
        let tier = self.tier_mean + self.tier_deviation * normal(stream);
        let tier = tier.round().clamp(1.0, 10.0);
        let shared = PartyTraits {
            tier,
            modes: self.modes(stream),
            control: if stream.unit() < self.mouse {
                "mouse"
            } else {
                "touch"
            },
            single: stream.unit() < self.single_control,
            rating: 1500.0 + 300.0 * normal(stream),
        };
        let players = (0..size).map(|at| {
            let mut player = self.player(&shared, at > 0, stream);
            player.id = format!("p{number}.{at}");
            if rated {
                let rating = (shared.rating + 60.0 * normal(stream)).round();
                player
                    .attributes
                    .insert("rating".to_owned(), Raw::Number(rating));
            }
            player
        });
        TicketSpec {
            ticket: format!("t{number}"),
            waited,
            players: players.collect(),
        }
    }

    fn player(&self, shared: &PartyTraits, may_be_below: bool, stream: &mut Stream) -> PlayerSpec {
        let below = stream.unit() < self.below && may_be_below && shared.tier > 1.0;
        let tier = shared.tier - f64::from(u8::from(below));
        let rank = Zipf::new(self.vehicles).rank(stream);
        let maps = (0..self.maps).filter(|_| stream.unit() < self.loaded);
        let maps = maps.map(|map| format!("map{map}")).collect();
        let text = |text: &str| Raw::Text(text.to_owned());
        let mut attributes = BTreeMap::from([
            ("tier".to_owned(), Raw::Number(tier)),
            (
                "kind".to_owned(),
                text(VEHICLE_KINDS[rank % VEHICLE_KINDS.len()]),
            ),
            ("vehicle".to_owned(), Raw::Text(format!("v{tier}-{rank}"))),
            ("modes".to_owned(), Raw::List(shared.modes.clone())),
            ("maps".to_owned(), Raw::List(maps)),
            ("control".to_owned(), text(shared.control)),
        ]);
        if shared.single {
            attributes.insert("same_control".to_owned(), Raw::Flag(true));
        }
        // A party whose newest vehicle is below its highest could play with nobody.
        if stream.unit() < self.newcomers && !below {
            attributes.insert("tier_cap".to_owned(), Raw::Number(tier));
        }
        PlayerSpec {
            id: String::new(),
            attributes,
        }
    }

    fn modes(&self, stream: &mut Stream) -> Vec<String> {
        let modes = ["encounter", "supremacy"].map(str::to_owned);
        match stream.unit() < self.one_mode {
            true => vec![modes[stream.index(2)].clone()],
            false => modes.to_vec(),
        }
    }
}

/// What the players of a party share.
struct PartyTraits {
    tier: f64,
    modes: Vec<String>,
    control: &'static str,
    single: bool,
    rating: f64,
}
