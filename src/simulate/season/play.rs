//! One simulated game, from GAME to END: who is on which team and how strong, and the server that sends its session
//! commands.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{
    policy::{KnownLobby, Policy, join},
    world::{
        GamePlan, SimEvent, TrueStrengths, WorldSettings, WorldSide, bot, chance_to_win, human,
    },
};
use crate::{
    lobby::Command,
    model::{Ident, LeaveReason, Verdict},
    session::{Clock, HandClock, Session, SessionError},
};

/// One minute in milliseconds: the interval of CLOCK and REBALANCE.
const MINUTE: u64 = 60_000;

/// A simulated player, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum SimPlayer {
    Human(usize),
    Bot(usize),
}

/// A game, and what has happened in it so far.
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
        self.send(&game)?;
        self.send(&Command::Map {
            name: "field".to_owned(),
            players: None,
        })?;
        self.send(&Command::MinPlayers {
            players: self.settings.min_players,
        })?;
        let ids: Vec<Ident> = plan.there.iter().map(|&who| human(who)).collect();
        for id in &ids {
            self.send(&join(id, None))?;
        }
        let teams = self.choose(&ids, plan.seed).await?;
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
        game.outcome.chance =
            chance_to_win(game.next_goal(false), game.server.settings.goals_per_game());
        game.apply(Command::Start)?;
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
        let team = self.server.place(&human(who), sizes, seed)?;
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

    fn apply(&mut self, command: Command) -> Result<(), SessionError> {
        self.server.send(&command)
    }
}

impl GameInPlay<'_, '_> {
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

    /// The number of humans, or bots, on a team.
    fn count(&self, team: u8, bots: bool) -> usize {
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
    fn farms(&self, player: SimPlayer) -> bool {
        matches!(player, SimPlayer::Human(who) if who < self.server.settings.farmers)
    }

    /// The chance that team 0 scores the next goal.
    fn next_goal(&self, in_form: bool) -> f64 {
        let settings = self.server.settings;
        let mut sides = [WorldSide::default(); 2];
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
    fn pick(&self, team: u8, chance: f64, by_strength: bool) -> Option<SimPlayer> {
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

/// A simulated game server during a game.
pub(super) struct SimServer<'a> {
    pub(super) session: &'a mut Session,
    pub(super) clock: &'a Arc<HandClock>,
    pub(super) policy: Policy,
    /// Chooses the teams if all strengths are known.
    pub(super) known: Option<&'a mut KnownLobby>,
    pub(super) settings: &'a WorldSettings,
    pub(super) people: &'a TrueStrengths,
    /// The reason that LEAVE states for humans who leave because their team is behind.
    pub(super) quit_reason: LeaveReason,
}

impl SimServer<'_> {
    pub(super) fn send(&mut self, command: &Command) -> Result<(), SessionError> {
        self.session.apply(command)?;
        if let Some(known) = &mut self.known {
            known.send(command, self.clock.millis())?;
        }
        Ok(())
    }

    /// Chooses teams for the humans of a new game, who have joined.
    pub(super) async fn choose(
        &mut self,
        ids: &[Ident],
        seed: u64,
    ) -> Result<Vec<u8>, SessionError> {
        let Some(known) = &mut self.known else {
            return self.policy.choose(self.session, ids, seed).await;
        };
        let teams = known.balance(seed)?;
        for (id, &team) in ids.iter().zip(&teams) {
            let id = id.clone();
            self.session.apply(&Command::Move { id, team })?;
        }
        Ok(teams)
    }

    /// Chooses the team of a late arrival; `sizes` are the numbers of humans on the teams.
    pub(super) fn place(
        &mut self,
        id: &Ident,
        sizes: [usize; 2],
        seed: u64,
    ) -> Result<u8, SessionError> {
        let Some(known) = &mut self.known else {
            return self.policy.place(self.session, id, sizes, seed);
        };
        known.send(&join(id, None), self.clock.millis())?;
        let team = known.place(id, seed)?;
        self.session.apply(&join(id, Some(team)))?;
        Ok(team)
    }
}
