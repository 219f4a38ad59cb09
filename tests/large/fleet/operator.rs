//! An operator who corrects players and matches by the command line.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use sqlx::PgConnection;

use super::{
    count::Faults,
    line::{World, pause},
};
use crate::common::{draw::Draw, process};

/// What the operator has last done with success, by what it concerns. `None` if the last command has failed, so that
/// nobody knows whether it took effect.
#[derive(Default)]
pub struct Corrections {
    pub pins: BTreeMap<String, Option<Option<f64>>>,
    pub merges: BTreeMap<(String, String), Option<bool>>,
    pub voids: BTreeMap<i64, Option<bool>>,
    pub hidden: BTreeMap<String, Option<bool>>,
    /// Players whom a command has forgotten.
    pub forgotten: Vec<String>,
    pub done: usize,
    pub failed: usize,
}

/// Runs commands until the test ends.
pub fn correct(world: &Arc<World>, folder: &Path, url: &str, seed: u64) -> Corrections {
    let mut draw = Draw(seed);
    let mut all = Corrections::default();
    while !world.is_ending() {
        let mut run = |words: &[&str]| {
            let mut command = process::evenkeel(folder);
            command.args(words).env("EVENKEEL_STORE_URL", url);
            command.env("EVENKEEL_CONFIG", "evenkeel.toml");
            let output = command.output().unwrap();
            let success = output.status.success();
            all.done += usize::from(success);
            all.failed += usize::from(!success);
            success
        };
        match draw.below(5) {
            0 => {
                let player = format!("a{}", draw.below(6));
                let weight = (draw.below(2) == 0).then(|| draw.below(101) as f64);
                let word = weight.map_or("off".to_owned(), |weight| weight.to_string());
                let done = run(&["player", "pin-weight", &player, &word, "--new"]);
                all.pins.insert(player, done.then_some(weight));
            }
            1 => {
                let first = 6 + 2 * draw.below(2);
                let pair = (format!("a{first}"), format!("a{}", first + 1));
                let was = all.merges.get(&pair).copied().flatten();
                let merges = !was.unwrap_or(false);
                let done = match merges {
                    true => run(&["player", "merge", &pair.0, &pair.1, "--new"]),
                    false => run(&["player", "split", &pair.0]),
                };
                all.merges.insert(pair, done.then_some(merges));
            }
            2 => {
                let recorded = world.recorded.lock().clone();
                if !recorded.is_empty() {
                    let id = recorded[draw.below(recorded.len())];
                    let voids = draw.below(3) > 0;
                    let verb = if voids { "void" } else { "unvoid" };
                    let done = run(&["match", verb, &id.to_string()]);
                    all.voids.insert(id, done.then_some(voids));
                }
            }
            3 => {
                let player = format!("a{}", 10 + draw.below(4));
                let hides = draw.below(2) == 0;
                let verb = if hides { "hide" } else { "unhide" };
                let done = run(&["player", verb, &player]);
                all.hidden.insert(player, done.then_some(hides));
            }
            _ => {
                let leaver = world.leavers.lock().pop();
                if let Some(leaver) = leaver
                    && run(&["player", "forget", &leaver])
                {
                    all.forgotten.push(leaver);
                }
            }
        }
        pause(1_000 + draw.below(2_000));
    }
    all
}

/// What the operator has done is what is stored.
pub async fn check(db: &mut PgConnection, all: &Corrections, faults: &mut Faults) {
    let pins = "SELECT player, pinned_weight FROM player_settings WHERE pinned_weight IS NOT NULL";
    let pins: Vec<(String, f64)> = sqlx::query_as(pins).fetch_all(&mut *db).await.unwrap();
    let pins: BTreeMap<String, f64> = pins.into_iter().collect();
    for (player, weight) in &all.pins {
        let same = weight.is_none_or(|weight| pins.get(player).copied() == weight);
        faults.check(
            same,
            "a fixed weight is not",
            format!("{player} {weight:?}"),
        );
    }
    let merges = "SELECT player, into_player FROM merged_players";
    let merges: Vec<(String, String)> = sqlx::query_as(merges).fetch_all(&mut *db).await.unwrap();
    for (pair, merged) in &all.merges {
        let same = merged.is_none_or(|merged| merges.contains(pair) == merged);
        faults.check(same, "a merge is not", format!("{pair:?} {merged:?}"));
    }
    let voided =
        "SELECT id FROM matches WHERE fingerprint IN (SELECT fingerprint FROM voided_fingerprints)";
    let voided: Vec<i64> = sqlx::query_scalar(voided)
        .fetch_all(&mut *db)
        .await
        .unwrap();
    for (id, voids) in &all.voids {
        let same = voids.is_none_or(|voids| voided.contains(id) == voids);
        faults.check(same, "a void match is not", format!("{id} {voids:?}"));
    }
    let hidden = "SELECT player FROM player_settings WHERE hidden";
    let hidden: Vec<String> = sqlx::query_scalar(hidden)
        .fetch_all(&mut *db)
        .await
        .unwrap();
    for (player, hides) in &all.hidden {
        let same = hides.is_none_or(|hides| hidden.contains(player) == hides);
        faults.check(
            same,
            "a hidden player is not",
            format!("{player} {hides:?}"),
        );
    }
    let seen = "SELECT player FROM match_players UNION SELECT player FROM weights
                UNION SELECT player FROM persons";
    let seen: Vec<String> = sqlx::query_scalar(seen).fetch_all(&mut *db).await.unwrap();
    for player in &all.forgotten {
        faults.check(
            !seen.contains(player),
            "a forgotten player is there",
            player,
        );
    }
}
