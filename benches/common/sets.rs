//! The recorded histories whose lobbies are judged.

use std::path::Path;

use evenkeel::logs::{LogError, read_matches};

use super::lobbies::History;

/// A recorded history: its file in `../shared/data/matches`, whether the first team is a side, and how
/// many lobbies are judged.
pub struct Set {
    pub name: &'static str,
    pub sides: bool,
    pub lobbies: usize,
}

/// All of them.
pub const SETS: [Set; 4] = [
    Set::new("tribes_pug", false, 360),
    Set::new("tagpro", false, 150),
    Set::new("ns2_gather", true, 60),
    Set::new("beach_points", false, 300),
];

impl Set {
    const fn new(name: &'static str, sides: bool, lobbies: usize) -> Self {
        Self {
            name,
            sides,
            lobbies,
        }
    }

    /// Reads the history.
    ///
    /// # Errors
    /// Fails if its file is missing or not readable.
    pub fn read(&self) -> Result<History, LogError> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/matches");
        let file = folder.join(self.name).with_extension("jsonl");
        Ok(History::new(read_matches(&file, &mut |_| ())?, self.sides))
    }
}
