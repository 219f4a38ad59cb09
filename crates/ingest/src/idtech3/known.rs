//! Which game an `InitGame:` line is of.
//!
//! Many games have the engine of Quake III, and write logs of the same form whose words mean other things:
//! `red:` and `blue:` are experience in Enemy Territory. So only games of which it is known what their logs
//! mean are read, and no other is guessed.

use crate::item::shown;

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
    pub fn unsupported(&self) -> Option<String> {
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
