//! The address of a PostgreSQL database, and connections to it with a time limit for each answer: a server whose machine
//! has failed sends nothing, not even an error.

use std::{
    env, fmt, io,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use sqlx::{
    Connection as _, Error, PgPool, Postgres, Transaction,
    pool::PoolConnection,
    postgres::{PgConnectOptions, PgConnection, PgPoolOptions, PgSslMode},
};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use crate::store::StoreError;

/// The parameters that may follow the `?` of a URL.
const PARAMETERS: [&str; 12] = [
    "sslmode",
    "sslrootcert",
    "sslcert",
    "sslkey",
    "host",
    "hostaddr",
    "port",
    "user",
    "password",
    "dbname",
    "application_name",
    "statement-cache-capacity",
];

/// Those of them that name a file.
const FILES: [&str; 3] = ["sslrootcert", "sslcert", "sslkey"];

/// The values of the parameter `sslmode`.
const SSL_MODES: &str = "disable, allow, prefer, require, verify-ca and verify-full";

/// The address of a PostgreSQL database: a URL such as `postgres://user:password@host/database`. It is printed
/// without the password.
///
/// Parts that the URL leaves out are read from `PGHOST`, `PGPORT`, `PGUSER`, `PGPASSWORD`, `PGDATABASE`,
/// `PGSSLMODE` and the password file, as other programs do. Connections to other machines are encrypted, and
/// the server proves its name, unless `sslmode` changes that.
#[derive(Clone)]
pub struct PostgresUrl {
    options: Box<PgConnectOptions>,
    /// The files that its parameters name, each with its parameter.
    files: Vec<(String, PathBuf)>,
}

impl PostgresUrl {
    /// Reads a URL.
    ///
    /// # Errors
    /// Returns what is wrong, such as `must begin with postgres://`, without any part that may be a password.
    pub fn parse(text: &str) -> Result<Self, String> {
        let scheme = text.split_once("://").map_or("", |(scheme, _)| scheme);
        if !["postgres", "postgresql"].contains(&scheme) {
            return Err("must begin with postgres://".to_owned());
        }
        let query = text.split_once('?').map_or("", |(_, query)| query);
        let names = query.split('&').filter(|pair| !pair.is_empty());
        let mut names = names.map(|pair| pair.split_once('=').map_or(pair, |(name, _)| name));
        if let Some(unknown) = names.find(|name| !PARAMETERS.contains(name)) {
            return Err(format!("has an unknown parameter, {unknown}"));
        }
        let options = PgConnectOptions::from_str(text).map_err(|_| what_is_wrong(text))?;
        if options.get_database().is_none_or(str::is_empty) {
            return Err("must name a database, as in postgres://user@host/database".to_owned());
        }
        let says = query.contains("sslmode=") || env::var_os("PGSSLMODE").is_some();
        let options = match says || is_here(&options) {
            true => options,
            false => options.ssl_mode(PgSslMode::VerifyFull),
        };
        let pairs = form_urlencoded::parse(query.as_bytes());
        let files = pairs.filter(|(name, file)| {
            FILES.contains(&&**name) && !file.starts_with("-----BEGIN") // the file itself
        });
        let files = files.map(|(name, file)| (name.into_owned(), file.into_owned().into()));
        Ok(Self {
            options: Box::new(options.application_name("evenkeel")),
            files: files.collect(),
        })
    }

    /// Makes the relative paths of its files relative to this folder.
    pub fn resolve(&mut self, folder: &Path) {
        for (name, file) in &self.files {
            let (options, file) = ((*self.options).clone(), folder.join(file));
            *self.options = match name.as_str() {
                "sslrootcert" => options.ssl_root_cert(file),
                "sslcert" => options.ssl_client_cert(file),
                _ => options.ssl_client_key(file),
            };
        }
    }

    /// The options of a connection to this address.
    pub(super) fn options(&self) -> &PgConnectOptions {
        &self.options
    }
}

/// What is wrong in a URL that cannot be read: one of its parameters, or the rest. Values may be passwords and are
/// not named.
fn what_is_wrong(text: &str) -> String {
    let (address, query) = text.split_once('?').unwrap_or((text, ""));
    let reads = |text: &str| PgConnectOptions::from_str(text).is_ok();
    let mut pairs = query.split('&').filter(|pair| !pair.is_empty());
    let wrong = pairs.find(|pair| reads(address) && !reads(&format!("{address}?{pair}")));
    match wrong.map(|pair| pair.split_once('=').map_or(pair, |(name, _)| name)) {
        Some("sslmode") => format!("has a wrong sslmode; the words are {SSL_MODES}"),
        Some(name) => format!("has a wrong value of the parameter {name}"),
        None => "is not a URL".to_owned(),
    }
}

/// Whether the server is on this machine.
fn is_here(options: &PgConnectOptions) -> bool {
    let host = options.get_host();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    options.get_socket().is_some()
        || host.starts_with('/')
        || host == "localhost"
        || address.is_ok_and(|address| address.is_loopback())
}

impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = &self.options;
        let (user, database) = (options.get_username(), options.get_database());
        write!(f, "postgres://{user}@")?;
        match options.get_socket() {
            Some(folder) => write!(f, "{}", folder.display())?,
            None => write!(f, "{}", options.get_host())?,
        }
        write!(
            f,
            ":{}/{}",
            options.get_port(),
            database.unwrap_or_default()
        )
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresUrl({self})")
    }
}

/// How long a connection may take to become ready again when it is given back to its pool.
const RELEASE: Duration = Duration::from_secs(5);

/// How long a server may take to say why it makes no connection.
const REASON: Duration = Duration::from_secs(1);
/// The pause before a server that is starting, or has no room, is asked again for a connection.
const RETRY: Duration = Duration::from_millis(100);

/// Makes a connection of its own. A server that is away, is starting or has no room is asked again, for at most
/// `patience`: what it says then is the error.
pub(super) async fn connect(
    options: &PgConnectOptions,
    patience: Duration,
) -> Result<PgConnection, Error> {
    let deadline = Instant::now() + patience;
    let mut last = Error::PoolTimedOut;
    loop {
        let made = timeout_at(deadline, PgConnection::connect_with(options)).await;
        let error = match made {
            Ok(Ok(connection)) => return Ok(connection),
            Ok(Err(error)) => error,
            Err(_) => return Err(last),
        };
        let may_pass = match &error {
            // A certificate that is not trusted is invalid data.
            Error::Io(error) => error.kind() != io::ErrorKind::InvalidData,
            Error::Database(error) => error.is_transient_in_connect_phase(),
            _ => false,
        };
        if !may_pass || Instant::now() + RETRY >= deadline {
            return Err(error);
        }
        last = error;
        sleep(RETRY).await;
    }
}

/// The reason why a pool has not given a connection in time. If it could have made one, the server says why not.
pub(super) async fn reason(pool: &PgPool, error: Error) -> Error {
    let has_room = pool.size() < pool.options().get_max_connections();
    if !matches!(error, Error::PoolTimedOut) || !has_room {
        return error;
    }
    let options = pool.connect_options();
    match timeout(REASON, PgConnection::connect_with(&options)).await {
        Ok(Err(said)) => said,
        Ok(Ok(connection)) => {
            let _ = timeout(REASON, connection.close()).await;
            error
        }
        Err(_) => error,
    }
}

/// Connections to one server, each of which executes one statement at a time.
#[derive(Clone, Debug)]
pub(in crate::store) struct ServerPool {
    inner: PgPool,
    /// The longest time for each part of an answer.
    patience: Duration,
}

impl ServerPool {
    /// At most `size` connections, which are made when they are needed. A caller waits for one for at most
    /// `wait`, and for each part of an answer for at most `patience`.
    pub fn new(options: PgConnectOptions, size: u32, wait: Duration, patience: Duration) -> Self {
        // A pool with a limit on idle time or lifetime has a task that may never end: it counts idle connections,
        // and the count wraps while one is taken that is just being given back.
        let pool = PgPoolOptions::new()
            .max_connections(size)
            .idle_timeout(None)
            .max_lifetime(None)
            .acquire_timeout(wait);
        // Otherwise a connection that returns to the pool during a statement could wait for the server for ever,
        // and the pool would have one connection less.
        let pool = pool.after_release(|connection, _| {
            Box::pin(async {
                let ready = timeout(RELEASE, connection.ping()).await;
                ready.unwrap_or(Err(Error::PoolTimedOut)).map(|()| true)
            })
        });
        Self {
            inner: pool.connect_lazy_with(options),
            patience,
        }
    }

    /// The longest time for each part of an answer.
    pub fn patience(&self) -> Duration {
        self.patience
    }

    /// Waits for a free connection.
    pub async fn acquire(&self) -> Result<PoolConnection<Postgres>, StoreError> {
        match self.inner.acquire().await {
            Ok(acquired) => Ok(acquired),
            Err(error) => Err(reason(&self.inner, error).await.into()),
        }
    }

    /// Begins a transaction with this statement. Dropping the connection rolls it back.
    pub async fn begin(
        &self,
        statement: &'static str,
    ) -> Result<Transaction<'static, Postgres>, StoreError> {
        let pool = self.inner.clone();
        let begun = async move {
            match pool.begin_with(statement).await {
                Ok(begun) => Ok(begun),
                Err(error) => Err(reason(&pool, error).await),
            }
        };
        // A task of its own, which is not dropped before it is done. Otherwise a connection could return to the
        // pool with an open transaction, and show old data to the next reader.
        let task = timeout(self.patience, tokio::spawn(begun));
        let begun = task.await.map_err(|_| Error::PoolTimedOut)?;
        Ok(begun.map_err(|_| Error::WorkerCrashed)??)
    }

    /// Closes all connections, and waits for those in use.
    pub async fn close(&self) {
        // A server that does not answer ends the connections later.
        let _ = timeout(RELEASE, self.inner.close()).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_printed_without_its_password() {
        let url = PostgresUrl::parse("postgres://ann:se%3Asame@db.example:5433/league").unwrap();
        assert_eq!(url.to_string(), "postgres://ann@db.example:5433/league");
        let url = PostgresUrl::parse("postgresql:///league?host=/run/pg&user=ann&password=sesame");
        let url = url.unwrap();
        assert_eq!(url.to_string(), "postgres://ann@/run/pg:5432/league");
        for text in [format!("{url:?}"), format!("{url}")] {
            assert!(!text.contains("sesame"), "{text}");
        }
    }

    #[test]
    fn other_machines_must_prove_their_names() {
        let mode = |text: &str| PostgresUrl::parse(text).unwrap().options.get_ssl_mode();
        let is_full = |text: &str| matches!(mode(text), PgSslMode::VerifyFull);
        assert!(is_full("postgres://ann@db.example/league"));
        assert!(is_full("postgres://ann@10.0.0.7/league"));
        assert!(!is_full("postgres://ann@localhost/league"));
        assert!(!is_full("postgres://ann@127.0.0.1/league"));
        assert!(!is_full("postgres://ann@[::1]/league"));
        assert!(!is_full("postgres:///league?host=/run/postgresql"));
        assert!(matches!(
            mode("postgres://ann@db.example/league?sslmode=disable"),
            PgSslMode::Disable
        ));
    }

    #[test]
    fn its_files_are_relative_to_the_configuration() {
        let text = "postgres://ann@db.example/league?sslrootcert=own%20ca.pem&sslkey=/etc/key&sslcert=a/c.pem";
        let mut url = PostgresUrl::parse(text).unwrap();
        url.resolve(Path::new("/srv/even"));
        let options = format!("{:?}", url.options());
        for path in [
            "\"/srv/even/own ca.pem\"",
            "\"/etc/key\"",
            "\"/srv/even/a/c.pem\"",
        ] {
            assert!(options.contains(path), "{path}: {options}");
        }
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for (text, why) in [
            ("", "must begin with postgres://"),
            ("evenkeel.db", "must begin with postgres://"),
            ("mysql://ann@host/league", "must begin with postgres://"),
            ("postgres://ann:secret@ho st/league", "is not a URL"),
            (
                "postgres://ann@host/league?sslmode=sometimes",
                "has a wrong sslmode; the words are disable, allow, prefer, require, verify-ca and verify-full",
            ),
            (
                "postgres://ann@host/league?sslmode=disable&port=secret",
                "has a wrong value of the parameter port",
            ),
            (
                "postgres://ann@host/league?sslmod=disable",
                "has an unknown parameter, sslmod",
            ),
        ] {
            assert_eq!(PostgresUrl::parse(text).unwrap_err(), why, "{text}");
        }
    }
}
