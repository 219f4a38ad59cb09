//! Console commands on their way to the game server.

use super::Act;

/// Whether a name of a map or a mode is safe in a command: 1 to 64 letters, digits, `_`, `-` and `.`, the
/// first a letter or digit.
pub(super) fn is_plain_name(name: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"_-.".contains(&b);
    let first = name.bytes().next();
    let starts = first.is_some_and(|b| b.is_ascii_alphanumeric());
    starts && name.len() <= 64 && name.bytes().all(plain)
}

/// The commands that the game server has not been sent yet. A list that is sent too early can replace one that the
/// game server has not read yet.
#[derive(Debug)]
pub(super) struct ConsoleQueue {
    commands: Vec<String>,
    /// The shortest time between two lists of commands, in milliseconds.
    pause: u64,
    /// When the next list may be sent.
    next: u64,
}

impl ConsoleQueue {
    pub(super) fn new(pause: u64) -> Self {
        Self {
            commands: Vec::new(),
            pause,
            next: 0,
        }
    }

    pub(super) fn push(&mut self, commands: impl IntoIterator<Item = String>) {
        self.commands.extend(commands);
    }

    /// Whether all commands have been sent.
    pub(super) fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Drops the commands that were not sent.
    pub(super) fn clear(&mut self) {
        self.commands.clear();
    }

    /// Whether commands may be sent now.
    pub(super) fn is_free(&self, now: u64) -> bool {
        now >= self.next
    }

    /// Sends these lines of the chat and the commands that wait, if there are any. The lines come first, because some
    /// commands make the game server wait for a few frames.
    pub(super) fn send(&mut self, lines: Vec<String>, now: u64, acts: &mut Vec<Act>) {
        let mut commands = lines;
        commands.append(&mut self.commands);
        if !commands.is_empty() {
            self.next = now.saturating_add(self.pause);
            acts.push(Act::Console(commands));
        }
    }
}
