//! The commands that players write in a game's chat: `!teams`, `!why`, `!rank`, and `!balance`, a
//! vote.
//!
//! The engine finds out which client wrote a command, passes it to [`Chat::hear`], and writes the
//! lines of [`Chat::take_lines`] into the game. These lines are safe in a console command: names
//! and the daemon's words consist of plain characters there. `answers` composes lines, `plain`
//! makes text safe, `vote` counts votes.
//!
//! Commands of one player, commands in all and lines are bounded. Beyond the bounds, commands are
//! ignored. At most one question to the daemon is open at a time. PING follows each question, so
//! that PONG without an answer before it means that the daemon refused the question.

mod answers;
mod plain;
mod vote;

use std::collections::{BTreeMap, VecDeque};

use super::{Act, link::plain_ident};
use crate::protocol::{Reply, Request};
use vote::{Ballot, Vote};

/// The shortest time between two commands of one client, in milliseconds.
const EACH: u64 = 2_000;
/// The most commands that wait for their turn.
const MAX_WAITING: usize = 8;
/// The most lines that wait to be written. While there are more, no command is handled.
const MAX_LINES: usize = 16;
/// The most lines that are written at once.
const LINES: usize = 4;
/// How long the daemon's answer may take, in milliseconds.
const PATIENCE: u64 = 5_000;

/// The operator's settings of the chat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChatSettings {
    /// Whether players' commands are answered.
    pub on: bool,
    /// A vote passes if more than so many percent of the humans on teams agree. `None` if players
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
}

impl ChatCommand {
    /// The command that is the whole text; `None` for any other text.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        match text.trim_ascii().to_ascii_lowercase().as_slice() {
            b"!teams" => Some(Self::Teams),
            b"!why" => Some(Self::Why),
            b"!rank" => Some(Self::Rank),
            b"!balance" => Some(Self::Balance),
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

    fn id_of(&self, number: usize) -> Option<&str> {
        let player = self.players.iter().find(|player| player.number == number);
        player.map(|player| player.id.as_str())
    }
}

/// A line to write into the game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ChatLine {
    /// The client that may see it; `None` for all.
    pub(super) to: Option<usize>,
    pub(super) text: String,
}

/// A question to the daemon that has no answer yet.
#[derive(Debug)]
struct OpenQuestion {
    /// The client that asked; `None` if it has left.
    number: Option<usize>,
    command: ChatCommand,
    /// Whether the answer has come, so that only PONG is missing.
    answered: bool,
    until: u64,
}

/// The chat of one game server. Times are milliseconds of the caller's clock.
#[derive(Debug)]
pub(super) struct Chat {
    settings: ChatSettings,
    /// The names of the teams in the game.
    team_names: &'static [&'static str],
    /// When each client wrote its last command that was accepted.
    heard: BTreeMap<usize, u64>,
    waiting: VecDeque<(usize, ChatCommand)>,
    question: Option<OpenQuestion>,
    lines: VecDeque<ChatLine>,
    vote: Vote,
    /// The ratio of the last decision; `None` if there has been none.
    ratio: Option<f64>,
    /// Whether the daemon has a decision to explain, as far as is known.
    explains: bool,
    /// Whether the daemon has refused to show ranks.
    rankless: bool,
}

impl Chat {
    pub(super) fn new(settings: ChatSettings, team_names: &'static [&'static str]) -> Self {
        Self {
            settings,
            team_names,
            heard: BTreeMap::new(),
            waiting: VecDeque::new(),
            question: None,
            lines: VecDeque::new(),
            vote: Vote::default(),
            ratio: None,
            explains: false,
            rankless: false,
        }
    }

    /// Call it for each new connection to the daemon, which has made no decision on it yet.
    pub(super) fn connected(&mut self, now: u64) {
        self.vote.close(now);
        self.waiting.clear();
        self.question = None;
        (self.ratio, self.explains, self.rankless) = (None, false, false);
    }

    /// Call it when a game begins.
    pub(super) fn game_began(&mut self, now: u64) {
        self.vote.close(now);
        self.ratio = None;
    }

    /// Call it when a client has left: another player can get its number.
    pub(super) fn left(&mut self, number: usize) {
        self.waiting.retain(|(of, _)| *of != number);
        self.lines.retain(|line| line.to != Some(number));
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
        if self.question.as_ref().is_some_and(|open| now >= open.until) {
            self.close_question(game);
        }
        let mut passed = self.end_vote(game, now);
        while self.question.is_none() && self.lines.len() < MAX_LINES {
            let Some((number, command)) = self.waiting.pop_front() else {
                break;
            };
            match command {
                ChatCommand::Teams => {
                    let lines = answers::teams(game.players, self.team_names, self.ratio);
                    self.tell(number, lines);
                }
                ChatCommand::Balance => passed |= self.cast(number, game, now),
                ChatCommand::Rank | ChatCommand::Why => {
                    self.ask(number, command, game, now, acts);
                }
            }
        }
        passed
    }

    /// Sends a question to the daemon, unless it would be refused.
    fn ask(
        &mut self,
        number: usize,
        command: ChatCommand,
        game: &ChatGame<'_>,
        now: u64,
        acts: &mut Vec<Act>,
    ) {
        let request = match command {
            ChatCommand::Rank if !self.rankless => {
                game.id_of(number).map(|id| Request::Rank(plain_ident(id)))
            }
            ChatCommand::Why if self.explains => Some(Request::Explain),
            _ => None,
        };
        self.question = Some(OpenQuestion {
            number: Some(number),
            command,
            answered: false,
            until: now.saturating_add(PATIENCE),
        });
        match request {
            Some(request) => acts.extend([request, Request::Ping].map(Act::Send)),
            None => self.close_question(game),
        }
    }

    /// Takes a reply of the daemon: notes decisions, and answers the open question.
    pub(super) fn reply(&mut self, reply: &Reply, game: &ChatGame<'_>) {
        let asked = self.question.as_ref().map(|question| question.command);
        match (reply, asked) {
            (Reply::Balance { ratio, .. } | Reply::Place(_, _, ratio), _) => {
                (self.ratio, self.explains) = (Some(*ratio), true);
            }
            (Reply::Rebalance { after, .. }, _) => {
                (self.ratio, self.explains) = (Some(*after), true);
            }
            (Reply::Move(_) | Reply::Advantage(_), _) => self.explains = true,
            (Reply::Rank { .. }, Some(ChatCommand::Rank))
            | (Reply::Explain(_), Some(ChatCommand::Why)) => self.answer(Some(reply), game),
            (Reply::Pong, Some(command)) => {
                if self.question.as_ref().is_some_and(|open| !open.answered) {
                    match command {
                        ChatCommand::Rank => self.rankless = true,
                        _ => self.explains = false,
                    }
                }
                self.close_question(game);
            }
            _ => {}
        }
    }

    /// Answers the open question with the daemon's reply; `None` if there is none.
    fn answer(&mut self, reply: Option<&Reply>, game: &ChatGame<'_>) {
        let Some(question) = self.question.as_mut().filter(|open| !open.answered) else {
            return;
        };
        question.answered = true;
        let Some(number) = question.number else {
            return;
        };
        let lines = match (question.command, reply) {
            (ChatCommand::Rank, reply) => vec![answers::rank(reply.unwrap_or(&Reply::Pong))],
            (_, Some(Reply::Explain(reasons))) => {
                answers::why(reasons, game.players, number, self.team_names)
            }
            _ => vec!["nothing has been decided yet".to_owned()],
        };
        self.tell(number, lines);
    }

    /// Ends the open question, which is answered first if the daemon has not answered it.
    fn close_question(&mut self, game: &ChatGame<'_>) {
        self.answer(None, game);
        self.question = None;
    }

    /// Handles `!balance`. Returns whether the vote has passed.
    fn cast(&mut self, number: usize, game: &ChatGame<'_>, now: u64) -> bool {
        let Some(percent) = self.settings.vote else {
            self.tell(
                number,
                vec!["players cannot vote on this server".to_owned()],
            );
            return false;
        };
        if !game.can_balance {
            self.tell(number, vec!["there is no game to balance now".to_owned()]);
            return false;
        }
        let id = game.id_of(number).unwrap_or_default();
        let own = match self.vote.cast(id, &game.voters(), percent, now) {
            Ballot::Began(count) => {
                let (agree, needed) = (count.agree, count.needed);
                self.announce(&format!(
                    "vote to balance the teams again: {agree} of {needed} agree, write !balance to agree, too"
                ));
                return false;
            }
            Ballot::Counted(count) => {
                self.announce(&format!("{} of {} agree", count.agree, count.needed));
                return false;
            }
            Ballot::Passed => {
                self.announce("the vote has passed");
                return true;
            }
            Ballot::Repeated => "you have agreed already".to_owned(),
            Ballot::TooEarly(seconds) => format!("the next vote can begin in {seconds} s"),
            Ballot::NoVoter => "only players on a team can vote".to_owned(),
        };
        self.tell(number, vec![own]);
        false
    }

    /// Ends the vote if its time is over. Returns whether it has passed.
    fn end_vote(&mut self, game: &ChatGame<'_>, now: u64) -> bool {
        let Some(percent) = self.settings.vote else {
            return false;
        };
        let Some(count) = self.vote.end_if_due(&game.voters(), percent, now) else {
            return false;
        };
        let passed = count.agree >= count.needed && game.can_balance;
        self.announce(&match passed {
            true => "the vote has passed".to_owned(),
            false => format!(
                "the vote has failed, {} of {} agreed",
                count.agree, count.needed
            ),
        });
        passed
    }

    /// Queues a line for all players. The text must be safe in a console command.
    pub(super) fn announce(&mut self, text: &str) {
        let text = plain::cut(format!("Evenkeel: {text}"));
        self.lines.push_back(ChatLine { to: None, text });
    }

    fn tell(&mut self, number: usize, lines: Vec<String>) {
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

#[cfg(test)]
mod tests;
