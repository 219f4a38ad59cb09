//! The caller's clock, asked now and then.

/// Asks the caller whether the time is over, but not at every step: a real clock takes as long as
/// ten steps of a walk.
pub(super) struct StepClock<'a> {
    over: &'a mut dyn FnMut() -> bool,
    left: usize,
    expired: bool,
}

/// A step is a nanosecond or two, so this asks about 20 times a millisecond.
const STEPS: usize = 1 << 15;

impl<'a> StepClock<'a> {
    pub fn new(over: &'a mut dyn FnMut() -> bool) -> Self {
        Self {
            over,
            left: STEPS,
            expired: false,
        }
    }

    /// Counts `steps` and says whether the time is over, which it then stays.
    pub fn spend(&mut self, steps: usize) -> bool {
        self.left = self.left.saturating_sub(steps);
        if self.left == 0 && !self.expired {
            self.left = STEPS;
            self.expired = (self.over)();
        }
        self.expired
    }

    /// Asks at once.
    pub fn over(&mut self) -> bool {
        self.spend(STEPS)
    }
}
