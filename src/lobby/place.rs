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
    chance::{self, Purpose},
    strength::{EQUAL, Strength},
};

/// What an admin decides about late arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlaceSettings {
    /// How much ratio coming together with one's party may cost, 0 to 1.
    pub party_budget: f64,
    /// How much ratio coming back to one's old team may cost, 0 to 1.
    pub rejoin_budget: f64,
    /// For how long after a LEAVE the old team is kept, in milliseconds.
    pub rejoin_grace: u64,
    /// By how many humans a team may outnumber another where there is a choice; `None` for any.
    pub max_difference: Option<usize>,
}

impl Default for PlaceSettings {
    /// The party budget is BALANCE's. Five minutes cover a crash and a restart, and a tenth of the
    /// ratio is what ADVANTAGE can make up for, so that leaving the losing team and coming back is
    /// no way to the other. A difference of 2 leaves either side open next to teams as even as
    /// BALANCE makes them, and nobody alone against a crowd.
    fn default() -> Self {
        Self {
            party_budget: 0.05,
            rejoin_budget: 0.10,
            rejoin_grace: 300_000,
            max_difference: Some(2),
        }
    }
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
        let limit = self.settings.max_difference.unwrap_or(usize::MAX);
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
        let budget = self.settings.party_budget;
        if let Some(team) = self.party_side(&left, best - budget) {
            return (team, Reason::Party);
        }
        let old = left.iter().find(|side| Some(side.team) == who.old_team);
        if let Some(old) = old.filter(|old| old.ratio + EQUAL >= best - self.settings.rejoin_budget)
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
        let drawn = chance::index(&mut chance::stream(seed, Purpose::Place), left.len());
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
mod tests {
    use super::*;
    use crate::lobby::snapshot::tests::{robot, snapshot};
    use proptest::prelude::*;

    fn place(snapshot: Snapshot, who: usize) -> Placement {
        placed(snapshot, who, 1)
    }

    fn placed(snapshot: Snapshot, who: usize, seed: u64) -> Placement {
        let settings = PlaceSettings::default();
        let question = Place {
            snapshot,
            who,
            settings,
        };
        question.answer(seed)
    }

    #[test]
    fn the_bot_that_leaves_counts() {
        // 80 against 30 and bots of 10 and 50. On team 1, one of the bots leaves: 80 to 30+20+30;
        // on team 0, one bot fewer is needed nowhere: 100 to 90.
        let mut game = snapshot(2, &[(80.0, 0), (30.0, 1), (20.0, 9)]);
        game.fill.wish = 4;
        game.bots = vec![robot(50.0, 1), robot(10.0, 1), robot(20.0, 0)];
        game.next_bot = 25.0;
        let answer = place(game, 2);
        // Team 0: its bot of 20 leaves, and of team 1's two the mean: 100 against 30+30.
        assert_eq!(answer.sides[0].ratio, 60.0 / 100.0);
        // Team 1: both of its bots leave: 80 and the bot of 20 against 50.
        assert_eq!(answer.sides[1].ratio, 50.0 / 100.0);
        assert_eq!((answer.team, answer.reason), (0, Reason::Ratio));
    }

    #[test]
    fn the_bot_that_comes_weighs_what_those_not_playing_do() {
        // Two on a side; a third on either makes a bot come to the other.
        let mut game = snapshot(2, &[(30.0, 0), (30.0, 0), (20.0, 1), (20.0, 1), (10.0, 9)]);
        game.next_bot = 40.0;
        let answer = place(game, 4);
        assert_eq!(answer.sides[0].ratio, 70.0 / 80.0);
        assert_eq!(answer.sides[1].ratio, 50.0 / 100.0);
        assert_eq!((answer.team, answer.ratio), (0, 70.0 / 80.0));
    }

    /// The latecomers of the players' proposal on the auto-balance page: the lighter team.
    #[test]
    fn latecomers_of_the_page() {
        // A party of three weighs 1.2 times its sum, and 12 others less.
        let strong = [11.0, 11.0, 10.0].map(|weight| (weight * 1.2, 0));
        let rest = [5.0, 5.0, 5.0, 3.0, 3.0, 3.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0];
        let mut humans: Vec<(f64, u8)> = strong.to_vec();
        humans.extend(rest.map(|weight| (weight, 1)));
        humans.push((2.0, 9));
        let mut game = snapshot(2, &humans);
        game.fill.on = false;
        let free = PlaceSettings {
            max_difference: None,
            ..PlaceSettings::default()
        };
        let question = |settings| Place {
            snapshot: game.clone(),
            who: 15,
            settings,
        };
        let answer = question(free).answer(1);
        assert_eq!((answer.team, answer.reason), (1, Reason::Ratio));
        assert!((answer.ratio - 34.0 / 38.4).abs() < 1e-12);
        // By default, three are not left alone against thirteen.
        assert_eq!(question(PlaceSettings::default()).answer(1).team, 0);
    }

    #[test]
    fn ties_go_to_fewer_humans_then_to_the_losing_side_then_to_chance() {
        let mut game = snapshot(2, &[(40.0, 0), (20.0, 1), (20.0, 1), (10.0, 9)]);
        game.fill.on = false;
        let answer = place(game, 3);
        assert_eq!((answer.team, answer.reason), (0, Reason::FewerHumans));

        let mut game = snapshot(2, &[(40.0, 0), (40.0, 1), (10.0, 9)]);
        game.scores = vec![3.0, 1.0];
        assert_eq!(place(game.clone(), 2).reason, Reason::Losing);
        assert_eq!(place(game.clone(), 2).team, 1);

        game.scores = vec![1.0, 1.0];
        let teams: Vec<u8> = (0..64)
            .map(|seed| placed(game.clone(), 2, seed).team)
            .collect();
        let ones = teams.iter().filter(|&&team| team == 1).count();
        assert!((16..48).contains(&ones), "{ones}");
        assert_eq!(place(game, 2).reason, Reason::Chance);
    }

    #[test]
    fn a_party_comes_together_where_the_ratio_allows() {
        let even = |weight: f64| {
            let mut game = snapshot(2, &[(50.0, 0), (50.0, 1), (weight, 9)]);
            game.humans[0].party = Some("p".into());
            game.humans[2].party = Some("p".into());
            game.next_bot = weight;
            game
        };
        let answer = place(even(20.0), 2);
        assert_eq!((answer.team, answer.reason), (0, Reason::Party));
        // Without bots, team 0 would outweigh team 1 by 130 to 50.
        let mut game = even(30.0);
        game.fill.on = false;
        game.humans[0].weight = 100.0;
        let answer = place(game, 2);
        assert_eq!((answer.team, answer.reason), (1, Reason::Ratio));
    }

    #[test]
    fn a_party_that_arrives_together_stays_together() {
        let mut game = snapshot(
            2,
            &[
                (50.0, 0),
                (50.0, 1),
                (20.0, 9),
                (20.0, 9),
                (20.0, 9),
                (20.0, 9),
            ],
        );
        game.humans[2].party = Some("p".into());
        game.humans[5].party = Some("p".into());
        let first = place(game.clone(), 2);
        assert_eq!(first.reason, Reason::Party);
        game.humans[2].team = Some(first.team);
        let second = place(game, 5);
        assert_eq!((second.team, second.reason), (first.team, Reason::Party));
        assert_eq!(second.ratio, 1.0, "the other two go to the other team");
    }

    #[test]
    fn who_comes_back_keeps_the_team_unless_that_unbalances() {
        let mut game = snapshot(2, &[(50.0, 0), (52.0, 1), (20.0, 9)]);
        game.fill.on = false;
        assert_eq!(place(game.clone(), 2).team, 0);
        game.humans[2].old_team = Some(1);
        let answer = place(game.clone(), 2);
        assert_eq!((answer.team, answer.reason), (1, Reason::OldTeam));
        game.humans[2].weight = 90.0;
        game.humans[1].weight = 80.0;
        let answer = place(game, 2);
        assert_eq!((answer.team, answer.reason), (0, Reason::Ratio));
    }

    #[test]
    fn arrivals_of_one_breath_are_placed_together() {
        // Alone, 10 would go to the lighter team 1; but 30 is waiting, who belongs there.
        let mut game = snapshot(2, &[(50.0, 0), (30.0, 1), (10.0, 9), (30.0, 9)]);
        let first = place(game.clone(), 2);
        assert_eq!((first.team, first.others), (0, 1));
        assert_eq!(first.ratio, 1.0);
        game.humans[2].team = Some(first.team);
        let second = place(game, 3);
        assert_eq!((second.team, second.ratio), (1, 1.0));
    }

    #[test]
    fn a_pin_is_kept_and_more_teams_are_considered() {
        let mut game = snapshot(4, &[(50.0, 0), (50.0, 1), (50.0, 3), (40.0, 9)]);
        game.fill.on = false;
        assert_eq!(place(game.clone(), 3).team, 2);
        game.humans[3].pin = Some(3);
        let answer = place(game, 3);
        assert_eq!((answer.team, answer.reason), (3, Reason::Pin));
    }

    proptest! {
        #[test]
        fn the_side_exists_and_is_within_budget_of_the_best(
            teams in 2u8..=8,
            humans in proptest::collection::vec((0.0..100.0, 0u8..10), 1..20),
            seed: u64,
        ) {
            let mut humans = humans;
            humans[0].1 = 9;
            let answer = placed(snapshot(teams, &humans), 0, seed);
            prop_assert!(answer.team < teams);
            prop_assert!((0.0..=1.0).contains(&answer.ratio));
            let chosen = answer.sides.iter().find(|side| side.team == answer.team).unwrap();
            for side in &answer.sides {
                prop_assert!(side.over >= chosen.over);
                prop_assert!(side.over > chosen.over || side.ratio <= chosen.ratio + EQUAL);
            }
        }
    }
}
