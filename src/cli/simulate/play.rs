//! One simulated game, told to a session line by line as a game server would.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    policy::Policy,
    world::{Event, People, Plan, Settings},
};
use crate::{
    domain::{Ident, Verdict},
    session::{HandClock, Session, SessionError},
};

/// How often REBALANCE is asked, in milliseconds.
const MINUTE: u64 = 60_000;

/// What one game came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outcome {
    pub(super) scores: [f64; 2],
    /// The chance of the stronger team to score the next goal, on average over the game: ½ is even.
    pub(super) favourite: f64,
    /// The chance that team 0 wins, if one does, as the true strengths at the start have it.
    pub(super) chance: f64,
    /// Humans moved while they played.
    pub(super) moves: usize,
    /// Milliseconds that humans played, in all.
    pub(super) played: u64,
}

/// Somebody who plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Player {
    Human(usize),
    Bot(usize),
}

/// A game server in the middle of a game.
pub(super) struct Server<'a> {
    pub(super) session: &'a mut Session,
    pub(super) clock: &'a Arc<HandClock>,
    pub(super) policy: Policy,
    pub(super) settings: &'a Settings,
    pub(super) people: &'a People,
}

struct Game<'a, 'b> {
    server: &'a mut Server<'b>,
    plan: &'a Plan,
    teams: BTreeMap<Player, u8>,
    points: BTreeMap<Player, f64>,
    now: u64,
    outcome: Outcome,
    /// The integral of the favourite's chance over play time.
    favoured: f64,
}

pub(super) fn human(index: usize) -> Ident {
    Ident::from_text(&format!("player {index}"))
}

pub(super) fn bot(index: usize) -> Ident {
    Ident::from_text(&format!("Bot {index}"))
}

fn ident(player: Player) -> Ident {
    match player {
        Player::Human(index) => human(index),
        Player::Bot(index) => bot(index),
    }
}

impl Server<'_> {
    /// Plays a game from GAME to END.
    pub(super) async fn play(&mut self, plan: &Plan) -> Result<Outcome, SessionError> {
        self.session.game(&Ident::from_text("ctf"));
        self.session.map(&Ident::from_text("field"), None)?;
        self.session.min_players(self.settings.min_players);
        let ids: Vec<Ident> = plan.there.iter().map(|&who| human(who)).collect();
        for id in &ids {
            self.session.join(id, Default::default())?;
        }
        let teams = self.policy.choose(self.session, &ids, plan.seed).await?;
        let players = plan.there.iter().map(|&who| Player::Human(who));
        let mut game = Game {
            teams: players.zip(teams).collect(),
            points: BTreeMap::new(),
            plan,
            now: 0,
            outcome: Outcome {
                scores: [0.0; 2],
                favourite: 0.5,
                chance: 0.5,
                moves: 0,
                played: 0,
            },
            favoured: 0.0,
            server: self,
        };
        game.follow_bots()?;
        game.outcome.chance = chance(game.next_goal(false), game.goals_to_come());
        game.server.session.start()?;
        game.run()?;
        let outcome = game.outcome;
        self.session.end(Verdict::Scores).await?;
        // Everybody has a minute to vote for the next map.
        self.clock.pass(MINUTE);
        Ok(outcome)
    }
}

impl Game<'_, '_> {
    fn run(&mut self) -> Result<(), SessionError> {
        let end = (self.server.settings.minutes * MINUTE as f64) as u64;
        let mut minute = MINUTE;
        let plan = self.plan;
        for &(at, event) in &plan.events {
            while minute <= at {
                self.pass_to(minute);
                self.each_minute(end)?;
                minute += MINUTE;
            }
            self.pass_to(at);
            match event {
                Event::Arrives(who) => self.arrives(who)?,
                Event::Leaves(who) => self.leaves(who)?,
                Event::Goal(chances) => self.goal(chances)?,
                Event::Kill(chances) => self.kill(chances)?,
            }
        }
        self.pass_to(end);
        self.outcome.favourite = self.favoured / end.max(1) as f64;
        Ok(())
    }

    fn pass_to(&mut self, at: u64) {
        let millis = at.saturating_sub(self.now);
        let chance = self.next_goal(true);
        self.favoured += chance.max(1.0 - chance) * millis as f64;
        let humans = self.teams.keys().filter(|p| matches!(p, Player::Human(_)));
        self.outcome.played += millis * humans.count() as u64;
        self.now = at;
        self.server.clock.pass(millis);
    }

    fn each_minute(&mut self, end: u64) -> Result<(), SessionError> {
        let left = u32::try_from((end - self.now) / 1_000).unwrap_or(0);
        self.server.session.clock(left)?;
        if self.server.policy != Policy::Rebalance {
            return Ok(());
        }
        for step in self.server.session.rebalance(Some(self.plan.seed))?.steps {
            self.server.session.move_to(&step.id, step.to)?;
            let moved = self.teams.keys().copied().find(|&p| ident(p) == step.id);
            if let Some(player) = moved {
                self.teams.insert(player, step.to);
                self.outcome.moves += 1;
            }
        }
        self.follow_bots()
    }

    fn arrives(&mut self, who: usize) -> Result<(), SessionError> {
        let sizes = [0, 1].map(|team| self.count(team, false));
        let seed = self.plan.seed.wrapping_add(self.now);
        let server = &mut self.server;
        let team = server
            .policy
            .place(server.session, &human(who), sizes, seed)?;
        self.teams.insert(Player::Human(who), team);
        self.follow_bots()
    }

    fn leaves(&mut self, who: usize) -> Result<(), SessionError> {
        self.server.session.leave(&human(who))?;
        self.teams.remove(&Player::Human(who));
        self.follow_bots()
    }

    fn goal(&mut self, [side, who]: [f64; 2]) -> Result<(), SessionError> {
        let team = u8::from(side >= self.next_goal(true));
        let Some(scorer) = self.pick(team, who, true) else {
            return Ok(());
        };
        let id = ident(scorer);
        self.outcome.scores[usize::from(team)] += 1.0;
        self.server.session.score(team, 1.0, Some(&id))?;
        self.earns(scorer, 5.0)
    }

    fn kill(&mut self, [side, who, whom]: [f64; 3]) -> Result<(), SessionError> {
        let team = u8::from(side >= self.next_goal(true));
        let (killer, victim) = (self.pick(team, who, true), self.pick(1 - team, whom, false));
        let (Some(killer), Some(victim)) = (killer, victim) else {
            return Ok(());
        };
        self.earns(killer, 1.0)?;
        let session = &mut self.server.session;
        session.kill(&ident(killer), &ident(victim))?;
        if let Some(step) = session.died(&ident(victim))? {
            self.teams.insert(victim, step.to);
            self.outcome.moves += 1;
            self.follow_bots()?;
        }
        Ok(())
    }

    fn earns(&mut self, player: Player, points: f64) -> Result<(), SessionError> {
        let sum = self.points.entry(player).or_default();
        *sum += points;
        let sum = *sum;
        self.server.session.points(&ident(player), sum)
    }

    /// Adds and removes bots as BOTS says.
    fn follow_bots(&mut self) -> Result<(), SessionError> {
        let plan = self.server.session.bots()?;
        for (team, wanted) in (0..).zip(plan.per_team) {
            for _ in 0..self.server.settings.bots {
                let there = self.count(team, true);
                if there > wanted as usize {
                    let of_team = |(p, t): (&Player, &u8)| match p {
                        Player::Bot(bot) if *t == team => Some(*bot),
                        _ => None,
                    };
                    let Some(gone) = self.teams.iter().filter_map(of_team).next_back() else {
                        break;
                    };
                    self.server.session.bot_leave(&bot(gone))?;
                    self.teams.remove(&Player::Bot(gone));
                } else if there < wanted as usize {
                    let mut all = 0..self.server.settings.bots;
                    let Some(comes) = all.find(|&b| !self.teams.contains_key(&Player::Bot(b)))
                    else {
                        break;
                    };
                    self.server.session.bot_join(&bot(comes), team)?;
                    self.teams.insert(Player::Bot(comes), team);
                } else {
                    break;
                }
            }
        }
        Ok(())
    }

    fn count(&self, team: u8, bots: bool) -> usize {
        let of = |(player, on): &(&Player, &u8)| {
            **on == team && matches!(player, Player::Bot(_)) == bots
        };
        self.teams.iter().filter(of).count()
    }

    /// How strong somebody truly is, in this game's form or not.
    fn strength(&self, player: Player, in_form: bool) -> f64 {
        let of = |people: &People| match player {
            Player::Human(index) => people.humans[index],
            Player::Bot(index) => people.bots[index],
        };
        let form = if in_form { of(&self.plan.form) } else { 0.0 };
        libm::exp(of(self.server.people) + form)
    }

    /// The chance that the next goal is team 0's.
    fn next_goal(&self, in_form: bool) -> f64 {
        let mut sums = [0.0; 2];
        for (&player, &team) in &self.teams {
            sums[usize::from(team)] += self.strength(player, in_form);
        }
        let powers = sums.map(|sum: f64| libm::pow(sum, self.server.settings.sharpness));
        let both = powers[0] + powers[1];
        if both > 0.0 { powers[0] / both } else { 0.5 }
    }

    fn goals_to_come(&self) -> f64 {
        self.server.settings.goals * self.server.settings.minutes
    }

    /// Somebody of a team, the stronger the likelier, or anybody.
    fn pick(&self, team: u8, chance: f64, by_strength: bool) -> Option<Player> {
        let of_team = self.teams.iter().filter(|(_, on)| **on == team);
        let share = |player| match by_strength {
            true => self.strength(player, true),
            false => 1.0,
        };
        let shares: Vec<(Player, f64)> = of_team.map(|(&p, _)| (p, share(p))).collect();
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

/// The chance that team 0 wins, given that one does: goals of both are Poisson, and their difference is
/// Skellam (1946).
fn chance(share: f64, goals: f64) -> f64 {
    let series = |mean: f64| -> Vec<f64> {
        let mut term = libm::exp(-mean);
        let count = (mean + 12.0 * mean.sqrt() + 12.0) as usize;
        let mut terms = Vec::with_capacity(count);
        for k in 0..count {
            terms.push(term);
            term *= mean / (k + 1) as f64;
        }
        terms
    };
    let (ours, theirs) = (series(share * goals), series((1.0 - share) * goals));
    let ahead = |a: &[f64], b: &[f64]| -> f64 {
        let mut below = 0.0;
        let mut sum = 0.0;
        for (k, p) in a.iter().enumerate() {
            sum += p * below;
            below += b.get(k).copied().unwrap_or(0.0);
        }
        sum
    };
    let (won, lost) = (ahead(&ours, &theirs), ahead(&theirs, &ours));
    if won + lost > 0.0 {
        won / (won + lost)
    } else {
        0.5
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_of_a_difference_of_goals() {
        assert!((chance(0.5, 10.0) - 0.5).abs() < 1e-12);
        assert!((chance(0.7, 10.0) + chance(0.3, 10.0) - 1.0).abs() < 1e-12);
        // One goal in all, or none, nearly always: the next goal decides.
        assert!((chance(0.7, 1e-6) - 0.7).abs() < 1e-6);
        assert!(chance(0.6, 100.0) > 0.97);
    }
}
