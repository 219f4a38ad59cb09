//! Decides whether a finished match is rated and for which players, and if not, why.

use std::fmt;

use serde::{Deserialize, Serialize};

use evenkeel_model::{
    Kind, MatchRecord, Outcome, Participant, Rulebook, Ruleset,
    match_chances::Causes,
    rulebook::Scoring,
    units::{Count, UpToADay},
    weight::WeightEntry,
};

/// The conditions for a match to be rated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rules {
    /// The shortest rated match, in seconds.
    pub min_seconds: UpToADay,
    /// The least number of humans on each team for humans to be rated; in a game without teams, in
    /// all.
    pub min_humans: Count<0, 64>,
}

/// One minute excludes games that were started by mistake.
impl Default for Rules {
    fn default() -> Self {
        Self {
            min_seconds: const { UpToADay::of(60) },
            min_humans: const { Count::of(1) },
        }
    }
}

/// The reason why a match is not rated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unrated {
    /// It lasted 0 ms, or no participant played.
    NoPlayTime,
    /// It was shorter than [`Rules::min_seconds`].
    TooShort,
    /// It ended without a result.
    Abandoned,
    /// A team game for which no score was reported.
    NoScores,
    /// A team had no player at any time, or none while another one had.
    TeamEmpty,
    /// A game without teams in which only one player took part at a time.
    NoOpponent,
    /// No player in it can be rated: it had no bots, and fewer humans than [`Rules::min_humans`].
    TooFewHumans,
    /// When it was recorded, the sender's share of new rulesets and players was used up
    /// ([`MatchRecord::too_many_new`]).
    TooManyNew,
    /// On no team anybody can be rated: its humans were in another match of the same client at the same time.
    TwoPlaces,
}

impl Unrated {
    /// All reasons, in the order in which tables list them.
    pub const ALL: [Unrated; 9] = [
        Unrated::NoPlayTime,
        Unrated::TooShort,
        Unrated::Abandoned,
        Unrated::NoScores,
        Unrated::TeamEmpty,
        Unrated::NoOpponent,
        Unrated::TooFewHumans,
        Unrated::TooManyNew,
        Unrated::TwoPlaces,
    ];

    /// The stable code of the reason in the database and in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            Unrated::NoPlayTime => "no-play-time",
            Unrated::TooShort => "too-short",
            Unrated::Abandoned => "abandoned",
            Unrated::NoScores => "no-scores",
            Unrated::TeamEmpty => "team-empty",
            Unrated::NoOpponent => "no-opponent",
            Unrated::TooFewHumans => "too-few-humans",
            Unrated::TooManyNew => "too-many-new",
            Unrated::TwoPlaces => "two-places",
        }
    }

    /// The reason that has this code.
    pub fn parse(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|reason| reason.as_str() == code)
    }
}

impl fmt::Display for Unrated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The ruling on one match.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    /// The ruleset that the match belongs to.
    pub ruleset: Ruleset,
    /// What each player did in the match, or the reason why it is not rated.
    pub rated: Result<Vec<Played>, Unrated>,
    /// The chance that team 0 wins, as the rating system predicted before it learned from the match;
    /// `None` if the match is not rated or has not two teams.
    pub chance: Option<f64>,
    /// What may have made the match one-sided; `None` if it is not rated or has no teams.
    pub causes: Option<Causes>,
}

/// What one player did in a rated match.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Played {
    /// Index into [`MatchRecord::participants`].
    pub participant: usize,
    /// Points that the player's teams scored while they were on them; kills in a game without
    /// teams.
    pub scored: f64,
    /// Points scored against the player's teams while they were on them; deaths in a game without
    /// teams.
    pub conceded: f64,
    /// Whether the match changes this player's rating. A match that is played mostly by bots
    /// changes only those of the bots.
    pub counts: bool,
    /// What the match has entered into the player's account; `None` if it does not count for the player.
    pub entry: Option<WeightEntry>,
}

/// How a match is to be rated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RatingBasis {
    pub scoring: Scoring,
    /// Whether its humans are rated. Its bots always are.
    pub humans: bool,
}

/// Why the fold will not rate a match, as far as the match alone tells it; `None` if it will.
pub fn unrated(record: &MatchRecord, rulebook: &Rulebook, rules: &Rules) -> Option<Unrated> {
    judge(record, rulebook, rules).err()
}

/// How to rate the match, or why not.
pub(super) fn judge(
    record: &MatchRecord,
    rulebook: &Rulebook,
    rules: &Rules,
) -> Result<RatingBasis, Unrated> {
    let players = || record.participants.iter().filter(|p| has_played(p));
    if record.millis() == 0 || players().next().is_none() {
        return Err(Unrated::NoPlayTime);
    }
    if record.outcome == Outcome::Abandoned {
        return Err(Unrated::Abandoned); // takes precedence over too short
    }
    if !record.untimed && record.millis() < rules.min_seconds.millis() {
        return Err(Unrated::TooShort);
    }
    let scoring = scoring(record, rulebook)?;
    let humans = enough_humans(record, rules);
    if !humans && players().all(|p| p.key.kind == Kind::Human) {
        return Err(Unrated::TooFewHumans);
    }
    // Checked last: if a match has another reason, too, that one is reported first.
    if is_silent(record) {
        return Err(Unrated::NoScores);
    }
    if record.too_many_new.is_some() {
        return Err(Unrated::TooManyNew);
    }
    Ok(RatingBasis { scoring, humans })
}

fn scoring(record: &MatchRecord, rulebook: &Rulebook) -> Result<Scoring, Unrated> {
    let players = || record.participants.iter().filter(|p| has_played(p));
    if record.has_teams() {
        let empty = |team| !players().any(|p| millis_on(p, team) > 0);
        if (0..record.scores.len()).any(empty) || record.lacks_opponents() {
            return Err(Unrated::TeamEmpty);
        }
        return Ok(rulebook.scoring(&record.game_type));
    }
    if rulebook.is_team_game(&record.game_type) {
        return Err(Unrated::NoScores);
    }
    if record.lacks_opponents() {
        return Err(Unrated::NoOpponent);
    }
    Ok(Scoring::Frags) // without teams only frags order the players
}

/// Whether neither a score nor a winner was ever reported in a team game.
fn is_silent(record: &MatchRecord) -> bool {
    let scored = record.scores.iter().any(|&score| score != 0.0);
    record.has_teams()
        && record.outcome == Outcome::Undecided
        && !scored
        && record.events.is_empty()
}

/// Whether the match rates its humans: there are enough of them on each team, and bots did not play
/// longer than they did.
fn enough_humans(record: &MatchRecord, rules: &Rules) -> bool {
    let of = |kind| {
        let all = record.participants.iter();
        all.filter(move |p| p.key.kind == kind)
    };
    let teams = 0..record.scores.len().max(1);
    let enough = |team| {
        let there = of(Kind::Human).filter(|p| millis_on(p, team) > 0);
        there.count() >= rules.min_humans.as_usize()
    };
    let time = |kind| of(kind).map(Participant::millis).sum::<u64>();
    teams.into_iter().all(enough) && time(Kind::Human) >= time(Kind::Bot)
}

/// Whether the participant spent any time in the match.
pub(super) fn has_played(participant: &Participant) -> bool {
    participant.millis() > 0
}

fn millis_on(participant: &Participant, team: usize) -> u64 {
    let stays = participant.presence.iter();
    let there = stays.filter(|p| usize::from(p.team) == team);
    there.map(|p| p.span.millis()).sum()
}
