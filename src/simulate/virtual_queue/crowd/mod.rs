//! The players of a simulation: parties that stay together, and the tickets that they submit.
//!
//! What a party keeps (its strength, its control, the modes and maps that it plays) follows from the
//! seed and the party's number, what it changes from ticket to ticket (its vehicles) also from the
//! number of the ticket. So the same players come with the same tickets, whatever the queue does.

mod stated;

use std::collections::BTreeMap;

use super::{SimulationSettings, past::Past};
use crate::{
    matchmaking::{
        AttributeType, Known, PlayerSpec, Queue, Ticket, TicketError, TicketSpec,
        draw::{Zipf, normal},
    },
    model::{Stream, StreamPurpose, seeded_hash},
};

/// How much the strengths of a party's members differ from the party's: a deviation, where 1 is that
/// of all players.
const WITHIN: f64 = 0.2;
/// The mean and the standard deviation of the players' ratings.
const RATING: (f64, f64) = (1500.0, 300.0);

/// All parties; one player is a party of one.
pub(super) struct Crowd<'q> {
    queue: &'q Queue,
    settings: SimulationSettings,
    vehicles: Zipf,
    /// The lowest and the highest tier.
    tiers: (f64, f64),
    parties: Vec<Party>,
}

/// Players who always queue together, or one player.
#[derive(Clone, Debug)]
struct Party {
    size: u8,
    /// Its place among all parties by strength, in tenths from 0.
    decile: u8,
    /// The standardised strength.
    strength: f64,
}

/// What the members of a party share in one ticket.
struct PartyHabits {
    tier: f64,
    modes: Vec<String>,
    mouse: bool,
    single: bool,
}

/// One player in one ticket.
struct CrowdMember {
    strength: f64,
    tier: f64,
    rank: usize,
    is_new: bool,
    maps: Vec<String>,
}

impl<'q> Crowd<'q> {
    /// Draws parties until [`SimulationSettings::online`] players are online.
    pub fn new(queue: &'q Queue, settings: SimulationSettings) -> Self {
        let mut crowd = Self {
            queue,
            settings,
            vehicles: Zipf::new(settings.load.vehicles),
            tiers: tiers(queue),
            parties: Vec::new(),
        };
        let largest = queue.settings().size.as_usize().min(3);
        let mut missing = settings.online;
        while missing > 0 {
            let mut stream = crowd.habits(crowd.parties.len());
            let drawn = stream.unit();
            let load = &settings.load;
            let size = match drawn {
                _ if drawn < load.threes => 3,
                _ if drawn < load.threes + load.pairs => 2,
                _ => 1,
            };
            let size = size.min(largest).min(missing);
            missing -= size;
            crowd.parties.push(Party {
                size: size as u8,
                decile: 0,
                strength: normal(&mut stream),
            });
        }
        crowd.rank();
        crowd
    }

    fn rank(&mut self) {
        let mut order: Vec<usize> = (0..self.parties.len()).collect();
        order.sort_by(|one, other| {
            let strength = |at: &usize| self.parties[*at].strength;
            strength(one)
                .total_cmp(&strength(other))
                .then(one.cmp(other))
        });
        let count = order.len();
        for (place, at) in order.into_iter().enumerate() {
            self.parties[at].decile = (place * 10 / count) as u8;
        }
    }

    /// Number of parties.
    pub fn len(&self) -> usize {
        self.parties.len()
    }

    /// Number of players of a party.
    pub fn size(&self, party: usize) -> usize {
        self.parties.get(party).map_or(0, |party| party.size.into())
    }

    /// A party's place among all by strength, in tenths from 0.
    pub fn decile(&self, party: usize) -> u8 {
        self.parties.get(party).map_or(0, |party| party.decile)
    }

    /// The random numbers of what a party keeps.
    fn habits(&self, party: usize) -> Stream {
        let key = (party as u64).to_le_bytes();
        Stream::new(
            seeded_hash(self.settings.seed, key),
            StreamPurpose::Arrivals,
        )
    }

    /// The random numbers of a party's ticket and of what follows from it.
    pub fn visit(&self, party: usize, visit: u32) -> Stream {
        let key = (party as u64).to_le_bytes().into_iter();
        let key = key.chain(visit.to_le_bytes());
        Stream::new(
            seeded_hash(self.settings.seed, key),
            StreamPurpose::Arrivals,
        )
    }

    /// The standardised strength of each member of a party.
    pub fn strengths(&self, party: usize) -> Vec<f64> {
        let mut stream = self.strength_stream(party);
        let own = self.parties.get(party).map_or(0.0, |party| party.strength);
        let size = self.size(party);
        (0..size)
            .map(|_| match size {
                1 => own,
                _ => own + WITHIN * normal(&mut stream),
            })
            .collect()
    }

    fn strength_stream(&self, party: usize) -> Stream {
        let key = (party as u64).to_le_bytes().into_iter();
        let key = key.chain(*b"strength");
        Stream::new(
            seeded_hash(self.settings.seed, key),
            StreamPurpose::Arrivals,
        )
    }

    /// A player's rating, from the standardised strength.
    pub fn rating(strength: f64) -> f64 {
        (RATING.0 + RATING.1 * strength).round()
    }

    fn weight(&self, strength: f64) -> f64 {
        let weight = self.settings.weight_mean + self.settings.weight_deviation * strength;
        weight.clamp(0.0, 100.0)
    }

    /// A party's ticket.
    ///
    /// # Errors
    /// Fails if the queue does not accept what was drawn.
    pub fn ticket(
        &self,
        party: usize,
        visit: u32,
        past: &Past,
        stream: &mut Stream,
    ) -> Result<Ticket, TicketError> {
        let mut habits = self.habits(party);
        let (_, _) = (habits.unit(), normal(&mut habits));
        let shared = self.shared(&mut habits, stream);
        let strengths = self.strengths(party);
        let players = strengths.iter().enumerate().map(|(at, &strength)| {
            let member = self.member(&shared, strength, at > 0, &mut habits, stream);
            PlayerSpec {
                id: player_id(party, at),
                attributes: self.attributes(&shared, &member, &mut habits),
            }
        });
        let spec = TicketSpec {
            ticket: format!("t{party}.{visit}"),
            waited: 0.0,
            players: players.collect(),
        };
        let mut strengths = strengths.iter();
        self.queue.ticket(&spec, &mut |_| {
            let strength = strengths.next().copied().unwrap_or(0.0);
            Known {
                numbers: BTreeMap::from([
                    ("@weight".to_owned(), self.weight(strength)),
                    ("@strength".to_owned(), strength),
                ]),
                met: past.met(party),
                maps: past.maps(party),
            }
        })
    }

    fn shared(&self, habits: &mut Stream, stream: &mut Stream) -> PartyHabits {
        let load = &self.settings.load;
        let modes = ["encounter", "supremacy"];
        let modes = match habits.unit() < load.one_mode {
            true => vec![modes[habits.index(2)].to_owned()],
            false => modes.map(str::to_owned).to_vec(),
        };
        let tier = load.tier_mean + load.tier_deviation * normal(stream);
        PartyHabits {
            modes,
            mouse: habits.unit() < load.mouse,
            single: habits.unit() < load.single_control,
            tier: tier.round().clamp(self.tiers.0, self.tiers.1),
        }
    }

    fn member(
        &self,
        shared: &PartyHabits,
        strength: f64,
        may_be_below: bool,
        habits: &mut Stream,
        stream: &mut Stream,
    ) -> CrowdMember {
        let load = &self.settings.load;
        let maps = (0..load.maps).filter(|_| habits.unit() < load.loaded);
        let maps = maps.map(|map| format!("map{map}")).collect();
        let below = stream.unit() < load.below && may_be_below && shared.tier > self.tiers.0;
        let rank = self.vehicles.rank(stream);
        // A party whose newest vehicle is below its highest could play with nobody.
        let is_new = stream.unit() < load.newcomers && !below;
        CrowdMember {
            strength,
            tier: shared.tier - f64::from(u8::from(below)),
            rank,
            is_new,
            maps,
        }
    }
}

/// The range of the attribute `tier`.
fn tiers(queue: &Queue) -> (f64, f64) {
    let tier = queue.settings().attributes.get("tier");
    match tier.map(|attribute| &attribute.of) {
        Some(AttributeType::Int { least, most }) => (f64::from(*least), f64::from(*most)),
        _ => (1.0, 10.0),
    }
}

/// The identity of a party's player.
pub(super) fn player_id(party: usize, at: usize) -> String {
    format!("p{party}.{at}")
}
