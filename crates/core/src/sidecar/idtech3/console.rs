//! Console commands on their way to the game server.

use crate::sidecar::{Act, chat::ChatLine};

/// The shortest time between two lists of commands, in milliseconds. A game server executes about
/// one remote command per second. All lists are written to the same file, so a list that is sent too
/// early replaces one that the game server has not read yet.
const PAUSE: u64 = 1_000;

/// The commands that the game server has not been sent yet.
#[derive(Debug, Default)]
pub(super) struct ConsoleQueue {
    commands: Vec<String>,
    /// When the next list may be sent.
    next: u64,
}

impl ConsoleQueue {
    pub(super) fn push(&mut self, commands: impl IntoIterator<Item = String>) {
        self.commands.extend(commands);
    }

    /// Whether commands may be sent now.
    pub(super) fn is_free(&self, now: u64) -> bool {
        now >= self.next
    }

    /// Sends the commands that wait and these lines of the chat, if there are any. The lines come first,
    /// because some commands make the game server wait for a few frames.
    pub(super) fn send(&mut self, lines: &[ChatLine], now: u64, acts: &mut Vec<Act>) {
        let mut commands: Vec<String> = lines.iter().map(command).collect();
        commands.append(&mut self.commands);
        if !commands.is_empty() {
            self.next = now.saturating_add(PAUSE);
            acts.push(Act::Console(commands));
        }
    }
}

/// The command that writes a line into the game.
fn command(line: &ChatLine) -> String {
    match line.to {
        Some(number) => format!("tell {number} {}", line.text),
        None => format!("say {}", line.text),
    }
}
