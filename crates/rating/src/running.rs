//! A running mean.

use serde::{Deserialize, Serialize};

/// A running mean that starts from one initial number.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Running {
    sum: f64,
    count: f64,
}

impl Running {
    /// A mean in which `first` counts as the first number.
    pub fn from(first: f64) -> Self {
        Self {
            sum: first,
            count: 1.0,
        }
    }

    /// Adds a number to the mean.
    pub fn add(&mut self, x: f64) {
        self.sum += x;
        self.count += 1.0;
    }

    /// The mean of `first` and all numbers added.
    pub fn mean(&self) -> f64 {
        self.sum / self.count
    }
}
