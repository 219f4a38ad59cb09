//! Names of players: what is stripped from them, and what others see of them.
//!
//! Stripped are the codes by which games colour names, before people read them; and clan tags, before a name is somebody's
//! identity.
//!
//! An identity is shown only where it is a name: elsewhere, whoever knows it may be able to pretend to be that player.
//!
//! A name is stated, or the identity is one, or there is none. Where identities are names, the recorder says so by stating
//! the identity as the name ([`name_of_id`]). A name without a character is none.

use regex::{Regex, RegexBuilder};
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::{
    Kind, PlayerKey,
    ident::{is_default_name, is_reserved},
    steam,
};

/// The most patterns, and the longest one in bytes: communities have a few, and each name is searched for all of them.
const MOST: usize = 32;
const LONGEST: usize = 256;
/// The most bytes of one compiled pattern; `[\w ]{2,5}` needs a tenth of it.
const COMPILED: usize = 1 << 19;
/// How deep groups of a pattern may be nested.
const DEEPEST: u32 = 16;

/// The identities of humans who are known by a name that looks like an id begin with this.
const NAMED: &str = "name:";

/// Patterns of what people wear in their names, such as the tags of their clans. They are regular expressions, whose time
/// grows with the length of a name and nothing else.
///
/// `[ABC] bob` and `bob` are then one player where people are known by their names. Ids stay as they are, and so does a
/// name of which nothing would be left but what everybody may be called.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct ClanTags(Vec<Regex>);

/// Why a list of patterns is refused.
#[derive(Debug, thiserror::Error)]
pub enum ClanTagError {
    /// The list is too long.
    #[error("must have at most {MOST} patterns")]
    TooMany,
    /// A pattern is too long.
    #[error("must have patterns of at most {LONGEST} bytes")]
    TooLong,
    /// A pattern matches where there is nothing, so it removes nothing or is a mistake.
    #[error("has a bad pattern: {0:?} matches an empty text")]
    MatchesNothing(String),
    /// A pattern is no regular expression, or too large a one.
    #[error("has a bad pattern: {0:?}: {1}")]
    Bad(String, String),
}

impl TryFrom<Vec<String>> for ClanTags {
    type Error = ClanTagError;

    fn try_from(patterns: Vec<String>) -> Result<Self, ClanTagError> {
        if patterns.len() > MOST {
            return Err(ClanTagError::TooMany);
        }
        let compiled: Result<_, ClanTagError> = patterns.into_iter().map(compile).collect();
        Ok(Self(compiled?))
    }
}

fn compile(pattern: String) -> Result<Regex, ClanTagError> {
    if pattern.len() > LONGEST {
        return Err(ClanTagError::TooLong);
    }
    let compiled = RegexBuilder::new(&pattern)
        .size_limit(COMPILED)
        .nest_limit(DEEPEST)
        .build();
    match compiled {
        Ok(regex) if regex.is_match("") => Err(ClanTagError::MatchesNothing(pattern)),
        Ok(regex) => Ok(regex),
        Err(error) => {
            let error = error.to_string();
            let why = error.lines().last().unwrap_or_default();
            let why = why.trim().trim_start_matches("error: ").to_owned();
            Err(ClanTagError::Bad(pattern, why))
        }
    }
}

impl From<ClanTags> for Vec<String> {
    fn from(tags: ClanTags) -> Self {
        tags.0.iter().map(|one| one.as_str().to_owned()).collect()
    }
}

impl PartialEq for ClanTags {
    fn eq(&self, other: &Self) -> bool {
        let patterns = self.0.iter().map(Regex::as_str);
        patterns.eq(other.0.iter().map(Regex::as_str))
    }
}

impl ClanTags {
    /// Whether there are none: every name is an identity as it is.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The identity without tags, if this human is known by a name that has some.
    pub fn without(&self, kind: Kind, id: &str) -> Option<PlayerKey> {
        if self.is_empty() || kind != Kind::Human || is_guid(id) || is_reserved(id).is_some() {
            return None;
        }
        let name = id.strip_prefix(NAMED).unwrap_or(id);
        let bare = self.bare(name)?;
        let is_anybody = bare.is_empty() || is_default_name(&bare);
        (!is_anybody).then(|| PlayerKey {
            kind,
            id: by_name(&bare),
        })
    }

    /// A name from which everything that a pattern matches is taken, until none finds anything; `None` if none does.
    fn bare(&self, name: &str) -> Option<String> {
        let mut bare = name.to_owned();
        loop {
            let mut shorter = self.0.iter().filter_map(|one| {
                let rest = one.replace_all(&bare, "");
                let rest = rest.trim();
                (rest.len() < bare.len()).then(|| rest.to_owned())
            });
            // Each round leaves a shorter name, until no pattern finds anything.
            match shorter.next() {
                Some(rest) => bare = rest,
                None => break,
            }
        }
        (bare != name).then_some(bare)
    }
}

/// The identity of a human who has no identity but the name. A name of 16 or more hexadecimal digits, a Steam id and what
/// only [nobody](crate::ident::Nobody) is called get a prefix, so that a player cannot use another player's id as a name.
pub fn by_name(name: &str) -> String {
    let digits = name.len() >= 16 && name.bytes().all(|b| b.is_ascii_hexdigit());
    match digits || steam::account(name).is_some() || is_reserved(name).is_some() {
        true => format!("{NAMED}{name}"),
        false => name.to_owned(),
    }
}

/// Whether an identity looks like the id that a game has given, and not like a name: a Steam id in any form, a guid or a
/// hash in hexadecimal digits, or a long key in base 64.
pub fn is_guid(id: &str) -> bool {
    let steam = id.starts_with("STEAM_") || id.starts_with("[U:") || steam::account(id).is_some();
    let all = |least: usize, more: &str, digit: fn(&char) -> bool| {
        id.len() >= least && id.chars().all(|c| digit(&c) || more.contains(c))
    };
    steam
        || all(16, "-_:[]", char::is_ascii_hexdigit)
        || all(40, "+/=-_", char::is_ascii_alphanumeric)
}

/// The longest name that is shown, in characters.
const SHOWN: usize = 40;
/// What is shown of a name without visible characters.
const NAMELESS: &str = "(no name)";

/// A colour that a code in a name selects, reduced to the eight colours that Quake III has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameColour {
    /// `^0` in Quake III.
    Black,
    /// `^1` in Quake III.
    Red,
    /// `^2` in Quake III.
    Green,
    /// `^3` in Quake III.
    Yellow,
    /// `^4` in Quake III.
    Blue,
    /// `^5` in Quake III.
    Cyan,
    /// `^6` in Quake III.
    Magenta,
    /// `^7` in Quake III.
    White,
}

impl NameColour {
    const ALL: [Self; 8] = [
        Self::Black,
        Self::Red,
        Self::Green,
        Self::Yellow,
        Self::Blue,
        Self::Cyan,
        Self::Magenta,
        Self::White,
    ];

    /// The colour of a digit, as in `^1`.
    fn of_digit(digit: u32) -> Self {
        Self::ALL[(digit & 7) as usize]
    }

    /// The closest colour of three parts, each 0 to `most`.
    fn of_parts([red, green, blue]: [u32; 3], most: u32) -> Self {
        let bit = |part: u32, bit: usize| if 2 * part > most { bit } else { 0 };
        // The bits in the order of the eight colours: red 1, green 2, and blue 4; yellow is 3, cyan 6.
        let bits = bit(red, 1) | bit(green, 2) | bit(blue, 4);
        [
            Self::Black,
            Self::Red,
            Self::Green,
            Self::Yellow,
            Self::Blue,
            Self::Magenta,
            Self::Cyan,
            Self::White,
        ][bits]
    }
}

/// Splits a name into runs of one colour, `None` before the first code. Understands `^0` to `^9` (id Tech
/// 3, Xonotic), `^xRGB` (Xonotic), and the escape character with three bytes (Unreal). A letter with its accent is
/// one character, and joined emoji stay joined. Other characters that cannot be seen, or that change the text around
/// them, are left out, and a long name is cut at 40 characters. The result has at least one visible character.
pub fn coloured_name(name: &str) -> Vec<(Option<NameColour>, String)> {
    let name: String = name.nfc().collect();
    let mut runs: Vec<(Option<NameColour>, String)> = vec![(None, String::new())];
    let (mut rest, mut shown, mut before) = (name.as_str(), 0, ' ');
    while let Some(c) = rest.chars().next() {
        if let Some((colour, length)) = code(rest) {
            rest = &rest[length..];
            runs.push((Some(colour), String::new()));
            continue;
        }
        rest = &rest[c.len_utf8()..];
        let joins = c == JOINER && is_picture(before) && rest.starts_with(is_picture);
        if is_hidden(c) && !joins {
            continue;
        }
        before = c;
        let Some((_, text)) = runs.last_mut() else {
            break;
        };
        if shown == SHOWN {
            text.push('…');
            break;
        }
        text.push(c);
        shown += 1;
    }
    runs.retain(|(_, text)| !text.is_empty());
    if runs.iter().all(|(_, text)| text.trim().is_empty()) {
        return vec![(None, NAMELESS.to_owned())];
    }
    runs
}

/// Joins the emoji on both sides of it to one.
const JOINER: char = '\u{200d}';

/// Whether a character is an emoji, the colour of a skin, or the mark that shows a sign as an emoji.
fn is_picture(c: char) -> bool {
    matches!(c, '\u{1f000}'..='\u{1faff}' | '\u{2190}'..='\u{21ff}' | '\u{2300}'..='\u{23ff}' | '\u{2600}'..='\u{27bf}' | '\u{fe0f}')
}

/// A text as searches compare it: without capitals and accents, so that `zoe` finds `Zoë`.
pub fn folded(text: &str) -> String {
    let letters = text.nfkd().filter(|c| !is_combining_mark(*c));
    letters.collect::<String>().to_lowercase()
}

/// A name without its colours, as [`coloured_name`] shows it.
pub fn plain_name(name: &str) -> String {
    let runs = coloured_name(name);
    runs.into_iter().map(|(_, text)| text).collect()
}

/// The colour of the code at the start of a text, and the length of the code in bytes.
fn code(text: &str) -> Option<(NameColour, usize)> {
    let mut chars = text.chars();
    match chars.next()? {
        '^' => {
            let next = chars.next()?;
            if let Some(digit) = next.to_digit(10) {
                return Some((NameColour::of_digit(digit), 2));
            }
            let mut part = || chars.next()?.to_digit(16);
            let parts = (next == 'x').then(|| Some([part()?, part()?, part()?]))??;
            Some((NameColour::of_parts(parts, 0xf), 5))
        }
        '\u{1b}' => {
            let mut length = 1;
            let mut part = || {
                let c = chars.next()?;
                length += c.len_utf8();
                Some(u32::from(c).min(255))
            };
            let parts = [part()?, part()?, part()?];
            Some((NameColour::of_parts(parts, 255), length))
        }
        _ => None,
    }
}

/// Whether a character can control a terminal, or turns the text around it.
pub fn is_disruptive(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// JSON in which such characters of texts are written by their numbers, so that it can be printed on a terminal; it says
/// the same.
pub fn escaped_json(json: String) -> String {
    // Those below U+007F stand between values only: in a text, JSON itself has them by their numbers.
    let is_raw = |c: char| c >= '\u{7f}' && is_disruptive(c);
    if !json.contains(is_raw) {
        return json;
    }
    let mut shown = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        match is_raw(c) {
            true => shown.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => shown.push(c),
        }
    }
    shown
}

/// Whether a character cannot be seen, or changes the direction of the text around it.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{1d173}'..='\u{1d17a}' | '\u{fffe}' | '\u{ffff}'
            | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}' | '\u{300}'..='\u{34e}' | '\u{350}'..='\u{36f}')
}

/// The fewest digits of an account's number.
const ACCOUNT: usize = 15;
/// The fewest digits of a handle that stand for a player without a name.
pub const NAMELESS_DIGITS: usize = 4;

/// Whether an identity looks like an account, and not like a name: a number of 15 or more digits, also after `d-`, a Steam
/// id in any form, 16 or more hexadecimal digits, or a long key in base 64.
pub fn looks_like_account(id: &str) -> bool {
    let number = id.strip_prefix("d-").unwrap_or(id);
    match number.bytes().all(|b| b.is_ascii_digit()) {
        true => number.len() >= ACCOUNT,
        false => is_guid(id),
    }
}

/// The name of a human of whom none was stated, where identities are names: the identity, and none if it looks like an
/// account.
pub fn name_of_id(id: &str) -> &str {
    if looks_like_account(id) { "" } else { id }
}

/// The name that others may see; `None` if none was stated, or only an account in the place of one.
pub fn own_name(key: &PlayerKey, stated: String) -> Option<String> {
    let repeats = || steam::canonical(&stated) == steam::canonical(&key.id);
    let is_secret = key.kind == Kind::Human && looks_like_account(&stated) && repeats();
    (!stated.is_empty() && !is_secret).then_some(stated)
}

/// What a player without a name is called: `player` with the first digits of the handle, at least four, and as many as
/// no other of these handles begins with.
pub fn nameless<'a>(handle: &str, others: impl IntoIterator<Item = &'a str>) -> String {
    let common = |other: &str| {
        let pairs = handle.bytes().zip(other.bytes());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let others = others.into_iter().filter(|other| *other != handle);
    let taken = others.map(common).max().unwrap_or_default();
    let digits = handle
        .get(..NAMELESS_DIGITS.max(taken + 1))
        .unwrap_or(handle);
    format!("player {digits}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tags(patterns: &[&str]) -> ClanTags {
        let patterns: Vec<String> = patterns.iter().map(|one| (*one).to_owned()).collect();
        patterns.try_into().unwrap()
    }

    fn human(tags: &ClanTags, id: &str) -> String {
        let bare = tags.without(Kind::Human, id);
        bare.map_or_else(|| id.to_owned(), |key| key.id)
    }

    #[test]
    fn letters_with_accents_and_joined_emoji_stay_as_they_are() {
        for (sent, shown) in [
            ("Jose\u{301}", "José"),
            ("И\u{306}", "Й"),
            ("Nguye\u{302}\u{303}n", "Nguyễn"),
            ("👨\u{200d}👩\u{200d}👧", "👨\u{200d}👩\u{200d}👧"),
            ("🧑🏽\u{200d}✈\u{fe0f}", "🧑🏽\u{200d}✈\u{fe0f}"),
            // A joiner that joins nothing, and marks on a letter that has none such.
            ("a\u{200d}b\u{200d}", "ab"),
            ("👨\u{200d}", "👨"),
            ("\u{200d}👨", "👨"),
            ("x\u{336}\u{489}\u{336}", "x\u{489}"),
        ] {
            assert_eq!(plain_name(sent), shown);
            assert_eq!(plain_name(shown), shown, "the same once more");
        }
        assert_eq!(
            ["Zoë", "JOSE\u{301}", "Nguyễn", "Й", "ﬁ", "ß"].map(folded),
            ["zoe", "jose", "nguyen", "и", "fi", "ß"]
        );
    }

    #[test]
    fn json_for_a_terminal_says_the_same() {
        let plain = "{\n  \"a\": \"é\u{1f600} \\u001b\"\n}";
        assert_eq!(escaped_json(plain.to_owned()), plain);
        assert_eq!(
            escaped_json("\"\u{9b}2J\u{7f}\u{85}\u{202e}\u{2069}\u{a0}\"".to_owned()),
            "\"\\u009b2J\\u007f\\u0085\\u202e\\u2069\u{a0}\""
        );
    }

    #[test]
    fn a_name_is_the_same_with_and_without_a_tag() {
        let tags = tags(&[r"\[.*?\]", r"^\w{2,4}\|", r"(?i)\.?clan$"]);
        for name in [
            "bob",
            "[ABC] bob",
            "[ABC][X]bob",
            "bob [ABC]",
            "abc|bob",
            "[A]abc|bob",
            "bob.CLAN",
            " [ABC] bob ",
        ] {
            assert_eq!(human(&tags, name), "bob", "{name}");
        }
        for name in ["bo[b", "bob the 2nd", "clan bob"] {
            assert_eq!(human(&tags, name), name);
        }
        let bot = tags.without(Kind::Bot, "[ABC] bob");
        assert_eq!(bot, None, "bots have no clans");
        assert_eq!(human(&ClanTags::default(), "[ABC] bob"), "[ABC] bob");
    }

    #[test]
    fn what_is_without_tags_has_none() {
        // Taking the first `a` away shows a second one. The last pattern finds nothing but places.
        let tags = tags(&["^a", r"\[\w*\]", r"\b"]);
        for name in ["aaab", "[[x]]b", "aab", "a[a]b"] {
            let bare = human(&tags, name);
            assert_eq!(bare, human(&tags, &bare), "{name}");
            assert_eq!(human(&tags, &bare), bare);
        }
        assert_eq!(human(&tags, "aaab"), "b");
    }

    #[test]
    fn who_is_called_like_the_clan_keeps_the_name() {
        let tags = tags(&[r"\[.*?\]"]);
        for name in ["[ABC]", "[A][B]", "[ABC] Player", "[ABC] UnnamedPlayer"] {
            assert_eq!(human(&tags, name), name);
        }
    }

    #[test]
    fn ids_are_no_names_and_names_become_no_ids() {
        let tags = tags(&[r"\[.*?\]", "^[0-9a-f]{4}", "^..", "STEAM"]);
        for id in [
            "[U:1:12221]",
            "STEAM_0:1:6110",
            "STEAM_ID_LAN:7000000001",
            "76561197960277949",
            "0123456789abcdef0123456789ABCDEF",
            "7b7cf1a6-20b7-4e34-9f1e-5d6d5f5d2a11",
            "Vx3bqYb3LZ0dUJ8rYZkBpL5Y5mJ0m2rXj4p9s0dQwE8=",
            "name in use twice: [ABC] bob (3)",
        ] {
            assert_eq!(human(&tags, id), id);
        }
        let tags = self::tags(&[r"\[T\]"]);
        let twin = human(&tags, "[T]6091E25264DBF07E");
        assert_eq!(twin, "name:6091E25264DBF07E");
        assert_eq!(human(&tags, &twin), twin);
        assert_eq!(human(&tags, "[T] [U:1:12221]"), "name:[U:1:12221]");
    }

    #[test]
    fn lists_are_bounded_and_say_what_is_wrong() {
        let refused = |patterns: Vec<String>| ClanTags::try_from(patterns).unwrap_err().to_string();
        let one = |pattern: &str| refused(vec![pattern.to_owned()]);
        assert_eq!(
            refused(vec!["x".into(); 33]),
            "must have at most 32 patterns"
        );
        assert_eq!(
            one(&"x".repeat(257)),
            "must have patterns of at most 256 bytes"
        );
        assert_eq!(
            one("[ABC"),
            "has a bad pattern: \"[ABC\": unclosed character class"
        );
        assert_eq!(one("x*"), "has a bad pattern: \"x*\" matches an empty text");
        assert!(one(r"(\w{200}){200}").contains("size limit"));
        assert!(one(&format!("{}x{}", "(".repeat(20), ")".repeat(20))).contains("nest"));
    }

    #[test]
    fn colours_of_the_games_are_read() {
        use NameColour::{Blue, Cyan, Magenta, Red, Yellow};
        let name = "a^1b^xf0fc^x0FFd\u{1b}\u{ff}\u{ff}\u{1}e^^4f^";
        let runs = coloured_name(name);
        let found: Vec<_> = runs.iter().map(|(c, t)| (*c, t.as_str())).collect();
        let expected = [
            (None, "a"),
            (Some(Red), "b"),
            (Some(Magenta), "c"),
            (Some(Cyan), "d"),
            (Some(Yellow), "e^"),
            (Some(Blue), "f^"),
        ];
        assert_eq!(found, expected);
        assert_eq!(plain_name(name), "abcde^f^");
        assert_eq!(plain_name("^_^ ^x ^xzz"), "^_^ ^x ^xzz");
    }

    #[test]
    fn what_cannot_be_seen_is_left_out() {
        assert_eq!(plain_name("a\u{202e}b\u{0}\u{301}\u{301}c\n"), "abc");
        for name in [
            "",
            " ",
            "^1^2",
            "\u{200b}\u{3164}",
            "\u{2800}\u{17b4}\u{ffff}\u{20d0}",
        ] {
            assert_eq!(plain_name(name), NAMELESS, "{name:?}");
        }
        assert_eq!(plain_name(&"é".repeat(99)).chars().count(), SHOWN + 1);
    }

    proptest! {
        #[test]
        fn any_name_is_short_and_visible(name in any::<String>()) {
            let plain = plain_name(&name);
            prop_assert!(!plain.trim().is_empty() && plain.chars().count() <= SHOWN + 1);
            prop_assert!(!plain.chars().any(is_hidden));
        }
    }

    #[test]
    fn accounts_are_told_from_names() {
        for account in [
            "123456789012345",
            "76561198000000001",
            "d-123456789012345",
            "d-80351110224678912",
            "0123456789abcdef",
            "0123456789abcdef0123456789ABCDEF",
            "STEAM_0:1:2",
            "STEAM_1:0:1234",
            "[U:1:1234]",
            "U:1:1234",
        ] {
            assert!(looks_like_account(account), "{account}");
            assert_eq!(name_of_id(account), "", "{account}");
        }
        for name in [
            "ann",
            "Boring John",
            "12345678901234",
            "d-12345678901234",
            "d-ann",
            "0123456789abcde",
            "deadbeef",
            "STEAM",
            "Steamer",
        ] {
            assert!(!looks_like_account(name), "{name}");
            assert_eq!(name_of_id(name), name);
        }
    }

    #[test]
    fn a_stated_name_is_shown_and_an_account_in_its_place_is_not() {
        let own = |kind, id: &str, stated: &str| {
            let id = id.to_owned();
            own_name(&PlayerKey { kind, id }, stated.to_owned())
        };
        let guid = "0123456789abcdef0123456789ABCDEF";
        let table = [
            // Not stated.
            (Kind::Human, "ann", "", None),
            (Kind::Human, guid, "", None),
            // Stated, or the identity is a name.
            (Kind::Human, guid, "Ann", Some("Ann")),
            (Kind::Human, "ann", "ann", Some("ann")),
            (
                Kind::Human,
                "Boring John",
                "Boring John",
                Some("Boring John"),
            ),
            // Somebody calls themselves like an account, and it is not theirs.
            (Kind::Human, "ann", guid, Some(guid)),
            // The identity in the place of a name.
            (Kind::Human, guid, guid, None),
            (Kind::Human, "STEAM_0:1:2", "STEAM_0:1:2", None),
            (Kind::Human, "d-123456789012345", "d-123456789012345", None),
            (
                Kind::Bot,
                "abcdef0123456789",
                "abcdef0123456789",
                Some("abcdef0123456789"),
            ),
        ];
        for (kind, id, stated, shown) in table {
            assert_eq!(own(kind, id, stated).as_deref(), shown, "{id} {stated}");
        }
    }

    #[test]
    fn players_without_a_name_have_as_many_digits_as_are_unique() {
        let handle = "3f9ac1d20b";
        let table: [(&[&str], &str); 6] = [
            (&[], "player 3f9a"),
            (&[handle], "player 3f9a"),
            (&["3f90000000", "a000000000"], "player 3f9a"),
            (&["3f9a000000"], "player 3f9ac"),
            (&["3f9a000000", "3f9ac10000"], "player 3f9ac1d"),
            (&["3f9ac1d20a"], "player 3f9ac1d20b"),
        ];
        for (others, shown) in table {
            assert_eq!(nameless(handle, others.iter().copied()), shown);
        }
        assert_eq!(nameless("3f", ["3f9a"]), "player 3f");
    }
}
