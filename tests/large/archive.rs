//! `evenkeel archive` and `evenkeel player forget`, killed at any moment.

use std::{fs, path::Path, process::Stdio, time::Duration};

use evenkeel::store::Stored;

use crate::common::{
    archive::{all, count, many},
    draw::Draw,
    process::{evenkeel, run},
};

/// Starts a command, and kills it after a moment. Returns whether it had ended before.
fn kill_after(folder: &Path, words: &[&str], moment: Duration) -> bool {
    let mut command = evenkeel(folder);
    let mut child = command
        .args(words)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::thread::sleep(moment);
    let ended = child.try_wait().unwrap().is_some();
    let _ = child.kill();
    child.wait().unwrap();
    ended
}

/// How long a command runs before it is killed. A slow machine gets longer with each kill.
fn moment(draw: &mut Draw, kills: u64) -> Duration {
    Duration::from_millis(20 + draw.below(200) as u64 + 10 * kills)
}

#[tokio::test]
#[ignore = "kills commands for a minute: `cargo test --test large -- --ignored archive`"]
async fn a_kill_at_any_moment_loses_nothing_and_doubles_nothing() {
    let folder = many(3_500).await;
    let folder = folder.path();
    let before = all(folder).await;
    assert_eq!(before.len(), 3_500);
    let mut draw = Draw(17);
    let (mut kills, mut chunks) = (0, Vec::new());
    while !kill_after(
        folder,
        &["archive", "--days", "1"],
        moment(&mut draw, kills),
    ) {
        kills += 1;
        assert!(kills < 500, "it never ends");
        chunks.push(count(folder, "SELECT count(*) FROM archive_chunks").await);
        assert_eq!(count(folder, "SELECT count(*) FROM matches").await, 3_500);
        let double = "SELECT count(*) FROM matches m
                      WHERE (m.chunk IS NULL) <> EXISTS (SELECT 1 FROM participants p WHERE p.match_id = m.id)";
        assert_eq!(count(folder, double).await, 0);
    }
    assert!(kills > 0);
    assert!(
        chunks.iter().any(|chunks| (1..4).contains(chunks)),
        "{chunks:?}"
    );
    assert_eq!(run(folder, &["archive", "--days", "1"]).0, 0);
    assert_eq!(
        count(folder, "SELECT sum(matches) FROM archive_chunks").await,
        3_500
    );
    assert!(all(folder).await == before, "other matches than before");
    // Ann is in every chunk. Each is written once, or once more after the kill.
    let mut kills = 0;
    while !kill_after(
        folder,
        &["player", "forget", "ann"],
        moment(&mut draw, kills),
    ) {
        kills += 1;
        assert!(kills < 500, "it never ends");
        let forgotten = all(folder).await;
        let names = |id: &str| {
            let with = |one: &&Stored| {
                one.record
                    .participants
                    .iter()
                    .any(|p| p.key.id.starts_with(id))
            };
            forgotten.iter().filter(with).count()
        };
        let (ann, instead) = (names("ann"), names("forgotten-"));
        assert!(
            [(700, 0), (0, 700)].contains(&(ann, instead)),
            "{ann} {instead}"
        );
    }
    assert_eq!(
        count(folder, "SELECT count(*) FROM unfinished_forgets").await,
        0
    );
    let (code, printed, error) = run(folder, &["archive", "--write", "files"]);
    assert_eq!(code, 0, "{error}");
    assert!(
        printed.starts_with("3500 matches archived in 4 chunks, "),
        "{printed}"
    );
    for file in fs::read_dir(folder.join("files")).unwrap() {
        let file = fs::File::open(file.unwrap().path()).unwrap();
        let text = std::io::read_to_string(flate2::read::GzDecoder::new(file)).unwrap();
        assert!([500, 1_000].contains(&text.lines().count()) && !text.contains("\"ann\""));
    }
    let (code, printed, error) = run(folder, &["check"]);
    assert_eq!(code, 0, "{printed}{error}");
}
