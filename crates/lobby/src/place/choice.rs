//! The choice between the teams that are open to an arrival, and why it is not the team of their wish.

use super::{Place, Placement, Prospect, Reason};
use evenkeel_model::{Stream, StreamPurpose, chance_of_weaker};
use evenkeel_partition::{EQUAL, Refusal};

/// A criterion: the team with the lowest value wins.
type Cost = fn(&Prospect) -> f64;

impl Place {
    /// Allows teams that would have one human too many, if bots fill up the other teams and the
    /// game would be clearly more even than with the arrival on any team that is allowed anyway.
    pub(super) fn excuse(&self, sides: &mut [Prospect]) {
        let least = sides.iter().map(|side| side.over).min().unwrap_or(0);
        let open = || sides.iter().filter(|side| side.over == least);
        let later = open().map(|side| side.over_later).min().unwrap_or(0);
        let best = open().map(Prospect::evenness).fold(0.0, f64::max);
        let clear = best + self.settings.clear_gain.get();
        if self.view.fill.on {
            let one_over = sides.iter_mut().filter(|side| side.over == least + 1);
            let clearly = one_over.filter(|side| least == 0 && side.evenness() > clear + EQUAL);
            for side in clearly {
                side.over = least;
                side.over_later = side.over_later.min(later);
            }
        }
    }

    /// The team of the arrival, and the criterion that decided.
    pub(super) fn choose(&self, sides: &[Prospect], seed: u64) -> (u8, Reason) {
        let least = sides
            .iter()
            .map(Prospect::too_many)
            .min()
            .unwrap_or_default();
        let open: Vec<&Prospect> = sides.iter().filter(|s| s.too_many() == least).collect();
        let best = open.iter().map(|side| side.evenness()).fold(0.0, f64::max);
        let who = &self.view.humans[self.who];
        if who.pin.is_some() && sides.len() == 1 {
            let reason = if self.stays {
                Reason::Stays
            } else {
                Reason::Pin
            };
            return (sides[0].team, reason);
        }
        let budget = self.settings.party_budget.get();
        if let Some(team) = self.party_side(sides, least, best - budget) {
            let whole = self.holds_party(team);
            let reason = if whole {
                Reason::Party
            } else {
                Reason::PartOfParty
            };
            return (team, reason);
        }
        let torn = self.view.in_party(self.who);
        let (open, avoids) = fewest_to_avoid(open, best - budget);
        let best = open.iter().map(|side| side.evenness()).fold(0.0, f64::max);
        let old = open.iter().find(|side| Some(side.team) == who.old_team);
        let least = best - self.settings.rejoin_budget.get();
        let wished = open.iter().find(|side| Some(side.team) == who.wish);
        let wished = wished.filter(|wished| self.is_cheap(wished.evenness(), best));
        let (team, reason) = match (wished, old.filter(|old| old.evenness() + EQUAL >= least)) {
            (Some(wished), _) => (wished.team, Reason::Wish),
            (None, Some(old)) => (old.team, Reason::OldTeam),
            (None, None) => {
                let (team, reason) = self.most_even(open, sides, seed);
                (team, if avoids { Reason::Avoid } else { reason })
            }
        };
        (team, if torn { Reason::Torn } else { reason })
    }

    /// Whether a wish may cost as much as a game of this evenness does where the best one has the evenness `best`.
    fn is_cheap(&self, evenness: f64, best: f64) -> bool {
        let cost = chance_of_weaker(best) - chance_of_weaker(evenness);
        cost <= self.settings.wish_budget.get() + EQUAL
    }

    /// The best of the `open` teams by the criteria that do not depend on the arrival's pin, party,
    /// wish or old team.
    fn most_even(&self, open: Vec<&Prospect>, all: &[Prospect], seed: u64) -> (u8, Reason) {
        let only_open = open.len() == 1;
        let mut left = open;
        let most_even = match self.view.chance {
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

    /// The team with the most members of the arrival's party; of several such teams, the one that
    /// is the most even with the whole party on it. `None` if the party would then exceed the
    /// allowed difference by more than `over` humans, or make the game less even than `least`.
    fn party_side(&self, sides: &[Prospect], over: (usize, usize), least: f64) -> Option<u8> {
        if !self.view.in_party(self.who) {
            return None;
        }
        let most = sides.iter().map(|side| side.mates).max()?;
        let theirs = sides.iter().filter(|side| side.mates == most);
        let theirs = theirs
            .filter(|side| side.over_with_party <= over.0 && side.over_later_with_party <= over.1);
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

impl Placement {
    /// Why the arrival is not on the team for which they wish.
    pub(super) fn against(&self, wish: u8) -> String {
        let side = |team: u8| self.sides.iter().find(|side| side.team == team);
        let fewest = self.sides.iter().map(Prospect::too_many).min();
        let more_to_avoid = |wished: &Prospect| {
            side(self.team).is_some_and(|chosen| wished.avoided > chosen.avoided)
        };
        match (self.reason, side(wish)) {
            (Reason::Stays, _) => "they are on a team already".to_owned(),
            (Reason::Pin, _) | (_, None) => Refusal::Pinned.to_string(),
            (Reason::Party | Reason::PartOfParty, _) => Refusal::Party.to_string(),
            (_, Some(wished)) if Some(wished.too_many()) > fewest => {
                "it would have too many players".to_owned()
            }
            (_, Some(wished)) if more_to_avoid(wished) => {
                "more players to avoid are on it".to_owned()
            }
            _ => "the game would be less even".to_owned(),
        }
    }
}

/// Of the `open` teams, those on which the arrival would meet the fewest players to avoid, and whether
/// that excludes a team. Teams that would make the game less even than `least` are not compared.
fn fewest_to_avoid(open: Vec<&Prospect>, least: f64) -> (Vec<&Prospect>, bool) {
    let cheap = open.iter().filter(|side| side.evenness() + EQUAL >= least);
    let (fewest, most) = cheap.clone().fold((usize::MAX, 0), |(fewest, most), side| {
        (fewest.min(side.avoided), most.max(side.avoided))
    });
    if fewest >= most {
        return (open, false);
    }
    let rest = cheap.filter(|side| side.avoided == fewest);
    (rest.copied().collect(), true)
}

impl Prospect {
    /// The reason if this team was the only one allowed because the arrival would make the
    /// difference in humans too large on any other.
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
