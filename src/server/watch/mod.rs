//! What operators watch: metrics for Prometheus, the status of the daemon, and what is wrong with it.
//!
//! All numbers come from memory, except for the size of the database and whether it answers, for which there is
//! a time limit: a daemon whose disk is stuck can still be watched. Nothing here changes anything.
//!
//! Entry point: [`Monitor`].

mod backups;
mod clock;
mod http;
mod monitor;
mod recent;
mod status;
mod summary;
mod warnings;

pub use backups::BackupMetrics;
pub use http::HttpMetrics;
pub use monitor::{Monitor, NotReady};
pub use status::{
    BacklogStatus, BackupStatus, FollowStatus, GameStatus, HookStatus, HostingStatus,
    JournalStatus, MatchStatus, OtherSettingsStatus, PredictionStatus, QueueStatus, Status,
    StoreStatus,
};
