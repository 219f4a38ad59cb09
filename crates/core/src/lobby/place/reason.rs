//! The criteria that decide a placement.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The criterion that decided a placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The arrival is pinned to the team.
    Pin,
    /// The human is on the team already.
    Stays,
    /// The arrival's party is on the team, or joins it, too.
    Party,
    /// Part of the arrival's party is on the team; the rest is on another, or must be.
    PartOfParty,
    /// No team has room for the whole party, or keeping it together would cost too much evenness.
    Torn,
    /// The other open teams have more humans whom the arrival avoids or who avoid the arrival.
    Avoid,
    /// The arrival left this team shortly before.
    OldTeam,
    /// On another team the game would be more even, but that team would outnumber this one by too much.
    ShortSide,
    /// The team makes the most even game by the ratio of weights.
    Ratio,
    /// The team makes the most even game by the chances to win.
    EvenChance,
    /// The games are equally even; the team has fewer humans.
    FewerHumans,
    /// Ratios and sizes are equal; this team has the lower score.
    Losing,
    /// The teams are equal by all criteria.
    Chance,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reason::Pin => "pinned to it",
            Reason::Stays => "on it already",
            Reason::Party => "with their party",
            Reason::PartOfParty => "with part of their party, which is torn: others of it are on another team",
            Reason::Torn => "their party is torn: no team can take all of it without outnumbering or outweighing the other",
            Reason::Avoid => "away from players to avoid",
            Reason::OldTeam => "their old team",
            Reason::ShortSide => "the short side comes first",
            Reason::Ratio => "best ratio",
            Reason::EvenChance => "the most even chances to win",
            Reason::FewerHumans => "equally even, fewer humans",
            Reason::Losing => "equally even, equal in size, lower score",
            Reason::Chance => "all equal, chosen at random",
        })
    }
}
