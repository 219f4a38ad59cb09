//! The words of offers: how players are asked before one of them is moved.

use serde::{Deserialize, Serialize};

use super::worded;

/// How long before it is made a move is announced, in milliseconds: time to finish a fight, or to agree on a volunteer.
pub const MOVE_NOTICE: u64 = 20_000;

worded! {
    /// What becomes of a human who has volunteered.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum SwitchAnswer {
        /// They move now.
        Taken = "taken",
        /// They move once the others of the offer, or of their party, do.
        Waits = "waits",
        /// The teams would be less even than with the moves that were offered.
        LessEven = "less-even",
        /// Nobody of their team is to move.
        WrongTeam = "wrong-team",
        /// They, or one of their party, must stay.
        Held = "held",
        /// Nobody is asked.
        NoOffer = "no-offer",
    }
}

worded! {
    /// Why an offer ends, and nobody moves.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Withdrawal {
        /// The teams are even enough now.
        Even = "even",
        /// Other moves are offered instead.
        Changed = "changed",
        /// Teams were chosen anew, the game is over, or its server does not ask any more.
        Over = "over",
    }
}
