//! A request → the session's answer → a reply.

use crate::{
    lobby::{LobbyError, Update},
    protocol::{Code, Join, Refusal, Reply, Request},
    session::{Session, SessionError},
};

/// What the session says to one request; `None` is the silence that most commands are answered with.
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

async fn decide(session: &mut Session, request: Request) -> Result<Option<Reply>, SessionError> {
    let silent = |result: Result<(), SessionError>| result.map(|()| None);
    match request {
        Request::Game(game_type) => {
            session.game(&game_type);
            Ok(None)
        }
        Request::Mutator(name) => silent(session.mutator(&name)),
        Request::Player(id) => {
            let weight = session.player(&id)?;
            Ok(Some(Reply::Player(id, weight)))
        }
        Request::Bot(name) => {
            let weight = session.bot(&name)?;
            Ok(Some(Reply::Bot(name, weight)))
        }
        Request::MeanBot => {
            let (weight, count) = session.mean_bot()?;
            Ok(Some(Reply::MeanBot(weight, count)))
        }
        Request::Hello {
            server,
            token,
            resume,
        } => {
            let resumed = session
                .hello(&server, token.map(|token| token.secret()).as_ref(), resume)
                .await?;
            Ok(Some(Reply::hello(resumed)))
        }
        Request::Ping => Ok(Some(Reply::Pong)),
        Request::Quit => Ok(None),
        Request::Map { name, range } => silent(session.map(&name, range)),
        Request::Teams(teams) => silent(session.teams(teams)),
        Request::MinPlayers(players) => {
            session.min_players(players);
            Ok(None)
        }
        Request::Join(join) => {
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
            silent(session.join(&id, update))
        }
        Request::Leave(id) => silent(session.leave(&id)),
        Request::Move { id, team } => silent(session.move_to(&id, team)),
        Request::BotJoin { name, team } => silent(session.bot_join(&name, team)),
        Request::BotLeave(name) => silent(session.bot_leave(&name)),
        Request::Balance { top, seed } => {
            let balanced = session.balance(top, seed).await?;
            Ok(Some(Reply::Balance {
                ratio: balanced.ratio,
                chance: balanced.chance,
                seed: balanced.seed,
                humans: balanced.humans,
                bots: balanced.bots,
            }))
        }
        Request::Explain => Ok(Some(Reply::Explain(session.explain()?.to_vec()))),
        Request::Bots => {
            let plan = session.bots()?;
            Ok(Some(Reply::Bots(plan.players, plan.per_team)))
        }
        Request::Place(id) => {
            let (team, ratio) = session.place(&id, None)?;
            Ok(Some(Reply::Place(id, team, ratio)))
        }
        Request::Advantage => {
            let help = session.advantage()?;
            Ok(Some(Reply::Advantage(
                help.map(|help| (help.team, help.factor)),
            )))
        }
        Request::Rebalance { seed } => {
            let advice = session.rebalance(seed)?;
            Ok(Some(Reply::Rebalance {
                before: advice.before,
                after: advice.after,
                moves: advice.steps,
            }))
        }
        Request::Protect { id, seconds } => silent(session.protect(&id, seconds)),
        Request::Start => silent(session.start()),
        Request::Score { team, points, by } => silent(session.score(team, points, by.as_ref())),
        Request::Points { id, points } => silent(session.points(&id, points)),
        Request::Kill { killer, victim } => silent(session.kill(&killer, &victim)),
        Request::Death(id) => Ok(session.died(&id)?.map(Reply::Move)),
        Request::Clock(seconds) => silent(session.clock(seconds)),
        Request::End(verdict) => {
            let ended = session.end(verdict).await?;
            Ok(Some(Reply::End {
                id: ended.id.to_string(),
                unrated: ended.unrated.map(str::to_owned),
            }))
        }
    }
}

/// What a peer may know of an error. The database's words go to the log.
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
