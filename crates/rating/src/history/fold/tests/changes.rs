//! Nobody is missing among those whose weights differ from earlier ones.

use std::collections::BTreeSet;

use super::*;
use evenkeel_model::units::Count;

/// What others see of a player in a ruleset.
type Seen = (u64, u64, u32, Timestamp, Option<u8>);

fn seen<'a>(fold: &'a Fold, ruleset: &'a Ruleset) -> BTreeMap<&'a PlayerKey, Seen> {
    let weights = fold.weights_on(ruleset, Level::Ruleset);
    let seen = weights.map(|weight| {
        let bits = (weight.weight.to_bits(), weight.deviation.to_bits());
        let division = weight.rank.map(|rank| rank.division);
        (
            weight.key,
            (bits.0, bits.1, weight.games, weight.last_seen, division),
        )
    });
    seen.collect()
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

fn check_changes(now: &Fold, before: &Fold) {
    for ruleset in now.rulesets() {
        let weighed: BTreeSet<_> = now.weighed_since(before, ruleset).collect();
        let old = seen(before, ruleset);
        for (key, own) in seen(now, ruleset) {
            assert!(
                old.get(key) == Some(&own) || weighed.contains(key),
                "{key:?}"
            );
        }
    }
    let renamed: BTreeSet<_> = now.renamed_since(before).collect();
    for weight in now.weights() {
        let (kind, id) = (weight.key.kind, &weight.key.id);
        assert_eq!(now.name_of(kind, id), Some(weight.name));
        let is_same = before.name_of(kind, id) == Some(weight.name);
        assert!(is_same || renamed.contains(weight.key), "{:?}", weight.key);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn who_differs_is_found(matches in any_history(), k in any::<prop::sample::Index>()) {
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
            check_changes(&fold, &before);
        }
    }
}

#[test]
fn a_match_touches_no_other_ruleset_than_its_own() {
    for system in SystemName::ALL {
        let mut fold = Fold::new(&rulebook(), settings(system));
        for (number, players) in (0_i64..).zip([["a", "b"], ["c", "d"], ["a", "c"], ["b", "d"]]) {
            let mut record = duel(200_000 * (number + 1), [3.0, 1.0]);
            record.game_type = format!("type {number}");
            for (player, id) in record.participants.iter_mut().zip(players) {
                player.key.id = id.into();
            }
            let before = fold.clone();
            fold.push(&record, Fingerprint::of(&record)).unwrap();
            let rated: Vec<_> = fold
                .rated_since(&before)
                .map(|own| own.to_string())
                .collect();
            assert_eq!(rated, [record.game_type], "{system}");
        }
        assert_eq!(fold.rated_since(&fold).count(), 0);
    }
}
