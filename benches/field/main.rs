//! Balancers of others beside Evenkeel on lobbies that people really played in: `cargo bench --bench field`. Not a test,
//! because it takes too long.
//!
//! For each lobby of a recorded history, all know the matches before it, and pick teams. The same judge as in the benchmark
//! `even`, which has seen later matches alone, says how far the chance of these teams is from one half. Each balancer is
//! tried with the rating that it uses and with Evenkeel's, so that it can be seen what the rating and what the search
//! contributes; one search is tried with all ratings. Where somebody is better than Evenkeel, the output says so first.
//!
//! With `quick`, there are a fifth of the lobbies and five seeds. With names of histories, only these. With `--write`, the
//! results become `docs/internals/field.csv`, and the page and the picture are made from them; `--page` makes these from
//! the results that are there.

#![allow(clippy::expect_used)] // a benchmark that cannot run has nothing to clean up

#[allow(
    unused_imports,
    dead_code,
    clippy::unwrap_used,
    reason = "its tests run in the suite"
)]
mod balancers;
mod cases;
#[path = "../common/mod.rs"]
#[allow(dead_code, reason = "other benches use the rest of it")]
mod common;
mod data;
#[path = "../accuracy/elo_mmr.rs"]
#[allow(dead_code)]
mod elo_mmr;
mod entries;
mod measure;
#[path = "../accuracy/openskill.rs"]
#[allow(dead_code)]
mod openskill;
mod page;
#[path = "../accuracy/peers.rs"]
#[allow(dead_code)]
mod peers;
mod published;
mod ratings;
mod results;
#[path = "../accuracy/skill_ratings.rs"]
#[allow(dead_code)]
mod skill_ratings;
#[path = "../accuracy/through_time.rs"]
#[allow(dead_code)]
mod through_time;
#[path = "../accuracy/whole_history.rs"]
#[allow(dead_code)]
mod whole_history;

use std::{fs, path::Path};

use common::sets::{SETS, Set};
use data::Line;
use results::{Plan, Results};

/// The root of the project.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn main() {
    let words: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let asked = |what: &str| words.iter().any(|word| word == what);
    if asked("--page") {
        let csv = fs::read_to_string(root().join(page::DATA)).expect("the results");
        return write_pages(&data::from_csv(&csv).expect("results of this benchmark"));
    }
    let named = |name: &str| asked(name) || !SETS.iter().any(|set| asked(set.name));
    let plan = if asked("quick") {
        Plan::QUICK
    } else {
        Plan::FULL
    };
    let mut results = Results::default();
    for set in SETS.iter().filter(|set| named(set.name)) {
        match set.read() {
            Ok(history) => results.add(set, &history, plan),
            Err(why) => println!("{} is left out: {why}", set.name),
        }
    }
    let mut lines = results.lines();
    match published::lines(plan.seeds) {
        Ok(published) => lines.extend(published),
        Err(why) => println!("published lobbies are left out: {why}"),
    }
    // What is printed is what the file says, to the last decimal.
    let csv = data::to_csv(&lines);
    let lines = data::from_csv(&csv).expect("what has just been written");
    for block in page::blocks(&lines) {
        println!("\n{}", block.text);
    }
    if asked("--write") {
        let all = |set: &Set| lines.iter().any(|line| line.history == set.name);
        let whole = plan == Plan::FULL && SETS.iter().all(all);
        assert!(whole, "only the results of a full run are written");
        fs::write(root().join(page::DATA), csv).expect("the results are written");
        write_pages(&lines);
    }
}

/// Writes the figures of the page, and the picture.
fn write_pages(lines: &[Line]) {
    let page = root().join(page::PAGE);
    let text = fs::read_to_string(&page).expect("the page");
    fs::write(&page, page::filled(&text, lines)).expect("the page is written");
    fs::write(root().join(page::PICTURE), page::picture(lines)).expect("the picture is written");
}
