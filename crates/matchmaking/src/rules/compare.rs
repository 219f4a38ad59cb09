//! How the numbers of the teams are compared with a limit, or with each other.

use std::ops::{Add, Sub};

/// What must hold of the teams' numbers.
#[derive(Clone, Copy, Debug)]
pub(super) enum Comparison<T> {
    /// Each is at least `least` and at most `most`.
    Each { least: T, most: T },
    /// They differ by at most this.
    Differ(T),
    /// All of them together are at most this.
    Together(T),
}

impl<T> Comparison<T>
where
    T: Copy + Default + PartialOrd + Add<Output = T> + Sub<Output = T>,
{
    /// By how much they break it: 0 if it holds.
    pub fn beyond(self, mut numbers: impl Iterator<Item = T>) -> T {
        match self {
            Self::Each { least, most } => numbers.fold(T::default(), |sum, number| match number {
                few if few < least => sum + (least - few),
                many if many > most => sum + (many - most),
                _ => sum,
            }),
            Self::Differ(limit) => {
                let Some(first) = numbers.next() else {
                    return T::default();
                };
                let (least, most) = numbers.fold((first, first), |(least, most), number| {
                    let least = if number < least { number } else { least };
                    (least, if number > most { number } else { most })
                });
                let apart = most - least;
                more(apart, limit)
            }
            Self::Together(limit) => more(numbers.fold(T::default(), Add::add), limit),
        }
    }
}

/// By how much a number is above a limit.
fn more<T: Default + PartialOrd + Sub<Output = T>>(number: T, limit: T) -> T {
    if number > limit {
        number - limit
    } else {
        T::default()
    }
}

#[cfg(test)]
mod tests {
    use super::Comparison::{Differ, Each, Together};

    #[test]
    fn what_is_beyond_a_comparison_is_counted() {
        let each = Each { least: 1, most: 3 };
        assert_eq!(each.beyond([1, 2, 3].into_iter()), 0);
        assert_eq!(each.beyond([0, 5, 3].into_iter()), 1 + 2);
        assert_eq!(Differ(2).beyond([4, 1, 3].into_iter()), 1);
        assert_eq!(Differ(2).beyond([4, 2].into_iter()), 0);
        assert_eq!(Together(4).beyond([2, 3].into_iter()), 1);
        assert_eq!(Together(5).beyond([2, 3].into_iter()), 0);
        assert_eq!(Differ(0.5).beyond([1.0, 2.0].into_iter()), 0.5);
        assert_eq!(Differ(0.5).beyond(std::iter::empty()), 0.0);
    }
}
