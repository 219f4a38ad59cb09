//! What the tests share: a service over a database of its own, a daemon on port 0, and a client that
//! speaks lines.
#![allow(dead_code)] // every test file uses a part

use std::{io::Write, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use evenkeel::{
    config::Config,
    daemon,
    domain::{
        Kind, MatchRecord, Outcome, Participant, PlayerKey, Presence, ScoreEvent, Span, Timestamp,
    },
    server::Limits,
    service::Service,
    session::HandClock,
    store::{self, Store, WeightRow},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
};

/// No test waits for a lock.
pub const BUSY: Duration = Duration::ZERO;

/// A configuration with these lines over the defaults.
pub fn config(toml: &str) -> Config {
    Config::load(toml, []).unwrap()
}

/// A service over a new database, which lives as long as the folder.
pub async fn service(config: &Config) -> (Arc<Service>, TempDir) {
    let (store, folder) = new_store().await;
    let service = Service::open(store, config.service()).unwrap();
    (Arc::new(service), folder)
}

async fn new_store() -> (Arc<dyn Store>, TempDir) {
    let folder = TempDir::new().unwrap();
    let store = store::open(&folder.path().join("test.db"), true, BUSY)
        .await
        .unwrap();
    (store, folder)
}

/// All weights on disk.
pub async fn weights(service: &Service) -> Vec<WeightRow> {
    let mut rows = Vec::new();
    for ruleset in service.store().rulesets().await.unwrap() {
        for kind in [Kind::Human, Kind::Bot] {
            rows.extend(service.store().weights(&ruleset, kind).await.unwrap());
        }
    }
    rows
}

/// A daemon in this process.
pub struct Daemon {
    pub address: SocketAddr,
    pub service: Arc<Service>,
    pub task: JoinHandle<()>,
    stop: Option<oneshot::Sender<()>>,
    pub folder: TempDir,
}

impl Daemon {
    pub async fn start(toml: &str) -> Self {
        let config = config(toml);
        Self::start_with(&config, config.limits()).await
    }

    pub async fn start_with(config: &Config, limits: Limits) -> Self {
        let (service, folder) = service(config).await;
        Self::serve(service, folder, limits).await
    }

    /// One whose sessions' time passes only when the test says so.
    pub async fn start_by_hand(toml: &str) -> (Self, Arc<HandClock>) {
        let config = config(toml);
        let clock = Arc::new(HandClock::new(Timestamp(1_000_000_000_000)));
        let (store, folder) = new_store().await;
        let service = Service::open_with_clock(store, config.service(), clock.clone()).unwrap();
        let service = Arc::new(service);
        let daemon = Self::serve(service, folder, config.limits()).await;
        (daemon, clock)
    }

    async fn serve(service: Arc<Service>, folder: TempDir, limits: Limits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(daemon::run(listener, service.clone(), limits, async {
            let _ = stopped.await;
        }));
        Self {
            address,
            service,
            task,
            stop: Some(stop),
            folder,
        }
    }

    pub async fn client(&self) -> Client {
        Client::connect(self.address).await
    }

    /// Tells it to stop, as SIGTERM does.
    pub fn stop(&mut self) {
        let _ = self.stop.take().unwrap().send(());
    }
}

/// A game server's side of a connection.
pub struct Client {
    pub stream: BufReader<TcpStream>,
}

impl Client {
    pub async fn connect(address: SocketAddr) -> Self {
        Self {
            stream: BufReader::new(TcpStream::connect(address).await.unwrap()),
        }
    }

    pub async fn send(&mut self, text: &str) {
        self.stream
            .get_mut()
            .write_all(text.as_bytes())
            .await
            .unwrap();
    }

    /// Sends lines and gives the next one that comes back.
    pub async fn ask(&mut self, text: &str) -> String {
        self.send(text).await;
        self.line().await
    }

    /// Sends lines that are answered by silence; whatever was said has been heard when this returns.
    pub async fn tell(&mut self, text: &str) {
        assert_eq!(self.ask(&format!("{text}PING\n")).await, "PONG", "{text}");
    }

    /// The next line, without its end; empty when the connection has ended.
    pub async fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).await.unwrap();
        line.trim_end_matches('\n').to_owned()
    }

    /// Sends lines and gives everything that comes back until the peer closes.
    pub async fn talk(mut self, text: &str) -> String {
        self.send(text).await;
        self.send("QUIT\n").await;
        self.rest().await
    }

    /// Everything until the peer closes.
    pub async fn rest(&mut self) -> String {
        let mut bytes = Vec::new();
        // A peer that closes while we still write resets the connection; what came before counts.
        let _ = self.stream.read_to_end(&mut bytes).await;
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// Somebody who was on a team from start to end.
pub fn player(kind: Kind, id: &str, team: u8, millis: u64) -> Participant {
    Participant {
        key: PlayerKey {
            kind,
            id: id.into(),
        },
        name: id.into(),
        presence: vec![Presence {
            team,
            span: Span {
                from: 0,
                to: millis,
            },
        }],
        points: None,
        kills: 0,
        deaths: 0,
        roles: vec![],
        party: None,
    }
}

/// A game of ten minutes, that many minutes after the epoch, with this score.
pub fn game(
    minute: i64,
    red: &[(Kind, &str)],
    blue: &[(Kind, &str)],
    scores: [f64; 2],
) -> MatchRecord {
    const MILLIS: u64 = 600_000;
    let side = |team, players: &[(Kind, &str)]| {
        let member = |&(kind, id): &(Kind, &str)| player(kind, id, team, MILLIS);
        players.iter().map(member).collect::<Vec<_>>()
    };
    let mut events = Vec::new();
    for (team, &score) in (0u8..).zip(&scores) {
        for goal in 0..score as u64 {
            events.push(ScoreEvent {
                at: 1_000 + goal * 60_000 + u64::from(team),
                team,
                points: 1.0,
                by: None,
            });
        }
    }
    events.sort_by_key(|event| event.at);
    let start = Timestamp(minute * 60_000);
    let record = MatchRecord {
        server: "test".into(),
        start,
        end: start.plus_millis(MILLIS as i64),
        clock: None,
        map: "field".into(),
        game_type: "ctf".into(),
        mode: String::new(),
        mutators: vec![],
        scores: scores.to_vec(),
        participants: [side(0, red), side(1, blue)].concat(),
        events,
        outcome: MatchRecord::outcome_of(&scores),
    };
    assert_eq!(record.check(), Ok(()));
    assert_ne!(record.outcome, Outcome::Undecided);
    record
}

/// Real logs, where they are; otherwise says so and gives nothing.
pub fn shared_data(folder: &str) -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data")).join(folder);
    if path.is_dir() {
        return Some(path);
    }
    // Not by a macro, whose output a passing test keeps to itself.
    let told = writeln!(
        std::io::stderr(),
        "skipped: there is no {} beside the project",
        path.display()
    );
    told.unwrap();
    None
}

/// Changes a database behind everybody's back.
pub async fn sql(path: &std::path::Path, statements: &'static str) {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
    let pool = sqlx::SqlitePool::connect_with(options).await.unwrap();
    for statement in statements.split(';').filter(|text| !text.trim().is_empty()) {
        sqlx::query(statement).execute(&pool).await.unwrap();
    }
    pool.close().await;
}
