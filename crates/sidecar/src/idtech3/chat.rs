//! The chat of the game: which client wrote a line.

use super::{IdTech3, live::is_bot};
use crate::{chat::ChatCommand, follower::FollowedServer};
use evenkeel_ingest::idtech3::{clients::Client, grammar};

/// The start of the game types of Urban Terror, whose log has the client number before the name.
const NUMBERED: &str = "q3ut";

impl IdTech3 {
    /// Handles a line of the chat. A command that several clients can have written counts for none
    /// of them.
    pub(super) fn hear(&self, said: &[u8], server: &mut FollowedServer) {
        let setup = self.log.setup();
        let numbered = setup.is_some_and(|setup| setup.game_type.starts_with(NUMBERED));
        let written = match numbered {
            true => numbered_command(said),
            false => self.named_command(said),
        };
        if let Some((number, command)) = written
            && let Some(client) = self.log.client(number)
            && client.is_known()
            && !is_bot(client)
        {
            server.hear(number, command);
        }
    }

    /// The command in `NAME: TEXT`, and the only client of that name. A command contains no colon,
    /// so that the name is what precedes the last one.
    fn named_command(&self, said: &[u8]) -> Option<(usize, ChatCommand)> {
        let written_by = |(number, client): (usize, &Client)| {
            let text = said.strip_prefix(client.raw_name())?.strip_prefix(b": ")?;
            let command = ChatCommand::parse(text).filter(|_| client.is_known())?;
            Some((number, command))
        };
        let mut written = self.log.clients().filter_map(written_by);
        written.next().filter(|_| written.next().is_none())
    }
}

/// The command in `NUMBER NAME: TEXT`, and the client number.
fn numbered_command(said: &[u8]) -> Option<(usize, ChatCommand)> {
    let (number, rest) = grammar::client(said).ok()?;
    let colon = rest.windows(2).rposition(|two| two == b": ")?;
    let command = ChatCommand::parse(&rest[colon + 2..])?;
    Some((number, command))
}
