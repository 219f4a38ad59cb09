//! Sentences about what is wrong with the daemon, and the limits beyond which something is wrong.

use super::{Status, clock::is_apart, recent::Failures};
use crate::model::counted;

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
    warn(
        !status.store.in_place,
        "the database file was removed or replaced: restart the daemon".to_owned(),
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
        let faults: [Wrong<'_>; 12] = [
            (&|s| s.not_ready = Some("x".to_owned()), "not ready: x"),
            (&|s| s.store.in_place = false, "removed or replaced"),
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
