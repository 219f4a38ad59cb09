//! The weights of all daemons, compared with those of a fold from the beginning.

use std::{path::Path, sync::Arc};

use sqlx::{Connection, PgConnection};

use super::{
    DATABASE,
    count::Faults,
    faults::Machines,
    game::{Console, End},
    line::{DAEMONS, World, pause},
    servers::PLAYERS,
};
use crate::common::process;

/// A weight as it is stored: the ruleset, the player, the bits of weight and deviation, and the games.
type Weight = (String, String, i64, i64, i64);
/// A ruling: the match, why it is not rated, and the bits of the predicted chance.
type Ruling = (i64, Option<String>, Option<i64>);

/// What is derived from the matches, to the last bit.
#[derive(Debug, PartialEq)]
pub struct Derived {
    weights: Vec<Weight>,
    rulings: Vec<Ruling>,
}

impl Derived {
    async fn read(url: &str) -> Self {
        let mut db = PgConnection::connect(url).await.unwrap();
        type Row = (String, String, f64, f64, i64);
        let weights = "SELECT ruleset, player, weight, deviation, games FROM weights ORDER BY 1, 2";
        let weights: Vec<Row> = sqlx::query_as(weights).fetch_all(&mut db).await.unwrap();
        let rulings = "SELECT match_id, unrated, chance FROM rulings ORDER BY match_id";
        let rulings: Vec<(i64, Option<String>, Option<f64>)> =
            sqlx::query_as(rulings).fetch_all(&mut db).await.unwrap();
        let bits = |number: f64| number.to_bits().cast_signed();
        Self {
            weights: weights
                .into_iter()
                .map(|row| (row.0, row.1, bits(row.2), bits(row.3), row.4))
                .collect(),
            rulings: rulings
                .into_iter()
                .map(|row| (row.0, row.1, row.2.map(bits)))
                .collect(),
        }
    }
}

/// Lets each daemon in turn be the one that writes what is derived, while the others sleep, and compares what it has
/// written with a fold of all matches from the beginning. Returns how many weights were compared.
pub fn each_daemon_has_those_of_a_fold(
    machines: &mut Machines<'_>,
    world: &Arc<World>,
    faults: &mut Faults,
) -> usize {
    let mut compared = 0;
    for at in 0..DAEMONS {
        for other in (0..DAEMONS).filter(|other| *other != at) {
            machines.daemons[other].signal("-STOP");
        }
        play_with_all(world, at);
        let pid = machines.daemons[at].child.id();
        let written = machines
            .runtime
            .block_on(is_written(&machines.server.url(DATABASE), pid));
        if !written {
            faults.add("a daemon writes no weights", at);
        }
        let copy = format!("copy{at}");
        machines
            .runtime
            .block_on(machines.server.copy(DATABASE, &copy));
        let url = machines.server.url(&copy);
        let own = machines.runtime.block_on(Derived::read(&url));
        rebuild(machines.folder, &url);
        let fresh = machines.runtime.block_on(Derived::read(&url));
        machines.runtime.block_on(machines.server.remove(&copy));
        compared += own.weights.len();
        if own.weights.is_empty() {
            faults.add("there are no weights", at);
        }
        for (own, fresh) in own.weights.iter().zip(&fresh.weights) {
            if own != fresh {
                faults.add(
                    "a weight is not that of a fold",
                    format!("{at}: {own:?} {fresh:?}"),
                );
            }
        }
        if own != fresh {
            let sizes = [&own, &fresh].map(|one| (one.weights.len(), one.rulings.len()));
            let what = format!("daemon {at}: weights and rulings {sizes:?}");
            faults.add("what is derived is not that of a fold", what);
        }
        for other in (0..DAEMONS).filter(|other| *other != at) {
            machines.daemons[other].signal("-CONT");
        }
    }
    compared
}

/// A match of all players, so that all their weights are written again.
fn play_with_all(world: &Arc<World>, daemon: usize) {
    let mut lines = vec!["GAME ctf".to_owned(), format!("MAP last{daemon}")];
    lines.extend((0..PLAYERS).map(|player| format!("JOIN a{player} team={}", player % 2)));
    lines.extend(["START".to_owned(), "SCORE 1 total=2".to_owned()]);
    let mut console = Console::new(daemon, format!("last{daemon}"));
    let end = console.play(world, &lines);
    assert!(matches!(end, End::Answered(_)), "{end:?}");
}

/// Waits until this process has the lease of the fold and has written all that there is, and is not about to write it in several
/// transactions. Returns whether it has.
async fn is_written(url: &str, pid: u32) -> bool {
    let query = "SELECT
        (SELECT count(*) FROM leases WHERE name = 'fold' AND holder LIKE $1 AND ends_at > clock()) = 1
        AND (SELECT number FROM state WHERE name = 'learned' AND text NOT LIKE 'unfinished %')
            = (SELECT count(*) FROM matches)
        AND (SELECT count(*) FROM rulings) = (SELECT count(*) FROM matches)";
    for _ in 0..300 {
        let mut db = PgConnection::connect(url).await.unwrap();
        let query = sqlx::query_scalar(query).bind(format!("{pid}-%"));
        let written: Option<bool> = query.fetch_one(&mut db).await.unwrap();
        if written == Some(true) {
            return true;
        }
        pause(200);
    }
    false
}

fn rebuild(folder: &Path, url: &str) {
    let mut command = process::evenkeel(folder);
    command.arg("rebuild").env("EVENKEEL_STORE_URL", url);
    command.env("EVENKEEL_CONFIG", "evenkeel.toml");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// Waits until all daemons answer the same weights. Those that have slept learn what they have missed first.
pub fn daemons_agree(world: &Arc<World>, faults: &mut Faults) {
    let ask = |daemon| {
        let mut console = Console::new(daemon, "asks".to_owned());
        console.answers(world, PLAYERS)
    };
    let mut answers: Vec<Vec<String>> = Vec::new();
    for _ in 0..100 {
        answers = (0..DAEMONS).map(ask).collect();
        if answers.iter().all(|other| *other == answers[0]) {
            return;
        }
        pause(200);
    }
    for other in &answers[1..] {
        let pairs = answers[0].iter().zip(other);
        for (first, other) in pairs.filter(|(first, other)| first != other) {
            faults.add("daemons do not agree", format!("{first} {other}"));
        }
    }
}
