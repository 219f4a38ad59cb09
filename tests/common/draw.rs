//! Numbers that look random and are the same in every run.

/// A linear congruential generator with Knuth's constants, of which the upper 31 bits are used.
pub struct Draw(pub u64);

impl Draw {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    /// A whole number from 0 to below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        self.next() as usize % count
    }

    /// A number between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() as f64 + 0.5) / 2f64.powi(31)
    }

    /// Puts the items into a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = (self.unit() * (last + 1) as f64) as usize;
            items.swap(last, other);
        }
    }
}
