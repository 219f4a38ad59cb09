//! What weights, divisions and chances become of stored matches.

mod boards;
mod chances;
mod divisions;
mod farmers;
mod first_points;
mod late_matches;
mod level;
mod openarena;
mod parties;
mod recounts;
mod replays;
mod roles_seasons;
mod several;
mod shared_weights;
mod start_weights;
mod suspects;
mod with_score;
