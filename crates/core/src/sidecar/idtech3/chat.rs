//! The chat of the game: which client wrote a line, and the votes that have passed.

use super::IdTech3;
use crate::{
    ingest::idtech3::grammar,
    protocol::Request,
    sidecar::{
        Act,
        chat::{ChatCommand, ChatGame, ChatPlayer},
        link::plain_ident,
        progress::GamePhase,
    },
};

/// The start of the game types of Urban Terror, whose log has the client number before the name.
const NUMBERED: &str = "q3ut";

impl IdTech3 {
    /// Handles a line of the chat. A command that several clients can have written counts for none
    /// of them.
    pub(super) fn hear(&mut self, said: &[u8], now: u64) {
        if !self.link.connected {
            return;
        }
        let game = self.game.as_ref();
        let numbered = game.is_some_and(|game| game.setup.game_type.starts_with(NUMBERED));
        let written = match numbered {
            true => numbered_command(said),
            false => self.named_command(said),
        };
        if let Some((number, command)) = written
            && let Some(slot) = self.slots.get(number)
            && slot.client.is_known()
            && !slot.is_bot()
        {
            self.chat.hear(number, command, now);
        }
    }

    /// The command in `NAME: TEXT`, and the only client of that name. A command contains no colon,
    /// so that the name is what precedes the last one.
    fn named_command(&self, said: &[u8]) -> Option<(usize, ChatCommand)> {
        let written_by = |number: usize| {
            let client = &self.slots.get(number)?.client;
            let text = said.strip_prefix(client.raw_name())?.strip_prefix(b": ")?;
            let command = ChatCommand::parse(text).filter(|_| client.is_known())?;
            Some((number, command))
        };
        let mut written = (0..self.slots.len()).filter_map(written_by);
        written.next().filter(|_| written.next().is_none())
    }

    /// All clients that the log has named.
    pub(super) fn chat_players(&self) -> Vec<ChatPlayer> {
        let slots =
            (0..self.slots.len()).filter_map(|number| Some((number, self.slots.get(number)?)));
        let known = slots.filter(|(_, slot)| slot.client.is_known());
        let player = known.map(|(number, slot)| ChatPlayer {
            number,
            id: match &slot.entry {
                Some(entry) => entry.id.clone(),
                None => plain_ident(&slot.client.identity().key.id)
                    .text()
                    .to_owned(),
            },
            name: slot.client.name(),
            team: slot.team(),
            human: !slot.is_bot(),
        });
        player.collect()
    }

    /// Lets time pass for the chat. A vote that has passed makes the fewest moves that balance the
    /// teams.
    pub(super) fn tick_chat(&mut self, now: u64, acts: &mut Vec<Act>) {
        let players = self.chat_players();
        let team_game = self.game.as_ref().filter(|game| game.setup.teams);
        let phase = team_game.map(|game| game.progress.phase());
        let game = ChatGame {
            players: &players,
            can_balance: matches!(phase, Some(GamePhase::WarmUp | GamePhase::Playing)),
        };
        if self.chat.tick(&game, now, acts) {
            self.send_real_teams(acts);
            acts.push(Act::Send(Request::Rebalance { seed: None }));
            self.voted = true;
            if self.is_lull() {
                acts.push(Act::Send(Request::Bots));
                self.lull.ask(self.joined());
            }
        }
    }
}

/// The command in `NUMBER NAME: TEXT`, and the client number.
fn numbered_command(said: &[u8]) -> Option<(usize, ChatCommand)> {
    let (number, rest) = grammar::client(said).ok()?;
    let colon = rest.windows(2).rposition(|two| two == b": ")?;
    let command = ChatCommand::parse(&rest[colon + 2..])?;
    Some((number, command))
}
