//! Relaxes wishes that no legal split can satisfy, so that a game gets teams whatever its players
//! wish for. Raises limits as far as pins require, and divides parties that fit on no team as
//! little as possible.

use super::{MAX_TEAMS, Problem, ProblemSpec, Settings, problem::LegalCounts, solve};
use evenkeel_model::{Naming, units::Count};

impl ProblemSpec {
    /// Raises the limits on the teams' sizes as far as the pins need it, and splits the parties
    /// that are pinned to different teams or larger than a team: these are noted as torn then. Returns a line
    /// about what pins cost, if they do. The values must have passed [`check`](Self::check). O(humans²).
    pub fn relax(&mut self) -> Option<String> {
        let pinned = self.pinned();
        let note = self.make_room(&pinned);
        let counts = LegalCounts::of(self);
        for party in std::mem::take(&mut self.parties) {
            if self.fits(&party, &pinned, &counts) {
                self.parties
                    .extend(Some(party).filter(|party| party.len() > 1));
                continue;
            }
            let kept = self.torn(&party, &pinned, &counts);
            self.parties.extend(kept);
            self.torn.push(party);
        }
        note
    }

    /// Gives up all parties of which this is not true: they are torn, so that their members still count as friends.
    /// Returns how many.
    pub fn tear(&mut self, is_kept: impl Fn(&Self, &[usize]) -> bool) -> usize {
        let parties = std::mem::take(&mut self.parties).into_iter();
        let (kept, torn): (Vec<_>, Vec<_>) = parties.partition(|party| is_kept(self, party));
        self.parties = kept;
        let count = torn.len();
        let whole = |part: &Vec<usize>| !self.torn.iter().any(|whole| whole.contains(&part[0]));
        let torn: Vec<_> = torn.into_iter().filter(whole).collect();
        self.torn.extend(torn);
        count
    }

    /// The least difference in humans between two teams that pins and limits allow.
    pub fn least_difference(&self) -> usize {
        let pinned = self.pinned();
        let can_fill = |most: &usize| LegalCounts::within(self, Some(*most)).can_fill(&pinned);
        (0..self.view.humans.len())
            .find(can_fill)
            .unwrap_or(self.view.humans.len())
    }

    /// Raises the limits until these numbers of pinned humans are legal.
    fn make_room(&mut self, pinned: &[usize]) -> Option<String> {
        if LegalCounts::of(self).can_fill(pinned) {
            return None;
        }
        let mut filled = pinned.to_vec();
        for _ in pinned.iter().sum()..self.view.humans.len() {
            if let Some(fewest) = filled.iter_mut().min() {
                *fewest += 1;
            }
        }
        let most = filled.iter().copied().max()?;
        let least = filled.iter().copied().min()?;
        // Half a human is added, so that rounding down does not remove one.
        let share = (most as f64 + 0.5) / self.view.humans.len().max(1) as f64;
        self.max_share = self.max_share.max(share.min(1.0));
        self.max_difference = self.max_difference.map(|limit| limit.max(most - least));
        let sizes: Vec<String> = filled.iter().map(usize::to_string).collect();
        Some(format!(
            "pins are obeyed, although the teams then have unequal numbers of humans: {}",
            sizes.join(" to ")
        ))
    }

    /// Whether one team can hold the whole party.
    fn fits(&self, party: &[usize], pinned: &[usize], counts: &LegalCounts) -> bool {
        let mut pins = party.iter().filter_map(|&who| self.view.humans[who].pin);
        let first = pins.next();
        if first.is_some() && pins.any(|pin| Some(pin) != first) {
            return false;
        }
        let unpinned = party
            .iter()
            .filter(|&&who| self.view.humans[who].pin.is_none());
        let unpinned = unpinned.count();
        let room = |team: usize| counts.most.saturating_sub(pinned[team]);
        match first {
            Some(team) => unpinned <= room(usize::from(team)),
            None => (0..self.teams()).any(|team| unpinned <= room(team)),
        }
    }

    /// The parts of a party that stay together, the largest first: as few as the teams have room for.
    fn torn(&self, party: &[usize], pinned: &[usize], counts: &LegalCounts) -> Vec<Vec<usize>> {
        let mut parts: Vec<Vec<usize>> = vec![Vec::new(); self.teams()];
        let mut free = Vec::new();
        for &member in party {
            match self.view.humans[member].pin {
                Some(team) => parts[usize::from(team)].push(member),
                None => free.push(member),
            }
        }
        let mut filled = pinned.to_vec();
        while !free.is_empty() {
            let room = |team: usize| {
                let most = counts.most.saturating_sub(filled[team]).min(free.len());
                let legal = |more: &usize| {
                    let mut filled = filled.clone();
                    filled[team] += more;
                    counts.can_fill(&filled)
                };
                (0..=most).rev().find(legal).unwrap_or(0)
            };
            let rooms: Vec<usize> = (0..self.teams()).map(room).collect();
            let size = |team: &usize| parts[*team].len() + rooms[*team];
            let open = (0..self.teams()).rev().filter(|&team| rooms[team] > 0);
            let Some(team) = open.max_by_key(size) else {
                break;
            };
            let largest = counts.most == parts[team].len() + rooms[team];
            let (must, room) = (std::mem::take(&mut parts[team]), rooms[team]);
            parts[team] = self.most_even(must, &free, room, largest);
            free.retain(|who| !parts[team].contains(who));
            filled[team] += room;
        }
        parts.retain(|part| part.len() > 1);
        // In the party's own order.
        let place = |who: &usize| party.iter().position(|member| member == who);
        parts.iter_mut().for_each(|part| part.sort_by_key(place));
        parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
        parts
    }

    /// Selects `room` of the `free` members of a party, to join those in `must`, so that the sum of the
    /// weights is closest to a team's fair share; `whole` is whether they are a whole team. Exchanges
    /// members while that helps. By strengths if there are any.
    fn most_even(&self, must: Vec<usize>, free: &[usize], room: usize, whole: bool) -> Vec<usize> {
        let weight = |who: usize| self.value(who);
        let total: f64 = (0..self.view.humans.len()).map(weight).sum();
        let size = must.len() + room;
        let fair = match whole {
            true => total / self.teams() as f64,
            false => total * size as f64 / self.view.humans.len().max(1) as f64,
        };
        let (mut in_it, mut out) = (free[..room].to_vec(), free[room..].to_vec());
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

    /// One line about a party that no team holds: who is together on these teams all the same.
    pub fn torn_note(&self, party: &[usize], team_of: &[u8], naming: &Naming) -> String {
        let member = |&who: &usize| {
            let name = naming.player(&self.view.humans[who].id);
            (name, team_of.get(who).copied())
        };
        let members: Vec<_> = party.iter().map(member).collect();
        torn_note(&members, "no team has room for all of it")
    }

    /// The best evenness of teams as equal in number as possible, without pins and parties; `None` if
    /// nobody is pinned, or the problem cannot be solved.
    pub fn without_pins(
        &self,
        settings: &Settings,
        seed: u64,
        out_of_time: &mut dyn FnMut() -> bool,
    ) -> Option<f64> {
        self.view.humans.iter().find(|human| human.pin.is_some())?;
        let even = Self::default();
        let mut free = Self {
            max_share: even.max_share,
            max_difference: even.max_difference,
            parties: Vec::new(),
            torn: Vec::new(),
            ..self.clone()
        };
        for human in &mut free.view.humans {
            (human.pin, human.team) = (None, None);
        }
        let settings = Settings {
            top: const { Count::of(1) },
            ..settings.clone()
        };
        let problem = Problem::new(free).ok()?;
        let best = solve(&problem, &settings, seed, out_of_time).ok()?;
        Some(best.pick().figures.evenness)
    }
}

/// One line about a party that is torn: why, and which of its members are together all the same. Each member has a name
/// and a team.
pub fn torn_note(members: &[(&str, Option<u8>)], why: &str) -> String {
    let names = |part: &[(&str, Option<u8>)]| {
        let names: Vec<&str> = part.iter().map(|member| member.0).collect();
        names.join(", ")
    };
    let on = |team: u8| -> Vec<_> {
        let here = members.iter().filter(|member| member.1 == Some(team));
        here.copied().collect()
    };
    let parts = (0..MAX_TEAMS as u8).map(on).filter(|part| part.len() > 1);
    let parts: Vec<String> = parts.map(|part| names(&part)).collect();
    let together = match &parts[..] {
        [] => "none of them stay together".to_owned(),
        parts => format!("{} stay together", parts.join(" and ")),
    };
    format!(
        "the party of {} is torn, because {why}: {together}",
        names(members)
    )
}

#[cfg(test)]
mod tests {
    use crate::{GameView, HumanInGame, Problem, ProblemSpec};

    fn spec(weights: &[f64]) -> ProblemSpec {
        let human = |(n, &weight): (usize, &f64)| HumanInGame::new(format!("p{n}"), weight);
        ProblemSpec {
            view: GameView {
                humans: weights.iter().enumerate().map(human).collect(),
                ..GameView::default()
            },
            ..ProblemSpec::default()
        }
    }

    #[test]
    fn wishes_that_fit_are_left_alone() {
        let mut fits = spec(&[10.0, 20.0, 30.0, 40.0]);
        fits.parties = vec![vec![3, 0], vec![1]];
        fits.view.humans[0].pin = Some(1);
        let before = fits.clone();
        assert_eq!(fits.relax(), None);
        assert_eq!(fits.parties, [[3, 0]]);
        fits.parties.clone_from(&before.parties);
        assert_eq!(fits, before);
    }

    #[test]
    fn a_party_is_torn_as_little_as_needed_and_evenly() {
        let mut large = spec(&[90.0, 10.0, 50.0, 40.0]);
        large.parties = vec![vec![0, 1, 2]];
        assert_eq!(large.relax(), None);
        assert_eq!(large.torn, [[0, 1, 2]]);
        assert_eq!(large.parties, [[0, 1]], "100 of 190, not 140 or 60");
        assert!(Problem::new(large).is_ok());
        let mut pinned = spec(&[50.0; 6]);
        pinned.parties = vec![vec![0, 1, 2, 3]];
        (pinned.view.humans[0].pin, pinned.view.humans[3].pin) = (Some(0), Some(1));
        pinned.relax();
        assert_eq!(pinned.parties, [[0, 1, 2]]);
        assert!(Problem::new(pinned).is_ok());
        // Strangers who are pinned take up room.
        let mut full = spec(&[50.0; 6]);
        full.parties = vec![vec![0, 1, 2]];
        (full.view.humans[4].pin, full.view.humans[5].pin) = (Some(0), Some(1));
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
            spec.view.teams = teams;
            for (human, pin) in spec.view.humans.iter_mut().zip(pins) {
                human.pin = Some(pin);
            }
            assert!(Problem::new(spec.clone()).is_err());
            assert!(spec.relax().is_some());
            assert!(Problem::new(spec).is_ok());
        }
    }
}
