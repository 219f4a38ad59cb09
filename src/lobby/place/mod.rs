//! PLACE: the team of a late arrival.
//!
//! For each team, it is computed how even the game is once the arrival is on it and bots have been
//! added or removed; other humans on no team yet are placed provisionally. The evenness is the chance
//! of the weaker team over that of the stronger, or without a chance model the ratio of the weights.
//! A team that outnumbers another by more than the settings allow is no choice, unless bots fill up
//! the others and it makes the game clearly more even. Then these decide, in this order: a pin; the
//! party, if a team holds all of it and that costs little evenness; for a human who comes back, the
//! old team, if that costs little; the most even game; fewer humans; the lower score; chance.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    Question, Snapshot,
    arrivals::{Arrivals, open_to},
    chance::chance_of_weaker,
    strength::{EQUAL, TeamStrengths},
};
use crate::domain::{
    Stream, StreamPurpose,
    units::{MaxDifference, Share, UpToADay},
};

/// Settings of PLACE. What something may cost is in evenness: the chance of the weaker team over that of
/// the stronger, or the ratio of their weights, as `[balance] objective` says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceSettings {
    /// How much evenness keeping a party together may cost.
    ///
    /// The configuration has one key for this and BALANCE, so it is not in section `[place]`.
    #[serde(default = "party_budget")]
    pub party_budget: Share,
    /// How much evenness returning to the old team may cost.
    pub rejoin_budget: Share,
    /// How long the old team is remembered after LEAVE.
    pub rejoin_grace_seconds: UpToADay,
    /// By how many humans a team may exceed another, where the choice is free.
    pub max_difference: MaxDifference,
    /// The evenness that a team must gain to be joined although it would then outnumber another by one
    /// human more than that. Counts only where bots fill up the other team.
    #[serde(default = "never")]
    pub clear_gain: Share,
}

/// The value for decisions of version 0.1, which had no such exception.
fn never() -> Share {
    const { Share::of(1.0) }
}

impl Default for PlaceSettings {
    /// The party budget is that of BALANCE. Five minutes cover a crash and a restart. A tenth of the
    /// ratio is what ADVANTAGE can make up for, so that leaving the losing team and coming back does
    /// not lead to the other one. With a difference of 1, the short side is filled up first. Half of
    /// the ratio is beyond doubt: of random games with bots, weights N(50, 15), at most one in a
    /// hundred is joined on the larger side, even 1 against 2 (the test `the_short_side_comes_first`).
    fn default() -> Self {
        Self {
            party_budget: party_budget(),
            rejoin_budget: const { Share::of(0.10) },
            rejoin_grace_seconds: const { UpToADay::of(300) },
            max_difference: const { MaxDifference::of(1) },
            clear_gain: const { Share::of(0.5) },
        }
    }
}

fn party_budget() -> Share {
    const { Share::of(0.05) }
}

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
    /// Whether all placements of those were tried, and not only the heaviest first.
    pub exact: bool,
}

/// The result of joining one team.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prospect {
    /// The team, counted from 0.
    pub team: u8,
    /// The resulting ratio, 0 to 1.
    pub ratio: f64,
    /// The ratio if the members of their party without a team join it, too.
    pub with_party: f64,
    /// How even the chances to win then are, 0 to 1, without the rest of the party and with it; `None`
    /// without a chance model, where the ratios decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evenness: Option<(f64, f64)>,
    /// By how many humans the teams would differ beyond the allowed difference; 0 where a clearly
    /// more even game excuses that.
    pub over: usize,
    /// `over`, if the members of their party without a team join it, too.
    #[serde(default)]
    pub over_with_party: usize,
    /// Number of members of their party on the team.
    pub mates: usize,
    /// Number of humans on the team.
    pub humans: usize,
    /// The team's score so far.
    pub score: f64,
}

impl Prospect {
    /// The reason for the only team left: every other team would, with the arrival, have too many
    /// humans more than it.
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
}

/// The criterion that decided a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// They are pinned to the team.
    Pin,
    /// Their party is on the team, or joins it with them.
    Party,
    /// No team holds their party, or keeping it together would cost too much evenness.
    Torn,
    /// They left this team shortly before.
    OldTeam,
    /// Any other team would outnumber it by too much, though the game would be more even there.
    ShortSide,
    /// The team makes the most even game by the ratio of weights.
    Ratio,
    /// The team makes the most even game by the chances to win.
    EvenChance,
    /// The games are equally even; the team has fewer humans.
    FewerHumans,
    /// Ratios and sizes are equal; this team has the lower score.
    Losing,
    /// The teams are equal by all criteria.
    Chance,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Pin => "pinned to it",
            Reason::Party => "with their party",
            Reason::Torn => "their party is torn: no team holds all of it without outnumbering or outweighing the other",
            Reason::OldTeam => "their old team",
            Reason::ShortSide => "the short side comes first",
            Reason::Ratio => "best ratio",
            Reason::EvenChance => "the most even chances to win",
            Reason::FewerHumans => "equally even, fewer humans",
            Reason::Losing => "equally even, equal in size, lower score",
            Reason::Chance => "all equal, chosen at random",
        })
    }
}

impl Prospect {
    /// How even the game would be, 0 to 1.
    fn evenness(&self) -> f64 {
        self.evenness.map_or(self.ratio, |(alone, _)| alone)
    }

    /// How even the game would be with the rest of the party.
    fn evenness_with_party(&self) -> f64 {
        self.evenness.map_or(self.with_party, |(_, with)| with)
    }
}

/// A criterion: the team with the lowest value wins.
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
        writeln!(f, "{who} to team {team} ({reason}): ratio {ratio:.6}")?;
        if !self.snapshot.fill.on {
            writeln!(f, "only bots that are on a team count: none are expected")?;
        }
        for side in &answer.sides {
            if let Some((evenness, with_party)) = side.evenness {
                writeln!(
                    f,
                    "team {}: chance of the weaker team {:.6} ({:.6} with the party)",
                    side.team,
                    chance_of_weaker(evenness),
                    chance_of_weaker(with_party)
                )?;
            }
            writeln!(
                f,
                "team {}: ratio {:.6} ({:.6} with the party), humans {}, of the party {}, score {}, humans over the limit {}",
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
                "exhaustive search"
            } else {
                "heaviest first"
            };
            writeln!(
                f,
                "placed the {} unassigned players provisionally ({how})",
                answer.others
            )?;
        }
        self.snapshot.write_conduct(f)
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
            // Others who are on no team yet may never come to play: the short side comes first.
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

    /// Opens teams that would outnumber another by one human too many, where bots fill up the
    /// others and the game is clearly more even than with any team that is open anyway.
    fn excuse(&self, sides: &mut [Prospect]) {
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

    fn score(&self, team: u8) -> f64 {
        let score = self.snapshot.scores.get(usize::from(team));
        score.copied().unwrap_or(0.0)
    }

    fn choose(&self, sides: &[Prospect], seed: u64) -> (u8, Reason) {
        let least_over = sides.iter().map(|side| side.over).min().unwrap_or(0);
        let mut left: Vec<&Prospect> = sides.iter().filter(|s| s.over == least_over).collect();
        let best = left.iter().map(|side| side.evenness()).fold(0.0, f64::max);
        let who = &self.snapshot.humans[self.who];
        if who.pin.is_some() && sides.len() == 1 {
            return (sides[0].team, Reason::Pin);
        }
        let budget = self.settings.party_budget.get();
        if let Some(team) = self.party_side(sides, least_over, best - budget) {
            return (team, Reason::Party);
        }
        let torn = self.snapshot.in_party(self.who);
        let only_open = left.len() == 1;
        let old = left.iter().find(|side| Some(side.team) == who.old_team);
        if let Some(old) =
            old.filter(|old| old.evenness() + EQUAL >= best - self.settings.rejoin_budget.get())
        {
            let reason = if torn { Reason::Torn } else { Reason::OldTeam };
            return (old.team, reason);
        }
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
            [only] if only_open => reason = only.beside(sides),
            [_] => {}
            _ => reason = Reason::Chance,
        }
        if torn {
            reason = Reason::Torn;
        }
        let drawn = Stream::new(seed, StreamPurpose::Place).index(left.len());
        (left.get(drawn).map_or(0, |side| side.team), reason)
    }

    /// The team where most of the party is, or which all of it can join, if that leads to at most
    /// `over` humans beyond the allowed difference, and to an evenness of at least `least`.
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

#[cfg(test)]
mod tests;
