//! A queue: checked settings, the rules that they declare, and when its rounds begin.

use core::time::Duration;

pub use crate::rules::{Finding, Severity};
use crate::{
    QueueError, QueueSettings,
    attribute::{AttributeType, Value},
    columns::{NumberColumn, QueueColumns},
    rules::{MAX_STEPS, QueueRule},
    ticket::TicketPlayer,
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
        if settings.ruleset.trim().is_empty() || settings.ruleset.len() > super::attribute::MAX_ID {
            let why = format!("must be a name of 1 to {} bytes", super::attribute::MAX_ID);
            return Err(QueueError::new("ruleset", why));
        }
        if settings.teams.as_usize() * settings.size.as_usize() > super::settings::MAX_MATCH {
            let why = format!(
                "must be so small that a match has at most {} players",
                super::settings::MAX_MATCH
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
    if (1..=super::attribute::MAX_WORD).contains(&name.len()) && name.chars().all(plain) {
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
}
