//! An offer and what happens to it, as plain data.

use std::fmt;

use serde::{Deserialize, Serialize};

use evenkeel_model::{Ident, MAX_PLAYERS, MAX_TEAMS, Move, Withdrawal};

/// Moves that players are asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Offer {
    /// Who moves when the time is over, as far as nobody volunteers.
    pub moves: Vec<Move>,
    /// The millisecond of the session at which the time is over.
    pub until: u64,
    /// The seed of the REBALANCE that has advised the moves.
    pub(crate) seed: u64,
    /// Who has volunteered, in this order.
    pub(crate) volunteers: Vec<Ident>,
}

impl Offer {
    /// Whether what was read from the disk is possible.
    pub(crate) fn is_sound(&self) -> bool {
        let exists = |team: u8| usize::from(team) < MAX_TEAMS;
        let mut steps = self.moves.iter();
        self.moves.len() <= MAX_PLAYERS
            && self.volunteers.len() <= MAX_PLAYERS
            && steps.all(|step| exists(step.to) && step.from.is_none_or(exists))
    }
}

/// What has happened to an offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfferEvent {
    /// It is open: the moves, and the milliseconds that are left for volunteers.
    Open(Vec<Move>, u64),
    /// It has ended: nobody makes these moves.
    Withdrawn(Vec<Move>, Withdrawal),
    /// It has ended: these humans move now.
    Moved {
        /// The moves.
        moves: Vec<Move>,
        /// Whether all who move have volunteered.
        volunteered: bool,
        /// How even the teams become, and how even with the moves that were offered.
        why: String,
    },
}

/// The reasons, one per line.
impl fmt::Display for OfferEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open(moves, left) => {
                writeln!(f, "volunteers are sought for {} s", left.div_ceil(1_000))?;
                moves
                    .iter()
                    .try_for_each(|step| writeln!(f, "offer: move {step}"))
            }
            Self::Withdrawn(moves, why) => {
                writeln!(f, "the offer is withdrawn: {why}")?;
                moves
                    .iter()
                    .try_for_each(|step| writeln!(f, "stays: {}", step.id.text()))
            }
            Self::Moved {
                moves,
                volunteered,
                why,
            } => {
                let whose = match volunteered {
                    true => "volunteers move",
                    false => "the time is over, and too few have volunteered",
                };
                writeln!(f, "{whose}: {why}")?;
                moves.iter().try_for_each(|step| writeln!(f, "move {step}"))
            }
        }
    }
}

impl OfferEvent {
    /// Whether this human moves now.
    pub(super) fn moves(&self, id: &Ident) -> bool {
        matches!(self, Self::Moved { moves, .. } if moves.iter().any(|step| step.id == *id))
    }
}
