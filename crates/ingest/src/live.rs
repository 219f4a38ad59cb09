//! Following game servers while they run: everything that a sidecar takes from this crate.
//!
//! For each format, there is a type that reads one line, and a state that takes lines over and appends the
//! [`GameEvent`](crate::GameEvent)s that they mean. The grammars of the formats stay behind it. The recorders of finished
//! matches take the same events.
//!
//! ```
//! use evenkeel_ingest::{GameEvent, live::idtech3::{IdTech3Server, Line}};
//!
//! let mut server = IdTech3Server::default();
//! let mut events = Vec::new();
//! let line = b"  0:00 InitGame: \\gamename\\baseoa\\g_gametype\\4\\mapname\\ctf1";
//! server.take(Line::read(line).expect("a line of a log"), &mut events);
//! assert_eq!(events, [GameEvent::Game]);
//! assert_eq!(server.setup.expect("known now").map, "ctf1");
//! ```

pub use crate::{
    clock::Calendar,
    event::{ClientTeam, TEAMS},
    lines::Doubled,
    text::{is_by_name, key_by_name},
};

/// Servers of id Tech 3.
pub mod idtech3 {
    pub use crate::idtech3::{
        server::{ClientSlots, IdTech3Client, IdTech3Server, Line},
        setup::{GameSetup, MATCH_VARIABLE},
    };
}

/// Servers of Source and GoldSrc.
pub mod source {
    pub use crate::source::{
        clients::{ConnectedClients, SourceClient},
        server::{Line, SourceServer},
        setup::{ResultStyle, ServerSetup},
        totals::SideTotals,
    };
}

/// Servers of Teeworlds 0.7.
pub mod teeworlds {
    pub use crate::teeworlds::{
        GAME,
        grammar::{OutputLine, Stated},
        play::{GameStage, TeeworldsPlay},
        players::{TeeworldsPlayer, TeeworldsPlayers},
    };
}

/// Servers of Xonotic and Nexuiz.
pub mod xonotic {
    pub use crate::xonotic::{
        GAME,
        server::{Line, XonoticClient, XonoticServer},
    };
}
