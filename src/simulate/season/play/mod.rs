//! One simulated game, from GAME to END.

mod players;

use std::collections::{BTreeMap, BTreeSet};

use super::{
    odds::chance_to_win,
    policy::{Policy, join},
    server::{GameOutcome, SimServer},
    world::{GamePlan, SimEvent, bot, human},
};
use crate::{
    lobby::Command,
    model::{Ident, LeaveReason, Verdict},
    session::SessionError,
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
        self.tell(&game)?;
        self.tell(&Command::Map {
            name: "field".to_owned(),
            players: None,
        })?;
        self.tell(&Command::MinPlayers {
            players: self.settings.min_players,
        })?;
        let ids: Vec<Ident> = plan.there.iter().map(|&who| human(who)).collect();
        for id in &ids {
            self.tell(&join(id, None))?;
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
        self.server.tell(&command)
    }
}
