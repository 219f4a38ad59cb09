//! Restricted queues: what hard rules ask of each player alone.

use super::{Queue, Ticket, TicketError};

impl Queue {
    /// Whether a hard rule asks something of each player alone, so that [`admit`](Self::admit) may refuse
    /// a ticket.
    pub fn is_restricted(&self) -> bool {
        let mut rules = self.rules().iter();
        rules.any(|rule| rule.hard && rule.rule.is_about_each_player())
    }

    /// Checks that each player of a ticket can be in a match of this queue, whoever else plays.
    ///
    /// # Errors
    /// Returns the first player whom a hard rule keeps out, and what that player lacks.
    pub fn admit(&self, ticket: &Ticket) -> Result<(), TicketError> {
        for player in &ticket.players {
            for rule in self.rules().iter().filter(|rule| rule.hard) {
                if let Some(why) = rule.rule.ineligible_because(self.columns(), player) {
                    return Err(TicketError::Barred {
                        player: player.id.clone(),
                        rule: rule.name.clone(),
                        why,
                    });
                }
            }
        }
        Ok(())
    }
}
