//! Reads a row of a published history.
//!
//! `t` Unix seconds or an index, `game`, `mode`, `map`, `teams` (two lists of ids), `w` (time shares in
//! the same shape), `role` (the same: a number is the share of commanding, a word a role's name),
//! `score`, and `y`: 1 when the first team won, 0 when the second did, 0.5 for a tie. All but `t`,
//! `game`, `teams` and `y` may be null or absent.

use std::{borrow::Cow, collections::BTreeMap};

use serde::Deserialize;

use evenkeel_model::{
    Kind, MatchRecord, Outcome, Participant, PlayerKey, Timestamp,
    record::{HISTORY, Presence, Role, Span, UNTIMED_MILLIS},
};

/// One row: one match.
#[derive(Deserialize)]
struct HistoryRow {
    t: f64,
    game: String,
    mode: Option<String>,
    map: Option<String>,
    teams: [Vec<String>; 2],
    w: Option<[Vec<f64>; 2]>,
    role: Option<[Vec<Option<RoleCell>>; 2]>,
    score: Option<[f64; 2]>,
    y: f64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum RoleCell {
    Commanding(f64),
    Called(String),
}

/// The length given to every match, in milliseconds, because rows have none.
const MILLIS: u64 = UNTIMED_MILLIS;
/// By how much the shares of a player who changed teams may exceed the whole match in sum, because
/// they are published with only a few digits.
const ROUNDED: f64 = 0.01;
/// The role recorded for a share of commanding.
const COMMANDER: &str = "commander";

const SECONDS_A_DAY: i64 = 86_400;
/// The most days that are remembered. A history of more days is not a real one.
const MAX_DAYS: usize = 1 << 16;

/// The time of a row, whatever else is in it.
#[derive(Deserialize)]
struct Time {
    t: f64,
}

/// Whether a row states a time of day, and not only a date or nothing.
pub(super) fn has_time_of_day(line: &[u8]) -> bool {
    let time = serde_json::from_slice(line).map(|Time { t }| t.floor() as i64);
    time.is_ok_and(|t| !is_whole_day(t))
}

fn is_whole_day(t: i64) -> bool {
    t.rem_euclid(SECONDS_A_DAY) == 0
}

/// Gives each row of a history its time.
#[derive(Default)]
pub(super) struct HistoryClock {
    /// The time of the last row, and the second at which its match is taken to begin.
    last: Option<(i64, i64)>,
    /// For each day in rows without a time of day: the second at which the last match of that day
    /// begins.
    days: BTreeMap<i64, i64>,
}

impl HistoryClock {
    /// Reads the match of a row. The record is not checked yet.
    ///
    /// # Errors
    /// Returns what is wrong with the row.
    pub(super) fn read(
        &mut self,
        line: &[u8],
        server: &str,
    ) -> Result<MatchRecord, Cow<'static, str>> {
        let row: HistoryRow =
            serde_json::from_slice(line).map_err(|_| "no JSON object with t, game, teams and y")?;
        if !row.t.is_finite() {
            return Err("impossible time".into());
        }
        let start = self.start(row.t);
        Ok(record(row, start, server.to_owned())?)
    }

    /// The start of a match. Matches of one instant (of one day, in some histories) start a second after
    /// each other, so that they keep their order and have different fingerprints. A row with an earlier time
    /// than the row before it keeps its time, so that a history out of order can be sorted.
    fn start(&mut self, t: f64) -> Timestamp {
        let stated = t.floor() as i64; // saturates
        let mut start = match self.last {
            Some((last, begun)) if stated >= last => stated.max(begun.saturating_add(1)),
            _ => stated,
        };
        if is_whole_day(stated) {
            if let Some(begun) = self.days.get(&stated) {
                start = start.max(begun.saturating_add(1));
            }
            if self.days.len() >= MAX_DAYS {
                self.days.clear();
            }
            self.days.insert(stated, start);
        }
        self.last = Some((stated, start));
        Timestamp(start.saturating_mul(1_000))
    }
}

fn record(row: HistoryRow, start: Timestamp, server: String) -> Result<MatchRecord, &'static str> {
    let mut participants = Vec::new();
    let mut shares = BTreeMap::new();
    for team in 0..2_usize {
        for (place, id) in row.teams[team].iter().enumerate() {
            let w = row.w.as_ref().map(|w| w[team].get(place));
            let share = match w {
                None => 1.0,
                Some(Some(share)) if (0.0..=1.0).contains(share) => *share,
                Some(_) => return Err("w does not fit the teams"),
            };
            let before = shares.entry(id.as_str()).or_insert(0.0);
            if *before + share > 1.0 + ROUNDED {
                return Err("a player is on both teams at once, or on one team twice");
            }
            let span = Span {
                from: millis(*before),
                to: millis(*before + share),
            };
            *before += share;
            let part = row.role.as_ref().and_then(|r| r[team].get(place)?.as_ref());
            let slot = u8::try_from(team).unwrap_or(u8::MAX);
            let stay = Presence { team: slot, span };
            enter(&mut participants, id, stay, part);
        }
    }
    let outcome = match row.y {
        1.0 => Outcome::Won(0),
        0.0 => Outcome::Won(1),
        0.5 => Outcome::Draw,
        _ => return Err("y must be 1, 0.5 or 0"),
    };
    let millis = i64::try_from(MILLIS).unwrap_or(i64::MAX);
    let record = MatchRecord {
        server,
        start,
        end: start.plus_millis(millis),
        clock: None,
        untimed: false,
        client: HISTORY.to_owned(),
        too_many_new: None,
        logged_as: None,
        map: row.map.unwrap_or_default(),
        game_type: row.game,
        mode: row.mode.unwrap_or_default(),
        mutators: Vec::new(),
        // Without scores, both teams get 0, and `outcome` alone states who won.
        unscored: row.score.is_none(),
        scores: row.score.unwrap_or_default().to_vec(),
        participants,
        events: Vec::new(),
        outcome,
    };
    Ok(record.in_order())
}

/// Adds a player's stay and role on a team; a player who changed teams has two stays, one after the other.
fn enter(all: &mut Vec<Participant>, id: &str, stay: Presence, part: Option<&RoleCell>) {
    let team = stay.team;
    let known = all.iter().position(|p| p.key.id == id);
    let index = known.unwrap_or_else(|| {
        all.push(Participant {
            key: PlayerKey {
                kind: Kind::Human,
                id: id.to_owned(),
            },
            name: String::new(),
            presence: Vec::new(),
            points: None,
            kills: 0,
            deaths: 0,
            roles: Vec::new(),
            party: None,
            left: None,
        });
        all.len() - 1
    });
    all[index].presence.push(stay);
    let (name, share) = match part {
        Some(RoleCell::Called(name)) => (name.to_lowercase(), 1.0),
        Some(RoleCell::Commanding(share)) if *share > 0.0 => (COMMANDER.to_owned(), share.min(1.0)),
        _ => return,
    };
    let roles = &mut all[index].roles;
    if !roles.iter().any(|r| (&r.name, r.team) == (&name, team)) {
        roles.push(Role { name, team, share });
        roles.sort_by(|a, b| (&a.name, a.team).cmp(&(&b.name, b.team)));
    }
}

/// The millisecond of play at which a player left, if they were there from the start and have this
/// share of the match. Shares weigh early time more, as (1 − a^(−exit)) / (1 − a^(−length)) with a
/// = 2^(2/length); this is the inverse.
fn millis(share: f64) -> u64 {
    let left = 1.0 - 0.75 * share.min(1.0);
    let part = -0.5 * libm::log2(left);
    ((part * MILLIS as f64).round() as u64).min(MILLIS)
}

#[cfg(test)]
mod tests {
    use super::super::FORMAT;
    use super::*;
    use crate::{LogItem, only_match, read};

    #[test]
    fn a_row_without_scores_has_none() {
        let row = r#"{"t":1,"game":"x","teams":[["a"],["b"]],"y":0}"#;
        let game = only_match(&FORMAT, row);
        assert_eq!(game.known_scores(), [None, None]);
        assert_eq!((game.scores, game.outcome), (vec![0.0; 2], Outcome::Won(1)));
    }

    #[test]
    fn a_row_with_everything() {
        let row = r#"{"t":100.9,"game":"NS2","mode":"m","map":"x","teams":[["a","b"],["c"]],
            "w":[[1,0.5],[0]],"role":[[0.25,0.0],["Captain"]],"score":[4,3],"y":1}"#;
        let game = only_match(&FORMAT, &row.replace('\n', ""));
        assert_eq!((game.start, game.millis()), (Timestamp(100_000), MILLIS));
        assert_eq!(
            (
                game.game_type.as_str(),
                game.mode.as_str(),
                game.map.as_str()
            ),
            ("NS2", "m", "x")
        );
        assert_eq!(
            (game.scores, game.outcome),
            (vec![4.0, 3.0], Outcome::Won(0))
        );
        let [a, b, c] = &game.participants[..] else {
            panic!("{:?}", game.participants)
        };
        assert_eq!(
            (a.key.id.as_str(), a.presence[0].team, a.presence[0].span.to),
            ("a", 0, MILLIS)
        );
        // 2^(−2·0.339) = 0.625, which leaves half of what is left after the whole.
        assert_eq!(b.presence[0].span.to, 406_843);
        assert_eq!((c.presence[0].team, c.presence[0].span.to), (1, 0));
        let role = |p: &Participant| p.roles.first().map(|r| (r.name.clone(), r.team, r.share));
        assert_eq!(role(a), Some(("commander".into(), 0, 0.25)));
        assert_eq!((role(b), role(c)), (None, Some(("captain".into(), 1, 1.0))));
    }

    #[test]
    fn rows_of_one_instant_stay_apart_and_in_order() {
        let row = |y| format!("{{\"t\":7,\"game\":\"g\",\"teams\":[[\"a\"],[\"b\"]],\"y\":{y}}}\n");
        let items = read(&FORMAT, &[row("1"), row("0.5"), row("0")].concat());
        let starts = items.iter().map(|item| match item {
            LogItem::Exported(game, _) => (game.start.0, game.outcome, game.scores.clone()),
            other => panic!("{other:?}"),
        });
        let none = || vec![0.0, 0.0];
        let expected = [
            (7_000, Outcome::Won(0), none()),
            (8_000, Outcome::Draw, none()),
            (9_000, Outcome::Won(1), none()),
        ];
        assert_eq!(starts.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn who_was_on_both_teams_is_one() {
        let row = r#"{"t":7,"game":"g","teams":[["a","b"],["a"]],"w":[[0.5,1],[0.25]],"y":0}"#;
        let game = only_match(&FORMAT, row);
        assert_eq!(game.participants.len(), 2);
        let teams = game.participants[0].presence.iter().map(|p| p.team);
        assert_eq!(teams.collect::<Vec<_>>(), [0, 1]);
    }

    #[test]
    fn what_does_not_fit_is_named_by_its_line() {
        let bad = [
            "{}",
            r#"{"t":7,"game":"g","teams":[["a"],["b"]],"y":0.7}"#,
            r#"{"t":7,"game":"g","teams":[["a"],["b"]],"w":[[],[1]],"y":1}"#,
            r#"{"t":7,"game":"","teams":[["a"],["b"]],"y":1}"#,
        ];
        let items = read(&FORMAT, &bad.join("\n"));
        let lines = items.iter().map(|item| match item {
            LogItem::Malformed { line, .. } | LogItem::Skipped { line, .. } => *line,
            other => panic!("{other:?}"),
        });
        assert_eq!(lines.collect::<Vec<_>>(), [1, 2, 3, 4]);
    }
}
