//! The chance with the score, judged on recorded matches: at each tenth of a match, it predicts the winner from the
//! strengths, the score and the time so far. Skipped, with the reason, if the logs are not beside the project.

use std::path::Path;

use crate::common::shared_data;
use evenkeel::{
    ingest::{self, Context, LogItem, Reader},
    lobby::advantage::{ScoreSoFar, ScoreSpread, usual_length},
    model::{MatchRecord, Outcome, Rulebook, fingerprint::Fingerprint, rulebook::RulebookSpec},
    rating::history::{Fold, Settings},
};

/// The log losses of two predictions at the middle of each tenth of a match.
#[derive(Default)]
struct Losses {
    matches: usize,
    by_strengths: [f64; 10],
    with_score: [f64; 10],
}

fn records(file: &Path) -> Vec<MatchRecord> {
    let bytes = std::fs::read(file).unwrap();
    let format = ingest::detect(&bytes[..bytes.len().min(ingest::HEAD)]).unwrap();
    let mut reader = Reader::new(format, &Context::default());
    let mut items = Vec::new();
    reader.feed(&bytes, &mut items);
    reader.finish(&mut items);
    let record = |item| match item {
        LogItem::Match(record) => Some(*record),
        _ => None,
    };
    items.into_iter().filter_map(record).collect()
}

/// The scores of two teams after `elapsed` milliseconds.
fn scores_at(record: &MatchRecord, elapsed: u64) -> [f64; 2] {
    let mut scores = [0.0; 2];
    for event in record.events.iter().filter(|event| event.at <= elapsed) {
        scores[usize::from(event.team)] += event.points;
    }
    scores
}

fn loss(chance: f64, won: bool) -> f64 {
    let right = if won { chance } else { 1.0 - chance };
    -right.max(1e-6).ln()
}

impl Losses {
    /// Predicts a match as a page would have: from what earlier matches have shown, and without its own end.
    fn add(&mut self, record: &MatchRecord, before: f64, spread: &ScoreSpread, length: u64) {
        let Outcome::Won(winner) = record.outcome else {
            return;
        };
        self.matches += 1;
        let won = winner == 0;
        for tenth in 0..10 {
            let elapsed = record.millis() * (2 * tenth as u64 + 1) / 20;
            let so_far = ScoreSoFar {
                scores: scores_at(record, elapsed),
                left: length.saturating_sub(elapsed),
                length,
            };
            self.by_strengths[tenth] += loss(before, won);
            self.with_score[tenth] += loss(spread.chance(before, so_far), won);
        }
    }

    fn mean(&self, losses: &[f64; 10]) -> f64 {
        losses.iter().sum::<f64>() / (10 * self.matches) as f64
    }

    fn print(&self, name: &str) {
        for (what, losses) in [
            ("strengths", &self.by_strengths),
            ("with the score", &self.with_score),
        ] {
            let each = losses.map(|loss| format!("{:.3}", loss / self.matches as f64));
            let mean = self.mean(losses);
            println!(
                "| {name}, {} matches | {what} | {} | {mean:.3} |",
                self.matches,
                each.join(" | ")
            );
        }
    }
}

#[test]
fn a_score_predicts_the_winner_better_than_strengths_alone() {
    let Some(folder) = shared_data("logs/openarena") else {
        return;
    };
    let rulebook = Rulebook::new(&RulebookSpec::default()).unwrap();
    let mut fold = Fold::new(&rulebook, Settings::default());
    let (mut first, mut rest) = (Losses::default(), Losses::default());
    let mut lengths = Vec::new();
    let files = (0..60).map(|n| folder.join(format!("ctf-{n:03}.log")));
    let mut all: Vec<MatchRecord> = files.flat_map(|file| records(&file)).collect();
    all.sort_by_key(|record| (record.end, Fingerprint::of(record)));
    for (n, record) in all.into_iter().enumerate() {
        let ruleset = fold.rulesets().next().cloned();
        let spread = ruleset.and_then(|ruleset| fold.spread(&ruleset));
        let spread = spread.map_or(ScoreSpread::default(), |spread| ScoreSpread {
            matches: spread.matches,
            square: spread.square(),
        });
        let ruling = fold.push(&record, Fingerprint::of(&record)).unwrap();
        let Some(before) = ruling.chance else {
            continue;
        };
        let length = usual_length(&mut lengths.clone());
        let part = if n < 30 { &mut first } else { &mut rest };
        part.add(&record, before, &spread, length);
        lengths.push(record.millis());
    }
    first.print("first half");
    rest.print("second half");
    for half in [&first, &rest] {
        assert!(half.matches >= 25, "{}", half.matches);
        assert!(half.mean(&half.with_score) < 0.8 * half.mean(&half.by_strengths));
    }
}
