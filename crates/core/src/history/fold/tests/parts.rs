//! Weights are computed from their parts with the same bits, and nothing is missing among the parts that differ.

use super::*;
use crate::{
    domain::units::Count,
    history::{Shares, WeightParts},
};

type ByKey<'a> = BTreeMap<&'a PlayerKey, WeightParts<'a>>;

fn by_key<'a>(fold: &'a Fold, ruleset: &Ruleset) -> ByKey<'a> {
    let parts = fold.parts(ruleset).into_iter();
    parts.map(|part| (part.key, part)).collect()
}

/// All that differs between the parts of two folds, and nothing else.
fn check_changes(now: &Fold, before: &Fold) {
    for ruleset in now.rulesets() {
        let (all, old) = (by_key(now, ruleset), by_key(before, ruleset));
        let differs = all
            .iter()
            .filter(|(key, part)| old.get(*key) != Some(*part));
        let differs: Vec<_> = differs
            .map(|(key, part)| (*key, (part.clone(), old.get(key).cloned())))
            .collect();
        let mut found = now.parts_since(before, ruleset).unwrap();
        found.sort_by_key(|(part, _)| part.key);
        let found: Vec<_> = found.into_iter().map(|pair| (pair.0.key, pair)).collect();
        assert_eq!(found, differs);
    }
}

fn check_bits(fold: &Fold) {
    for weight in fold.weights() {
        let shares: Shares = fold.shares(weight.ruleset).unwrap();
        let part = fold
            .part(weight.ruleset, weight.key.kind, &weight.key.id)
            .unwrap();
        let computed = shares.weight_of(weight.ruleset, &part);
        let known = Weight {
            first_seen: weight.last_seen,
            hours: 0.0,
            ..weight
        };
        assert_eq!(computed.weight.to_bits(), known.weight.to_bits());
        assert_eq!(computed, known);
    }
}

fn in_divisions(system: SystemName) -> Settings {
    let mut settings = settings(system);
    settings.seasons = vec![Timestamp(120_000)];
    settings.divisions.names = ["Low", "High"]
        .map(|name| name.to_owned().try_into().unwrap())
        .to_vec();
    settings.divisions.calibration_matches = Count::of(1);
    settings
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn what_differs_is_found(matches in any_history(), k in any::<prop::sample::Index>()) {
        let k = k.index(matches.len() + 1);
        for system in SystemName::ALL {
            let mut fold = Fold::new(&rulebook(), in_divisions(system));
            let mut before = fold.clone();
            for (number, record) in matches.iter().enumerate() {
                if number == k {
                    before = fold.clone();
                }
                fold.push(record, Fingerprint::of(record)).unwrap();
            }
            check_bits(&fold);
            check_changes(&fold, &before);
            // Also between folds that share nothing.
            let state = saved(&before);
            let restored = Fold::restore(&rulebook(), in_divisions(system), &state).unwrap();
            check_changes(&fold, &restored);
        }
    }
}

#[test]
fn commanders_have_parts() {
    for system in SystemName::ALL {
        check_bits(&folded_by(system, &commanded(40)));
    }
}

#[test]
fn who_is_gone_is_noticed() {
    let [one, other] = [duel(200_000, [3.0, 1.0]), duel(400_000, [0.0, 2.0])];
    let mut renamed = other.clone();
    renamed.participants[0].key.id = "c".into();
    let before = folded([&one, &renamed]);
    let now = folded([&one, &other]);
    let ruleset = Ruleset::parse("ctf");
    assert!(now.parts_since(&before, &ruleset).is_none());
    assert!(before.parts_since(&now, &ruleset).is_some());
}
