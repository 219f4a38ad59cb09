//! The agent's side of the remote console: commands, questions, and whether the game server answers.

use crate::{Act, ConsoleQueue};

/// How many remote commands the game server executes in a row. It then executes one per second, and
/// drops the others unread.
const BURST: u64 = 8;
/// The time in which the game server can execute one more remote command, in milliseconds.
const REFILL: u64 = 1_000;
/// The shortest time between two lists of commands, which are all written to the same file.
const PAUSE: u64 = 1_000;
/// How long an answer may take before the question counts as unanswered.
const PATIENCE: u64 = 5_000;
/// The longest time between two questions while the game server answers.
const INTERVAL: u64 = 5_000;
/// The time between two questions while it does not.
const RETRY: u64 = 1_000;
/// How the game server answers if the password is wrong.
const WRONG_PASSWORD: &[u8] = b"Bad rconpassword";

/// What a question is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConsoleQuestion {
    /// To find out whether the game server answers.
    Alive,
    /// To load the map of a match.
    Load(i64),
    /// To read what the client with this number sends of itself. The second number distinguishes
    /// clients that have had the same client number.
    Guest(usize, u64),
}

#[derive(Debug)]
struct OpenQuestion {
    id: u64,
    question: ConsoleQuestion,
    at: u64,
}

/// The console of one game server.
#[derive(Debug)]
pub(super) struct AgentConsole {
    queue: ConsoleQueue,
    /// How many remote commands may be sent now, and since when that is so.
    tokens: u64,
    filled: u64,
    asked: Option<OpenQuestion>,
    last_id: u64,
    last_asked: Option<u64>,
    /// Whether the game server has ever answered.
    answered: bool,
    /// Since when the game server has not answered; `None` while it does.
    silent: Option<u64>,
    wrong_password: bool,
}

impl AgentConsole {
    pub(super) fn new() -> Self {
        Self {
            queue: ConsoleQueue::new(PAUSE),
            tokens: BURST,
            filled: 0,
            asked: None,
            last_id: 0,
            last_asked: None,
            answered: false,
            silent: None,
            wrong_password: false,
        }
    }

    /// Adds commands to the next list.
    pub(super) fn push(&mut self, commands: impl IntoIterator<Item = String>) {
        self.queue.push(commands);
    }

    /// Whether all commands have been sent.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Drops the commands that were not sent.
    pub(super) fn clear(&mut self) {
        self.queue.clear();
    }

    /// Whether the game server answers, as far as is known.
    pub(super) fn answers(&self) -> bool {
        self.answered && self.silent.is_none()
    }

    /// Whether the game server has ever answered.
    pub(super) fn has_answered(&self) -> bool {
        self.answered
    }

    /// For how long the game server has not answered, in milliseconds.
    pub(super) fn silent_for(&self, now: u64) -> u64 {
        self.silent.map_or(0, |since| now.saturating_sub(since))
    }

    /// The game server has ended: nothing that it was asked will be answered.
    pub(super) fn reset(&mut self, now: u64) {
        self.asked = None;
        self.queue.clear();
        self.silent.get_or_insert(now);
    }

    /// Sends the commands that wait, at most once per second.
    pub(super) fn flush(&mut self, now: u64, acts: &mut Vec<Act>) {
        if !self.queue.is_empty() && self.queue.is_free(now) && self.take_token(now) {
            self.queue.send(Vec::new(), now, acts);
        }
    }

    /// Asks the game server something by a command. Returns false if it must wait.
    pub(super) fn ask(
        &mut self,
        question: ConsoleQuestion,
        command: String,
        now: u64,
        acts: &mut Vec<Act>,
    ) -> bool {
        if self.asked.is_some() || !self.take_token(now) {
            return false;
        }
        self.last_id += 1;
        let id = self.last_id;
        self.last_asked = Some(now);
        let at = now;
        self.asked = Some(OpenQuestion { id, question, at });
        acts.push(Act::Ask { id, command });
        true
    }

    /// Asks whether the game server answers, if that was not tried for a while; gives up questions
    /// that are not answered. `alive` is the command that only asks.
    pub(super) fn watch(&mut self, alive: &str, now: u64, acts: &mut Vec<Act>) {
        if let Some(asked) = self.asked.take_if(|asked| now >= asked.at + PATIENCE) {
            self.silent.get_or_insert(asked.at);
        }
        let interval = if self.answers() { INTERVAL } else { RETRY };
        if self.last_asked.is_none_or(|at| now >= at + interval) {
            self.ask(ConsoleQuestion::Alive, alive.to_owned(), now, acts);
        }
    }

    /// Handles the answer to a question, or that there is none. Returns the question if this answers
    /// the one that is open.
    pub(super) fn answer(
        &mut self,
        id: u64,
        text: Option<&[u8]>,
        acts: &mut Vec<Act>,
    ) -> Option<ConsoleQuestion> {
        let asked = self.asked.take_if(|asked| asked.id == id)?;
        let Some(text) = text else {
            self.silent.get_or_insert(asked.at);
            return None;
        };
        let wrong = text.starts_with(WRONG_PASSWORD);
        if wrong && !self.wrong_password {
            let text = "the game server refuses the rcon password";
            acts.push(Act::Report(text.to_owned()));
        }
        self.wrong_password = wrong;
        if wrong {
            self.silent.get_or_insert(asked.at);
            return None;
        }
        (self.answered, self.silent) = (true, None);
        Some(asked.question)
    }

    fn take_token(&mut self, now: u64) -> bool {
        let fresh = now.saturating_sub(self.filled) / REFILL;
        self.tokens = self.tokens.saturating_add(fresh).min(BURST);
        self.filled = match self.tokens {
            BURST => now,
            _ => self.filled + fresh * REFILL,
        };
        let has = self.tokens > 0;
        self.tokens -= u64::from(has);
        has
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_of_commands_then_one_a_second() {
        let mut console = AgentConsole::new();
        let mut sent = |now| {
            let mut acts = Vec::new();
            console.queue = ConsoleQueue::new(PAUSE);
            console.push(["x".to_owned()]);
            console.flush(now, &mut acts);
            acts.len()
        };
        assert_eq!((0..20).map(|_| sent(500)).sum::<usize>(), 8);
        assert_eq!((0..9).map(|_| sent(1_400)).sum::<usize>(), 0);
        assert_eq!((0..9).map(|_| sent(3_500)).sum::<usize>(), 3);
    }

    #[test]
    fn a_server_that_does_not_answer_is_silent_until_it_does() {
        let mut console = AgentConsole::new();
        let mut acts = Vec::new();
        console.watch("sv_maxclients", 1_000, &mut acts);
        assert!(matches!(acts[..], [Act::Ask { id: 1, .. }]));
        assert!(!console.answers());
        assert_eq!(console.answer(1, None, &mut acts), None);
        assert_eq!(console.silent_for(4_000), 3_000);
        console.watch("sv_maxclients", 2_000, &mut acts);
        let bad = Some(&b"Bad rconpassword.\n"[..]);
        assert_eq!(console.answer(2, bad, &mut acts), None);
        assert!(matches!(&acts[2], Act::Report(text) if text.contains("password")));
        console.watch("sv_maxclients", 3_000, &mut acts);
        let good = Some(&b"\"sv_maxclients\" is:\"16^7\""[..]);
        assert_eq!(
            console.answer(3, good, &mut acts),
            Some(ConsoleQuestion::Alive)
        );
        assert_eq!(console.answer(3, good, &mut acts), None, "answered twice");
        assert!(console.answers() && console.silent_for(9_000) == 0);
        // The answer to the next question never comes.
        console.watch("sv_maxclients", 8_000, &mut acts);
        console.watch("sv_maxclients", 13_000, &mut acts);
        assert_eq!(console.silent_for(13_000), 5_000);
    }
}
