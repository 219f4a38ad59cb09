//! Neither the order in which matches arrive nor the one in which players are listed changes a bit, and all numbers
//! stay in their range.

use super::*;

#[test]
fn a_late_match_changes_nothing() {
    let (first, second) = (duel(200_000, [1.0, 0.0]), duel(400_000, [1.0, 0.0]));
    let mut fold = folded([&second]);
    let before = bits(&fold);
    for late in [&first, &second] {
        assert_eq!(fold.push(late, Fingerprint::of(late)), Err(Late));
        assert_eq!(bits(&fold), before);
    }
}

/// What the matches have entered into the accounts, comparable to the bit: the weight before and after, its deviation, and
/// the cause.
type Entries = BTreeMap<(Timestamp, Fingerprint), Vec<Option<([u64; 3], Option<WeightCause>)>>>;

fn entries(ruling: Ruling) -> Vec<Option<([u64; 3], Option<WeightCause>)>> {
    let played = ruling.rated.into_iter().flatten();
    let bits = |entry: WeightEntry| {
        let numbers = [entry.before, entry.weight, entry.deviation];
        (numbers.map(f64::to_bits), entry.cause)
    };
    played.map(|own| own.entry.map(bits)).collect()
}

/// Everything that a fold of matches in order gives.
fn in_one_go(system: SystemName, matches: &[MatchRecord]) -> (Bits, Entries) {
    let mut fold = Fold::new(rulebook(), season_settings(system));
    let push = |record: &MatchRecord| {
        let print = Fingerprint::of(record);
        let ruling = fold.push(record, print).unwrap();
        ((record.end, print), entries(ruling))
    };
    let entries = matches.iter().map(push).collect();
    (bits(&fold), entries)
}

/// The same of matches that arrive in any order: a late one is folded from the checkpoint before it, with all later ones.
fn as_they_arrive(system: SystemName, arriving: &[MatchRecord]) -> (Bits, Entries) {
    let (rulebook, settings) = (rulebook(), season_settings(system));
    let mut fold = Fold::new(rulebook, settings.clone());
    let mut known: Vec<((Timestamp, Fingerprint), &MatchRecord, Vec<u8>)> = Vec::new();
    let mut entered = Entries::new();
    for record in arriving {
        let place = (record.end, Fingerprint::of(record));
        let at = known.partition_point(|(other, ..)| *other < place);
        let later: Vec<_> = known.drain(at..).collect();
        if let Some((.., state)) = later.first() {
            fold = Fold::restore(rulebook, settings.clone(), state).unwrap();
        }
        let later = later.into_iter().map(|(_, record, _)| record);
        for record in [record].into_iter().chain(later) {
            let place = (record.end, Fingerprint::of(record));
            known.push((place, record, saved(&fold)));
            let ruling = fold.push(record, place.1).unwrap();
            entered.insert(place, entries(ruling));
        }
    }
    (bits(&fold), entered)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))] // all systems, twice each
    #[test]
    fn every_system_stays_in_range_and_does_not_care_about_arrival(
        (matches, shuffled) in any_history().prop_flat_map(|m| (Just(m.clone()), Just(m).prop_shuffle())),
    ) {
        for system in SystemName::ALL {
            let (bits, entries) = in_one_go(system, &matches);
            for (_, key, _, [weight, ..], ..) in &bits {
                let weight = f64::from_bits(*weight);
                prop_assert!((0.0..=100.0).contains(&weight), "{system}: {key:?} {weight}");
            }
            let arrived = as_they_arrive(system, &shuffled);
            prop_assert_eq!(arrived, (bits, entries), "{}", system);
        }
    }
}

/// The record with its participants listed from the last to the first.
fn listed_backwards(record: &MatchRecord) -> MatchRecord {
    let mut record = record.clone();
    record.participants.reverse();
    let last = record.participants.len().saturating_sub(1) as u32;
    let events = record.events.iter_mut();
    let authors = events.filter_map(|event| event.by.as_mut());
    authors.for_each(|by| *by = last - *by);
    record
}

/// The weights, comparable to the bit, of all but `p0`, whose matches are listed under another name from the start on if
/// `forgotten`. Matches keep the fingerprints under which they are stored.
fn bits_of_others(system: SystemName, recorded: &[MatchRecord], forgotten: bool) -> Bits {
    let mut fold = Fold::new(rulebook(), season_settings(system));
    for record in recorded {
        let (mut own, print) = (record.clone(), Fingerprint::of(record));
        if forgotten {
            let players = own.participants.iter_mut().map(|own| &mut own.key);
            let he = players.filter(|key| key.id == "p0");
            he.for_each(|key| key.id = "z, who was forgotten".into());
        }
        fold.push(&own, print).unwrap();
    }
    let other = |id: &str| id.starts_with('p') && id != "p0";
    let mut bits = bits(&fold);
    bits.retain(|(_, key, ..)| other(&key.id));
    bits
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn the_order_in_which_a_record_lists_its_participants_changes_no_bit(matches in any_history()) {
        let played = |record: &MatchRecord| record.clone().played();
        let forwards = in_order(matches.iter().map(played).collect());
        let backwards = matches.iter().map(|record| listed_backwards(record).played());
        let backwards = in_order(backwards.collect());
        prop_assert_eq!(&backwards, &forwards);
        for system in SystemName::ALL {
            let (bits, _) = in_one_go(system, &forwards);
            prop_assert_eq!(in_one_go(system, &backwards).0, bits, "{}", system);
        }
    }

    #[test]
    fn forgetting_a_player_leaves_every_other_weight_as_it_is_to_the_last_bit(matches in any_history()) {
        let recorded = in_order(matches.into_iter().map(MatchRecord::played).collect());
        for system in SystemName::ALL {
            let known = bits_of_others(system, &recorded, false);
            prop_assert_eq!(bits_of_others(system, &recorded, true), known, "{}", system);
        }
    }
}

proptest! {
    #[test]
    fn points_are_finite_and_never_negative(record in any_record()) {
        prop_assert_eq!(record.check(), Ok(()));
        for scoring in [Scoring::TeamPoints, Scoring::Frags] {
            for points in points(&record, scoring) {
                for x in [points.scored, points.conceded] {
                    prop_assert!(x.is_finite() && x >= 0.0, "{x}");
                }
            }
        }
    }

    #[test]
    fn weights_stay_in_their_range(matches in any_history()) {
        for w in folded(&matches).weights() {
            prop_assert!((0.0..=100.0).contains(&w.weight), "{}", w.weight);
        }
    }

    #[test]
    fn the_order_of_arrival_does_not_matter(
        (matches, shuffled) in any_history().prop_flat_map(|m| (Just(m.clone()), Just(m).prop_shuffle())),
    ) {
        prop_assert_eq!(bits(&folded(&matches)), bits(&folded(&in_order(shuffled))));
    }

    #[test]
    fn one_at_a_time_is_the_whole_at_once(matches in any_history()) {
        let mut fold = folded([]);
        for (i, record) in matches.iter().enumerate() {
            fold.push(record, Fingerprint::of(record)).unwrap();
            prop_assert_eq!(bits(&fold), bits(&folded(&matches[..=i])));
        }
    }
}
