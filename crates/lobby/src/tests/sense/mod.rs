//! Decisions that the people in a game would call right. Each test reads like a sentence of what was asked for; `w90` is a
//! human whose weight is 90. A game server speaks in its own lines, so that a story can be tried on a daemon, too.

mod arrivals;
mod bots;
mod deaths;
mod evenness;
mod parties;
mod sides;
mod wishes;

use bytes::{Bytes, BytesMut};
use evenkeel_model::{
    ident::Ident,
    in_game::Move,
    team_names::Naming,
    units::{Count, MaxDifference, PositiveShare},
};
use evenkeel_partition::{self as partition, problem::SizeLimits};
use evenkeel_protocol::{Reply, Request, request::Join};

use crate::{
    Command, Decision, Lobby, LobbyError, LobbySettings, Update,
    autobalance::Fate,
    recorder::RecordFrame,
    told_stories::{Step, steps},
    weights::tests::{WeightTable, game},
};

/// What is known before the first game: the settings, and humans of these weights. All other humans are unknown.
#[derive(Default)]
struct World {
    settings: LobbySettings,
    weights: WeightTable,
}

impl World {
    fn new(weights: &[u8]) -> Self {
        let known = weights.iter();
        let known = known.map(|weight| (format!("w{weight}"), f64::from(*weight)));
        Self {
            settings: LobbySettings::default(),
            weights: WeightTable {
                humans: known.collect(),
                ..WeightTable::default()
            },
        }
    }

    /// With a human of each weight from 0 to 100.
    fn of_all_weights() -> Self {
        Self::new(&(0..=100).collect::<Vec<u8>>())
    }

    fn server(&self) -> Server {
        Server {
            lobby: Lobby::new(self.settings.clone()),
            weights: self.weights.clone(),
            objective: self.settings.objective,
            now: 0,
            seed: 0,
            reasons: Vec::new(),
        }
    }

    /// A server that declares in HELLO whether it has bots (yes or no), or says nothing of them.
    fn server_with_bots(&self, bots: &str) -> Server {
        let mut server = self.server();
        if !bots.is_empty() {
            server.ask(&format!("HELLO s bots={bots}\n"));
        }
        server
    }
}

/// A game server on a clock that only the test moves, and the lobby that answers it.
struct Server {
    lobby: Lobby,
    weights: WeightTable,
    objective: partition::settings::Objective,
    now: u64,
    /// The last seed that was drawn.
    seed: u64,
    /// Why the last decision came out as it did.
    reasons: Vec<String>,
}

impl Server {
    /// Sends lines that have no reply.
    fn tell(&mut self, lines: &str) {
        for line in lines.lines() {
            let replies = self.replies(line);
            assert!(replies.is_empty(), "{line}: {replies:?}");
        }
    }

    /// Sends lines, and returns all lines of the replies.
    fn several(&mut self, lines: &str) -> Vec<String> {
        lines.lines().flat_map(|line| self.replies(line)).collect()
    }

    /// Sends lines, and returns the first line of the replies.
    fn ask(&mut self, lines: &str) -> String {
        let replies = self.several(lines).into_iter().next();
        replies.unwrap_or_else(|| panic!("no reply to {lines}"))
    }

    /// All lines of an EXPLAIN.
    fn why(&mut self) -> Vec<String> {
        self.several("EXPLAIN\n")
    }

    /// The team in the answer to PLACE.
    fn placed(&mut self, id: &str) -> u8 {
        let answer = self.ask(&format!("PLACE {id}\n"));
        let team = answer.split(' ').nth(2).and_then(|team| team.parse().ok());
        team.unwrap_or_else(|| panic!("{answer}"))
    }

    /// The same, and the first of its reasons.
    fn placed_because(&mut self, id: &str) -> (u8, String) {
        let team = self.placed(id);
        (team, self.why()[1].clone())
    }

    /// The lines of BALANCE with this seed.
    fn balance(&mut self, seed: usize) -> Vec<String> {
        self.several(&format!("BALANCE seed={seed}\n"))
    }

    /// The team of each of these players after BALANCE with this seed.
    fn balanced(&mut self, seed: usize, ids: &[&str]) -> Vec<u8> {
        let lines = self.balance(seed);
        ids.iter().map(|id| team_of(&lines, id)).collect()
    }

    fn pass(&mut self, millis: u64) {
        self.now += millis;
    }

    /// Plays to the end.
    fn played(&mut self) {
        self.tell("START\nEND draw\n");
    }

    fn replies(&mut self, line: &str) -> Vec<String> {
        let request = Request::parse(Bytes::copy_from_slice(line.as_bytes()));
        let reply = match request {
            Ok(request) => self.answer(request.unwrap_or_else(|| panic!("{line}"))),
            Err(refusal) => return vec![format!("ERROR {refusal}")],
        };
        let mut bytes = BytesMut::new();
        match reply {
            Ok(None) => {}
            Ok(Some(reply)) => reply.encode(&mut bytes),
            Err(error) => return vec![format!("ERROR {error}")],
        }
        let text = std::str::from_utf8(&bytes).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    fn answer(&mut self, request: Request) -> Result<Option<Reply>, LobbyError> {
        let command = match request {
            Request::Hello { bots, .. } => {
                if let Some(acts) = bots {
                    self.apply(&Command::DeclareBots { acts })?;
                }
                return Ok(Some(Reply::hello(None)));
            }
            Request::Balance { top, seed } => return self.choose(top, seed).map(Some),
            Request::Place(id) => return self.place(id).map(Some),
            Request::Advantage => {
                let decided = self.lobby.at(self.now).advantage(&self.weights)?;
                let help = decided.answer.help.map(|help| (help.team, help.factor));
                return Ok(Some(self.because(decided.into(), Reply::Advantage(help))));
            }
            Request::Rebalance { seed, .. } => return self.rebalance(seed).map(Some),
            Request::Death(id) => return self.died(&id),
            Request::Bots => {
                let plan = self.lobby.at(self.now).bots()?;
                self.apply(&Command::ShowBots)?;
                return Ok(Some(Reply::Bots(plan.players, plan.per_team)));
            }
            Request::Explain => return Ok(Some(Reply::Explain(self.reasons.clone()))),
            Request::End(verdict) => {
                let lobby = self.lobby.at(self.now);
                lobby.end(verdict, &RecordFrame::default())?;
                lobby.forget_record();
                return Ok(None);
            }
            request => change(request),
        };
        self.apply(&command)?;
        Ok(None)
    }

    /// Applies a command now, and follows the teams as a session does.
    fn apply(&mut self, command: &Command) -> Result<(), LobbyError> {
        self.lobby.apply(command, self.now)?;
        if command.changes_teams() {
            self.lobby.watch(&self.weights);
        }
        Ok(())
    }

    fn drawn(&mut self, seed: Option<u64>) -> u64 {
        self.seed += 1;
        seed.unwrap_or(self.seed)
    }

    /// The reply to a decision whose reasons are kept for EXPLAIN.
    fn because(&mut self, decision: Decision, reply: Reply) -> Reply {
        let announced = decision.announced(&Naming::default()).to_string();
        self.reasons = announced.lines().map(str::to_owned).collect();
        reply
    }

    fn choose(&mut self, top: Option<usize>, seed: Option<u64>) -> Result<Reply, LobbyError> {
        let seed = self.drawn(seed);
        let limits = SizeLimits {
            max_team_share: PositiveShare::of(0.5625),
            max_difference: MaxDifference::of(1),
        };
        let mut settings = partition::Settings {
            objective: self.objective,
            ..partition::Settings::default()
        };
        if let Some(top) = top {
            settings.top = Count::try_from(top as u64).unwrap();
        }
        let lobby = self.lobby.at(self.now);
        let question = lobby.balance(&self.weights, limits, settings)?;
        let decided = question.decide(seed, &mut || false).unwrap();
        let balanced = lobby.follow(&decided, &self.weights)?;
        let reply = Reply::Balance {
            ratio: balanced.ratio,
            chance: balanced.chance,
            seed,
            humans: balanced.humans,
            bots: balanced.bots,
        };
        Ok(self.because(decided.into(), reply))
    }

    fn place(&mut self, id: Ident) -> Result<Reply, LobbyError> {
        let seed = self.drawn(None);
        let decided = self.lobby.at(self.now).place(&id, &self.weights, seed)?;
        let reply = Reply::Place(id, decided.answer.team, decided.answer.ratio);
        Ok(self.because(decided.into(), reply))
    }

    fn rebalance(&mut self, seed: Option<u64>) -> Result<Reply, LobbyError> {
        let seed = self.drawn(seed);
        let lobby = self.lobby.at(self.now);
        let decided = lobby.rebalance(&self.weights, seed)?;
        let reply = Reply::Rebalance {
            before: decided.answer.before,
            after: decided.answer.after,
            moves: decided.answer.steps().cloned().collect::<Vec<Move>>(),
        };
        Ok(self.because(decided.into(), reply))
    }

    fn died(&mut self, id: &Ident) -> Result<Option<Reply>, LobbyError> {
        let Some(decided) = self.lobby.at(self.now).died(id, &self.weights)? else {
            return Ok(None);
        };
        let moved = match &decided.answer.fate {
            Fate::Moves(step) => Some(step.clone()),
            Fate::Stays(_) => None,
        };
        self.because(decided.into(), Reply::Pong);
        Ok(moved.map(Reply::Move))
    }
}

/// What a line changes in the game.
fn change(request: Request) -> Command {
    let text = |ident: &Ident| ident.text().to_owned();
    match request {
        Request::Game(of) => game(of.text(), true),
        Request::Teams(teams) => Command::Teams { teams },
        Request::MinPlayers(players) => Command::MinPlayers { players },
        Request::Join(join) => joined(join),
        Request::Leave { id, reason } => Command::Leave { id, reason },
        Request::Move { id, team } => Command::Move { id, team },
        Request::BotJoin { name, team } => Command::BotJoin { name, team },
        Request::BotLeave(name) => Command::BotLeave { name },
        Request::Protect { id, seconds } => Command::Protect {
            id,
            millis: seconds.map(|seconds| u64::from(seconds) * 1_000),
        },
        Request::Map { name, range } => Command::Map {
            name: text(&name),
            players: range,
        },
        Request::Points { id, points } => Command::Points { id, points },
        Request::Start => Command::Start,
        other => panic!("no story needs {other:?}"),
    }
}

fn joined(join: Join) -> Command {
    let text = |ident: &Ident| ident.text().to_owned();
    let update = Update {
        name: join.name.as_ref().map(text),
        party: join.party.as_ref().map(text),
        team: join.team,
        pin: join.pin,
        avoid: join.avoid.map(|ids| ids.iter().map(text).collect()),
        wish: join.wish,
    };
    Command::Join {
        id: join.id,
        update,
    }
}

/// The team in the TEAM line of a player.
fn team_of(lines: &[String], id: &str) -> u8 {
    let line = lines.iter().find(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        words[0] == "TEAM" && words[2] == id
    });
    let team = line.and_then(|line| line.split(' ').nth(1)?.parse().ok());
    team.unwrap_or_else(|| panic!("{id}: {lines:?}"))
}

/// JOIN lines for so many unknown players on each team, named by team and number.
fn unknowns(sizes: &[usize]) -> String {
    let team = |(team, &size): (usize, &usize)| {
        (0..size)
            .map(|n| format!("JOIN t{team}n{n} team={team}\n"))
            .collect::<String>()
    };
    sizes.iter().enumerate().map(team).collect()
}

/// JOIN lines for these ids, each with this option.
fn joins(ids: &[&str], option: &str) -> String {
    let line = |id: &&str| format!("JOIN {id} {option}\n");
    ids.iter().map(line).collect()
}

/// Nine against seven unknown players, who have joined in this order.
fn nine_and_seven() -> String {
    let nine = (0..9).map(|n| format!("JOIN n{n} team=0\n"));
    let seven = (0..7).map(|n| format!("JOIN s{n} team=1\n"));
    nine.chain(seven).collect()
}

/// So many different weights.
fn draw_weights(draw: &mut crate::draw::Draw, count: usize) -> Vec<usize> {
    let mut all: Vec<usize> = (0..=100).collect();
    draw.shuffle(&mut all);
    all.truncate(count);
    all
}

/// The daemon hears the same: `sense::a_daemon_answers_as_the_lobby_does` in the suite.
#[test]
fn one_evening_is_answered_as_it_is_told() {
    let story = include_str!("../../../../../tests/fixtures/one-evening.txt");
    let mut server = World::of_all_weights().server();
    let mut heard = Vec::new();
    for step in steps(story) {
        match step {
            Step::Waits(millis) => server.pass(millis),
            Step::Hears(line) => assert_eq!(heard.remove(0), line),
            Step::Sends(line) => {
                assert!(heard.is_empty(), "{heard:?} before {line}");
                heard = server.replies(line);
            }
        }
    }
    assert!(heard.is_empty(), "{heard:?}");
}
