//! Made-up tickets for the queues of `config/queues/wotb.toml`: the loads of benchmarks and of
//! simulations.

use std::collections::BTreeMap;

use evenkeel_matchmaking::{
    TicketSpec,
    attribute::Raw,
    draw::{Zipf, normal},
    ticket::PlayerSpec,
};
use evenkeel_model::random::Stream;

/// How the vehicles of a load are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shape {
    /// Some vehicles are far more popular than others, and a party's vehicles are of one tier, or one
    /// below it.
    #[default]
    Popular,
    /// Each tier has four kinds with six vehicles each, all equally popular. Each seat of a
    /// party has a tier of its own: the party's, or one below or above it.
    Seats,
}

/// The vehicles of a kind and tier, where all are equally popular.
const OF_A_KIND: usize = 6;

/// The shares and distributions of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// How vehicles are drawn.
    pub shape: Shape,
    /// The share of tickets with two players.
    pub pairs: f64,
    /// The share of tickets with three players.
    pub threes: f64,
    /// The mean of the tiers, which are normally distributed.
    pub tier_mean: f64,
    /// Their standard deviation.
    pub tier_deviation: f64,
    /// The share of party members whose tier is one below the party's, where the shape is popular.
    pub below: f64,
    /// Number of vehicles of a tier, where the shape is popular; how many players have each follows Zipf's
    /// law.
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
            shape: Shape::default(),
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
            let mut player = self.player(&shared, at == 0, stream);
            player.id = format!("p{number}.{at}");
            if rated {
                let rating = (shared.rating + 60.0 * normal(stream)).round();
                player
                    .attributes
                    .insert("rating".to_owned(), Raw::Number(rating));
            }
            player
        });
        let mut players: Vec<PlayerSpec> = players.collect();
        without_low_caps(&mut players);
        TicketSpec {
            ticket: format!("t{number}"),
            waited,
            players,
        }
    }

    fn player(&self, shared: &PartyTraits, is_first: bool, stream: &mut Stream) -> PlayerSpec {
        let (tier, kind, vehicle) = match self.shape {
            Shape::Popular => {
                let below = stream.unit() < self.below && !is_first && shared.tier > 1.0;
                let tier = shared.tier - f64::from(u8::from(below));
                let rank = Zipf::new(self.vehicles).rank(stream);
                let vehicle = format!("v{tier}-{rank}");
                (tier, VEHICLE_KINDS[rank % VEHICLE_KINDS.len()], vehicle)
            }
            Shape::Seats => {
                let tier = shared.tier + [-1.0, 0.0, 1.0][stream.index(3)];
                let tier = tier.clamp(1.0, 10.0);
                let kind = VEHICLE_KINDS[stream.index(4)]; // the first four differ
                let vehicle = format!("{kind}{tier}-{}", stream.index(OF_A_KIND));
                (tier, kind, vehicle)
            }
        };
        let maps = (0..self.maps).filter(|_| stream.unit() < self.loaded);
        let maps = maps.map(|map| format!("map{map}")).collect();
        let text = |text: &str| Raw::Text(text.to_owned());
        let mut attributes = BTreeMap::from([
            ("tier".to_owned(), Raw::Number(tier)),
            ("kind".to_owned(), text(kind)),
            ("vehicle".to_owned(), Raw::Text(vehicle)),
            ("modes".to_owned(), Raw::List(shared.modes.clone())),
            ("maps".to_owned(), Raw::List(maps)),
            ("control".to_owned(), text(shared.control)),
        ]);
        if shared.single {
            attributes.insert("same_control".to_owned(), Raw::Flag(true));
        }
        if stream.unit() < self.newcomers {
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

/// Takes the caps below the highest tier away: such a party could play with nobody.
fn without_low_caps(players: &mut [PlayerSpec]) {
    let number = |player: &PlayerSpec, name: &str| match player.attributes.get(name) {
        Some(Raw::Number(number)) => *number,
        _ => f64::NEG_INFINITY,
    };
    let tiers = players.iter().map(|player| number(player, "tier"));
    let highest = tiers.fold(f64::NEG_INFINITY, f64::max);
    for player in players {
        if number(player, "tier_cap") < highest {
            player.attributes.remove("tier_cap");
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

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_model::random::StreamPurpose;

    fn drawn(load: &Load) -> Vec<TicketSpec> {
        let mut stream = Stream::new(1, StreamPurpose::Arrivals);
        let ticket = |number| load.ticket(number, 0.0, false, &mut stream);
        (0..4_000).map(ticket).collect()
    }

    fn number(player: &PlayerSpec, name: &str) -> f64 {
        match player.attributes.get(name) {
            Some(Raw::Number(number)) => *number,
            _ => f64::NAN,
        }
    }

    /// How many players have each vehicle of tier 7, the most first.
    fn vehicles(tickets: &[TicketSpec]) -> Vec<usize> {
        let players = tickets.iter().flat_map(|ticket| &ticket.players);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for player in players.filter(|player| number(player, "tier") == 7.0) {
            *counts
                .entry(format!("{:?}", player.attributes["vehicle"]))
                .or_default() += 1;
        }
        let mut counts: Vec<usize> = counts.into_values().collect();
        counts.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
        counts
    }

    #[test]
    fn vehicles_are_popular_or_all_alike() {
        let popular = vehicles(&drawn(&Load::default()));
        assert!(
            popular.len() == 30 && popular[0] > 5 * popular[29],
            "{popular:?}"
        );
        let seats = Load {
            shape: Shape::Seats,
            ..Load::default()
        };
        let alike = vehicles(&drawn(&seats));
        assert!(alike.len() == 24 && alike[0] < 3 * alike[23], "{alike:?}");
    }

    #[test]
    fn each_seat_of_a_party_has_a_tier_of_its_own() {
        let seats = Load {
            shape: Shape::Seats,
            ..Load::default()
        };
        let mut apart = [0; 3];
        for ticket in drawn(&seats) {
            let tiers: Vec<f64> = ticket.players.iter().map(|p| number(p, "tier")).collect();
            let highest = tiers.iter().copied().fold(0.0, f64::max);
            let least = tiers.iter().copied().fold(10.0, f64::min);
            if tiers.len() > 1 {
                apart[(highest - least) as usize] += 1;
            }
            for player in &ticket.players {
                let cap = number(player, "tier_cap");
                assert!(cap.is_nan() || cap >= highest, "{ticket:?}");
            }
        }
        assert!(apart.iter().all(|count| *count > 100), "{apart:?}");
    }
}
