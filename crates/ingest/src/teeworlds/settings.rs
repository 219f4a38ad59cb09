//! The settings of a server that its output has only where somebody has asked for them.

use crate::text::{self, real};

/// A setting of the server that an operator or a sidecar has asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Setting {
    Map,
    Kind,
    ScoreLimit,
    TimeLimit,
}

/// The value of a setting that the game needs.
pub(super) enum SettingValue {
    Map(String),
    /// The type of match, in lower case.
    Kind(String),
    /// A limit, which is kept here.
    Limit,
}

/// The limits that end a match, and what was asked for last.
#[derive(Debug, Default)]
pub(super) struct Settings {
    score_limit: Option<f64>,
    /// In milliseconds.
    time_limit: Option<u64>,
    asked: Option<Setting>,
}

impl Settings {
    /// Whether both limits are known.
    pub(super) fn are_limits_known(&self) -> bool {
        self.score_limit.is_some() && self.time_limit.is_some()
    }

    /// The score that ends a match; `None` if there is no limit, or it is not known.
    pub(super) fn score_limit(&self) -> Option<f64> {
        self.score_limit.filter(|limit| *limit > 0.0)
    }

    /// The time that ends a match, in milliseconds; `None` if there is no limit, or it is not known.
    pub(super) fn time_limit(&self) -> Option<u64> {
        self.time_limit.filter(|limit| *limit > 0)
    }

    /// The limits may be others now, or soon.
    pub(super) fn doubt_limits(&mut self) {
        (self.score_limit, self.time_limit) = (None, None);
    }

    /// Somebody has written this command. Returns whether it breaks a match off.
    pub(super) fn ask(&mut self, command: &[u8]) -> bool {
        const ENDS: [&[u8]; 4] = [b"restart", b"change_map", b"reload", b"sv_map"];
        let mut words = command
            .split(|&b| b == b' ')
            .filter(|word| !word.is_empty());
        let (word, value) = (words.next().unwrap_or_default(), words.next());
        self.asked = match word {
            b"sv_map" => Some(Setting::Map),
            b"sv_gametype" => Some(Setting::Kind),
            b"sv_scorelimit" => Some(Setting::ScoreLimit),
            b"sv_timelimit" => Some(Setting::TimeLimit),
            _ => None,
        };
        match (self.asked, value) {
            // A new limit holds at once.
            (Some(Setting::ScoreLimit | Setting::TimeLimit), Some(value)) => {
                self.answer(value);
                false
            }
            (Some(_), None) => false,
            // Another map or type begins with the next map.
            (_, _) => {
                self.asked = None;
                ENDS.contains(&word)
            }
        }
    }

    /// Takes a value; `None` if nothing was asked for, or the value is none.
    pub(super) fn answer(&mut self, value: &[u8]) -> Option<SettingValue> {
        let number = real(value).filter(|number| (0.0..=1_000.0).contains(number));
        Some(match self.asked.take()? {
            Setting::Map => SettingValue::Map(text::name(value)),
            Setting::Kind => SettingValue::Kind(text::name(value).to_lowercase()),
            Setting::ScoreLimit => {
                self.score_limit = Some(number?);
                SettingValue::Limit
            }
            Setting::TimeLimit => {
                // The limit is in minutes.
                self.time_limit = Some(number? as u64 * 60_000);
                SettingValue::Limit
            }
        })
    }
}
