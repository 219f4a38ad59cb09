//! Experiments on one's own server: two policies, one of which is drawn for each game of a ruleset, and what the results
//! say about them.
//!
//! An arm is in the database before anything depends on it. What an experiment shows is computed from the stored games
//! each time that somebody asks.

use evenkeel_experiment::{
    Arm, ArmKey, ArmShare, DrawnFor, ExperimentError, FollowedOutcome,
    verdict::{self, OutcomeSummary},
};
use serde::{Deserialize, Serialize};

use crate::{
    model::Timestamp,
    random,
    store::{
        ArmAsker, DrawnArm, ExperimentMatch, ExperimentRow, Store, StoreError, as_text,
        as_text_or_null,
    },
};

/// How many numbers are known of a lobby before an arm is drawn.
pub const FEATURES: usize = 5;
/// With fewer rated matches before, a ruleset has no worst fifth.
const LEAST_BEFORE: usize = 25;
/// How many of the latest ones are looked at.
const LATEST_BEFORE: i64 = 5_000;
/// A result is one-sided at most at this closeness where too few are known.
const USUALLY_ONE_SIDED: f64 = 0.4;

/// What the verdict is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExperimentOutcome {
    /// The result is among the worst fifth of those that the ruleset had before.
    OneSided,
    /// The team wins that had the higher chance as play began.
    FavouriteWins,
    /// Somebody leaves while the match is played.
    SomebodyLeaves,
    /// The second highest score divided by the highest.
    Closeness,
}

impl ExperimentOutcome {
    const ALL: [Self; 4] = [
        Self::OneSided,
        Self::FavouriteWins,
        Self::SomebodyLeaves,
        Self::Closeness,
    ];

    /// What the matches of an arm do, in a sentence about them.
    pub fn predicate(self) -> &'static str {
        match self {
            Self::OneSided => "end one-sided",
            Self::FavouriteWins => "are won by the favourite",
            Self::SomebodyLeaves => "lose a player while they are played",
            Self::Closeness => "are close",
        }
    }

    /// The outcome of a match, 0 to 1; `None` if it has none.
    fn of(self, game: &ExperimentMatch, one_sided: f64) -> Option<f64> {
        let happens = |happens: bool| f64::from(u8::from(happens));
        match self {
            Self::OneSided => Some(happens(closeness(game.scores.as_deref()?)? <= one_sided)),
            Self::Closeness => closeness(game.scores.as_deref()?),
            Self::FavouriteWins => {
                let chance = game.started.or(game.picked)?;
                let favourite = i64::from(chance < 0.5);
                let winner = game.winner.filter(|_| chance != 0.5)?;
                Some(happens(winner == favourite))
            }
            Self::SomebodyLeaves => Some(happens(game.leaves > 0)),
        }
    }
}

/// The second highest score divided by the highest, of scores such as `3:1`; `None` without two scores of which one is
/// above 0, or with one below.
fn closeness(scores: &str) -> Option<f64> {
    let scores = scores.split(':').map(|score| score.parse::<f64>().ok());
    let mut scores: Vec<f64> = scores.collect::<Option<_>>()?;
    scores.sort_by(|a, b| b.total_cmp(a));
    let (first, second) = (*scores.first()?, *scores.get(1)?);
    (first > 0.0 && first.is_finite() && second >= 0.0).then(|| second / first)
}

/// What the configuration says of an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExperimentPlan {
    /// The key of the ruleset.
    #[serde(skip)]
    pub ruleset: String,
    /// What players read of the policies of arms a and b, such as `random teams`.
    pub names: [String; 2],
    /// The share of the games that arm b has.
    pub share: f64,
    /// What the verdict is about.
    pub outcome: ExperimentOutcome,
    /// Whether teams that are asked for over HTTP take part: not if a policy leaves the teams to people.
    pub over_http: bool,
    /// The two policies, and a digest of all settings that they inherit.
    pub policies: serde_json::Value,
}

/// Why an experiment cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentFault {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A number is out of its range.
    #[error(transparent)]
    Number(#[from] ExperimentError),
    /// A row is damaged.
    #[error("experiment {0} is damaged")]
    Damaged(i64),
    /// The system gives no random bytes.
    #[error("the system gives no random bytes for a key")]
    NoKey,
}

/// An experiment that goes on.
#[derive(Clone, Debug)]
pub struct RunningExperiment {
    /// Its number.
    pub number: i64,
    /// What it compares.
    pub plan: ExperimentPlan,
    share: ArmShare,
    key: ArmKey,
}

impl RunningExperiment {
    /// Goes on with the experiment of this plan, or begins it.
    ///
    /// # Errors
    /// Fails if the database does, if the share is out of its range, or if the system gives no random bytes.
    pub async fn begin(
        store: &Store,
        plan: ExperimentPlan,
        now: Timestamp,
    ) -> Result<Self, ExperimentFault> {
        let share = ArmShare::new(plan.share)?;
        let secret: [u8; ArmKey::LEN] = random::bytes().map_err(|_| ExperimentFault::NoKey)?;
        let before = store.experiments().scores_of(&plan.ruleset, LATEST_BEFORE);
        let row = ExperimentRow {
            number: 0,
            began_at: now,
            ended_at: None,
            why_ended: None,
            ruleset: plan.ruleset.clone(),
            settings: serde_json::to_string(&plan).unwrap_or_default(),
            one_sided: worst_fifth(&before.await?),
            secret: secret.to_vec(),
        };
        let row = store.experiments().begin(row).await?;
        Ok(Self {
            number: row.number,
            key: key_of(&row)?,
            plan,
            share,
        })
    }

    /// The arm of a game of a server; `None` once the experiment has ended.
    ///
    /// # Errors
    /// Fails if the database does: then the game has no arm.
    pub async fn arm_of_game(
        &self,
        store: &Store,
        server: &str,
        (game, now, known): (i64, Timestamp, &[f64]),
    ) -> Result<Option<DrawnArm>, StoreError> {
        let draw = |number: i64| {
            let number = number.unsigned_abs();
            name(self.key.arm(&DrawnFor::Game { server, number }, self.share))
        };
        let known = serde_json::to_string(known).unwrap_or_default();
        let experiments = store.experiments();
        let asker = ArmAsker::Server(server);
        experiments
            .arm(self.number, &asker, (game, now, &known), draw)
            .await
    }

    /// The arm for teams of these people, whose identities are in order and different, and the number that the decisions
    /// about them have. It stays until a result of them is recorded.
    ///
    /// # Errors
    /// As [`arm_of_game`](Self::arm_of_game).
    pub async fn arm_of_people(
        &self,
        store: &Store,
        (client, people): (&str, &[&str]),
        (game, now, known): (i64, Timestamp, &[f64]),
    ) -> Result<Option<DrawnArm>, StoreError> {
        let ruleset = &self.plan.ruleset;
        let draw = |number: i64| {
            let drawn_for = DrawnFor::People {
                client,
                ruleset,
                people,
                results: number.unsigned_abs(),
            };
            name(self.key.arm(&drawn_for, self.share))
        };
        let known = serde_json::to_string(known).unwrap_or_default();
        let asker = ArmAsker::Client(client, hash(people));
        let experiments = store.experiments();
        experiments
            .arm(self.number, &asker, (game, now, &known), draw)
            .await
    }
}

/// A hash of names, which no others have.
fn hash(people: &[&str]) -> [u8; 32] {
    use sha2::{Digest, Sha256};
    let mut hash = Sha256::new();
    for name in people {
        hash.update((name.len() as u64).to_le_bytes());
        hash.update(name.as_bytes());
    }
    hash.finalize().into()
}

fn name(arm: Arm) -> &'static str {
    match arm {
        Arm::A => "a",
        Arm::B => "b",
    }
}

fn key_of(row: &ExperimentRow) -> Result<ArmKey, ExperimentFault> {
    let secret = <[u8; ArmKey::LEN]>::try_from(&row.secret[..]);
    let damaged = |_| ExperimentFault::Damaged(row.number);
    Ok(ArmKey::new(secret.map_err(damaged)?))
}

/// At which closeness a result is among the worst fifth of these.
fn worst_fifth(scores: &[String]) -> f64 {
    let mut known: Vec<f64> = scores.iter().filter_map(|one| closeness(one)).collect();
    if known.len() < LEAST_BEFORE {
        return USUALLY_ONE_SIDED;
    }
    known.sort_by(f64::total_cmp);
    known[known.len() / 5]
}

/// What is known of an experiment, as pages, `/v1` and the command show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExperimentReport {
    /// Its number.
    pub experiment: i64,
    /// The key of its ruleset.
    pub ruleset: String,
    /// When it began.
    #[serde(serialize_with = "as_text")]
    pub began: Timestamp,
    /// When it ended; `None` as long as it goes on.
    #[serde(serialize_with = "as_text_or_null")]
    pub ended: Option<Timestamp>,
    /// Why it ended.
    pub why_ended: Option<String>,
    /// The two arms, a and b.
    pub arms: [ArmReport; 2],
    /// The share of the games that arm b has.
    pub share: f64,
    /// What the verdict is about.
    pub outcome: ExperimentOutcome,
    /// At most at this closeness a result is one-sided.
    pub one_sided: f64,
    /// The verdict, as a sentence.
    pub verdict: String,
    /// Whether it is sure enough to stop.
    pub sure: bool,
    /// All outcomes, the primary one first. Only that one gets a verdict.
    pub outcomes: Vec<OutcomeReport>,
    /// How the interval of the primary outcome has become narrower.
    pub course: Vec<IntervalPoint>,
    /// A hash of the key from which the arms follow. It is shown from the beginning.
    pub commitment: String,
    /// The key, once the experiment has ended: with it, each arm can be computed again.
    pub key: Option<String>,
}

/// The games of one arm.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ArmReport {
    /// What players read of its policy.
    pub name: String,
    /// The games for which it was drawn.
    pub games: u64,
    /// The matches that these have become.
    pub matches: u64,
    /// The matches that were given up.
    pub abandoned: u64,
    /// The games that began with other teams than the policy had picked.
    pub changed: u64,
}

/// What the matches show of one outcome.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OutcomeReport {
    /// Which.
    pub outcome: ExperimentOutcome,
    /// The number of matches of arms a and b that have it.
    pub matches: [u64; 2],
    /// Its mean in arms a and b; `None` without a match.
    pub means: [Option<f64>; 2],
    /// The ends of the interval of the difference, b minus a.
    pub interval: [f64; 2],
}

impl OutcomeReport {
    fn of(outcome: ExperimentOutcome, summary: &OutcomeSummary) -> Self {
        let (low, high) = summary.interval;
        Self {
            outcome,
            matches: summary.matches,
            means: summary.means,
            interval: [low, high],
        }
    }
}

/// The interval of the primary outcome after some matches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct IntervalPoint {
    /// After how many matches.
    pub matches: u64,
    /// The ends of the interval.
    pub interval: [f64; 2],
}

/// The most points of a course.
const POINTS: usize = 200;

impl ExperimentReport {
    /// The latest experiments, the newest one first: at most ten.
    ///
    /// # Errors
    /// Fails if the database does, or if a row is damaged.
    pub async fn latest(store: &Store) -> Result<Vec<Self>, ExperimentFault> {
        let mut reports = Vec::new();
        for row in store.experiments().latest(10).await? {
            let games = store.experiments().games(row.number).await?;
            reports.push(Self::of(&row, &games)?);
        }
        Ok(reports)
    }

    /// The experiment that these games belong to.
    ///
    /// # Errors
    /// Fails if a row is damaged.
    pub fn of(row: &ExperimentRow, games: &[ExperimentMatch]) -> Result<Self, ExperimentFault> {
        let damaged = |_| ExperimentFault::Damaged(row.number);
        let plan: ExperimentPlan = serde_json::from_str(&row.settings).map_err(damaged)?;
        let share = ArmShare::new(plan.share)?;
        let mut arms = plan.names.clone().map(|name| ArmReport {
            name,
            ..ArmReport::default()
        });
        let mut outcomes = FollowedOutcomes::new(&plan, share)?;
        for game in games {
            let arm = if game.arm == "b" { Arm::B } else { Arm::A };
            arms[arm as usize].count(game);
            if game.match_id.is_some() {
                outcomes.add(arm, game, row.one_sided)?;
            }
        }
        let (_, primary) = &outcomes.primary;
        let verdict = primary.verdict();
        let [a, b] = &plan.names;
        let sentence = verdict.as_ref().map_or_else(
            || "Not sure yet: there are too few matches".to_owned(),
            |verdict| verdict.sentence([a, b], plan.outcome.predicate()),
        );
        let key = key_of(row)?;
        Ok(Self {
            experiment: row.number,
            ruleset: row.ruleset.clone(),
            began: row.began_at,
            ended: row.ended_at,
            why_ended: row.why_ended.clone(),
            arms,
            share: plan.share,
            outcome: plan.outcome,
            one_sided: row.one_sided,
            verdict: sentence,
            sure: verdict.is_some_and(|verdict| verdict.is_sure()),
            outcomes: outcomes.reports(),
            course: thinned(outcomes.course),
            commitment: key.commitment().to_string(),
            key: row.ended_at.map(|_| key.reveal()),
        })
    }
}

/// The outcomes of an experiment, while its matches are folded.
struct FollowedOutcomes {
    primary: (ExperimentOutcome, FollowedOutcome),
    others: Vec<(ExperimentOutcome, FollowedOutcome)>,
    course: Vec<IntervalPoint>,
}

impl FollowedOutcomes {
    fn new(plan: &ExperimentPlan, share: ArmShare) -> Result<Self, ExperimentError> {
        let others = ExperimentOutcome::ALL.into_iter();
        let others = others.filter(|outcome| *outcome != plan.outcome);
        let others =
            others.map(|outcome| Ok((outcome, FollowedOutcome::secondary(share, FEATURES)?)));
        Ok(Self {
            primary: (plan.outcome, FollowedOutcome::primary(share, FEATURES)?),
            others: others.collect::<Result<_, ExperimentError>>()?,
            course: Vec::new(),
        })
    }

    fn add(
        &mut self,
        arm: Arm,
        game: &ExperimentMatch,
        one_sided: f64,
    ) -> Result<(), ExperimentError> {
        let known: Vec<f64> = serde_json::from_str(&game.known).unwrap_or_default();
        let mut features = [0.0; FEATURES];
        let own = features.iter_mut().zip(known);
        own.for_each(|(own, known)| *own = known);
        let (which, primary) = &mut self.primary;
        if let Some(outcome) = which.of(game, one_sided) {
            primary.add(arm, &features, outcome)?;
            let summary = primary.summary();
            self.course.push(IntervalPoint {
                matches: summary.matches.iter().sum(),
                interval: summary.interval.into(),
            });
        }
        for (which, followed) in &mut self.others {
            if let Some(outcome) = which.of(game, one_sided) {
                followed.add(arm, &features, outcome)?;
            }
        }
        Ok(())
    }

    fn reports(&self) -> Vec<OutcomeReport> {
        let all = [&self.primary].into_iter().chain(&self.others);
        all.map(|(which, followed)| OutcomeReport::of(*which, &followed.summary()))
            .collect()
    }
}

/// The arms of an experiment, computed again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VerifiedArms {
    /// The number of the experiment.
    pub experiment: i64,
    /// The games of servers whose arms were computed.
    pub games: u64,
    /// Those that have another arm than what follows from the key, as `server NAME game NUMBER`.
    pub others: Vec<String>,
}

impl VerifiedArms {
    /// The arms of the games of servers in the latest experiments. Those of clients depend on identities that are not
    /// stored.
    ///
    /// # Errors
    /// Fails if the database does, or if a row is damaged.
    pub async fn of(store: &Store) -> Result<Vec<Self>, ExperimentFault> {
        let mut verified = Vec::new();
        for row in store.experiments().latest(10).await? {
            let damaged = |_| ExperimentFault::Damaged(row.number);
            let plan: ExperimentPlan = serde_json::from_str(&row.settings).map_err(damaged)?;
            let (key, share) = (key_of(&row)?, ArmShare::new(plan.share)?);
            let drawn = store.experiments().drawn(row.number).await?;
            let games = drawn
                .iter()
                .filter_map(|(asker, drawn)| Some((asker.strip_prefix("server ")?, drawn)));
            let (mut count, mut others) = (0, Vec::new());
            for (server, drawn) in games {
                count += 1;
                let number = drawn.number.unsigned_abs();
                if name(key.arm(&DrawnFor::Game { server, number }, share)) != drawn.arm {
                    others.push(format!("server {server} game {number}"));
                }
            }
            verified.push(Self {
                experiment: row.number,
                games: count,
                others,
            });
        }
        Ok(verified)
    }
}

/// A difference of two shares in percentage points, with its sign, as verdicts have it.
pub fn points(difference: f64) -> String {
    verdict::points(difference)
}

impl ArmReport {
    fn count(&mut self, game: &ExperimentMatch) {
        self.games += 1;
        self.matches += u64::from(game.match_id.is_some());
        self.abandoned += u64::from(game.outcome.as_deref() == Some("abandoned"));
        self.changed += u64::from(game.changed);
    }
}

/// At most [`POINTS`] of them, at equal distances, with the last one.
fn thinned(course: Vec<IntervalPoint>) -> Vec<IntervalPoint> {
    let step = course.len().div_ceil(POINTS).max(1);
    let last = course.len().saturating_sub(1);
    let kept = course.into_iter().enumerate();
    let kept = kept.filter(|(at, _)| (last - at).is_multiple_of(step));
    kept.map(|(_, point)| point).collect()
}
