//! `evenkeel archive`: shows the archived matches, archives more, and writes them to files.

use std::{
    fs,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::Args;

use super::{CliError, CommonArgs, OutputFile, open, print_json, progress::Progress};
use crate::{
    domain::{DAY, Timestamp, counted},
    server::Service,
    store::ChunkRow,
};

/// Show the archived matches, archive more, or write them to files
///
/// Archived matches are compressed in the database, at most 1,000 in a chunk. They count as before: weights, lists
/// and `evenkeel rebuild` stay the same. The daemon archives matches by itself if `[store] archive_days` is set.
#[derive(Debug, Args)]
pub(super) struct ArchiveArgs {
    /// Archive all matches that ended more than this number of days ago
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: Option<u32>,
    /// Write each chunk to a file of this folder, as JSON lines that `evenkeel ingest` reads. Files that exist are
    /// replaced
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,
    /// Print the chunks as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    common: CommonArgs,
}

pub(super) async fn run(args: ArchiveArgs) -> Result<(), CliError> {
    let service = open(&args.common.load()?, false).await?;
    if let Some(days) = args.days {
        let now = service.sessions().clock().now();
        let before = now.plus_millis(-i64::from(days) * DAY);
        archive(&service, before).await?;
    }
    let chunks = service.store().chunks().await?;
    if let Some(folder) = &args.write {
        write(&service, &chunks, folder).await?;
    }
    service.close().await;
    report(&chunks, args.json)
}

/// Archives all matches that ended before an instant. The last chunk need not be full.
async fn archive(service: &Service, before: Timestamp) -> Result<(), CliError> {
    let (total, _) = service.store().extent().await?;
    let total = u64::try_from(total).unwrap_or(0);
    let mut progress = Progress::new(total, "{wide_bar} {pos} matches archived");
    let mut done = 0;
    loop {
        match service.store().archive_matches(before, 1, None).await? {
            0 => break,
            moved => done += moved,
        }
        progress.set(done);
    }
    progress.done();
    Ok(())
}

/// Writes each chunk to a file of the folder. An older file is replaced once the new one is complete on disk.
async fn write(service: &Service, chunks: &[ChunkRow], folder: &Path) -> Result<(), CliError> {
    fs::create_dir_all(folder).map_err(CliError::in_file(folder))?;
    for chunk in chunks.iter().filter(|chunk| chunk.matches > 0) {
        let Some(content) = service.store().chunk_file(chunk.chunk).await? else {
            continue;
        };
        let path = folder.join(format!("matches-{:06}.jsonl.gz", chunk.chunk));
        let written = || {
            let mut file = OutputFile::create(&path)?;
            file.write_all(&content)?;
            file.commit()
        };
        written().map_err(CliError::in_file(&path))?;
    }
    Ok(())
}

/// Prints the chunks as JSON, or their number and size in one line.
fn report(chunks: &[ChunkRow], json: bool) -> Result<(), CliError> {
    if json {
        return print_json(chunks);
    }
    let mut out = io::stdout().lock();
    let sum = |part: fn(&ChunkRow) -> i64| {
        let sum: i64 = chunks.iter().map(part).sum();
        u64::try_from(sum).unwrap_or(0)
    };
    let matches = counted(sum(|chunk| chunk.matches), "match");
    let (number, stored) = (
        counted(chunks.len() as u64, "chunk"),
        sum(|chunk| chunk.stored),
    );
    write!(out, "{matches} archived in {number}")?;
    if let (Some(first), Some(last)) = (
        chunks.iter().map(|chunk| chunk.first_end).min(),
        chunks.iter().map(|chunk| chunk.last_end).max(),
    ) {
        write!(
            out,
            ", {} kB, from {first} to {last}",
            stored.div_ceil(1_000)
        )?;
    }
    Ok(writeln!(out)?)
}
