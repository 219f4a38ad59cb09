//! PLACE: the team of a late arrival.
//!
//! PLACE computes, for each team, how even the game will be with the arrival on it, once bots have
//! been added or removed. Other humans on no team yet are placed provisionally. The evenness is the
//! chance of the weaker team divided by that of the stronger; without a chance model it is the
//! ratio of the weights.
//!
//! A team that would outnumber another by more than the settings allow is not open to the arrival,
//! unless bots fill up the other teams and the game would be clearly more even. Between the open
//! teams, these criteria decide, in this order:
//!
//! 1. a pin;
//! 2. the party, if a team has room for all of it and that costs little evenness;
//! 3. fewer humans whom the arrival avoids or who avoid the arrival, if that costs little evenness;
//! 4. the team for which the arrival wishes, if that costs little evenness;
//! 5. the old team of a human who comes back, if that costs little evenness;
//! 6. the most even game, then fewer humans, then the lower score, then chance.
//!
//! Under a policy of an experiment that balances nothing, the number of humans alone decides, after a pin.

use std::fmt;

use evenkeel_model::{
    random::{Stream, StreamPurpose},
    team_names::Naming,
    text::counted,
    win_model::chance_of_weaker,
    worded,
};
use evenkeel_partition::{GameView, TeamSums, sums::EQUAL, wishes::WishRefusal};
use serde::{Deserialize, Serialize};

pub use crate::settings::PlaceSettings;
use crate::{
    moves::{Arrived, Unit},
    question::Question,
    state::late_wish,
};

/// The question of PLACE: which team?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The game, in which the arrival has no team.
    pub view: GameView,
    /// The arrival, as an index into the view's humans.
    pub who: usize,
    /// The settings when the question was asked.
    pub settings: PlaceSettings,
    /// Whether the human is on the team already to which the view pins them, and stays there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stays: bool,
    /// Whether the human has stated a wish for a team that counts for the next game.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

/// The team of a late arrival, and how it was chosen.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// Id of the arrival.
    pub who: String,
    /// The chosen team.
    pub team: u8,
    /// The resulting ratio, 0 to 1.
    pub ratio: f64,
    /// The criterion that decided.
    pub reason: Reason,
    /// The teams that were open, with their criteria.
    pub sides: Vec<Prospect>,
    /// Number of other humans without a team.
    pub others: usize,
    /// Whether all placements of the other humans without a team were tried. If not, they were
    /// placed one by one, the heaviest first.
    pub exact: bool,
}

impl Question for Place {
    type Answer = Placement;

    fn is_sound(&self) -> bool {
        let who = self.view.humans.get(self.who);
        self.view.is_sound() && who.is_some_and(|who| who.team.is_none())
    }

    fn answer(&self, seed: u64) -> Placement {
        let (sides, exact) = self.prospects();
        let (team, reason) = self.choose(&sides, seed);
        let chosen = sides.iter().find(|side| side.team == team);
        Placement {
            who: self.view.humans[self.who].id.clone(),
            team,
            ratio: chosen.map_or(1.0, |side| side.result(reason).1),
            reason,
            others: self.view.waiting().filter(|who| *who != self.who).count(),
            sides,
            exact,
        }
    }

    fn explain(
        &self,
        answer: &Placement,
        naming: &Naming,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let Placement {
            team,
            ratio,
            reason,
            ..
        } = answer;
        let who = naming.player(&answer.who);
        write!(f, "{who} to {} ({reason}): ", naming.team(*team))?;
        let mut sides = answer.sides.iter();
        let chosen = sides.find(|side| side.team == *team);
        if let Some(evenness) = chosen.and_then(|side| side.result(*reason).0) {
            let chance = chance_of_weaker(evenness);
            write!(f, "chance of the weaker team {chance:.6}, ")?;
        }
        writeln!(f, "ratio {ratio:.6}")?;
        if !self.view.fill.on {
            writeln!(
                f,
                "only bots that are on a team count: none are expected to come"
            )?;
        }
        let wish = self.view.humans[self.who].wish;
        if let Some(wish) = wish.filter(|wish| wish != team) {
            let why = answer.against(wish);
            let wish = naming.team(wish);
            writeln!(f, "wish not granted: {who} to {wish}, {why}")?;
        }
        if self.late {
            writeln!(f, "{}", late_wish(who))?;
        }
        let party = self.view.in_party(self.who);
        for side in &answer.sides {
            side.explain(party, naming, f)?;
        }
        if answer.others > 0 {
            let how = if answer.exact {
                "exhaustive search"
            } else {
                "heaviest first"
            };
            writeln!(
                f,
                "{} without a team {} placed provisionally ({how})",
                counted(answer.others, "other player"),
                if answer.others == 1 { "was" } else { "were" }
            )?;
        }
        self.view.write_conduct(naming, f)
    }
}

impl Place {
    /// The result of joining each open team, and whether it is exact.
    fn prospects(&self) -> (Vec<Prospect>, bool) {
        let strength = self.view.sums();
        let mut exact = true;
        let prospect = |team: usize| {
            let (prospect, all_tried) = self.prospect(&strength, team);
            exact &= all_tried;
            prospect
        };
        let arrival = &Unit::of(&self.view, std::iter::once(self.who), |_| false)[0];
        let teams = arrival.targets(strength.sides().len());
        let mut sides: Vec<Prospect> = teams.map(prospect).collect();
        self.excuse(&mut sides);
        (sides, exact)
    }

    /// The result of joining `team`, and whether it is exact.
    fn prospect(&self, strength: &TeamSums, team: usize) -> (Prospect, bool) {
        let limit = self.limit();
        // Others who are on no team yet may never play, so first only those on a team count.
        let number = team as u8;
        let mut here = match self.stays {
            true => self.view.sums_with(&[self.who], number),
            false => strength.clone(),
        };
        if !self.stays {
            here.add(team, 1, self.view.counted(self.who));
        }
        let alone = self.with_others(&here, &[self.who]);
        let over = here.excess(limit);
        let humans = &self.view.humans;
        let mates = || self.view.mates(self.who).map(|mate| (mate, &humans[mate]));
        let coming = mates().filter(|(_, mate)| mate.team.is_none());
        let coming = coming.filter(|(_, mate)| mate.pin.is_none_or(|pin| pin == number));
        let mut together: Vec<usize> = coming.map(|(mate, _)| mate).collect();
        for &mate in &together {
            here.add(team, 1, self.view.counted(mate));
        }
        // Where bots fill up the other team, friends may come before the others who wait.
        let limit_of_party = limit.saturating_add(usize::from(self.view.fill.on));
        let whole = match together.is_empty() {
            true => alone.clone(),
            false => {
                together.push(self.who);
                self.with_others(&here, &together)
            }
        };
        let is_there = |human: usize| humans[human].team.or(humans[human].pin) == Some(number);
        let there = mates().filter(|(mate, _)| is_there(*mate));
        let avoided = self.view.avoided(self.who).filter(|&human| is_there(human));
        let prospect = Prospect {
            team: number,
            ratio: alone.sums.ratio_after_bot_fill(),
            with_party: whole.sums.ratio_after_bot_fill(),
            evenness: (strength.by_chance()).then(|| {
                (
                    alone.sums.evenness_after_bot_fill(),
                    whole.sums.evenness_after_bot_fill(),
                )
            }),
            over,
            over_later: alone.sums.excess(limit),
            over_with_party: here.excess(limit_of_party),
            over_later_with_party: whole.sums.excess(limit),
            mates: there.count(),
            avoided: avoided.count(),
            humans: strength.sides()[team].humans,
            score: self.score(number),
        };
        (prospect, alone.exact && whole.exact)
    }

    /// These teams with all who wait except these.
    fn with_others(&self, here: &TeamSums, except: &[usize]) -> Arrived {
        let others = self.view.waiting().filter(|who| !except.contains(who));
        Arrived::of(&self.view, here, others, &[], self.limit())
    }

    /// By how many humans the joined team may outnumber another.
    fn limit(&self) -> usize {
        self.settings.max_difference.get().unwrap_or(usize::MAX)
    }

    /// Whether all of the arrival's party are on this team, or can come to it.
    fn holds_party(&self, team: u8) -> bool {
        let mut mates = self
            .view
            .mates(self.who)
            .map(|mate| &self.view.humans[mate]);
        mates.all(|mate| mate.team.or(mate.pin).is_none_or(|of| of == team))
    }

    fn score(&self, team: u8) -> f64 {
        let score = self.view.scores.get(usize::from(team));
        score.copied().unwrap_or(0.0)
    }
}

worded! {
    /// The criterion that decided a placement.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Reason {
        /// The arrival is pinned to the team.
        Pin = "pinned to it",
        /// The human is on the team already.
        Stays = "on it already",
        /// The arrival's party is on the team, or joins it, too.
        Party = "with their party",
        /// Part of the arrival's party is on the team; the rest is on another, or must be.
        PartOfParty = "with part of their party, which is torn: others of it are on another team",
        /// No team has room for the whole party, or keeping it together would cost too much evenness.
        Torn = "their party is torn: no team can take all of it without outnumbering or outweighing the other",
        /// The other open teams have more humans whom the arrival avoids or who avoid the arrival.
        Avoid = "away from players to avoid",
        /// The arrival wished for this team.
        Wish = "the team that they wished for",
        /// The arrival left this team shortly before.
        OldTeam = "their old team",
        /// On another team the game would be more even, but that team would outnumber this one by too much.
        ShortSide = "the short side comes first",
        /// The team makes the most even game by the ratio of weights.
        Ratio = "best ratio",
        /// The team makes the most even game by the chances to win.
        EvenChance = "the most even chances to win",
        /// The games are equally even; the team has fewer humans.
        FewerHumans = "equally even, fewer humans",
        /// Nothing but the number of humans decides.
        ByNumber = "fewest humans, as if nobody balanced",
        /// Ratios and sizes are equal; this team has the lower score.
        Losing = "equally even, equal in size, lower score",
        /// The teams are equal by all criteria.
        Chance = "all equal, chosen at random",
    }
}

/// The result of joining one team.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prospect {
    /// The team, counted from 0.
    pub team: u8,
    /// The resulting ratio, 0 to 1.
    pub ratio: f64,
    /// The resulting ratio if the rest of the party, the members without a team, joins it, too.
    pub with_party: f64,
    /// The resulting evenness of the chances to win, 0 to 1, without the rest of the party and with it.
    /// `None` without a chance model: then the ratios decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evenness: Option<(f64, f64)>,
    /// How many humans too many there would be on teams that outnumber the smallest by more than
    /// allowed; 0 if a clearly more even game justifies that.
    pub over: usize,
    /// The same once the others without a team have been placed provisionally.
    pub over_later: usize,
    /// The value of `over` if the rest of the party joins the team, too.
    pub over_with_party: usize,
    /// The value of `over_later` if the rest of the party joins the team, too.
    pub over_later_with_party: usize,
    /// Number of members of the arrival's party on the team, or pinned to it.
    pub mates: usize,
    /// Number of humans on the team, or pinned to it, whom the arrival avoids or who avoid the arrival.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub avoided: usize,
    /// Number of humans on the team.
    pub humans: usize,
    /// The team's score so far.
    pub score: f64,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl Prospect {
    /// How many humans too many there would be: now, and once the others have been placed.
    fn too_many(&self) -> (usize, usize) {
        (self.over, self.over_later)
    }

    /// The evenness by chances, and the ratio, of the game with the arrival on this team for this reason.
    fn result(&self, reason: Reason) -> (Option<f64>, f64) {
        match reason {
            Reason::Party | Reason::PartOfParty => {
                (self.evenness.map(|(_, with)| with), self.with_party)
            }
            _ => (self.evenness.map(|(alone, _)| alone), self.ratio),
        }
    }

    /// Writes what decides for and against the team. `party` says whether the arrival is in a
    /// party.
    fn explain(&self, party: bool, naming: &Naming, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", naming.team(self.team))?;
        if let Some((evenness, with_party)) = self.evenness {
            let chance = chance_of_weaker(evenness);
            write!(f, "chance of the weaker team {chance:.6}")?;
            if party {
                write!(f, " ({:.6} with the party)", chance_of_weaker(with_party))?;
            }
            write!(f, ", ")?;
        }
        write!(f, "ratio {:.6}", self.ratio)?;
        if party {
            write!(f, " ({:.6} with the party)", self.with_party)?;
        }
        write!(f, ", humans {}", self.humans)?;
        if party {
            write!(f, ", members of the party on it {}", self.mates)?;
        }
        write!(f, ", score {}", self.score)?;
        if self.avoided > 0 {
            write!(f, ", players to avoid {}", self.avoided)?;
        }
        if self.over > 0 {
            write!(f, ", too many humans by {}", self.over)?;
        }
        writeln!(f)
    }
}

/// A criterion: the team with the lowest value wins.
type Cost = fn(&Prospect) -> f64;

impl Place {
    /// Allows teams that would have one human too many, if bots fill up the other teams and the
    /// game would be clearly more even than with the arrival on any team that is allowed anyway.
    fn excuse(&self, sides: &mut [Prospect]) {
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
    fn choose(&self, sides: &[Prospect], seed: u64) -> (u8, Reason) {
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
        if self.settings.by_number {
            let fewest = sides.iter().min_by_key(|side| (side.humans, side.team));
            return (fewest.map_or(0, |side| side.team), Reason::ByNumber);
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
    fn against(&self, wish: u8) -> String {
        let side = |team: u8| self.sides.iter().find(|side| side.team == team);
        let fewest = self.sides.iter().map(Prospect::too_many).min();
        let more_to_avoid = |wished: &Prospect| {
            side(self.team).is_some_and(|chosen| wished.avoided > chosen.avoided)
        };
        match (self.reason, side(wish)) {
            (Reason::Stays, _) => "they are on a team already".to_owned(),
            (Reason::Pin, _) | (_, None) => WishRefusal::Pinned.to_string(),
            (Reason::Party | Reason::PartOfParty, _) => WishRefusal::Party.to_string(),
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

#[cfg(test)]
mod tests;
