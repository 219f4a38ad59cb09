//! Reads stored decisions, also those of older versions.
//!
//! Version 0.1 stored times of the settings in milliseconds, the gap of auto-balance together with
//! its unit, and BALANCE in another form, with its memory in bytes.

use serde::Deserialize;
use serde_json::{Map, Value};

use super::{Balance, BalanceAnswer, Decided, Decision, Repeat};
use crate::partition::{self, ProblemSpec};

impl Decision {
    /// Parses a stored decision of this kind, written by this version or an older one.
    ///
    /// # Errors
    /// Fails if the JSON is not a decision.
    pub fn parse(kind: &str, json: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(json).or_else(|error| read_older(kind, json).ok_or(error))
    }
}

/// Parses a decision of this kind in the form of an older version; `None` if it has no such form.
fn read_older(kind: &str, json: &str) -> Option<Decision> {
    let mut stored: Value = serde_json::from_str(json).ok()?;
    if kind == "balance" {
        let settings = stored.pointer_mut("/settings")?.as_object_mut()?;
        if let Some(bytes) = settings.remove("memory").and_then(|value| value.as_u64()) {
            // Rounded up to the range of today, where more makes no difference.
            let megabytes = bytes.div_ceil(1 << 20).clamp(1, 4_096);
            settings.insert("memory_mb".to_owned(), megabytes.into());
        }
        let first: FirstBalance = serde_json::from_value(stored).ok()?;
        return Some(Decided::<Balance>::from(first).into());
    }
    let path = match kind {
        "auto-balance" => "/question/situation/rules",
        _ => "/question/settings",
    };
    let settings = stored.pointer_mut(path)?.as_object_mut()?;
    for name in [
        "rejoin_grace",
        "cooldown",
        "quiet_end",
        "delay",
        "usual_length",
    ] {
        to_seconds(settings, name);
    }
    if let Some(Value::Object(gap)) = settings.get("gap").cloned() {
        let (unit, value) = gap.into_iter().next()?;
        settings.insert("gap".to_owned(), value);
        settings.insert("gap_of".to_owned(), Value::String(unit));
    }
    serde_json::from_value(stored).ok()
}

/// Replaces a time in milliseconds by the time in seconds, under its new name.
fn to_seconds(settings: &mut Map<String, Value>, name: &str) {
    if let Some(millis) = settings.remove(name).and_then(|value| value.as_u64()) {
        let name = name.trim_end_matches("_length");
        settings.insert(format!("{name}_seconds"), (millis / 1_000).into());
    }
}

/// A stored decision of version 0.1, which had another form.
#[derive(Deserialize)]
struct FirstBalance {
    problem: ProblemSpec,
    settings: partition::Settings,
    seed: u64,
    team_of: Vec<u8>,
    cut_short: bool,
}

impl From<FirstBalance> for Decided<Balance> {
    fn from(first: FirstBalance) -> Self {
        Self {
            question: Balance {
                problem: first.problem,
                settings: first.settings,
                relaxed: Vec::new(),
                late: Vec::new(),
                torn: Vec::new(),
                repeat: Repeat::Nothing,
            },
            seed: first.seed,
            answer: BalanceAnswer::of_teams(first.team_of, first.cut_short),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lobby::{
        Advantage, AdvantageSettings, AutoBalance, AutoBalanceRules, Decided, Place, PlaceSettings,
        Rebalance, RebalanceSettings, Situation, TeamState, snapshot::tests::snapshot,
    };

    /// One decision of each kind except BALANCE, which has a test of its own.
    fn decisions() -> [Decision; 4] {
        let waiting = snapshot(2, &[(50.0, 0), (40.0, 9)]);
        let game = snapshot(2, &[(50.0, 0), (40.0, 0), (30.0, 0), (20.0, 1)]);
        let team = TeamState {
            players: 1,
            weight: 50.0,
            odds: 1.0,
            score: 0.0,
            strength: 0.0,
        };
        let place = Place {
            snapshot: waiting,
            who: 1,
            settings: PlaceSettings::default(),
            stays: false,
            late: false,
        };
        let advantage = Advantage {
            teams: vec![team, team],
            elapsed: 0,
            left: None,
            scored: false,
            last: None,
            settings: AdvantageSettings::default(),
            basis: None,
        };
        let rebalance = Rebalance {
            snapshot: game.clone(),
            settings: RebalanceSettings::default(),
        };
        let auto_balance = AutoBalance {
            situation: Situation {
                snapshot: game,
                coming: Vec::new(),
                left: None,
                tournament: false,
                rules: AutoBalanceRules::default(),
            },
            who: 0,
            lasted: 30_000,
            died: Vec::new(),
        };
        [
            Decided::by(place, 1).into(),
            Decided::by(advantage, 1).into(),
            Decided::by(rebalance, 1).into(),
            Decided::by(auto_balance, 1).into(),
        ]
    }

    #[test]
    fn decisions_of_version_0_1_are_read_and_replayed() {
        for decision in decisions() {
            let now = serde_json::to_string(&decision).unwrap();
            let mut old = now.clone();
            for (new, before) in [
                ("\"rejoin_grace_seconds\":300", "\"rejoin_grace\":300000"),
                ("\"cooldown_seconds\":300", "\"cooldown\":300000"),
                ("\"quiet_end_seconds\":180", "\"quiet_end\":180000"),
                ("\"delay_seconds\":20", "\"delay\":20000"),
                ("\"usual_seconds\":1200", "\"usual_length\":1200000"),
                ("\"gap\":10.0", "\"gap\":{\"points\":10.0}"),
                (",\"gap_of\":\"points\"", ""),
            ] {
                old = old.replace(new, before);
            }
            assert_ne!(old, now, "{}", decision.kind());
            for stored in [&old, &now] {
                let read = Decision::parse(decision.kind(), stored).unwrap();
                assert_eq!(read, decision);
                assert_eq!(read.again(&mut || false).as_ref(), Some(&decision));
            }
        }
    }

    #[test]
    fn what_is_no_decision_is_an_error() {
        for kind in ["balance", "place", "auto-balance", "something"] {
            for json in ["", "{}", "{\"kind\":\"place\"}", "[]"] {
                assert!(Decision::parse(kind, json).is_err(), "{kind} {json}");
            }
        }
    }
}
