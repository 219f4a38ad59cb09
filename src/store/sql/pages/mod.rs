//! What the statistics pages read. Every list is bounded, and every query uses an index.
//!
//! Rows contain identities only as keys, never as names: a guid that a game has sent as a name is left out.
//! Players who are hidden or were forgotten have no handle and no name.

mod favoured;
mod filtered;
mod games;
mod lengths;
mod matches;
mod page_match;
pub(in crate::store) mod persons;
mod present;
mod regulars;
pub(in crate::store) mod shared;
mod systems;

pub use favoured::Favoured;
pub use filtered::{MatchFilter, MatchList};
pub use games::{Companion, Companions, GameOfPerson, PointsInMatch};
pub use page_match::{MatchLine, PageMatch, PageSeat, PageStay};
pub use persons::{Handles, PersonRow};
pub use present::PresentPlayer;
pub use regulars::Regular;
pub use shared::SharedGame;
pub use systems::SystemsRow;
