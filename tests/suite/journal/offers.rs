//! A daemon that is killed while players are asked: the next one goes on with the offer.

use std::{io::BufReader, net::TcpStream, path::Path, sync::Arc};

use evenkeel::{
    lobby::{Command, Update, command::OfferEvent},
    model::{Timestamp, ident::Ident, in_game::SwitchAnswer},
    server::Service,
    session::{HandClock, Session},
    store,
};
use tempfile::TempDir;

use crate::common::{
    BUSY, config,
    process::{Process, ask, line},
};

/// A service over the database and the journal of this folder, whose clock shows this second.
async fn service(folder: &Path, second: i64) -> (Arc<Service>, Arc<HandClock>) {
    let clock = HandClock::new(Timestamp(1_000_000_000_000 + second * 1_000));
    let clock = Arc::new(clock);
    let path = folder.join("evenkeel.db");
    let store = store::open(&path, true, BUSY).await.unwrap();
    let settings = config("rebalance.ask_seconds = 60").service();
    let service = Service::open_with_clock(store, settings, clock.clone()).unwrap();
    service.learning().refresh().await.unwrap();
    let games = folder.join("evenkeel.games");
    service.sessions().open_journal(&games).await.unwrap();
    (Arc::new(service), clock)
}

/// A connection of the server that asks its players. Returns whether its game goes on.
async fn hello(service: &Service) -> (Session, bool) {
    let mut session = service.open_session();
    session.declare_offers(Some(true));
    let resumed = session.hello(&Ident::from_text("s"), true, None).await;
    (session, resumed.unwrap().unwrap())
}

#[tokio::test]
async fn a_killed_daemon_goes_on_asking() {
    let folder = TempDir::new().unwrap();
    let (first, _clock) = service(folder.path(), 0).await;
    let (mut session, _) = hello(&first).await;
    let game = session.new_game(&Ident::from_text("ctf"));
    session.apply(&game).unwrap();
    for (id, team) in [("a", 0), ("b", 0), ("c", 0), ("d", 0), ("e", 1), ("f", 1)] {
        let (id, team) = (Ident::from_text(id), Some(team));
        let update = Update {
            team,
            ..Update::default()
        };
        session.apply(&Command::Join { id, update }).unwrap();
    }
    session
        .apply(&Command::DeclareBots { acts: false })
        .unwrap();
    session.apply(&Command::Start).unwrap();
    let advice = session.ask_and_rebalance(Some(1)).unwrap();
    assert_eq!(advice.steps, []);
    let events = session.take_offer_events();
    let [OfferEvent::Open(moves, 60_000)] = &events[..] else {
        panic!("{events:?}")
    };
    session.write_journal();
    // The journal is on the disk; what the daemon would still do is not done.
    session.close(false);
    drop(session);
    first.close().await;
    drop(first);

    let (second, clock) = service(folder.path(), 40).await;
    let (mut session, resumed) = hello(&second).await;
    assert!(resumed);
    assert_eq!(
        session.take_offer_events(),
        [OfferEvent::Open(moves.clone(), 20_000)]
    );
    clock.pass(19_999);
    session.pass_time();
    assert_eq!(session.take_offer_events(), []);
    clock.pass(1);
    session.pass_time();
    let events = session.take_offer_events();
    let [
        OfferEvent::Moved {
            moves: made,
            volunteered: false,
            ..
        },
    ] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(made, moves);
    let answer = session.volunteer(&Ident::from_text("a")).unwrap();
    assert_eq!(answer, SwitchAnswer::NoOffer);
}

/// The lines up to the first one that begins with this word.
fn up_to(stream: &mut BufReader<TcpStream>, text: &str, word: &str) -> Vec<String> {
    let mut lines = vec![ask(stream, text)];
    while !lines[lines.len() - 1].starts_with(word) {
        lines.push(line(stream));
    }
    lines
}

#[test]
fn a_process_that_is_killed_while_players_are_asked_takes_volunteers_afterwards() {
    let folder = TempDir::new().unwrap();
    let asks = [("EVENKEEL_REBALANCE_ASK_SECONDS", "600")];
    let mut daemon = Process::start_with(folder.path(), &asks);
    let mut stream = daemon.connect();
    ask(&mut stream, "HELLO s bots=no offers=yes\n");
    let game =
        "GAME ctf\nJOIN a team=0\nJOIN b team=0\nJOIN c team=0\nJOIN d team=1\nSTART\nREBALANCE\n";
    let lines = up_to(&mut stream, game, "REBALANCE ");
    let [offer, _] = &lines[..] else {
        panic!("{lines:?}")
    };
    let (named, _) = offer.rsplit_once(' ').unwrap();
    daemon.kill();

    let daemon = Process::start_with(folder.path(), &asks);
    let mut stream = daemon.connect();
    let hello = ask(&mut stream, "HELLO s resume=yes bots=no offers=yes\n");
    assert!(hello.ends_with(" resumed"), "{hello}");
    let again = line(&mut stream);
    assert!(again.starts_with(named), "{again} is not {offer}");
    let volunteer = ["a", "b", "c"];
    let volunteer = volunteer
        .into_iter()
        .find(|id| !named.contains(&format!(" {id} ")));
    let volunteer = volunteer.unwrap();
    let lines = up_to(&mut stream, &format!("SWITCH {volunteer}\n"), "SWITCH ");
    let expected = [
        format!("* MOVE {volunteer} 0 1"),
        format!("SWITCH {volunteer} taken"),
    ];
    assert_eq!(lines, expected);
}
