//! The status as tables.

use std::net::SocketAddr;

use comfy_table::presets;

use super::super::table::{Table, or_dash, printable};
use crate::server::watch::{BackupStatus, QueueStatus, Status};

/// The status without queues and warnings of the daemon at this address, one row for each part.
pub(super) fn summary(address: SocketAddr, status: &Status) -> comfy_table::Table {
    let mut shown = comfy_table::Table::new();
    shown.load_style(presets::UTF8_FULL_CONDENSED);
    let rows = [
        of_daemon(address, status),
        of_play(status),
        of_hosting(status),
        of_disk(status),
    ];
    for (head, text) in rows.into_iter().flatten() {
        shown.add_row([head.to_owned(), printable(&text)]);
    }
    shown
}

/// What a row shows, and its head.
type Row = (&'static str, String);

fn of_daemon(address: SocketAddr, status: &Status) -> Vec<Row> {
    let state = match &status.not_ready {
        None => "ready".to_owned(),
        Some(why) => format!("not ready: {why}"),
    };
    let up = span(status.uptime_seconds);
    vec![
        ("daemon", format!("version {} at {address}", status.version)),
        ("state", state),
        ("up", format!("{up}, since {}", status.started)),
        ("connections", status.connections.to_string()),
    ]
}

fn of_play(status: &Status) -> Vec<Row> {
    let (games, matches, predictions) = (&status.games, &status.matches, &status.predictions);
    let learned = format!(
        "{} learned from, {} rated, {} recorded since the start",
        matches.learned, matches.rated, matches.recorded
    );
    let losses = format!(
        "{}, log loss {:.4}, of the last 100 {:.4}",
        predictions.count, predictions.log_loss, predictions.recent_log_loss
    );
    let again = match matches.learning_again {
        true => {
            "; history was corrected: weights are without the correction until all is learned again"
        }
        false => "",
    };
    vec![
        (
            "games",
            format!("{} in play, {} parked", games.playing, games.parked),
        ),
        ("matches", learned),
        (
            "to learn from",
            format!("{:.1} s behind{again}", matches.lag_seconds),
        ),
        ("predictions", losses),
    ]
}

fn of_hosting(status: &Status) -> Vec<Row> {
    let hosting = &status.hosting;
    let instances = format!(
        "{} connected, {} away, {} draining; {} slots used, {} free",
        hosting.connected, hosting.away, hosting.draining, hosting.used_slots, hosting.free_slots
    );
    let stages = hosting.matches.iter().filter(|(_, count)| **count > 0);
    let stages: Vec<String> = stages.map(|(stage, n)| format!("{n} {stage}")).collect();
    let hooks = status.webhooks.iter().map(|hook| {
        let (name, pending, dropped) = (&hook.name, hook.pending, hook.dropped);
        format!("{name}: {pending} waiting, {dropped} dropped")
    });
    let hooks: Vec<String> = hooks.collect();
    vec![
        ("instances", instances),
        ("hosted matches", or_none(stages.join(", "))),
        ("webhooks", or_none(hooks.join("; "))),
    ]
}

fn of_disk(status: &Status) -> Vec<Row> {
    let (journal, backlog) = (&status.journal, &status.backlog);
    let size = status.store.bytes.map(|bytes| bytes.div_ceil(1_000));
    let size = size.map_or("size unknown".to_owned(), |kb| format!("{kb} kB"));
    let failures = status.store.write_failures;
    let unread = |bytes: i64| format!("{bytes} bytes unread");
    let logs = status
        .followed
        .as_ref()
        .map(|logs| unread(logs.unread_bytes));
    vec![
        ("followed logs", or_none(logs.unwrap_or_default())),
        (
            "journal",
            format!(
                "{} not forced to the disk, {} failures",
                journal.unforced, journal.failures
            ),
        ),
        (
            "to be written",
            format!(
                "{} matches, {} decisions",
                backlog.matches, backlog.decisions
            ),
        ),
        ("database", format!("{size}, {failures} failed writes")),
        ("stored in", or_none(status.store.place.clone())),
        ("last backup", backup(status.backups.as_ref())),
    ]
}

fn or_none(text: String) -> String {
    match text.is_empty() {
        true => "none".to_owned(),
        false => text,
    }
}

fn backup(backups: Option<&BackupStatus>) -> String {
    match backups {
        None => "off".to_owned(),
        Some(BackupStatus {
            latest: Some(latest),
            age_seconds,
            ..
        }) => {
            let age = span(age_seconds.unwrap_or_default() as u64);
            format!("{latest}, {age} ago")
        }
        Some(_) => "none yet".to_owned(),
    }
}

/// The queues, one row for each.
pub(super) fn queues(queues: &[QueueStatus]) -> Table<'_, QueueStatus> {
    let ago = |age: f64| format!("{} ago", span(age as u64));
    Table::of(queues)
        .text("queue", |queue| &queue.name)
        .num("tickets", |queue| queue.tickets)
        .num("players", |queue| queue.players)
        .num("oldest wait", |queue| {
            span(queue.oldest_wait_seconds as u64)
        })
        .num("last search", |queue| {
            or_dash(queue.round_age_seconds.map(ago))
        })
}

/// Seconds in the two largest units that fit.
fn span(seconds: u64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3_600, seconds / 86_400);
    match (days, hours, minutes) {
        (0, 0, 0) => format!("{seconds} s"),
        (0, 0, _) => format!("{minutes} min {} s", seconds % 60),
        (0, _, _) => format!("{hours} h {} min", minutes % 60),
        _ => format!("{days} d {} h", hours % 24),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_have_two_units() {
        assert_eq!(span(59), "59 s");
        assert_eq!(span(61), "1 min 1 s");
        assert_eq!(span(7_260), "2 h 1 min");
        assert_eq!(span(200_000), "2 d 7 h");
    }

    #[test]
    fn everything_is_shown_and_nothing_drives_the_terminal() {
        let mut status = Status {
            version: "\u{1b}[2J".to_owned(),
            not_ready: Some("because".to_owned()),
            ..Status::default()
        };
        status.hosting.matches.insert("playing".to_owned(), 2);
        status.matches.learning_again = true;
        status.store.place = "/a/\u{1b}.db".to_owned();
        let address = SocketAddr::from(([127, 0, 0, 1], 7998));
        let shown = summary(address, &status).to_string();
        assert!(!shown.contains('\u{1b}'), "{shown}");
        assert!(shown.contains("not ready: because") && shown.contains("2 playing"));
        assert!(shown.contains("history was corrected"));
        assert!(shown.contains(" at 127.0.0.1:7998 ") && shown.contains("/a/"));
    }
}
