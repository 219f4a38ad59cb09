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
//! 3. the old team of a human who comes back, if that costs little evenness;
//! 4. the most even game, then fewer humans, then the lower score, then chance.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    Question, Snapshot,
    arrivals::{Arrivals, open_to},
    chance::chance_of_weaker,
    strength::TeamStrengths,
};

mod choice;
mod reason;
mod settings;

pub use reason::Reason;
pub use settings::PlaceSettings;

/// The question of PLACE: which team?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The game, in which the arrival has no team.
    pub snapshot: Snapshot,
    /// The arrival, as an index into the snapshot's humans.
    pub who: usize,
    /// The settings when the question was asked.
    pub settings: PlaceSettings,
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
    /// By how many humans the difference between the teams would exceed the allowed one; 0 if a
    /// clearly more even game justifies that.
    pub over: usize,
    /// The value of `over` if the rest of the party joins the team, too.
    #[serde(default)]
    pub over_with_party: usize,
    /// Number of members of the arrival's party on the team.
    pub mates: usize,
    /// Number of humans on the team.
    pub humans: usize,
    /// The team's score so far.
    pub score: f64,
}

impl Question for Place {
    type Answer = Placement;

    fn is_sound(&self) -> bool {
        let who = self.snapshot.humans.get(self.who);
        self.snapshot.is_sound() && who.is_some_and(|who| who.team.is_none())
    }

    fn answer(&self, seed: u64) -> Placement {
        let (sides, exact) = self.prospects();
        let (team, reason) = self.choose(&sides, seed);
        let chosen = sides.iter().find(|side| side.team == team);
        let unplaced = self.snapshot.humans.iter().enumerate();
        Placement {
            who: self.snapshot.humans[self.who].id.clone(),
            team,
            ratio: chosen.map_or(1.0, |side| match reason {
                Reason::Party => side.with_party,
                _ => side.ratio,
            }),
            reason,
            others: unplaced
                .filter(|(index, human)| *index != self.who && human.team.is_none())
                .count(),
            sides,
            exact,
        }
    }

    fn explain(&self, answer: &Placement, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Placement {
            who,
            team,
            ratio,
            reason,
            ..
        } = answer;
        writeln!(f, "{who} to team {team} ({reason}): ratio {ratio:.6}")?;
        if !self.snapshot.fill.on {
            writeln!(
                f,
                "only bots that are on a team count: none are expected to come"
            )?;
        }
        let party = self.snapshot.in_party(self.who);
        for side in &answer.sides {
            side.explain(party, f)?;
        }
        if answer.others > 0 {
            let how = if answer.exact {
                "exhaustive search"
            } else {
                "heaviest first"
            };
            writeln!(
                f,
                "the other {} players without a team were placed provisionally ({how})",
                answer.others
            )?;
        }
        self.snapshot.write_conduct(f)
    }
}

impl Prospect {
    /// Writes what decides for and against the team. `party` says whether the arrival is in a
    /// party.
    fn explain(&self, party: bool, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let team = self.team;
        if let Some((evenness, with_party)) = self.evenness {
            let chance = chance_of_weaker(evenness);
            write!(f, "team {team}: chance of the weaker team {chance:.6}")?;
            if party {
                write!(f, " ({:.6} with the party)", chance_of_weaker(with_party))?;
            }
            writeln!(f)?;
        }
        write!(f, "team {team}: ratio {:.6}", self.ratio)?;
        if party {
            write!(f, " ({:.6} with the party)", self.with_party)?;
        }
        write!(f, ", humans {}", self.humans)?;
        if party {
            write!(f, ", members of the party on it {}", self.mates)?;
        }
        write!(f, ", score {}", self.score)?;
        if self.over > 0 {
            write!(f, ", too many humans by {}", self.over)?;
        }
        writeln!(f)
    }
}

impl Place {
    /// The result of joining each open team, and whether it is exact.
    fn prospects(&self) -> (Vec<Prospect>, bool) {
        let strength = TeamStrengths::of(&self.snapshot);
        let who = &self.snapshot.humans[self.who];
        let limit = self.settings.max_difference.get().unwrap_or(usize::MAX);
        let coming: Vec<usize> = (self.snapshot.mates(self.who))
            .filter(|&mate| {
                let mate = &self.snapshot.humans[mate];
                mate.team.is_none() && mate.pin.is_none()
            })
            .collect();
        let mut together = coming.clone();
        together.push(self.who);
        let mut exact = true;
        let mut prospect = |team: usize| {
            let mut alone = strength.clone();
            alone.add(team, 1, self.snapshot.counted(self.who));
            let arrived = Arrivals::of(&self.snapshot, &[self.who], limit).place(&alone);
            exact &= arrived.exact;
            let mut with_party = (arrived.ratio, arrived.merit.evenness);
            let mut over_with_party = arrived.merit.over;
            // Other humans who are on no team yet may never play, so only those on a team count
            // here.
            let outnumbers = alone.outnumbers(team).saturating_sub(limit);
            let over = arrived.merit.over.max(outnumbers);
            if !coming.is_empty() {
                for &mate in &coming {
                    alone.add(team, 1, self.snapshot.counted(mate));
                }
                let all = Arrivals::of(&self.snapshot, &together, limit).place(&alone);
                exact &= all.exact;
                with_party = (all.ratio, all.merit.evenness);
                over_with_party = all.merit.over;
            }
            let mates = self.snapshot.mates(self.who);
            let team = team as u8;
            Prospect {
                team,
                ratio: arrived.ratio,
                with_party: with_party.0,
                evenness: (strength.by_chance()).then_some((arrived.merit.evenness, with_party.1)),
                over,
                over_with_party,
                mates: mates
                    .filter(|&mate| self.snapshot.humans[mate].team == Some(team))
                    .count(),
                humans: strength.sides()[usize::from(team)].humans,
                score: self.score(team),
            }
        };
        let mut sides: Vec<Prospect> = open_to(who.pin, &strength).map(&mut prospect).collect();
        self.excuse(&mut sides);
        (sides, exact)
    }

    fn score(&self, team: u8) -> f64 {
        let score = self.snapshot.scores.get(usize::from(team));
        score.copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests;
