//! One simulated game, which sends its session the commands of a game server.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    policy::Policy,
    world::{GamePlan, SimEvent, TrueStrengths, WorldSettings},
};
use crate::{
    domain::{Ident, LeaveReason, Verdict},
    lobby::{Command, Update},
    session::{HandClock, Session, SessionError},
};

/// One minute in milliseconds: the interval of CLOCK and REBALANCE.
const MINUTE: u64 = 60_000;

/// The result of one game.
#[derive(Clone, Copy, Debug)]
pub(super) struct GameOutcome {
    pub(super) scores: [f64; 2],
    /// The stronger team's chance to score the next goal, as the mean over the game; ½ is even.
    pub(super) favourite: f64,
    /// The chance that team 0 wins, given that the game is not a tie, by the true strengths at the
    /// start.
    pub(super) chance: f64,
    /// Number of humans moved during play.
    pub(super) moves: usize,
    /// The time that humans played, in milliseconds, summed over all.
    pub(super) played: u64,
}

/// A simulated player, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SimPlayer {
    Human(usize),
    Bot(usize),
}

/// A simulated game server during a game.
pub(super) struct SimServer<'a> {
    pub(super) session: &'a mut Session,
    pub(super) clock: &'a Arc<HandClock>,
    pub(super) policy: Policy,
    pub(super) settings: &'a WorldSettings,
    pub(super) people: &'a TrueStrengths,
    /// The reason that LEAVE states for humans who leave because their team is behind.
    pub(super) quit_reason: LeaveReason,
}

struct GameInPlay<'a, 'b> {
    server: &'a mut SimServer<'b>,
    plan: &'a GamePlan,
    teams: BTreeMap<SimPlayer, u8>,
    /// Humans who left because their team was behind; they do not come back.
    gone: BTreeSet<usize>,
    points: BTreeMap<SimPlayer, f64>,
    now: u64,
    outcome: GameOutcome,
    /// The integral, over the time of play so far, of the stronger team's chance to score the next
    /// goal.
    favoured: f64,
}

pub(super) fn human(index: usize) -> Ident {
    Ident::from_text(&format!("player {index}"))
}

pub(super) fn bot(index: usize) -> Ident {
    Ident::from_text(&format!("Bot {index}"))
}

fn ident(player: SimPlayer) -> Ident {
    match player {
        SimPlayer::Human(index) => human(index),
        SimPlayer::Bot(index) => bot(index),
    }
}

impl SimServer<'_> {
    /// Plays one game from GAME to END.
    pub(super) async fn play(&mut self, plan: &GamePlan) -> Result<GameOutcome, SessionError> {
        let game = self.session.new_game(&Ident::from_text("ctf"));
        self.session.apply(&game)?;
        self.session.apply(&Command::Map {
            name: "field".to_owned(),
            players: None,
        })?;
        self.session.apply(&Command::MinPlayers {
            players: self.settings.min_players,
        })?;
        let ids: Vec<Ident> = plan.there.iter().map(|&who| human(who)).collect();
        for id in &ids {
            let (id, update) = (id.clone(), Update::default());
            self.session.apply(&Command::Join { id, update })?;
        }
        let teams = self.policy.choose(self.session, &ids, plan.seed).await?;
        let players = plan.there.iter().map(|&who| SimPlayer::Human(who));
        let mut game = GameInPlay {
            teams: players.zip(teams).collect(),
            gone: BTreeSet::new(),
            points: BTreeMap::new(),
            plan,
            now: 0,
            outcome: GameOutcome {
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
        game.server.session.apply(&Command::Start)?;
        game.run()?;
        let outcome = game.outcome;
        self.session.end(Verdict::Scores).await?;
        // One minute passes until the next game.
        self.clock.pass(MINUTE);
        Ok(outcome)
    }
}

impl GameInPlay<'_, '_> {
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
                SimEvent::Arrives(who) => self.arrives(who)?,
                SimEvent::Leaves(who) => self.leaves(who)?,
                SimEvent::Goal(chances) => self.goal(chances)?,
                SimEvent::Kill(chances) => self.kill(chances)?,
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
        let humans = self
            .teams
            .keys()
            .filter(|p| matches!(p, SimPlayer::Human(_)));
        self.outcome.played += millis * humans.count() as u64;
        self.now = at;
        self.server.clock.pass(millis);
    }

    fn each_minute(&mut self, end: u64) -> Result<(), SessionError> {
        // CLOCK counts whole seconds.
        let left = (end - self.now) / 1_000 * 1_000;
        self.apply(Command::Clock { left })?;
        if self.server.policy != Policy::Rebalance {
            return Ok(());
        }
        for step in self.server.session.rebalance(Some(self.plan.seed))?.steps {
            let (id, team) = (step.id.clone(), step.to);
            self.apply(Command::Move { id, team })?;
            let moved = self.teams.keys().copied().find(|&p| ident(p) == step.id);
            if let Some(player) = moved {
                self.teams.insert(player, step.to);
                self.outcome.moves += 1;
            }
        }
        self.follow_bots()
    }

    fn arrives(&mut self, who: usize) -> Result<(), SessionError> {
        if self.gone.contains(&who) {
            return Ok(());
        }
        let sizes = [0, 1].map(|team| self.count(team, false));
        let seed = self.plan.seed.wrapping_add(self.now);
        let server = &mut self.server;
        let team = server
            .policy
            .place(server.session, &human(who), sizes, seed)?;
        self.teams.insert(SimPlayer::Human(who), team);
        self.follow_bots()
    }

    fn leaves(&mut self, who: usize) -> Result<(), SessionError> {
        if self.teams.remove(&SimPlayer::Human(who)).is_some() {
            self.apply(Command::Leave {
                id: human(who),
                reason: LeaveReason::Left,
            })?;
        }
        self.follow_bots()
    }

    /// Makes the quitters of a team that is too far behind leave.
    fn quit(&mut self) -> Result<(), SessionError> {
        let [zero, one] = self.outcome.scores;
        let enough = self.server.settings.quit_behind;
        let behind = match zero - one {
            lead if lead >= enough => 1,
            lead if lead <= -enough => 0,
            _ => return Ok(()),
        };
        for who in 0..self.server.settings.quitters {
            let player = SimPlayer::Human(who);
            if self.teams.get(&player) == Some(&behind) {
                self.teams.remove(&player);
                self.gone.insert(who);
                let reason = self.server.quit_reason;
                self.apply(Command::Leave {
                    id: human(who),
                    reason,
                })?;
            }
        }
        self.follow_bots()
    }

    fn goal(&mut self, [side, who]: [f64; 2]) -> Result<(), SessionError> {
        let team = u8::from(side >= self.next_goal(true));
        let Some(scorer) = self.pick(team, who, true) else {
            return Ok(());
        };
        self.outcome.scores[usize::from(team)] += 1.0;
        self.apply(Command::Score {
            team,
            points: 1.0,
            by: Some(ident(scorer)),
        })?;
        self.earns(scorer, 5.0)?;
        self.quit()
    }

    fn kill(&mut self, [side, who, whom]: [f64; 3]) -> Result<(), SessionError> {
        let team = u8::from(side >= self.next_goal(true));
        let (killer, victim) = (self.pick(team, who, true), self.pick(1 - team, whom, false));
        let (Some(killer), Some(victim)) = (killer, victim) else {
            return Ok(());
        };
        self.earns(killer, 1.0)?;
        self.apply(Command::Kill {
            killer: ident(killer),
            victim: ident(victim),
        })?;
        if let Some(step) = self.server.session.died(&ident(victim))? {
            self.teams.insert(victim, step.to);
            self.outcome.moves += 1;
            self.follow_bots()?;
        }
        Ok(())
    }

    fn earns(&mut self, player: SimPlayer, points: f64) -> Result<(), SessionError> {
        let settings = self.server.settings;
        let factor = if self.farms(player) {
            settings.farm_factor
        } else {
            1.0
        };
        let sum = self.points.entry(player).or_default();
        *sum += factor * points;
        let sum = *sum;
        self.apply(Command::Points {
            id: ident(player),
            points: sum,
        })
    }

    /// Adds and removes bots as the answer to BOTS requires.
    fn follow_bots(&mut self) -> Result<(), SessionError> {
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

    fn apply(&mut self, command: Command) -> Result<(), SessionError> {
        self.server.session.apply(&command)
    }

    fn count(&self, team: u8, bots: bool) -> usize {
        let of = |(player, on): &(&SimPlayer, &u8)| {
            **on == team && matches!(player, SimPlayer::Bot(_)) == bots
        };
        self.teams.iter().filter(of).count()
    }

    /// A player's true strength, with or without their form in this game.
    fn strength(&self, player: SimPlayer, in_form: bool) -> f64 {
        let of = |people: &TrueStrengths| match player {
            SimPlayer::Human(index) => people.humans[index],
            SimPlayer::Bot(index) => people.bots[index],
        };
        let form = if in_form { of(&self.plan.form) } else { 0.0 };
        libm::exp(of(self.server.people) + form)
    }

    /// Whether the player farms points.
    fn farms(&self, player: SimPlayer) -> bool {
        matches!(player, SimPlayer::Human(who) if who < self.server.settings.farmers)
    }

    /// The part of a player's true strength that helps the team.
    fn help(&self, player: SimPlayer, in_form: bool) -> f64 {
        let settings = self.server.settings;
        let lost = if self.farms(player) {
            settings.farm_cost
        } else {
            0.0
        };
        self.strength(player, in_form) * (1.0 - lost)
    }

    /// The chance that team 0 scores the next goal.
    fn next_goal(&self, in_form: bool) -> f64 {
        let mut sums = [0.0; 2];
        for (&player, &team) in &self.teams {
            sums[usize::from(team)] += self.help(player, in_form);
        }
        let powers = sums.map(|sum: f64| libm::pow(sum, self.server.settings.sharpness));
        let both = powers[0] + powers[1];
        if both > 0.0 { powers[0] / both } else { 0.5 }
    }

    fn goals_to_come(&self) -> f64 {
        self.server.settings.goals * self.server.settings.minutes
    }

    /// Draws a player of a team, with probability proportional to strength, or uniformly.
    fn pick(&self, team: u8, chance: f64, by_strength: bool) -> Option<SimPlayer> {
        let of_team = self.teams.iter().filter(|(_, on)| **on == team);
        let share = |player| match by_strength {
            true => self.strength(player, true),
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

/// The chance that team 0 wins, given that they do not tie: the goals of both teams have Poisson
/// distributions, and their difference a Skellam distribution (1946).
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
        // There is almost never more than one goal, so the first one decides.
        assert!((chance(0.7, 1e-6) - 0.7).abs() < 1e-6);
        assert!(chance(0.6, 100.0) > 0.97);
    }
}
