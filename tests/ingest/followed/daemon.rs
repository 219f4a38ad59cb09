//! What the daemon records of what a sidecar sends: the same lobby, without sockets and without a database.

use evenkeel::{
    lobby::{Command, Lobby, LobbySettings, NewGame, Update, recorder::RecordFrame},
    model::{MatchRecord, Rulebook, ident::Ident, rulebook::RulebookSpec},
    protocol::{Request, request::Join},
};

/// Which games have no teams, as far as there are logs of them.
fn rulebook() -> Rulebook {
    let mut spec = RulebookSpec::default();
    let patterns = ["*.ffa", "*.duel", "*.g2", "*.dm", "*.lms", "*.jump"];
    spec.game_types.free_for_all = patterns.map(str::to_owned).to_vec();
    Rulebook::new(&spec).unwrap()
}

/// A daemon with one game server.
pub(super) struct RecordingDaemon {
    lobby: Lobby,
    rulebook: Rulebook,
    /// The matches that have ended.
    pub(super) records: Vec<MatchRecord>,
    /// When play began in each of them, in milliseconds since the log began.
    pub(super) starts: Vec<u64>,
    started: u64,
    /// What it refused.
    pub(super) refused: Vec<String>,
}

impl RecordingDaemon {
    pub(super) fn new() -> Self {
        Self {
            lobby: Lobby::new(LobbySettings::default()),
            rulebook: rulebook(),
            records: Vec::new(),
            starts: Vec::new(),
            started: 0,
            refused: Vec::new(),
        }
    }

    pub(super) fn take(&mut self, now: u64, request: &Request) {
        if *request == Request::Start {
            self.started = now;
        }
        if let Request::End(verdict) = request {
            let frame = RecordFrame::default();
            match self.lobby.at(now).end(*verdict, &frame) {
                Ok(finished) => {
                    self.records.push(finished.record);
                    self.starts.push(self.started);
                }
                Err(why) => self.refused.push(format!("END: {why}")),
            }
            self.lobby.forget_record();
        } else if let Some(command) = self.command(request.clone())
            && let Err(why) = self.lobby.apply(&command, now)
        {
            self.refused.push(format!("{request:?}: {why}"));
        }
    }

    /// The change of the game that a request means.
    fn command(&self, request: Request) -> Option<Command> {
        Some(match request {
            Request::Game(game_type) => Command::Game(NewGame {
                game_type: game_type.text().to_owned(),
                canonical_type: self.rulebook.bare_type(game_type.text()),
                has_teams: self.rulebook.is_team_game(game_type.text()),
                tournament: false,
            }),
            Request::Mutator(name) => Command::Mutator { name: text(&name) },
            Request::Map { name, range } => Command::Map {
                name: text(&name),
                players: range,
            },
            Request::Teams(teams) => Command::Teams { teams },
            Request::Join(join) => joined(join),
            Request::Leave { id, reason } => Command::Leave { id, reason },
            Request::Move { id, team } => Command::Move { id, team },
            Request::BotJoin { name, team } => Command::BotJoin { name, team },
            Request::BotLeave(name) => Command::BotLeave { name },
            Request::Role { id, role } => Command::Role { id, role },
            Request::Start => Command::Start,
            Request::Score { team, points, by } => Command::Score { team, points, by },
            Request::Points { id, points } => Command::Points { id, points },
            Request::Kill { killer, victim } => Command::Kill { killer, victim },
            Request::Death(id) => Command::Death { id },
            _ => return None,
        })
    }
}

fn joined(join: Join) -> Command {
    let update = Update {
        name: join.name.as_ref().map(text),
        team: join.team,
        ..Update::default()
    };
    Command::Join {
        id: join.id,
        update,
    }
}

fn text(ident: &Ident) -> String {
    ident.text().to_owned()
}
