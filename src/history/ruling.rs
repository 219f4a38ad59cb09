//! Whether a finished match is rated, for whom, and why not.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::domain::{Kind, MatchRecord, Outcome, Participant, Rulebook, Ruleset, Scoring};

/// What a match must have to be rated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// Seconds of play.
    pub min_seconds: u32,
    /// Humans on each team, for humans to be rated; in a game without teams, humans in all.
    pub min_humans: u32,
}

/// A minute leaves out what was started by mistake.
impl Default for Rules {
    fn default() -> Self {
        Self {
            min_seconds: 60,
            min_humans: 1,
        }
    }
}

/// Why a match teaches nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unrated {
    /// It lasted no time, or nobody was there.
    NoPlayTime,
    /// It lasted less than [`Rules::min_seconds`].
    TooShort,
    /// It was broken off.
    Abandoned,
    /// A team game whose log tells no scores.
    NoScores,
    /// A team had nobody on it from start to end.
    TeamEmpty,
    /// A game without teams, and without an opponent.
    NoOpponent,
    /// No bots to learn of, and fewer humans than [`Rules::min_humans`].
    TooFewHumans,
}

impl Unrated {
    /// All reasons, in the order of tables.
    pub const ALL: [Unrated; 7] = [
        Unrated::NoPlayTime,
        Unrated::TooShort,
        Unrated::Abandoned,
        Unrated::NoScores,
        Unrated::TeamEmpty,
        Unrated::NoOpponent,
        Unrated::TooFewHumans,
    ];

    /// The stable code for the database and for tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Unrated::NoPlayTime => "no-play-time",
            Unrated::TooShort => "too-short",
            Unrated::Abandoned => "abandoned",
            Unrated::NoScores => "no-scores",
            Unrated::TeamEmpty => "team-empty",
            Unrated::NoOpponent => "no-opponent",
            Unrated::TooFewHumans => "too-few-humans",
        }
    }

    /// The reason a stored code means.
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == code)
    }
}

impl fmt::Display for Unrated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What became of one match.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    /// The ruleset it was played under.
    pub ruleset: Ruleset,
    /// What each player did in it, or why it is not rated.
    pub rated: Result<Vec<Played>, Unrated>,
}

/// One player's line in the history of rated matches.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Played {
    /// An index into [`MatchRecord::participants`].
    pub participant: usize,
    /// Points their teams scored while they were on them; kills in a game without teams.
    pub scored: f64,
    /// Points scored against their teams meanwhile; deaths in a game without teams.
    pub conceded: f64,
    /// Whether it counts for them: humans among too many bots are not rated, while the bots are.
    pub counts: bool,
}

/// How a rated match is rated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub scoring: Scoring,
    /// Whether its humans are rated. Its bots always are.
    pub humans: bool,
}

/// Why a match will not be rated; the very word that folding it will have for it.
pub fn unrated(record: &MatchRecord, rulebook: &Rulebook, rules: &Rules) -> Option<Unrated> {
    judge(record, rulebook, rules).err()
}

/// How the match is rated, or why it is not.
pub(super) fn judge(
    record: &MatchRecord,
    rulebook: &Rulebook,
    rules: &Rules,
) -> Result<Verdict, Unrated> {
    let players = || record.participants.iter().filter(|p| has_played(p));
    if record.millis() == 0 || players().next().is_none() {
        return Err(Unrated::NoPlayTime);
    }
    if record.outcome == Outcome::Abandoned {
        return Err(Unrated::Abandoned); // however short it thereby was
    }
    if record.millis() < u64::from(rules.min_seconds) * 1_000 {
        return Err(Unrated::TooShort);
    }
    let scoring = scoring(record, rulebook)?;
    let humans = enough_humans(record, rules);
    if !humans && players().all(|p| p.key.kind == Kind::Human) {
        return Err(Unrated::TooFewHumans);
    }
    // Last, so that whoever repairs the reports is not sent from one reason to the next.
    if is_silent(record) {
        return Err(Unrated::NoScores);
    }
    Ok(Verdict { scoring, humans })
}

fn scoring(record: &MatchRecord, rulebook: &Rulebook) -> Result<Scoring, Unrated> {
    let players = || record.participants.iter().filter(|p| has_played(p));
    if record.has_teams() {
        let empty = |team| !players().any(|p| millis_on(p, team) > 0);
        if (0..record.scores.len()).any(empty) {
            return Err(Unrated::TeamEmpty);
        }
        return Ok(rulebook.scoring(&record.game_type));
    }
    if rulebook.is_team_game(&record.game_type) {
        return Err(Unrated::NoScores);
    }
    if players().nth(1).is_none() {
        return Err(Unrated::NoOpponent);
    }
    Ok(Scoring::Frags) // nothing else can be told apart without teams
}

/// Whether a team game was never reported a score or a winner.
fn is_silent(record: &MatchRecord) -> bool {
    let scored = record.scores.iter().any(|&score| score != 0.0);
    record.has_teams()
        && record.outcome == Outcome::Undecided
        && !scored
        && record.events.is_empty()
}

/// Whether the match says something of its humans: enough of them on each team, and not mostly bots by
/// time played.
fn enough_humans(record: &MatchRecord, rules: &Rules) -> bool {
    let of = |kind| {
        let all = record.participants.iter();
        all.filter(move |p| p.key.kind == kind)
    };
    let teams = 0..record.scores.len().max(1);
    let enough = |team| {
        let there = of(Kind::Human).filter(|p| millis_on(p, team) > 0);
        there.count() >= rules.min_humans as usize
    };
    let time = |kind| of(kind).map(millis).sum::<u64>();
    teams.into_iter().all(enough) && time(Kind::Human) >= time(Kind::Bot)
}

/// Whether somebody listed was there for any time at all.
pub(super) fn has_played(participant: &Participant) -> bool {
    millis(participant) > 0
}

/// How long somebody was there.
pub(super) fn millis(participant: &Participant) -> u64 {
    participant.presence.iter().map(|p| p.span.millis()).sum()
}

fn millis_on(participant: &Participant, team: usize) -> u64 {
    let stays = participant.presence.iter();
    let there = stays.filter(|p| usize::from(p.team) == team);
    there.map(|p| p.span.millis()).sum()
}
