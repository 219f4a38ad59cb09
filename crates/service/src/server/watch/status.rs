//! The status of the daemon, as `/status.json` has it and `evenkeel status` shows it. It is filled in from the
//! counters of the daemon's parts; sentences say what is wrong, by limits that stand here.

use std::{collections::BTreeMap, path::Path};

use serde::{Deserialize, Serialize};

use tokio::time::timeout;

use super::{BackupMetrics, Failures, Monitor, PATIENCE, is_apart};
use crate::{
    matchmaking::lifecycle::Stage,
    model::{Timestamp, access::Holder, text::counted},
    queues::{HostingLevels, QueueLevels},
    webhooks::HookMetrics,
};

/// The status of a daemon: its metrics in short, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The version of the program.
    pub version: String,
    /// When the daemon was started, in UTC.
    pub started: String,
    /// How long it has run, in seconds.
    pub uptime_seconds: u64,
    /// Whether it has weights and its database answers.
    pub ready: bool,
    /// Why it is not ready.
    pub not_ready: Option<String>,
    /// Number of connections of game servers and other clients.
    pub connections: i64,
    /// How many games are running, and how many wait for their server.
    pub games: GameStatus,
    /// The matches that weights were learned from.
    pub matches: MatchStatus,
    /// How good the predictions were.
    pub predictions: PredictionStatus,
    /// How often a share of the daemon was used up since the start.
    pub shares: ShareStatus,
    /// The journals of running games.
    pub journal: JournalStatus,
    /// What waits to be written.
    pub backlog: BacklogStatus,
    /// The queues, in the order of their names.
    pub queues: Vec<QueueStatus>,
    /// The instances and hosted matches.
    pub hosting: HostingStatus,
    /// The webhooks, in the order of the configuration.
    pub webhooks: Vec<HookStatus>,
    /// The followed logs; `None` if the configuration has none.
    pub followed: Option<FollowStatus>,
    /// The size and the failures of the database.
    pub store: StoreStatus,
    /// The daily backups; `None` if the configuration has none.
    pub backups: Option<BackupStatus>,
    /// The leases whose holders have other settings than this daemon.
    pub other_settings: Vec<OtherSettingsStatus>,
    /// Whose matches are not rated because a share of new rulesets and players was used up.
    #[serde(default)]
    pub too_many_new: Vec<HeldStatus>,
    /// What is wrong, one sentence each.
    pub warnings: Vec<String>,
}

/// How many games are running, and how many wait for their server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GameStatus {
    /// Number of games between START and END.
    pub playing: i64,
    /// Number of games whose connection ended, and that wait for their server.
    pub parked: usize,
}

/// The matches that weights were learned from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MatchStatus {
    /// Number of matches, rated or not.
    pub learned: i64,
    /// Number of matches that are rated.
    pub rated: u64,
    /// How many matches END has recorded since the start.
    pub recorded: u64,
    /// How long the oldest match waits that the weights do not include, in seconds; 0 if they include all.
    pub lag_seconds: f64,
    /// Whether matches are learned again, because history was corrected. New matches are learned meanwhile; weights include
    /// the correction afterwards.
    pub learning_again: bool,
}

/// How good the predictions were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictionStatus {
    /// Number of matches whose chance was predicted.
    pub count: u64,
    /// The mean log loss of these predictions; a coin has 0.6931.
    pub log_loss: f64,
    /// The mean log loss of the last 100.
    pub recent_log_loss: f64,
    /// By how much the mean log loss is lower than a coin's; `None` for too few predictions.
    pub gain: Option<f64>,
    /// The 95 % interval of the gain reaches so far on both sides of it.
    pub gain_reach: Option<f64>,
    /// What that means, in a sentence; `None` while the weights are derived again.
    pub beside_coin: Option<String>,
}

/// How often a share of the daemon was used up since the start, so that something was refused or given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShareStatus {
    /// Number of questions for teams that had no turn in time.
    pub questions_refused: u64,
    /// Number of games that were given up before their server had connected again.
    pub games_given_up: u64,
    /// Number of tickets that were refused because their client had too many.
    pub tickets_refused: u64,
    /// Number of connections that were refused because there were too many.
    pub connections_refused: u64,
    /// Number of connections without a running game that gave up their place to another one.
    pub connections_given_up: u64,
}

/// The journals of running games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalStatus {
    /// Number of journals of which a power cut would lose the last bytes.
    pub unforced: usize,
    /// How often a game could not be journaled since the start.
    pub failures: u64,
}

/// What waits to be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BacklogStatus {
    /// Number of finished matches that are not on disk yet.
    pub matches: usize,
    /// Number of decisions that are not on disk yet.
    pub decisions: usize,
}

/// A queue, with the tickets that wait in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QueueStatus {
    /// The name of the queue.
    pub name: String,
    /// Number of tickets that wait.
    pub tickets: usize,
    /// Number of players in them.
    pub players: usize,
    /// How long the oldest of them has waited, in seconds.
    pub oldest_wait_seconds: f64,
    /// How long ago the last search ended, in seconds.
    pub round_age_seconds: Option<f64>,
}

/// The instances and hosted matches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostingStatus {
    /// Number of instances that are connected.
    pub connected: usize,
    /// Number of instances whose connection is lost.
    pub away: usize,
    /// Number of instances that get no further matches.
    pub draining: usize,
    /// Number of slots with a match.
    pub used_slots: usize,
    /// Number of slots without one.
    pub free_slots: usize,
    /// Number of hosted matches by stage.
    pub matches: BTreeMap<String, usize>,
}

/// A webhook, with the events that wait for it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookStatus {
    /// The name of the webhook.
    pub name: String,
    /// Number of events that wait.
    pub pending: i64,
    /// How many events were dropped since the start.
    pub dropped: u64,
}

/// How far the daemon has read the logs that it follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FollowStatus {
    /// Number of bytes that are not read yet.
    pub unread_bytes: i64,
    /// Number of logs that could not be read.
    pub failing: i64,
    /// Number of configured paths at which there is nothing.
    pub missing: i64,
    /// Whether no log is read any more.
    pub broken: bool,
}

/// The size and the failures of the database.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StoreStatus {
    /// The path of its file, or its address without the password.
    pub place: String,
    /// The size of its files; `None` if it is not known.
    pub bytes: Option<u64>,
    /// How many writes have failed since the start.
    pub write_failures: u64,
    /// Whether it answers within a second.
    pub answers: bool,
    /// Whether the open files are still at their paths.
    pub in_place: bool,
    /// The file that was removed or replaced.
    pub gone: Option<String>,
    /// The file to which all that the database had was copied then.
    pub rescued: Option<String>,
    /// By how many seconds the clock of this machine is ahead of that of the database; `None` if that has none of its
    /// own.
    pub clock_difference_seconds: Option<f64>,
}

/// A daemon of the same database that has other settings than this one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherSettingsStatus {
    /// The lease that it holds, or held last: `fold` for the weights, `queues/…` for a partition of the queues.
    pub lease: String,
    /// Its name.
    pub holder: String,
    /// The keys whose values differ, and the queues that only one of the two has.
    pub keys: Vec<String>,
}

/// Matches that are not rated because the share of their sender was used up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldStatus {
    /// The sender: `client NAME` or `address ADDRESS`.
    pub by: String,
    /// How many they are.
    pub matches: i64,
}

impl HeldStatus {
    /// What they have brought, and how an operator lets them count.
    fn warning(&self) -> String {
        let matches = counted(self.matches.unsigned_abs(), "match");
        let (by, option) = (&self.by, self.by.replacen(' ', " '", 1));
        let are = if self.matches == 1 { "is" } else { "are" };
        format!(
            "{matches} of {by} brought too many new rulesets or players, and {are} not rated: evenkeel match admit \
             --{option}'"
        )
    }
}

/// The latest daily backup, and those that failed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BackupStatus {
    /// When the latest one was made, in UTC.
    pub latest: Option<String>,
    /// How old the latest one is, in seconds.
    pub age_seconds: Option<f64>,
    /// How many have failed since the start.
    pub failures: u64,
}

impl Monitor {
    /// How the daemon is, and what is wrong.
    pub async fn status(&self) -> Status {
        let look = self.look().await;
        let not_ready = self.judge(look).err();
        let clock = self.service.sessions().clock();
        let store = self.service.store();
        let shown = |path: &Path| path.display().to_string();
        let mut status = Status {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started: self.started.to_string(),
            uptime_seconds: self.began.elapsed().as_secs(),
            ready: not_ready.is_none(),
            not_ready: not_ready.map(|why| why.to_string()),
            store: StoreStatus {
                place: self.place.clone(),
                bytes: self.database_size().await,
                write_failures: self.failures().writes,
                answers: look.answers(),
                in_place: store.is_in_place(),
                gone: store.gone().map(shown),
                rescued: store.rescued().map(shown),
                clock_difference_seconds: self.clocks.seconds(),
            },
            other_settings: self.other_settings(),
            too_many_new: self.held_back().await,
            backups: self.backups.as_ref().map(|own| backups(own, clock.now())),
            ..self.of_play()
        };
        let recent = self.recent.lock().since(self.failures());
        status.warnings = warnings(&status, recent);
        status
    }

    /// Whose matches are not rated because a share was used up; none if the database does not answer in time.
    async fn held_back(&self) -> Vec<HeldStatus> {
        let store = self.service.store();
        let held = timeout(PATIENCE, store.corrections().held_back()).await;
        let held = held.ok().and_then(Result::ok).unwrap_or_default();
        let status = |(owner, matches): (Holder, i64)| HeldStatus {
            by: owner.to_string(),
            matches,
        };
        held.into_iter().map(status).collect()
    }

    /// The daemons of the same database that have other settings.
    fn other_settings(&self) -> Vec<OtherSettingsStatus> {
        let others = self.service.leases().others().into_iter();
        let others = others.map(|other| OtherSettingsStatus {
            lease: other.lease,
            holder: other.holder,
            keys: other.keys,
        });
        others.collect()
    }

    /// The shares that were used up.
    fn shares(&self) -> ShareStatus {
        let sessions = self.service.sessions().metrics();
        let gate = self.gate.as_ref();
        let [connections_refused, connections_given_up] =
            gate.map_or([0; 2], |gate| gate.metrics().without_place());
        ShareStatus {
            questions_refused: sessions.no_turns(),
            games_given_up: sessions.games_given_up(),
            tickets_refused: self.service.queues().metrics().without_room(),
            connections_refused,
            connections_given_up,
        }
    }

    /// The part of the status about games, matches and queues.
    fn of_play(&self) -> Status {
        let (learning, sessions) = (self.service.learning(), self.service.sessions());
        let (learned, levels) = (learning.metrics().learned(), sessions.levels());
        let metrics = sessions.metrics();
        let gate = self.gate.as_ref();
        let queues = self.service.queues().metrics();
        Status {
            connections: gate.map_or(0, |gate| gate.metrics().open_connections()),
            games: GameStatus {
                playing: metrics.playing(),
                parked: levels.parked,
            },
            matches: MatchStatus {
                learned: learned.matches,
                rated: learned.rated,
                recorded: metrics.recorded(),
                lag_seconds: learning.metrics().lag(learning.millis()),
                learning_again: learning.is_learning_again(),
            },
            predictions: PredictionStatus {
                count: learned.predictions,
                log_loss: learned.log_loss,
                recent_log_loss: learned.recent_log_loss,
                gain: learned.beside_coin.and_then(|c| c.reach.and(Some(c.gain))),
                gain_reach: learned.beside_coin.and_then(|coin| coin.reach),
                beside_coin: learned.beside_coin.map(|coin| coin.to_string()),
            },
            shares: self.shares(),
            journal: JournalStatus {
                unforced: levels.unforced_journals,
                failures: metrics.journal_failures(),
            },
            backlog: BacklogStatus {
                matches: levels.waiting_matches,
                decisions: levels.waiting_decisions,
            },
            queues: queues.queues().into_iter().map(queue).collect(),
            hosting: hosting(queues.hosting()),
            webhooks: self.hooks.iter().map(|own| hook(own)).collect(),
            followed: self.followed.as_ref().map(|logs| FollowStatus {
                unread_bytes: logs.unread(),
                failing: logs.failing(),
                missing: logs.missing(),
                broken: logs.is_broken(),
            }),
            ..Status::default()
        }
    }
}

fn queue((name, levels): (String, QueueLevels)) -> QueueStatus {
    QueueStatus {
        name,
        tickets: levels.tickets,
        players: levels.players,
        oldest_wait_seconds: levels.oldest,
        round_age_seconds: levels.round_age(),
    }
}

fn hosting(levels: HostingLevels) -> HostingStatus {
    let stages = Stage::HOSTED.iter().zip(levels.matches);
    HostingStatus {
        connected: levels.connected,
        away: levels.away,
        draining: levels.draining,
        used_slots: levels.used_slots,
        free_slots: levels.free_slots,
        matches: stages
            .map(|(stage, count)| (stage.as_str().to_owned(), count))
            .collect(),
    }
}

fn hook(metrics: &HookMetrics) -> HookStatus {
    HookStatus {
        name: metrics.name.clone(),
        pending: metrics.waiting(),
        dropped: metrics.dropped(),
    }
}

fn backups(metrics: &BackupMetrics, now: Timestamp) -> BackupStatus {
    let latest = metrics.latest();
    let age = |latest: Timestamp| now.0.saturating_sub(latest.0).max(0) as f64 / 1_000.0;
    BackupStatus {
        latest: latest.map(|time| time.to_string()),
        age_seconds: latest.map(age),
        failures: metrics.failures(),
    }
}

/// The longest time that a match may wait until weights are learned from it, in seconds.
const LAG: f64 = 300.0;
/// The greatest age of the latest daily backup, in seconds. Beyond it, at least one backup is missing.
const OLD_BACKUP: f64 = 2.0 * 86_400.0;
/// The time that the first backup may take, in seconds.
const FIRST_BACKUP: u64 = 600;
/// The longest time between the ends of two searches while tickets wait, in seconds.
const ROUND: f64 = 60.0;
/// The log loss of a coin: of a chance of 50 % for every match.
const COIN: f64 = std::f64::consts::LN_2;
/// The fewest predictions whose mean log loss is compared with that of a coin.
const PREDICTIONS: u64 = 100;
/// The most events that may wait for a webhook. With more, its receiver is too slow or away.
const EVENTS: i64 = 100;

/// One sentence for each thing that is wrong. `recent` counts what has failed within the last hour.
pub(super) fn warnings(status: &Status, recent: Failures) -> Vec<String> {
    let mut found = Vec::new();
    let mut warn = |is_wrong: bool, text: String| {
        if is_wrong {
            found.push(text);
        }
    };
    if let Some(why) = &status.not_ready {
        warn(true, format!("not ready: {why}"));
    }
    warn(!status.store.in_place, of_files(&status.store));
    let is_ready = status.not_ready.is_none();
    warn(
        !status.store.answers && is_ready,
        "the database does not answer: matches that end are kept until it does".to_owned(),
    );
    let failures = [
        (recent.writes, "writes to the database failed"),
        (
            recent.journals,
            "times a running game could not be journaled",
        ),
        (recent.folds, "attempts to learn from matches failed"),
        (recent.backups, "daily backups failed"),
        (recent.dropped_events, "events for webhooks were dropped"),
    ];
    for (count, what) in failures {
        warn(count > 0, format!("within the last hour, {count} {what}"));
    }
    let lag = status.matches.lag_seconds;
    warn(
        lag > LAG && !status.matches.learning_again,
        format!("a match waits for {lag:.0} s to be learned from"),
    );
    let kept = status.backlog.matches;
    warn(kept > 0, format!("{kept} matches are not on disk yet"));
    let predictions = &status.predictions;
    warn(
        predictions.count >= PREDICTIONS && predictions.recent_log_loss > COIN,
        format!(
            "the last predictions were worse than a coin: log loss {:.3}",
            predictions.recent_log_loss
        ),
    );
    more_warnings(status, &mut warn);
    found
}

/// What to do if a file of the database was taken away.
fn of_files(store: &StoreStatus) -> String {
    let gone = store.gone.as_ref().unwrap_or(&store.place);
    let next = match &store.rescued {
        Some(rescued) => format!(
            "all that the database had is in {rescued}: stop the daemon, put that file in the place of {}, without the \
             files beside it, and start the daemon",
            store.place
        ),
        None => "all that the database had is being copied".to_owned(),
    };
    format!("{gone} was removed or replaced, and nothing is written any more; {next}")
}

/// What is wrong with queues, logs, webhooks and backups.
fn more_warnings(status: &Status, warn: &mut impl FnMut(bool, String)) {
    for queue in &status.queues {
        let is_stuck = queue.oldest_wait_seconds > ROUND
            && queue.round_age_seconds.is_none_or(|age| age > ROUND);
        warn(
            is_stuck,
            format!(
                "queue {}: {} tickets wait, and there was no search for a minute",
                queue.name, queue.tickets
            ),
        );
    }
    for held in &status.too_many_new {
        warn(true, held.warning());
    }
    for other in &status.other_settings {
        let what = match other.lease.as_str() {
            "fold" => "writes the weights",
            _ => "runs the queues",
        };
        let (holder, keys) = (&other.holder, other.keys.join(", "));
        warn(
            true,
            format!("daemon {holder} {what} with other settings: {keys}"),
        );
    }
    if let Some(seconds) = status.store.clock_difference_seconds {
        let side = if seconds > 0.0 { "ahead of" } else { "behind" };
        warn(
            is_apart(seconds),
            format!(
                "the clock of this machine is {:.0} s {side} that of the database",
                seconds.abs()
            ),
        );
    }
    if let Some(followed) = &status.followed {
        warn(followed.broken, "no log is followed any more".to_owned());
        let failing = followed.failing;
        warn(
            failing > 0,
            format!("{failing} followed logs cannot be read"),
        );
        let paths = counted(followed.missing, "followed log");
        warn(followed.missing > 0, format!("{paths} cannot be found"));
    }
    for hook in &status.webhooks {
        warn(
            hook.pending > EVENTS,
            format!("webhook {}: {} events wait", hook.name, hook.pending),
        );
    }
    if let Some(backups) = &status.backups {
        match backups.age_seconds {
            Some(age) => warn(
                age > OLD_BACKUP,
                format!("the latest backup is {:.0} hours old", age / 3_600.0),
            ),
            None => warn(
                status.uptime_seconds > FIRST_BACKUP,
                "there is no daily backup".to_owned(),
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::server::watch::{
        BackupStatus, FollowStatus, HookStatus, OtherSettingsStatus, QueueStatus,
    };

    /// Makes something wrong, and a part of the warning about it.
    type Wrong<'a> = (&'a dyn Fn(&mut Status), &'a str);

    fn healthy() -> Status {
        let mut status = Status {
            ready: true,
            uptime_seconds: 86_400,
            ..Status::default()
        };
        status.store.answers = true;
        status.store.in_place = true;
        status.predictions.count = 5_000;
        status.predictions.recent_log_loss = 0.69;
        status.backups = Some(BackupStatus {
            age_seconds: Some(90_000.0),
            ..BackupStatus::default()
        });
        status.queues.push(QueueStatus {
            name: "duel".to_owned(),
            tickets: 3,
            oldest_wait_seconds: 900.0,
            round_age_seconds: Some(2.0),
            ..QueueStatus::default()
        });
        status
    }

    #[test]
    fn a_healthy_daemon_has_no_warnings() {
        let none = Failures::default();
        assert_eq!(warnings(&healthy(), none), [""; 0]);
        let mut young = healthy();
        young.uptime_seconds = 5;
        young.backups = Some(BackupStatus::default());
        young.predictions = Default::default();
        assert_eq!(warnings(&young, none), [""; 0]);
    }

    #[test]
    fn each_fault_has_a_warning() {
        let recent = Failures {
            writes: 2,
            ..Failures::default()
        };
        assert_eq!(
            warnings(&healthy(), recent),
            ["within the last hour, 2 writes to the database failed"]
        );
        let faults: [Wrong<'_>; 13] = [
            (&|s| s.not_ready = Some("x".to_owned()), "not ready: x"),
            (&|s| s.store.in_place = false, "removed or replaced"),
            (&|s| s.store.answers = false, "are kept until it does"),
            (&|s| s.matches.lag_seconds = 301.0, "301 s to be learned"),
            (&|s| s.backlog.matches = 1, "1 matches are not on disk"),
            (&|s| s.predictions.recent_log_loss = 0.7, "log loss 0.700"),
            (
                &|s| s.queues[0].round_age_seconds = Some(61.0),
                "queue duel: 3 tickets wait",
            ),
            (
                &|s| {
                    s.followed = Some(FollowStatus {
                        failing: 1,
                        ..FollowStatus::default()
                    })
                },
                "1 followed logs cannot be read",
            ),
            (
                &|s| {
                    s.followed = Some(FollowStatus {
                        missing: 1,
                        ..FollowStatus::default()
                    })
                },
                "1 followed log cannot be found",
            ),
            (
                &|s| {
                    s.webhooks.push(HookStatus {
                        pending: 101,
                        ..HookStatus::default()
                    })
                },
                "101 events wait",
            ),
            (
                &|s| s.backups = Some(BackupStatus::default()),
                "no daily backup",
            ),
            (
                &|s| s.store.clock_difference_seconds = Some(-601.0),
                "601 s behind that of the database",
            ),
            (
                &|s| {
                    s.other_settings.push(OtherSettingsStatus {
                        lease: "fold".to_owned(),
                        holder: "7-ab".to_owned(),
                        keys: vec!["rating.system".to_owned()],
                    });
                },
                "7-ab writes the weights with other settings: rating.system",
            ),
        ];
        for (fault, expected) in faults {
            let mut status = healthy();
            fault(&mut status);
            let found = warnings(&status, Failures::default());
            assert_eq!(found.len(), 1, "{found:?}");
            assert!(found[0].contains(expected), "{found:?}");
        }
    }
}
