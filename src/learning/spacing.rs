//! Which earlier states of a fold stay in memory. The further one lies behind the last match, the further apart they are, so
//! that there are few of them, and a match that comes late is folded from one that is not much older.

/// A checkpoint is written after this number of new matches. To fold that many again takes a fraction of a second.
pub(super) const EVERY: i64 = 64;
/// If a match comes late, and `n` later ones are on disk, at most this multiple of `n`, and [`NEAR`], are folded
/// again. With 2, there are at most twenty states of 60,000 matches.
const RATIO: i64 = 2;
/// Where several daemons record matches, many come after a few later ones.
const NEAR: i64 = 8;
/// The most bytes of all states together, or as many as [`FEW`] states like the newest have; the older ones are left
/// out. What several states share counts for each of them.
const MOST_BYTES: usize = 256 << 20;
const FEW: usize = 4;

/// Whether no state is needed between two others, which lie `older` and `newer` matches before the last one.
pub(super) fn is_close(older: i64, newer: i64) -> bool {
    older <= newer.saturating_mul(RATIO).saturating_add(NEAR)
}

/// Chooses the states to keep when there are `total` matches; returns how many matches each of them has. `all` are the
/// matches and bytes of each, the newest first. If these are close enough to each other, so are those that are kept.
pub(super) fn kept(all: &[(i64, usize)], total: i64) -> Vec<i64> {
    let (mut kept, mut bytes) = (Vec::new(), 0_usize);
    let newest = all.first().map_or(0, |(_, bytes)| *bytes);
    let most = MOST_BYTES.max(newest.saturating_mul(FEW));
    let mut newer = 0;
    for (index, (matches, own)) in all.iter().enumerate() {
        // Before the first one, there is the state without any match.
        let next = all.get(index + 1).map_or(0, |(matches, _)| *matches);
        if index > 0 && is_close(total - next, newer) {
            continue;
        }
        bytes = bytes.saturating_add(*own);
        if bytes > most {
            break;
        }
        newer = total - matches;
        kept.push(*matches);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The states after `total` matches that came `step` at a time.
    fn after(total: i64, step: i64) -> Vec<i64> {
        let mut all: Vec<(i64, usize)> = Vec::new();
        for matches in (0..=total).step_by(step as usize).skip(1) {
            all.insert(0, (matches, 1_000));
            let kept = kept(&all, matches);
            all.retain(|(matches, _)| kept.contains(matches));
        }
        all.into_iter().map(|(matches, _)| matches).collect()
    }

    #[test]
    fn few_are_kept_and_each_late_match_is_soon_after_one() {
        for (total, step, most) in [
            (640, 8, 10),
            (60_000, 64, 20),
            (60_000, 500, 20),
            (64, 64, 1),
        ] {
            let kept = after(total, step);
            assert!(kept.len() <= most, "{total} {step}: {kept:?}");
            let chain = kept.iter().chain(&[0]);
            let ages: Vec<i64> = chain.map(|matches| total - matches).collect();
            for pair in ages.windows(2) {
                assert!(pair[1] <= RATIO * pair[0] + step.max(NEAR), "{ages:?}");
            }
        }
    }

    #[test]
    fn large_ones_are_fewer() {
        let all = [
            (900, MOST_BYTES / 4),
            (700, MOST_BYTES / 2),
            (300, MOST_BYTES / 2),
        ];
        assert_eq!(kept(&all, 900), [900, 700]);
        let all = [(900, MOST_BYTES), all[1], all[2]];
        assert_eq!(kept(&all, 900), [900, 700, 300]);
        assert_eq!(kept(&[(900, usize::MAX)], 900), [900]);
        assert_eq!(kept(&[], 0), [0; 0]);
    }
}
