//! Everything that changes a lobby, as plain data, and the one place that carries it out.
//!
//! [`Lobby::apply`] is the only way to change a lobby. What a game server reports (JOIN, SCORE, …)
//! comes in as a command; what a decision changes (an assignment to teams, a human moved by
//! auto-balance) is a command as well, so that a decision needs the players' weights but carrying
//! it out does not. The same commands at the same times therefore rebuild the same lobby, and a
//! journal of them survives a crash.

use serde::{Deserialize, Deserializer, Serialize};

use super::{BalanceWatch, Lobby, LobbyError};
use crate::domain::{Ident, Move};

/// One change of a lobby. Teams are counted from 0.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Command {
    /// GAME: a new game begins.
    Game(NewGame),
    /// MUTATOR: a mutator is active. Ignored before GAME.
    Mutator {
        /// Its name.
        name: String,
    },
    /// MAP: the game is played on this map.
    Map {
        /// Its name.
        name: String,
        /// Fewest and most players that the map recommends; `None` for the configured range.
        players: Option<(u32, u32)>,
    },
    /// TEAMS: the number of teams, 2 to 8.
    Teams {
        /// How many.
        teams: u8,
    },
    /// MINPLAYERS: the number of players that this session wishes for, bots included.
    MinPlayers {
        /// How many.
        players: u32,
    },
    /// HELLO: whether the session acts on bots.
    DeclareBots {
        /// Whether it adds and removes bots as it is asked to.
        acts: bool,
    },
    /// A question about bots: who asks will act on the answer.
    ShowBots,
    /// JOIN: a human takes part, or what is known of them changes.
    Join {
        /// Id of the human.
        id: Ident,
        /// What JOIN states.
        update: Update,
    },
    /// LEAVE: a human leaves the game.
    Leave {
        /// Id of the human.
        id: Ident,
    },
    /// MOVE: a human is on another team now.
    Move {
        /// Id of the human.
        id: Ident,
        /// The team that they are on now.
        team: u8,
    },
    /// BOTJOIN: a bot takes part, or changes its team.
    BotJoin {
        /// Its name.
        name: Ident,
        /// Its team.
        team: u8,
    },
    /// BOTLEAVE: a bot leaves the game.
    BotLeave {
        /// Its name.
        name: Ident,
    },
    /// PROTECT: decisions leave a human on their team.
    Protect {
        /// Id of the human.
        id: Ident,
        /// For how many milliseconds from now on; `None` until the next PROTECT.
        millis: Option<u64>,
    },
    /// START: play begins, at time 0. Sent again, play begins again.
    Start,
    /// SCORE: a team's score changes. Ignored unless play is on.
    Score {
        /// The team.
        team: u8,
        /// By how much; below 0 where the game takes points away.
        points: f64,
        /// The human or bot who scored.
        by: Option<Ident>,
    },
    /// POINTS: a player's points on the scoreboard so far. Ignored unless play is on.
    Points {
        /// Id of the human, or name of the bot.
        id: Ident,
        /// The points.
        points: f64,
    },
    /// KILL: a player killed another; either may have left since. Ignored unless play is on.
    Kill {
        /// The player who killed.
        killer: Ident,
        /// The player who was killed.
        victim: Ident,
    },
    /// DEATH: a player died. Ignored unless play is on.
    Death {
        /// Id of the human, or name of the bot.
        id: Ident,
    },
    /// CLOCK: the play time left. Ignored unless play is on.
    Clock {
        /// In milliseconds.
        left: u64,
    },
    /// BALANCE was answered: every human is on the chosen team.
    Assign {
        /// One team per human, in JOIN order.
        team_of: Vec<u8>,
    },
    /// PLACE was answered: a late arrival is on the chosen team.
    Place {
        /// Id of the human.
        id: Ident,
        /// The team.
        team: u8,
    },
    /// REBALANCE was answered. A MOVE that follows the advice counts as the lobby's, not as the
    /// human's own.
    Advise {
        /// The advice, in place of any before.
        moves: Vec<Move>,
    },
    /// ADVANTAGE was answered; what the score counts in the next answer must not jump away from this one.
    Help {
        /// What each team's score counted, as the logarithm of a factor.
        by_score: Vec<f64>,
    },
    /// Auto-balance moved a human who died.
    AutoMove {
        /// Id of the human.
        id: Ident,
        /// Their new team.
        team: u8,
    },
    /// A decision was asked for. Humans whom it concerns and who had changed to the stronger team
    /// shortly before are remembered for it.
    Ask {
        /// The human whom it concerns; `None` for all.
        id: Option<Ident>,
    },
    /// The balance of the teams, after each change of who plays where.
    Watch(BalanceWatch),
}

/// What GAME states, with what the rulebook adds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewGame {
    /// The game type, as the game server named it.
    pub game_type: String,
    /// Whether it is played in teams.
    pub has_teams: bool,
    /// Whether the players choose their teams themselves, so that auto-balance leaves them alone.
    pub tournament: bool,
}

/// What JOIN states. A field that is `None` leaves what was known as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Update {
    /// The human's current name.
    pub name: Option<String>,
    /// The party that they came with; empty ends it.
    pub party: Option<String>,
    /// The team that they are on.
    pub team: Option<u8>,
    /// The team that they must be on; `Some(None)` lifts an earlier pin.
    #[serde(skip_serializing_if = "Option::is_none", deserialize_with = "present")]
    pub pin: Option<Option<u8>>,
    /// Ids of the humans with whom they would rather not play, in place of those known.
    pub avoid: Option<Vec<String>>,
}

/// A field that is there, even as null, is `Some`.
fn present<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Option<u8>>, D::Error> {
    Option::deserialize(from).map(Some)
}

impl Command {
    /// Whether the command may change who plays or on which team, so that the balance of the teams
    /// must be looked at again.
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

    /// The human whose [`Conduct`](super::Conduct) the command may change.
    pub fn judged(&self) -> Option<&Ident> {
        match self {
            Self::Join { id, .. } | Self::Move { id, .. } => Some(id),
            _ => None,
        }
    }
}

impl Lobby {
    /// Carries out a command at `now`, in milliseconds of the session. The lobby's time never goes
    /// back: a `now` before the last one counts as the last one.
    ///
    /// # Errors
    /// Any [`LobbyError`]. A command that fails changes nothing.
    pub fn apply(&mut self, command: &Command, now: u64) -> Result<(), LobbyError> {
        self.at(now).change(command)
    }

    /// Carries out a command now.
    pub(super) fn change(&mut self, command: &Command) -> Result<(), LobbyError> {
        match command {
            Command::Game(game) => self.begin(game),
            Command::Mutator { name } => return self.add_mutator(name),
            Command::Map { name, players } => return self.set_map(name, *players),
            Command::Teams { teams } => return self.set_teams(*teams),
            Command::MinPlayers { players } => self.set_min_players(*players),
            Command::DeclareBots { acts } => self.declare_bots(*acts),
            Command::ShowBots => self.show_bots(),
            Command::Join { id, update } => return self.join(id, update),
            Command::Leave { id } => return self.leave(id),
            Command::Move { id, team } => return self.move_to(id, *team),
            Command::BotJoin { name, team } => return self.bot_join(name, *team),
            Command::BotLeave { name } => return self.bot_leave(name),
            Command::Protect { id, millis } => return self.protect(id, *millis),
            Command::Start => return self.start(),
            Command::Score { team, points, by } => return self.score(*team, *points, by.as_ref()),
            Command::Points { id, points } => return self.points(id, *points),
            Command::Kill { killer, victim } => return self.kill(killer, victim),
            Command::Death { id } => return self.death(id),
            Command::Clock { left } => return self.clock(*left),
            Command::Assign { team_of } => return self.assign(team_of),
            Command::Place { id, team } => return self.put_on_team(id, *team),
            Command::Advise { moves } => self.game_mut()?.advised.clone_from(moves),
            Command::Help { by_score } => {
                self.game_mut()?.by_score = Some((by_score.clone(), self.now));
            }
            Command::AutoMove { id, team } => return self.auto_move(id, *team),
            Command::Ask { id } => self.note_asked(id.as_ref()),
            Command::Watch(watch) => self.game_mut()?.watch = *watch,
        }
        Ok(())
    }
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
                ..Update::default()
            }),
            Command::Protect {
                id: strange.clone(),
                millis: None,
            },
            Command::Start,
            Command::Watch(BalanceWatch {
                imbalance: Some((1, 20_000)),
                stronger: None,
            }),
        ];
        for command in commands {
            let json = serde_json::to_string(&command).unwrap();
            let back: Command = serde_json::from_str(&json).unwrap();
            assert_eq!(back, command, "{json}");
        }
        let json = serde_json::to_string(&join(Update::default())).unwrap();
        let Command::Join { id, .. } = serde_json::from_str(&json).unwrap() else {
            panic!("{json}")
        };
        assert_eq!(id.raw(), strange.raw(), "the bytes, too");
    }
}
