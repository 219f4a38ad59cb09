//! Reads one line of a server's output: `[time][source]: text`. The time has a date in a file, and none in the
//! external console.
//!
//! Names are in single quotes, and may contain quotes and anything else. A player's number precedes the name and is
//! certain; where two names follow each other, `Kill::of` uses the name that is already known.

use evenkeel_model::Timestamp;

use crate::text::{LineResult, date_time, number, whole_number};

/// The content of a line that a record needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TeeworldsEvent<'a> {
    /// The server has loaded this map. All players enter again.
    Map(&'a [u8]),
    /// The server will load this map after the match that has ended.
    Rotates(&'a [u8]),
    /// A match begins, or a warm-up until there are enough players.
    Start {
        /// The type of the match, for example `CTF`.
        kind: &'a [u8],
        /// Whether it is played in teams.
        teams: bool,
    },
    /// A player enters the game, on a team or to watch.
    Enter(PlayerInKill<'a>),
    /// A player changes teams.
    Change(PlayerInKill<'a>),
    /// The player of this number has left the server.
    Left(usize),
    /// A player was killed.
    Kill(Kill<'a>),
    /// A player has taken the flag of the other team.
    Grab(NamedClient<'a>),
    /// A player has brought the flag of the other team home.
    Capture(NamedClient<'a>),
    /// A flag is back at its place, because of a player or on its own.
    Return(Option<NamedClient<'a>>),
    /// Something that happens only while the game runs, and that no record needs.
    Action,
    /// An operator has written a command.
    Asked(&'a [u8]),
    /// A player asks for a vote, which may change any setting.
    Voted,
    /// The value of a setting that the last command asked for.
    Value(&'a [u8]),
    /// A line of the chat, from the number of the player on.
    Said {
        /// The number of the player.
        slot: usize,
        /// The name, a colon and the text.
        rest: &'a [u8],
    },
    /// Any other line; it does not affect the record.
    Other,
}

/// A line of the output.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OutputLine<'a> {
    /// `None` if the time has no date.
    pub date: Option<Timestamp>,
    /// The part of the server that has printed it, such as `game`.
    pub source: &'a [u8],
    /// The text.
    pub text: &'a [u8],
}

/// Splits a line into its time, its source and its text; `None` if it has another form.
pub fn split(line: &[u8]) -> Option<OutputLine<'_>> {
    let (time, rest) = bracketed(line, 24)?;
    let clock = |time: &[u8]| time.len() == 8 && time[2] == b':' && time[5] == b':';
    let date = match date_time(time) {
        None if clock(time) => None,
        None => return None,
        date => date,
    };
    let (source, rest) = bracketed(rest, 32)?;
    let text = rest.strip_prefix(b": ")?;
    Some(OutputLine { date, source, text })
}

/// Splits `[inner]rest`, with a bound for the length of `inner`.
fn bracketed(line: &[u8], longest: usize) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_prefix(b"[")?;
    let end = rest.iter().take(longest).position(|&b| b == b']')?;
    Some((&rest[..end], &rest[end + 1..]))
}

/// Whether a line has a form that only this game prints.
pub(crate) fn is_certain(line: &[u8]) -> bool {
    split(line).is_some_and(|line| !matches!(read(&line), Ok(TeeworldsEvent::Other) | Err(_)))
}

/// Reads the text of a line.
///
/// # Errors
/// Returns what is wrong with the line.
pub fn read<'a>(line: &OutputLine<'a>) -> LineResult<TeeworldsEvent<'a>> {
    match line.source {
        b"game" => read_game(line.text),
        b"server" => Ok(read_server(line.text)),
        b"Console" => Ok(line
            .text
            .strip_prefix(b"Value: ")
            .map_or(TeeworldsEvent::Other, TeeworldsEvent::Value)),
        b"chat" => Ok(said(line.text)),
        _ => Ok(TeeworldsEvent::Other),
    }
}

fn read_game(text: &[u8]) -> LineResult<TeeworldsEvent<'_>> {
    let end = text.iter().position(|&b| b == b' ');
    let (verb, rest) = match end {
        Some(end) => (&text[..end], &text[end + 1..]),
        None => (text, &b""[..]),
    };
    Ok(match verb {
        b"kill" => TeeworldsEvent::Kill(Kill::read(rest)?),
        b"team_join" => team_join(rest)?,
        b"leave" => TeeworldsEvent::Left(player(rest, b"")?.0.slot),
        b"flag_grab" => TeeworldsEvent::Grab(player(rest, b" team=")?.0),
        b"flag_capture" => TeeworldsEvent::Capture(player(rest, b" team=")?.0),
        b"flag_return" if rest.is_empty() => TeeworldsEvent::Return(None),
        b"flag_return" => TeeworldsEvent::Return(Some(player(rest, b" team=")?.0)),
        b"start" if rest.starts_with(b"match type='") => start(&rest[b"match type='".len()..])?,
        b"pickup" | b"shot" => TeeworldsEvent::Action,
        b"rotating" => match rest.strip_prefix(b"to ").or(rest.strip_prefix(b"map to ")) {
            Some(map) => TeeworldsEvent::Rotates(map),
            None => TeeworldsEvent::Other,
        },
        // Of a rotation, the server prints only the name of the next map.
        _ if end.is_none() && !verb.is_empty() => TeeworldsEvent::Rotates(verb),
        _ => TeeworldsEvent::Other,
    })
}

fn read_server(text: &[u8]) -> TeeworldsEvent<'_> {
    if let Some(rest) = text.strip_prefix(b"maps/") {
        let end = find(rest, b".map sha256 is ");
        return end.map_or(TeeworldsEvent::Other, |end| {
            TeeworldsEvent::Map(&rest[..end])
        });
    }
    if let Some(rest) = text.strip_prefix(b"client dropped. cid=") {
        return match number(rest) {
            Some((slot, _)) => {
                usize::try_from(slot).map_or(TeeworldsEvent::Other, TeeworldsEvent::Left)
            }
            None => TeeworldsEvent::Other,
        };
    }
    if text.starts_with(b"'") && find(text, b" voted option '").is_some() {
        return TeeworldsEvent::Voted;
    }
    let command = match text.strip_prefix(b"cid=") {
        Some(rest) => number(rest).and_then(|(_, rest)| rest.strip_prefix(b" cmd='")),
        None => text
            .strip_prefix(b"ClientID=")
            .and_then(number)
            .and_then(|(_, rest)| rest.strip_prefix(b" rcon='")),
    };
    match command.and_then(|command| command.strip_suffix(b"'")) {
        Some(command) => TeeworldsEvent::Asked(command.trim_ascii()),
        None => TeeworldsEvent::Other,
    }
}

/// Reads `MODE:NUMBER:name: text`.
fn said(text: &[u8]) -> TeeworldsEvent<'_> {
    let slot = number(text)
        .and_then(|(_, rest)| rest.strip_prefix(b":"))
        .and_then(|rest| slot(rest).ok());
    match slot {
        Some((slot, rest)) => TeeworldsEvent::Said { slot, rest },
        None => TeeworldsEvent::Other,
    }
}

/// Reads `player='NUMBER:name'` and what follows, which begins with `after` and has no quote.
fn player<'a>(text: &'a [u8], after: &[u8]) -> LineResult<(NamedClient<'a>, &'a [u8])> {
    let rest = text.strip_prefix(b"player='").ok_or("no player")?;
    let (slot, rest) = slot(rest)?;
    let end = rest.iter().rposition(|&b| b == b'\'');
    let end = end.ok_or("a name has no end")?;
    let (name, rest) = (&rest[..end], &rest[end + 1..]);
    let rest = rest
        .strip_prefix(after)
        .ok_or("something else follows a name")?;
    Ok((NamedClient { slot, name }, rest))
}

/// Reads `player='NUMBER:name' team=TEAM`, or `team=TEAM->TEAM` of a change.
fn team_join(text: &[u8]) -> LineResult<TeeworldsEvent<'_>> {
    let (who, rest) = player(text, b" team=")?;
    let (before, rest) = number(rest).ok_or("a team is no number")?;
    match rest.strip_prefix(b"->") {
        None if rest.is_empty() => Ok(TeeworldsEvent::Enter(PlayerInKill {
            who,
            team: team(before)?,
        })),
        None => Err("something else follows a team"),
        Some(after) => {
            let after = whole_number(after).ok_or("a team is no number")?;
            Ok(TeeworldsEvent::Change(PlayerInKill {
                who,
                team: team(after)?,
            }))
        }
    }
}

/// Reads `TYPE' teamplay='1'`.
fn start(rest: &[u8]) -> LineResult<TeeworldsEvent<'_>> {
    let end = find(rest, b"' teamplay='").ok_or("the type of the match has no end")?;
    let teams = rest[end + b"' teamplay='".len()..].strip_suffix(b"'");
    let teams = teams
        .and_then(whole_number)
        .ok_or("teamplay is no number")?;
    Ok(TeeworldsEvent::Start {
        kind: &rest[..end],
        teams: teams != 0,
    })
}

/// A kill. The names are read later, because a name may look like the text between two names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kill<'a> {
    /// The number of the killer; `None` if nobody killed.
    pub(crate) killer: Option<usize>,
    team: i64,
    /// What follows the killer's team: `name' victim='NUMBER:TEAM:name`.
    names: &'a [u8],
    /// Whether the game itself removed the victim, who changed teams or left.
    pub(crate) by_game: bool,
}

impl<'a> Kill<'a> {
    /// Reads `killer='NUMBER:TEAM:name' victim='NUMBER:TEAM:name' weapon=W special=S`.
    pub(super) fn read(text: &'a [u8]) -> LineResult<Self> {
        const WEAPON_GAME: i64 = -3;
        let rest = text.strip_prefix(b"killer='").ok_or("no killer")?;
        let (killer, rest) = number(rest).ok_or("the killer has no number")?;
        let rest = rest.strip_prefix(b":").ok_or("the killer has no team")?;
        let (team, rest) = number(rest).ok_or("the killer has no team")?;
        let rest = rest.strip_prefix(b":").ok_or("the killer has no name")?;
        let end = rest.iter().rposition(|&b| b == b'\'');
        let end = end.ok_or("the victim's name has no end")?;
        let weapon = rest[end + 1..].strip_prefix(b" weapon=");
        let (weapon, _) = weapon.and_then(number).ok_or("the weapon is no number")?;
        Ok(Self {
            killer: usize::try_from(killer).ok(),
            team,
            names: &rest[..end],
            by_game: weapon == WEAPON_GAME,
        })
    }

    /// The killer, if anybody, and the victim. `known` is the killer's name, if an earlier line has stated it.
    ///
    /// # Errors
    /// Returns what is wrong with the line.
    pub(crate) fn of(
        &self,
        known: Option<&[u8]>,
    ) -> LineResult<(Option<PlayerInKill<'a>>, PlayerInKill<'a>)> {
        const BETWEEN: &[u8] = b"' victim='";
        let known = known.filter(|known| {
            let rest = self.names.strip_prefix(*known);
            rest.is_some_and(|rest| rest.starts_with(BETWEEN))
        });
        let end = known.map(<[u8]>::len).or_else(|| find(self.names, BETWEEN));
        let end = end.ok_or("no victim")?;
        let (name, rest) = (&self.names[..end], &self.names[end + BETWEEN.len()..]);
        let (victim, rest) = slot(rest)?;
        let (team_of_victim, rest) = number(rest).ok_or("the victim has no team")?;
        let victims_name = rest.strip_prefix(b":").ok_or("the victim has no name")?;
        let killer = match self.killer {
            Some(slot) => Some(PlayerInKill {
                who: NamedClient { slot, name },
                team: team(self.team)?,
            }),
            None => None,
        };
        let who = NamedClient {
            slot: victim,
            name: victims_name,
        };
        let team = team(team_of_victim)?;
        Ok((killer, PlayerInKill { who, team }))
    }
}

/// A player in a line: the number on the server, and the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NamedClient<'a> {
    pub(crate) slot: usize,
    /// The name, as bytes that may be anything.
    pub name: &'a [u8],
}

/// A player in the line of a kill, which states the team, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlayerInKill<'a> {
    pub(crate) who: NamedClient<'a>,
    /// `None` if the player watches.
    pub team: Option<u8>,
}

/// Reads `NUMBER:`, the number of a player.
pub(super) fn slot(text: &[u8]) -> LineResult<(usize, &[u8])> {
    let (slot, rest) = number(text).ok_or("a player has no number")?;
    let slot = usize::try_from(slot).map_err(|_| "a player's number is negative")?;
    let rest = rest.strip_prefix(b":").ok_or("a player has no number")?;
    Ok((slot, rest))
}

/// A team as the server numbers it: 0, 1, or -1 to watch.
pub fn team(number: i64) -> LineResult<Option<u8>> {
    match number {
        0 => Ok(Some(0)),
        1 => Ok(Some(1)),
        -1 => Ok(None),
        _ => Err("there is no such team"),
    }
}

/// Where `part` first is in `text`.
pub(super) fn find(text: &[u8], part: &[u8]) -> Option<usize> {
    memchr::memmem::find(text, part)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event(text: &str) -> LineResult<TeeworldsEvent<'_>> {
        read(&split(text.as_bytes()).expect("a line"))
    }

    fn named(slot: usize, name: &str) -> NamedClient<'_> {
        let name = name.as_bytes();
        NamedClient { slot, name }
    }

    #[test]
    fn a_line_has_a_date_in_a_file_and_none_in_the_console() {
        let line = split(b"[2026-11-27 20:06:16][game]: flag_return").unwrap();
        assert_eq!(line.date.unwrap().to_string(), "2026-11-27T20:06:16Z");
        assert_eq!(
            (line.source, line.text),
            (&b"game"[..], &b"flag_return"[..])
        );
        assert_eq!(split(b"[20:06:16][game]: flag_return").unwrap().date, None);
        for wrong in [
            "",
            "[20:06][game]: x",
            "[20:06:16][game] x",
            "20:06:16 [game]: x",
            "[",
        ] {
            assert_eq!(split(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn lines_of_the_server_are_events() {
        let seen = |slot, name: &'static str, team| PlayerInKill {
            who: named(slot, name),
            team,
        };
        for (text, expected) in [
            (
                "[game]: team_join player='0:bob' team=1",
                TeeworldsEvent::Enter(seen(0, "bob", Some(1))),
            ),
            (
                "[game]: team_join player='0:bob' team=0->-1",
                TeeworldsEvent::Change(seen(0, "bob", None)),
            ),
            ("[game]: leave player='12:a: 'b'", TeeworldsEvent::Left(12)),
            (
                "[game]: flag_grab player='3:x' team=0",
                TeeworldsEvent::Grab(named(3, "x")),
            ),
            (
                "[game]: flag_capture player='3:x' team=0 time=12.34",
                TeeworldsEvent::Capture(named(3, "x")),
            ),
            ("[game]: flag_return", TeeworldsEvent::Return(None)),
            (
                "[game]: flag_return player='3:x' team=1",
                TeeworldsEvent::Return(Some(named(3, "x"))),
            ),
            ("[game]: pickup player='3:x' item=1", TeeworldsEvent::Action),
            ("[game]: ctf2", TeeworldsEvent::Rotates(b"ctf2")),
            (
                "[game]: rotating map to ctf2",
                TeeworldsEvent::Rotates(b"ctf2"),
            ),
            (
                "[game]: start match type='CTF' teamplay='1'",
                TeeworldsEvent::Start {
                    kind: b"CTF",
                    teams: true,
                },
            ),
            (
                "[server]: maps/ctf5.map sha256 is a35d",
                TeeworldsEvent::Map(b"ctf5"),
            ),
            (
                "[server]: client dropped. cid=4 addr=1.2.3.4:5 reason=''",
                TeeworldsEvent::Left(4),
            ),
            (
                "[server]: cid=0 cmd='sv_map'",
                TeeworldsEvent::Asked(b"sv_map"),
            ),
            (
                "[server]: ClientID=0 rcon='restart 5'",
                TeeworldsEvent::Asked(b"restart 5"),
            ),
            ("[Console]: Value: ctf5", TeeworldsEvent::Value(b"ctf5")),
            (
                "[chat]: 1:3:x: !teams",
                TeeworldsEvent::Said {
                    slot: 3,
                    rest: b"x: !teams",
                },
            ),
            ("[chat]: *** hello", TeeworldsEvent::Other),
            (
                "[game]: Teams are balanced (red=1 blue=1)",
                TeeworldsEvent::Other,
            ),
            ("[register]: WARNING", TeeworldsEvent::Other),
        ] {
            let text = format!("[20:06:16]{text}");
            assert_eq!(event(&text), Ok(expected), "{text}");
        }
        for wrong in [
            "team_join player='0:bob' team=7",
            "team_join player='x:bob' team=1",
            "team_join player='0:bob",
            "kill killer='0:0:a' victim='1:1:b'",
            "start match type='CTF' teamplay='x'",
        ] {
            assert!(
                event(&format!("[20:06:16][game]: {wrong}")).is_err(),
                "{wrong}"
            );
        }
    }

    #[test]
    fn no_name_makes_a_kill_count_for_somebody_else() {
        let line =
            "[20:06:16][game]: kill killer='1:0:a' victim='3:0:' victim='5:1:b' weapon=4 special=1";
        let Ok(TeeworldsEvent::Kill(kill)) = event(line) else {
            panic!("no kill")
        };
        let (killer, victim) = kill.of(Some(b"a' victim='3:0:")).unwrap();
        assert_eq!(killer.unwrap().who, named(1, "a' victim='3:0:"));
        assert_eq!((victim.who, victim.team), (named(5, "b"), Some(1)));
        let (_, victim) = kill.of(Some(b"a")).unwrap();
        assert_eq!(victim.who, named(3, "' victim='5:1:b"));
    }

    #[test]
    fn nobody_kills_who_falls() {
        let line = "[20:06:16][game]: kill killer='-1:0:' victim='5:1:b' weapon=-1 special=0";
        let Ok(TeeworldsEvent::Kill(kill)) = event(line) else {
            panic!("no kill")
        };
        let (killer, victim) = kill.of(None).unwrap();
        assert_eq!((killer, victim.who.slot, kill.by_game), (None, 5, false));
    }

    proptest! {
        #[test]
        fn any_name_is_read_whole(name in "[ -~é]{1,15}", slot in 0usize..64) {
            let line = format!("[20:06:16][game]: team_join player='{slot}:{name}' team=0->1");
            let who = named(slot, &name);
            prop_assert_eq!(event(&line), Ok(TeeworldsEvent::Change(PlayerInKill { who, team: Some(1) })));
            let line = format!(
                "[20:06:16][game]: kill killer='{slot}:0:{name}' victim='9:1:b' weapon=0 special=0"
            );
            let Ok(TeeworldsEvent::Kill(kill)) = event(&line) else { panic!("no kill") };
            let (killer, victim) = kill.of(Some(name.as_bytes())).unwrap();
            prop_assert_eq!(killer.map(|seen| seen.who), Some(who));
            prop_assert_eq!(victim.who.slot, 9);
        }

        #[test]
        fn any_line_is_borne(line in any::<Vec<u8>>(), verb in "[a-z_ ='0-9:>-]{0,60}") {
            let _ = is_certain(&line);
            let _ = is_certain(format!("[20:06:16][game]: {verb}").as_bytes());
        }
    }
}
