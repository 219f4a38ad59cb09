//! Relaxes wishes that no legal split can satisfy, so that a game gets teams whatever its players
//! wish for. Raises limits as far as pins require, and divides parties that fit on no team as
//! little as possible.

use std::collections::BTreeMap;

use super::{ProblemSpec, problem::Counts};

impl ProblemSpec {
    /// Raises the limits on the teams' sizes as far as the pins need it, and splits the parties
    /// that are pinned to different teams or larger than a team. Returns what was relaxed, one line
    /// each; nothing if all wishes can be satisfied. Teams and members must exist. O(humans²).
    pub fn relax(&mut self) -> Vec<String> {
        let mut pinned = vec![0; self.teams];
        for pin in self.humans.iter().filter_map(|human| human.pin) {
            pinned[pin] += 1;
        }
        let mut notes = Vec::new();
        notes.extend(self.make_room(&pinned));
        let most = Counts::of(self).most;
        for party in std::mem::take(&mut self.parties) {
            let kept = self.torn(&party, &pinned, most);
            if kept.first() != Some(&party) && party.len() > 1 {
                notes.push(self.tear_note(&party, &kept));
            }
            self.parties.extend(kept);
        }
        notes
    }

    /// Raises the limits until these numbers of pinned humans are legal.
    fn make_room(&mut self, pinned: &[usize]) -> Option<String> {
        if Counts::of(self).can_fill(pinned) {
            return None;
        }
        let mut filled = pinned.to_vec();
        for _ in pinned.iter().sum()..self.humans.len() {
            if let Some(fewest) = filled.iter_mut().min() {
                *fewest += 1;
            }
        }
        let most = filled.iter().copied().max()?;
        let least = filled.iter().copied().min()?;
        // Half a human is added, so that rounding down does not remove one.
        let share = (most as f64 + 0.5) / self.humans.len().max(1) as f64;
        self.max_share = self.max_share.max(share.min(1.0));
        self.max_difference = self.max_difference.map(|limit| limit.max(most - least));
        let sizes: Vec<String> = filled.iter().map(usize::to_string).collect();
        Some(format!(
            "pins are obeyed, although the teams then have unequal numbers of humans: {}",
            sizes.join(" to ")
        ))
    }

    /// The parts of a party that stay together, the largest first.
    fn torn(&self, party: &[usize], pinned: &[usize], most: usize) -> Vec<Vec<usize>> {
        let mut by_pin: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &member in party {
            if let Some(pin) = self.humans[member].pin {
                by_pin.entry(pin).or_default().push(member);
            }
        }
        let free = party.iter().filter(|&&who| self.humans[who].pin.is_none());
        let largest = by_pin
            .iter()
            .max_by_key(|(team, part)| (part.len(), usize::MAX - **team));
        let home = largest.map(|(team, _)| *team);
        let mut parts: Vec<Vec<usize>> = Vec::new();
        let others = by_pin.iter().filter(|(team, _)| Some(**team) != home);
        parts.extend(others.map(|(_, part)| part.clone()));
        let outsiders = |team: usize| pinned[team] - by_pin.get(&team).map_or(0, Vec::len);
        let room = |team: usize| most.saturating_sub(outsiders(team));
        let (first, room) = match home {
            Some(team) => (by_pin[&team].clone(), room(team)),
            None => (Vec::new(), (0..self.teams).map(room).max().unwrap_or(0)),
        };
        let kept = if party.len() - parts.concat().len() <= room {
            // Keep the party's own order, so that a party that fits does not change.
            let elsewhere = parts.concat();
            let here = party.iter().filter(|who| !elsewhere.contains(who));
            here.copied().collect()
        } else {
            self.most_even(first, free.copied().collect(), room, most)
        };
        parts.insert(0, kept);
        parts.retain(|part| part.len() > 1);
        parts
    }

    /// Selects `room` members of a party: those in `must`, and others whose weights bring the sum
    /// closest to a team's fair share. Exchanges members while that helps.
    fn most_even(
        &self,
        must: Vec<usize>,
        free: Vec<usize>,
        room: usize,
        most: usize,
    ) -> Vec<usize> {
        let weight = |who: usize| self.humans[who].weight;
        let total: f64 = self.humans.iter().map(|human| human.weight).sum();
        let fair = match room == most {
            true => total / self.teams as f64,
            false => total * room as f64 / self.humans.len().max(1) as f64,
        };
        let taken = room.saturating_sub(must.len()).min(free.len());
        let (mut in_it, mut out) = (free[..taken].to_vec(), free[taken..].to_vec());
        let mut sum: f64 = must.iter().chain(&in_it).map(|&who| weight(who)).sum();
        loop {
            let swaps = (0..in_it.len()).flat_map(|i| (0..out.len()).map(move |o| (i, o)));
            let off =
                |&(i, o): &(usize, usize)| (sum - weight(in_it[i]) + weight(out[o]) - fair).abs();
            let best = swaps.min_by(|a, b| off(a).total_cmp(&off(b)));
            let better = best.filter(|swap| off(swap) + 1e-9 < (sum - fair).abs());
            let Some((i, o)) = better else { break };
            sum += weight(out[o]) - weight(in_it[i]);
            std::mem::swap(&mut in_it[i], &mut out[o]);
        }
        [must, in_it].concat()
    }

    fn tear_note(&self, party: &[usize], kept: &[Vec<usize>]) -> String {
        let names = |part: &[usize]| {
            let names = part.iter().map(|&who| self.humans[who].key.as_str());
            names.collect::<Vec<_>>().join(", ")
        };
        let together = match kept.is_empty() {
            true => "none of them".to_owned(),
            false => kept
                .iter()
                .map(|part| names(part))
                .collect::<Vec<_>>()
                .join(" and "),
        };
        format!(
            "the party of {} is torn, because no team has room for all of it: {together} stay together",
            names(party)
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::partition::{Problem, ProblemSpec, WeightedHuman};

    fn spec(weights: &[f64]) -> ProblemSpec {
        let human = |(n, &weight): (usize, &f64)| WeightedHuman::new(format!("p{n}"), weight);
        ProblemSpec {
            humans: weights.iter().enumerate().map(human).collect(),
            ..ProblemSpec::default()
        }
    }

    #[test]
    fn wishes_that_fit_are_left_alone() {
        let mut fits = spec(&[10.0, 20.0, 30.0, 40.0]);
        fits.parties = vec![vec![3, 0], vec![1]];
        fits.humans[0].pin = Some(1);
        let before = fits.clone();
        assert_eq!(fits.relax(), [""; 0]);
        assert_eq!(fits.parties, [[3, 0]]);
        fits.parties.clone_from(&before.parties);
        assert_eq!(fits, before);
    }

    #[test]
    fn a_party_is_torn_as_little_as_needed_and_evenly() {
        let mut large = spec(&[90.0, 10.0, 50.0, 40.0]);
        large.parties = vec![vec![0, 1, 2]];
        let notes = large.relax();
        assert_eq!(notes.len(), 1);
        assert_eq!(large.parties, [[0, 1]], "100 of 190, not 140 or 60");
        assert!(Problem::new(large).is_ok());
        let mut pinned = spec(&[50.0; 6]);
        pinned.parties = vec![vec![0, 1, 2, 3]];
        (pinned.humans[0].pin, pinned.humans[3].pin) = (Some(0), Some(1));
        pinned.relax();
        assert_eq!(pinned.parties, [[0, 1, 2]]);
        assert!(Problem::new(pinned).is_ok());
        // Strangers who are pinned take up room.
        let mut full = spec(&[50.0; 6]);
        full.parties = vec![vec![0, 1, 2]];
        (full.humans[4].pin, full.humans[5].pin) = (Some(0), Some(1));
        full.relax();
        assert_eq!(full.parties, [[0, 1]]);
    }

    #[test]
    fn pins_get_the_room_that_they_need() {
        for (humans, pins, teams) in [
            (2, vec![0, 0], 2),
            (5, vec![1, 1, 1, 1], 2),
            (4, vec![2, 2, 2], 3),
        ] {
            let mut spec = spec(&vec![50.0; humans]);
            spec.teams = teams;
            for (human, pin) in spec.humans.iter_mut().zip(pins) {
                human.pin = Some(pin);
            }
            assert!(Problem::new(spec.clone()).is_err());
            assert_eq!(spec.relax().len(), 1);
            assert!(Problem::new(spec).is_ok());
        }
    }
}
