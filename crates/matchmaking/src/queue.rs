//! A queue: checked settings, the rules that they declare, what cannot be meant though it is valid (rules that contradict,
//! rules that never bind, attributes that nothing uses), when its rounds begin, and how it checks what a client states of
//! players.

pub use crate::rules::{Finding, Severity};

use core::time::Duration;
use std::collections::BTreeMap;

use crate::{
    KnownAttributes, QueueError, QueueSettings, Ticket, TicketSpec,
    attribute::{Attribute, AttributeType, MAX_ID, MAX_WORDS, Raw, Value, is_word},
    columns::{NumberColumn, QueueColumns},
    rules::{LintContext, MAX_STEPS, QueueRule},
    ticket::{PlayerSpec, TicketError, TicketPlayer},
};

/// The most attributes of a queue.
const MAX_ATTRIBUTES: usize = 64;

/// A queue: one configured kind of match.
#[derive(Debug)]
pub struct Queue {
    name: String,
    settings: QueueSettings,
    columns: QueueColumns,
    rules: Vec<QueueRule>,
    /// The column by whose sums the final split makes teams even.
    even_by: NumberColumn,
}

impl Queue {
    /// Checks the settings of the queue `name`.
    ///
    /// # Errors
    /// Returns the first key that contradicts another or refers to what does not exist.
    pub fn new(name: &str, settings: QueueSettings) -> Result<Self, QueueError> {
        check_name("", name)?;
        if settings.attributes.len() > MAX_ATTRIBUTES {
            let why = format!("must be at most {MAX_ATTRIBUTES} attributes");
            return Err(QueueError::new("attributes", why));
        }
        for name in settings.attributes.keys() {
            check_name(&format!("attributes.{name}"), name)?;
        }
        if settings.ruleset.trim().is_empty() || settings.ruleset.len() > crate::attribute::MAX_ID {
            let why = format!("must be a name of 1 to {} bytes", crate::attribute::MAX_ID);
            return Err(QueueError::new("ruleset", why));
        }
        if settings.teams.as_usize() * settings.size.as_usize() > crate::settings::MAX_MATCH {
            let why = format!(
                "must be so small that a match has at most {} players",
                crate::settings::MAX_MATCH
            );
            return Err(QueueError::new("size", why));
        }
        check_name("partition", &settings.partition)?;
        if let Some(group) = &settings.group {
            check_name("group", group)?;
        }
        check_smaller(&settings)?;
        check_latency(&settings)?;
        let mut columns = QueueColumns::new(&settings.attributes);
        let rules = QueueRule::all(&settings, &mut columns)?;
        let even_by = settings.even_by.as_deref().unwrap_or("@weight");
        let even_by = columns
            .number(even_by)
            .map_err(|why| QueueError::new("even_by", why))?;
        Ok(Self {
            name: name.to_owned(),
            settings,
            columns,
            rules,
            even_by,
        })
    }

    /// The name of the queue.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The checked settings.
    pub fn settings(&self) -> &QueueSettings {
        &self.settings
    }

    /// A player's number for a word of a declared `map num`.
    pub fn map_entry(&self, player: &TicketPlayer, attribute: &str, word: &str) -> Option<f64> {
        let mut names = self.settings.attributes.keys();
        let at = names.position(|name| name == attribute)?;
        let Value::Map(entries) = player.values.get(at)? else {
            return None;
        };
        let own = entries.iter().find(|(name, _)| name == word);
        own.map(|(_, number)| *number)
    }

    /// The `@` attributes that the queue's rules and its final split use.
    pub fn known_names(&self) -> Vec<&str> {
        self.columns.known_names()
    }

    /// How many of a player's last matches rules look at, for those met in them.
    pub fn met_matches(&self) -> usize {
        self.columns.met_matches()
    }

    /// The sizes that teams may have once the oldest ticket has waited this many seconds, the
    /// largest first.
    pub fn sizes(&self, waited: f64) -> Vec<usize> {
        let mut sizes = vec![self.settings.size.as_usize()];
        let reached = self.settings.smaller.iter().filter(|step| step.0 <= waited);
        sizes.extend(reached.map(|step| step.1 as usize));
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        sizes.dedup();
        sizes
    }

    /// The penalty that a match may have whose oldest ticket has waited this many seconds.
    pub fn accepts(&self, waited: f64) -> f64 {
        let accept = self.settings.accept.as_ref();
        accept.map_or(f64::INFINITY, |accept| accept.limit(waited))
    }

    /// The names of the rules, in the order of the configuration.
    pub fn rule_names(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| rule.name.as_str())
    }

    pub(super) fn rules(&self) -> &[QueueRule] {
        &self.rules
    }

    pub(super) fn columns(&self) -> &QueueColumns {
        &self.columns
    }

    pub(super) fn even_by(&self) -> NumberColumn {
        self.even_by
    }

    /// The number of a player by whose sums teams are made even, if it is not a strength.
    pub fn number_to_even(&self, player: &TicketPlayer) -> f64 {
        self.columns.number_of(self.even_by, player)
    }

    /// Whether the final split goes by chances, where the rating system predicts any.
    pub(super) fn is_even_by_chance(&self) -> bool {
        matches!(self.settings.even_by.as_deref(), None | Some("@weight"))
    }
}

fn check_name(key: &str, name: &str) -> Result<(), QueueError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if (1..=crate::attribute::MAX_WORD).contains(&name.len()) && name.chars().all(plain) {
        return Ok(());
    }
    let why = "must be a name of letters, digits, - and _";
    Err(QueueError::new(key, why))
}

fn check_latency(settings: &QueueSettings) -> Result<(), QueueError> {
    let Some(latency) = &settings.latency else {
        return Ok(());
    };
    let declared = settings.attributes.get(&latency.of);
    match declared.map(|attribute| &attribute.of) {
        Some(AttributeType::Map) => Ok(()),
        _ => {
            let why = "must be an attribute that is declared as map num";
            Err(QueueError::new("latency.of", why))
        }
    }
}

fn check_smaller(settings: &QueueSettings) -> Result<(), QueueError> {
    let steps = &settings.smaller;
    let later = steps.is_sorted_by(|one, next| one.0 < next.0 && one.1 > next.1);
    let sound = |&(after, size): &(f64, u32)| {
        after.is_finite() && after >= 0.0 && (1..settings.size.get()).contains(&size)
    };
    if steps.len() <= MAX_STEPS && later && steps.iter().all(sound) {
        return Ok(());
    }
    let why = "must be pairs of seconds and a size below `size`, the seconds ascending and the sizes descending";
    Err(QueueError::new("smaller", why))
}

/// The time after which a round begins although nothing has changed but the waits.
const AGAIN: Duration = Duration::from_secs(1);

/// A queue spends at most one part in this number of its time on searches.
const REST: u32 = 3;

/// How often a queue searches: when its next round begins, counted from the beginning of the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundSpacing {
    /// The shortest time between the beginnings of two rounds.
    pub least: Duration,
}

impl Default for RoundSpacing {
    fn default() -> Self {
        Self {
            least: Duration::from_millis(100),
        }
    }
}

impl RoundSpacing {
    /// The time between the beginnings of a round and of the next one. `has_changed` says whether tickets have come or
    /// gone since the round began, and `searched` is the processor time of its search: not the time that has passed, which
    /// may be much longer, as when the process is stopped.
    pub fn after(self, has_changed: bool, searched: Duration) -> Duration {
        let spacing = match has_changed {
            true => self.least,
            false => self.least.max(AGAIN),
        };
        spacing.max(searched.saturating_mul(REST))
    }

    /// The longest search after which no round begins later.
    pub fn free_search(self) -> Duration {
        self.least / REST
    }
}

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

impl Queue {
    /// Everything about the settings that cannot be meant.
    pub fn findings(&self) -> Vec<Finding> {
        let settings = self.settings();
        let mut findings: Vec<Finding> = Vec::new();
        let context = LintContext {
            settings,
            rules: self.rules(),
        };
        for rule in self.rules() {
            match rule.hard || rule.weight > 0.0 {
                true => findings.extend(rule.rule.lint(rule, &context)),
                false => findings.push(Finding::warning(
                    &rule.name,
                    "has no effect: it is not hard and its weight is 0",
                )),
            }
            let ttl = f64::from(settings.ttl.get());
            if rule.relax.iter().any(|(after, _)| *after >= ttl) {
                findings.push(Finding::warning(
                    &rule.name,
                    "a step of relax comes after tickets expire (ttl)",
                ));
            }
        }
        findings.extend(self.picked_twice());
        if settings
            .smaller
            .iter()
            .any(|(after, _)| *after >= f64::from(settings.ttl.get()))
        {
            findings.push(Finding::warning(
                "smaller",
                "a step comes after tickets expire (ttl)",
            ));
        }
        if settings.accept.is_some() && settings.rules.iter().all(|rule| rule.hard) {
            findings.push(Finding::warning(
                "accept",
                "never binds: all rules are hard, so no match has a penalty",
            ));
        }
        let latency = settings.latency.as_ref().map(|latency| &latency.of);
        for name in self
            .columns()
            .unused()
            .into_iter()
            .filter(|name| latency.is_none_or(|of| of != name))
        {
            findings.push(Finding::warning(name, "no rule uses this attribute"));
        }
        findings
    }

    /// Rules that pick the same thing for a match.
    fn picked_twice(&self) -> Vec<Finding> {
        let picks = self
            .rules()
            .iter()
            .filter_map(|rule| rule.picks.as_ref().map(|p| (p, rule)));
        let picks: Vec<_> = picks.collect();
        let again = picks
            .iter()
            .enumerate()
            .filter(|(at, (pick, _))| picks.iter().take(*at).any(|(other, _)| other == pick));
        again
            .map(|(_, (pick, rule))| {
                Finding::contradiction(&rule.name, format!("another rule picks the {pick}, too"))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_searches_for_a_third_of_its_time_at_most() {
        let spacing = RoundSpacing::default();
        let millis = Duration::from_millis;
        for (has_changed, searched, after) in [
            (true, 0, 100),
            (true, 33, 100),
            (true, 50, 150),
            (false, 50, 1_000),
            (false, 400, 1_200),
            (true, 400, 1_200),
        ] {
            assert_eq!(
                spacing.after(has_changed, millis(searched)),
                millis(after),
                "{searched}"
            );
        }
        let most = spacing.free_search();
        assert_eq!(spacing.after(true, most), spacing.least);
        assert!(spacing.after(true, most + millis(1)) > spacing.least);
        assert_eq!(spacing.after(true, Duration::MAX), Duration::MAX);
        let slow = RoundSpacing {
            least: millis(5_000),
        };
        assert_eq!(slow.after(false, Duration::ZERO), millis(5_000));
    }

    fn findings(text: &str) -> Vec<String> {
        let queue = Queue::new("x", toml::from_str(text).unwrap()).unwrap();
        let shown =
            |finding: Finding| format!("{:?} {}: {}", finding.severity, finding.about, finding.why);
        queue.findings().into_iter().map(shown).collect()
    }

    #[test]
    fn what_cannot_be_meant_is_found() {
        let text = r#"
        teams = 2
        size = 7
        ttl = 60
        ruleset = "x"
        smaller = [[60, 5]]
        accept = { start = 0, per_second = 0, max = 0 }
        attributes = { tier = "int 1..3", kind = "enum a b", maps = "set", spare = "num" }
        rule = [
          { name = "wide", rule = "spread", of = "tier", at_most = 2, hard = true },
          { name = "few", rule = "at-most-each", of = "kind", at_most = 3, hard = true },
          { name = "same", rule = "mirror", of = "tier", hard = true },
          { name = "idle", rule = "differ-each", of = "tier", at_most = 1, hard = true },
          { name = "a", rule = "has", of = "kind", value = "a", at_least = 5, hard = true },
          { name = "b", rule = "has", of = "kind", value = "b", at_least = 3, hard = true },
          { name = "one", rule = "common", of = "maps", picks = "map", hard = true },
          { name = "two", rule = "common", of = "maps", picks = "map", hard = true },
          { name = "late", rule = "gap", of = "tier", at_most = 1, relax = [[60, 2]], hard = true },
        ]
    "#;
        assert_eq!(
            findings(text),
            [
                "Warning wide: never binds: values are at most 2 apart, and 2 is allowed",
                "Contradiction few: 2 values with at most 3 players each make no team of 7",
                "Warning idle: never binds: same demands the same values on all teams",
                "Contradiction kind: the rules of the type has demand 8 players on a team of 7",
                "Warning late: a step of relax comes after tickets expire (ttl)",
                "Contradiction two: another rule picks the map, too",
                "Warning smaller: a step comes after tickets expire (ttl)",
                "Warning accept: never binds: all rules are hard, so no match has a penalty",
                "Warning spare: no rule uses this attribute",
            ]
        );
    }

    #[test]
    fn ranges_that_cannot_be_meant_are_found() {
        let text = r#"
        teams = 2
        size = 7
        ruleset = "x"
        attributes = { tier = "int 1..3" }
        rule = [
          { name = "all", rule = "range", of = "@games", from = 0, hard = true },
          { name = "old", rule = "range", of = "@hours", from = 20, hard = true },
          { name = "new", rule = "range", of = "@hours", to = 10, hard = true },
          { name = "tiers", rule = "range", of = "tier", from = 1, to = 3, hard = true },
          { name = "none", rule = "range", of = "tier", from = 4, hard = true },
          { name = "saints", rule = "range", of = "@behaviour", from = 101, hard = true },
        ]
    "#;
        assert_eq!(
            findings(text),
            [
                "Warning all: never binds: it allows every value",
                "Contradiction new: no value meets this rule and old",
                "Warning tiers: never binds: it allows every value",
                "Contradiction none: allows no value",
                "Contradiction none: no value meets this rule and tiers",
                "Contradiction saints: allows no value",
            ]
        );
    }

    #[test]
    fn the_shipped_queues_have_no_findings() {
        let files = [
            include_str!("../../../config/queues/wotb.toml"),
            include_str!("../../../config/queues/pickup.toml"),
            include_str!("../../../config/queues/ranked.toml"),
        ];
        let mut queues = 0;
        for file in files {
            let table: toml::Table = file.parse().unwrap();
            for (name, settings) in table["queue"].as_table().unwrap() {
                let queue = Queue::new(name, settings.clone().try_into().unwrap()).unwrap();
                assert_eq!(queue.findings(), [], "{name}");
                queues += 1;
            }
        }
        assert_eq!(queues, 6);
    }
}
