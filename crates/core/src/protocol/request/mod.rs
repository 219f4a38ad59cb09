//! What a game server can send: one variant of [`Request`] per verb.

mod demand;
mod grammar;
mod host;
mod queue;
#[cfg(test)]
mod round_trip;
#[cfg(test)]
mod tests;
mod verb;

use std::fmt;

pub(super) use demand::WEIGHT_DEMAND;
pub use demand::{Charge, Demand};
pub use host::HostRequest;
pub(super) use host::match_id;
pub use queue::QueueRequest;
pub use verb::Verb;

use crate::domain::{Ident, LeaveReason, RoleName, Secret, Verdict};

/// One command of a game server.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Begins a game of this type, and with it a new roster.
    Game(Ident),
    /// Names a mutator that is active in the game.
    Mutator(Ident),
    /// Asks for a human's weight.
    Player(Ident),
    /// Asks for a bot's weight.
    Bot(Ident),
    /// Asks for a human's division.
    Rank(Ident),
    /// Asks for the mean weight of the known bots.
    MeanBot,
    /// Names the game server.
    Hello {
        /// The name under which its games are stored and resumed.
        server: Ident,
        /// The proof of that name, if the daemon's configuration lists clients.
        token: Option<Token>,
        /// Whether to resume the game that this server's last connection left.
        resume: bool,
        /// Whether this server adds and removes bots as the daemon asks; `None` if HELLO does not
        /// state it.
        bots: Option<bool>,
        /// The match that this connection hosts, for an instance with several slots.
        hosts: Option<i64>,
    },
    /// Asks for a PONG.
    Ping,
    /// Closes the connection once the replies owed are sent.
    Quit,
    /// Names the map.
    Map {
        /// The name of the map.
        name: Ident,
        /// The fewest and the most players it is made for.
        range: Option<(u32, u32)>,
    },
    /// Sets the number of teams.
    Teams(u8),
    /// Sets the least number of players, bots included, that this session wants in a game.
    MinPlayers(u32),
    /// Adds a human to the roster, or updates one.
    Join(Join),
    /// Removes a human from the roster.
    Leave {
        /// The human.
        id: Ident,
        /// Why.
        reason: LeaveReason,
    },
    /// Reports the team that a human is on now.
    Move {
        /// The identity of the human.
        id: Ident,
        /// The team that they are on, counted from 0.
        team: u8,
    },
    /// Adds a bot to the roster, or reports its new team.
    BotJoin {
        /// The name of the bot.
        name: Ident,
        /// The team that it is on, counted from 0.
        team: u8,
    },
    /// Removes a bot from the roster.
    BotLeave(Ident),
    /// Asks for teams for all humans.
    Balance {
        /// From how many of the best splits to pick; the configured number if absent.
        top: Option<usize>,
        /// The seed of the pick; a random one if absent.
        seed: Option<u64>,
    },
    /// Asks how many bots belong on each team.
    Bots,
    /// Asks which team a late arrival should join.
    Place(Ident),
    /// Asks which team needs an advantage, and how large it must be.
    Advantage,
    /// Asks for the fewest moves that make the game even.
    Rebalance {
        /// The seed that decides between equally good answers; a random one if absent.
        seed: Option<u64>,
    },
    /// Asks for the reasons of the last decision.
    Explain,
    /// Exempts a human from being moved.
    Protect {
        /// The identity of the human.
        id: Ident,
        /// For how long, 0 to end it; if absent, until it is ended.
        seconds: Option<u32>,
    },
    /// Reports the role that a human has from now on.
    Role {
        /// The identity of the human.
        id: Ident,
        /// The role, such as commander; `None` for none.
        role: Option<RoleName>,
    },
    /// Begins play: time zero of the match.
    Start,
    /// Reports a change of a team's score.
    Score {
        /// The team that scored, counted from 0.
        team: u8,
        /// The change; may be negative.
        points: f64,
        /// The player who caused it.
        by: Option<Ident>,
    },
    /// States a team's score, whatever it was before.
    Total {
        /// The team, counted from 0.
        team: u8,
        /// Its score now.
        points: f64,
    },
    /// Reports a player's points on the scoreboard.
    Points {
        /// The human or bot.
        id: Ident,
        /// The total so far.
        points: f64,
    },
    /// Reports that one player killed another.
    Kill {
        /// The human or bot who killed.
        killer: Ident,
        /// The human or bot who died.
        victim: Ident,
    },
    /// Reports that a human died, and asks whether to move them now.
    Death(Ident),
    /// Reports how many seconds of play are left.
    Clock(u32),
    /// Reports how a human behaves.
    Behaviour {
        /// The identity of the human.
        id: Ident,
        /// The points: negative for a player who spoils games.
        points: f64,
    },
    /// Ends the game and stores the match.
    End(Verdict),
    /// Is about the queue, not about this connection's game.
    Queue(QueueRequest),
    /// Is about the matches that this instance hosts.
    Host(HostRequest),
}

/// The arguments of JOIN. An absent option leaves the player's earlier value as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The identity of the human.
    pub id: Ident,
    /// The name to show for them.
    pub name: Option<Ident>,
    /// The party they belong to; an empty one ends it.
    pub party: Option<Ident>,
    /// The team they are on.
    pub team: Option<u8>,
    /// The team they must be put on; `Some(None)` (`pin=`) ends that.
    pub pin: Option<Option<u8>>,
    /// The players they should not be teamed with, in place of those named before. An empty list
    /// (`avoid=`) ends it.
    pub avoid: Option<Vec<Ident>>,
}

impl Join {
    /// JOIN of this human without options.
    pub fn new(id: Ident) -> Self {
        Self {
            id,
            name: None,
            party: None,
            team: None,
            pin: None,
            avoid: None,
        }
    }
}

/// The token of HELLO, in the bytes that are sent. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(Box<str>);

impl Token {
    /// The token of this text.
    pub fn new(text: &str) -> Self {
        Self(text.into())
    }

    /// The digest to compare with the configured one.
    pub fn secret(&self) -> Secret {
        Secret::of(&self.0)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// When a request that is not refused has a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyRule {
    /// The server always sends exactly one reply.
    Always,
    /// The server sends one reply or none.
    Sometimes,
    /// The server never replies, except to refuse the request.
    Never,
}

impl Request {
    /// The verb of the request.
    pub fn verb(&self) -> Verb {
        match self {
            Self::Game(_) => Verb::Game,
            Self::Mutator(_) => Verb::Mutator,
            Self::Player(_) => Verb::Player,
            Self::Bot(_) => Verb::Bot,
            Self::Rank(_) => Verb::Rank,
            Self::MeanBot => Verb::MeanBot,
            Self::Hello { .. } => Verb::Hello,
            Self::Ping => Verb::Ping,
            Self::Quit => Verb::Quit,
            Self::Map { .. } => Verb::Map,
            Self::Teams(_) => Verb::Teams,
            Self::MinPlayers(_) => Verb::MinPlayers,
            Self::Join(_) => Verb::Join,
            Self::Leave { .. } => Verb::Leave,
            Self::Move { .. } => Verb::Move,
            Self::BotJoin { .. } => Verb::BotJoin,
            Self::BotLeave(_) => Verb::BotLeave,
            Self::Balance { .. } => Verb::Balance,
            Self::Bots => Verb::Bots,
            Self::Place(_) => Verb::Place,
            Self::Advantage => Verb::Advantage,
            Self::Rebalance { .. } => Verb::Rebalance,
            Self::Explain => Verb::Explain,
            Self::Protect { .. } => Verb::Protect,
            Self::Role { .. } => Verb::Role,
            Self::Start => Verb::Start,
            Self::Score { .. } | Self::Total { .. } => Verb::Score,
            Self::Points { .. } => Verb::Points,
            Self::Kill { .. } => Verb::Kill,
            Self::Death(_) => Verb::Death,
            Self::Clock(_) => Verb::Clock,
            Self::Behaviour { .. } => Verb::Behaviour,
            Self::End(_) => Verb::End,
            Self::Queue(request) => request.verb(),
            Self::Host(request) => request.verb(),
        }
    }

    /// When this request has a reply. Any request may be refused instead.
    pub fn reply_rule(&self) -> ReplyRule {
        match self {
            Self::Player(_)
            | Self::Bot(_)
            | Self::Rank(_)
            | Self::MeanBot
            | Self::Hello { .. }
            | Self::Ping
            | Self::Balance { .. }
            | Self::Bots
            | Self::Place(_)
            | Self::Advantage
            | Self::Rebalance { .. }
            | Self::Explain
            | Self::End(_) => ReplyRule::Always,
            Self::Death(_) => ReplyRule::Sometimes,
            Self::Queue(request) => request.reply_rule(),
            Self::Host(request) => request.reply_rule(),
            Self::Game(_)
            | Self::Mutator(_)
            | Self::Quit
            | Self::Map { .. }
            | Self::Teams(_)
            | Self::MinPlayers(_)
            | Self::Join(_)
            | Self::Leave { .. }
            | Self::Move { .. }
            | Self::BotJoin { .. }
            | Self::BotLeave(_)
            | Self::Protect { .. }
            | Self::Role { .. }
            | Self::Start
            | Self::Score { .. }
            | Self::Total { .. }
            | Self::Points { .. }
            | Self::Kill { .. }
            | Self::Behaviour { .. }
            | Self::Clock(_) => ReplyRule::Never,
        }
    }
}
