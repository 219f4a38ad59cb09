//! Lines that a dying connection swallows: what the mutator says again, and what the daemon makes of it.

use crate::common::{Client, Daemon};
use evenkeel::model::{MatchRecord, Outcome, record::LeaveReason};

use super::read;

/// A report that the daemon has not confirmed.
struct Kept {
    line: String,
    /// What to say if the line may have arrived.
    again: String,
    said: bool,
}

/// Stands in for the mutator's classes `EvenkeelClient` and `EvenkeelKept`.
struct StandIn<'a> {
    daemon: &'a Daemon,
    client: Client,
    kept: Vec<Kept>,
    /// What is sent from now on is lost.
    dying: bool,
    started: bool,
}

const GAME: &str = "GAME XGame.xCTFGame\nMAP CTF-FaceClassic 2 8\nTEAMS 2\n\
    JOIN ann team=0\nJOIN bob team=1\nJOIN gus team=1\n";

impl<'a> StandIn<'a> {
    /// Ann plays alone against Bob and Gus.
    async fn new(daemon: &'a Daemon) -> Self {
        let client = daemon.named("ut2004-7777 bots=no").await;
        let mut stand_in = Self {
            daemon,
            client,
            kept: Vec::new(),
            dying: false,
            started: false,
        };
        stand_in.client.tell(GAME).await;
        stand_in
    }

    async fn tell(&mut self, line: &str) {
        self.tell_or(line, line).await;
    }

    /// Tells a line, of which `again` is to be said if the line may have arrived.
    async fn tell_or(&mut self, line: &str, again: &str) {
        if !self.dying {
            self.client.send(&format!("{line}\n")).await;
        }
        self.kept.push(Kept {
            line: line.to_owned(),
            again: again.to_owned(),
            said: true,
        });
    }

    async fn start(&mut self) {
        self.tell("START").await;
        self.started = true;
    }

    /// PING: once it is answered, the daemon has all that was said before.
    async fn confirm(&mut self) -> Vec<String> {
        self.client.send("PING\n").await;
        let mut errors = Vec::new();
        loop {
            let line = self.client.line().await;
            if line == "PONG" {
                break;
            }
            errors.push(line);
        }
        self.kept.clear();
        errors
    }

    /// Connects again, without saying anything else.
    async fn dial(&mut self) {
        self.client = self.daemon.client().await;
        let hello = "HELLO ut2004-7777 resume=yes bots=no\n";
        let reply = self.client.ask(hello).await;
        assert!(reply.ends_with(" resumed"), "{reply}");
        self.dying = false;
    }

    /// Says what the daemon may not have; returns the errors.
    async fn catch_up(&mut self) -> Vec<String> {
        if self.started && self.kept.iter().all(|kept| kept.line != "START") {
            self.client.send("START\n").await;
        }
        for kept in &mut self.kept {
            let line = if kept.said { &kept.again } else { &kept.line };
            self.client.send(&format!("{line}\n")).await;
            kept.said = true;
        }
        self.confirm().await
    }
}

async fn record(daemon: &Daemon) -> MatchRecord {
    daemon.service.sessions().write_backlog().await.unwrap();
    let mut records = daemon.service.learning().matches().await.unwrap();
    assert_eq!(records.len(), 1);
    records.remove(0)
}

fn left(record: &MatchRecord, id: &str) -> Option<LeaveReason> {
    let mut participants = record.participants.iter();
    participants.find(|who| who.key.id == id).unwrap().left
}

const CONFIG: &str = "[rating]\nmin_seconds = 0\n";

/// The stand-in does what the source does.
#[test]
fn the_source_says_again_what_may_be_lost() {
    let client = read("Evenkeel/Classes/EvenkeelClient.uc");
    assert!(client.contains("return (Phase == CP_Live) && !bLost;"));
    assert!(client.contains("if ( (Verb == \"PONG\") && bPinged )"));
    assert!(client.contains("Now - HeardAt > PING_AFTER"));
    let mutator = read("Evenkeel/Classes/MutEvenkeel.uc");
    let (_, catch_up) = mutator.split_once("function CatchUp()").unwrap();
    let order = ["Client.Say(\"START\")", "TellKept()", "TellTotals()"];
    let places: Vec<_> = order.iter().map(|step| catch_up.find(step)).collect();
    assert!(places.is_sorted() && places[0].is_some(), "{places:?}");
    let scores = read("Evenkeel/Classes/EvenkeelScores.uc");
    assert!(scores.contains("\"total=\" $ (Told[t] + Change - AtStart[t])"));
}

#[tokio::test]
async fn a_lost_start_does_not_cost_the_match() {
    let (daemon, clock) = Daemon::start_by_hand(CONFIG).await;
    let mut mutator = StandIn::new(&daemon).await;
    mutator.dying = true;
    mutator.start().await;
    clock.pass(5_000);

    mutator.dial().await;
    let refused = mutator.client.ask("END 0\n").await;
    assert!(refused.starts_with("ERROR not-allowed"), "{refused}");
    assert!(mutator.catch_up().await.is_empty());
    clock.pass(60_000);
    assert_eq!(mutator.client.ask("END 0\n").await, "END 1 recorded");
    assert_eq!(record(&daemon).await.outcome, Outcome::Won(0));
}

/// Without GAME said again, the next match would go on with the last one's players, on its map.
#[tokio::test]
async fn a_lost_game_is_begun_again() {
    let (daemon, clock) = Daemon::start_by_hand(CONFIG).await;
    let mut mutator = StandIn::new(&daemon).await;
    mutator.start().await;
    assert!(mutator.confirm().await.is_empty());
    clock.pass(60_000);
    assert_eq!(mutator.client.ask("END 0\n").await, "END 1 recorded");

    mutator.dying = true;
    mutator.started = false;
    for line in [
        "GAME XGame.xCTFGame",
        "MAP CTF-Citadel",
        "JOIN eve team=0",
        "JOIN fay team=1",
    ] {
        mutator.tell(line).await;
    }
    mutator.start().await;
    mutator.dial().await;
    assert!(mutator.catch_up().await.is_empty());
    clock.pass(60_000);
    assert_eq!(mutator.client.ask("END 1\n").await, "END 2 recorded");
    daemon.service.sessions().write_backlog().await.unwrap();
    let records = daemon.service.learning().matches().await.unwrap();
    assert_eq!(records[1].map, "CTF-Citadel");
    let players = records[1].participants.iter().map(|who| &who.key.id);
    assert_eq!(players.collect::<Vec<_>>(), ["eve", "fay"]);
}

#[tokio::test]
async fn a_lost_leave_leaves_no_ghost() {
    let (daemon, clock) = Daemon::start_by_hand(CONFIG).await;
    let mut mutator = StandIn::new(&daemon).await;
    mutator.start().await;
    assert!(mutator.confirm().await.is_empty());
    clock.pass(10_000);
    mutator.dying = true;
    mutator.tell("LEAVE gus reason=timeout").await;
    mutator.tell_or("SCORE 1 1 bob", "SCORE 1 total=1").await;

    mutator.dial().await;
    let ghost = mutator.client.ask("ADVANTAGE\n").await;
    assert_eq!(ghost, "ADVANTAGE 0 1.500", "two against one");
    let errors = mutator.catch_up().await;
    assert!(
        matches!(&errors[..], [one] if one.starts_with("ERROR not-allowed play has begun")),
        "{errors:?}"
    );
    let mended = mutator.client.ask("ADVANTAGE\n").await;
    assert_eq!(mended, "ADVANTAGE - 1.000", "one against one");
    clock.pass(60_000);
    assert_eq!(mutator.client.ask("END\n").await, "END 1 recorded");
    let record = record(&daemon).await;
    assert_eq!(record.scores, [0.0, 1.0]);
    assert_eq!(left(&record, "gus"), Some(LeaveReason::Timeout));
}

/// The lines have arrived, and the connection was lost before the daemon could confirm them.
#[tokio::test]
async fn what_had_arrived_counts_once() {
    let (daemon, clock) = Daemon::start_by_hand(CONFIG).await;
    let mut mutator = StandIn::new(&daemon).await;
    mutator.start().await;
    assert!(mutator.confirm().await.is_empty());
    clock.pass(10_000);
    mutator.tell_or("SCORE 0 2 ann", "SCORE 0 total=2").await;
    mutator.tell("POINTS ann 7").await;
    mutator.tell("LEAVE gus reason=kicked").await;
    // The answer shows that they have arrived; the mutator does not get it.
    mutator.client.tell("").await;

    mutator.dial().await;
    let errors = mutator.catch_up().await;
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[1].starts_with("ERROR unknown-player"), "{errors:?}");
    clock.pass(60_000);
    assert_eq!(mutator.client.ask("END\n").await, "END 1 recorded");
    let record = record(&daemon).await;
    assert_eq!(record.scores, [2.0, 0.0]);
    assert_eq!(record.events.len(), 1);
    assert_eq!(left(&record, "gus"), Some(LeaveReason::Kicked));
}

/// The mutator asks for teams, and play begins before the answer is there. The roster is then on the
/// daemon's teams, until the mutator states the real ones; so it does, before START.
#[tokio::test]
async fn teams_chosen_without_the_answer_are_those_that_played() {
    let (daemon, clock) = Daemon::start_by_hand(CONFIG).await;
    let mut client = daemon.named("ut2004-7777 bots=no").await;
    client
        .tell("GAME XGame.xCTFGame\nTEAMS 2\nJOIN ann\nJOIN bob\nJOIN cid\nJOIN dan\n")
        .await;
    let lines = "BALANCE seed=1\nEXPLAIN\nMOVE ann 0\nMOVE bob 0\nMOVE cid 1\nMOVE dan 1\nSTART\n";
    client.send(lines).await;
    // The answer is late; where the mutator heard another team in it, it states the real one again.
    client.send("MOVE ann 0\nMOVE dan 1\nPING\n").await;
    let mut late = client.line().await;
    assert!(late.starts_with("BALANCE 6 "), "{late}");
    while late != "PONG" {
        late = client.line().await;
        assert!(!late.starts_with("ERROR"), "{late}");
    }
    clock.pass(60_000);
    assert_eq!(client.ask("END 1\n").await, "END 1 recorded");
    let record = record(&daemon).await;
    for (id, team) in [("ann", 0), ("bob", 0), ("cid", 1), ("dan", 1)] {
        let mut participants = record.participants.iter();
        let found = participants.find(|who| who.key.id == id).unwrap();
        assert_eq!(found.main_team(), Some(team), "{id}");
        assert_eq!(found.presence.len(), 1, "{id}");
    }
}

/// An administrator has taken the bots over: HELLO again says that they no longer come and go.
#[tokio::test]
async fn hello_again_takes_the_bots_back() {
    let daemon = Daemon::start(CONFIG).await;
    let mut client = daemon.named("ut2004-7777 bots=yes").await;
    client.tell(GAME).await;
    client.tell("MINPLAYERS 8\n").await;
    let bots = client.ask("BOTS\n").await;
    assert!(bots.starts_with("BOTS 8 "), "{bots}");
    client.hello("ut2004-7777 bots=no").await;
    let none = client.ask("BOTS\n").await;
    assert!(none.starts_with("BOTS 0 "), "{none}");
    assert_eq!(
        client.ask("PLACE ann\n").await.split(' ').nth(2),
        Some("0"),
        "the game goes on"
    );
}

/// Two game servers of one name: the second one takes the game of the first, whose connection ends. So
/// the default name has the port, and the mutator waits longer and longer until a connection has lasted.
#[tokio::test]
async fn servers_of_one_name_take_each_others_game() {
    let daemon = Daemon::start(CONFIG).await;
    let mut first = daemon.named("ut2004 bots=no").await;
    first.tell(GAME).await;
    let mut second = daemon.client().await;
    let reply = second.ask("HELLO ut2004 resume=yes\n").await;
    assert!(reply.ends_with(" resumed"), "{reply}");
    assert_eq!(first.rest().await, "", "closed without a word");
    let mut other = daemon.client().await;
    let reply = other.ask("HELLO ut2004-7778 resume=yes\n").await;
    assert!(reply.ends_with(" new"), "{reply}");

    let client = read("Evenkeel/Classes/EvenkeelClient.uc");
    assert!(client.contains("if ( Life >= LONG_LIFE )\n\t\t\tPause = 0.0;"));
    assert_eq!(client.matches("Pause = 0.0;").count(), 1);
    let mutator = read("Evenkeel/Classes/MutEvenkeel.uc");
    assert!(mutator.contains("return \"ut2004-\" $ Mid(Address, Colon + 1);"));
}

/// No goal in a whole match: where the score is stated, that is a draw.
#[tokio::test]
async fn a_score_of_0_that_is_stated_is_known() {
    for (stated, outcome) in [
        ("SCORE 0 total=0\nSCORE 0 total=0\n", Outcome::Draw),
        ("", Outcome::Undecided),
    ] {
        let (daemon, clock) = Daemon::start_by_hand(CONFIG).await;
        let mut mutator = StandIn::new(&daemon).await;
        mutator.start().await;
        assert!(mutator.confirm().await.is_empty());
        clock.pass(60_000);
        mutator.client.tell(stated).await;
        clock.pass(60_000);
        let end = mutator.client.ask("END\n").await;
        assert!(end.starts_with("END 1 "), "{end}");
        let record = record(&daemon).await;
        assert_eq!(record.outcome, outcome, "{stated}");
        assert_eq!(record.unscored, outcome == Outcome::Undecided);
        assert!(record.events.is_empty());
    }
}
