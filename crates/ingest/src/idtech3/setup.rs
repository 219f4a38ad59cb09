//! The settings of a game, from its `InitGame:` line.

use std::collections::BTreeSet;

use super::{grammar::pairs, known::GameNames};
use crate::text::{atoi, date_time, name, real};
use evenkeel_model::Timestamp;

/// Gameplay settings, with their defaults. A setting with another value becomes a mutator, so that
/// the game has another ruleset; a game without the setting counts as having the default. Votes,
/// limits, downloads, awards, videos and network settings are not among them, because they do not
/// change how players compare.
const VARIANTS: [(&str, f64); 21] = [
    // Quake III Arena and all games derived from it.
    ("dmflags", 0.0),
    ("g_gravity", 800.0),
    ("g_speed", 320.0),
    ("g_knockback", 1_000.0),
    ("g_quadfactor", 3.0),
    ("g_weaponrespawn", 5.0),
    // OpenArena.
    ("elimflags", 0.0),
    ("g_instantgib", 0.0),
    ("g_rockets", 0.0),
    ("g_lms_mode", 0.0),
    ("g_vampire", 0.0),
    ("g_regen", 0.0),
    ("g_runes", 0.0),
    ("g_catchup", 0.0),
    ("g_elimination_allgametypes", 0.0),
    ("elimination_selfdamage", 0.0),
    ("elimination_ctf_oneway", 0.0),
    // Urban Terror: which weapons are forbidden, and its own kinds of play.
    ("g_gear", 0.0),
    ("g_instagib", 0.0),
    ("g_hardcore", 0.0),
    // OSP and Challenge ProMode.
    ("server_promode", 0.0),
];

/// The variable of the game server that names the match of a game.
pub const MATCH_VARIABLE: &str = "evenkeel_match";

/// The game's name if the line has none: that of the original Quake III Arena.
const DEFAULT_GAME: &str = "baseq3";

/// The settings of a game that matter to its record.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GameSetup {
    /// The map, as the server names it.
    pub map: String,
    /// `<gamename>.<kind of play>`, for example `baseoa.ctf`.
    pub game_type: String,
    /// Sorted, without duplicates.
    pub mutators: Vec<String>,
    /// Whether it is a team game.
    pub teams: bool,
    /// Whether it is played in rounds, each of which gains its winner a point.
    pub rounds: bool,
    /// Whether teams score by killing, as in team deathmatch.
    pub(crate) scored_by_kills: bool,
    /// Whether the teams change sides at half-time (`g_swaproles`), and players keep their points.
    pub(super) swaps: bool,
    /// What the game is called, if its logs are not understood.
    pub unsupported: Option<String>,
    /// When the line was written, if it has a date.
    pub date: Option<Timestamp>,
    /// The match of a queue that the game is, on a server that hosts matches.
    pub match_id: Option<i64>,
}

impl GameSetup {
    /// Reads the settings of an `InitGame:` or `InitRound:` line, `\key\value…`.
    pub(crate) fn read(info: &[u8]) -> Self {
        let (mut map, mut game, mut mode, mut date) = (String::new(), String::new(), 0, None);
        let mut mutators = BTreeSet::new();
        let (mut swaps, mut names, mut match_id) = (false, GameNames::default(), None);
        for (key, value) in pairs(info) {
            names.note(key, value);
            match key {
                b"mapname" => map = name(value),
                b"gamename" => game = name(value),
                b"g_swaproles" => swaps = atoi(value) != 0,
                b"g_gametype" => mode = atoi(value),
                b"g_timestamp" => date = date_time(value),
                _ if key == MATCH_VARIABLE.as_bytes() => {
                    let id = std::str::from_utf8(value).ok();
                    match_id = id.and_then(|id| id.parse().ok());
                }
                _ => mutators.extend(mutator(key, value)),
            }
        }
        if game.is_empty() {
            DEFAULT_GAME.clone_into(&mut game);
        }
        let urban_terror = game.starts_with("q3ut") || game.starts_with("q3urt");
        let kind = GameTypeInfo::of(mode, urban_terror, game == "baseoa");
        Self {
            map,
            game_type: format!("{game}.{}", kind.name),
            mutators: mutators.into_iter().collect(),
            teams: kind.teams,
            rounds: kind.rounds,
            scored_by_kills: mode == 3,
            swaps: swaps && urban_terror,
            unsupported: names.unsupported(),
            date,
            match_id,
        }
    }
}

/// What a value of `g_gametype` stands for.
struct GameTypeInfo {
    name: String,
    teams: bool,
    rounds: bool,
}

impl GameTypeInfo {
    fn of(mode: i64, urban_terror: bool, open_arena: bool) -> Self {
        let name = match (mode, urban_terror) {
            (0, _) => "ffa",
            (1, false) => "duel",
            (3, _) => "tdm",
            (4, false) | (7, true) => "ctf",
            // Urban Terror uses some numbers for other game types, and has more numbers.
            (1, true) => "lms",
            (4, true) => "ts",
            (5, true) => "ftl",
            (6, true) => "cah",
            (8, true) => "bomb",
            (9, true) => "jump",
            (10, true) => "freeze",
            (11, true) => "gungame",
            _ => "",
        };
        let name = match name {
            "" => format!("g{mode}"),
            name => name.to_owned(),
        };
        // 2 is Quake III's single player game; in OpenArena 10 is last man standing.
        let alone = (0..=2).contains(&mode)
            || (mode == 10 && open_arena)
            || (urban_terror && matches!(mode, 9 | 11));
        Self {
            name,
            teams: !alone,
            rounds: urban_terror && matches!(mode, 4 | 5 | 8),
        }
    }
}

/// The mutator for a setting that does not have its default: `name` if the value is 1, else
/// `name=value`.
fn mutator(key: &[u8], value: &[u8]) -> Option<String> {
    let same = |known: &str| known.as_bytes().eq_ignore_ascii_case(key);
    let (key, default) = VARIANTS.iter().find(|(known, _)| same(known))?;
    let value = name(value);
    let set = if value.is_empty() {
        *default
    } else {
        // Only lists of letters (Urban Terror's g_gear) are not numbers, and their default is empty.
        real(value.as_bytes()).unwrap_or(f64::INFINITY)
    };
    match set {
        same if same == *default => None,
        1.0 => Some((*key).to_owned()),
        _ => Some(format!("{key}={value}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds() {
        let kind = |info: &str| {
            let setup = GameSetup::read(info.as_bytes());
            (setup.game_type, setup.teams, setup.mutators.join(" "))
        };
        let expected = |name: &str, teams, mutators: &str| (name.into(), teams, mutators.into());
        assert_eq!(
            kind("\\g_gametype\\4\\gamename\\baseoa\\g_instantgib\\1\\dmflags\\0"),
            expected("baseoa.ctf", true, "g_instantgib")
        );
        assert_eq!(kind("\\g_gametype\\= 0"), expected("baseq3.ffa", false, ""));
        assert_eq!(
            kind("\\g_gametype\\8\\gamename\\q3ut4\\g_gear\\FGH\\g_gravity\\400\\g_speed\\320.0"),
            expected("q3ut4.bomb", true, "g_gear=FGH g_gravity=400")
        );
        assert_eq!(
            kind("\\dmflags\\8\\DMFLAGS\\8\\g_rockets\\\\g_lms_mode\\2"),
            expected("baseq3.ffa", false, "dmflags=8 g_lms_mode=2")
        );
        assert_eq!(kind(""), expected("baseq3.ffa", false, ""));
        assert_eq!(kind("\\g_gametype\\8"), expected("baseq3.g8", true, ""));
        assert_eq!(
            kind("\\g_gametype\\7\\gamename\\q3urt42"),
            expected("q3urt42.ctf", true, "")
        );
        assert_eq!(
            kind("\\g_gametype\\9\\gamename\\q3urt42"),
            expected("q3urt42.jump", false, "")
        );
    }

    #[test]
    fn the_date() {
        let setup = GameSetup::read(b"\\g_timestamp\\2026-11-20 14:54:02");
        assert_eq!(
            setup.date.map(|d| d.to_string()).as_deref(),
            Some("2026-11-20T14:54:02Z")
        );
        assert_eq!(GameSetup::read(b"\\g_timestamp\\soon").date, None);
    }
}
