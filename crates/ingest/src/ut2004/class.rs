//! What the class of a game says about it.

use evenkeel_model::MatchRecorder;

/// The recorder for a game of this class: in Assault the teams may change sides between rounds.
pub(super) fn new_recorder(class: &str) -> MatchRecorder {
    MatchRecorder::with_sides_if(class.to_lowercase().contains("asgameinfo"))
}

/// Whether a class of game is a team game. For known classes, the name decides; for others, whether
/// the log mentions teams.
pub(super) fn is_team_game(class: &str, has_teams: bool) -> bool {
    let class = class.to_lowercase();
    let named = |words: &[&str]| words.iter().any(|word| class.contains(word));
    if named(&["xdeathmatch", "xlastmanstanding", "xmutantgame", "invasion"]) {
        return false;
    }
    let known = [
        "xteamgame",
        "ctf",
        "bombingrun",
        "doubledom",
        "onsonslaught",
        "asgameinfo",
    ];
    has_teams || named(&known)
}
