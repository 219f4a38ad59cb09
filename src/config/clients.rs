//! The sections `[[clients]]`: who may connect, and with which rights.

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Read},
    net::SocketAddr,
    path::{Path, PathBuf},
};

use super::{
    Config, ConfigError,
    check::Fault,
    keys::{ClientIds, ClientSection},
    values::ConfiguredToken,
};
use crate::{
    model::access::Rights,
    server::access::{AccessSettings, ClientSpec, PlayerScope},
};

/// The most bytes that are read of a file with a token.
const TOKEN_FILE_BYTES: u64 = 4_096;

impl ClientSection {
    /// The name of the first key that is wrong, and why.
    fn fault(&self) -> Option<(&'static str, &'static str)> {
        let name = &self.name;
        let ends_early = name.trim_end_matches('*').contains('*') || name.ends_with("**");
        let proven = self.token.is_some() || self.token_file.is_some();
        let blank = |ids: &Vec<String>| ids.iter().any(|id| id.trim().is_empty());
        if name.trim().is_empty() {
            Some(("name", "must not be empty"))
        } else if ends_early {
            Some(("name", "must have * only at its end"))
        } else if self.token.is_some() && self.token_file.is_some() {
            Some(("token", "must not be there together with token_file"))
        } else if !proven && self.networks.is_empty() {
            Some((
                "name",
                "must have a token, a token_file or networks beside it",
            ))
        } else if self.rights.is_empty() {
            Some(("rights", "must not be empty"))
        } else if self.players.as_ref().is_some_and(blank) {
            Some(("players", "must not contain an empty id"))
        } else {
            None
        }
    }

    /// The client that this section describes. Reads the file with its token, if it has one.
    fn spec(&self) -> Result<ClientSpec, ConfigError> {
        let secret = self.token()?.map(|token| token.secret);
        let everybody = PlayerScope::everybody();
        Ok(ClientSpec {
            name: self.name.clone(),
            secret,
            networks: self.networks.clone(),
            rights: Rights::of(&self.rights),
            players: self.players.clone().map_or(everybody, PlayerScope::new),
            ids_are_names: self.ids == ClientIds::Names,
        })
    }

    /// The token of the client, if it has one. Reads the file with it.
    fn token(&self) -> Result<Option<ConfiguredToken>, ConfigError> {
        match (&self.token, &self.token_file) {
            (Some(token), _) => Ok(Some(token.clone())),
            (None, Some(path)) => self.token_in(path).map(Some),
            (None, None) => Ok(None),
        }
    }

    fn token_in(&self, path: &Path) -> Result<ConfiguredToken, ConfigError> {
        let wrong = |why: String| ConfigError::TokenFile {
            client: self.name.clone(),
            path: path.to_owned(),
            why,
        };
        let text = first_line(path).map_err(|error| wrong(error.to_string()))?;
        ConfiguredToken::of(&text).map_err(|why| wrong(format!("its first line {why}")))
    }
}

/// The first line of a file, without white space at its ends.
fn first_line(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file")); // a pipe might never end
    }
    let mut bytes = Vec::new();
    File::open(path)?
        .take(TOKEN_FILE_BYTES)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 == TOKEN_FILE_BYTES && !bytes.contains(&b'\n') {
        return Err(io::Error::other("its first line is too long"));
    }
    let line = bytes
        .split(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    let text = std::str::from_utf8(line.trim_ascii());
    let text = text.map_err(|_| io::Error::other("its first line is not UTF-8"))?;
    Ok(text.to_owned())
}

impl Config {
    /// Checks the clients.
    pub(super) fn client_fault(&self) -> Option<Fault> {
        if !self.clients.is_empty() && self.server.allow_anonymous {
            return Some(Fault {
                keys: ["server.allow_anonymous", "clients"]
                    .map(str::to_owned)
                    .to_vec(),
                why: "must be false when clients are configured".to_owned(),
            });
        }
        let mut names = BTreeSet::new();
        self.clients.iter().enumerate().find_map(|(at, client)| {
            let repeated = (!names.insert(&client.name))
                .then_some(("name", "must not be another client's, too"));
            let (key, why) = repeated.or_else(|| client.fault())?;
            Some(Fault {
                keys: vec![format!("clients[{at}].{key}")],
                why: why.to_owned(),
            })
        })
    }

    /// Who may do what, and how fast. Reads the files with tokens.
    ///
    /// # Errors
    /// Fails if a file with a token cannot be read or contains none.
    pub fn access(&self) -> Result<AccessSettings, ConfigError> {
        let clients = self.clients.iter().map(ClientSection::spec);
        Ok(AccessSettings {
            clients: clients.collect::<Result<_, _>>()?,
            allow_anonymous: self.server.allow_anonymous,
            rates: self.limits,
        })
    }

    /// What is allowed and a risk, one sentence each. Reads the files with tokens.
    ///
    /// # Errors
    /// Fails if a file with a token cannot be read or contains none.
    pub fn warnings(&self) -> Result<Vec<String>, ConfigError> {
        let mut weak = Vec::new();
        for client in &self.clients {
            let token = client.token()?;
            weak.extend(
                token
                    .filter(|token| token.can_be_guessed)
                    .map(|_| &client.name),
            );
        }
        let warning = |name: &String| {
            format!(
                "the token of client {name} is short and can be guessed: `evenkeel token new` draws a long one"
            )
        };
        Ok(weak.into_iter().map(warning).collect())
    }

    /// The files with tokens of clients.
    pub fn token_files(&self) -> Vec<PathBuf> {
        let files = self.clients.iter();
        files.filter_map(|one| one.token_file.clone()).collect()
    }

    /// The addresses that the daemon listens on for lines.
    pub fn listens(&self) -> Vec<SocketAddr> {
        [self.server.listen]
            .into_iter()
            .chain(self.server.tls.listen)
            .collect()
    }

    /// Checks that nobody can use the daemon whom the operator has not admitted. Reads the files with
    /// tokens.
    ///
    /// # Errors
    /// Fails if another machine could connect and nothing keeps strangers out, and if
    /// [`access`](Self::access) fails.
    pub fn check_access(&self) -> Result<AccessSettings, ConfigError> {
        let access = self.access()?;
        let open = self
            .listens()
            .into_iter()
            .find(|address| !address.ip().is_loopback());
        match open {
            Some(address) if !access.may_face_a_network() => Err(ConfigError::Exposed { address }),
            _ => Ok(access),
        }
    }
}
