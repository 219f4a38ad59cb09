//! How well each rating system predicts the published sets of finished games in `../shared`, and seasons of bots, beside
//! systems of others ([`peers`]): `cargo bench --bench accuracy`. Not a test, because it takes too long.
//!
//! With names of sets, it does only these: `cargo bench --bench accuracy -- tagpro`. First it asserts that
//! the peers reproduce published examples. With `weights` it measures sums of weights instead ([`weights`]), with `first` the
//! first matches of each history ([`first`]), and with `level` the level of weights in closed worlds ([`level`]).

#![allow(
    clippy::disallowed_methods,
    reason = "the duration of each evaluation is printed"
)]

mod elo_mmr;
mod first;
mod level;
mod openskill;
mod peers;
mod report;
mod skill_ratings;
mod through_time;
mod weights;
mod whole_history;
#[path = "../../tests/common/worlds.rs"]
#[allow(dead_code)]
mod worlds;

use std::{fs, io, path::Path, time::Instant};

use evenkeel::{
    logs::{LogError, read_matches},
    model::{Fingerprint, MatchRecord, Rulebook, RulebookSpec},
    rating::SystemName,
    rating::history::{EvaluationPlan, FEWEST_COMPARED, Settings, Subset, evaluate},
};

use report::{Predicted, print, print_first, print_peers};

/// What is measured of a history.
#[derive(Clone, Copy)]
enum Measure {
    Forecasts,
    Weights,
    First,
}

/// A recorded history.
struct Set {
    name: &'static str,
    /// Whether its sides have a meaning.
    sides: bool,
    /// Whether it is also evaluated with the teams as they are given, where sides mean nothing.
    given: bool,
    /// The log loss that `joint` is to reach.
    target: Option<f64>,
}

/// The recorded histories: files in `../shared/data/matches`.
const HISTORIES: [Set; 4] = [
    Set::new("tribes_pug", false, Some(0.614)),
    Set::new("tagpro", false, Some(0.637)),
    Set::new("ns2_gather", true, Some(0.623)),
    Set::new("beach_points", false, Some(0.465)).and_given(),
];

/// The recorded logs: folders in `../shared/data/logs`, each of which is a history.
const LOGS: [Set; 6] = [
    Set::new("openarena", true, Some(0.42)),
    Set::new("nexuiz", true, None),
    Set::new("quake3", true, None),
    Set::new("source", true, None),
    Set::new("ut2004", true, None),
    Set::new("ut99", true, None),
];

/// Seasons of bots on a real OpenArena server in which players came and went in the middle of matches
/// (`integrations/openarena/arrivals.py`): files in `tests/fixtures/seasons`.
const SEASONS: [Set; 2] = [
    Set::new("arrivals_ctf", true, None),
    Set::new("arrivals_tdm", true, None),
];

/// The matches from one fresh start to the next. What the first matches of a history show is mostly
/// chance, so the history is also begun anew again and again.
const APART: usize = 200;

impl Set {
    const fn new(name: &'static str, sides: bool, target: Option<f64>) -> Self {
        Self {
            name,
            sides,
            given: false,
            target,
        }
    }

    const fn and_given(mut self) -> Self {
        self.given = true;
        self
    }

    /// Measures the history, unless it cannot be read or is too short.
    fn run(&self, matches: Result<Vec<MatchRecord>, LogError>, measure: Measure) {
        let name = self.name;
        let Ok(rulebook) = Rulebook::new(&RulebookSpec::default()) else {
            return;
        };
        match matches {
            Err(why) => println!("\n{name} is left out: {why}"),
            Ok(matches) if matches.len() < FEWEST_COMPARED => println!(
                "\n{name} is left out: it has {} matches, and fewer than {FEWEST_COMPARED} show nothing",
                matches.len()
            ),
            Ok(matches) => match measure {
                Measure::Forecasts => self.report(&matches, &rulebook),
                Measure::Weights => weights::run(self, matches),
                Measure::First => first::run(self, &matches, &rulebook),
            },
        }
    }

    fn report(&self, matches: &[MatchRecord], rulebook: &Rulebook) {
        let plan = EvaluationPlan {
            exchange: (!self.sides).then_some(1),
            ..EvaluationPlan::default()
        };
        let begun = Instant::now();
        let run = |plan: &EvaluationPlan, matches: &[MatchRecord]| {
            let mut timer = || begun.elapsed().as_secs_f64();
            let settings = Settings::default();
            let (matches, count) = (matches.iter(), matches.len());
            evaluate(
                matches,
                count,
                rulebook,
                &settings,
                plan,
                &mut timer,
                &mut |_| (),
            )
        };
        println!("\n{}", self.name);
        if let Some(target) = self.target {
            println!("log loss to be reached {target}");
        }
        let predicted = Predicted::new(run(&plan, matches), matches);
        print(&predicted.evaluation, Subset::All);
        print_peers(&predicted);
        print(&predicted.evaluation, Subset::Experienced);
        if self.given {
            let given = EvaluationPlan {
                exchange: None,
                ..plan.clone()
            };
            println!("with the teams as they are given:");
            print(&run(&given, matches), Subset::All);
        }
        let from_first = EvaluationPlan {
            warm_up: 0.0,
            ..plan.clone()
        };
        let first = |matches: &[MatchRecord]| Predicted::new(run(&from_first, matches), matches);
        println!("the first decided matches, from the very first one on:");
        print_first(&[first(matches)]);
        let starts = (0..matches.len()).step_by(APART);
        let parts = starts.map(|at| &matches[at..matches.len().min(at + 2 * APART)]);
        let fresh: Vec<Predicted> = parts.map(first).collect();
        println!("the same, as the mean over fresh starts every {APART} matches:");
        print_first(&fresh);
        print_without(matches, rulebook, &plan);
    }
}

fn main() {
    let mut only: Vec<String> = std::env::args()
        .skip(1)
        .filter(|a| !a.starts_with('-'))
        .collect();
    let mut asked = |what: &str| {
        let before = only.len();
        only.retain(|word| word != what);
        only.len() < before
    };
    if asked("level") {
        return level::run();
    }
    let measure = match (asked("weights"), asked("first")) {
        (true, _) => Measure::Weights,
        (_, true) => Measure::First,
        _ => Measure::Forecasts,
    };
    peers::check();
    let wanted = |set: &&Set| only.is_empty() || only.iter().any(|name| name == set.name);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let seasons = root.join("tests/fixtures/seasons");
    for set in SEASONS.iter().filter(wanted) {
        let file = seasons.join(set.name).with_extension("jsonl.gz");
        set.run(read_matches(&file, &mut |_| ()), measure);
    }
    let data = root.join("../shared/data");
    for set in HISTORIES.iter().filter(wanted) {
        let file = data.join("matches").join(set.name).with_extension("jsonl");
        set.run(read_matches(&file, &mut |_| ()), measure);
    }
    for set in LOGS.iter().filter(wanted) {
        set.run(read_folder(&data.join("logs").join(set.name)), measure);
    }
}

/// The matches of all logs in a folder, in order of time, each once.
fn read_folder(folder: &Path) -> Result<Vec<MatchRecord>, LogError> {
    let failed = |source: io::Error| LogError::File {
        path: folder.to_owned(),
        source,
    };
    let mut matches = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|end| end == "log") {
            matches.extend(read_matches(&path, &mut |_| ())?);
        }
    }
    matches.sort_by_cached_key(|record| (record.end, Fingerprint::of(record)));
    matches.dedup();
    Ok(matches)
}

/// Prints what `joint` loses without sides, without time shares, and without points.
fn print_without(matches: &[MatchRecord], rulebook: &Rulebook, plan: &EvaluationPlan) {
    println!("joint without");
    let settings = Settings::default();
    let no_sides = Settings {
        sides: false,
        ..Settings::default()
    };
    let shares: Vec<MatchRecord> = matches.iter().map(without_shares).collect();
    let points: Vec<MatchRecord> = matches.iter().map(without_points).collect();
    for (what, matches, settings) in [
        ("anything less", matches, &settings),
        ("sides", matches, &no_sides),
        ("time shares", &shares, &settings),
        ("points", &points, &settings),
    ] {
        let loss = joint(matches, rulebook, settings, plan);
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

fn joint(
    matches: &[MatchRecord],
    rulebook: &Rulebook,
    settings: &Settings,
    plan: &EvaluationPlan,
) -> f64 {
    let plan = EvaluationPlan {
        systems: vec![SystemName::Joint],
        ..plan.clone()
    };
    let nothing = &mut |_| ();
    let evaluation = evaluate(
        matches.iter(),
        matches.len(),
        rulebook,
        settings,
        &plan,
        &mut || 0.0,
        nothing,
    );
    let table = evaluation.table(None, Subset::All, None);
    table.last().map_or(0.0, |line| line.metrics.log_loss)
}
