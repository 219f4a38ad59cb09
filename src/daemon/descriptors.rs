//! How many files and sockets the daemon may have open at a time. With too few it would fail at any place, and each time with
//! another message: opening the database, or when most games run.

use crate::config::Config;

/// The process may have too few files and sockets open for its configuration.
#[derive(Debug, thiserror::Error)]
#[error(
    "this process may have {allowed} files and sockets open, and needs {needed} for the max_connections of [server] and [web]: \
     raise the limit (`ulimit -n {needed}`, or LimitNOFILE= of the systemd unit), or lower these numbers"
)]
pub struct TooFewDescriptors {
    allowed: u64,
    needed: u64,
}

/// What the daemon opens for itself: the database with its connections, listeners, the folder of journals, a backup.
const OWN: u64 = 64;
/// What the runtime of a thread opens.
const THREAD: u64 = 4;
/// A connection has its socket and the journal of its game.
const CONNECTION: u64 = 2;
/// A followed log, or a webhook: the file or socket, and a second one while it changes.
const FOLLOWED: u64 = 2;

/// How many a daemon of this configuration needs.
fn needed(config: &Config) -> u64 {
    let threads = config.server.threads() as u64;
    let connections = config.server.limits.max_connections.get();
    let visitors = config.web.pages.limits.max_connections.get();
    let followed = (config.follow.len() + config.webhook.len()) as u64;
    OWN + THREAD * threads
        + CONNECTION * u64::from(connections)
        + u64::from(visitors)
        + FOLLOWED * followed
}

/// Raises the number that this process may have open as far as it needs and may.
///
/// # Errors
/// That is not far enough.
#[cfg(unix)]
pub(super) fn have_enough(config: &Config) -> Result<(), TooFewDescriptors> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let needed = needed(config);
    let limit = getrlimit(Resource::Nofile);
    // `None` stands for no limit.
    let is_enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= needed);
    if is_enough(limit.current) {
        return Ok(());
    }
    let raised = Rlimit {
        current: Some(limit.maximum.map_or(needed, |most| most.min(needed))),
        maximum: limit.maximum,
    };
    let set = setrlimit(Resource::Nofile, raised);
    let allowed = getrlimit(Resource::Nofile).current;
    if is_enough(allowed) {
        return Ok(());
    }
    tracing::debug!(?set, "the limit is not raised far enough");
    let allowed = allowed.unwrap_or(u64::MAX);
    Err(TooFewDescriptors { allowed, needed })
}

/// Here, there is no such limit.
#[cfg(not(unix))]
pub(super) fn have_enough(_: &Config) -> Result<(), TooFewDescriptors> {
    Ok(())
}
