//! The handlers of the verbs about games: each request becomes a call of the session, and its result a reply.

use crate::{
    lobby::{Command, LobbyError, Update, command::OfferEvent},
    model::{
        ident::Ident,
        in_game::{Move, Verdict},
    },
    protocol::{Code, Refusal, Reply, Request, push::GameNotice, request::Join},
    session::{Session, SessionError},
};

/// What the session did: a reply, none as for most requests, or why it has refused the request.
type Handled = Result<Option<Reply>, SessionError>;

/// Passes a request to the session.
pub(super) async fn answer(session: &mut Session, request: Request) -> Handled {
    if human(&request).is_some_and(Ident::is_nobody) {
        return Err(LobbyError::SharedId.into());
    }
    enter_arm(session, &request).await;
    let command = match request {
        Request::Game(game_type) => session.new_game(&game_type),
        Request::Mutator(name) => Command::Mutator { name: text(&name) },
        Request::Map { name, range } => Command::Map {
            name: text(&name),
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
        Request::Start => return start(session).await,
        Request::Score { team, points, by } => Command::Score { team, points, by },
        Request::Total { team, points } => return total(session, team, points),
        Request::Points { id, points } => Command::Points { id, points },
        Request::Kill { killer, victim } => Command::Kill { killer, victim },
        Request::Clock(seconds) => Command::Clock {
            left: millis(seconds),
        },
        Request::Death(id) => return Ok(session.died(&id)?.map(Reply::Move)),
        Request::Player(id) => return player(session, id),
        Request::Bot(name) => return bot(session, name),
        Request::Rank(id) => return rank(session, id),
        Request::MeanBot => return mean_bot(session),
        Request::Balance { top, seed } => return balance(session, top, seed).await,
        Request::Bots => return bots(session),
        Request::Place(id) => return place(session, id),
        Request::Advantage => return advantage(session),
        Request::Rebalance { seed, ask } => return rebalance(session, seed, ask),
        Request::Switch(id) => return switch(session, id),
        Request::Explain => return Ok(Some(Reply::Explain(session.explain()?.to_vec()))),
        Request::End(verdict) => return end(session, verdict).await,
        Request::Ping => return Ok(Some(Reply::Pong)),
        Request::Hello {
            server,
            resume,
            bots,
            offers,
            streaks,
            hosts,
            ..
        } => {
            session.declare_offers(offers);
            session.declare_streaks(streaks);
            return hello(session, &server, resume, bots, hosts).await;
        }
        // The connection handles these itself.
        Request::Quit | Request::Behaviour { .. } | Request::Queue(_) | Request::Host(_) => {
            return Ok(None);
        }
    };
    session.apply(&command)?;
    Ok(None)
}

async fn start(session: &mut Session) -> Handled {
    session.apply(&Command::Start)?;
    // START may have given the game another number.
    session.enter_arm().await;
    session.note_changed_teams().await;
    Ok(None)
}

/// Draws the arm of the game before the first request about which the policy of an experiment may decide.
async fn enter_arm(session: &mut Session, request: &Request) {
    match request {
        Request::Balance { .. } | Request::Start => session.begin_arm().await,
        Request::Score { .. }
        | Request::Total { .. }
        | Request::Death(_)
        | Request::Place(_)
        | Request::Advantage
        | Request::Rebalance { .. }
        | Request::Switch(_) => session.enter_arm().await,
        _ => {}
    }
}

/// The human whom a request is about.
fn human(request: &Request) -> Option<&Ident> {
    match request {
        Request::Join(Join { id, .. })
        | Request::Leave { id, .. }
        | Request::Move { id, .. }
        | Request::Player(id)
        | Request::Rank(id)
        | Request::Place(id)
        | Request::Protect { id, .. }
        | Request::Role { id, .. }
        | Request::Switch(id) => Some(id),
        _ => None,
    }
}

async fn hello(
    session: &mut Session,
    server: &Ident,
    resume: bool,
    bots: Option<bool>,
    hosts: Option<i64>,
) -> Handled {
    let resumed = session.hello(server, resume, hosts).await?;
    if let Some(acts) = bots {
        session.declare_bots(acts)?;
    }
    Ok(Some(Reply::hello(resumed)))
}

fn joined(join: Join) -> Command {
    let Join {
        id,
        name,
        party,
        team,
        pin,
        avoid,
        wish,
    } = join;
    let update = Update {
        name: name.as_ref().map(text),
        party: party.as_ref().map(text),
        team,
        pin,
        avoid: avoid.map(|ids| ids.iter().map(text).collect()),
        wish,
    };
    Command::Join { id, update }
}

fn text(ident: &Ident) -> String {
    ident.text().to_owned()
}

fn millis(seconds: u32) -> u64 {
    u64::from(seconds) * 1_000
}

/// Brings the score of a team to this number of points.
fn total(session: &mut Session, team: u8, points: f64) -> Handled {
    let score = session.score(team);
    if score != Some(points) {
        let points = points - score.unwrap_or_default();
        let by = None;
        session.apply(&Command::Score { team, points, by })?;
    }
    Ok(None)
}

fn player(session: &mut Session, id: Ident) -> Handled {
    let weight = session.player(&id)?;
    Ok(Some(Reply::Player(id, weight)))
}

fn bot(session: &mut Session, name: Ident) -> Handled {
    let weight = session.bot(&name)?;
    Ok(Some(Reply::Bot(name, weight)))
}

fn mean_bot(session: &mut Session) -> Handled {
    let (weight, count) = session.mean_bot()?;
    Ok(Some(Reply::MeanBot(weight, count)))
}

fn bots(session: &mut Session) -> Handled {
    let plan = session.bots()?;
    Ok(Some(Reply::Bots(plan.players, plan.per_team)))
}

fn place(session: &mut Session, id: Ident) -> Handled {
    let placed = session.place(&id, None)?;
    Ok(Some(Reply::Place(id, placed.team, placed.ratio)))
}

fn advantage(session: &mut Session) -> Handled {
    let help = session.advantage()?.map(|help| (help.team, help.factor));
    Ok(Some(Reply::Advantage(help)))
}

async fn balance(session: &mut Session, top: Option<usize>, seed: Option<u64>) -> Handled {
    let balanced = session.balance(top, seed).await?;
    Ok(Some(Reply::Balance {
        ratio: balanced.ratio,
        chance: balanced.chance,
        seed: balanced.seed,
        humans: balanced.humans,
        bots: balanced.bots,
    }))
}

fn switch(session: &mut Session, id: Ident) -> Handled {
    let answer = session.volunteer(&id)?;
    Ok(Some(Reply::Switch(id, answer)))
}

fn rebalance(session: &mut Session, seed: Option<u64>, ask: bool) -> Handled {
    let advice = match ask {
        true => session.ask_and_rebalance(seed)?,
        false => session.rebalance(seed)?,
    };
    Ok(Some(Reply::Rebalance {
        before: advice.before,
        after: advice.after,
        moves: advice.steps,
    }))
}

fn rank(session: &mut Session, id: Ident) -> Handled {
    let rank = session.rank(&id)?;
    Ok(Some(Reply::Rank {
        id,
        division: rank.division,
        games: rank.games,
        weight: rank.weight,
    }))
}

async fn end(session: &mut Session, verdict: Verdict) -> Handled {
    let ended = session.end(verdict).await?;
    Ok(Some(Reply::End {
        id: ended.id.to_string(),
        unrated: ended.unrated,
    }))
}

/// What a peer is sent about an offer.
pub(super) fn notices(event: OfferEvent) -> Vec<GameNotice> {
    let notice =
        |moves: Vec<Move>, of: &dyn Fn(Move) -> GameNotice| moves.into_iter().map(of).collect();
    match event {
        OfferEvent::Open(moves, left) => {
            let seconds = u32::try_from(left.div_ceil(1_000)).unwrap_or(u32::MAX);
            notice(moves, &|step| GameNotice::Offer(step, seconds))
        }
        OfferEvent::Withdrawn(moves, why) => {
            notice(moves, &|step| GameNotice::Withdrawn(step.id, why))
        }
        OfferEvent::Moved { moves, .. } => notice(moves, &GameNotice::Move),
    }
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
        SessionError::NotAllowed(_) | SessionError::Reported(_) => Code::NotAllowed,
        SessionError::BadArgument(_) | SessionError::Stated(_) => Code::BadArgument,
        SessionError::NotReady
        | SessionError::NoTurn(_)
        | SessionError::TooManyReports(_)
        | SessionError::UsedUp { .. } => Code::Overloaded,
        SessionError::Deferred => Code::Internal,
        SessionError::Store(_) | SessionError::Task(_) => {
            tracing::error!(%error, "a command failed");
            return Refusal::new(Code::Internal, "see the daemon's log");
        }
    };
    Refusal::new(code, error.to_string())
}
