//! Converts requests to calls of the session, and its answers to replies.

use crate::{
    domain::{Ident, Verdict},
    lobby::{Command, LobbyError, Update},
    protocol::{Code, Join, Refusal, Reply, Request},
    session::{Session, SessionError},
};

/// Passes a request to the session. `None` means that the request has no reply, like most.
pub(super) async fn answer(
    session: &mut Session,
    request: Request,
) -> Result<Option<Reply>, Refusal> {
    decide(session, request).await.map_err(refusal)
}

/// Passes BEHAVIOUR of a configured client, or of any other connection, to the session.
pub(super) async fn behaviour(
    session: &mut Session,
    client: Option<&str>,
    id: &Ident,
    points: f64,
) -> Result<Option<Reply>, Refusal> {
    let reported = session.report_behaviour(client, id, points).await;
    reported.map(|()| None).map_err(refusal)
}

/// Applies a request that changes the game, and passes on any other.
async fn decide(session: &mut Session, request: Request) -> Result<Option<Reply>, SessionError> {
    let command = match request {
        Request::Game(game_type) => session.new_game(&game_type),
        Request::Mutator(name) => Command::Mutator {
            name: name.text().to_owned(),
        },
        Request::Map { name, range } => Command::Map {
            name: name.text().to_owned(),
            players: range,
        },
        Request::Teams(teams) => Command::Teams { teams },
        Request::MinPlayers(players) => Command::MinPlayers { players },
        Request::Join(join) => joined(join),
        Request::Leave { id, reason } => Command::Leave { id, reason },
        Request::Move { id, team } => Command::Move { id, team },
        Request::BotJoin { name, team } => Command::BotJoin { name, team },
        Request::BotLeave(name) => Command::BotLeave { name },
        Request::Protect { id, seconds } => Command::Protect {
            id,
            millis: seconds.map(millis),
        },
        Request::Role { id, role } => Command::Role { id, role },
        Request::Start => Command::Start,
        Request::Score { team, points, by } => Command::Score { team, points, by },
        Request::Total { team, points } => match session.score(team) {
            Some(score) if score == points => return Ok(None),
            score => Command::Score {
                team,
                points: points - score.unwrap_or_default(),
                by: None,
            },
        },
        Request::Points { id, points } => Command::Points { id, points },
        Request::Kill { killer, victim } => Command::Kill { killer, victim },
        Request::Clock(seconds) => Command::Clock {
            left: millis(seconds),
        },
        Request::Death(id) => return Ok(session.died(&id)?.map(Reply::Move)),
        question => return reply(session, question).await,
    };
    session.apply(&command)?;
    Ok(None)
}

fn joined(join: Join) -> Command {
    let Join {
        id,
        name,
        party,
        team,
        pin,
        avoid,
    } = join;
    let update = Update {
        name: name.map(|name| name.text().to_owned()),
        party: party.map(|party| party.text().to_owned()),
        team,
        pin,
        avoid: avoid.map(|ids| ids.iter().map(|id| id.text().to_owned()).collect()),
    };
    Command::Join { id, update }
}

fn millis(seconds: u32) -> u64 {
    u64::from(seconds) * 1_000
}

async fn balance(
    session: &mut Session,
    top: Option<usize>,
    seed: Option<u64>,
) -> Result<Reply, SessionError> {
    let balanced = session.balance(top, seed).await?;
    Ok(Reply::Balance {
        ratio: balanced.ratio,
        chance: balanced.chance,
        seed: balanced.seed,
        humans: balanced.humans,
        bots: balanced.bots,
    })
}

fn rebalance(session: &mut Session, seed: Option<u64>) -> Result<Reply, SessionError> {
    let advice = session.rebalance(seed)?;
    Ok(Reply::Rebalance {
        before: advice.before,
        after: advice.after,
        moves: advice.steps,
    })
}

fn rank(session: &mut Session, id: Ident) -> Result<Reply, SessionError> {
    let rank = session.rank(&id)?;
    Ok(Reply::Rank {
        id,
        division: rank.division,
        games: rank.games,
        weight: rank.weight,
    })
}

/// The options of HELLO.
struct Introduction {
    resume: bool,
    bots: Option<bool>,
    hosts: Option<i64>,
}

async fn hello(
    session: &mut Session,
    server: &Ident,
    how: Introduction,
) -> Result<Reply, SessionError> {
    let resumed = session.hello(server, how.resume, how.hosts).await?;
    if let Some(acts) = how.bots {
        session.declare_bots(acts)?;
    }
    Ok(Reply::hello(resumed))
}

async fn end(session: &mut Session, verdict: Verdict) -> Result<Reply, SessionError> {
    let ended = session.end(verdict).await?;
    Ok(Reply::End {
        id: ended.id.to_string(),
        unrated: ended.unrated,
    })
}

/// Handles a request that always has a reply.
fn advantage(session: &mut Session) -> Result<Reply, SessionError> {
    let help = session.advantage()?;
    Ok(Reply::Advantage(help.map(|help| (help.team, help.factor))))
}

async fn reply(session: &mut Session, request: Request) -> Result<Option<Reply>, SessionError> {
    Ok(Some(match request {
        Request::Balance { top, seed } => balance(session, top, seed).await?,
        Request::Rebalance { seed } => rebalance(session, seed)?,
        Request::Place(id) => {
            let placed = session.place(&id, None)?;
            Reply::Place(id, placed.team, placed.ratio)
        }
        Request::Advantage => advantage(session)?,
        Request::Player(id) => {
            let weight = session.player(&id)?;
            Reply::Player(id, weight)
        }
        Request::Bot(name) => {
            let weight = session.bot(&name)?;
            Reply::Bot(name, weight)
        }
        Request::Rank(id) => rank(session, id)?,
        Request::MeanBot => {
            let (weight, count) = session.mean_bot()?;
            Reply::MeanBot(weight, count)
        }
        Request::Hello {
            server,
            token: _,
            resume,
            bots,
            hosts,
        } => {
            let how = Introduction {
                resume,
                bots,
                hosts,
            };
            hello(session, &server, how).await?
        }
        Request::Ping => Reply::Pong,
        Request::Explain => Reply::Explain(session.explain()?.to_vec()),
        Request::Bots => {
            let plan = session.bots()?;
            Reply::Bots(plan.players, plan.per_team)
        }
        Request::End(verdict) => end(session, verdict).await?,
        // The caller has handled these, and the connection those of QUIT, queues and instances. They are
        // listed so that the compiler reports a new verb that is missing here.
        Request::Quit
        | Request::Death(_)
        | Request::Game(_)
        | Request::Mutator(_)
        | Request::Map { .. }
        | Request::Teams(_)
        | Request::MinPlayers(_)
        | Request::Join(_)
        | Request::Leave { .. }
        | Request::Move { .. }
        | Request::BotJoin { .. }
        | Request::BotLeave(_)
        | Request::Protect { .. }
        | Request::Role { .. }
        | Request::Start
        | Request::Score { .. }
        | Request::Total { .. }
        | Request::Points { .. }
        | Request::Kill { .. }
        | Request::Clock(_)
        | Request::Behaviour { .. }
        | Request::Queue(_)
        | Request::Host(_) => return Ok(None),
    }))
}

/// Converts an error for the peer. Details of the database are only logged.
pub fn refusal(error: SessionError) -> Refusal {
    let code = match &error {
        SessionError::Lobby(error) => match error {
            LobbyError::NoGame => Code::NoGame,
            LobbyError::UnknownPlayer => Code::UnknownPlayer,
            LobbyError::RosterFull => Code::RosterFull,
            LobbyError::NoTeams | LobbyError::NotStarted | LobbyError::AlreadyStarted => {
                Code::NotAllowed
            }
            LobbyError::SharedId
            | LobbyError::NoSuchTeam(_)
            | LobbyError::BadTeams(_)
            | LobbyError::TeamInUse
            | LobbyError::TooManyMutators
            | LobbyError::BadChances
            | LobbyError::Record(_) => Code::BadArgument,
        },
        SessionError::NotAllowed(_) => Code::NotAllowed,
        SessionError::BadArgument(_) => Code::BadArgument,
        SessionError::NotReady | SessionError::Overloaded | SessionError::TooManyReports(_) => {
            Code::Overloaded
        }
        SessionError::Kept => Code::Internal,
        SessionError::Store(_) | SessionError::Task(_) => {
            tracing::error!(%error, "a command failed");
            return Refusal {
                code: Code::Internal,
                text: "see the daemon's log".to_owned(),
            };
        }
    };
    Refusal {
        code,
        text: error.to_string(),
    }
}
