//! What a game server and the program tell each other of a running game: changes of team, offers of them, streaks, and
//! the end.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Ident, Naming, worded};

/// A human's change of team: one that has happened, or that is advised.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Move {
    /// Id of the human.
    pub id: Ident,
    /// The team that they are on, counted from 0; `None` for a human on no team yet.
    pub from: Option<u8>,
    /// The team that they go to, counted from 0.
    pub to: u8,
}

impl Move {
    /// `alice from team 0 to team 1`, or `alice to team 1` for a human on no team yet.
    pub fn announced(&self, naming: &Naming) -> String {
        let (who, to) = (naming.player(self.id.text()), naming.team(self.to));
        match self.from {
            Some(from) => format!("{who} from {} to {to}", naming.team(from)),
            None => format!("{who} to {to}"),
        }
    }
}

/// With the identity of the human, and the numbers of the teams.
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.announced(&Naming::default()))
    }
}

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

/// The same team has won several times in a row, by far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Streak {
    /// The team, counted from 0.
    pub team: u8,
    /// How often it has won.
    pub wins: u32,
    /// What it has won.
    pub of: Contest,
}

worded! {
    /// What a team can win.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Contest {
        /// Rounds of the running game, or whatever else scores.
        Rounds = "rounds",
        /// Matches.
        Matches = "matches",
    }
}

/// Who won, as END states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The final scores decide: the team with the highest score wins, and a tie is a draw.
    Scores,
    /// This team won, whatever the scores.
    Won(u8),
    /// The game is a draw, whatever the scores.
    Draw,
}
