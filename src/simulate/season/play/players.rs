//! Who is on which team of a simulated game, and how strong.

use super::{GameInPlay, SimPlayer};
use crate::{
    lobby::Command,
    session::SessionError,
    simulate::season::{
        odds::Side,
        world::{TrueStrengths, bot},
    },
};

impl GameInPlay<'_, '_> {
    /// Adds and removes bots as the answer to BOTS requires.
    pub(super) fn follow_bots(&mut self) -> Result<(), SessionError> {
        let plan = self.server.session.bots()?;
        for (team, wanted) in (0..).zip(plan.per_team) {
            for _ in 0..self.server.settings.bots {
                let there = self.count(team, true);
                if there > wanted as usize {
                    let of_team = |(p, t): (&SimPlayer, &u8)| match p {
                        SimPlayer::Bot(bot) if *t == team => Some(*bot),
                        _ => None,
                    };
                    let Some(gone) = self.teams.iter().filter_map(of_team).next_back() else {
                        break;
                    };
                    self.apply(Command::BotLeave { name: bot(gone) })?;
                    self.teams.remove(&SimPlayer::Bot(gone));
                } else if there < wanted as usize {
                    let mut all = 0..self.server.settings.bots;
                    let Some(comes) = all.find(|&b| !self.teams.contains_key(&SimPlayer::Bot(b)))
                    else {
                        break;
                    };
                    self.apply(Command::BotJoin {
                        name: bot(comes),
                        team,
                    })?;
                    self.teams.insert(SimPlayer::Bot(comes), team);
                } else {
                    break;
                }
            }
        }
        Ok(())
    }

    /// The number of humans, or bots, on a team.
    pub(super) fn count(&self, team: u8, bots: bool) -> usize {
        let of = |(player, on): &(&SimPlayer, &u8)| {
            **on == team && matches!(player, SimPlayer::Bot(_)) == bots
        };
        self.teams.iter().filter(of).count()
    }

    /// The logarithm of a player's true strength, with or without their form in this game.
    fn ln_strength(&self, player: SimPlayer, in_form: bool) -> f64 {
        let of = |people: &TrueStrengths| match player {
            SimPlayer::Human(index) => people.humans[index],
            SimPlayer::Bot(index) => people.bots[index],
        };
        let form = if in_form { of(&self.plan.form) } else { 0.0 };
        of(self.server.people) + form
    }

    /// Whether the player farms points.
    pub(super) fn farms(&self, player: SimPlayer) -> bool {
        matches!(player, SimPlayer::Human(who) if who < self.server.settings.farmers)
    }

    /// The chance that team 0 scores the next goal.
    pub(super) fn next_goal(&self, in_form: bool) -> f64 {
        let settings = self.server.settings;
        let mut sides = [Side::default(); 2];
        for (&player, &team) in &self.teams {
            let lost = if self.farms(player) {
                settings.farm_cost
            } else {
                0.0
            };
            sides[usize::from(team)].add(self.ln_strength(player, in_form), 1.0 - lost);
        }
        settings.kind.next_goal(settings.sharpness, sides)
    }

    /// Draws a player of a team, with probability proportional to strength, or uniformly.
    pub(super) fn pick(&self, team: u8, chance: f64, by_strength: bool) -> Option<SimPlayer> {
        let of_team = self.teams.iter().filter(|(_, on)| **on == team);
        let share = |player| match by_strength {
            true => libm::exp(self.ln_strength(player, true)),
            false => 1.0,
        };
        let shares: Vec<(SimPlayer, f64)> = of_team.map(|(&p, _)| (p, share(p))).collect();
        let mut left = chance * shares.iter().map(|(_, share)| share).sum::<f64>();
        let last = shares.last()?.0;
        for (player, share) in shares {
            left -= share;
            if left < 0.0 {
                return Some(player);
            }
        }
        Some(last)
    }
}
