//! PLACE: which side a late arrival takes.
//!
//! For each side, the ratio that results once they are on it and bots have followed; those who have
//! joined and are on no team yet are thought onto theirs. Then, in this order: a pin; the party,
//! where that costs little; the old team of somebody who comes back, where that costs little; the
//! best ratio; fewer humans; the losing side; chance.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    Question, Snapshot,
    arrivals::{Arrivals, open_to},
    strength::{EQUAL, Strength},
};
use crate::domain::{
    Stream, StreamPurpose,
    units::{MaxDifference, Share, UpToADay},
};

/// What an admin decides about late arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceSettings {
    /// How much ratio coming together with one's party may cost, 0 to 1.
    ///
    /// The configuration has one key for this and BALANCE, so that its section `[place]` lacks it.
    #[serde(default = "party_budget")]
    pub party_budget: Share,
    /// How much ratio coming back to one's old team may cost, 0 to 1.
    pub rejoin_budget: Share,
    /// For how long after a LEAVE the old team is kept.
    pub rejoin_grace_seconds: UpToADay,
    /// By how many humans a team may outnumber another where there is a choice.
    pub max_difference: MaxDifference,
}

impl Default for PlaceSettings {
    /// The party budget is BALANCE's. Five minutes cover a crash and a restart, and a tenth of the
    /// ratio is what ADVANTAGE can make up for, so that leaving the losing team and coming back is
    /// no way to the other. A difference of 2 leaves either side open next to teams as even as
    /// BALANCE makes them, and nobody alone against a crowd.
    fn default() -> Self {
        Self {
            party_budget: party_budget(),
            rejoin_budget: const { Share::of(0.10) },
            rejoin_grace_seconds: const { UpToADay::of(300) },
            max_difference: const { MaxDifference::of(2) },
        }
    }
}

fn party_budget() -> Share {
    const { Share::of(0.05) }
}

/// The question of PLACE.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The game; whoever is to be placed is on no team in it.
    pub snapshot: Snapshot,
    /// Who is to be placed: an index into its humans.
    pub who: usize,
    /// How.
    pub settings: PlaceSettings,
}

/// Where a late arrival goes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Placement {
    /// Who.
    pub who: String,
    /// Their side.
    pub team: u8,
    /// The ratio that results.
    pub ratio: f64,
    /// What decided.
    pub reason: Reason,
    /// Every side that they could have taken.
    pub sides: Vec<Prospect>,
    /// How many others are on no team yet.
    pub others: usize,
    /// Whether all ways to place those were tried.
    pub exact: bool,
}

/// What taking one side would mean.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prospect {
    /// The side.
    pub team: u8,
    /// The ratio that results.
    pub ratio: f64,
    /// The same if the rest of their party comes along, where any of it is on no team yet.
    pub with_party: f64,
    /// Humans by which the teams would differ beyond what is allowed.
    pub over: usize,
    /// Humans of their party on it.
    pub mates: usize,
    /// Humans on it.
    pub humans: usize,
    /// Its score.
    pub score: f64,
}

/// What decided a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// They are pinned to it.
    Pin,
    /// Their party is there, or comes along.
    Party,
    /// They left it a moment ago.
    OldTeam,
    /// It gives the best ratio.
    Ratio,
    /// Equal ratios; it has fewer humans.
    FewerHumans,
    /// Equal in that too; it is losing.
    Losing,
    /// Equal in everything.
    Chance,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Pin => "pinned",
            Reason::Party => "with the party",
            Reason::OldTeam => "their old team",
            Reason::Ratio => "the best ratio",
            Reason::FewerHumans => "equal, and fewer humans",
            Reason::Losing => "equal, and losing",
            Reason::Chance => "all equal, by chance",
        })
    }
}

/// What speaks against a side; the least wins.
type Cost = fn(&Prospect) -> f64;

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
        writeln!(f, "{who} to team {team}: {reason}, ratio {ratio:.6}")?;
        for side in &answer.sides {
            writeln!(
                f,
                "on team {}: ratio {:.6} ({:.6} with the party), {} humans, {} of the party, score {}, {} too many",
                side.team,
                side.ratio,
                side.with_party,
                side.humans,
                side.mates,
                side.score,
                side.over
            )?;
        }
        if answer.others > 0 {
            let how = if answer.exact {
                "every way"
            } else {
                "heaviest first"
            };
            writeln!(
                f,
                "{} others without a team were thought onto one ({how})",
                answer.others
            )?;
        }
        self.snapshot.write_conduct(f)
    }
}

impl Place {
    /// What each open side would mean, and whether that is exact.
    fn prospects(&self) -> (Vec<Prospect>, bool) {
        let strength = Strength::of(&self.snapshot);
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
            alone.add(team, 1, who.weight);
            let arrived = Arrivals::of(&self.snapshot, &[self.who], limit).place(&alone);
            exact &= arrived.exact;
            let mut with_party = arrived.merit.ratio;
            if !coming.is_empty() {
                for &mate in &coming {
                    alone.add(team, 1, self.snapshot.humans[mate].weight);
                }
                let arrived = Arrivals::of(&self.snapshot, &together, limit).place(&alone);
                exact &= arrived.exact;
                with_party = arrived.merit.ratio;
            }
            let mates = self.snapshot.mates(self.who);
            let team = team as u8;
            Prospect {
                team,
                ratio: arrived.merit.ratio,
                with_party,
                over: arrived.merit.over,
                mates: mates
                    .filter(|&mate| self.snapshot.humans[mate].team == Some(team))
                    .count(),
                humans: strength.sides()[usize::from(team)].humans,
                score: self.score(team),
            }
        };
        let sides = open_to(who.pin, &strength).map(&mut prospect).collect();
        (sides, exact)
    }

    fn score(&self, team: u8) -> f64 {
        let score = self.snapshot.scores.get(usize::from(team));
        score.copied().unwrap_or(0.0)
    }

    fn choose(&self, sides: &[Prospect], seed: u64) -> (u8, Reason) {
        let least_over = sides.iter().map(|side| side.over).min().unwrap_or(0);
        let mut left: Vec<&Prospect> = sides.iter().filter(|s| s.over == least_over).collect();
        let best = left.iter().map(|side| side.ratio).fold(0.0, f64::max);
        let who = &self.snapshot.humans[self.who];
        if who.pin.is_some() && sides.len() == 1 {
            return (sides[0].team, Reason::Pin);
        }
        let budget = self.settings.party_budget.get();
        if let Some(team) = self.party_side(&left, best - budget) {
            return (team, Reason::Party);
        }
        let old = left.iter().find(|side| Some(side.team) == who.old_team);
        if let Some(old) =
            old.filter(|old| old.ratio + EQUAL >= best - self.settings.rejoin_budget.get())
        {
            return (old.team, Reason::OldTeam);
        }
        let mut reason = Reason::Ratio;
        let ties: [(Cost, Reason); 3] = [
            (|side| -side.ratio, Reason::Ratio),
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
        if left.len() > 1 {
            reason = Reason::Chance;
        }
        let drawn = Stream::new(seed, StreamPurpose::Place).index(left.len());
        (left.get(drawn).map_or(0, |side| side.team), reason)
    }

    /// The side where most of the party is, or all of it can go, if the ratio there is at least this.
    fn party_side(&self, sides: &[&Prospect], least: f64) -> Option<u8> {
        if !self.snapshot.in_party(self.who) {
            return None;
        }
        let most = sides.iter().map(|side| side.mates).max()?;
        let theirs = sides.iter().filter(|side| side.mates == most);
        let best = theirs.reduce(|a, b| {
            if b.with_party > a.with_party + EQUAL {
                b
            } else {
                a
            }
        })?;
        (best.with_party + EQUAL >= least).then_some(best.team)
    }
}

#[cfg(test)]
mod tests;
