//! Which parties are split: only those because of which a team would be empty or outnumbered, and as few as possible.

use super::{Advice, Rebalance};
use evenkeel_model::{Move, Naming};
use evenkeel_partition::{EQUAL, HumanInGame, torn_note};

/// The most sets of parties that are tried. With up to eight parties these are all sets of three.
const MAX_SETS: usize = 92;

/// How many teams have nobody, and how many humans too many there are on teams that outnumber the smallest by more than
/// allowed.
type Lack = (usize, usize);

impl Rebalance {
    /// The advice that splits no party if that leaves no team empty or outnumbered for which others would move. Otherwise
    /// splits as few parties as bring as many humans where they are missing as if there were no party.
    pub(super) fn advise_parties(&self, seed: u64) -> Advice {
        let whole = self.advise(&[], seed);
        let lack = self.lack(&whole);
        let rests = !whole.moves.is_empty() || whole.evenness_alone() >= self.enough(&[]);
        let parties = self.parties();
        if parties.is_empty() || lack == (0, 0) && rests {
            return whole;
        }
        let free = self.advise(&parties, seed);
        let torn = self.torn_by(&free);
        let least = self.lack(&free);
        if least < lack {
            return self.torn_least(&torn, least, seed).unwrap_or(free);
        }
        let because = whole.moves.is_empty() && !free.moves.is_empty();
        let members = |party: &&str| self.members(party).map(|human| human.id.clone()).collect();
        Advice {
            whole: torn.iter().filter(|_| because).map(members).collect(),
            ..whole
        }
    }

    /// The most even advice that splits the fewest parties that leave no more than the `least` lack; `None` if none is
    /// found. `torn` are those that would be split if there were no party: of as many parties, these are tried first, and
    /// others only if that is not enough. At most [`MAX_SETS`] searches.
    fn torn_least(&self, torn: &[&str], least: Lack, seed: u64) -> Option<Advice> {
        let mut order = torn.to_vec();
        let all = self.parties().into_iter();
        order.extend(all.filter(|party| !torn.contains(party)));
        let mut left = MAX_SETS;
        for count in 1..=torn.len() {
            let mut best: Option<Advice> = None;
            for set in sets(count, order.len()) {
                let has_others = set[count - 1] >= torn.len();
                if left == 0 || best.is_some() && has_others {
                    break;
                }
                left -= 1;
                let split: Vec<&str> = set.iter().map(|&at| order[at]).collect();
                let advice = self.advise(&split, seed);
                let even = advice.evenness_after();
                let more = |best: &Advice| even > best.evenness_after() + EQUAL;
                if self.lack(&advice) <= least && best.as_ref().is_none_or(more) {
                    best = Some(advice);
                }
            }
            if best.is_some() {
                return best;
            }
        }
        None
    }

    /// The parties of which several members are in the game, in the order in which the first of each joined.
    fn parties(&self) -> Vec<&str> {
        let mut parties: Vec<&str> = Vec::new();
        for (who, human) in self.view.humans.iter().enumerate() {
            let party = human.party.as_deref().filter(|_| self.view.in_party(who));
            parties.extend(party.filter(|party| !parties.contains(party)));
        }
        parties
    }

    fn members(&self, party: &str) -> impl Iterator<Item = &HumanInGame> {
        let humans = self.view.humans.iter();
        humans.filter(move |human| human.party.as_deref() == Some(party))
    }

    /// The parties that this advice splits: members who are together now, also those who are on no team yet, are not
    /// together then.
    fn torn_by(&self, advice: &Advice) -> Vec<&str> {
        self.torn_by_moves(|| advice.steps())
    }

    /// The parties that these moves split.
    pub(super) fn torn_by_moves<'m, I>(&self, steps: impl Fn() -> I) -> Vec<&str>
    where
        I: Iterator<Item = &'m Move>,
    {
        let then = |human: &HumanInGame| team_after(human, steps());
        let is_torn = |party: &&str| {
            let apart = |one: &HumanInGame| {
                let mut mates = self.members(party).filter(|mate| mate.team == one.team);
                mates.any(|mate| then(mate) != then(one))
            };
            self.members(party).any(apart)
        };
        self.parties().into_iter().filter(is_torn).collect()
    }

    /// What the teams lack once this advice is followed.
    fn lack(&self, advice: &Advice) -> Lack {
        let mut after = self.view.clone();
        for human in &mut after.humans {
            human.team = team_after(human, advice.steps());
        }
        let after = after.sums();
        (after.empty_teams(), after.excess(self.limit()))
    }

    /// One line for each party that this advice splits, and for each because of which nobody moves.
    pub(super) fn party_notes(&self, advice: &Advice, naming: &Naming) -> Vec<String> {
        let torn = self.torn_by(advice).into_iter().map(|party| {
            let member = |human: &HumanInGame| team_after(human, advice.steps());
            let members = self.members(party);
            let members: Vec<_> = members
                .map(|human| (naming.player(&human.id), member(human)))
                .collect();
            torn_note(&members, "a team would be empty or outnumbered")
        });
        let whole = advice.whole.iter().map(|party| {
            let names = naming.players(party);
            format!(
                "nobody moves, because the party of {names} stays together: a party is split only for a team that is \
                 empty or outnumbered"
            )
        });
        torn.chain(whole).collect()
    }
}

/// All sets of `count` numbers below `end`, those of smaller numbers first. There is at least one.
fn sets(count: usize, end: usize) -> impl Iterator<Item = Vec<usize>> {
    std::iter::successors(Some((0..count).collect()), move |set: &Vec<usize>| {
        let room = |at: &usize| set[*at] + 1 < set.get(at + 1).copied().unwrap_or(end);
        let at = (0..count).find(room)?;
        let mut next = set.clone();
        next[at] += 1;
        (0..at).for_each(|below| next[below] = below);
        Some(next)
    })
}

/// The team of a human after these moves.
fn team_after<'m>(human: &HumanInGame, mut steps: impl Iterator<Item = &'m Move>) -> Option<u8> {
    let step = steps.find(|step| step.id.text() == human.id);
    step.map_or(human.team, |step| Some(step.to))
}

impl Advice {
    /// How even the teams are if nobody moves.
    fn evenness_alone(&self) -> f64 {
        let by_chance = self
            .evenness
            .as_ref()
            .and_then(|known| known.ladder.first());
        by_chance.copied().unwrap_or(self.ladder[0].1)
    }

    /// How even the teams become.
    fn evenness_after(&self) -> f64 {
        self.evenness
            .as_ref()
            .map_or(self.after, |known| known.after)
    }
}
