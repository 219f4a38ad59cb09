//! The commands that players write in a game's chat: `!teams`, `!why`, `!rank`, `!balance`, which is a vote, and
//! `!switch`, with which a player volunteers to change teams.
//!
//! The engine finds out which client wrote a command, passes it to [`Chat::hear`], and writes the lines of
//! [`Chat::take_lines`] into the game. These lines are safe in a console command: names and the daemon's words
//! consist of plain characters there. `answers` composes lines and makes their text safe, `polls` counts votes
//! and asks for volunteers.
//!
//! The chat limits how often a player can write a command, how many commands wait, and how many lines are written. It
//! ignores commands beyond these limits.
//!
//! After each decision, the chat asks the daemon for the reasons and keeps them, because the daemon forgets them when
//! the next game begins. So players can ask during play why the teams were chosen in the warm-up.
//!
//! For `!rank`, the chat asks the daemon for the rank of one player at a time. It sends PING after RANK. If PONG
//! comes without an answer to RANK before it, the daemon refuses to show ranks.

mod answers;
mod polls;

use std::collections::{BTreeMap, VecDeque};

use evenkeel_protocol::{Reply, Request};

use crate::{Act, link::plain_ident};

use polls::{OpenOffer, Vote};

/// The shortest time between two commands of one client, in milliseconds.
const EACH: u64 = 2_000;
/// The most commands that wait for their turn.
const MAX_WAITING: usize = 8;
/// The most lines that wait to be written. While there are more, no command is handled.
const MAX_LINES: usize = 16;
/// The most lines that are written at once.
const LINES: usize = 4;

/// The operator's settings of the chat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChatSettings {
    /// Whether players' commands are answered.
    pub on: bool,
    /// A vote passes if more than this percentage of the humans on teams agree. `None` if players
    /// may not vote.
    pub vote: Option<u8>,
}

/// A command of a player.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChatCommand {
    Teams,
    Why,
    Rank,
    /// Agree to balance the teams again; the first one begins a vote.
    Balance,
    /// Volunteer to change teams.
    Switch,
}

impl ChatCommand {
    /// The command that is the whole text; `None` for any other text.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        match text.trim_ascii().to_ascii_lowercase().as_slice() {
            b"!teams" => Some(Self::Teams),
            b"!why" => Some(Self::Why),
            b"!rank" => Some(Self::Rank),
            b"!balance" => Some(Self::Balance),
            b"!switch" => Some(Self::Switch),
            _ => None,
        }
    }
}

/// A client of the game server, as the chat needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChatPlayer {
    pub(super) number: usize,
    /// The identity that the daemon knows.
    pub(super) id: String,
    /// The name, without colours. It may contain anything else.
    pub(super) name: String,
    /// The team; `None` for spectators.
    pub(super) team: Option<u8>,
    pub(super) human: bool,
}

/// The game at this moment.
pub(super) struct ChatGame<'a> {
    pub(super) players: &'a [ChatPlayer],
    /// Whether teams may be balanced now if players vote for it.
    pub(super) can_balance: bool,
}

impl ChatGame<'_> {
    /// The identities of those who may vote.
    fn voters(&self) -> Vec<&str> {
        let humans = self.players.iter();
        let humans = humans.filter(|player| player.human && player.team.is_some());
        humans.map(|player| player.id.as_str()).collect()
    }

    fn name_of(&self, id: &str) -> Option<&str> {
        let player = self.players.iter().find(|player| player.id == id);
        player.map(|player| player.name.as_str())
    }

    fn id_of(&self, number: usize) -> Option<&str> {
        let player = self.players.iter().find(|player| player.number == number);
        player.map(|player| player.id.as_str())
    }
}

/// A line to write into the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatLine {
    /// The client that may see it; `None` for all.
    pub(super) to: Option<usize>,
    pub(super) text: String,
}

/// The chat of one game server. Times are milliseconds of the caller's clock.
#[derive(Debug, Default)]
pub(super) struct Chat {
    settings: ChatSettings,
    /// The names of the teams in the game.
    team_names: &'static [&'static str],
    /// When each client wrote its last command that was accepted.
    heard: BTreeMap<usize, u64>,
    waiting: VecDeque<(usize, ChatCommand)>,
    question: Option<RankQuestion>,
    lines: VecDeque<ChatLine>,
    vote: Vote,
    /// How even the last decision has made the teams; `None` if there has been none.
    even: Option<answers::Even>,
    /// The reasons for the last decision; empty if there has been none.
    reasons: Vec<String>,
    /// Whether the daemon has refused to show ranks.
    refuses_ranks: bool,
    /// The moves for which volunteers are sought; none if there is no offer.
    offer: OpenOffer,
    /// The identities of volunteers whom the daemon has not answered, with their clients.
    volunteers: BTreeMap<String, usize>,
}

impl Chat {
    pub(super) fn new(settings: ChatSettings, team_names: &'static [&'static str]) -> Self {
        Self {
            settings,
            team_names,
            ..Self::default()
        }
    }

    /// Call it for each new connection to the daemon.
    pub(super) fn connected(&mut self, now: u64) {
        self.vote.close(now);
        self.waiting.clear();
        self.question = None;
        self.refuses_ranks = false;
        self.forget_offer();
    }

    /// Call it when a game begins.
    pub(super) fn game_began(&mut self, now: u64) {
        self.vote.close(now);
        self.forget_offer();
    }

    /// Call it when a client has left: another player can get its number.
    pub(super) fn left(&mut self, number: usize) {
        self.waiting.retain(|(of, _)| *of != number);
        self.lines.retain(|line| line.to != Some(number));
        self.volunteers.retain(|_, of| *of != number);
        if let Some(question) = &mut self.question
            && question.number == Some(number)
        {
            question.number = None;
        }
    }

    /// Call it for each command that a human writes, while there is a connection to the daemon.
    pub(super) fn hear(&mut self, number: usize, command: ChatCommand, now: u64) {
        let last = self.heard.get(&number);
        let early = last.is_some_and(|&last| now < last.saturating_add(EACH));
        if self.settings.on && !early && self.waiting.len() < MAX_WAITING {
            self.heard.insert(number, now);
            self.waiting.push_back((number, command));
        }
    }

    /// Handles the commands that wait, as far as possible, and sends requests to the daemon.
    /// Returns whether a vote to balance the teams again has passed.
    #[must_use]
    pub(super) fn tick(&mut self, game: &ChatGame<'_>, now: u64, acts: &mut Vec<Act>) -> bool {
        self.end_overdue_question(now);
        let mut passed = self.end_vote(game, now);
        self.announce_offer(game, now);
        while self.question.is_none() && self.lines.len() < MAX_LINES {
            let Some((number, command)) = self.waiting.pop_front() else {
                break;
            };
            match command {
                ChatCommand::Teams => {
                    let lines = answers::teams(game.players, self.team_names, self.even);
                    self.write_to(number, lines);
                }
                ChatCommand::Switch => self.volunteer(number, game, acts),
                ChatCommand::Balance => passed |= self.cast(number, game, now),
                ChatCommand::Why => {
                    let (reasons, names) = (&self.reasons, self.team_names);
                    let lines = answers::why(reasons, game.players, number, names);
                    self.write_to(number, lines);
                }
                ChatCommand::Rank => self.ask_for_rank(number, game, now, acts),
            }
        }
        passed
    }

    /// Takes a reply of the daemon: asks for the reasons of a decision, keeps them, and answers the
    /// open question.
    pub(super) fn reply(&mut self, reply: &Reply, acts: &mut Vec<Act>) {
        match reply {
            Reply::Balance { ratio, chance, .. } => self.even = Some((*chance, *ratio)),
            Reply::Place(_, _, ratio) | Reply::Rebalance { after: ratio, .. } => {
                self.even = Some((None, *ratio));
            }
            Reply::Move(_) => {}
            Reply::Switch(id, answer) => return self.answer_volunteer(id, *answer),
            Reply::Explain(reasons) => {
                self.reasons.clone_from(reasons);
                return;
            }
            Reply::Rank { .. } => return self.answer_rank(reply),
            Reply::Pong => return self.end_question(),
            _ => return,
        }
        if self.settings.on {
            acts.push(Act::Send(Request::Explain));
        }
    }

    /// Queues a line for all players. The text must be safe in a console command.
    pub(super) fn announce(&mut self, text: &str) {
        let text = answers::cut(format!("Evenkeel: {text}"));
        self.lines.push_back(ChatLine { to: None, text });
    }

    /// Queues lines that only this client sees.
    fn write_to(&mut self, number: usize, lines: Vec<String>) {
        let to = Some(number);
        self.lines
            .extend(lines.into_iter().map(|text| ChatLine { to, text }));
    }

    /// The next lines to write, at most four.
    pub(super) fn take_lines(&mut self) -> Vec<ChatLine> {
        let count = self.lines.len().min(LINES);
        self.lines.drain(..count).collect()
    }
}

/// How long the daemon's answer may take, in milliseconds.
const PATIENCE: u64 = 5_000;

/// A question for a rank that the daemon has not answered completely.
#[derive(Debug)]
struct RankQuestion {
    /// The client that asked; `None` if it has left.
    number: Option<usize>,
    /// Whether the answer has come, so that only PONG is missing.
    answered: bool,
    /// When the chat gives up waiting.
    until: u64,
}

impl Chat {
    /// Asks the daemon for a rank, unless it has refused to show ranks.
    fn ask_for_rank(&mut self, number: usize, game: &ChatGame<'_>, now: u64, acts: &mut Vec<Act>) {
        self.question = Some(RankQuestion {
            number: Some(number),
            answered: false,
            until: now.saturating_add(PATIENCE),
        });
        match game.id_of(number).filter(|_| !self.refuses_ranks) {
            Some(id) => {
                let requests = [Request::Rank(plain_ident(id)), Request::Ping];
                acts.extend(requests.map(Act::Send));
            }
            None => self.close_question(),
        }
    }

    /// Ends a question that the daemon has not answered in time.
    fn end_overdue_question(&mut self, now: u64) {
        if self.question.as_ref().is_some_and(|open| now >= open.until) {
            self.close_question();
        }
    }

    /// Handles PONG, which ends the question.
    fn end_question(&mut self) {
        self.refuses_ranks |= self.question.as_ref().is_some_and(|open| !open.answered);
        self.close_question();
    }

    /// Writes the daemon's reply to the player who asked, unless the player has an answer already.
    fn answer_rank(&mut self, reply: &Reply) {
        let Some(question) = self.question.as_mut().filter(|open| !open.answered) else {
            return;
        };
        question.answered = true;
        if let Some(number) = question.number {
            self.write_to(number, vec![answers::rank(reply)]);
        }
    }

    /// Ends the question. Without an answer, the player reads that there are no ranks.
    fn close_question(&mut self) {
        self.answer_rank(&Reply::Pong);
        self.question = None;
    }
}

#[cfg(test)]
mod tests;
