//! What the players of a simulation state: a value for each attribute that the queue declares.

use std::collections::BTreeMap;

use super::{Crowd, CrowdMember, PartyHabits};
use crate::{
    matchmaking::{AttributeType, Raw},
    model::Stream,
    simulate::VEHICLE_KINDS,
};

impl Crowd<'_> {
    /// What a player states: a value for each attribute that the queue declares.
    pub(super) fn attributes(
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
