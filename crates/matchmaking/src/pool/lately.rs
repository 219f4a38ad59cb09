//! How likely a map is when it is drawn for a match: less likely if these players or others of the queue have
//! played it lately.

use super::Pool;
use crate::Queue;

/// How many of a player's last matches count.
pub const PLAYER_MATCHES: usize = 4;
/// How many of a queue's last matches count.
pub const QUEUE_MATCHES: usize = 16;

/// What a rule must pick so that it counts how lately that was played.
const MAP: &str = "map";

impl Queue {
    /// Whether a map that was played lately is less likely: a hard rule picks the map, and `repeat_maps` is
    /// below 1.
    pub fn remembers_maps(&self) -> bool {
        (0..self.rules().len()).any(|at| self.rarer(at).is_some())
    }

    /// By what part of its probability the map of the last match is less likely, where the rule at this place picks
    /// the map; `None` if nothing makes one less likely.
    fn rarer(&self, rule: usize) -> Option<f64> {
        let rule = self.rules().get(rule)?;
        let rarer = 1.0 - self.settings().repeat_maps.get();
        let counts = rule.hard && rule.picks.as_deref() == Some(MAP) && rarer > 0.0;
        counts.then_some(rarer)
    }
}

impl Pool<'_> {
    /// How likely a word is when the rule at this place picks it for these tickets: 1 if none of their players
    /// has played it lately, nor the queue.
    ///
    /// The map of a player's last match is less likely by `1 - repeat_maps`, that of the match before by half of
    /// that, and so on. Of several players the mean counts. A map that all of the last matches of the queue were
    /// played on is less likely by `1 - repeat_maps`, too; one that some of them were played on, by that share.
    pub fn likelihood(&self, rule: usize, word: u32, tickets: impl Iterator<Item = u32>) -> f64 {
        let Some(rarer) = self.queue.rarer(rule) else {
            return 1.0;
        };
        let map = self.people.word(word);
        let (mut sum, mut players) = (0.0, 0);
        let tickets = tickets.map(|ticket| self.tickets[ticket as usize]);
        for player in tickets.flat_map(|ticket| &ticket.players) {
            let mut last = player.known.maps.iter().take(PLAYER_MATCHES);
            let since = last.position(|played| played == map);
            sum += since.map_or(1.0, |matches| 1.0 - rarer / f64::from(1_u32 << matches));
            players += 1;
        }
        let last = self.played.iter().take(QUEUE_MATCHES);
        let share = last.filter(|played| *played == map).count() as f64 / QUEUE_MATCHES as f64;
        sum / f64::from(players.max(1)) * (1.0 - rarer * share)
    }
}
