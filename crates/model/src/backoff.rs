//! Pauses that grow after failures.

use std::time::Duration;

/// How long to wait after failures in a row: a first pause, then twice as long each time, up to the longest.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
}

impl Backoff {
    /// Pauses between these two.
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest }
    }

    /// The pause after this many failures in a row, counted from 1.
    pub fn after(self, failures: u32) -> Duration {
        let doublings = failures.saturating_sub(1).min(u32::BITS - 1);
        self.first.saturating_mul(1 << doublings).min(self.longest)
    }

    /// The pause after this many failures, of which `part`, 0 to 1 and drawn at random, shortens it by up to a half: so
    /// many who failed at the same moment do not try again at the same moment.
    pub fn spread(self, failures: u32, part: f64) -> Duration {
        let part = part.clamp(0.0, 1.0);
        // A part that is no number is none.
        let part = if part.is_nan() { 0.0 } else { part };
        self.after(failures).mul_f64(1.0 - 0.5 * part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSES: Backoff = Backoff::new(Duration::from_millis(500), Duration::from_secs(30));

    #[test]
    fn a_pause_doubles_up_to_the_longest() {
        let table = [
            (0, 500),
            (1, 500),
            (2, 1_000),
            (6, 16_000),
            (7, 30_000),
            (8, 30_000),
            (u32::MAX, 30_000),
        ];
        for (failures, millis) in table {
            assert_eq!(PAUSES.after(failures).as_millis(), millis, "{failures}");
        }
        let endless = Backoff::new(Duration::MAX, Duration::MAX);
        assert_eq!(endless.after(u32::MAX), Duration::MAX);
    }

    #[test]
    fn chance_shortens_a_pause_by_up_to_a_half() {
        let table = [
            (0.0, 500),
            (0.5, 375),
            (1.0, 250),
            (7.0, 250),
            (-1.0, 500),
            (f64::NAN, 500),
        ];
        for (part, millis) in table {
            assert_eq!(PAUSES.spread(1, part).as_millis(), millis, "{part}");
        }
    }
}
