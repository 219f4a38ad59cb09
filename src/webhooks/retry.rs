//! What the answer of a receiver means, and when a request is repeated.

use std::time::Duration;

/// The delay after the first failed try. Each further one is twice as long.
const FIRST_DELAY: Duration = Duration::from_secs(1);
/// The longest delay without the receiver's own wish.
pub const LONGEST_DELAY: Duration = Duration::from_secs(600);
/// The longest delay that a receiver can ask for.
const LONGEST_WISH: Duration = Duration::from_secs(3_600);
/// How often an event is sent to a receiver that refuses its content.
const REFUSALS: u32 = 5;

/// How a receiver has answered a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookAnswer {
    /// With this HTTP status, and the seconds for which it asks to wait, if it states them.
    Status(u16, Option<u64>),
    /// Not at all, for this reason.
    Failed(String),
}

impl HookAnswer {
    /// The answer in a few words, for logs.
    pub fn describe(&self) -> String {
        match self {
            Self::Status(status @ 300..=399, _) => {
                format!("HTTP {status}: redirects are not followed")
            }
            Self::Status(status, _) => format!("HTTP {status}"),
            Self::Failed(why) => why.clone(),
        }
    }
}

/// What follows from an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookVerdict {
    /// The receiver has the event.
    Delivered,
    /// The event is sent again later.
    Again,
    /// The receiver refuses this event: the next one is sent.
    GiveUp,
}

/// What follows from an answer to the request number `tries`, counted from 1. Only a status of 200 to
/// 299 means that the receiver has the event.
pub fn verdict(answer: &HookAnswer, tries: u32) -> HookVerdict {
    match answer {
        HookAnswer::Status(200..=299, _) => HookVerdict::Delivered,
        // The request itself is at fault, so another event may fare better.
        HookAnswer::Status(400 | 413 | 422, _) if tries >= REFUSALS => HookVerdict::GiveUp,
        _ => HookVerdict::Again,
    }
}

/// How long to wait after `tries` failed tries: a second, then twice as long each time, up to
/// [`LONGEST_DELAY`]. `roll`, a random number, shortens it by up to a half, so that receivers are not asked
/// by many daemons at once. A wish of the receiver can make it longer, up to an hour.
pub fn delay(tries: u32, roll: u16, answer: &HookAnswer) -> Duration {
    let doublings = tries.saturating_sub(1).min(20);
    let full = FIRST_DELAY
        .saturating_mul(1 << doublings)
        .min(LONGEST_DELAY);
    let own = full - full * u32::from(roll) / (2 * u32::from(u16::MAX));
    let wish = match answer {
        HookAnswer::Status(_, Some(seconds)) => Duration::from_secs(*seconds).min(LONGEST_WISH),
        _ => Duration::ZERO,
    };
    own.max(wish)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BROKEN: HookAnswer = HookAnswer::Status(500, None);

    #[test]
    fn delays_grow_to_ten_minutes() {
        let seconds = |tries, roll| delay(tries, roll, &BROKEN).as_secs_f64();
        assert_eq!(seconds(1, 0), 1.0);
        assert_eq!(seconds(1, u16::MAX), 0.5);
        assert_eq!(seconds(4, 0), 8.0);
        assert_eq!(seconds(11, 0), 600.0);
        assert_eq!(seconds(u32::MAX, u16::MAX), 300.0);
        assert_eq!(seconds(0, 0), 1.0);
    }

    #[test]
    fn a_receiver_may_ask_for_an_hour() {
        let wish = |seconds| delay(1, 0, &HookAnswer::Status(429, Some(seconds))).as_secs();
        assert_eq!(wish(0), 1);
        assert_eq!(wish(90), 90);
        assert_eq!(wish(u64::MAX), 3_600);
    }

    #[test]
    fn only_success_is_success() {
        let after = |status, tries| verdict(&HookAnswer::Status(status, None), tries);
        for status in [200, 202, 204, 299] {
            assert_eq!(after(status, 1), HookVerdict::Delivered);
        }
        for status in [100, 301, 302, 308, 401, 404, 410, 429, 500, 503] {
            assert_eq!(after(status, 99), HookVerdict::Again, "{status}");
        }
        for status in [400, 413, 422] {
            assert_eq!(after(status, 4), HookVerdict::Again);
            assert_eq!(after(status, 5), HookVerdict::GiveUp);
        }
        let failed = HookAnswer::Failed("no answer".to_owned());
        assert_eq!(verdict(&failed, 99), HookVerdict::Again);
    }
}
