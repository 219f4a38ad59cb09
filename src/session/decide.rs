//! The decisions of a session. Choosing teams runs off the async threads, on as many cores as there
//! are, and in time; all others take far less than a millisecond.

use std::{fmt::Display, time::Instant};

use serde::Serialize;

use super::{
    Session, SessionError, Sessions, draw_seed,
    replay::{self, Chosen},
};
use crate::{
    domain::{Ident, Kind, Move, PlayerKey, Ruleset},
    learning::View,
    lobby::{Assessment, BotPlan, Conduct, Decision, Fate, Help},
    partition::{self, Objective, Problem, ProblemSpec, Solution},
    store::DecisionRow,
};

/// The teams chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Balanced {
    /// Smaller team over larger, 0 to 1.
    pub ratio: f64,
    /// The predicted chance that team 0 wins, where the rating system tells one.
    pub chance: Option<f64>,
    /// The seed of the pick.
    pub seed: u64,
    /// Each human's team, in JOIN order.
    pub humans: Vec<(Ident, u8)>,
    /// Bots per team.
    pub bots: Vec<u32>,
}

/// Moves that mend a game.
#[derive(Clone, Debug, PartialEq)]
pub struct Rebalanced {
    /// The ratio as the game stands.
    pub before: f64,
    /// The ratio after these moves.
    pub after: f64,
    /// Who goes where; those who are on no team yet first.
    pub steps: Vec<Move>,
}

/// Why a decision was taken, a line each: names as they were sent, but nothing that ends a line.
pub(super) fn reasons(explanation: &impl Display) -> Vec<String> {
    let clean = |line: &str| line.replace(|c: char| c.is_control(), "?");
    explanation.to_string().lines().map(clean).collect()
}

fn player(kind: Kind, id: &str) -> PlayerKey {
    PlayerKey {
        kind,
        id: id.to_owned(),
    }
}

impl Session {
    /// How many players the game should have, and how many of them bots.
    ///
    /// # Errors
    /// There is no game.
    pub fn bots(&mut self) -> Result<BotPlan, SessionError> {
        let plan = self.lobby().bots()?;
        let fill = self.lobby().fill()?;
        self.state.reasons = reasons(&fill);
        Ok(plan)
    }

    /// Chooses teams for all humans and puts them there. The seed is drawn unless given.
    ///
    /// # Errors
    /// No game, a game without teams, or no core or time free for it.
    pub async fn balance(
        &mut self,
        top: Option<usize>,
        seed: Option<u64>,
    ) -> Result<Balanced, SessionError> {
        let ruleset = self.ruleset()?.clone();
        let (mean_bot, _) = self.mean_bot()?;
        let seed = seed.unwrap_or_else(draw_seed);
        let view = self.sessions.standings().view(&ruleset);
        let settings = &self.sessions.settings.balance;
        let weight_of = |id: &str| view.human(id).unwrap_or(settings.default_weight);
        let lobby = &self.state.lobby;
        let mut spec = lobby.problem(weight_of, mean_bot, settings.limits)?;
        if settings.partition.objective == Objective::Gap {
            self.handicap(&ruleset, &mut spec)?;
        }
        let mut settings = settings.partition.clone();
        settings.top = top.unwrap_or(settings.top);
        let problem = Problem::new(spec)?;
        let (solution, chosen) = self.sessions.solve(problem, settings, seed).await?;
        self.lobby().assign(&solution.team_of)?;
        self.watch()?;
        self.state.reasons = reasons(&solution.explanation);
        let bots = self.lobby().bots()?.per_team;
        let chance = self.chance(&ruleset, &view, &solution.team_of, &bots)?;
        self.note(replay::BALANCE, seed, chance, &chosen)?;
        let humans = self.state.lobby.game()?.roster.humans();
        let placed = humans.iter().zip(&solution.team_of);
        Ok(Balanced {
            ratio: solution.ratio,
            chance,
            seed,
            humans: placed
                .map(|(human, &team)| (human.id.clone(), team))
                .collect(),
            bots,
        })
    }

    /// Adds what sides and sizes are worth beside weights, in a game of these humans and the bots to
    /// come: then the teams whose sums differ the least are those whose chances do.
    fn handicap(&self, ruleset: &Ruleset, spec: &mut ProblemSpec) -> Result<(), SessionError> {
        let lobby = &self.state.lobby;
        let game = lobby.game()?;
        let bots = lobby.bots()?.players as usize;
        let humans = spec.humans.iter().map(|h| player(Kind::Human, &h.key));
        let players = bots.max(humans.len());
        let mut teams = vec![Vec::new(); spec.teams];
        let strangers = std::iter::repeat_with(|| player(Kind::Bot, ""));
        for (seat, key) in humans.chain(strangers).take(players).enumerate() {
            teams[seat % spec.teams].push(key); // whoever is on which
        }
        let map = game.map.as_deref().unwrap_or("");
        let field = self.sessions.standings().field(ruleset, map, &teams);
        spec.handicap = field.side;
        if bots == 0 {
            spec.bots.weight = field.empty; // places on paper, that nobody fills
        }
        Ok(())
    }

    /// The chance that team 0 wins with these teams, by the rating system. Which bots will come isn't
    /// known: the most usual of those that are stand for them, in turns.
    fn chance(
        &self,
        ruleset: &Ruleset,
        view: &View,
        team_of: &[u8],
        bots: &[u32],
    ) -> Result<Option<f64>, SessionError> {
        let game = self.state.lobby.game()?;
        let mut teams = vec![Vec::new(); bots.len()];
        for (human, &team) in game.roster.humans().iter().zip(team_of) {
            teams[usize::from(team)].push(player(Kind::Human, human.id.text()));
        }
        let mut usual = view.typical_bots().into_iter();
        for place in 0..bots.iter().copied().max().unwrap_or(0) {
            let wanting = teams
                .iter_mut()
                .zip(bots)
                .filter(|(_, bots)| **bots > place);
            for (team, _) in wanting {
                team.push(player(Kind::Bot, usual.next().unwrap_or("")));
            }
        }
        let map = game.map.as_deref().unwrap_or("");
        Ok(self.sessions.standings().chance(ruleset, map, &teams))
    }

    /// The side for a late arrival, who is now on it, and the ratio that results. The seed, which
    /// decides between equals, is drawn unless given.
    ///
    /// # Errors
    /// No game, a game without teams, nobody of that id.
    pub fn place(&mut self, id: &Ident, seed: Option<u64>) -> Result<(u8, f64), SessionError> {
        let seen = self.seen()?;
        let before = self.lobby().conduct(id);
        let decided = self
            .lobby()
            .place(id, &seen, seed.unwrap_or_else(draw_seed))?;
        self.notice(id, before);
        let (team, ratio) = (decided.answer.team, decided.answer.ratio);
        self.decided(decided)?;
        Ok((team, ratio))
    }

    /// The team that needs help now, and by what factor; `None` when that is due to nobody.
    ///
    /// # Errors
    /// No game, or a game without teams.
    pub fn advantage(&mut self) -> Result<Option<Help>, SessionError> {
        let seen = self.seen()?;
        let decided = self.lobby().advantage(&seen)?;
        let help = decided.answer.help;
        self.decided(decided)?;
        Ok(help)
    }

    /// The fewest moves that mend the game. Advice: the roster changes only with MOVE.
    ///
    /// # Errors
    /// No game, or a game without teams.
    pub fn rebalance(&mut self, seed: Option<u64>) -> Result<Rebalanced, SessionError> {
        let seen = self.seen()?;
        let seed = seed.unwrap_or_else(draw_seed);
        let humans = self.lobby().game()?.roster.humans();
        let ids: Vec<Ident> = humans.iter().map(|human| human.id.clone()).collect();
        let before: Vec<Conduct> = ids.iter().map(|id| self.lobby().conduct(id)).collect();
        let decided = self.lobby().rebalance(&seen, seed)?;
        for (id, before) in ids.iter().zip(before) {
            self.notice(id, before);
        }
        let steps = decided.answer.steps();
        let steps = steps.filter_map(|step| self.step(step)).collect();
        let (before, after) = (decided.answer.before, decided.answer.after);
        self.decided(decided)?;
        Ok(Rebalanced {
            before,
            after,
            steps,
        })
    }

    /// Somebody died; a human whom the rules move is on the other team now.
    ///
    /// # Errors
    /// No game, or nobody of that id has played.
    pub fn died(&mut self, id: &Ident) -> Result<Option<Move>, SessionError> {
        let seen = self.seen()?;
        let Some(decided) = self.lobby().died(id, &seen)? else {
            return Ok(None);
        };
        let step = match &decided.answer.fate {
            Fate::Moves(step) => self.step(step),
            Fate::Stays(_) => None,
        };
        // With balanced teams nobody asks why, and everybody dies all the time.
        if matches!(decided.answer.verdict, Assessment::Unbalanced { .. }) {
            self.decided(decided)?;
        } else {
            self.state.reasons = reasons(&decided);
        }
        Ok(step)
    }

    /// A move, with the name in the bytes it came in.
    fn step(&self, step: &Move) -> Option<Move> {
        let roster = &self.state.lobby.game().ok()?.roster;
        Some(Move {
            id: roster.find(&step.id)?.id.clone(),
            from: step.from,
            to: step.to,
        })
    }

    /// A decision was taken: it is explained, and noted.
    fn decided(&mut self, decision: impl Into<Decision>) -> Result<(), SessionError> {
        let decision = decision.into();
        self.state.reasons = reasons(&decision);
        self.note(decision.kind(), decision.seed(), None, &decision)
    }

    /// Has a decision written, as JSON.
    fn note(
        &mut self,
        kind: &str,
        seed: u64,
        chance: Option<f64>,
        decision: &impl Serialize,
    ) -> Result<(), SessionError> {
        if self.sessions.settings.keep_decisions == 0 {
            return Ok(());
        }
        let ruleset = self.ruleset()?.to_string();
        match serde_json::to_string(decision) {
            Ok(decision) => self.sessions.backlog.decided(DecisionRow {
                made_at: self.sessions.clock.now(),
                server: self.server.clone().unwrap_or_default(),
                ruleset,
                game: self.state.game,
                kind: kind.to_owned(),
                seed,
                chance,
                decision,
            }),
            Err(error) => tracing::error!(%error, kind, "a decision cannot be written"),
        }
        Ok(())
    }
}

impl Sessions {
    /// Solves a problem on a thread of its own, when a core is free, and gives up at the deadline.
    async fn solve(
        &self,
        problem: Problem,
        settings: partition::Settings,
        seed: u64,
    ) -> Result<(Solution, Chosen), SessionError> {
        let deadline = Instant::now() + self.settings.balance.deadline;
        let waiting = self.cores.clone().acquire_owned();
        let core = tokio::time::timeout_at(deadline.into(), waiting).await;
        let Ok(Ok(core)) = core else {
            return Err(SessionError::Overloaded);
        };
        let solved = tokio::task::spawn_blocking(move || {
            let _core = core;
            let mut cut_short = false;
            let mut out_of_time = || {
                cut_short |= Instant::now() >= deadline;
                cut_short
            };
            let solution = partition::solve(&problem, &settings, seed, &mut out_of_time)?;
            let chosen = Chosen {
                problem: problem.spec().clone(),
                settings,
                seed,
                team_of: solution.team_of.clone(),
                cut_short,
            };
            Ok((solution, chosen))
        });
        solved.await?
    }
}
