//! A line → what it asks for. One command, one variant; what is left over on a line is refused.

use bytes::Bytes;

use super::{
    Code, Refusal,
    words::{Words, bad, number},
};
use crate::domain::{Ident, MAX_TEAMS, Secret};

/// The largest number of players a command may speak of; far above any game.
const MAX_PLAYERS: u64 = 1_024;
/// The largest `top` of BALANCE.
const MAX_TOP: u64 = 4_096;

/// One command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A new game of this type has begun.
    Game(Ident),
    /// This mutator is active in it.
    Mutator(Ident),
    /// What does this human weigh?
    Player(Ident),
    /// What does this bot weigh?
    Bot(Ident),
    /// What does a bot weigh on average?
    MeanBot,
    /// The game server's name, and its token where one is configured.
    Hello {
        /// Who is there.
        server: Ident,
        /// What proves it.
        token: Option<Secret>,
    },
    /// Are you there?
    Ping,
    /// Close after the replies owed.
    Quit,
    /// The level, and its recommended number of players.
    Map {
        /// The level's name.
        name: Ident,
        /// Fewest and most players.
        range: Option<(u32, u32)>,
    },
    /// So many teams.
    Teams(u8),
    /// At least so many players, bots included.
    MinPlayers(u32),
    /// A human takes part, or what is known of them changes.
    Join(Join),
    /// A human is gone.
    Leave(Ident),
    /// A human is on this team now.
    Move {
        /// Who.
        id: Ident,
        /// The team they are on.
        team: u8,
    },
    /// A bot is on this team now.
    BotJoin {
        /// Which.
        name: Ident,
        /// The team it is on.
        team: u8,
    },
    /// A bot is gone.
    BotLeave(Ident),
    /// Choose teams for all humans.
    Balance {
        /// Among how many of the best, over the configured number.
        top: Option<usize>,
        /// The seed of the pick, over a drawn one.
        seed: Option<u64>,
    },
    /// How many bots belong on each team?
    Bots,
    /// Why was the last decision taken?
    Explain,
}

/// JOIN's arguments. An option that is absent leaves what was known as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// Who.
    pub id: Ident,
    /// The name they go by.
    pub name: Option<Ident>,
    /// The party they came with; an empty value ends it.
    pub party: Option<Ident>,
    /// The team they are on.
    pub team: Option<u8>,
    /// The team they must be on; none of them (`pin=`) lets them go.
    pub pin: Option<Option<u8>>,
    /// Those they would rather not be with, in place of those named before; an empty one among them
    /// (`avoid=`) is nobody.
    pub avoid: Option<Vec<Ident>>,
}

impl Request {
    /// Reads one line. `None` when it is blank.
    ///
    /// # Errors
    /// `unknown-command` for a verb that isn't one, `bad-argument` for arguments that aren't its.
    pub fn parse(line: Bytes) -> Result<Option<Self>, Refusal> {
        let mut words = Words::new(line);
        if words.is_empty() {
            return Ok(None);
        }
        let verb = words.verb();
        let request = match verb.to_ascii_uppercase().as_slice() {
            b"GAME" => Self::Game(words.whole_rest("the game type")?),
            b"MUTATOR" => Self::Mutator(words.whole_rest("the mutator")?),
            b"PLAYER" => Self::Player(words.whole_rest("the player")?),
            b"BOT" => Self::Bot(words.whole_rest("the bot")?),
            b"MEANBOT" => Self::MeanBot,
            b"HELLO" => hello(&mut words)?,
            b"PING" => Self::Ping,
            b"QUIT" => Self::Quit,
            b"MAP" => map(&mut words)?,
            b"TEAMS" => {
                Self::Teams(words.number("the number of teams", 2, MAX_TEAMS as u64)? as u8)
            }
            b"MINPLAYERS" => Self::MinPlayers(players(&mut words, "the number of players")?),
            b"JOIN" => Self::Join(join(&mut words)?),
            b"LEAVE" => Self::Leave(words.word("the player")?),
            b"MOVE" => Self::Move {
                id: words.word("the player")?,
                team: team(&mut words)?,
            },
            b"BOTJOIN" => Self::BotJoin {
                name: words.word("the bot")?,
                team: team(&mut words)?,
            },
            b"BOTLEAVE" => Self::BotLeave(words.word("the bot")?),
            b"BALANCE" => balance(&mut words)?,
            b"BOTS" => Self::Bots,
            b"EXPLAIN" => Self::Explain,
            _ => return Err(unknown(&verb)),
        };
        words.end()?;
        Ok(Some(request))
    }
}

fn hello(words: &mut Words) -> Result<Request, Refusal> {
    let server = words.word("the server's name")?;
    let token = if words.is_empty() {
        None
    } else {
        Some(Secret::of(words.word("the token")?.text()))
    };
    Ok(Request::Hello { server, token })
}

fn map(words: &mut Words) -> Result<Request, Refusal> {
    let name = words.word("the map")?;
    if words.is_empty() {
        return Ok(Request::Map { name, range: None });
    }
    let min = players(words, "the fewest players")?;
    let max = players(words, "the most players")?;
    if min > max {
        return Err(bad(
            "the fewest players must not be more than the most".into()
        ));
    }
    Ok(Request::Map {
        name,
        range: Some((min, max)),
    })
}

fn join(words: &mut Words) -> Result<Join, Refusal> {
    let id = words.word("the player")?;
    let mut join = Join {
        id,
        name: None,
        party: None,
        team: None,
        pin: None,
        avoid: None,
    };
    while let Some((key, value)) = words.option()? {
        let fresh = match key.as_str() {
            "name" => join.name.replace(value).is_none(),
            "party" => join.party.replace(value).is_none(),
            "team" => join.team.replace(team_number(&value)?).is_none(),
            "pin" if value.text().is_empty() => join.pin.replace(None).is_none(),
            "pin" => join.pin.replace(Some(team_number(&value)?)).is_none(),
            "avoid" => {
                let avoid = join.avoid.get_or_insert_default();
                avoid.extend(Some(value).filter(|id| !id.text().is_empty()));
                true
            }
            _ => return Err(bad(format!("unknown option {key}"))),
        };
        once(fresh, &key)?;
    }
    Ok(join)
}

fn balance(words: &mut Words) -> Result<Request, Refusal> {
    let (mut top, mut seed) = (None, None);
    while let Some((key, value)) = words.option()? {
        let fresh = match key.as_str() {
            "top" => top
                .replace(number(&value, "top", 1, MAX_TOP)? as usize)
                .is_none(),
            "seed" => seed.replace(number(&value, "seed", 0, u64::MAX)?).is_none(),
            _ => return Err(bad(format!("unknown option {key}"))),
        };
        once(fresh, &key)?;
    }
    Ok(Request::Balance { top, seed })
}

fn players(words: &mut Words, what: &str) -> Result<u32, Refusal> {
    Ok(words.number(what, 0, MAX_PLAYERS)? as u32)
}

fn team(words: &mut Words) -> Result<u8, Refusal> {
    team_number(&words.word("the team")?)
}

fn team_number(text: &Ident) -> Result<u8, Refusal> {
    Ok(number(text, "a team", 0, MAX_TEAMS as u64 - 1)? as u8)
}

fn once(fresh: bool, key: &str) -> Result<(), Refusal> {
    if fresh {
        Ok(())
    } else {
        Err(bad(format!("{key} is given twice")))
    }
}

/// Tells the verb, but not more of it than a reply line has room for.
fn unknown(verb: &[u8]) -> Refusal {
    let shown = verb[..verb.len().min(32)].escape_ascii();
    Refusal {
        code: Code::UnknownCommand,
        text: shown.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(line: &[u8]) -> Result<Option<Request>, Code> {
        Request::parse(Bytes::copy_from_slice(line)).map_err(|refusal| refusal.code)
    }

    fn ident(text: &str) -> Ident {
        Ident::from_text(text)
    }

    #[test]
    fn the_whole_rest_is_the_identifier_quoted_or_not() {
        for line in [
            "PLAYER Boring John",
            "player   Boring John\t",
            "Player \"Boring John\"",
        ] {
            assert_eq!(
                parse(line.as_bytes()),
                Ok(Some(Request::Player(ident("Boring John"))))
            );
        }
        let Ok(Some(Request::Bot(id))) = parse(b"BOT \"a \\\"b\\\" \\\\ c\"") else {
            panic!()
        };
        assert_eq!(id.text(), "a \"b\" \\ c");
        assert_eq!(
            id.raw(),
            b"\"a \\\"b\\\" \\\\ c\"",
            "the reply repeats what was sent"
        );
        let Ok(Some(Request::Bot(id))) = parse(b"BOT \"Ace\" of Spades") else {
            panic!()
        };
        assert_eq!(
            id.text(),
            "\"Ace\" of Spades",
            "a name may begin with a quote"
        );
    }

    #[test]
    fn options_in_any_order() {
        let expected = Join {
            id: ident("a b"),
            name: Some(ident("N \"q\"")),
            party: Some(ident("")),
            team: Some(1),
            pin: Some(Some(0)),
            avoid: Some(vec![ident("x"), ident("y z")]),
        };
        let line = br#"JOIN "a b" avoid=x TEAM=1 party= name="N \"q\"" pin=0 avoid="y z""#;
        assert_eq!(parse(line), Ok(Some(Request::Join(expected))));
        let balance = Request::Balance {
            top: Some(5),
            seed: Some(7),
        };
        assert_eq!(parse(b"BALANCE seed=7 top=5"), Ok(Some(balance)));
    }

    #[test]
    fn blank_lines_are_nothing() {
        assert_eq!(parse(b""), Ok(None));
        assert_eq!(parse(b" \t "), Ok(None));
    }

    #[test]
    fn what_is_wrong_is_refused() {
        let bad = [
            "GAME",
            "MUTATOR  ",
            "PLAYER",
            "PLAYER \"\"",
            "BOT \" \"",
            "MEANBOT x",
            "HELLO",
            "HELLO a b c",
            "PING x",
            "QUIT now",
            "MAP",
            "MAP m 4",
            "MAP m 8 4",
            "MAP m 4 x",
            "MAP m -1 4",
            "MAP m 4 8 9",
            "TEAMS",
            "TEAMS 1",
            "TEAMS 9",
            "TEAMS two",
            "TEAMS 2 2",
            "MINPLAYERS",
            "MINPLAYERS -1",
            "MINPLAYERS 99999",
            "JOIN",
            "JOIN a b",
            "JOIN a team=8",
            "JOIN a team=x",
            "JOIN a team=",
            "JOIN a colour=red",
            "JOIN a =1",
            "JOIN a team=1 team=1",
            "JOIN \"a",
            "JOIN \"a\"b",
            "JOIN a name=\"x",
            "LEAVE",
            "LEAVE a b",
            "MOVE a",
            "MOVE a 8",
            "MOVE a 1 2",
            "BOTJOIN b",
            "BOTLEAVE",
            "BALANCE top=0",
            "BALANCE top=4097",
            "BALANCE seed=-1",
            "BALANCE 5",
            "BALANCE seed=18446744073709551616",
            "BALANCE seed=+1",
            "BOTS 1",
            "EXPLAIN 1",
        ];
        for line in bad {
            assert_eq!(parse(line.as_bytes()), Err(Code::BadArgument), "{line}");
        }
        for line in ["ADVANTAGE", "HELP", "\"PING\"", "\u{0}", "PLACE x", "é"] {
            assert_eq!(parse(line.as_bytes()), Err(Code::UnknownCommand), "{line}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic_and_no_refusal_breaks_a_line(line in proptest::collection::vec(any::<u8>(), 0..80)) {
            if let Err(refusal) = Request::parse(line.into()) {
                prop_assert!(!refusal.text.contains(['\n', '\r']));
            }
        }

        #[test]
        fn every_verb_with_any_arguments(
            verb in 0usize..19,
            rest in "[ \\PC\"\\\\=]{0,40}",
        ) {
            let verbs = [
                "GAME", "MUTATOR", "PLAYER", "BOT", "MEANBOT", "HELLO", "PING", "QUIT", "MAP", "TEAMS",
                "MINPLAYERS", "JOIN", "LEAVE", "MOVE", "BOTJOIN", "BOTLEAVE", "BALANCE", "BOTS", "EXPLAIN",
            ];
            let line = format!("{} {rest}", verbs[verb]);
            prop_assert!(parse(line.as_bytes()) != Err(Code::UnknownCommand));
        }
    }
}
