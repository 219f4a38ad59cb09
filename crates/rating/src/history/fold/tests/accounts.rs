//! No match moves a weight against its player's result, and none moves the weight of somebody who is not in it.

use std::collections::HashMap;

use super::*;
use evenkeel_model::WeightEntry;

/// A player under a ruleset.
type Who = (String, PlayerKey);

/// The entries of a match, each with the participant, and the ruleset.
fn entries<'a>(record: &'a MatchRecord, ruling: &Ruling) -> Vec<(&'a Participant, WeightEntry)> {
    let played = ruling.rated.iter().flatten();
    let entry = |own: &Played| Some((&record.participants[own.participant], own.entry?));
    played.filter_map(entry).collect()
}

/// The sign of the result of a player who was on one team of two only: 1 for a victory, −1 for a defeat.
fn sign(record: &MatchRecord, participant: &Participant) -> Option<f64> {
    let stays = participant.presence.iter();
    let mut teams = stays
        .filter(|stay| stay.span.millis() > 0)
        .map(|stay| stay.team);
    let team = teams.next()?;
    let Outcome::Won(winner) = record.outcome else {
        return None;
    };
    (record.scores.len() == 2 && teams.all(|other| other == team)).then_some(if winner == team {
        1.0
    } else {
        -1.0
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_weight_stands_still_between_own_matches_and_never_moves_against_the_result(
        matches in any_history(),
    ) {
        for system in SystemName::ALL {
            let mut fold = Fold::new(&rulebook(), settings(system));
            let mut last: HashMap<Who, f64> = HashMap::new();
            for record in &matches {
                let ruling = fold.push(record, Fingerprint::of(record)).unwrap();
                for (participant, entry) in entries(record, &ruling) {
                    let who = (ruling.ruleset.to_string(), participant.key.clone());
                    if let Some(before) = last.insert(who, entry.weight) {
                        prop_assert_eq!(before.to_bits(), entry.before.to_bits(), "{}", system);
                    }
                    prop_assert!((0.0..=100.0).contains(&entry.weight));
                    prop_assert!(entry.change().abs() <= 8.0 || entry.cause.is_none());
                    if let (Some(sign), Some(_)) = (sign(record, participant), entry.cause) {
                        prop_assert!(sign * entry.change() >= 0.0, "{} {:?}", system, entry);
                    }
                }
                for known in fold.weights() {
                    let who = (known.ruleset.to_string(), known.key.clone());
                    prop_assert_eq!(last.get(&who).map(|w| w.to_bits()), Some(known.weight.to_bits()));
                }
            }
        }
    }
}
