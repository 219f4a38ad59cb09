//! Which game an `InitGame:` line is of, and the settings of that game.
//!
//! Many games have the engine of Quake III, and write logs of the same form whose words mean other things:
//! `red:` and `blue:` are experience in Enemy Territory. So only games of which it is known what their logs
//! mean are read, and no other is guessed.

use std::collections::BTreeSet;

use evenkeel_model::Timestamp;

use super::grammar::pairs;
use crate::{
    format::shown,
    text::{atoi, date_time, name, real},
};

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

/// The `gamename`s of the games that are read; `*` stands for any end.
const READ: [&str; 8] = [
    "baseq3",
    "missionpack",
    "baseoa",
    "q3ut*",
    "q3urt*",
    "osp",
    "cpma",
    "excessiveplus*",
];

/// The versions of the engine with which those games run; `*` stands for any end.
const ENGINES: [&str; 7] = [
    "q3 *",
    "ioq3*",
    "ioquake3*",
    "quake3e*",
    "cnq3*",
    "openarena*",
    "ioq3+oa*",
];

/// Games that are not read, and what they are called in the settings that name a game or its version.
const NOT_READ: [(&str, &[&str]); 15] = [
    (
        "Enemy Territory",
        &[
            "et",
            "et *",
            "etmain",
            "etpro*",
            "etpub*",
            "etjump*",
            "jaymod*",
            "nitmod*",
            "noquarter*",
            "silent",
            "legacy",
            "wolfensteinet*",
        ],
    ),
    (
        "Return to Castle Wolfenstein",
        &["wolf *", "iortcw*", "rtcw*", "wolfmp*", "wolfensteinmp*"],
    ),
    ("Tremulous", &["tremulous*", "base", "gpp", "tremfusion*"]),
    ("Unvanquished", &["unvanquished*"]),
    (
        "Call of Duty",
        &[
            "call of duty*",
            "cod*",
            "iw3*",
            "iw4*",
            "iw5*",
            "t4mp*",
            "t5mp*",
            "pt6mp*",
            "t6mp*",
        ],
    ),
    ("Jedi Academy", &["basejka*", "japlus*", "jamp*", "openjk*"]),
    ("Jedi Outcast", &["basejk", "jk2mp*", "jk2mv*"]),
    ("Soldier of Fortune II", &["sof2*"]),
    (
        "Elite Force",
        &["baseef*", "st:v hm*", "ioef*", "eliteforce*"],
    ),
    ("World of Padman", &["wop*"]),
    ("Smokin' Guns", &["smokin*"]),
    ("Medal of Honor", &["medal of honor*", "mohaa*"]),
    ("Quake Live", &["quakelive*", "quake live*", "baseqz*"]),
    ("Q3Rally", &["q3rally*", "baseq3r*"]),
    ("Turtle Arena", &["turtlearena*", "turtle arena*"]),
];

/// What the settings of a game say of which game it is.
#[derive(Default)]
pub(super) struct GameNames<'a> {
    /// `gamename`.
    name: &'a [u8],
    /// `version`.
    version: &'a [u8],
    /// The game of [`NOT_READ`] that a setting names.
    not_read: Option<&'static str>,
    /// Whether `g_gametype` is a word, as only Call of Duty and Soldier of Fortune II have it.
    worded: bool,
}

impl<'a> GameNames<'a> {
    /// Takes over a setting.
    pub(super) fn note(&mut self, key: &[u8], value: &'a [u8]) {
        match key {
            b"gamename" => self.name = value,
            b"version" => self.version = value,
            b"com_gamename" | b"shortversion" | b"gameversion" => {}
            b"g_gametype" => {
                self.worded = value.first().is_some_and(u8::is_ascii_alphabetic);
                return;
            }
            _ => return,
        }
        let named = |(_, names): &&(&str, &[&str])| names.iter().any(|name| is(name, value));
        let found = NOT_READ.iter().find(named).map(|(game, _)| *game);
        self.not_read = self.not_read.or(found);
    }

    /// What the game is called, if it is not read.
    pub(super) fn unsupported(&self) -> Option<String> {
        let quoted = |value: &[u8]| Some(format!("the game \"{}\"", shown(value)));
        let known = |names: &[&str], value| names.iter().any(|name| is(name, value));
        match self.not_read {
            Some(game) => Some(game.to_owned()),
            None if self.worded => Some("Call of Duty".to_owned()),
            None if !self.name.is_empty() && !known(&READ, self.name) => quoted(self.name),
            // The game's name is missing, which id's own game always writes.
            None if self.name.is_empty() && !self.version.is_empty() => match self.version {
                version if known(&ENGINES, version) => None,
                version => quoted(version),
            },
            None => None,
        }
    }
}

/// Whether a value is this name, in capitals or not; after `*` in the name, anything may follow.
fn is(name: &str, value: &[u8]) -> bool {
    let value = value.trim_ascii();
    match name.strip_suffix('*') {
        Some(start) => value
            .get(..start.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(start.as_bytes())),
        None => value.eq_ignore_ascii_case(name.as_bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::idtech3::grammar::pairs;

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

    fn unsupported(info: &str) -> Option<String> {
        let mut names = GameNames::default();
        for (key, value) in pairs(info.as_bytes()) {
            names.note(key, value);
        }
        names.unsupported()
    }

    #[test]
    fn games_that_are_read() {
        for info in [
            "",
            r"\gamename\baseq3\version\Q3 1.32c linux-i386 May  8 2006",
            r"\com_gamename\Quake3Arena\gamename\baseoa\version\ioq3 1.36",
            r"\gamename\q3ut4\version\ioq3 1.35urt linux-i386 Dec 20 2007",
            r"\gamename\q3urt42\version\ioQ3 1.35 urt 4.2.023 win-x86",
            r"\gamename\osp\gameversion\OSP v1.03a\g_gametype\4",
            r"\gamename\cpma\g_gametype\= 0",
            r"\version\ioq3 1.36",
        ] {
            assert_eq!(unsupported(info), None, "{info}");
        }
    }

    #[test]
    fn no_other_game_is_guessed() {
        for (info, game) in [
            (
                r"\gamename\etmain\version\ET 2.60b linux-i386",
                "Enemy Territory",
            ),
            (
                r"\version\ET Legacy v2.76\gamename\legacy",
                "Enemy Territory",
            ),
            // A mod of the same name exists for both games.
            (
                r"\gamename\osp\version\Wolf 1.41 win-x86",
                "Return to Castle Wolfenstein",
            ),
            (
                r"\gamename\main\version\Wolf 1.41b",
                "Return to Castle Wolfenstein",
            ),
            (r"\gamename\base\g_gametype\0", "Tremulous"),
            (
                r"\version\tremulous 1.1.0 linux-i386\gamename\base",
                "Tremulous",
            ),
            (r"\gamename\PT6MP\g_gametype\tdm", "Call of Duty"),
            (
                r"\gamename\Call of Duty 4: Modern Warfare\g_gametype\war",
                "Call of Duty",
            ),
            (r"\gamename\main\g_gametype\dm", "Call of Duty"),
            (r"\gamename\sof2mp\g_gametype\inf", "Soldier of Fortune II"),
            (
                r"\gamename\basejka\version\JAmp: v1.0.1.0\g_gametype\6",
                "Jedi Academy",
            ),
            (r"\gamename\baseEF", "Elite Force"),
            (r"\gamename\wop\version\WoP 1.5", "World of Padman"),
            (r"\gamename\somemod\version\Q3 1.32", "the game \"somemod\""),
            (r"\version\FooEngine 1.0", "the game \"FooEngine 1.0\""),
        ] {
            assert_eq!(unsupported(info).as_deref(), Some(game), "{info}");
        }
    }
}
