//! The decisions of a session, and how a stored one is made again. Choosing teams runs on a blocking thread, when the
//! question has its turn, and with a deadline; all other decisions take far less than a millisecond.
//!
//! Offers come of decisions: REBALANCE asks players before one is moved, if the game server has said that it asks.

#![allow(
    clippy::disallowed_methods,
    reason = "the deadline of a replay is in real time, whatever clock the sessions have"
)]

use std::{
    borrow::Cow,
    fmt::Display,
    time::{Duration, Instant},
};

use super::{
    AskerClass, CoreTurn, Session, SessionError, Sessions, TurnAsker, command::server_name,
    draw_seed, weights::GameWeights,
};
use crate::{
    lobby::{
        Command, Decided, Decision, LobbyError, Weights,
        advantage::Help,
        autobalance::{Assessment, Fate},
        balance::{Balance, Balanced},
        command::OfferEvent,
        place::Placement,
        roster::BotPlan,
    },
    model::{
        Kind, Timestamp,
        ident::Ident,
        in_game::{Move, Streak, SwitchAnswer, Withdrawal},
        team_names::Naming,
        units::Count,
    },
    partition::{settings::Objective, stated::ListedWeight, view::Conduct},
    store::DecisionRow,
};

/// The points by which a strength and its weight differ from where on EXPLAIN says so: one match moves a regular's weight
/// by up to three.
const APART: f64 = 1.0;

/// The moves that make the teams of a game even enough.
#[derive(Clone, Debug, PartialEq)]
pub struct Rebalanced {
    /// The ratio before the moves, 0 to 1.
    pub before: f64,
    /// The ratio after the moves, 0 to 1.
    pub after: f64,
    /// The moves; first those of humans without a team.
    pub steps: Vec<Move>,
    /// The seed with which they were chosen.
    pub seed: u64,
}

/// The reasons of a decision, one per line. Control characters in names are replaced.
pub(super) fn reasons(explanation: &impl Display) -> Vec<String> {
    let clean = |line: &str| line.replace(|c: char| c.is_control(), "?");
    explanation.to_string().lines().map(clean).collect()
}

/// What a player is called: bots have no other name.
fn called<'a>(naming: &'a Naming, kind: Kind, id: &'a str) -> &'a str {
    match kind {
        Kind::Human => naming.player(id),
        Kind::Bot => id,
    }
}

/// The line for a player whose strength differs from the weight by more than [`APART`].
fn strength_apart(
    weights: &GameWeights,
    (kind, id): (Kind, &str),
    naming: &Naming,
) -> Option<String> {
    let is_stated = kind == Kind::Human && weights.stated.is_instead(id);
    let points = weights.view.points(kind, id).filter(|_| !is_stated)?;
    let weight = weights.view.expected(kind, id)?;
    ((points - weight).abs() > APART).then(|| {
        let who = called(naming, kind, id);
        format!("strength and weight differ: {who} counts {points:.3} points of strength, the weight is {weight:.3}")
    })
}

impl Session {
    /// The number of players that the game should have, and of bots on each team.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub fn bots(&mut self) -> Result<BotPlan, SessionError> {
        let plan = self.lobby().bots()?;
        self.show_bots()?;
        let fill = self.lobby().fill()?;
        self.state.give_reasons(reasons(&fill));
        Ok(plan)
    }

    /// Chooses teams for all humans and puts them there. Without a `seed`, draws one; without
    /// `top`, picks from the configured number of best splits.
    ///
    /// # Errors
    /// Fails if there is no game or if it has no teams.
    pub async fn balance(
        &mut self,
        top: Option<usize>,
        seed: Option<u64>,
    ) -> Result<Balanced, SessionError> {
        self.advance_before();
        self.lobby().game()?;
        // Until the answer is explained.
        let turn = self.turn().await?;
        let weights = self.weights()?;
        let seed = seed.unwrap_or_else(draw_seed);
        let balance = &self.state.rules.settings.balance;
        let mut settings = balance.partition.clone();
        if weights.are_amounts() {
            settings = settings.by_sums(top.is_some());
        }
        if let Some(top) = top {
            let top = Count::try_from(top as u64);
            settings.top =
                top.map_err(|error| SessionError::BadArgument(format!("top {error}")))?;
        }
        let wanted = self.aside.as_ref().and_then(|aside| aside.wanted);
        if let Some(wanted) = wanted {
            wanted.steer(&mut settings);
        }
        let lobby = &self.state.lobby;
        let stated = self.aside.as_ref().map(|aside| aside.limits);
        let limits = stated.unwrap_or(balance.limits);
        let mut question = lobby.balance(&weights, limits, settings)?;
        if top.is_some() || wanted.is_some() {
            question.problem.equal_within = None; // the best splits alone, and no others that are as even
        }
        let naming = self.naming().into_owned();
        let (decided, why) = choose_teams(question, seed, naming, turn.clone()).await?;
        let balanced = self.lobby().follow(&decided, &weights)?;
        if self.aside.is_none() {
            let metrics = &self.sessions.metrics;
            metrics.picked(balanced.ratio, balanced.chance);
        }
        self.keep_explained(decided.into(), why, balanced.chance)?;
        Ok(balanced)
    }

    /// The turn of a question: the game server's, or the one in which the asker of this question is.
    async fn turn(&self) -> Result<CoreTurn, SessionError> {
        if let Some(turn) = self.aside.as_ref().and_then(|aside| aside.turn.clone()) {
            return Ok(turn);
        }
        let connection = self.registration.number();
        let asker = TurnAsker::new(AskerClass::GameServer, self.holder.clone(), connection);
        let deadline = self.state.rules.settings.balance.deadline_ms.duration();
        let turn = self.sessions.turn_of(asker, deadline);
        // The next connection of this game server does not wait until this one has had its turn.
        let replaced = self.replaced();
        let turn = replaced.run_until_cancelled(turn).await;
        turn.unwrap_or(Err(SessionError::NotAllowed(
            "another connection has resumed the game",
        )))
    }

    /// Chooses the team of a late arrival and puts them there. The seed decides between equal
    /// teams; if there is none, draws one.
    ///
    /// # Errors
    /// Fails if there is no game, if it has no teams, or if no human has that id.
    pub fn place(&mut self, id: &Ident, seed: Option<u64>) -> Result<Placement, SessionError> {
        let weights = self.weights()?;
        let seed = seed.unwrap_or_else(draw_seed);
        let before = self.lobby().conduct(id);
        let decided = self.lobby().place(id, &weights, seed)?;
        self.notice(id, before);
        let events = self.lobby().review_offer(&weights);
        self.note_offer(events);
        let placement = decided.answer.clone();
        self.keep_decision(decided, None)?;
        Ok(placement)
    }

    /// The team that needs help now, and the factor; `None` if no team does.
    ///
    /// # Errors
    /// Fails if there is no game, or if it has no teams.
    pub fn advantage(&mut self) -> Result<Option<Help>, SessionError> {
        let weights = self.weights()?;
        let decided = self.lobby().advantage(&weights)?;
        let help = decided.answer.help;
        self.keep_decision(decided, None)?;
        Ok(help)
    }

    /// Finds the fewest moves that make the teams even enough. This is advice: only MOVE changes
    /// the roster.
    ///
    /// # Errors
    /// Fails if there is no game, or if it has no teams.
    pub fn rebalance(&mut self, seed: Option<u64>) -> Result<Rebalanced, SessionError> {
        let weights = self.weights()?;
        let seed = seed.unwrap_or_else(draw_seed);
        let humans = self.lobby().game()?.roster.humans();
        let ids: Vec<Ident> = humans.iter().map(|human| human.id.clone()).collect();
        let before: Vec<Conduct> = ids.iter().map(|id| self.lobby().conduct(id)).collect();
        let decided = self.lobby().rebalance(&weights, seed)?;
        for (id, before) in ids.iter().zip(before) {
            self.notice(id, before);
        }
        let steps = decided.answer.steps();
        let steps = steps.filter_map(|step| self.as_sent(step)).collect();
        let (before, after) = (decided.answer.before, decided.answer.after);
        self.keep_decision(decided, None)?;
        Ok(Rebalanced {
            before,
            after,
            steps,
            seed,
        })
    }

    /// Counts a death. Returns the move if the auto-balance rules move the human who died. They move nobody while
    /// weights are being derived that they need.
    ///
    /// # Errors
    /// Fails if there is no game, or if no player with that id has played.
    pub fn died(&mut self, id: &Ident) -> Result<Option<Move>, SessionError> {
        let weights = match self.weights() {
            Err(SessionError::NotReady) => {
                self.apply(&Command::Death { id: id.clone() })?;
                return Ok(None);
            }
            weights => weights?,
        };
        let Some(decided) = self.lobby().died(id, &weights)? else {
            return Ok(None);
        };
        let step = match &decided.answer.fate {
            Fate::Moves(step) => self.as_sent(step),
            Fate::Stays(_) => None,
        };
        if step.is_some() {
            let events = self.lobby().review_offer(&weights);
            self.note_offer(events);
        }
        // Deaths are frequent, so only those in unbalanced games are stored.
        if matches!(decided.answer.assessment, Assessment::Unbalanced { .. }) {
            self.keep_decision(decided, None)?;
        } else {
            self.state.give_reasons(reasons(&decided));
        }
        Ok(step)
    }

    /// The same move, with the id in the bytes that the game server sent; `None` if that human has
    /// left.
    fn as_sent(&self, step: &Move) -> Option<Move> {
        let roster = &self.state.lobby.game().ok()?.roster;
        Some(Move {
            id: roster.find(&step.id)?.id.clone(),
            from: step.from,
            to: step.to,
        })
    }

    /// A line for each player in the game whose weight comes from games of other rulesets only, and one for each whose
    /// strength differs from the weight, where strengths decide.
    fn weights_apart(&mut self) -> Result<Vec<String>, SessionError> {
        let weights = self.present_weights()?;
        let naming = &self.naming();
        let roster = &self.state.lobby.game()?.roster;
        let humans = roster.humans().iter().map(|human| (Kind::Human, &human.id));
        let bots = roster.bots().iter().map(|bot| (Kind::Bot, &bot.name));
        let players = || humans.clone().chain(bots.clone());
        let learned = players().filter(|(kind, id)| {
            *kind == Kind::Bot || weights.listed(id.text()) == ListedWeight::Learned
        });
        let guesses = learned.filter_map(|(kind, id)| {
            let weight = weights.view.guess(kind, id.text())?;
            let who = called(naming, kind, id.text());
            Some(format!(
                "weight from elsewhere: {who} counts {weight:.6}, a part of what other games say"
            ))
        });
        let by_strength =
            self.state.rules.settings.balance.partition.objective == Objective::Chance;
        let differing = players()
            .filter(|_| by_strength)
            .filter_map(|(kind, id)| strength_apart(&weights, (kind, id.text()), naming));
        let lines = guesses.chain(differing);
        Ok(lines.flat_map(|line| reasons(&line)).collect())
    }

    /// What the reasons call players and teams.
    fn naming(&self) -> Cow<'_, Naming> {
        let of = self
            .aside
            .as_ref()
            .map(|aside| Cow::Borrowed(&aside.naming));
        of.unwrap_or_default()
    }

    /// A line on what parties count, where there is one and it counts more than its members do alone.
    fn party_factors(&mut self) -> Result<Option<String>, SessionError> {
        let weights = self.present_weights()?;
        let factors = match self.state.lobby.party_factors(&weights) {
            Err(LobbyError::NoTeams) => None,
            factors => factors?,
        };
        let counts = factors.filter(|parties| !parties.factors.is_empty());
        Ok(counts.map(|parties| parties.to_string()))
    }

    /// Keeps the reasons of a decision for EXPLAIN, and queues the decision to be stored.
    fn keep_decision(
        &mut self,
        decision: impl Into<Decision>,
        chance: Option<f64>,
    ) -> Result<(), SessionError> {
        let decision = decision.into();
        let why = reasons(&decision.announced(&self.naming()));
        self.keep_explained(decision, why, chance)
    }

    /// The same for a decision with these reasons.
    fn keep_explained(
        &mut self,
        decision: Decision,
        mut why: Vec<String>,
        chance: Option<f64>,
    ) -> Result<(), SessionError> {
        why.extend(self.weights_apart()?);
        why.extend(self.party_factors()?);
        why.extend(self.state.arm.line());
        self.state.give_reasons(why);
        if let Some(aside) = &mut self.aside {
            aside.decided = Some((decision, chance));
        } else if self.sessions.settings.keep_decisions > 0
            && let Some(row) = self.decision_row(&decision, chance)?
        {
            self.sessions.backlog.decided(row);
        }
        Ok(())
    }

    /// A decision as it is stored; `None` if it cannot be.
    pub(super) fn decision_row(
        &mut self,
        decision: &Decision,
        chance: Option<f64>,
    ) -> Result<Option<DecisionRow>, SessionError> {
        let ruleset = self.ruleset()?.to_string();
        let kind = decision.kind();
        let json = match serde_json::to_string(decision) {
            Ok(json) => json,
            Err(error) => {
                tracing::error!(%error, kind, "cannot store a decision");
                return Ok(None);
            }
        };
        Ok(Some(DecisionRow {
            made_at: self.sessions.clock.now(),
            server: server_name(self.server.as_deref().unwrap_or_default()).to_owned(),
            ruleset,
            game: self.state.game,
            kind: kind.to_owned(),
            seed: decision.seed(),
            chance,
            decision: json,
        }))
    }
}

/// Answers BALANCE until the turn is over, and explains the answer. Both are done on a blocking thread: other connections
/// do not wait.
async fn choose_teams(
    question: Balance,
    seed: u64,
    naming: Naming,
    turn: CoreTurn,
) -> Result<(Decided<Balance>, Vec<String>), SessionError> {
    let choosing = move || {
        let decided = question.decide(seed, &mut || turn.is_over())?;
        let why = reasons(&decided.announced(&naming));
        Ok((decided, why))
    };
    tokio::task::spawn_blocking(choosing).await?
}

/// How long an offer waits, at least, when weights are being derived that its end needs, in milliseconds.
const RETRY: u64 = 1_000;

/// What a session knows about its offers besides those of its game.
#[derive(Debug, Default)]
pub(super) struct SessionOffers {
    /// Whether this connection asks its players.
    asks: bool,
    /// The moves of the open offer, as this connection has been told.
    announced: Option<Vec<Move>>,
    /// What has happened, and the connection has not been told.
    events: Vec<OfferEvent>,
    /// Whether this connection wants to know of streaks.
    streaks: bool,
    /// A streak that the connection has not been told of.
    streak: Option<Streak>,
    /// The millisecond of the session before which an offer that is due is not tried again.
    retry: u64,
}

impl Session {
    /// Notes whether this game server asks its players, if HELLO states it.
    pub fn declare_offers(&mut self, asks: Option<bool>) {
        self.offers.asks = asks.unwrap_or(self.offers.asks);
    }

    /// Notes whether this game server wants to know of streaks, if HELLO states it.
    pub fn declare_streaks(&mut self, wants: Option<bool>) {
        self.offers.streaks = wants.unwrap_or(self.offers.streaks);
    }

    /// Looks whether there is a streak, after a score or the end of a game.
    pub(super) fn look_for_streak(&mut self) {
        if !self.offers.streaks || !self.state.rules.settings.lobby.streak {
            return;
        }
        if self.state.lobby.may_be_streak()
            && let Ok(weights) = self.weights()
        {
            self.offers.streak = self.lobby().take_streak(&weights);
        }
    }

    /// The streak of which the connection has not been told.
    pub fn take_streak(&mut self) -> Option<Streak> {
        self.offers.streak.take()
    }

    /// Like [`rebalance`](Self::rebalance). But where the game server asks its players, those who are on a team get an
    /// offer, and only the moves of the others are returned.
    ///
    /// # Errors
    /// Fails if there is no game, or if it has no teams.
    pub fn ask_and_rebalance(&mut self, seed: Option<u64>) -> Result<Rebalanced, SessionError> {
        let wait = self.state.rules.settings.lobby.rebalance.ask_seconds.get();
        let mut advice = self.rebalance(seed)?;
        if !self.offers.asks || wait == 0 {
            return Ok(advice);
        }
        let weights = self.weights()?;
        let (moves, placed) = advice
            .steps
            .into_iter()
            .partition(|step| step.from.is_some());
        let events = self.lobby().ask(moves, advice.seed, &weights)?;
        self.note_offer(events);
        advice.steps = placed;
        Ok(advice)
    }

    /// A human volunteers for the open offer. Returns what becomes of them.
    ///
    /// # Errors
    /// Fails if there is no game, or if no human has that id.
    pub fn volunteer(&mut self, id: &Ident) -> Result<SwitchAnswer, SessionError> {
        let weights = self.weights()?;
        let (answer, events) = self.lobby().volunteer(id, &weights)?;
        if events.is_empty() {
            let why = format!("{} volunteers: {answer}", id.text());
            self.state.give_reasons(reasons(&why));
        }
        self.note_offer(events);
        Ok(answer)
    }

    /// Ends an offer whose time is over.
    pub fn pass_time(&mut self) {
        if self.due() != Some(Duration::ZERO) {
            return;
        }
        self.offers.retry = self
            .state
            .millis(&*self.sessions.clock)
            .saturating_add(RETRY);
        if let Ok(weights) = self.weights() {
            let events = self.lobby().end_offer_if_due(&weights);
            self.note_offer(events);
        }
    }

    /// In how long [`pass_time`](Self::pass_time) has something to do; `None` without an open offer.
    pub fn due(&self) -> Option<Duration> {
        let offer = self.state.lobby.offer().filter(|_| self.offers.asks)?;
        let now = self.state.millis(&*self.sessions.clock);
        let at = offer.until.max(self.offers.retry);
        Some(Duration::from_millis(at.saturating_sub(now)))
    }

    /// What has happened to offers since the last call, for the connection to send.
    pub fn take_offer_events(&mut self) -> Vec<OfferEvent> {
        if self.state.lobby.offer().is_some() {
            let now = self.state.millis(&*self.sessions.clock);
            self.state.lobby.at(now);
        }
        match (self.offers.announced.take(), self.state.lobby.opened()) {
            (announced, Some(_)) if !self.offers.asks => {
                let events = self.state.lobby.withdraw_offer();
                if announced.is_some() {
                    self.note_offer(events);
                }
            }
            // The game was resumed.
            (None, Some(open)) => self.note_offer(vec![open]),
            // BALANCE, END or GAME has ended it.
            (Some(announced), None) => {
                self.note_offer(vec![OfferEvent::Withdrawn(announced, Withdrawal::Over)]);
            }
            (announced, _) => self.offers.announced = announced,
        }
        std::mem::take(&mut self.offers.events)
    }

    /// Notes what has happened to the offer, for the connection and for EXPLAIN.
    pub(super) fn note_offer(&mut self, events: Vec<OfferEvent>) {
        for event in events {
            let open = match &event {
                OfferEvent::Open(moves, _) => Some(moves.clone()),
                OfferEvent::Withdrawn(..) | OfferEvent::Moved { .. } => None,
            };
            if open.is_none() {
                self.offers.retry = 0;
                self.state.give_reasons(reasons(&event));
            }
            self.offers.announced = open;
            self.offers.events.push(event);
        }
    }
}

/// The time limit of a replay. It is independent of the deadline of BALANCE, so that a slower
/// machine can replay what a faster one chose.
const PATIENCE: Duration = Duration::from_secs(60);

/// A stored decision and its replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// The kind of decision, as stored.
    pub kind: String,
    /// When it was made.
    pub made_at: Timestamp,
    /// Name of the game server.
    pub server: String,
    /// The seed of its random choices.
    pub seed: u64,
    /// Whether the replay gave the same answer.
    pub same: bool,
    /// Whether a deadline ended the original search early, so that the replay may differ.
    pub cut_short: bool,
    /// The reasons in the replay, one per line.
    pub why: Vec<String>,
}

impl Sessions {
    /// Replays a stored decision; `None` if there is no decision with this id, or it has been
    /// deleted.
    ///
    /// # Errors
    /// Fails if the database does, or if this version cannot read the decision.
    pub async fn replay(&self, id: i64) -> Result<Option<Replayed>, SessionError> {
        let Some(row) = self.store.decisions().decision(id).await? else {
            return Ok(None);
        };
        let json = row.decision;
        let replayed = tokio::task::spawn_blocking(move || again(&json));
        let (original, replay) = replayed.await??;
        Ok(Some(Replayed {
            kind: row.kind,
            made_at: row.made_at,
            server: row.server,
            seed: row.seed,
            same: replay == original,
            cut_short: original.cut_short(),
            why: reasons(&replay),
        }))
    }
}

/// The decision as stored, and as this version makes it.
fn again(json: &str) -> Result<(Decision, Decision), SessionError> {
    let original: Decision = serde_json::from_str(json).map_err(|error| {
        SessionError::BadArgument(format!("cannot read this decision: {error}"))
    })?;
    let patience = Instant::now() + PATIENCE;
    let replay = original.clone().again(&mut || Instant::now() >= patience);
    let replay = replay.ok_or_else(|| {
        SessionError::BadArgument("this decision was edited and is inconsistent".to_owned())
    })?;
    Ok((original, replay))
}
