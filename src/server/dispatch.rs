//! A request → the session's answer → a reply.

use crate::{
    domain::Ident,
    lobby::{LobbyError, Update},
    protocol::{Code, Join, Refusal, Reply, Request},
    session::{Session, SessionError},
};

/// Passes one request to the session. `None` is the silence with which most commands are answered.
pub(super) async fn answer(
    session: &mut Session,
    request: Request,
) -> Result<Option<Reply>, Refusal> {
    if session.must_say_hello() && !matches!(request, Request::Hello { .. }) {
        let text = "say HELLO <server> <token> first".to_owned();
        return Err(Refusal {
            code: Code::NotAllowed,
            text,
        });
    }
    decide(session, request).await.map_err(refusal)
}

/// Answers a request. These three wait: for another session to end, for a core, for the disk.
async fn decide(session: &mut Session, request: Request) -> Result<Option<Reply>, SessionError> {
    Ok(Some(match request {
        Request::Hello {
            server,
            token,
            resume,
        } => {
            let token = token.map(|token| token.secret());
            let resumed = session.hello(&server, token.as_ref(), resume).await?;
            Reply::hello(resumed)
        }
        Request::Balance { top, seed } => {
            let balanced = session.balance(top, seed).await?;
            Reply::Balance {
                ratio: balanced.ratio,
                chance: balanced.chance,
                seed: balanced.seed,
                humans: balanced.humans,
                bots: balanced.bots,
            }
        }
        Request::End(verdict) => {
            let ended = session.end(verdict).await?;
            Reply::End {
                id: ended.id.to_string(),
                unrated: ended.unrated.map(str::to_owned),
            }
        }
        request => return decide_now(session, request),
    }))
}

/// Answers a request that waits for nothing.
fn decide_now(session: &mut Session, request: Request) -> Result<Option<Reply>, SessionError> {
    Ok(Some(match request {
        Request::Player(id) => {
            let weight = session.player(&id)?;
            Reply::Player(id, weight)
        }
        Request::Bot(name) => {
            let weight = session.bot(&name)?;
            Reply::Bot(name, weight)
        }
        Request::MeanBot => {
            let (weight, count) = session.mean_bot()?;
            Reply::MeanBot(weight, count)
        }
        Request::Ping => Reply::Pong,
        Request::Explain => Reply::Explain(session.explain()?.to_vec()),
        Request::Bots => {
            let plan = session.bots()?;
            Reply::Bots(plan.players, plan.per_team)
        }
        Request::Place(id) => {
            let (team, ratio) = session.place(&id, None)?;
            Reply::Place(id, team, ratio)
        }
        Request::Advantage => {
            let help = session.advantage()?;
            Reply::Advantage(help.map(|help| (help.team, help.factor)))
        }
        Request::Rebalance { seed } => {
            let advice = session.rebalance(seed)?;
            Reply::Rebalance {
                before: advice.before,
                after: advice.after,
                moves: advice.steps,
            }
        }
        Request::Death(id) => return Ok(session.died(&id)?.map(Reply::Move)),
        request => {
            change(session, request)?;
            return Ok(None);
        }
    }))
}

/// Carries out a request that is answered with nothing.
fn change(session: &mut Session, request: Request) -> Result<(), SessionError> {
    match request {
        Request::Game(game_type) => {
            session.game(&game_type);
            Ok(())
        }
        Request::Mutator(name) => session.mutator(&name),
        Request::Map { name, range } => session.map(&name, range),
        Request::Teams(teams) => session.teams(teams),
        Request::MinPlayers(players) => {
            session.min_players(players);
            Ok(())
        }
        Request::Join(join) => {
            let (id, update) = update(join);
            session.join(&id, update)
        }
        Request::Leave(id) => session.leave(&id),
        Request::Move { id, team } => session.move_to(&id, team),
        Request::BotJoin { name, team } => session.bot_join(&name, team),
        Request::BotLeave(name) => session.bot_leave(&name),
        Request::Protect { id, seconds } => session.protect(&id, seconds),
        Request::Start => session.start(),
        Request::Score { team, points, by } => session.score(team, points, by.as_ref()),
        Request::Points { id, points } => session.points(&id, points),
        Request::Kill { killer, victim } => session.kill(&killer, &victim),
        Request::Clock(seconds) => session.clock(seconds),
        // The connection closes on QUIT; the others have a reply.
        Request::Quit
        | Request::Hello { .. }
        | Request::Ping
        | Request::Player(_)
        | Request::Bot(_)
        | Request::MeanBot
        | Request::Balance { .. }
        | Request::Bots
        | Request::Place(_)
        | Request::Advantage
        | Request::Rebalance { .. }
        | Request::Explain
        | Request::Death(_)
        | Request::End(_) => Ok(()),
    }
}

fn update(join: Join) -> (Ident, Update) {
    let text = |id: Ident| id.text().to_owned();
    let update = Update {
        name: join.name.map(text),
        party: join.party.map(text),
        team: join.team,
        pin: join.pin,
        avoid: join.avoid.map(|ids| ids.into_iter().map(text).collect()),
    };
    (join.id, update)
}

/// What a peer learns of an error. Details of the database go to the log alone.
fn refusal(error: SessionError) -> Refusal {
    let code = match &error {
        SessionError::Lobby(error) => match error {
            LobbyError::NoGame => Code::NoGame,
            LobbyError::UnknownPlayer => Code::UnknownPlayer,
            LobbyError::RosterFull => Code::RosterFull,
            LobbyError::NoTeams | LobbyError::NotStarted => Code::NotAllowed,
            LobbyError::Nobody
            | LobbyError::NoSuchTeam(_)
            | LobbyError::BadTeams(_)
            | LobbyError::TeamInUse
            | LobbyError::TooManyMutators
            | LobbyError::Record(_) => Code::BadArgument,
        },
        SessionError::NotAllowed(_) => Code::NotAllowed,
        SessionError::BadArgument(_) => Code::BadArgument,
        SessionError::Overloaded => Code::Overloaded,
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
