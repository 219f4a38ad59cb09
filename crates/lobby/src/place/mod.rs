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

mod choice;
mod settings;

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    Question,
    moves::{Arrived, Unit},
    wishes::late_wish,
};
use evenkeel_model::{Naming, chance_of_weaker, counted, worded};
use evenkeel_partition::{GameView, TeamSums};

pub use settings::PlaceSettings;

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
        let arrival = &Unit::of(&self.view, std::iter::once(self.who), &[])[0];
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
            ratio: alone.sums.ratio_settled(),
            with_party: whole.sums.ratio_settled(),
            evenness: (strength.by_chance())
                .then(|| (alone.sums.evenness_settled(), whole.sums.evenness_settled())),
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

#[cfg(test)]
mod tests;
