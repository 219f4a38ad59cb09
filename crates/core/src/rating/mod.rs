//! Rating systems: estimate each player's strength from finished games.
//!
//! One file per system behind the small trait [`System`], and one registry, [`SystemName`]. A
//! system sees games only as [`RatedGame`]: dense player numbers, time shares, sides and results.
//! `history` resolves identities, assigns each match to a ruleset and rules on whether it is rated.
//!
//! Everything here is a pure function of the games given, in their order: no clock, no files, no
//! randomness, and no sum whose order depends on a hash map or on threads. The same games therefore
//! give the same bits on every machine. Entry point: [`SystemName::build`].

pub mod divisions;
pub mod elo;
mod game;
pub mod glicko2;
pub mod hive;
pub mod hive_history;
pub mod joint;
pub mod normal;
pub mod plain_points;
pub mod presence;
mod roll;
mod running;
pub mod scoreboard;
mod settings;
mod shared;
mod slope;
mod strength;
#[cfg(test)]
mod testing;
pub mod trueskill;
pub mod weng_lin;
pub mod winrate;
mod worth;

use std::fmt;

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::domain::Outlook;

pub use game::{Arrival, Departure, Player, RatedGame, Seat, Tally};
pub use roll::Roll;
pub use settings::Settings;
pub use shared::Shared;
pub use strength::{RoleStrengths, Scale, Strength};
pub use worth::worth;

/// A rating system: predicts the result of a lineup, learns from one finished game at a time, and
/// estimates each player's strength.
pub trait System: Persist + Send + Sync {
    /// The chance, 0 to 1, that team `a` of a game beats team `b`, given that they do not tie.
    /// Reads the seats, the map and the sides, never the result, so that it can predict a lineup
    /// before it plays.
    fn beats(&self, game: &RatedGame, a: usize, b: usize) -> f64;

    /// Learns from a finished game. The caller passes games in time order.
    fn update(&mut self, game: &RatedGame);

    /// The estimate of a player's strength, in the units of [`scale`](Self::scale). `None` for a
    /// player this system has not seen.
    fn strength(&self, player: Player) -> Option<Strength>;

    /// The units of this system's strengths, and how they convert to weights.
    fn scale(&self) -> Scale;

    /// Turns strengths into the chance that the first of two teams wins a game like this one: with
    /// the same number of players, on the same map, and with the same uncertainty about the
    /// players.
    ///
    /// For systems whose chance depends on sums of strengths, it gives the same chance as
    /// [`beats`](Self::beats). For systems that compare means, it gives nearly the same if the
    /// teams have equal sizes.
    fn outlook(&self, game: &RatedGame) -> Outlook;

    /// The outlook, and the chance that team 0 beats team 1. For systems that find both with less work
    /// than one after the other.
    fn outlook_and_chance(&self, game: &RatedGame) -> (Outlook, f64) {
        (self.outlook(game), self.beats(game, 0, 1))
    }

    /// Starts a player from a prior other than a newcomer's: one who has no game from which this system
    /// has learned. The mean of `prior` is what the player is above a newcomer. Another prior replaces it,
    /// as long as there is no such game.
    fn start(&mut self, player: Player, prior: Strength);

    /// The same with what other rulesets say. The same system rated the player there, so the units are the same.
    fn adopt(&mut self, player: Player, prior: Strength) {
        self.start(player, prior);
    }

    /// The strength that a player adds by commanding throughout a game like this one, in the units of
    /// [`scale`](Self::scale); 0 where commanders are not rated apart.
    fn command(&self, _player: Player, _game: &RatedGame) -> f64 {
        0.0
    }

    /// A player's strengths on each side and as a commander. Empty where they are not rated apart.
    fn roles(&self, _player: Player) -> RoleStrengths {
        RoleStrengths::default()
    }

    /// Combines a player's estimate with evidence other than games; the deviation of `evidence` is
    /// its uncertainty. Systems without deviations ignore it.
    fn hint(&mut self, _player: Player, _evidence: Strength) {}

    /// The standard deviation of a newcomer's estimate; 0 in systems without deviations.
    fn newcomer_deviation(&self) -> f64 {
        0.0
    }

    /// Raises the deviation of a player's estimate to `least` if it is smaller. Systems without deviations ignore it.
    fn widen(&mut self, _player: Player, _least: f64) {}

    /// Starts a new season: each player's distance from a newcomer shrinks to the share `keep` (0
    /// to 1), and their deviation moves towards a newcomer's.
    fn new_season(&mut self, keep: f64);
    /// A warning for the operator about the state of this system, for example that it has reached a
    /// limit.
    fn remark(&self) -> Option<String> {
        None
    }
}

/// Copying and serialising, which every rating system gets because its state is plain data.
pub trait Persist {
    /// An independent copy, behind the trait.
    fn boxed_clone(&self) -> Box<dyn System>;

    /// The whole state, to the bit; [`SystemName::restore`] reads it. Only the version of the
    /// program that wrote it can read it.
    ///
    /// # Errors
    /// Never fails in practice; the encoder's signature has an error.
    fn save(&self) -> Result<Vec<u8>, postcard::Error>;
}

impl<T: System + Clone + Serialize + 'static> Persist for T {
    fn boxed_clone(&self) -> Box<dyn System> {
        Box::new(self.clone())
    }

    fn save(&self) -> Result<Vec<u8>, postcard::Error> {
        postcard::to_stdvec(self)
    }
}

/// The chance of each team to come first; they sum to 1. For two teams this is [`System::beats`];
/// for more it is the mean over each team's chances against every other, normalised.
pub fn chances(system: &dyn System, game: &RatedGame) -> Vec<f64> {
    let teams = game.teams();
    let mut chances = vec![0.0; teams];
    for a in 0..teams {
        for b in a + 1..teams {
            let chance = system.beats(game, a, b);
            chances[a] += chance;
            chances[b] += 1.0 - chance;
        }
    }
    let pairs = (teams * teams.saturating_sub(1) / 2).max(1) as f64;
    chances.iter().map(|sum| sum / pairs).collect()
}

/// The registry of all rating systems.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum SystemName {
    /// Full covariance between players: [`joint`].
    #[default]
    Joint,
    /// Share of the points that a player's team scores while the player is on it: [`presence`].
    Presence,
    /// Elo for teams, of World of Tanks Blitz: [`elo`].
    Elo,
    /// Logistic regression by gradient, of Natural Selection 2: [`hive`].
    Hive,
    /// The same solved over the whole history: [`hive_history`].
    HiveHistory,
    /// Glicko-2 with a composite opponent: [`glicko2`].
    Glicko2,
    /// TrueSkill: [`trueskill`].
    TrueSkill,
    /// Weng and Lin's Plackett-Luce: [`weng_lin`].
    PlackettLuce,
    /// Weng and Lin's Thurstone-Mosteller: [`weng_lin`].
    ThurstoneMosteller,
    /// Mean scoreboard position, of Sector's Edge: [`scoreboard`].
    Scoreboard,
    /// Share of games won, a baseline: [`winrate`].
    WinRate,
    /// Victories less defeats, a baseline: [`plain_points`].
    PlainPoints,
}

impl SystemName {
    /// All systems, in the order in which tables list them.
    pub const ALL: [SystemName; 12] = [
        SystemName::Joint,
        SystemName::Presence,
        SystemName::Elo,
        SystemName::Hive,
        SystemName::HiveHistory,
        SystemName::Glicko2,
        SystemName::TrueSkill,
        SystemName::PlackettLuce,
        SystemName::ThurstoneMosteller,
        SystemName::Scoreboard,
        SystemName::WinRate,
        SystemName::PlainPoints,
    ];

    /// The name of the system in the configuration and in tables.
    pub fn as_str(self) -> &'static str {
        match self {
            SystemName::Joint => "joint",
            SystemName::Presence => "presence",
            SystemName::Elo => "elo",
            SystemName::Hive => "hive",
            SystemName::HiveHistory => "hive-history",
            SystemName::Glicko2 => "glicko2",
            SystemName::TrueSkill => "trueskill",
            SystemName::PlackettLuce => "weng-lin-pl",
            SystemName::ThurstoneMosteller => "weng-lin-tm",
            SystemName::Scoreboard => "scoreboard",
            SystemName::WinRate => "winrate",
            SystemName::PlainPoints => "plain-points",
        }
    }

    /// The system that the configuration calls `word`.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str() == word)
    }

    /// A system without any games.
    pub fn build(self, settings: &Settings) -> Box<dyn System> {
        match self {
            SystemName::Joint => Box::new(joint::Joint::with(settings.joint)),
            SystemName::Presence => Box::new(presence::PresenceSystem::new(settings.presence)),
            SystemName::Elo => Box::new(elo::Elo::new(settings.elo)),
            SystemName::Hive => Box::new(hive::Hive::new(settings.hive)),
            SystemName::HiveHistory => {
                Box::new(hive_history::HiveHistory::new(settings.hive_history))
            }
            SystemName::Glicko2 => Box::new(glicko2::Glicko2::new()),
            SystemName::TrueSkill => Box::new(trueskill::TrueSkill::new(settings.trueskill)),
            SystemName::PlackettLuce => {
                Box::new(weng_lin::WengLin::new(weng_lin::Model::PlackettLuce))
            }
            SystemName::ThurstoneMosteller => {
                Box::new(weng_lin::WengLin::new(weng_lin::Model::ThurstoneMosteller))
            }
            SystemName::Scoreboard => Box::new(scoreboard::Scoreboard::new(settings.scoreboard)),
            SystemName::WinRate => Box::new(winrate::WinRate::new()),
            SystemName::PlainPoints => Box::new(plain_points::PlainPoints::new()),
        }
    }

    /// Restores a system from the bytes that [`Persist::save`] wrote; they include its settings.
    ///
    /// # Errors
    /// Fails if the bytes are not a saved state of this system. Memory use is bounded by a small multiple of
    /// their number.
    pub fn restore(self, state: &[u8]) -> Result<Box<dyn System>, postcard::Error> {
        fn read<T: System + DeserializeOwned + 'static>(
            state: &[u8],
        ) -> Result<Box<dyn System>, postcard::Error> {
            match postcard::take_from_bytes::<T>(state)? {
                (system, []) => Ok(Box::new(system)),
                _ => Err(postcard::Error::DeserializeBadEncoding),
            }
        }
        match self {
            SystemName::Joint => read::<joint::Joint>(state),
            SystemName::Presence => read::<presence::PresenceSystem>(state),
            SystemName::Elo => read::<elo::Elo>(state),
            SystemName::Hive => read::<hive::Hive>(state),
            SystemName::HiveHistory => read::<hive_history::HiveHistory>(state),
            SystemName::Glicko2 => read::<glicko2::Glicko2>(state),
            SystemName::TrueSkill => read::<trueskill::TrueSkill>(state),
            SystemName::PlackettLuce | SystemName::ThurstoneMosteller => {
                read::<weng_lin::WengLin>(state)
            }
            SystemName::Scoreboard => read::<scoreboard::Scoreboard>(state),
            SystemName::WinRate => read::<winrate::WinRate>(state),
            SystemName::PlainPoints => read::<plain_points::PlainPoints>(state),
        }
    }
}

impl fmt::Display for SystemName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The choice of a rating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum SystemChoice {
    /// `auto`: each ruleset uses the system that best predicts its stored matches.
    Auto,
    /// Every ruleset uses this system.
    Always(SystemName),
}

impl SystemChoice {
    const AUTO: &str = "auto";

    /// The value of `[rating] system` for this choice.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => Self::AUTO,
            Self::Always(name) => name.as_str(),
        }
    }

    /// The system to use. With [`Auto`](Self::Auto), it is used until there are matches on which
    /// systems can be compared.
    pub fn name(self) -> SystemName {
        match self {
            Self::Auto => SystemName::default(),
            Self::Always(name) => name,
        }
    }
}

impl Default for SystemChoice {
    fn default() -> Self {
        Self::Always(SystemName::default())
    }
}

impl From<SystemName> for SystemChoice {
    fn from(name: SystemName) -> Self {
        Self::Always(name)
    }
}

impl From<SystemChoice> for String {
    fn from(choice: SystemChoice) -> Self {
        choice.as_str().to_owned()
    }
}

impl TryFrom<String> for SystemChoice {
    type Error = String;

    fn try_from(word: String) -> Result<Self, String> {
        if word == Self::AUTO {
            return Ok(Self::Auto);
        }
        let known = || SystemName::ALL.map(SystemName::as_str).join(", ");
        SystemName::parse(&word).map(Self::Always).ok_or_else(|| {
            format!(
                "must be one of: {}, {}, not \"{word}\"",
                known(),
                Self::AUTO
            )
        })
    }
}
