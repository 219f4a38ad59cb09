//! The match that an agent hosts.

use serde::{Deserialize, Serialize};

use super::AgentSettings;
use crate::is_plain_name;
use evenkeel_protocol::{Request, push::HostSession};

/// The number of teams of a match.
pub(super) const TEAMS: usize = 2;
/// The most players of a match that is read from a file.
const MAX_SEATS: usize = 128;

/// How far a match is at the game server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AgentStage {
    /// The map is being loaded.
    Opening,
    /// The daemon was sent READY, and players arrive.
    Joining,
    /// The daemon was sent START.
    Playing,
    /// The result is known, and the daemon is sent END.
    Over,
    /// The game was broken off in play. The daemon is sent GAME, which gives the match up.
    Lost,
}

/// A player of the match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct AgentSeat {
    pub(super) player: String,
    pub(super) team: u8,
    pub(super) pass: String,
    /// Whether the player has been on the game server.
    pub(super) arrived: bool,
}

/// A step in loading the map.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum LoadStep {
    /// Nothing was sent yet, or the last attempt has failed.
    #[default]
    Waits,
    /// The settings were sent at this time.
    Set(u64),
    /// The map was asked for at this time.
    Asked(u64),
}

/// The match that an agent hosts. What serde skips matters only to a running agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentMatch {
    pub(super) id: i64,
    pub(super) queue: String,
    pub(super) map: String,
    /// The type of game, as the console takes it.
    #[serde(skip)]
    game_type: String,
    pub(super) stage: AgentStage,
    pub(super) seats: Vec<AgentSeat>,
    /// The final scores, once the game is over.
    pub(super) totals: [i64; TEAMS],
    /// The players' final points, as requests.
    #[serde(skip)]
    pub(super) points: Vec<Request>,
    #[serde(skip)]
    pub(super) load: LoadStep,
    /// How often the map was asked for.
    #[serde(skip)]
    pub(super) loads: u32,
    /// Whether the daemon has sent SESSION on this connection.
    #[serde(skip)]
    pub(super) confirmed: bool,
    /// When the daemon was first sent READY.
    #[serde(skip)]
    pub(super) ready: Option<u64>,
    /// When the warm-up was last shortened, and how often.
    #[serde(skip)]
    pub(super) hurried: Option<(u64, u32)>,
    /// Whether the daemon has the players who are here and, in play, the present scores.
    #[serde(skip)]
    pub(super) synced: bool,
    /// Whether the daemon has been sent LEAVE for the players who left while the agent did not look.
    #[serde(skip)]
    pub(super) leavers_sent: bool,
    /// Whether START was sent, and the daemon has not answered it.
    #[serde(skip)]
    pub(super) start_unanswered: bool,
    /// When END was last sent on this connection.
    #[serde(skip)]
    pub(super) ended: Option<u64>,
}

impl AgentMatch {
    /// The match of a SESSION.
    ///
    /// # Errors
    /// Fails with the reason for REFUSE if the game server cannot host it. `now_on` is the map that
    /// the game server runs.
    pub(super) fn of(
        session: HostSession,
        settings: &AgentSettings,
        now_on: Option<&str>,
    ) -> Result<Self, String> {
        let mode = settings.mode(session.mode.as_deref());
        let mode = mode.ok_or("this game server does not serve the mode of the match")?;
        let game_type = mode.game_type.clone();
        let map = match &session.map {
            Some(map) => Some(map.as_str()),
            None => settings.maps.first().map(String::as_str).or(now_on),
        };
        let map = map.filter(|map| is_plain_name(map));
        let map = map.ok_or("the map of the match is not known, or its name is no plain word")?;
        if !settings.maps.is_empty() && !settings.maps.iter().any(|known| known == map) {
            return Err("this game server does not have the map of the match".to_owned());
        }
        if session
            .seats
            .iter()
            .any(|seat| usize::from(seat.team) >= TEAMS)
        {
            return Err("this game has two teams".to_owned());
        }
        let seats = session.seats.into_iter().map(|seat| AgentSeat {
            player: seat.player,
            team: seat.team,
            pass: seat.pass,
            arrived: false,
        });
        Ok(Self {
            id: session.id,
            queue: session.queue,
            map: map.to_owned(),
            game_type,
            stage: AgentStage::Opening,
            seats: seats.collect(),
            totals: [0; TEAMS],
            points: Vec::new(),
            load: LoadStep::Waits,
            loads: 0,
            confirmed: true,
            ready: None,
            hurried: None,
            synced: false,
            leavers_sent: false,
            start_unanswered: false,
            ended: None,
        })
    }

    /// Whether a match that was read from a file can be gone on with: its game is in play or over.
    pub(super) fn is_sound(&self) -> bool {
        let late = matches!(
            self.stage,
            AgentStage::Playing | AgentStage::Over | AgentStage::Lost
        );
        let seats = self.seats.iter();
        let mut good = seats.map(|seat| usize::from(seat.team) < TEAMS && !seat.pass.is_empty());
        late && self.id > 0 && self.seats.len() <= MAX_SEATS && good.all(|good| good)
    }

    /// Begins to load the map, again if it was loaded before.
    pub(super) fn reopen(&mut self) {
        self.stage = AgentStage::Opening;
        (self.load, self.loads, self.hurried) = (LoadStep::Waits, 0, None);
    }

    /// Takes over the passes and teams of a SESSION that comes again, and the type of game, which is not kept.
    pub(super) fn renew(&mut self, session: HostSession, settings: &AgentSettings) {
        if let Some(mode) = settings.mode(session.mode.as_deref()) {
            self.game_type.clone_from(&mode.game_type);
        }
        let before = std::mem::take(&mut self.seats);
        let seats = session.seats.into_iter().map(|seat| AgentSeat {
            arrived: before
                .iter()
                .any(|old| old.player == seat.player && old.arrived),
            player: seat.player,
            team: seat.team,
            pass: seat.pass,
        });
        self.seats = seats.collect();
    }

    /// The number of the match.
    pub(crate) fn id(&self) -> i64 {
        self.id
    }

    /// The type of game, as the console takes it.
    pub(crate) fn game_type(&self) -> &str {
        &self.game_type
    }

    /// The number of the seat whose pass this is.
    pub(super) fn seat_of(&self, pass: &[u8]) -> Option<usize> {
        let mut seats = self.seats.iter();
        seats.position(|seat| !pass.is_empty() && seat.pass.as_bytes() == pass)
    }

    /// The number of the seat of the player of this name.
    pub(super) fn seat_named(&self, name: &str) -> Option<usize> {
        self.seats.iter().position(|seat| seat.player == name)
    }

    /// Whether the match is kept on disk: from its START until END is answered.
    pub(super) fn is_kept(&self) -> bool {
        !matches!(self.stage, AgentStage::Opening | AgentStage::Joining)
    }
}
