//! The arm of a game in an experiment: which of two policies decides in it.
//!
//! The arm is drawn, and stored, before the first answer that depends on it. The game then has the settings of its policy
//! until its END. If the arm cannot be stored, the game has none, and the configured settings decide.

use std::sync::Arc;

use super::{
    GameSettings, Session, SessionError, Sessions,
    command::server_name,
    state::{ArmRules, GameArm, GameRules},
};
use crate::{
    experiments::{ExperimentFault, ExperimentPlan, FEATURES, RunningExperiment},
    model::{
        random::{Stream, StreamPurpose},
        rulebook::PatternError,
        time::DAY,
        win_model::TeamLoad,
    },
    partition::{settings::Objective, view::ChanceModel},
    store::{DrawnArm, StoreError},
};

/// An experiment of the configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfiguredExperiment {
    /// What it compares.
    pub plan: ExperimentPlan,
    /// The settings of games under the policies of arms a and b.
    pub policies: [GameSettings; 2],
}

/// Why an experiment does not begin.
#[derive(Debug, thiserror::Error)]
pub enum NoExperiment {
    /// It cannot be stored.
    #[error(transparent)]
    Fault(#[from] ExperimentFault),
    /// The settings of games contain an invalid pattern.
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

impl GameArm {
    /// The line of EXPLAIN; `None` without an arm.
    pub(super) fn line(&self) -> Option<String> {
        let Self::Drawn(experiment, drawn, name) = self else {
            return None;
        };
        let arm = &drawn.arm;
        Some(format!(
            "experiment {experiment}: this game belongs to arm {arm}, {name}"
        ))
    }
}

impl Sessions {
    /// Goes on with the experiment of a configuration, or begins it. One with other policies, or one that is configured no
    /// more, ends. Running games keep their arms.
    ///
    /// # Errors
    /// Fails if the database does, or the system gives no random bytes: then no game gets an arm.
    pub async fn set_experiment(
        &self,
        configured: Option<ConfiguredExperiment>,
    ) -> Result<Option<i64>, NoExperiment> {
        *self.arms.write() = None;
        let now = self.clock.now();
        let Some(ConfiguredExperiment { plan, policies }) = configured else {
            let why = "the configuration has no experiment any more";
            let experiments = self.store.experiments();
            if experiments
                .present()
                .await
                .map_err(ExperimentFault::from)?
                .is_some()
            {
                experiments
                    .end(now, why)
                    .await
                    .map_err(ExperimentFault::from)?;
            }
            return Ok(None);
        };
        let [a, b] = policies.map(|policy| GameRules::new(policy).map(Arc::new));
        let rules = [a?, b?];
        let running = RunningExperiment::begin(&self.store, plan, now).await?;
        let number = running.number;
        *self.arms.write() = Some(Arc::new(ArmRules { running, rules }));
        Ok(Some(number))
    }

    fn arms(&self) -> Option<Arc<ArmRules>> {
        self.arms.read().clone()
    }
}

impl ArmRules {
    fn rules_of(&self, drawn: &DrawnArm) -> Arc<GameRules> {
        self.rules[usize::from(drawn.arm == "b")].clone()
    }
}

impl Session {
    /// Before BALANCE or START: finds out whether the game before this one goes on, with its arm, and draws one if not.
    pub async fn begin_arm(&mut self) {
        if self.sessions.arms().is_some() {
            self.advance_before();
        }
        self.enter_arm().await;
    }

    /// Draws the arm of the running game, if it belongs to an experiment and has none yet. The teams of a hosted match come
    /// from its queue: it has none.
    pub async fn enter_arm(&mut self) {
        if self.has_left_experiment() {
            self.state.arm = GameArm::Without;
            self.state.set_rules(self.sessions.rules.get());
            return;
        }
        match &mut self.state.arm {
            GameArm::Without => return,
            GameArm::Drawn(_, drawn, _) => {
                let before = std::mem::replace(&mut drawn.game, self.state.game);
                return self.renumber(before).await;
            }
            GameArm::Open => {}
        }
        let Some(arms) = self.sessions.arms() else {
            return self.leave_arm();
        };
        if self.state.held.is_some() {
            return; // the game before this one may go on
        }
        let name = self.server.as_deref().unwrap_or_default();
        let (server, is_hosted) = (server_name(name).to_owned(), server_name(name) != name);
        let ruleset = self.ruleset().map(|ruleset| ruleset.to_string());
        let is_in_it = ruleset.is_ok_and(|ruleset| ruleset == arms.running.plan.ruleset);
        if is_hosted || !is_in_it {
            return self.leave_arm();
        }
        let known = self.known_before();
        let at = (self.state.game, self.sessions.clock.now(), &known[..]);
        let drawn = arms.running.arm_of_game(&self.sessions.store, &server, at);
        let drawn = drawn.await;
        self.follow_arm(&arms, drawn);
    }

    /// At START: notes whether somebody has changed the picked teams by hand.
    pub async fn note_changed_teams(&mut self) {
        let GameArm::Drawn(_, drawn, _) = &self.state.arm else {
            return;
        };
        if self.state.lobby.stands_as_picked() {
            return;
        }
        let experiments = self.sessions.store.experiments();
        if let Err(error) = experiments.note_changed(drawn.game).await {
            tracing::warn!(%error, "changed teams are not noted in the experiment");
        }
    }

    /// Whether a mutator has made another ruleset of the game since its arm was drawn: then it does not belong to the
    /// experiment any more.
    fn has_left_experiment(&mut self) -> bool {
        let GameArm::Drawn(number, ..) = &self.state.arm else {
            return false;
        };
        let own = (self.sessions.arms()).filter(|arms| arms.running.number == *number);
        let ruleset = self.ruleset().map(|ruleset| ruleset.to_string());
        own.is_some_and(|arms| !ruleset.is_ok_and(|own| own == arms.running.plan.ruleset))
    }

    /// The game has got another number at its START: its arm goes on with that.
    async fn renumber(&mut self, before: i64) {
        let game = self.state.game;
        if before == game {
            return;
        }
        let experiments = self.sessions.store.experiments();
        if let Err(error) = experiments.renumber(before, game).await {
            tracing::warn!(%error, "this game is missing in its experiment");
        }
    }

    /// Draws the arm of the teams that a client asks for, of these people, and keeps.
    pub async fn enter_arm_of(&mut self, client: &str, people: &[String]) {
        let Some(arms) = self
            .sessions
            .arms()
            .filter(|arms| arms.running.plan.over_http)
        else {
            return;
        };
        let ruleset = self.ruleset().map(|ruleset| ruleset.to_string());
        if !ruleset.is_ok_and(|ruleset| ruleset == arms.running.plan.ruleset) {
            return;
        }
        let mut people: Vec<&str> = people.iter().map(String::as_str).collect();
        people.sort_unstable();
        let known = self.known_before();
        let at = (self.state.game, self.sessions.clock.now(), &known[..]);
        let of = (client, &people[..]);
        let drawn = arms
            .running
            .arm_of_people(&self.sessions.store, of, at)
            .await;
        if let Ok(Some(drawn)) = &drawn {
            self.state.game = drawn.game; // all decisions about these people have one number
        }
        self.follow_arm(&arms, drawn);
    }

    /// Whether teams for this ruleset belong to an experiment if a client keeps them.
    pub fn is_in_experiment(&mut self) -> bool {
        let arms = self
            .sessions
            .arms()
            .filter(|arms| arms.running.plan.over_http);
        let ruleset = self.ruleset().map(|ruleset| ruleset.to_string());
        arms.is_some_and(|arms| ruleset.is_ok_and(|own| own == arms.running.plan.ruleset))
    }

    /// The arm of the game: `a` or `b`.
    pub fn arm(&self) -> Option<&str> {
        match &self.state.arm {
            GameArm::Drawn(_, drawn, _) => Some(&drawn.arm),
            GameArm::Open | GameArm::Without => None,
        }
    }

    fn follow_arm(&mut self, arms: &ArmRules, drawn: Result<Option<DrawnArm>, StoreError>) {
        self.state.arm = match drawn {
            Ok(Some(drawn)) => {
                self.state.set_rules(arms.rules_of(&drawn));
                let names = &arms.running.plan.names;
                let name = names[usize::from(drawn.arm == "b")].clone();
                GameArm::Drawn(arms.running.number, drawn, name)
            }
            Ok(None) => GameArm::Without,
            Err(error) => {
                tracing::warn!(%error, "this game has no arm of the experiment: it cannot be stored");
                GameArm::Without
            }
        };
        if self.state.arm == GameArm::Without {
            self.leave_arm();
        }
    }

    /// The next game on the same GAME has no arm: it gets the configured settings again.
    fn leave_arm(&mut self) {
        if self.state.arm == GameArm::Open && self.state.had_arm {
            self.state.had_arm = false;
            self.state.set_rules(self.sessions.rules.get());
        }
    }

    /// What is known of the players before the arm is drawn, each number around 0 to 1: how many they are, how uncertain
    /// their strengths are, how uneven random teams would be, and the hour. 0 where nothing is known.
    fn known_before(&mut self) -> [f64; FEATURES] {
        let mut known = [0.0; FEATURES];
        let hours = self.sessions.clock.now().0.rem_euclid(DAY) as f64 * 24.0 / DAY as f64;
        let away_from = |hour: f64| ((hours - hour).rem_euclid(24.0) - 12.0).abs() / 12.0;
        (known[3], known[4]) = (away_from(0.0), away_from(6.0));
        if let Ok(Some([size, deviation, uneven])) = self.lobby_before() {
            (known[0], known[1], known[2]) = (size, deviation, uneven);
        }
        known
    }

    fn lobby_before(&mut self) -> Result<Option<[f64; 3]>, SessionError> {
        let weights = self.weights()?;
        let balance = &self.sessions.rules.get().settings.balance;
        let mut settings = balance.partition.clone();
        settings.objective = Objective::Chance;
        let question = self
            .state
            .lobby
            .balance(&weights, balance.limits, settings)?;
        let view = &question.problem.view;
        let humans = view.humans.len();
        let Some(model) = view.chance.as_ref().filter(|_| humans >= 2) else {
            return Ok(None);
        };
        let deviations = model.deviations.iter().sum::<f64>() / humans as f64;
        Ok(Some([humans as f64 / 32.0, deviations, uneven(model)]))
    }
}

/// How many random splits are looked at.
const SPLITS: usize = 32;

/// How far the chance is from one half if two teams are drawn at random, on average: 0 to 1/2.
fn uneven(model: &ChanceModel) -> f64 {
    let mut random = Stream::new(0, StreamPurpose::RandomSplits);
    let mut humans = model.humans.clone();
    let split = |_| {
        random.shuffle(&mut humans);
        let (one, other) = humans.split_at(humans.len() / 2);
        let load = |team: &[f64]| TeamLoad {
            heads: team.len(),
            strength: team.iter().sum(),
        };
        let edge = model.win_model.edge(load(one), load(other));
        (model.win_model.link.chance(edge) - 0.5).abs()
    };
    (0..SPLITS).map(split).sum::<f64>() / SPLITS as f64
}
