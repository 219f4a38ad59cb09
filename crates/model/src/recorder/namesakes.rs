//! Who were there at the same time under one identity.

use std::collections::BTreeMap;

use super::MatchRecorder;
use crate::{Nobody, PlayerKey, Presence};

/// For how long somebody may still seem to be there, in milliseconds, who has come back under another name before the
/// server has noticed that the old connection is dead; and the same of who has come back under the same name.
const DEAD: [u64; 2] = [60_000, 300_000];

impl MatchRecorder {
    /// The same match with identities of their own for players who are known by a name that is nobody's: one that
    /// several of them had at the same time, or one that `is_default`. `is_name` says whether an identity is but a name,
    /// which anybody may take. So have those who had one id at the same time, as copies of one installation do. `None` if
    /// there are no such players.
    ///
    /// Of several timelines, one is of the same person as another if they could be: the fewest people are assumed.
    pub fn with_namesakes_apart(
        &self,
        is_name: impl Fn(&PlayerKey, &str) -> bool,
        is_default: impl Fn(&PlayerKey, &str) -> bool,
    ) -> Option<Self> {
        let mut of_key: BTreeMap<PlayerKey, Vec<usize>> = BTreeMap::new();
        for (who, player) in self.players.iter().enumerate() {
            of_key.entry(player.key.clone()).or_default().push(who);
        }
        let mut split: Option<Self> = None;
        for (key, timelines) in of_key {
            let by_name = |who: &usize| is_name(&key, &self.players[*who].name);
            if !timelines.iter().all(by_name) && !self.share(&timelines) {
                continue;
            }
            let people = self.people(&timelines);
            let several = people.iter().any(|(_, person)| *person > 0);
            let first = timelines.first().map(|who| &self.players[*who].name);
            let why = match first.is_some_and(|name| is_default(&key, name)) {
                _ if several => Nobody::Twice,
                true => Nobody::Default,
                false => continue,
            };
            let split = split.get_or_insert_with(|| self.clone());
            for (who, person) in people {
                split.players[who].key = key.split(why, person + 1);
            }
        }
        split
    }

    /// Whether these timelines of one id are of several players: two of them overlap for longer than a dead connection
    /// seems to be there. Complexity: O(n log n).
    fn share(&self, timelines: &[usize]) -> bool {
        let time = |who: &usize| {
            let player = &self.players[*who];
            let (first, last) = (player.stays.first()?, player.stays.last()?);
            Some((first.span.from, last.span.to, &player.name))
        };
        let mut times: Vec<_> = timelines.iter().filter_map(time).collect();
        times.sort_unstable();
        let mut longest: Option<(u64, &String)> = None;
        times.into_iter().any(|(from, to, name)| {
            let together = longest.is_some_and(|(end, other)| {
                end.min(to).saturating_sub(from) > DEAD[usize::from(name == other)]
            });
            longest = longest.filter(|(end, _)| *end >= to).or(Some((to, name)));
            together
        })
    }

    /// The timelines of one identity, each with the number of its person. Complexity: O(n log n + n · people).
    fn people(&self, timelines: &[usize]) -> Vec<(usize, usize)> {
        let stays = |who: usize| {
            self.players[who]
                .stays
                .iter()
                .filter(|s| s.span.millis() > 0)
        };
        let from = |who: usize| stays(who).map(|stay: &Presence| stay.span.from).min();
        let mut sorted: Vec<(Option<u64>, usize)> =
            timelines.iter().map(|&who| (from(who), who)).collect();
        sorted.sort_unstable();
        let mut until: Vec<u64> = Vec::new();
        let numbered = sorted.into_iter().map(|(from, who)| {
            let Some(from) = from else {
                return (who, 0);
            };
            let to = stays(who).map(|stay| stay.span.to).max().unwrap_or(from);
            let free = until.iter().position(|end| *end <= from);
            let person = free.unwrap_or(until.len());
            match until.get_mut(person) {
                Some(end) => *end = to,
                None => until.push(to),
            }
            (who, person)
        });
        numbered.collect()
    }
}
