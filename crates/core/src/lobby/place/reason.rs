//! The criteria that decide a placement.

use serde::{Deserialize, Serialize};

use crate::domain::worded;

worded! {
    /// The criterion that decided a placement.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Reason {
        /// The arrival is pinned to the team.
        Pin = "pinned to it",
        /// The human is on the team already.
        Stays = "on it already",
        /// The arrival's party is on the team, or joins it, too.
        Party = "with their party",
        /// Part of the arrival's party is on the team; the rest is on another, or must be.
        PartOfParty = "with part of their party, which is torn: others of it are on another team",
        /// No team has room for the whole party, or keeping it together would cost too much evenness.
        Torn = "their party is torn: no team can take all of it without outnumbering or outweighing the other",
        /// The other open teams have more humans whom the arrival avoids or who avoid the arrival.
        Avoid = "away from players to avoid",
        /// The arrival wished for this team.
        Wish = "the team that they wished for",
        /// The arrival left this team shortly before.
        OldTeam = "their old team",
        /// On another team the game would be more even, but that team would outnumber this one by too much.
        ShortSide = "the short side comes first",
        /// The team makes the most even game by the ratio of weights.
        Ratio = "best ratio",
        /// The team makes the most even game by the chances to win.
        EvenChance = "the most even chances to win",
        /// The games are equally even; the team has fewer humans.
        FewerHumans = "equally even, fewer humans",
        /// Ratios and sizes are equal; this team has the lower score.
        Losing = "equally even, equal in size, lower score",
        /// The teams are equal by all criteria.
        Chance = "all equal, chosen at random",
    }
}
