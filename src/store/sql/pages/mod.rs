//! What the statistics pages read. Every list is bounded, and every query uses an index.
//!
//! Rows contain identities only as keys, never as names: a guid that a game has sent as a name is left out.
//! Players who are hidden or were forgotten have no handle and no name.

pub(in crate::store) mod favoured;
pub(in crate::store) mod filtered;
pub(in crate::store) mod games;
pub(in crate::store) mod lengths;
pub(in crate::store) mod matches;
pub(in crate::store) mod page_match;
pub(in crate::store) mod persons;
pub(in crate::store) mod present;
pub(in crate::store) mod regulars;
pub(in crate::store) mod shared;
pub(in crate::store) mod systems;

pub use favoured::Favoured;
pub use filtered::{MatchFilter, MatchList};
pub use games::{Companion, Companions, GameOfPerson, PointsInMatch};
pub use page_match::{MatchLine, PageMatch, PageSeat, PageStay};
pub use persons::{Handles, PersonRow};
pub use present::PresentPlayer;
pub use regulars::Regular;
pub use shared::SharedGame;
pub use systems::SystemsRow;
