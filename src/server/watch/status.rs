//! The status of the daemon, as `/status.json` has it and `evenkeel status` shows it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

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
    /// Whether the open file is still at its path.
    pub in_place: bool,
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
