//! The caller's deadline, polled once per block of steps.

/// Polls the caller's deadline, but not at every step: reading a clock takes as long as ten steps.
pub(super) struct StepClock<'a> {
    over: &'a mut dyn FnMut() -> bool,
    left: usize,
    expired: bool,
}

/// Steps between two polls. A step takes one or two nanoseconds, so there are about 20 polls per
/// millisecond.
const STEPS: usize = 1 << 15;

impl<'a> StepClock<'a> {
    pub fn new(over: &'a mut dyn FnMut() -> bool) -> Self {
        Self {
            over,
            left: STEPS,
            expired: false,
        }
    }

    /// Counts `steps` and returns whether the time is over. Once true, it stays true.
    pub fn spend(&mut self, steps: usize) -> bool {
        self.left = self.left.saturating_sub(steps);
        if self.left == 0 && !self.expired {
            self.left = STEPS;
            self.expired = (self.over)();
        }
        self.expired
    }

    /// Polls the deadline at once.
    pub fn over(&mut self) -> bool {
        self.spend(STEPS)
    }
}
