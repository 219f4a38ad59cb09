//! A mean that grows with each number.

use serde::{Deserialize, Serialize};

/// The mean of what was added, beginning as if one number had been.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Running {
    sum: f64,
    count: f64,
}

impl Running {
    /// As if `first` had been added.
    pub fn from(first: f64) -> Self {
        Self {
            sum: first,
            count: 1.0,
        }
    }

    /// Adds a number.
    pub fn add(&mut self, x: f64) {
        self.sum += x;
        self.count += 1.0;
    }

    /// The mean so far.
    pub fn mean(&self) -> f64 {
        self.sum / self.count
    }
}
