//! What the daemon reports to the service manager that started it (systemd, `Type=notify`): that it serves, that it
//! reads its configuration again, that it stops, and at intervals that it is alive.
//!
//! Without a service manager, which sets `NOTIFY_SOCKET`, none of this does anything. A report that cannot be sent is
//! logged and changes nothing else.

use std::time::Duration;

#[cfg(unix)]
use sd_notify::NotifyState;

/// Reports that the daemon serves, and on which address.
pub(super) fn ready(status: &str) {
    #[cfg(unix)]
    send(&[NotifyState::Ready, NotifyState::Status(status)]);
    #[cfg(not(unix))]
    let _ = status;
}

/// Reports that the daemon reads its configuration again. [`reloaded`] must follow.
pub fn reloading() {
    #[cfg(unix)]
    if let Ok(now) = NotifyState::monotonic_usec_now() {
        send(&[NotifyState::Reloading, now]);
    }
}

/// Reports that the daemon has read its configuration again, whether it has taken it over or not.
pub fn reloaded() {
    #[cfg(unix)]
    send(&[NotifyState::Ready]);
}

/// Reports that the daemon begins to stop.
pub(super) fn stopping() {
    #[cfg(unix)]
    send(&[NotifyState::Stopping]);
}

/// Reports at half the interval of the watchdog that the daemon is alive. Never returns.
///
/// A daemon whose runtime no longer runs tasks is silent and is restarted. A database that is locked or a
/// full disk does not silence it: a restart would not help, and would disturb every running game.
pub(super) async fn watchdog() {
    let Some(interval) = watchdog_interval() else {
        return std::future::pending().await;
    };
    let mut ticks = tokio::time::interval(interval / 2);
    loop {
        ticks.tick().await;
        #[cfg(unix)]
        send(&[NotifyState::Watchdog]);
    }
}

/// How long the service manager waits for a sign of life, if it waits for any.
fn watchdog_interval() -> Option<Duration> {
    #[cfg(unix)]
    return sd_notify::watchdog_enabled().filter(|interval| !interval.is_zero());
    #[cfg(not(unix))]
    None
}

#[cfg(unix)]
fn send(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "cannot report to the service manager");
    }
}
