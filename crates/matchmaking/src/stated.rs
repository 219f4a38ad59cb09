//! What a client states of players: how it is collected, how a queue checks it, and what hard rules ask of each
//! player alone.

use std::collections::BTreeMap;

use crate::{
    Attribute, AttributeType, KnownAttributes, MAX_ID, MAX_WORDS, PlayerSpec, Queue, Raw, Ticket,
    TicketError, TicketPlayer, TicketSpec, Value, attribute::is_word,
};

impl PlayerSpec {
    /// Adds `name=text` as it comes on the wire: a set may repeat its name, and `ping.eu=32` is an
    /// entry of the map `ping`. Any other attribute keeps the last value.
    pub fn state(&mut self, queue: &Queue, name: &str, text: &str) {
        let attribute = queue.settings().attributes.get(name);
        if attribute.is_some_and(|attribute| matches!(attribute.of, AttributeType::Set(_))) {
            let list = self.attributes.entry(name.to_owned());
            if let Raw::List(list) = list.or_insert_with(|| Raw::List(Vec::new())) {
                list.push(text.to_owned());
            }
            return;
        }
        if let (None, Some((map, word)), Ok(number)) =
            (attribute, name.split_once('.'), text.parse())
        {
            let entries = self.attributes.entry(map.to_owned());
            if let Raw::Map(map) = entries.or_insert_with(|| Raw::Map(BTreeMap::new())) {
                map.insert(word.to_owned(), number);
            }
            return;
        }
        self.attributes
            .insert(name.to_owned(), Raw::Text(text.to_owned()));
    }
}

impl Queue {
    /// Checks a ticket. `known` gives what the caller knows of each player by identity; the client
    /// cannot state those attributes.
    ///
    /// # Errors
    /// Returns the first thing that the queue's declarations do not allow.
    pub fn ticket(
        &self,
        spec: &TicketSpec,
        known: &mut dyn FnMut(&str) -> KnownAttributes,
    ) -> Result<Ticket, TicketError> {
        if !is_id(&spec.ticket) || !is_word_like(&spec.ticket) {
            return Err(TicketError::Id);
        }
        if !(spec.waited.is_finite() && spec.waited >= 0.0) {
            return Err(TicketError::Waited(spec.waited));
        }
        let most = self.settings().size.as_usize();
        let players = spec.players.len();
        if !(1..=most).contains(&players) {
            return Err(TicketError::Players { players, most });
        }
        let mut checked: Vec<TicketPlayer> = Vec::with_capacity(players);
        for player in &spec.players {
            if !is_id(&player.id) {
                return Err(TicketError::PlayerId);
            }
            if checked.iter().any(|other| other.id == player.id) {
                return Err(TicketError::Twice(player.id.clone()));
            }
            let known = known(&player.id);
            checked.push(self.player(player, known)?);
        }
        Ok(Ticket {
            id: spec.ticket.clone(),
            waited: spec.waited,
            players: checked,
        })
    }

    /// Whether the values of an attribute are players' ids, which may contain spaces: a `set` of any
    /// words that only rules of the type `apart` read.
    fn lists_players(&self, name: &str) -> bool {
        let attribute = self.settings().attributes.get(name);
        let open = |attribute: &Attribute| match &attribute.of {
            AttributeType::Set(words) => words.is_empty(),
            _ => false,
        };
        attribute.is_some_and(open) && self.columns().lists_players(name)
    }

    fn player(
        &self,
        spec: &PlayerSpec,
        known: KnownAttributes,
    ) -> Result<TicketPlayer, TicketError> {
        let attributes = &self.settings().attributes;
        let mut values = Vec::with_capacity(attributes.len());
        for (name, attribute) in attributes {
            let ids = self.lists_players(name);
            let value = match spec.attributes.get(name) {
                Some(raw) => match ids {
                    true => players(raw),
                    false => attribute.of.read(raw),
                }
                .ok_or_else(|| TicketError::Value {
                    player: spec.id.clone(),
                    attribute: name.clone(),
                    expected: match ids {
                        true => format!("the ids of up to {MAX_WORDS} players"),
                        false => attribute.of.to_string(),
                    },
                })?,
                None => attribute.absent().ok_or_else(|| TicketError::Missing {
                    player: spec.id.clone(),
                    attribute: name.clone(),
                })?,
            };
            values.push(value);
        }
        let mut stated = spec.attributes.keys();
        match stated.find(|name| !attributes.contains_key(*name)) {
            Some(attribute) => Err(TicketError::Unknown {
                player: spec.id.clone(),
                attribute: shown(attribute),
            }),
            None => Ok(TicketPlayer {
                id: spec.id.clone(),
                values,
                known,
            }),
        }
    }
}

/// The players' ids that `raw` states; `None` if one of them cannot be an id.
fn players(raw: &Raw) -> Option<Value> {
    let ids = raw.words()?;
    let fits = ids.len() <= MAX_WORDS && ids.iter().all(|id| is_id(id));
    fits.then(|| Value::set(ids))
}

fn is_id(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_ID && !text.chars().any(char::is_control)
}

fn is_word_like(text: &str) -> bool {
    text.split_whitespace().count() == 1 && !text.contains(char::is_whitespace)
}

/// The text as a message may repeat it: short, and without control characters.
fn shown(text: &str) -> String {
    if is_word(text) {
        return text.to_owned();
    }
    let plain = text.chars().filter(|c| !c.is_control());
    plain.take(32).chain(['…']).collect()
}

impl Queue {
    /// Whether a hard rule asks something of each player alone, so that [`admit`](Self::admit) may refuse
    /// a ticket.
    pub fn is_restricted(&self) -> bool {
        let mut rules = self.rules().iter();
        rules.any(|rule| rule.hard && rule.rule.is_about_each_player())
    }

    /// Checks that each player of a ticket can be in a match of this queue, whoever else plays.
    ///
    /// # Errors
    /// Returns the first player whom a hard rule keeps out, and what that player lacks.
    pub fn admit(&self, ticket: &Ticket) -> Result<(), TicketError> {
        for player in &ticket.players {
            for rule in self.rules().iter().filter(|rule| rule.hard) {
                if let Some(why) = rule.rule.ineligible_because(self.columns(), player) {
                    return Err(TicketError::Barred {
                        player: player.id.clone(),
                        rule: rule.name.clone(),
                        why,
                    });
                }
            }
        }
        Ok(())
    }
}
