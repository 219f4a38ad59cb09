//! Which checkpoints are kept. The further one lies behind the last match, the further apart they are, so that
//! there are few of them, and a match that comes late is folded from one that is not much older.

use crate::store::CheckpointRow;

/// A checkpoint is written after this number of new matches. To fold that many again takes a fraction of a second.
pub(super) const EVERY: i64 = 64;
/// If a match comes late, and `n` later ones are on disk, at most this multiple of `n`, and [`EVERY`], are folded
/// again. With 2, there are at most twenty checkpoints of 60,000 matches.
const RATIO: i64 = 2;
/// The most bytes of all checkpoints together, or as many as [`FEW`] states like the newest have; the older ones are left
/// out. Pieces that several checkpoints share count for each of them.
const MOST_BYTES: i64 = 256 << 20;
const FEW: i64 = 4;

/// Whether no checkpoint is needed between two others, which lie `older` and `newer` matches before the last one.
pub(super) fn is_close(older: i64, newer: i64) -> bool {
    older <= newer.saturating_mul(RATIO).saturating_add(EVERY)
}

/// Chooses the checkpoints to keep when there are `total` matches; returns how many matches each of them has. `all`
/// begins with the newest. If these are close enough to each other, so are those that are kept.
pub(super) fn kept(all: &[&CheckpointRow], total: i64) -> Vec<i64> {
    let (mut kept, mut bytes) = (Vec::new(), 0_i64);
    let newest = all.first().map_or(0, |newest| newest.bytes);
    let most = MOST_BYTES.max(newest.saturating_mul(FEW));
    let mut newer = 0;
    for (index, one) in all.iter().enumerate() {
        // Before the first checkpoint, there is the state without any match.
        let next = all.get(index + 1).map_or(0, |next| next.matches);
        if index > 0 && is_close(total - next, newer) {
            continue;
        }
        bytes = bytes.saturating_add(one.bytes);
        if bytes > most {
            break;
        }
        newer = total - one.matches;
        kept.push(one.matches);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Cursor;

    fn row(matches: i64, bytes: i64) -> CheckpointRow {
        CheckpointRow {
            matches,
            last_match: matches,
            cursor: Cursor::START,
            settings: String::new(),
            bytes,
        }
    }

    /// The checkpoints after `total` matches that came `step` at a time.
    fn after(total: i64, step: i64) -> Vec<i64> {
        let mut stored: Vec<CheckpointRow> = Vec::new();
        for matches in (0..=total).step_by(step as usize).skip(1) {
            stored.insert(0, row(matches, 1_000));
            let all: Vec<&CheckpointRow> = stored.iter().collect();
            let kept = kept(&all, matches);
            stored.retain(|one| kept.contains(&one.matches));
        }
        stored.iter().map(|one| one.matches).collect()
    }

    #[test]
    fn few_are_kept_and_each_late_match_is_soon_after_one() {
        for (total, step, most) in [
            (640, 64, 8),
            (60_000, 64, 20),
            (60_000, 500, 20),
            (64, 64, 1),
        ] {
            let kept = after(total, step);
            assert!(kept.len() <= most, "{total} {step}: {kept:?}");
            let chain = kept.iter().chain(&[0]);
            let ages: Vec<i64> = chain.map(|matches| total - matches).collect();
            for pair in ages.windows(2) {
                assert!(pair[1] <= RATIO * pair[0] + step.max(EVERY), "{ages:?}");
            }
        }
    }

    #[test]
    fn large_ones_are_fewer() {
        let rows = [
            row(900, MOST_BYTES / 4),
            row(700, MOST_BYTES / 2),
            row(300, MOST_BYTES / 2),
        ];
        let all: Vec<&CheckpointRow> = rows.iter().collect();
        assert_eq!(kept(&all, 900), [900, 700]);
        let large = row(900, MOST_BYTES);
        let all = [&large, &rows[1], &rows[2]];
        assert_eq!(kept(&all, 900), [900, 700, 300]);
        assert_eq!(kept(&[&row(900, i64::MAX)], 900), [900]);
        assert_eq!(kept(&[], 0), [0; 0]);
    }
}
