//! The main use on real games: 60 matches of bots with known skill. Skipped, with the reason, if
//! the logs are not beside the project.

use std::{collections::BTreeMap, path::Path};

use crate::common::{config, service, shared_data, weights};
use evenkeel::{
    ingest::{self, Context, LogItem, Reader},
    server::Service,
};

async fn ingest(service: &Service, file: &Path) {
    let bytes = std::fs::read(file).unwrap();
    let format = ingest::detect(&bytes[..bytes.len().min(ingest::HEAD)]).unwrap();
    let mut reader = Reader::new(format, &Context::default());
    let mut items = Vec::new();
    reader.feed(&bytes, &mut items);
    reader.finish(&mut items);
    for item in items {
        if let LogItem::Match(record) = item {
            service.store().matches().record(&record).await.unwrap();
        }
    }
}

/// Ranks from 1; equal values share the mean of their ranks.
fn ranks(values: &[f64]) -> Vec<f64> {
    let place = |value: &f64| {
        let below = values.iter().filter(|other| *other < value).count() as f64;
        let same = values.iter().filter(|other| *other == value).count() as f64;
        below + (same + 1.0) / 2.0
    };
    values.iter().map(place).collect()
}

/// Spearman's rank correlation: Pearson's of the ranks.
fn spearman(a: &[f64], b: &[f64]) -> f64 {
    let (a, b) = (ranks(a), ranks(b));
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let (ma, mb) = (mean(&a), mean(&b));
    let sum = |f: &dyn Fn(f64, f64) -> f64| {
        a.iter()
            .zip(&b)
            .map(|(x, y)| f(x - ma, y - mb))
            .sum::<f64>()
    };
    sum(&|x, y| x * y) / (sum(&|x, _| x * x) * sum(&|_, y| y * y)).sqrt()
}

#[test]
fn spearmans_rank_correlation_is_as_computed_by_hand() {
    assert_eq!(spearman(&[1.0, 2.0, 3.0], &[10.0, 20.0, 30.0]), 1.0);
    assert_eq!(spearman(&[1.0, 2.0, 3.0], &[3.0, 2.0, 1.0]), -1.0);
    assert!((spearman(&[1.0, 2.0, 3.0, 4.0], &[1.0, 3.0, 2.0, 4.0]) - 0.8).abs() < 1e-12);
}

#[tokio::test]
async fn the_weights_of_bots_follow_their_true_skill() {
    let Some(folder) = shared_data("logs/openarena") else {
        return;
    };
    let lineups = std::fs::read_to_string(folder.join("lineups.jsonl")).unwrap();
    let mut skill: BTreeMap<String, f64> = BTreeMap::new();
    for line in lineups.lines() {
        let lineup: serde_json::Value = serde_json::from_str(line).unwrap();
        for team in ["red_true_skill", "blue_true_skill"] {
            for (name, value) in lineup[team].as_object().unwrap() {
                skill.insert(name.clone(), value.as_f64().unwrap());
            }
        }
    }
    let (service, _db) = service(&config("")).await;
    for n in 0..60 {
        ingest(&service, &folder.join(format!("ctf-{n:03}.log"))).await;
    }
    service.learning().refresh().await.unwrap();
    let rows = weights(service.store()).await;
    let rows: Vec<_> = rows
        .iter()
        .filter(|row| row.ruleset == "baseoa.ctf")
        .collect();
    assert_eq!(rows.len(), skill.len(), "every bot is known");
    let known: Vec<f64> = rows.iter().map(|row| row.weight).collect();
    let skills: Vec<f64> = rows.iter().map(|row| skill[&row.key.id]).collect();
    let correlation = spearman(&known, &skills);
    println!("Spearman correlation of weight and true skill: {correlation:.3}");
    assert!(correlation >= 0.75, "{correlation}");
}
