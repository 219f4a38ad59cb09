//! The changes of a lobby as plain data.
//!
//! A game changes by commands only, until it ends: [`Lobby::end`](super::Lobby::end) makes its record, and
//! [`Lobby::forget_record`](super::Lobby::forget_record) frees what the record was made of. The reports of a game server (JOIN, SCORE,
//! …) are commands; so are the effects of decisions (an assignment to teams, a human moved by
//! auto-balance). So a decision needs the players' weights, but applying it does not. The same
//! commands at the same times always give the same lobby, and a journal of them survives a crash.

use std::fmt;

use evenkeel_model::{
    ident::Ident,
    in_game::{Move, Withdrawal},
    match_chances::TeamChances,
    record::{LeaveReason, MAX_PLAYERS, MAX_TEAMS, RecordError},
    team_names::RoleName,
};
use serde::{Deserialize, Serialize};

use crate::balance::LastBalance;

/// One change of a lobby. Teams are counted from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// GAME: a new game begins.
    Game(NewGame),
    /// MUTATOR: a mutator is active. Ignored before GAME.
    Mutator {
        /// Name of the mutator, as the game server sent it.
        name: String,
    },
    /// MAP: the game is played on this map.
    Map {
        /// Name of the map, as the game server sent it.
        name: String,
        /// The fewest and the most players that the map recommends; `None` for the configured
        /// range.
        players: Option<(u32, u32)>,
    },
    /// TEAMS: the number of teams, 2 to 8.
    Teams {
        /// The number of teams, 2 to 8.
        teams: u8,
    },
    /// MINPLAYERS: the number of players that this session wants, bots included.
    MinPlayers {
        /// The number of players, bots included.
        players: u32,
    },
    /// HELLO: whether the game server follows the daemon's answers about bots.
    DeclareBots {
        /// Whether it adds and removes bots as the answers require.
        acts: bool,
    },
    /// A question about bots: a server that asks will follow the answer.
    ShowBots,
    /// JOIN: a human joins, or their data change.
    Join {
        /// Id of the human.
        id: Ident,
        /// The data in JOIN.
        update: Update,
    },
    /// LEAVE: a human leaves the game.
    Leave {
        /// Id of the human.
        id: Ident,
        /// Why they leave.
        reason: LeaveReason,
    },
    /// MOVE: a human is on another team now.
    Move {
        /// Id of the human.
        id: Ident,
        /// The team that they are on now.
        team: u8,
    },
    /// BOTJOIN: a bot joins, or changes teams.
    BotJoin {
        /// Name of the bot.
        name: Ident,
        /// The team that the bot is on now.
        team: u8,
    },
    /// BOTLEAVE: a bot leaves the game.
    BotLeave {
        /// Name of the bot.
        name: Ident,
    },
    /// PROTECT: decisions must leave a human on their team.
    Protect {
        /// Id of the human.
        id: Ident,
        /// For how many milliseconds from now; `None` until the next PROTECT.
        millis: Option<u64>,
    },
    /// ROLE: a human has this role from now on.
    Role {
        /// Id of the human.
        id: Ident,
        /// The role; `None` for none.
        role: Option<RoleName>,
    },
    /// START: play begins, at time 0. Fails in play.
    Start,
    /// SCORE: a team's score changes. Ignored unless the game is in play.
    Score {
        /// The team that scores.
        team: u8,
        /// The points added to the score; negative if the game subtracts points.
        points: f64,
        /// The human or bot who scored.
        by: Option<Ident>,
    },
    /// POINTS: a player's points on the scoreboard so far. Ignored unless the game is in play.
    Points {
        /// Id of the human, or name of the bot.
        id: Ident,
        /// The player's total so far.
        points: f64,
    },
    /// KILL: a player killed another; either may have left since. Ignored unless the game is in
    /// play.
    Kill {
        /// Id or name of the player who killed.
        killer: Ident,
        /// Id or name of the player who died.
        victim: Ident,
    },
    /// DEATH: a player died. Ignored unless the game is in play.
    Death {
        /// Id of the human, or name of the bot.
        id: Ident,
    },
    /// CLOCK: the remaining time of play. Ignored unless the game is in play.
    Clock {
        /// The remaining time in milliseconds.
        left: u64,
    },
    /// BALANCE was answered: each human is now on the chosen team.
    Assign {
        /// One team per human, in JOIN order.
        team_of: Vec<u8>,
    },
    /// BALANCE was answered. If it is sent again, the teams stay unless others are better.
    Balanced(LastBalance),
    /// PLACE was answered: a late arrival is now on the chosen team.
    Place {
        /// Id of the human.
        id: Ident,
        /// The chosen team.
        team: u8,
    },
    /// REBALANCE was answered. A MOVE that follows the advice does not count as the human's own
    /// change of team.
    Advise {
        /// The advised moves, which replace earlier advice.
        moves: Vec<Move>,
    },
    /// ADVANTAGE was answered. In the next answer, the part of the score may differ only a little
    /// from this one.
    Help {
        /// How much stronger its score made each team, as the logarithm of a factor.
        by_score: Vec<f64>,
    },
    /// Auto-balance moved a human who died.
    AutoMove {
        /// Id of the human.
        id: Ident,
        /// Their new team.
        team: u8,
    },
    /// A decision was requested. Counts it for the humans concerned who changed to the stronger
    /// team shortly before.
    Ask {
        /// Id of the human concerned; `None` for all.
        id: Option<Ident>,
    },
    /// The balance of the teams, after each change of who is on which team.
    Watch(BalanceWatch),
    /// The sizes and chances of the teams: those that BALANCE has picked or, in play, those after START or after
    /// the last change of who is on which team.
    Chances(TeamChances),
    /// Players are asked for these moves, in the place of an earlier offer.
    Offer(Offer),
    /// SWITCH: a human volunteers for the open offer.
    Volunteer {
        /// Id of the human.
        id: Ident,
    },
    /// The offer has ended: its moves were advised, or it is withdrawn.
    EndOffer,
    /// A streak was reported; it is not reported again.
    TakeStreak,
    /// The game is that of a hosted match.
    Host,
    /// The next command is GAME, and may mean this game once more: it is kept.
    Hold,
    /// The game is the one that is kept, once more: what was decided in it stands.
    GoOn,
    /// The game is another one than the one that is kept.
    DropBefore,
}

/// A command that was carried out, and the millisecond of the session at which it was.
pub(super) type TimedCommand = (u64, Command);

/// The data in GAME, and what the rulebook adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewGame {
    /// The game type, as the game server named it.
    pub game_type: String,
    /// The canonical name of the game type, without a mode.
    pub canonical_type: String,
    /// Whether the game is played in teams.
    pub has_teams: bool,
    /// Whether the players choose their teams themselves, in which case auto-balance moves no one.
    pub tournament: bool,
}

/// The data in JOIN. A field that is `None` keeps the previous value.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Update {
    /// The human's current name.
    pub name: Option<String>,
    /// The party that they came with; an empty one ends it.
    pub party: Option<String>,
    /// The team that they are on now.
    pub team: Option<u8>,
    /// The team that they must be on; `Some(None)` removes an earlier pin.
    pub pin: Option<Option<u8>>,
    /// Ids of the humans they want to avoid; replaces the previous list.
    pub avoid: Option<Vec<String>>,
    /// The team on which they would like to be; `Some(None)` takes an earlier wish back.
    pub wish: Option<Option<u8>>,
}

/// The balance of the teams at the last assessment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BalanceWatch {
    /// The team that is too strong by the auto-balance rules, and the millisecond of the session since
    /// which the teams have been unbalanced in this direction.
    pub imbalance: Option<(u8, u64)>,
    /// The team with the highest weight; `None` if several share it.
    pub stronger: Option<u8>,
}

impl Command {
    /// Whether the command can change who is on which team, so that the balance must be assessed
    /// again.
    pub fn changes_teams(&self) -> bool {
        matches!(
            self,
            Self::Join { .. }
                | Self::Leave { .. }
                | Self::Move { .. }
                | Self::BotJoin { .. }
                | Self::BotLeave { .. }
                | Self::Assign { .. }
                | Self::Place { .. }
                | Self::AutoMove { .. }
        )
    }

    /// Whether all numbers are finite. What was read from the disk is checked, so that no other number gets into a game.
    pub fn is_finite(&self) -> bool {
        match self {
            Self::Score { points, .. } | Self::Points { points, .. } => points.is_finite(),
            Self::Help { by_score } => by_score.iter().all(|one| one.is_finite()),
            _ => true, // impossible chances are refused when the command is carried out
        }
    }

    /// The human whose [`Conduct`](evenkeel_partition::view::Conduct) the command can change.
    pub fn judged(&self) -> Option<&Ident> {
        match self {
            Self::Join { id, .. } | Self::Move { id, .. } => Some(id),
            _ => None,
        }
    }
}

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
    pub(crate) fn moves(&self, id: &Ident) -> bool {
        matches!(self, Self::Moved { moves, .. } if moves.iter().any(|step| step.id == *id))
    }
}

/// Why a command or decision failed. It changed nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LobbyError {
    /// The session has no game yet.
    #[error("send GAME first")]
    NoGame,
    /// No player with this id or name is in the game.
    #[error("not in the roster")]
    UnknownPlayer,
    /// The id is a placeholder that games send for all players without an identity.
    #[error("many players share this id; send a name instead")]
    SharedId,
    /// The game has as many humans, or bots, as the settings allow.
    #[error("the roster is full")]
    RosterFull,
    /// The game has fewer teams than this number needs.
    #[error("there is no team {0}")]
    NoSuchTeam(u8),
    /// The number of teams is not 2 to 8.
    #[error("the number of teams cannot be {0}")]
    BadTeams(u8),
    /// A human or bot is on, or pinned to, a team that would no longer exist.
    #[error("a player is on a team, or pinned to one, that would not exist")]
    TeamInUse,
    /// The game type is played without teams.
    #[error("this game type has no teams")]
    NoTeams,
    /// The game has more mutators than any real game.
    #[error("too many mutators")]
    TooManyMutators,
    /// Play has not begun, so it cannot end.
    #[error("send START first")]
    NotStarted,
    /// Play has already begun; beginning again would discard its score.
    #[error("play has begun; send END or GAME first")]
    AlreadyStarted,
    /// The numbers in a journal cannot be the sizes and chances of teams.
    #[error("these cannot be the sizes and chances of teams")]
    BadChances,
    /// The reported events do not make a valid match record.
    #[error("the reported events do not make a valid match record: {0}")]
    Record(#[from] RecordError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_is_plain_data() {
        let strange = Ident::new(b"\"Ren\xe9\"", b"Ren\xe9");
        let join = |update| Command::Join {
            id: strange.clone(),
            update,
        };
        let commands = [
            Command::Game(NewGame {
                game_type: "ctf".into(),
                canonical_type: "ctf".into(),
                has_teams: true,
                tournament: false,
            }),
            join(Update::default()),
            join(Update {
                pin: Some(None),
                avoid: Some(vec!["x".into()]),
                ..Update::default()
            }),
            join(Update {
                pin: Some(Some(1)),
                wish: Some(None),
                ..Update::default()
            }),
            Command::Protect {
                id: strange.clone(),
                millis: None,
            },
            Command::Role {
                id: strange.clone(),
                role: RoleName::read("commander"),
            },
            Command::Start,
            Command::Watch(BalanceWatch {
                imbalance: Some((1, 20_000)),
                stronger: None,
            }),
            Command::Chances(TeamChances {
                win: vec![0.1 + 0.2, 0.7],
                humans: vec![7, 5],
                bots: vec![0, 1],
            }),
        ];
        for command in commands {
            let bytes = postcard::to_stdvec(&command).unwrap();
            let back: Command = postcard::from_bytes(&bytes).unwrap();
            assert_eq!(back, command);
        }
        let bytes = postcard::to_stdvec(&join(Update::default())).unwrap();
        let Command::Join { id, .. } = postcard::from_bytes(&bytes).unwrap() else {
            panic!("another command")
        };
        assert_eq!(id.raw(), strange.raw(), "the bytes, too");
    }
}
