//! `evenkeel rebuild`: derives all weights again from the stored matches.

use std::{
    io::{self, Write},
    sync::Arc,
};

use clap::Args;
use serde_json::json;

use super::{CliError, CommonArgs, archive, open, print_json, progress::Progress};
use crate::{
    config::Config,
    learning::Rebuilt,
    logs::{self, Archive, LogZone, Reread, RereadZones},
    model::counted,
    server::Service,
};

/// Delete all weights and learn them again from the stored matches
///
/// The result is the same to the last bit as that of learning from each match when it arrived, in
/// whatever order the logs were read. A running daemon uses the new weights within a second.
#[derive(Debug, Args)]
pub(super) struct RebuildArgs {
    /// First read all archived logs again, and replace the matches that came from them. All other
    /// matches stay
    #[arg(long)]
    from_logs: bool,
    /// With --from-logs, the time zone of dates that state none, such as Europe/Berlin or +10:00. By default, that of the
    /// [[follow]] section with the name of the log's server, or else the one in which the log was read before
    #[arg(long, value_name = "ZONE", value_parser = LogZone::named, requires = "from_logs", allow_hyphen_values = true)]
    time_zone: Option<LogZone>,
    /// Print a JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) async fn run(args: RebuildArgs) -> Result<(), CliError> {
    let config = args.common.load()?;
    let archive =
        match args.from_logs {
            true => Some(archive(&config)?.ok_or_else(|| {
                CliError::input("no logs are archived: ingest.archive is not set")
            })?),
            false => None,
        };
    // With archived logs, even a missing database can be restored.
    let service = open(&config, args.from_logs).await?;
    let logs = match archive {
        Some(archive) => {
            let zones = zones(&config, args.time_zone.clone());
            Some(read_again(&service, &archive, &zones).await?)
        }
        None => None,
    };
    if let Some(reread) = logs.filter(|_| !args.json) {
        write_logs(&reread)?;
    }
    let rebuilt = learn(&service).await?;
    service.close().await;
    if args.json {
        return print_json(&json!({
            "weights": rebuilt.weights,
            "matches": rebuilt.matches,
            "rated": rebuilt.rated,
            "logs": logs.map(logs_json),
        }));
    }
    writeln!(
        io::stdout(),
        "{} from {}, {} of them rated",
        counted(rebuilt.weights, "weight"),
        counted(rebuilt.matches, "match"),
        rebuilt.rated
    )?;
    Ok(())
}

/// The time zones of archived logs, by the configuration unless one is given for all.
fn zones(config: &Config, all: Option<LogZone>) -> RereadZones {
    let followed = config.follows().into_iter();
    let servers = followed.filter_map(|follow| Some((follow.server, follow.zone?)));
    let servers = servers.filter(|(server, _)| !server.is_empty()).collect();
    RereadZones { all, servers }
}

/// Reads the archived logs again.
async fn read_again(
    service: &Service,
    archive: &Arc<Archive>,
    zones: &RereadZones,
) -> Result<Reread, CliError> {
    let mut progress = Progress::new(archive.logs()?.len() as u64, "{wide_bar} {pos}/{len} logs");
    let reread = logs::reread(service.store(), archive, zones, |done, _| {
        progress.set(done)
    })
    .await?;
    progress.done();
    Ok(reread)
}

fn logs_json(reread: Reread) -> serde_json::Value {
    let matches = reread.matches;
    json!({
        "read": reread.logs,
        "unknown_format": reread.unknown,
        "matches_as_before": matches.same,
        "matches_removed": matches.removed,
        "matches_added": matches.added,
        "matches_kept": matches.kept,
    })
}

/// Prints which matches changed.
fn write_logs(reread: &Reread) -> io::Result<()> {
    let matches = reread.matches;
    writeln!(
        io::stdout(),
        "{} read again: {} as they were, {} removed, {} added",
        counted(reread.logs, "log"),
        counted(matches.same, "match"),
        matches.removed,
        matches.added
    )?;
    if matches.kept > 0 {
        let kept = matches.kept;
        writeln!(
            io::stdout(),
            "{} kept as before, because a player in them was forgotten",
            counted(kept, "match")
        )?;
    }
    if reread.unknown > 0 {
        let unknown = reread.unknown;
        let have = if unknown == 1 { "has" } else { "have" };
        let logs = counted(unknown, "log");
        writeln!(io::stdout(), "{logs} {have} no known format")?;
    }
    Ok(())
}

/// Folds all stored matches again, with a progress bar.
async fn learn(service: &Service) -> Result<Rebuilt, CliError> {
    let mut progress = Progress::of_matches(service).await?;
    let rebuilt = service.learning().rebuild(|done| progress.set(done)).await;
    progress.done();
    Ok(rebuilt?)
}
