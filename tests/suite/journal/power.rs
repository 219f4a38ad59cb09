//! Power cuts: the disk keeps what was forced to it, and any part of what was written later. An END that is
//! sent again afterwards never gets the match of another game.

use std::{collections::BTreeMap, fs, path::Path};

use proptest::{collection::vec, prelude::*};
use sqlx::Connection;
use tempfile::TempDir;

use crate::{
    common::{Client, Daemon, lock_database},
    journal::lines::{copy, matches, serve},
};

/// How END is answered.
#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    /// With the id of the match.
    Recorded,
    /// `kept`, because the database is locked; the match reaches the database at once when it is free.
    Kept,
    /// The same, and END is said again then.
    KeptAndSaidAgain,
}

/// The lines of a game before END.
fn lines(map: usize) -> [String; 6] {
    let map = format!("MAP m{map}");
    [
        "GAME ctf",
        &map,
        "JOIN a team=0",
        "JOIN b team=1",
        "START",
        "SCORE 0",
    ]
    .map(|line| format!("{line}\n"))
}

/// Plays a game, and returns once its END is answered.
async fn play(daemon: &Daemon, client: &mut Client, map: usize, how: How) {
    client.tell(&lines(map).concat()).await;
    // Until the backlog is empty, the database is locked now and then.
    daemon.service.sessions().write_backlog().await.unwrap();
    if how == How::Recorded {
        let end = client.ask("END\n").await;
        assert!(end.starts_with("END "), "{end}");
        return;
    }
    let mut other = lock_database(daemon.folder.path()).await;
    assert_eq!(client.ask("END\n").await, "ERROR internal kept");
    forced(daemon);
    let free = sqlx::query("ROLLBACK");
    free.execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    daemon.service.sessions().write_backlog().await.unwrap();
    if how == How::KeptAndSaidAgain {
        let end = client.ask("END\n").await;
        assert!(end.starts_with("END "), "{end}");
    }
}

/// The length of each journal, all of which is on the disk because END was answered.
fn forced(daemon: &Daemon) -> BTreeMap<String, u64> {
    assert_eq!(daemon.service.sessions().unforced_journals(), 0);
    lengths(daemon.folder.path())
}

fn lengths(folder: &Path) -> BTreeMap<String, u64> {
    let entries = fs::read_dir(folder.join("games")).unwrap();
    let entries = entries.map(|entry| entry.unwrap());
    let files = entries.map(|entry| {
        let name = entry.file_name().into_string().unwrap();
        (name, entry.metadata().unwrap().len())
    });
    files.filter(|(name, _)| name.ends_with(".game")).collect()
}

/// The folder as the power cut leaves it: of what came after the forced bytes, the part that `keep` chooses.
fn cut_power(folder: &TempDir, forced: &BTreeMap<String, u64>, keep: &prop::sample::Index) {
    for (name, length) in lengths(folder.path()) {
        let least = forced[&name];
        let left = least + keep.index((length - least + 1) as usize) as u64;
        let path = folder.path().join("games").join(name);
        let file = fs::File::options().write(true).open(path).unwrap();
        file.set_len(left).unwrap();
    }
}

/// Plays games, and then as many lines of one more. After a power cut, END means the game that the client
/// plays.
async fn games(hows: &[How], more: usize, keep: prop::sample::Index, explicit: bool) {
    let (first, clock) = serve(TempDir::new().unwrap(), 0).await;
    let mut client = first.client().await;
    client.ask("HELLO s resume=yes\n").await;
    for (map, how) in hows.iter().enumerate() {
        clock.pass(60_000);
        play(&first, &mut client, map, *how).await;
    }
    let forced = forced(&first);
    client.tell(&lines(hows.len())[..more].concat()).await;
    let playing = hows.len() - usize::from(more == 0);
    let left = copy(first.folder.path()).await;
    cut_power(&left, &forced, &keep);

    let passed = 60_000 * hows.len() as u64 + 5_000;
    let (second, _clock) = serve(left, passed).await;
    let mut client = second.client().await;
    let resume = if explicit { " resume=yes" } else { "" };
    client.ask(&format!("HELLO s{resume}\n")).await;
    for _ in 0..2 {
        let end = client.ask("END\n").await;
        let Some(rest) = end.strip_prefix("END ") else {
            let refused = ["ERROR no-game ", "ERROR not-allowed "];
            assert!(refused.iter().any(|why| end.starts_with(why)), "{end}");
            continue;
        };
        let id: i64 = rest.split(' ').next().unwrap().parse().unwrap();
        let found = matches(&second).await;
        let own = found.iter().find(|stored| stored.id == id).unwrap();
        assert_eq!(own.record.map, format!("m{playing}"), "{end}");
    }
    let mut maps: Vec<_> = matches(&second)
        .await
        .into_iter()
        .map(|stored| stored.record.map)
        .filter(|map| map.starts_with('m'))
        .collect();
    maps.sort();
    let stored = maps.len();
    maps.dedup();
    assert_eq!(maps.len(), stored, "no game is stored twice: {maps:?}");
    assert!(stored >= hows.len(), "no match is lost: {maps:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 50, ..ProptestConfig::with_cases(32) })]

    #[test]
    fn an_end_after_a_power_cut_gets_no_other_match(
        hows in vec(prop_oneof![
            Just(How::Recorded),
            Just(How::Kept),
            Just(How::KeptAndSaidAgain),
        ], 1..4),
        more in 0usize..=6,
        keep: prop::sample::Index,
        explicit: bool,
    ) {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(games(&hows, more, keep, explicit));
    }
}
