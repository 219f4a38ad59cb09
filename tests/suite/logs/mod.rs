//! Logs through the library: complete files, growing logs, the archive, export and import.

mod follow;
mod identities;
mod twins;

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use crate::common::{self, append, service, weights};
use evenkeel::{
    ingest::{Context as IngestContext, LogItem, Reader, by_name, write_record},
    logs::{self, Archive, Follow, Follower, Ingest, IngestEvent, LogError, LogZone},
    model::{Fingerprint, Kind, MatchRecord, PlayerKey, Ruleset, Timestamp},
    server::Service,
    store::{Cursor, StoredMatch},
};
use tempfile::TempDir;

const CTF: &str = include_str!("../../fixtures/openarena/ctf-014.log");
const OTHER: &str = include_str!("../../fixtures/openarena/ctf-017.log");
const NEXUIZ: &str = include_str!("../../fixtures/nexuiz/ctf-01.log");

const SETTLE: Duration = Duration::from_secs(600);

async fn new() -> (Arc<Service>, TempDir) {
    service(&common::config("")).await
}

/// All stored matches, in order.
async fn stored(service: &Service) -> Vec<StoredMatch> {
    let (mut all, mut cursor) = (Vec::new(), Cursor::START);
    loop {
        let (mut matches, next) = service.store().matches().after(cursor, 256).await.unwrap();
        if matches.is_empty() {
            return all;
        }
        all.append(&mut matches);
        cursor = next;
    }
}

/// The matches, whichever command has read them.
fn known(all: &[StoredMatch]) -> Vec<(Fingerprint, MatchRecord)> {
    let one = |stored: &StoredMatch| {
        let client = String::new();
        let record = MatchRecord {
            client,
            ..stored.record.clone()
        };
        (stored.fingerprint, record)
    };
    all.iter().map(one).collect()
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}

/// Reads complete files. Returns the numbers of games found, new matches, second halves and
/// duplicates.
async fn ingest(service: &Service, archive: Option<&Arc<Archive>>, files: &[&Path]) -> [u64; 4] {
    let mut ingest = Ingest::new(service.store());
    ingest.archive = archive.cloned();
    for file in files {
        ingest
            .file(file, &mut |_: IngestEvent<'_>| {})
            .await
            .unwrap();
    }
    service.learning().refresh().await.unwrap();
    let counts = ingest.counts;
    let new = counts.recorded.len() as u64;
    [counts.found, new, counts.halves, counts.duplicates]
}

fn follower(service: &Arc<Service>, path: &Path, archive: Option<Arc<Archive>>) -> Follower {
    let follow = Follow {
        path: path.to_owned(),
        format: None,
        server: String::new(),
        game: String::new(),
        zone: Some(logs::LogZone::default()),
    };
    Follower::start(
        service.store().clone(),
        service.learning().clone(),
        vec![follow],
        archive,
        SETTLE,
    )
    .unwrap()
}

fn now() -> SystemTime {
    SystemTime::now()
}

/// A log of half a match: two teams of two players, beginning at this minute.
fn half(minute: u32, [red, blue]: [[&str; 2]; 2], scores: [u32; 2]) -> String {
    let at = |minutes: u32| {
        format!(
            "L 01/24/2026 - {:02}:{:02}:00: ",
            minutes / 60,
            minutes % 60
        )
    };
    let (start, end) = (at(minute), at(minute + 15));
    let mut log = format!("{start}Log file started (file \"l\") (game \"tfc\") (version \"1\")\n");
    log += &format!("{start}Started map \"well\" (CRC \"1\")\n");
    for (team, players) in [("Red", red), ("Blue", blue)] {
        for name in players {
            let uid = name.as_bytes()[0];
            log += &format!("{start}\"{name}<{uid}><STEAM_0:0:{uid}><>\" joined team \"{team}\"\n");
        }
    }
    log += &format!("{start}World triggered \"Match_Begins_Now\"\n");
    for (team, score) in [("Red", scores[0]), ("Blue", scores[1])] {
        log += &format!("{end}Team \"{team}\" scored \"{score}\" with \"2\" players\n");
    }
    log + &end + "Log file closed\n"
}

const AB: [[&str; 2]; 2] = [["a", "b"], ["c", "d"]];
const BA: [[&str; 2]; 2] = [["c", "d"], ["a", "b"]];

#[tokio::test]
async fn two_halves_are_one_match_in_whatever_order_they_come() {
    let logs = TempDir::new().unwrap();
    let files: Vec<PathBuf> = ["1", "2", "3"].map(|n| logs.path().join(n)).into();
    write(&files[0], &half(60, AB, [10, 30]));
    write(&files[1], &half(80, BA, [10, 50]));
    // The next match of the same players.
    write(&files[2], &half(100, AB, [0, 10]));
    let mut results = Vec::new();
    for order in [[0, 1, 2], [1, 0, 2]] {
        let (service, _folder) = new().await;
        for (at, file) in order.into_iter().enumerate() {
            let [found, new, halves, duplicates] = ingest(&service, None, &[&files[file]]).await;
            let expected = if at == 1 { [1, 1, 1, 0] } else { [1, 1, 0, 0] };
            assert_eq!([found, new, halves, duplicates], expected);
        }
        assert_eq!(
            ingest(&service, None, &[&files[1], &files[0], &files[2]]).await,
            [3, 0, 0, 3]
        );
        let all = stored(&service).await;
        assert_eq!(all.len(), 2);
        assert_eq!(all[0].record.scores, [60.0, 40.0]);
        assert_eq!(all[1].record.scores, [0.0, 10.0]);
        results.push((known(&all), weights(service.store()).await));
    }
    assert_eq!(results[0], results[1]);
    // Ingesting everything at once, and learning again, gives the same.
    let (service, _folder) = new().await;
    let paths: Vec<&Path> = files.iter().map(PathBuf::as_path).collect();
    assert_eq!(ingest(&service, None, &paths).await, [3, 2, 1, 0]);
    assert_eq!(
        (
            known(&stored(&service).await),
            weights(service.store()).await
        ),
        results[0]
    );
    service.learning().rebuild(|_| ()).await.unwrap();
    assert_eq!(weights(service.store()).await, results[0].1);
}

#[tokio::test]
async fn what_is_written_out_is_the_same_when_it_is_read_in() {
    let logs = TempDir::new().unwrap();
    let (log, nexuiz) = (logs.path().join("a"), logs.path().join("b"));
    write(&log, CTF);
    write(&nexuiz, NEXUIZ);
    // In a log without dates, times count from its beginning.
    let undated = logs.path().join("c");
    write(&undated, &OTHER.replace("g_timestamp", "x"));
    let (service, _folder) = new().await;
    ingest(&service, None, &[&log, &nexuiz, &undated]).await;
    let liz = PlayerKey {
        kind: Kind::Bot,
        id: "Liz".into(),
    };
    service
        .store()
        .corrections()
        .forget_player(&liz, Timestamp(0))
        .await
        .unwrap();
    service.learning().refresh().await.unwrap();
    let all = stored(&service).await;
    assert_eq!(all.len(), 3);
    assert!(
        all.iter()
            .any(|one| one.fingerprint != Fingerprint::of(&one.record))
    );
    let lines: Vec<_> = all
        .iter()
        .map(|one| write_record(&one.record, one.fingerprint))
        .collect();
    let written = logs.path().join("d");
    write(&written, &(lines.join("\n") + "\n"));
    let (other, _folder) = new().await;
    assert_eq!(ingest(&other, None, &[&written]).await, [3, 3, 0, 0]);
    assert_eq!(known(&stored(&other).await), known(&all));
    assert_eq!(weights(other.store()).await, weights(service.store()).await);
    // The logs themselves are recognised, too, and a forgotten player does not come back with them.
    assert_eq!(ingest(&other, None, &[&log, &nexuiz, &undated]).await[3], 3);
    assert!(
        other
            .store()
            .matches()
            .names(&liz)
            .await
            .unwrap()
            .is_empty()
    );
}

#[tokio::test]
async fn a_log_that_grows_is_told_match_by_match() {
    let logs = TempDir::new().unwrap();
    let path = logs.path().join("games.log");
    let (service, _folder) = new().await;
    let mut follower = follower(&service, &path, None);
    assert_eq!(follower.poll(now()).await, 0);
    // In pieces that end within a line.
    let pieces: Vec<&[u8]> = CTF.as_bytes().chunks(7_001).collect();
    let mut new = 0;
    for piece in &pieces {
        append(&path, std::str::from_utf8(piece).unwrap());
        new += follower.poll(now()).await;
    }
    assert_eq!(new, 1);
    append(&path, OTHER);
    assert_eq!(follower.poll(now()).await, 1);
    assert_eq!(follower.poll(now()).await, 0);
    // The result is as if the file had been read at once.
    let (other, _folder) = self::new().await;
    ingest(&other, None, &[&path]).await;
    assert_eq!(known(&stored(&service).await), known(&stored(&other).await));
    for (service, client) in [(&service, "follow"), (&other, "ingest")] {
        let all = stored(service).await;
        assert!(
            all.iter().all(|one| one.record.client == client),
            "{client}"
        );
    }
}

#[tokio::test]
async fn rotation_truncation_and_a_restart_lose_nothing_and_double_nothing() {
    let logs = TempDir::new().unwrap();
    let path = logs.path().join("games.log");
    let (service, _folder) = new().await;
    let mut follower = follower(&service, &path, None);
    let middle = CTF.len() / 2;
    append(&path, &CTF[..middle]);
    assert_eq!(follower.poll(now()).await, 0);
    // In mid-game and mid-line, the log continues in another file. The rest of the line is lost.
    fs::rename(&path, logs.path().join("games.log.1")).unwrap();
    let rest = &CTF[middle..];
    append(&path, &rest[rest.find('\n').unwrap() + 1..]);
    assert_eq!(follower.poll(now()).await, 1);
    // The file is truncated, and written from the beginning.
    write(&path, &OTHER[..OTHER.len() / 2]);
    assert_eq!(follower.poll(now()).await, 0);
    drop(follower);
    let mut follower = self::follower(&service, &path, None);
    append(&path, &OTHER[OTHER.len() / 2..]);
    assert_eq!(follower.poll(now()).await, 1);
    drop(follower);
    let mut follower = self::follower(&service, &path, None);
    assert_eq!(follower.poll(now()).await, 0);
    assert_eq!(stored(&service).await.len(), 2);
}

/// Writes the parts of a log to files that were written one after the other, the oldest first, ending a minute ago.
fn write_parts(folder: &Path, names: &[&str], log: &str) {
    let mut rest = log;
    for (at, name) in names.iter().enumerate() {
        let left = names.len() - at;
        let end = rest[..rest.len() / left].rfind('\n').unwrap() + 1;
        let (part, more) = rest.split_at(if left == 1 { rest.len() } else { end });
        rest = more;
        let path = folder.join(name);
        match name.ends_with(".gz") {
            true => {
                let file = File::create(&path).unwrap();
                let mut gzip = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
                gzip.write_all(part.as_bytes()).unwrap();
                gzip.finish().unwrap();
            }
            false => write(&path, part),
        }
        let ago = Duration::from_secs(60 + 10 * left as u64);
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(now() - ago).unwrap();
    }
}

#[tokio::test]
async fn a_game_over_several_files_that_began_before_the_start_is_complete() {
    let (whole, _folder) = new().await;
    let logs = TempDir::new().unwrap();
    let path = logs.path().join("games.log");
    write(&path, CTF);
    ingest(&whole, None, &[&path]).await;
    let right = known(&stored(&whole).await);
    for names in [
        &["games.log.2", "games.log.1", "games.log"][..],
        &[
            "games.log-20261118",
            "games.log-20261119",
            "games.log-20261120",
            "games.log",
        ],
        &[
            "games.log.3.gz",
            "games.log.2.gz",
            "games.log.1",
            "games.log",
        ],
        &["games-1.log", "games-2.log", "games.log"],
    ] {
        for followed in ["games.log", ""] {
            let logs = TempDir::new().unwrap();
            write_parts(logs.path(), names, CTF);
            let (service, _folder) = new().await;
            let mut follower = follower(&service, &logs.path().join(followed), None);
            assert_eq!(follower.poll(now()).await, 1, "{names:?} {followed}");
            assert_eq!(
                known(&stored(&service).await),
                right,
                "{names:?} {followed}"
            );
        }
    }
    // It has ended in a file that was rotated, too, and nobody followed it.
    let logs = TempDir::new().unwrap();
    write_parts(
        logs.path(),
        &["games.log.3", "games.log.2", "games.log.1"],
        CTF,
    );
    let path = logs.path().join("games.log");
    append(&path, &OTHER[..OTHER.len() / 2]);
    let (service, _folder) = new().await;
    let mut follower = follower(&service, &path, None);
    assert_eq!(follower.poll(now()).await, 1);
    append(&path, &OTHER[OTHER.len() / 2..]);
    assert_eq!(follower.poll(now()).await, 1);
    let all = known(&stored(&service).await);
    assert!(all.len() == 2 && all.contains(&right[0]));
}

/// Three ways in which a log is rotated fast: each loses nothing that is on the disk.
#[tokio::test]
async fn fast_renames_lose_no_line() {
    let thirds = |text: &str| -> Vec<String> {
        let cut = |at: usize| text[..at].rfind('\n').unwrap() + 1;
        let (one, two) = (cut(text.len() / 3), cut(2 * text.len() / 3));
        [&text[..one], &text[one..two], &text[two..]]
            .map(str::to_owned)
            .into()
    };
    for way in ["shift", "dates", "folder"] {
        let logs = TempDir::new().unwrap();
        let path = logs.path().join("games.log");
        let (service, _folder) = new().await;
        let followed = if way == "folder" { logs.path() } else { &path };
        let mut follower = follower(&service, followed, None);
        let parts = thirds(CTF);
        append(&path, &parts[0]);
        assert_eq!(follower.poll(now()).await, 0, "{way}");
        for part in &parts[1..] {
            let old = |number: u32| logs.path().join(format!("games.log.{number}"));
            if old(1).exists() && way != "dates" {
                fs::rename(old(1), old(2)).unwrap();
            }
            let to = match way {
                "dates" if logs.path().join("games.log-20261120-1").exists() => {
                    logs.path().join("games.log-20261120-2")
                }
                "dates" => logs.path().join("games.log-20261120-1"),
                _ => old(1),
            };
            fs::rename(&path, to).unwrap();
            append(&path, part);
        }
        let recorded = follower.poll(now()).await + follower.poll(now()).await;
        assert_eq!((recorded, stored(&service).await.len()), (1, 1), "{way}");
    }
}

#[tokio::test]
async fn a_folder_of_logs() {
    let logs = TempDir::new().unwrap();
    let (service, _folder) = new().await;
    let mut follower = follower(&service, logs.path(), None);
    assert_eq!(follower.poll(now()).await, 0);
    append(&logs.path().join("a.log"), CTF);
    append(&logs.path().join("notes.txt"), "nothing of interest\n");
    append(&logs.path().join(".hidden"), OTHER);
    fs::create_dir(logs.path().join("folder")).unwrap();
    assert_eq!(follower.poll(now()).await, 1);
    // Its game ends with the file, once the file has not changed for long.
    let ut99 = logs.path().join("b.log");
    let log = "0.00\tinfo\tLog_Standard\tngLog
0.00\tgame\tGameClass\tBotpack.DeathMatchPlus
0.00\tgame\tTeamGame\tFalse
1.00\tplayer\tConnect\tA\t0\tFalse
1.00\tplayer\tConnect\tB\t1\tFalse
2.00\tgame_start
9.00\tgame_end\tfraglimit
";
    append(&ut99, log);
    assert_eq!(follower.poll(now()).await, 0);
    assert_eq!(follower.poll(now() + SETTLE).await, 1);
    assert_eq!(follower.poll(now() + SETTLE).await, 0);
    // A log that counted as complete grows again.
    append(&logs.path().join("a.log"), OTHER);
    assert_eq!(follower.poll(now() + SETTLE).await, 1);
    fs::remove_file(&ut99).unwrap();
    assert_eq!(follower.poll(now() + SETTLE).await, 0);
    assert_eq!(stored(&service).await.len(), 3);
}

#[tokio::test]
async fn a_followed_log_without_dates_is_dated_by_its_file() {
    let logs = TempDir::new().unwrap();
    let path = logs.path().join("games.log");
    let (service, _folder) = new().await;
    append(&path, &CTF.replace("g_timestamp", "x"));
    let mut follower = follower(&service, &path, None);
    let before = now() - Duration::from_secs(3_600);
    let file = File::options().write(true).open(&path).unwrap();
    file.set_modified(before).unwrap();
    assert_eq!(follower.poll(now()).await, 1);
    let all = stored(&service).await;
    let written = before
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .as_millis() as i64;
    let ago = written - all[0].record.end.0;
    assert!((0..60_000).contains(&ago), "{ago}");
}

#[tokio::test]
async fn an_archived_log_without_its_origin_is_named() {
    let folder = TempDir::new().unwrap();
    let archive = Archive::open(&folder.path().join("archive")).unwrap();
    let path = folder.path().join("games.log");
    write(&path, CTF);
    let (service, _folder) = new().await;
    ingest(&service, Some(&archive), &[&path]).await;
    let (log, _) = archive.logs().unwrap().remove(0);
    let json = log.with_file_name(
        log.file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .replace(".log.gz", ".json"),
    );
    fs::remove_file(&json).unwrap();
    let (other, _folder) = new().await;
    let error = logs::reread(
        other.store(),
        &archive,
        &logs::RereadZones::default(),
        |_, _| (),
    )
    .await
    .unwrap_err();
    let json = json.display().to_string();
    assert!(error.to_string().starts_with(&json), "{error}");
}

#[tokio::test]
async fn what_is_no_log_is_said_and_nothing_is_kept_of_it() {
    let folder = TempDir::new().unwrap();
    let (path, archived) = (folder.path().join("x"), folder.path().join("archive"));
    write(&path, "nonsense\n");
    let (service, _folder) = new().await;
    let archive = Archive::open(&archived).unwrap();
    let mut ingest = Ingest::new(service.store());
    ingest.archive = Some(archive.clone());
    let error = ingest
        .file(&path, &mut |_: IngestEvent<'_>| {})
        .await
        .unwrap_err();
    assert!(matches!(error, LogError::Unknown { .. }), "{error}");
    let mut follower = follower(&service, &path, Some(archive.clone()));
    assert_eq!(follower.poll(now() + SETTLE).await, 0);
    assert_eq!(follower.poll(now() + SETTLE).await, 0);
    follower.end().await;
    assert!(archive.logs().unwrap().is_empty());
    assert_eq!(fs::read_dir(&archived).unwrap().count(), 0);
}

#[tokio::test]
async fn archived_logs_are_read_again() {
    let folder = TempDir::new().unwrap();
    let archive = Archive::open(&folder.path().join("archive")).unwrap();
    let paths = ["a", "b", "c", "d"].map(|name| folder.path().join(name));
    write(&paths[0], CTF);
    write(&paths[1], &NEXUIZ.replace("Lion", "Lioness"));
    write(&paths[2], &half(60, AB, [10, 30]));
    write(&paths[3], &half(80, BA, [10, 50]));
    let (service, _folder) = new().await;
    let files: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
    ingest(&service, Some(&archive), &files).await;
    // A match that came over the protocol, without a log.
    let own = common::game(9, &[(Kind::Human, "x")], &[(Kind::Human, "y")], [1.0, 0.0]);
    service.store().matches().record(&own).await.unwrap();
    service.learning().refresh().await.unwrap();
    let (before, learned) = (
        known(&stored(&service).await),
        weights(service.store()).await,
    );
    assert_eq!((archive.logs().unwrap().len(), before.len()), (4, 4));
    let reread = logs::reread(
        service.store(),
        &archive,
        &logs::RereadZones::default(),
        |_, _| (),
    )
    .await
    .unwrap();
    assert_eq!(
        (reread.logs, reread.unknown, reread.matches.same),
        (4, 0, 2)
    );
    service.learning().refresh().await.unwrap();
    assert_eq!(known(&stored(&service).await), before);
    assert_eq!(weights(service.store()).await, learned);
    // Into an empty database, all matches that a log contains come back.
    let (other, _folder) = new().await;
    let reread = logs::reread(
        other.store(),
        &archive,
        &logs::RereadZones::default(),
        |_, _| (),
    )
    .await
    .unwrap();
    assert_eq!((reread.matches.added, reread.matches.removed), (4, 0));
    let matches: Vec<_> = before
        .iter()
        .filter(|(_, record)| record.server != "test")
        .cloned()
        .collect();
    assert_eq!(known(&stored(&other).await), matches);
}

/// Replaces the matches of all logs by what a worse parser might have read in them.
async fn read_worse(service: &Service, archive: &Archive, database: &Path) {
    let store = service.store();
    let (matches, _) = store.matches().after(Cursor::START, 100).await.unwrap();
    let gone = "DELETE FROM matches; DELETE FROM match_players";
    common::sql(database, gone).await;
    let logs = archive.logs().unwrap();
    assert_eq!(logs.len(), matches.len());
    for ((_, log), StoredMatch { mut record, .. }) in logs.iter().zip(matches) {
        record.scores.fill(9.0);
        for bot in record
            .participants
            .iter_mut()
            .filter(|p| p.key.kind == Kind::Bot)
        {
            bot.key.id.insert(0, 'x');
            bot.name.insert(0, 'x');
        }
        let id = store.matches().record(&record).await.unwrap().id();
        store.matches().link_log(*log, &[id], &[]).await.unwrap();
    }
}

#[tokio::test]
async fn a_better_parser_mends_the_past_but_brings_nobody_back() {
    let folder = TempDir::new().unwrap();
    let archive = Archive::open(&folder.path().join("archive")).unwrap();
    let (log, other) = (folder.path().join("a"), folder.path().join("b"));
    write(&log, CTF);
    write(&other, NEXUIZ);
    let config = common::config("");
    let (service, database) = service(&config).await;
    ingest(&service, Some(&archive), &[&log, &other]).await;
    let right = known(&stored(&service).await);
    read_worse(&service, &archive, &database.path().join("test.db")).await;
    assert_ne!(known(&stored(&service).await), right);
    let reread = logs::reread(
        service.store(),
        &archive,
        &logs::RereadZones::default(),
        |_, _| (),
    )
    .await
    .unwrap();
    assert_eq!((reread.matches.removed, reread.matches.added), (2, 2));
    service.learning().refresh().await.unwrap();
    assert_eq!(known(&stored(&service).await), right);
    let liz = PlayerKey {
        kind: Kind::Bot,
        id: "Liz".into(),
    };
    service
        .store()
        .corrections()
        .forget_player(&liz, Timestamp(0))
        .await
        .unwrap();
    let forgotten = known(&stored(&service).await);
    let reread = logs::reread(
        service.store(),
        &archive,
        &logs::RereadZones::default(),
        |_, _| (),
    )
    .await
    .unwrap();
    assert_eq!(
        (
            reread.matches.kept,
            reread.matches.same,
            reread.matches.added
        ),
        (1, 1, 0)
    );
    assert_eq!(known(&stored(&service).await), forgotten);
    assert!(
        service
            .store()
            .matches()
            .names(&liz)
            .await
            .unwrap()
            .is_empty()
    );
}

/// A log of two against two, of whom `a` waited for twelve minutes.
fn waiting() -> [(&'static str, String); 3] {
    let two = half(0, AB, [4, 0]);
    let (a, rest) = two.split_once("\"b<").unwrap();
    let stamp = "L 01/24/2026 - 00:00:00: ";
    let (joins, played) = rest.split_once("World triggered").unwrap();
    let others =
        format!("{stamp}\"b<{}", joins.trim_end_matches(stamp)).replace("00:00:00", "00:12:00");
    let source = format!("{}{stamp}World triggered", a.trim_end_matches(stamp));
    let (begun, ended) = played.split_once('\n').unwrap();
    let source = format!("{source}{begun}\n{others}{ended}");
    let client = |at: &str, number: u8, team: u8| {
        let id = format!("{number}").repeat(32);
        format!(
            "{at} ClientConnect: {number}\n{at} ClientUserinfoChanged: {number} n\\p{number}\\t\\{team}\\id\\{id}\n\
             {at} ClientBegin: {number}\n"
        )
    };
    let id_tech = [
        "  0:00 InitGame: \\mapname\\m\\gamename\\baseoa\\g_gametype\\4\n".to_owned(),
        client("  0:00", 0, 1),
        client(" 12:00", 1, 1),
        client(" 12:00", 2, 2),
        client(" 12:00", 3, 2),
        " 16:00 CTF: 0 2 1: p0 captured the BLUE flag!\n 20:00 Exit: Timelimit hit.\n 20:00 red:1  blue:0\n".to_owned(),
        " 20:00 score: 25  ping: 20  client: 0 p0\n 20:09 ShutdownGame:\n".to_owned(),
    ];
    let stays = |id: &str, team, from| {
        format!(r#"{{"id":"{id}","stays":[{{"team":{team},"from":{from},"to":1200000}}]}}"#)
    };
    let players = [
        stays("a", 0, 0),
        stays("b", 0, 720_000),
        stays("c", 1, 720_000),
    ];
    let lines = format!(
        r#"{{"evenkeel":1,"start":1795000000000,"end":1795001200000,"game":"x.ctf","scores":[1,0],"players":[{}]}}"#,
        players.join(",")
    );
    [
        ("source", source),
        ("idtech3", id_tech.concat()),
        ("jsonl", lines + "\n"),
    ]
}

/// What the versions before stored of a log: all of it, with what was waiting.
fn with_waiting(format: &str, log: &Path) -> MatchRecord {
    let mut reader = Reader::new(by_name(format).unwrap(), &IngestContext::default());
    let mut items = Vec::new();
    reader.feed(&fs::read(log).unwrap(), &mut items);
    let elapsed = reader.finish(&mut items) as i64;
    let mut records = items.into_iter().filter_map(|item| match item {
        LogItem::Match(record) => Some(*record),
        _ => None,
    });
    let mut record = records.next().unwrap_or_else(|| panic!("{format}"));
    if record.clock.is_some() {
        let written = log.metadata().unwrap().modified().unwrap();
        let written = written
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap()
            .as_millis() as i64;
        record.start = record.start.plus_millis(written - elapsed);
        record.end = record.end.plus_millis(written - elapsed);
    }
    record
}

#[tokio::test]
async fn a_log_that_was_read_before_waiting_was_no_play_gives_no_second_match() {
    let folder = TempDir::new().unwrap();
    let archive = Archive::open(&folder.path().join("archive")).unwrap();
    for (format, log) in waiting() {
        let path = folder.path().join(format);
        write(&path, &log);
        let (service, _database) = new().await;
        let store = service.store();
        let before = with_waiting(format, &path);
        let id = store.matches().record(&before).await.unwrap().id();
        assert_eq!(store.corrections().set_void(&[id], true).await.unwrap(), 1);
        assert_eq!(
            ingest(&service, Some(&archive), &[&path]).await,
            [1, 0, 0, 1],
            "{format}"
        );
        assert_eq!(
            known(&stored(&service).await),
            [(Fingerprint::of(&before), before.clone())]
        );
        // A rebuild from the logs mends what is stored, under the same fingerprint.
        logs::reread(store, &archive, &logs::RereadZones::default(), |_, _| ())
            .await
            .unwrap();
        let all = stored(&service).await;
        let [mended] = &all[..] else {
            panic!("{format}: {all:?}")
        };
        assert_eq!(mended.fingerprint, Fingerprint::of(&before), "{format}");
        let expected = MatchRecord {
            client: "ingest".to_owned(), // the archive knows which command has read the log
            ..before.clone().played()
        };
        assert_eq!(mended.record, expected, "{format}");
        assert!(
            (mended.record.start.0 - before.start.0).abs_diff(720_000) < 10,
            "{format}"
        );
        assert_eq!(
            ingest(&service, None, &[&path]).await,
            [1, 0, 0, 1],
            "{format}"
        );
        assert_eq!(
            store
                .corrections()
                .set_void(&[mended.id], true)
                .await
                .unwrap(),
            0,
            "{format}: it is void"
        );
        // What is written out is the same match elsewhere, though its start is another.
        let line = write_record(&mended.record, mended.fingerprint);
        let export = folder.path().join("export.jsonl");
        write(&export, &(line + "\n"));
        let (other, _database) = new().await;
        assert_eq!(
            ingest(&other, None, &[&export, &path]).await,
            [2, 1, 0, 1],
            "{format}"
        );
        assert_eq!(known(&stored(&other).await), known(&all), "{format}");
        fs::remove_dir_all(folder.path().join("archive")).unwrap();
        fs::create_dir(folder.path().join("archive")).unwrap();
    }
}

#[tokio::test]
async fn a_growing_log_is_archived_once() {
    let folder = TempDir::new().unwrap();
    let archive = Archive::open(&folder.path().join("archive")).unwrap();
    let path = folder.path().join("games.log");
    let (service, _folder) = new().await;
    write(&path, CTF);
    ingest(&service, Some(&archive), &[&path]).await;
    append(&path, OTHER);
    ingest(&service, Some(&archive), &[&path]).await;
    assert_eq!(archive.logs().unwrap().len(), 1);
    // Following it gives the same log; after rotation it stays, and the new file is another log.
    let mut follower = follower(&service, &path, Some(archive.clone()));
    assert_eq!(follower.poll(now()).await, 0);
    fs::rename(&path, folder.path().join("old")).unwrap();
    append(&path, &CTF.replace("2026-11-20", "2026-11-21"));
    assert_eq!(follower.poll(now()).await, 1);
    follower.end().await;
    let logs = archive.logs().unwrap();
    assert_eq!(logs.len(), 2);
    let reread = logs::reread(
        service.store(),
        &archive,
        &logs::RereadZones::default(),
        |_, _| (),
    )
    .await
    .unwrap();
    assert_eq!((reread.matches.removed, reread.matches.added), (0, 0));
    assert_eq!(reread.matches.same, 3);
}

#[tokio::test]
async fn a_broken_archive_loses_no_match() {
    let folder = TempDir::new().unwrap();
    let archived = folder.path().join("archive");
    let archive = Archive::open(&archived).unwrap();
    let path = folder.path().join("games.log");
    let (service, _folder) = new().await;
    let mut follower = follower(&service, &path, Some(archive));
    // No file can be created below a path that is not a folder.
    fs::remove_dir(&archived).unwrap();
    write(&archived, "");
    append(&path, CTF);
    assert_eq!(follower.poll(now()).await, 1);
    append(&path, OTHER);
    assert_eq!(follower.poll(now()).await, 1);
    follower.end().await;
    assert_eq!(stored(&service).await.len(), 2);
}

#[tokio::test]
async fn a_long_log_does_not_hold_up_the_others() {
    let logs = TempDir::new().unwrap();
    let mut file = File::create(logs.path().join("a.log")).unwrap();
    for game in 0..60 {
        let date = format!("2025-{:02}-{:02}", game / 28 + 1, game % 28 + 1);
        file.write_all(CTF.replace("2026-11-20", &date).as_bytes())
            .unwrap();
    }
    write(&logs.path().join("b.log"), CTF);
    let (service, _folder) = new().await;
    let mut follower = follower(&service, logs.path(), None);
    assert_eq!(follower.poll(now()).await, 61);
    let all = stored(&service).await;
    let newest = all.iter().max_by_key(|stored| stored.record.end).unwrap();
    assert!(newest.id < 40, "recorded as number {} of 61", newest.id);
}

#[tokio::test]
async fn a_follower_stops_in_the_middle_of_a_long_log() {
    let folder = TempDir::new().unwrap();
    let archive = Archive::open(&folder.path().join("archive")).unwrap();
    let path = folder.path().join("games.log");
    let mut games = 0;
    let mut file = File::create(&path).unwrap();
    for day in 1..=28 {
        for month in 1..=9 {
            let log = CTF.replace("2026-11-20", &format!("2026-0{month}-{day:02}"));
            file.write_all(log.as_bytes()).unwrap();
            games += 1;
        }
    }
    let (service, _folder) = new().await;
    let follower = follower(&service, &path, Some(archive.clone()));
    // Stopped at its first match: it stops reading, and archives what it has read.
    let first = async {
        let mut changes = service.store().changes().await.unwrap();
        while service.store().matches().extent().await.unwrap().0 == 0 {
            changes.next().await.unwrap();
        }
    };
    follower.run(Duration::from_millis(10), first).await;
    let all = stored(&service).await;
    assert!(!all.is_empty() && all.len() < games, "{}", all.len());
    assert_eq!(archive.logs().unwrap().len(), 1);
    let (other, _folder) = new().await;
    logs::reread(
        other.store(),
        &archive,
        &logs::RereadZones::default(),
        |_, _| (),
    )
    .await
    .unwrap();
    assert_eq!(known(&stored(&other).await), known(&all));
    // The next start records the rest, and nothing twice.
    let mut follower = self::follower(&service, &path, Some(archive.clone()));
    assert_eq!(follower.poll(now()).await, (games - all.len()) as u64);
    follower.end().await;
    assert_eq!(stored(&service).await.len(), games);
    assert_eq!(archive.logs().unwrap().len(), 1);
}

#[tokio::test]
async fn a_match_that_ended_while_nobody_followed_is_in_the_log_before() {
    let logs = TempDir::new().unwrap();
    let (path, old) = (
        logs.path().join("games.log"),
        logs.path().join("games.log.1"),
    );
    // The log before has a whole match, and the first half of one that goes on in the log.
    let middle = OTHER.len() / 2;
    let middle = middle + OTHER[middle..].find('\n').unwrap() + 1;
    write(&old, &(CTF.to_owned() + &OTHER[..middle]));
    let (service, folder) = new().await;
    let archive = Archive::open(&folder.path().join("archive")).unwrap();
    let mut follower = follower(&service, &path, Some(archive.clone()));
    // The server makes the new log when it is started again.
    assert_eq!(follower.poll(now()).await, 0);
    write(&path, &OTHER[middle..]);
    assert_eq!(follower.poll(now()).await, 2);
    assert_eq!(follower.poll(now()).await, 0);
    follower.end().await;
    assert_eq!(archive.logs().unwrap().len(), 2);
    let mut follower = self::follower(&service, &path, None);
    assert_eq!(follower.poll(now()).await, 0, "all of them are stored");
    assert_eq!(stored(&service).await.len(), 2);
}

#[tokio::test]
async fn a_log_before_that_is_no_log_or_is_removed_does_not_matter() {
    for (name, text) in [("games.log.1", "no log\n"), ("games.log.bak", "")] {
        let logs = TempDir::new().unwrap();
        let path = logs.path().join("games.log");
        write(&logs.path().join(name), text);
        write(&path, CTF);
        let (service, _folder) = new().await;
        let mut follower = follower(&service, &path, None);
        assert_eq!(follower.poll(now()).await, 1, "{name}");
        fs::remove_file(logs.path().join(name)).unwrap();
        assert_eq!(follower.poll(now()).await, 0, "{name}");
    }
}

#[tokio::test]
async fn lines_that_only_the_copy_of_a_truncated_log_has_are_read() {
    let logs = TempDir::new().unwrap();
    let path = logs.path().join("games.log");
    let [one, two] = [1, 2].map(|third| {
        let at = CTF.len() * third / 3;
        at + CTF[at..].find('\n').unwrap() + 1
    });
    let (service, _folder) = new().await;
    let mut follower = follower(&service, &path, None);
    append(&path, &CTF[..one]);
    assert_eq!(follower.poll(now()).await, 0);
    append(&path, &CTF[one..two]);
    fs::copy(&path, logs.path().join("games.log.1")).unwrap();
    write(&path, "");
    append(&path, &CTF[two..]);
    assert_eq!(follower.poll(now()).await, 1);
    let (other, _folder) = new().await;
    let whole = logs.path().join("whole.log");
    write(&whole, CTF);
    ingest(&other, None, &[&whole]).await;
    assert_eq!(known(&stored(&service).await), known(&stored(&other).await));
}

/// A match of Team Fortress 2 on this day, in which two who are written like this win against two others.
fn tf2(day: &str, ann: &str, bob: &str) -> String {
    let mut text = String::new();
    let mut add = |time: &str, line: &str| text += &format!("L {day} - {time}: {line}\n");
    add(
        "20:00:00",
        r#"Log file started (file "l") (game "/srv/tf") (version "1")"#,
    );
    add("20:00:00", r#"Loading map "ctf_2fort""#);
    let players = [
        ("ann", ann, "Red"),
        ("bob", bob, "Red"),
        ("cid", "[U:1:3]", "Blue"),
        ("dan", "[U:1:4]", "Blue"),
    ];
    for (number, (name, id, team)) in players.iter().enumerate() {
        add(
            "20:00:05",
            &format!(r#""{name}<{number}><{id}><Unassigned>" joined team "{team}""#),
        );
    }
    add("20:01:00", r#"World triggered "Round_Start""#);
    add(
        "20:21:00",
        r#"World triggered "Game_Over" reason "Reached Time Limit""#,
    );
    add("20:21:00", r#"Team "Red" final score "3" with "2" players"#);
    add(
        "20:21:00",
        r#"Team "Blue" final score "1" with "2" players"#,
    );
    add("20:21:10", "Log file closed");
    text
}

#[tokio::test]
async fn the_time_zone_of_a_log_changes_its_times_and_not_which_match_it_is() {
    let folder = TempDir::new().unwrap();
    let archive = Archive::open(&folder.path().join("archive")).unwrap();
    let path = folder.path().join("l.log");
    write(&path, &tf2("11/29/2026", "[U:1:1]", "[U:1:2]"));
    let (service, _folder) = new().await;
    let mut told = Vec::new();
    let mut ingest = Ingest::new(service.store());
    ingest.archive = Some(archive.clone());
    ingest.now = Timestamp::parse("2026-11-29T10:22:00Z");
    let mut tell = |event: IngestEvent<'_>| match event {
        IngestEvent::NoZone => told.push("no zone".to_owned()),
        IngestEvent::InFuture { minutes, .. } => told.push(format!("{minutes} minutes")),
        _ => {}
    };
    ingest.file(&path, &mut tell).await.unwrap();
    ingest.file(&path, &mut tell).await.unwrap();
    let began = |all: &[StoredMatch]| all[0].record.start.to_string();
    let wrong = stored(&service).await;
    assert_eq!(began(&wrong), "2026-11-29T20:01:00Z");
    ingest.zone = Some(LogZone::named("+10:00").unwrap());
    ingest.file(&path, &mut tell).await.unwrap();
    assert_eq!(told, ["no zone", "599 minutes", "599 minutes"]);
    assert_eq!(
        (ingest.counts.recorded.len(), ingest.counts.duplicates),
        (1, 2)
    );
    // Reading the archive again mends what was stored in the wrong zone.
    let zones = logs::RereadZones::default();
    let reread = logs::reread(service.store(), &archive, &zones, |_, _| ()).await;
    assert_eq!(reread.unwrap().matches.added, 1);
    let mended = stored(&service).await;
    assert_eq!(began(&mended), "2026-11-29T10:01:00Z");
    assert_eq!(mended[0].fingerprint, wrong[0].fingerprint);
    assert_eq!(mended[0].record.millis(), wrong[0].record.millis());
    let zones = logs::RereadZones {
        all: Some(LogZone::named("-03:00").unwrap()),
        ..logs::RereadZones::default()
    };
    let reread = logs::reread(service.store(), &archive, &zones, |_, _| ()).await;
    assert_eq!(reread.unwrap().matches.added, 1);
    assert_eq!(began(&stored(&service).await), "2026-11-29T23:01:00Z");
}

#[tokio::test]
async fn all_forms_of_a_steam_id_are_one_player() {
    let folder = TempDir::new().unwrap();
    let paths = ["a.log", "b.log", "c.log"].map(|name| folder.path().join(name));
    let forms = ["STEAM_0:1:6110", "[U:1:12221]", "STEAM_1:1:6110"];
    let (service, _folder) = new().await;
    let human = |id: &str| PlayerKey {
        kind: Kind::Human,
        id: id.to_owned(),
    };
    // What was set before for one of the forms counts for all.
    let before = Some(44.0);
    service
        .store()
        .corrections()
        .pin_weight(&human(forms[2]), before)
        .await
        .unwrap();
    service
        .store()
        .corrections()
        .set_hidden(&human(forms[0]), true)
        .await
        .unwrap();
    for (at, (path, form)) in paths.iter().zip(forms).enumerate() {
        write(path, &tf2(&format!("11/2{at}/2026"), form, "[U:1:2]"));
    }
    assert_eq!(
        ingest(&service, None, &[&paths[0], &paths[1], &paths[2]]).await,
        [3, 3, 0, 0]
    );
    let known = service.learning().standings();
    let view = known.view(&Ruleset::parse("tf.ctf"));
    for form in forms.into_iter().chain(["76561197960277949"]) {
        assert!(view.is_pinned(Kind::Human, form), "{form}");
        assert!(
            service
                .learning()
                .person(form, None)
                .await
                .unwrap()
                .is_none(),
            "hidden: {form}"
        );
    }
    service
        .store()
        .corrections()
        .pin_weight(&human(forms[1]), None)
        .await
        .unwrap();
    service
        .store()
        .corrections()
        .set_hidden(&human(forms[1]), false)
        .await
        .unwrap();
    service.learning().refresh().await.unwrap();
    let weights = weights(service.store()).await;
    let own: Vec<_> = weights
        .iter()
        .filter(|one| one.games == 3)
        .map(|one| one.key.id.as_str())
        .collect();
    assert_eq!(own.len(), 4, "{own:?}");
    assert!(
        own.contains(&"[U:1:12221]") && weights.len() == 4,
        "{own:?}"
    );
    let mut pages = Vec::new();
    for form in forms.into_iter().chain(["76561197960277949"]) {
        let page = service.learning().person(form, None).await.unwrap();
        pages.push(page.unwrap().key.id);
    }
    assert_eq!(pages, ["[U:1:12221]"; 4]);
    // The records keep what the logs say.
    let all = stored(&service).await;
    let ids: Vec<_> = all
        .iter()
        .map(|one| one.record.participants[0].key.id.as_str())
        .collect();
    assert_eq!(ids, forms);
}
