//! A line → what it asks for. One command, one variant; what is left over on a line is refused.

use bytes::Bytes;

use super::{
    Code, Refusal,
    words::{Words, bad, decimal, number},
};
use crate::domain::{Ident, MAX_TEAMS, Secret, Verdict};

/// The largest number of players a command may speak of; far above any game.
const MAX_PLAYERS: u64 = 1_024;
/// The largest `top` of BALANCE.
const MAX_TOP: u64 = 4_096;
/// The longest time a command may speak of, in seconds: a week, which no game lasts.
const MAX_SECONDS: u64 = 7 * 24 * 3_600;
/// The most points, either way, that a line may speak of; beyond it a counter is broken.
const MAX_POINTS: f64 = 1e6;

/// One command.
#[derive(Clone, Debug, PartialEq)]
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
        /// Go on with the game that this server's last connection broke off.
        resume: bool,
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
    /// Which side for this late arrival?
    Place(Ident),
    /// Which team should be helped, and how much?
    Advantage,
    /// Which fewest moves would mend the game?
    Rebalance {
        /// The seed that decides between equals, over a drawn one.
        seed: Option<u64>,
    },
    /// Why was the last decision taken?
    Explain,
    /// This human is not to be moved now.
    Protect {
        /// Who.
        id: Ident,
        /// For so long, 0 for no longer; without it, until said otherwise.
        seconds: Option<u32>,
    },
    /// Play begins.
    Start,
    /// A team scored.
    Score {
        /// Which.
        team: u8,
        /// By how much its score changed, 1 unless said.
        points: f64,
        /// Whose doing it was.
        by: Option<Ident>,
    },
    /// Somebody's points on the scoreboard.
    Points {
        /// Whose.
        id: Ident,
        /// So far.
        points: f64,
    },
    /// Somebody killed somebody.
    Kill {
        /// Who did.
        killer: Ident,
        /// Who died.
        victim: Ident,
    },
    /// Somebody died.
    Death(Ident),
    /// So many seconds of play are left.
    Clock(u32),
    /// The game is over.
    End(Verdict),
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
            b"PLACE" => Self::Place(words.word("the player")?),
            b"ADVANTAGE" => Self::Advantage,
            b"REBALANCE" => rebalance(&mut words)?,
            b"EXPLAIN" => Self::Explain,
            b"PROTECT" => protect(&mut words)?,
            b"START" => Self::Start,
            b"SCORE" => score(&mut words)?,
            b"POINTS" => Self::Points {
                id: words.word("the player")?,
                points: points(&mut words)?,
            },
            b"KILL" => Self::Kill {
                killer: words.word("the killer")?,
                victim: words.word("the victim")?,
            },
            b"DEATH" => Self::Death(words.word("the player")?),
            b"CLOCK" => Self::Clock(seconds(&mut words)?),
            b"END" => end(&mut words)?,
            _ => return Err(unknown(&verb)),
        };
        words.end()?;
        Ok(Some(request))
    }
}

fn hello(words: &mut Words) -> Result<Request, Refusal> {
    let server = words.word("the server's name")?;
    let (mut token, mut resume) = (None, None);
    // Only this one option is known here, so that a token may hold a `=`.
    if !words.is_empty() && !words.has_option("resume") {
        token = Some(Secret::of(words.word("the token")?.text()));
    }
    while let Some((key, value)) = words.option()? {
        let fresh = match key.as_str() {
            "resume" => resume.replace(yes_or_no(&value, "resume")?).is_none(),
            _ => return Err(bad(format!("unknown option {key}"))),
        };
        once(fresh, &key)?;
    }
    Ok(Request::Hello {
        server,
        token,
        resume: resume.unwrap_or(false),
    })
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

fn rebalance(words: &mut Words) -> Result<Request, Refusal> {
    let mut seed = None;
    while let Some((key, value)) = words.option()? {
        let fresh = match key.as_str() {
            "seed" => seed.replace(number(&value, "seed", 0, u64::MAX)?).is_none(),
            _ => return Err(bad(format!("unknown option {key}"))),
        };
        once(fresh, &key)?;
    }
    Ok(Request::Rebalance { seed })
}

fn protect(words: &mut Words) -> Result<Request, Refusal> {
    let id = words.word("the player")?;
    let seconds = match words.is_empty() {
        true => None,
        false => Some(seconds(words)?),
    };
    Ok(Request::Protect { id, seconds })
}

fn score(words: &mut Words) -> Result<Request, Refusal> {
    let team = team(words)?;
    let points = match words.is_empty() {
        true => 1.0,
        false => points(words)?,
    };
    let by = match words.is_empty() {
        true => None,
        false => Some(words.word("the player")?),
    };
    Ok(Request::Score { team, points, by })
}

fn end(words: &mut Words) -> Result<Request, Refusal> {
    if words.is_empty() {
        return Ok(Request::End(Verdict::Scores));
    }
    let verdict = words.word("the winner")?;
    Ok(Request::End(
        if verdict.text().eq_ignore_ascii_case("draw") {
            Verdict::Draw
        } else {
            Verdict::Won(team_number(&verdict)?)
        },
    ))
}

fn points(words: &mut Words) -> Result<f64, Refusal> {
    decimal(&words.word("the points")?, "the points", MAX_POINTS)
}

fn seconds(words: &mut Words) -> Result<u32, Refusal> {
    Ok(words.number("the seconds", 0, MAX_SECONDS)? as u32)
}

fn yes_or_no(text: &Ident, what: &str) -> Result<bool, Refusal> {
    match text.text() {
        "yes" => Ok(true),
        "no" => Ok(false),
        _ => Err(bad(format!("{what} must be yes or no"))),
    }
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
mod tests;
