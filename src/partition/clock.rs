//! The caller's deadline, checked from time to time.

/// Checks the caller's deadline, but not at every step: reading a clock takes as long as ten steps of
/// a walk.
pub(super) struct StepClock<'a> {
    over: &'a mut dyn FnMut() -> bool,
    left: usize,
    expired: bool,
}

/// A step takes a nanosecond or two, so that the deadline is checked about 20 times per millisecond.
const STEPS: usize = 1 << 15;

impl<'a> StepClock<'a> {
    pub fn new(over: &'a mut dyn FnMut() -> bool) -> Self {
        Self {
            over,
            left: STEPS,
            expired: false,
        }
    }

    /// Counts `steps` and returns whether the time is over. Once over, it stays over.
    pub fn spend(&mut self, steps: usize) -> bool {
        self.left = self.left.saturating_sub(steps);
        if self.left == 0 && !self.expired {
            self.left = STEPS;
            self.expired = (self.over)();
        }
        self.expired
    }

    /// Checks the deadline at once.
    pub fn over(&mut self) -> bool {
        self.spend(STEPS)
    }
}
