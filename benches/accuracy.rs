//! How well each rating system predicts the published sets of finished games in `../shared`: `cargo
//! bench --bench accuracy`. Not a test, because it takes too long.

#![allow(
    clippy::disallowed_methods,
    reason = "the duration of each evaluation is printed"
)]

use std::{fs, path::Path, time::Instant};

use evenkeel::{
    domain::{MatchRecord, Rulebook, RulebookSpec},
    history::{Evaluation, Plan, Settings, Subset, evaluate},
    ingest::{Context, LogItem, Reader, by_name},
    rating::SystemName,
};

/// The file, whether its sides have a meaning, and the log loss to reach.
const SETS: [(&str, bool, f64); 4] = [
    ("tribes_pug", false, 0.614),
    ("tagpro", false, 0.637),
    ("ns2_gather", true, 0.623),
    ("beach_points", false, 0.465),
];

fn main() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/matches");
    for (name, sides, target) in SETS {
        let path = folder.join(name).with_extension("jsonl");
        match fs::read(&path) {
            Ok(bytes) => report(name, sides, target, &bytes),
            Err(why) => println!("{name} is left out: {}: {why}", path.display()),
        }
    }
}

fn report(name: &str, sides: bool, target: f64, bytes: &[u8]) {
    let matches = read(bytes);
    let Ok(rulebook) = Rulebook::new(&RulebookSpec::default()) else {
        return;
    };
    let plan = Plan {
        exchange: (!sides).then_some(1),
        ..Plan::default()
    };
    let begun = Instant::now();
    let evaluation = evaluate(
        matches.iter(),
        &rulebook,
        &Settings::default(),
        &plan,
        &mut || begun.elapsed().as_secs_f64(),
        &mut |_| (),
    );
    println!("\n{name}: log loss to be reached {target}");
    for subset in [Subset::All, Subset::Experienced] {
        print(&evaluation, subset);
    }
    println!("joint without");
    let settings = Settings::default();
    let no_sides = Settings {
        sides: false,
        ..Settings::default()
    };
    let shares: Vec<MatchRecord> = matches.iter().map(without_shares).collect();
    let points: Vec<MatchRecord> = matches.iter().map(without_points).collect();
    for (what, matches, settings) in [
        ("anything less", &matches, &settings),
        ("sides", &matches, &no_sides),
        ("time shares", &shares, &settings),
        ("points", &points, &settings),
    ] {
        let loss = joint(matches, &rulebook, settings, &plan);
        println!("  {what:14} log loss {loss:.4}");
    }
}

/// The record with all players present from start to end.
fn without_shares(record: &MatchRecord) -> MatchRecord {
    let mut record = record.clone();
    let end = record.millis();
    for stay in record.participants.iter_mut().flat_map(|p| &mut p.presence) {
        stay.span.to = end;
    }
    record
}

/// The record with its outcome only.
fn without_points(record: &MatchRecord) -> MatchRecord {
    let mut record = record.clone();
    record.scores.fill(0.0);
    record
}

fn joint(matches: &[MatchRecord], rulebook: &Rulebook, settings: &Settings, plan: &Plan) -> f64 {
    let plan = Plan {
        systems: vec![SystemName::Joint],
        ..plan.clone()
    };
    let nothing = &mut |_| ();
    let evaluation = evaluate(
        matches.iter(),
        rulebook,
        settings,
        &plan,
        &mut || 0.0,
        nothing,
    );
    let table = evaluation.table(None, Subset::All, None);
    table.last().map_or(0.0, |line| line.metrics.log_loss)
}

fn print(evaluation: &Evaluation, subset: Subset) {
    let counted = match subset {
        Subset::All => "all after the first fifth",
        Subset::Experienced => "those where everyone is experienced",
    };
    println!("{counted}, and the interval of the log loss against joint:");
    let table = evaluation.table(None, subset, Some(SystemName::Joint));
    for (place, line) in table.iter().enumerate() {
        let m = &line.metrics;
        let system = line.system.map_or("base rate", |s| s.as_str());
        let against = line
            .against
            .map(|i| format!("{:+.4} {:+.4}", i.low, i.high));
        let seconds = place.checked_sub(1).map_or(0.0, |p| evaluation.seconds[p]);
        println!(
            "  {system:12} n {:4}  log loss {:.4} ({})  accuracy {:.3}  Brier {:.4}  calibration {:.3}  {:.1} µs",
            m.matches,
            m.log_loss,
            against.unwrap_or_default(),
            m.accuracy,
            m.brier,
            m.calibration_error,
            1e6 * seconds / evaluation.matches as f64,
        );
    }
}

fn read(bytes: &[u8]) -> Vec<MatchRecord> {
    let Some(format) = by_name("jsonl") else {
        return Vec::new();
    };
    let mut items = Vec::new();
    let mut reader = Reader::new(format, &Context::default());
    reader.feed(bytes, &mut items);
    reader.finish(&mut items);
    let game = |item| match item {
        LogItem::Match(game) => Some(*game),
        other => {
            println!("{other:?}");
            None
        }
    };
    items.into_iter().filter_map(game).collect()
}
