//! The choice between the teams that are open to an arrival.

use super::{Place, Prospect, Reason};
use crate::{
    domain::{Stream, StreamPurpose},
    lobby::strength::EQUAL,
};

/// A criterion: the team with the lowest value wins.
type Cost = fn(&Prospect) -> f64;

impl Place {
    /// Opens the teams that would outnumber another by one human too many, if bots fill up the others
    /// and the game would be clearly more even than on any team that is open anyway.
    pub(super) fn excuse(&self, sides: &mut [Prospect]) {
        let least = sides.iter().map(|side| side.over).min().unwrap_or(0);
        let open = sides.iter().filter(|side| side.over == least);
        let best = open.map(Prospect::evenness).fold(0.0, f64::max);
        let clear = best + self.settings.clear_gain.get();
        if self.snapshot.fill.on {
            let one_over = sides.iter_mut().filter(|side| side.over == least + 1);
            let clearly = one_over.filter(|side| least == 0 && side.evenness() > clear + EQUAL);
            clearly.for_each(|side| side.over = least);
        }
    }

    /// The team of the arrival, and the criterion that decided.
    pub(super) fn choose(&self, sides: &[Prospect], seed: u64) -> (u8, Reason) {
        let least_over = sides.iter().map(|side| side.over).min().unwrap_or(0);
        let open: Vec<&Prospect> = sides.iter().filter(|s| s.over == least_over).collect();
        let best = open.iter().map(|side| side.evenness()).fold(0.0, f64::max);
        let who = &self.snapshot.humans[self.who];
        if who.pin.is_some() && sides.len() == 1 {
            let reason = if self.stays {
                Reason::Stays
            } else {
                Reason::Pin
            };
            return (sides[0].team, reason);
        }
        let budget = self.settings.party_budget.get();
        if let Some(team) = self.party_side(sides, least_over, best - budget) {
            let whole = self.holds_party(team);
            let reason = if whole {
                Reason::Party
            } else {
                Reason::PartOfParty
            };
            return (team, reason);
        }
        let torn = self.snapshot.in_party(self.who);
        let old = open.iter().find(|side| Some(side.team) == who.old_team);
        let least = best - self.settings.rejoin_budget.get();
        let (team, reason) = match old.filter(|old| old.evenness() + EQUAL >= least) {
            Some(old) => (old.team, Reason::OldTeam),
            None => self.most_even(open, sides, seed),
        };
        (team, if torn { Reason::Torn } else { reason })
    }

    /// The best of the `open` teams by the criteria that concern no wish of the arrival's.
    fn most_even(&self, open: Vec<&Prospect>, all: &[Prospect], seed: u64) -> (u8, Reason) {
        let only_open = open.len() == 1;
        let mut left = open;
        let most_even = match self.snapshot.chance {
            Some(_) => Reason::EvenChance,
            None => Reason::Ratio,
        };
        let mut reason = most_even;
        let ties: [(Cost, Reason); 3] = [
            (|side| -side.evenness(), most_even),
            (|side| side.humans as f64, Reason::FewerHumans),
            (|side| side.score, Reason::Losing),
        ];
        for (cost, why) in ties {
            let least = left
                .iter()
                .map(|side| cost(side))
                .fold(f64::INFINITY, f64::min);
            let before = left.len();
            left.retain(|side| cost(side) <= least + EQUAL);
            if left.len() < before {
                reason = why;
            }
        }
        match &left[..] {
            [only] if only_open => reason = only.beside(all),
            [_] => {}
            _ => reason = Reason::Chance,
        }
        let drawn = Stream::new(seed, StreamPurpose::Place).index(left.len());
        (left.get(drawn).map_or(0, |side| side.team), reason)
    }

    /// The team with the most members of the arrival's party: of several, the most even with the whole
    /// party on it. `None` if the party would then exceed the allowed difference by more than `over`
    /// humans, or make the game less even than `least`.
    fn party_side(&self, sides: &[Prospect], over: usize, least: f64) -> Option<u8> {
        if !self.snapshot.in_party(self.who) {
            return None;
        }
        let most = sides.iter().map(|side| side.mates).max()?;
        let theirs = sides.iter().filter(|side| side.mates == most);
        let theirs = theirs.filter(|side| side.over_with_party <= over);
        let best = theirs.reduce(|a, b| {
            if b.evenness_with_party() > a.evenness_with_party() + EQUAL {
                b
            } else {
                a
            }
        })?;
        (best.evenness_with_party() + EQUAL >= least).then_some(best.team)
    }
}

impl Prospect {
    /// Why this team was chosen, if it was the only one open: on any other, the arrival would make too
    /// large a difference in humans.
    fn beside(&self, sides: &[Self]) -> Reason {
        let others = sides.iter().filter(|side| side.team != self.team);
        let best = others.map(Self::evenness).fold(0.0, f64::max);
        if self.evenness() > best + EQUAL {
            match self.evenness {
                Some(_) => Reason::EvenChance,
                None => Reason::Ratio,
            }
        } else if self.evenness() + EQUAL >= best {
            Reason::FewerHumans
        } else {
            Reason::ShortSide
        }
    }

    /// How even the game would be with the arrival on this team, 0 to 1.
    fn evenness(&self) -> f64 {
        self.evenness.map_or(self.ratio, |(alone, _)| alone)
    }

    /// How even the game would be if the rest of the party joined this team, too, 0 to 1.
    fn evenness_with_party(&self) -> f64 {
        self.evenness.map_or(self.with_party, |(_, with)| with)
    }
}
