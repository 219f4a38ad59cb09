//! The address of a PostgreSQL database.

use std::{
    env, fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use sqlx::postgres::{PgConnectOptions, PgSslMode};

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
