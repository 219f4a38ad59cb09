//! `evenkeel status`: shows the status of a running daemon, and what is wrong with it.

mod shown;

use std::{
    io::{self, IsTerminal, Write},
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    process::ExitCode,
    time::Duration,
};

use clap::Args;

use super::{CliError, SettingsArgs, print_json, print_json_line, table::printable};
use crate::{
    config::{Config, WebAddress, parse_address},
    server::watch::Status,
};

use shown::{queues, summary};

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
}
