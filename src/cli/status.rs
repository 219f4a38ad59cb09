//! `evenkeel status`: shows the status of a running daemon, and what is wrong with it.
//!
//! The status as tables.

use std::{
    io::{self, IsTerminal, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use comfy_table::presets;

use super::{
    CliError, SettingsArgs, print_json, print_json_line,
    table::{Table, or_dash, printable},
};
use crate::{
    config::{Config, WebAddress, parse_address},
    server::watch::{BackupStatus, QueueStatus, ShareStatus, Status},
};

/// The time limit for the daemon to answer. It needs two seconds at most, also if its disk is stuck.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most bytes of an answer.
const LARGEST: u64 = 1 << 20;
/// Clears a terminal, and puts the cursor into its first line.
const CLEAR: &str = "\u{1b}[2J\u{1b}[H";

/// Show the daemon's status and warnings
///
/// Asks the daemon at the address of its metrics or pages for /status.json. Exits with 1 if the daemon cannot
/// be reached or is not ready.
#[derive(Debug, Args)]
pub(super) struct DaemonStatusArgs {
    /// Print the status as JSON; with --watch, as a stream of JSON values, one a line
    #[arg(long)]
    json: bool,
    /// Show the status again every SECONDS, until interrupted
    #[arg(
        long,
        value_name = "SECONDS",
        num_args = 0..=1,
        default_missing_value = "2",
        value_parser = clap::value_parser!(u64).range(1..=86_400)
    )]
    watch: Option<u64>,
    /// Ask at this address instead of the configured one
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_address)]
    web: Option<SocketAddr>,
    #[command(flatten)]
    settings: SettingsArgs,
}

pub(super) fn run(args: &DaemonStatusArgs) -> Result<ExitCode, CliError> {
    let address = match args.web {
        Some(address) => address,
        None => address_of(&args.settings.load()?)?,
    };
    let Some(seconds) = args.watch else {
        let status = ask(address)?;
        match args.json {
            true => print_json(&status)?,
            false => print(address, &status)?,
        }
        return Ok(match status.ready {
            true => ExitCode::SUCCESS,
            false => ExitCode::FAILURE,
        });
    };
    loop {
        let asked = ask(address);
        if io::stdout().is_terminal() && !args.json {
            write!(io::stdout(), "{CLEAR}")?;
        }
        match asked {
            Ok(status) if args.json => print_json_line(&status)?,
            Ok(status) => print(address, &status)?,
            Err(error) => writeln!(io::stderr(), "evenkeel: {error}")?,
        }
        std::thread::sleep(Duration::from_secs(seconds));
    }
}

/// The address at which the daemon of this configuration shows its status.
fn address_of(config: &Config) -> Result<SocketAddr, CliError> {
    let web = &config.web;
    let mut address = match (web.metrics_listen, web.listen) {
        (Some(address), _) | (None, WebAddress::At(address)) => address,
        (None, WebAddress::Off) => {
            let why = "the daemon shows its status nowhere: set [web] listen or metrics_listen";
            return Err(CliError::failed(why));
        }
    };
    // A daemon that listens on all addresses is also at this machine's own.
    match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => address.set_ip(Ipv4Addr::LOCALHOST.into()),
        IpAddr::V6(ip) if ip.is_unspecified() => address.set_ip(Ipv6Addr::LOCALHOST.into()),
        _ => {}
    }
    Ok(address)
}

/// Asks the daemon at this address.
fn ask(address: SocketAddr) -> Result<Status, CliError> {
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(PATIENCE))
        .http_status_as_error(false)
        .max_redirects(0)
        .proxy(None)
        .user_agent(concat!("evenkeel/", env!("CARGO_PKG_VERSION")))
        .build();
    let fail =
        |why: String| CliError::failed(format!("no status from the daemon at {address}: {why}"));
    let agent = ureq::Agent::from(config);
    let sent = agent.get(format!("http://{address}/status.json")).call();
    let mut response = sent.map_err(|error| match error {
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            CliError::failed(format!(
                "the daemon is not running at {address}, or has no pages there: see [web] listen"
            ))
        }
        // The port for game servers answers with lines of its own.
        ureq::Error::Protocol(_) => {
            fail("this is not the port of the pages, which is [web] listen".to_owned())
        }
        other => fail(other.to_string()),
    })?;
    let body = response.body_mut().with_config().limit(LARGEST);
    let text = body.read_to_string();
    let text = text.map_err(|error| fail(error.to_string()))?;
    match response.status().as_u16() {
        200 => serde_json::from_str(&text)
            .map_err(|error| fail(format!("it answers something else: {error}"))),
        status => {
            let line = text.lines().next().unwrap_or_default();
            let line: String = line.chars().take(200).collect();
            Err(fail(format!("status {status}, {}", printable(&line))))
        }
    }
}

/// Prints the status of the daemon at this address, for people.
fn print(address: SocketAddr, status: &Status) -> Result<(), CliError> {
    let mut out = io::stdout().lock();
    writeln!(out, "{}", summary(address, status))?;
    if let Some(sentence) = &status.predictions.beside_coin {
        writeln!(out, "{}", printable(sentence))?;
    }
    if !status.queues.is_empty() {
        writeln!(out, "{}", queues(&status.queues))?;
    }
    for warning in &status.warnings {
        writeln!(out, "warning: {}", printable(warning))?;
    }
    Ok(())
}

/// The status without queues and warnings of the daemon at this address, one row for each part.
fn summary(address: SocketAddr, status: &Status) -> comfy_table::Table {
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
        ("shares used up", shares(&status.shares)),
        (
            "to learn from",
            format!("{:.1} s behind{again}", matches.lag_seconds),
        ),
        ("predictions", losses),
    ]
}

/// What was refused or given up because a share was used up.
fn shares(shares: &ShareStatus) -> String {
    let counts = [
        (shares.questions_refused, "questions for teams refused"),
        (shares.games_given_up, "games given up"),
        (shares.tickets_refused, "tickets refused"),
        (shares.connections_refused, "connections refused"),
        (
            shares.connections_given_up,
            "connections gave up their place",
        ),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    or_none(counts.join(", "))
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
fn queues(queues: &[QueueStatus]) -> Table<'_, QueueStatus> {
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
    fn the_status_is_at_the_metrics_or_at_the_pages() {
        let at = |text: &str| {
            let config = Config::load(text, []).unwrap();
            address_of(&config).map_or_else(|error| error.to_string(), |at| at.to_string())
        };
        assert_eq!(at(""), "127.0.0.1:7998");
        assert_eq!(at("[web]\nlisten = '0.0.0.0:81'"), "127.0.0.1:81");
        assert_eq!(at("[web]\nmetrics_listen = '[::]:82'"), "[::1]:82");
        let off = at("[web]\nlisten = 'off'");
        assert!(off.contains("nowhere"), "{off}");
    }

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
