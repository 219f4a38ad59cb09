//! A PostgreSQL server that is thrown away with the test.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use evenkeel::store::{
    DatabaseUrl,
    postgres::{PoolSettings, PostgresUrl},
};
use sqlx::{Connection, Executor, PgConnection};

use super::authority::Pair;

/// Makes a server in a new folder of `$2`, with `fsync` as `$3` has it, and prints the folder once the server
/// answers. When its standard input is closed, because the test has ended in whatever way, it removes the server.
const SCRIPT: &str = r#"
set -e
export LC_ALL=C.UTF-8
dir=$(mktemp -d "$2/evenkeel-pg-XXXXXX")
trap exit HUP INT TERM
trap '"$1/pg_ctl" -D "$dir/data" -m immediate -s stop || true; rm -rf "$dir"' EXIT
"$1/initdb" -D "$dir/data" -U evenkeel -A trust -E UTF8 --no-sync >"$dir/log" 2>&1 || { cat "$dir/log" >&2; exit 1; }
cat >>"$dir/data/postgresql.conf" <<END
listen_addresses = ''
unix_socket_directories = '$dir'
max_connections = 600
shared_buffers = 32MB
fsync = $3
END
if [ "$3" = off ]; then echo "max_wal_size = 128MB" >>"$dir/data/postgresql.conf"; fi
"$1/pg_ctl" -D "$dir/data" -l "$dir/log" -w -s start >&2
echo "$dir"
cat >/dev/null
"#;

/// Runs the command that follows `$1`, with a new disk of `$1` MiB and `off` as its last arguments. Needs root.
const WITH_DISK: &str = r#"
set -e
disk=$(mktemp -d /tmp/evenkeel-disk-XXXXXX)
trap exit HUP INT TERM
trap 'umount -l "$disk" 2>/dev/null || true; rmdir "$disk"' EXIT
mount -t tmpfs -o "size=$1m,mode=1777" evenkeel "$disk"
shift
"$@" "$disk" off
"#;

/// A server of its own folder, which only this user can enter.
pub struct Server {
    folder: PathBuf,
    binaries: PathBuf,
    /// Removes the server when its standard input is closed.
    keeper: Child,
    names: AtomicU32,
}

impl Server {
    /// The server that all tests of this process share.
    pub fn shared() -> Option<&'static Self> {
        static SHARED: OnceLock<Option<Server>> = OnceLock::new();
        SHARED.get_or_init(Self::start).as_ref()
    }

    /// Starts a server; `None`, with the reason on standard error, if there are no programs for that.
    pub fn start() -> Option<Self> {
        Self::start_with("off")
    }

    /// Starts a server that is as durable as any: what it has committed survives a power cut.
    pub fn start_durable() -> Option<Self> {
        Self::start_with("on")
    }

    fn start_with(fsync: &str) -> Option<Self> {
        let Some(binaries) = binaries() else {
            skipped("there is no PostgreSQL 15 or newer; Debian's package `postgresql` has it");
            return None;
        };
        let mut command = as_ordinary_user("sh")?;
        command
            .args(["-c", SCRIPT, "sh"])
            .arg(&binaries)
            .args(["/tmp", fsync]);
        let server = Self::keep(command, binaries);
        assert!(server.is_some(), "PostgreSQL has not started");
        server
    }

    /// Starts a server whose data is on a disk of its own of so many MiB; `None`, with the reason on standard
    /// error, if this process may not mount one.
    pub fn start_on_disk(mib: u32) -> Option<Self> {
        let binaries = binaries()?;
        let inner = as_ordinary_user("sh")?;
        let mut command = Command::new("sh");
        command
            .args(["-c", WITH_DISK, "sh"])
            .arg(mib.to_string())
            .arg(inner.get_program())
            .args(inner.get_args())
            .args(["-c", SCRIPT, "sh"])
            .arg(&binaries);
        let server = Self::keep(command, binaries);
        if server.is_none() {
            skipped("the disk of the database is not filled up: this process may not mount one");
        }
        server
    }

    /// Runs the command that keeps a server; `None` if it ends before the server answers.
    fn keep(mut command: Command, binaries: PathBuf) -> Option<Self> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut keeper = command.current_dir("/").spawn().unwrap();
        let mut line = String::new();
        let mut stdout = BufReader::new(keeper.stdout.take().unwrap());
        stdout.read_line(&mut line).unwrap();
        if !line.ends_with('\n') {
            keeper.wait().unwrap();
            return None;
        }
        Some(Self {
            folder: line.trim_end().into(),
            binaries,
            keeper,
            names: AtomicU32::new(0),
        })
    }

    /// The folder with all that the server has.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// A name that no other test gets.
    pub fn unused_name(&self) -> String {
        format!("t{}", self.names.fetch_add(1, Ordering::Relaxed))
    }

    /// The URL of a database.
    pub fn url(&self, database: &str) -> String {
        let folder = self.folder.display();
        format!("postgres:///{database}?host={folder}&user=evenkeel")
    }

    pub fn place(&self, database: &str) -> DatabaseUrl {
        // A server may be slow while many tests run.
        let settings = PoolSettings {
            connect: Duration::from_secs(20),
            ..PoolSettings::default()
        };
        DatabaseUrl::Server(PostgresUrl::parse(&self.url(database)).unwrap(), settings)
    }

    /// A connection past the store.
    pub async fn connect(&self, database: &str) -> PgConnection {
        PgConnection::connect(&self.url(database)).await.unwrap()
    }

    /// The socket of the server.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(".s.PGSQL.5432")
    }

    /// Writes a file of the server, which only the server can read.
    pub fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.folder.join(name);
        let mut command = as_ordinary_user("sh").unwrap();
        command.args(["-c", "umask 077; cat >\"$1\"", "sh"]);
        command.arg(&path).stdin(Stdio::piped()).current_dir("/");
        let mut writing = command.spawn().unwrap();
        let mut stdin = writing.stdin.take().unwrap();
        stdin.write_all(content.as_bytes()).unwrap();
        drop(stdin);
        assert!(writing.wait().unwrap().success());
        path
    }

    /// Starts the server again, so that it also listens on two addresses of this machine, for encrypted connections
    /// only. Returns the port. Another program may take a port that was free: then the next one is tried.
    pub fn encrypt(&self, pair: &Pair) -> u16 {
        let certificate = self.write("server.crt", &pair.certificate);
        let key = self.write("server.key", &pair.key);
        let hosts = self.write(
            "hosts",
            "local all all trust\nhostssl all all 127.0.0.0/8 trust\n",
        );
        self.control(&["-m", "fast", "stop"]);
        for _ in 0..20 {
            let free = TcpListener::bind("127.0.0.1:0").unwrap();
            let port = free.local_addr().unwrap().port();
            drop(free);
            let options = format!(
                "-c listen_addresses=127.0.0.1,127.0.0.2 -c port={port} -c ssl=on -c ssl_cert_file='{}' \
                 -c ssl_key_file='{}' -c hba_file='{}'",
                certificate.display(),
                key.display(),
                hosts.display()
            );
            if self.try_control(&["-o", &options, "start"]) {
                return port;
            }
        }
        panic!("the server does not start");
    }

    /// Creates a database, unless there is one of this name.
    pub async fn create(&self, database: &str) {
        let mut connection = self.connect("postgres").await;
        let there = "SELECT EXISTS (SELECT 1 FROM pg_database WHERE datname = $1)";
        let there = sqlx::query_scalar(there).bind(database);
        let there: bool = there.fetch_one(&mut connection).await.unwrap();
        if !there {
            let create = format!("CREATE DATABASE {database}");
            let create = sqlx::AssertSqlSafe(create);
            connection.execute(create).await.unwrap();
        }
    }

    /// Removes a database that is not in use.
    pub async fn remove(&self, database: &str) {
        let mut connection = self.connect("postgres").await;
        let remove = sqlx::AssertSqlSafe(format!("DROP DATABASE {database}"));
        connection.execute(remove).await.unwrap();
    }

    /// Copies a database, which may be in use, to a new one.
    pub async fn copy(&self, database: &str, copy: &str) {
        self.create(copy).await;
        let folder = self.folder.display();
        let bin = self.binaries.display();
        let pipe = format!(
            "set -e; '{bin}/pg_dump' -h '{folder}' -U evenkeel {database} > '{folder}/dump.sql'; \
             '{bin}/psql' -q -v ON_ERROR_STOP=1 -h '{folder}' -U evenkeel {copy} -f '{folder}/dump.sql' >/dev/null; \
             rm '{folder}/dump.sql'"
        );
        let mut command = as_ordinary_user("sh").unwrap();
        command.args(["-c", &pipe]).current_dir("/");
        assert!(command.status().unwrap().success(), "copying {database}");
    }

    /// Stops the server at once, as if its machine had lost power, or starts it again.
    pub fn control(&self, words: &[&str]) {
        assert!(self.try_control(words), "pg_ctl {words:?}");
    }

    /// Does so, and returns whether it succeeded.
    pub fn try_control(&self, words: &[&str]) -> bool {
        let mut command = as_ordinary_user(self.binaries.join("pg_ctl")).unwrap();
        command.arg("-D").arg(self.folder.join("data"));
        command.arg("-l").arg(self.folder.join("log"));
        command.args(["-s", "-w"]).args(words).current_dir("/");
        command.stderr(Stdio::null()).status().unwrap().success()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

#[allow(clippy::explicit_write)] // the output of `eprintln!` is shown only if the test fails
fn skipped(why: &str) {
    writeln!(std::io::stderr(), "skipped: {why}").unwrap();
}

/// The folder of the newest PostgreSQL that is installed.
fn binaries() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let versions = versions.filter_map(|entry| {
        let path = entry.ok()?.path();
        let version: u32 = path.file_name()?.to_str()?.parse().ok()?;
        (version >= 15 && path.join("bin/initdb").exists()).then(|| (version, path.join("bin")))
    });
    Some(versions.max()?.1)
}

/// A command that does not run as root, because PostgreSQL refuses that.
fn as_ordinary_user(program: impl AsRef<Path>) -> Option<Command> {
    let program = program.as_ref();
    let id = Command::new("id").arg("-u").output().unwrap();
    if id.stdout != b"0\n" {
        return Some(Command::new(program));
    }
    if !Command::new("id")
        .arg("postgres")
        .output()
        .unwrap()
        .status
        .success()
    {
        skipped("PostgreSQL does not run as root, and there is no user `postgres`");
        return None;
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]);
    command.arg(program);
    Some(command)
}
