//! The bots that a game server is expected to add to the teams of a snapshot.

use super::{BotInGame, Snapshot};

impl Snapshot {
    /// Adds the bots that the game server is expected to add to the teams as they are now.
    pub(super) fn expect_bots(&mut self) {
        let coming = self.coming_bots();
        if let Some(chance) = &mut self.chance {
            let next = chance.next_bot;
            chance.bots.extend(coming.iter().map(|_| next));
        }
        self.bots.extend(coming);
    }

    /// The bots that the game server is expected to add to the teams as they are now; none where it
    /// does not act on bots.
    pub(super) fn coming_bots(&self) -> Vec<BotInGame> {
        let strength = self.sums();
        let missing = strength.missing_bots();
        let coming = (0u8..).zip(missing).flat_map(|(team, missing)| {
            std::iter::repeat_n(
                BotInGame {
                    name: String::new(),
                    weight: self.next_bot,
                    team,
                    points: 0.0,
                },
                missing,
            )
        });
        coming.collect()
    }
}
