//! Whether a finished match is rated, and why not.

use std::fmt;

use crate::domain::{MatchRecord, Participant, Rulebook, Ruleset, Scoring};

/// Why a match teaches nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unrated {
    /// It lasted no time, or nobody was there.
    NoPlayTime,
    /// A team game whose log tells no scores.
    NoScores,
    /// A team had nobody on it from start to end.
    TeamEmpty,
    /// A game without teams, and without an opponent.
    NoOpponent,
}

impl Unrated {
    /// All reasons, in the order of tables.
    pub const ALL: [Unrated; 4] = [
        Unrated::NoPlayTime,
        Unrated::NoScores,
        Unrated::TeamEmpty,
        Unrated::NoOpponent,
    ];

    /// The stable code for the database and for tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Unrated::NoPlayTime => "no-play-time",
            Unrated::NoScores => "no-scores",
            Unrated::TeamEmpty => "team-empty",
            Unrated::NoOpponent => "no-opponent",
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
}

/// How the match is scored, or why it is not rated.
pub(super) fn judge(record: &MatchRecord, rulebook: &Rulebook) -> Result<Scoring, Unrated> {
    let players = || record.participants.iter().filter(|p| has_played(p));
    if record.millis() == 0 || players().next().is_none() {
        return Err(Unrated::NoPlayTime);
    }
    if record.has_teams() {
        let empty = |team| !players().any(|p| has_played_for(p, team));
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

/// Whether somebody listed was there for any time at all.
pub(super) fn has_played(participant: &Participant) -> bool {
    participant.presence.iter().any(|p| p.span.millis() > 0)
}

fn has_played_for(participant: &Participant, team: usize) -> bool {
    let mut stays = participant.presence.iter();
    stays.any(|p| usize::from(p.team) == team && p.span.millis() > 0)
}
