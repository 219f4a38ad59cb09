//! A fold that was saved and restored goes on to the same bits.

use super::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_checkpoint_changes_no_bit(matches in any_history(), k in any::<prop::sample::Index>()) {
        let k = k.index(matches.len() + 1);
        for system in SystemName::ALL {
            with_and_without_a_checkpoint(system, &matches, k);
        }
    }

    #[test]
    fn bytes_that_are_no_state_are_refused(
        matches in any_history(),
        at in any::<prop::sample::Index>(),
        noise in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        for system in SystemName::ALL {
            let restore = |bytes: &[u8]| Fold::restore(&rulebook(), settings(system), bytes);
            let state = saved(&folded_by(system, &matches));
            prop_assert!(restore(&state[..at.index(state.len())]).is_err(), "truncated");
            prop_assert!(restore(&[state.as_slice(), &[0]].concat()).is_err(), "longer");
            // A number in the bytes may have any value, so these can pass; a length must not be
            // trusted.
            let _ = restore(&noise);
            let mut flipped = state;
            let index = at.index(flipped.len());
            flipped[index] ^= 1 << (index % 8);
            let _ = restore(&flipped);
        }
    }
}

#[test]
fn a_checkpoint_changes_no_bit_in_a_long_history() {
    let matches = sided(700); // past the bank's kept filters and drifts
    for system in SystemName::ALL {
        for k in [100, 300, 600] {
            with_and_without_a_checkpoint(system, &matches, k);
        }
    }
}
