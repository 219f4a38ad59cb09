//! What a session causes is logged with the number of the session and the name of its game server,
//! whichever task or thread logs it.

use std::sync::mpsc;

use crate::common::{
    Client,
    process::{HANG, Process},
    sql,
};
use tempfile::TempDir;

/// What a daemon logs.
struct Log<'a> {
    received: &'a mpsc::Receiver<String>,
    lines: Vec<String>,
}

impl<'a> Log<'a> {
    fn of(process: &'a Process) -> Self {
        Self {
            received: &process.log,
            lines: Vec::new(),
        }
    }

    /// Reads on to the next line with these words.
    fn wait_for(&mut self, words: &str) -> String {
        loop {
            let line = self.received.recv_timeout(HANG);
            let line = line.unwrap_or_else(|_| panic!("no `{words}` after {:#?}", self.lines));
            self.lines.push(line.clone());
            if line.contains(words) {
                return line;
            }
        }
    }
}

const GAME: &str = "GAME ctf\nMINPLAYERS 0\nJOIN a team=0\nJOIN b team=1\n";

#[tokio::test]
async fn every_line_of_a_session_has_its_number_and_its_server() {
    let folder = TempDir::new().unwrap();
    let filter = [("EVENKEEL_LOG_FILTER", "evenkeel=debug")];
    let process = Process::start_with(folder.path(), &filter);
    let (address, mut daemon) = (process.address, Log::of(&process));
    daemon.wait_for("weights derived");
    let began = daemon.lines.len();
    let database = folder.path().join("evenkeel.db");

    let (mut east, mut west) = (
        Client::connect(address).await,
        Client::connect(address).await,
    );
    // Before HELLO a session has its number alone: from here on both have names.
    for (client, name) in [(&mut west, "west"), (&mut east, "east")] {
        let hello = client.ask(&format!("HELLO {name}\n")).await;
        assert!(hello.starts_with("HELLO evenkeel/"), "{hello}");
    }
    east.tell(&format!("{GAME}LEAVE b\nJOIN b team=1\n")).await;
    let gaming = daemon.wait_for("this player may be exploiting the balancing");
    // The connection breaks, and another one takes the game up.
    drop(east);
    daemon.wait_for("connection ended");
    let mut east = Client::connect(address).await;
    east.ask("HELLO east resume=yes\n").await;
    let resumed = daemon.wait_for("parked game resumed");
    // What is learned from the match, and the decisions, cannot be written: other tasks log that.
    let refuses = "CREATE TRIGGER refuses BEFORE INSERT ON decisions BEGIN SELECT RAISE(ABORT, 'refused'); END;
         DROP TABLE rulings";
    sql(&database, refuses).await;
    east.tell("START\nSCORE 0\n").await;
    east.ask("PLACE b\n").await;
    assert!(east.ask("END\n").await.starts_with("END 1 "));
    let decisions = daemon.wait_for("decisions of a game are not on disk");
    let ended = daemon.wait_for("game ended");
    let learning = daemon.wait_for("cannot learn from a match");
    // The match of the other session cannot be written at all.
    west.tell(&format!("{GAME}START\nSCORE 0\n")).await;
    sql(&database, "DROP TABLE match_players").await;
    assert!(west.ask("END\n").await.starts_with("ERROR internal "));
    let failed = daemon.wait_for("a match cannot be recorded now and is kept");

    // 0 and 1 are the numbers in the order in which the connections were accepted.
    let span = |id: u64, server: &str| format!(r#"session{{id={id} server="{server}"}}"#);
    let number = match gaming.contains(&span(0, "east")) {
        true => 0,
        false => 1,
    };
    for (line, id, server) in [
        (&gaming, number, "east"),
        (&resumed, 2, "east"),
        (&ended, 2, "east"),
        (&decisions, 2, "east"),
        (&learning, 2, "east"),
        (&failed, 1 - number, "west"),
    ] {
        assert!(line.contains(&span(id, server)), "{line}");
    }
    // A line without a session belongs to the daemon itself: what it retries for all sessions.
    let of_all = [
        "cannot write matches and decisions now",
        "cannot check for new matches",
    ];
    for line in &daemon.lines[began..] {
        let named = line.contains("session{id=") && line.contains(" server=\"");
        assert!(
            named || of_all.iter().any(|words| line.contains(words)),
            "{line}"
        );
    }
}
