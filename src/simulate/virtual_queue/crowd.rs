//! The players of a simulation: parties that stay together, the tickets that they submit, and what they have behind
//! them.
//!
//! What a party keeps (its strength, its control, the modes and maps that it plays) follows from the
//! seed and the party's number, what it changes from ticket to ticket (its vehicles) also from the
//! number of the ticket. So the same players come with the same tickets, whatever the queue does.
//!
//! - What the players of a simulation state: a value for each attribute that the queue declares.
//! - What the players of a simulation have behind them: whom they met, and what was picked for their matches.

use std::collections::{BTreeMap, HashMap};

use super::{SimulationSettings, WaitingParty};
use crate::{
    matchmaking::{
        KnownAttributes, Queue, Ticket, TicketSpec,
        attribute::{AttributeType, Raw},
        draw::{Zipf, normal},
        planner::{PLAYER_MATCHES, QUEUE_MATCHES},
        ticket::{PlayerSpec, TicketError},
    },
    model::random::{Stream, StreamPurpose, seeded_hash},
    simulate::VEHICLE_KINDS,
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
        past: &RecentMatches,
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
            KnownAttributes {
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
fn player_id(party: usize, at: usize) -> String {
    format!("p{party}.{at}")
}

impl Crowd<'_> {
    /// What a player states: a value for each attribute that the queue declares.
    fn attributes(
        &self,
        shared: &PartyHabits,
        member: &CrowdMember,
        habits: &mut Stream,
    ) -> BTreeMap<String, Raw> {
        let mut stated = BTreeMap::new();
        for (name, attribute) in &self.queue.settings().attributes {
            let raw = match (name.as_str(), &attribute.of) {
                ("tier", AttributeType::Int { .. }) => Some(Raw::Number(member.tier)),
                ("tier_cap", AttributeType::Int { .. }) => {
                    member.is_new.then_some(Raw::Number(member.tier))
                }
                ("kind", AttributeType::Enum(words)) => {
                    let kind = VEHICLE_KINDS[member.rank % VEHICLE_KINDS.len()];
                    let known = words.iter().any(|word| word == kind);
                    let other = words.get(member.rank % words.len().max(1));
                    let other = other.map_or("", String::as_str);
                    Some(Raw::Text(if known { kind } else { other }.to_owned()))
                }
                ("vehicle", AttributeType::Id) => {
                    Some(Raw::Text(format!("v{}-{}", member.tier, member.rank)))
                }
                ("modes", AttributeType::Set(words)) if fits(words, &shared.modes) => {
                    Some(Raw::List(shared.modes.clone()))
                }
                ("maps", AttributeType::Set(words)) if words.is_empty() => {
                    Some(Raw::List(member.maps.clone()))
                }
                ("control", AttributeType::Enum(words)) if fits(words, &CONTROLS) => {
                    Some(Raw::Text(CONTROLS[usize::from(shared.mouse)].to_owned()))
                }
                ("same_control", AttributeType::Flag) => Some(Raw::Flag(shared.single)),
                ("rating", AttributeType::Num) => Some(Raw::Number(Self::rating(member.strength))),
                (_, of) => self.by_type(of, habits),
            };
            stated.extend(raw.map(|raw| (name.clone(), raw)));
        }
        stated
    }

    /// A value of an attribute of which only the type is known. A party keeps it.
    fn by_type(&self, of: &AttributeType, habits: &mut Stream) -> Option<Raw> {
        let load = &self.settings.load;
        Some(match of {
            AttributeType::Int { least, most } => {
                let range = i64::from(*most) - i64::from(*least);
                let above = habits.index(usize::try_from(range).unwrap_or(0) + 1);
                Raw::Number(f64::from(*least) + above as f64)
            }
            AttributeType::Num => Raw::Number((100.0 * habits.unit()).round()),
            AttributeType::Enum(words) => Raw::Text(words.get(habits.index(words.len()))?.clone()),
            AttributeType::Id => Raw::Text(format!("id{}", self.vehicles.rank(habits))),
            AttributeType::Flag => Raw::Flag(habits.unit() < load.single_control),
            AttributeType::Set(words) if words.is_empty() => return None,
            AttributeType::Set(words) => {
                let one = words.get(habits.index(words.len()))?;
                let mut drawn = words.iter().filter(|_| habits.unit() < 0.5);
                let mut list: Vec<String> = drawn.by_ref().cloned().collect();
                list.push(one.clone());
                Raw::List(list)
            }
            AttributeType::Map => {
                let near = ["eu", "us", "asia"].map(|word| {
                    let far = (20.0 + 160.0 * habits.unit()).round();
                    (word.to_owned(), far)
                });
                Raw::Map(BTreeMap::from(near))
            }
        })
    }
}

const CONTROLS: [&str; 2] = ["touch", "mouse"];

/// Whether all words may be stated.
fn fits(allowed: &[String], words: &[impl AsRef<str>]) -> bool {
    let known = |word: &str| allowed.is_empty() || allowed.iter().any(|allowed| allowed == word);
    words.iter().all(|word| known(word.as_ref()))
}

/// What the rules picked for a match, by name.
type Picks = BTreeMap<String, String>;

/// The last matches of each party and of the queue, as far as a rule or a draw looks at them.
#[derive(Debug, Default)]
pub(super) struct RecentMatches {
    /// Number of matches of a party of which it is kept whom the party met.
    matches: usize,
    met: HashMap<usize, Vec<Vec<String>>>,
    remembers_maps: bool,
    picks: HashMap<usize, Vec<Picks>>,
    /// The maps of the queue.
    played: Vec<String>,
}

impl RecentMatches {
    /// The state before the first match.
    pub fn new(queue: &Queue) -> Self {
        Self {
            matches: queue.met_matches(),
            remembers_maps: queue.remembers_maps(),
            ..Self::default()
        }
    }

    /// The players of a party's last matches, the latest match first.
    pub fn met(&self, party: usize) -> Vec<Vec<String>> {
        self.met.get(&party).cloned().unwrap_or_default()
    }

    /// The maps of a party's last matches, the latest match first; none if the queue does not look at them.
    pub fn maps(&self, party: usize) -> Vec<String> {
        let picks = self.picks.get(&party).filter(|_| self.remembers_maps);
        let maps = picks.into_iter().flatten();
        maps.filter_map(|picks| picks.get("map").cloned()).collect()
    }

    /// The maps of the queue's last matches, the latest match first; none if the queue does not look at them.
    pub fn played(&self) -> &[String] {
        &self.played
    }

    /// What was picked for a party's last match.
    pub fn last(&self, party: usize) -> Option<&Picks> {
        self.picks.get(&party)?.first()
    }

    /// Notes a match.
    pub fn add(&mut self, seats: &[(Ticket, WaitingParty)], picks: &Picks) {
        if let Some(map) = picks.get("map").filter(|_| self.remembers_maps) {
            push(&mut self.played, map.clone(), QUEUE_MATCHES);
        }
        for (own, waiting) in seats {
            if !picks.is_empty() {
                let last = self.picks.entry(waiting.party).or_default();
                push(last, picks.clone(), PLAYER_MATCHES);
            }
            if self.matches > 0 {
                let others = seats.iter().filter(|(ticket, _)| ticket.id != own.id);
                let players = others.flat_map(|(ticket, _)| &ticket.players);
                let ids = players.map(|player| player.id.clone()).collect();
                let met = self.met.entry(waiting.party).or_default();
                push(met, ids, self.matches);
            }
        }
    }
}

/// Adds the latest of at most `most`.
fn push<T>(last: &mut Vec<T>, latest: T, most: usize) {
    last.insert(0, latest);
    last.truncate(most);
}
