//! Shared by all tests: a service with a database of its own, a daemon on a free port, and a client
//! that sends and reads lines.
#![allow(dead_code)] // each test binary uses a part

pub mod allocator;
pub mod api;
pub mod authority;
pub mod backends;
pub mod chrome;
pub mod draw;
pub mod fleet_kills;
pub mod forms;
pub mod hostile;
pub mod http;
pub mod kills;
pub mod postgres;
pub mod process;
pub mod proxy;
pub mod queue_kills;
pub mod restarts;
pub mod worlds;

use std::{
    fs::File,
    io::Write,
    net::SocketAddr,
    panic::Location,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use evenkeel::{
    config::Config,
    daemon,
    model::{
        Kind, MatchRecord, Outcome, Participant, PlayerKey, Presence, ScoreEvent, Span, Timestamp,
    },
    server::{ConnectionLimits, Gate, Service},
    session::HandClock,
    store::{self, Cursor, NewWeights, Store, StoredMatch, WeightRow},
};
use sqlx::{ConnectOptions, SqliteConnection, sqlite::SqliteConnectOptions};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::oneshot,
    task::JoinHandle,
};

/// How long a test waits for a locked database: not at all.
pub const BUSY: Duration = Duration::ZERO;

/// The default configuration with the keys of `toml` changed.
pub fn config(toml: &str) -> Config {
    Config::load(toml, []).unwrap()
}

/// The names of the checkpoints of a database, sorted.
pub fn checkpoints(database: &Path) -> Vec<String> {
    let Ok(files) = std::fs::read_dir(database.with_extension("learned")) else {
        return Vec::new();
    };
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Who may do what by this configuration.
pub fn gate(config: &Config) -> Arc<Gate> {
    Arc::new(Gate::new(config.access().unwrap()))
}

/// A service over a new database. Dropping the folder deletes the database.
pub async fn service(config: &Config) -> (Arc<Service>, TempDir) {
    let (store, folder) = new_store().await;
    let service = Service::open(store, config.service()).unwrap();
    (Arc::new(service), folder)
}

async fn new_store() -> (Arc<Store>, TempDir) {
    let folder = TempDir::new().unwrap();
    let store = backends::open_chosen(&folder.path().join("test.db")).await;
    (store, folder)
}

/// Polls until `done` returns true, to wait for another task. Panics after 30 seconds.
#[track_caller]
pub fn until<F: AsyncFnMut() -> bool>(mut done: F) -> impl Future<Output = ()> {
    let place = Location::caller();
    async move {
        let polling = async {
            while !done().await {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
        };
        let polled = tokio::time::timeout(Duration::from_secs(30), polling).await;
        assert!(polled.is_ok(), "it does not happen: {place}");
    }
}

/// All weights in the database.
pub async fn weights(store: &Store) -> Vec<WeightRow> {
    let mut rows = Vec::new();
    for ruleset in store.learned().rulesets().await.unwrap() {
        for kind in [Kind::Human, Kind::Bot] {
            rows.extend(store.learned().weights(&ruleset, kind).await.unwrap());
        }
    }
    rows
}

/// These rows as all weights that there are.
pub fn as_they_stand(rows: Vec<WeightRow>) -> NewWeights {
    NewWeights {
        rows,
        ..NewWeights::default()
    }
}

/// All matches in the database of this folder.
pub async fn stored_matches(folder: &Path) -> Vec<StoredMatch> {
    let path = folder.join("evenkeel.db");
    let patience = Duration::from_secs(60);
    let store = store::open(&path, false, patience).await.unwrap();
    let (found, _) = store.matches().after(Cursor::START, 10_000).await.unwrap();
    store.close().await;
    found
}

/// Takes the lock of all writers of the database in this folder, as another program would.
pub async fn lock_database(folder: &Path) -> SqliteConnection {
    let options = SqliteConnectOptions::new().filename(folder.join("evenkeel.db"));
    let mut other = options.connect().await.unwrap();
    until(async || {
        let lock = sqlx::query("BEGIN IMMEDIATE");
        lock.execute(&mut other).await.is_ok()
    })
    .await;
    other
}

/// Appends text to a file, which need not exist.
pub fn append(path: &Path, text: &str) {
    let options = File::options().append(true).create(true).open(path);
    options.unwrap().write_all(text.as_bytes()).unwrap();
}

/// The lines by which a ticket of one player comes into a queue. What the player states may follow the name.
pub fn submit(queue: &str, ticket: &str, player: &str) -> String {
    format!("ENQUEUE {queue} {ticket}\nSEAT {player}\nSUBMIT\n")
}

/// A daemon that runs in the test's own process.
pub struct Daemon {
    pub address: SocketAddr,
    pub service: Arc<Service>,
    pub gate: Arc<Gate>,
    pub task: JoinHandle<()>,
    stop: Option<oneshot::Sender<()>>,
    pub folder: TempDir,
}

impl Daemon {
    pub async fn start(toml: &str) -> Self {
        let config = config(toml);
        Self::start_with(&config, config.server.limits).await
    }

    pub async fn start_with(config: &Config, limits: ConnectionLimits) -> Self {
        let (service, folder) = service(config).await;
        Self::serve_at(gate(config), service, folder, limits).await
    }

    /// Starts a daemon whose sessions use the returned clock, which only the test moves.
    pub async fn start_by_hand(toml: &str) -> (Self, Arc<HandClock>) {
        let config = config(toml);
        let clock = Arc::new(HandClock::new(Timestamp(1_000_000_000_000)));
        let (store, folder) = new_store().await;
        let service = Service::open_with_clock(store, config.service(), clock.clone()).unwrap();
        let service = Arc::new(service);
        let daemon = Self::serve_at(gate(&config), service, folder, config.server.limits).await;
        (daemon, clock)
    }

    /// Serves without configured clients.
    pub async fn serve(service: Arc<Service>, folder: TempDir, limits: ConnectionLimits) -> Self {
        Self::serve_at(gate(&config("")), service, folder, limits).await
    }

    async fn serve_at(
        gate: Arc<Gate>,
        service: Arc<Service>,
        folder: TempDir,
        limits: ConnectionLimits,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = async {
            let _ = stopped.await;
        };
        let serving = daemon::run(listener, service.clone(), limits, gate.clone(), stopped);
        let task = tokio::spawn(serving);
        Self {
            address,
            service,
            gate,
            task,
            stop: Some(stop),
            folder,
        }
    }

    pub async fn client(&self) -> Client {
        Client::connect(self.address).await
    }

    /// A client that has sent HELLO with these words.
    pub async fn named(&self, words: &str) -> Client {
        let mut client = self.client().await;
        client.hello(words).await;
        client
    }

    /// Stops the daemon as SIGTERM does.
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

    /// Sends HELLO with these words, which the daemon must accept.
    pub async fn hello(&mut self, words: &str) {
        let reply = self.ask(&format!("HELLO {words}\n")).await;
        assert!(reply.starts_with("HELLO evenkeel/"), "{reply}");
    }

    pub async fn send(&mut self, text: &str) {
        self.stream
            .get_mut()
            .write_all(text.as_bytes())
            .await
            .unwrap();
    }

    /// Sends `text` and returns the next line that arrives.
    pub async fn ask(&mut self, text: &str) -> String {
        self.send(text).await;
        self.line().await
    }

    /// Sends lines that have no reply, and returns once the daemon has processed them.
    pub async fn tell(&mut self, text: &str) {
        assert_eq!(self.ask(&format!("{text}PING\n")).await, "PONG", "{text}");
    }

    /// The next line without its newline; empty once the daemon has closed the connection.
    pub async fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).await.unwrap();
        line.trim_end_matches('\n').to_owned()
    }

    /// The next lines.
    pub async fn lines(&mut self, count: usize) -> Vec<String> {
        let mut lines = Vec::with_capacity(count);
        for _ in 0..count {
            lines.push(self.line().await);
        }
        lines
    }

    /// The reasons with which the daemon answers this EXPLAIN.
    pub async fn reasons(&mut self, explain: &str) -> Vec<String> {
        let head = self.ask(explain).await;
        let count = head.strip_prefix("EXPLAIN ").expect(&head).parse().unwrap();
        let reasons = self.lines(count).await.into_iter();
        let reason = |line: String| line.strip_prefix("WHY ").unwrap().to_owned();
        reasons.map(reason).collect()
    }

    /// Sends `text` and QUIT, and returns everything up to the end of the connection.
    pub async fn talk(mut self, text: &str) -> String {
        self.send(text).await;
        self.send("QUIT\n").await;
        self.rest().await
    }

    /// Reads everything up to the end of the connection.
    pub async fn rest(&mut self) -> String {
        let mut bytes = Vec::new();
        // The daemon resets the connection if it closes while we write; the bytes before that are
        // valid.
        let _ = self.stream.read_to_end(&mut bytes).await;
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

/// A participant who was on one team for all `millis` of the match.
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
        left: None,
    }
}

/// A match of ten minutes with this score, which starts `minute` minutes after the epoch.
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
        untimed: false,
        client: String::new(),
        unscored: false,
        logged_as: None,
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

/// A folder of real logs beside the project; without one, prints that the test is skipped.
pub fn shared_data(folder: &str) -> Option<PathBuf> {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data")).join(folder);
    if path.is_dir() {
        return Some(path);
    }
    // `eprintln!` would be captured, and shown only if the test fails.
    let told = writeln!(
        std::io::stderr(),
        "skipped: there is no {} beside the project",
        path.display()
    );
    told.unwrap();
    None
}

/// Executes statements that both kinds of databases understand, past the store that has the database open.
pub async fn sql(path: &Path, statements: &'static str) {
    backends::execute(path, statements, statements).await;
}
