//! Relative paths in a configuration file are relative to the folder of that file.

use std::path::{Path, PathBuf};

use super::{Config, FolderChoice, JournalChoice};

impl Config {
    /// Makes relative paths relative to `folder`, the folder of the file. Those that the environment has set
    /// stay relative to the current folder, like the paths in flags. An empty path means that there is none.
    pub(super) fn resolve_paths(&mut self, folder: &Path, from_environment: impl Fn(&str) -> bool) {
        let resolve = |key: &str, path: &mut PathBuf| {
            if !path.as_os_str().is_empty() && !from_environment(key) {
                *path = folder.join(&*path);
            }
        };
        let store = &mut self.store;
        store.database_as_written.clone_from(&store.database);
        resolve("store.database", &mut store.database);
        if let JournalChoice::Folder(path) = &mut store.journal {
            resolve("store.journal", path);
        }
        if let FolderChoice::In(path) = &mut store.backups {
            resolve("store.backups", path);
        }
        resolve("ingest.archive", &mut self.ingest.archive);
        if let Some(url) = &mut self.store.url
            && !from_environment("store.url")
        {
            url.resolve(folder);
        }
        let tls = &mut self.server.tls;
        resolve("server.tls.certificate", &mut tls.certificate);
        resolve("server.tls.key", &mut tls.key);
        let agones = &mut self.coordinator.agones;
        resolve("coordinator.agones.client_cert", &mut agones.client_cert);
        resolve("coordinator.agones.client_key", &mut agones.client_key);
        resolve("coordinator.agones.ca", &mut agones.ca);
        for follow in &mut self.follow {
            resolve("follow", &mut follow.path);
        }
        let tokens = self.clients.iter_mut();
        for path in tokens.filter_map(|client| client.token_file.as_mut()) {
            resolve("clients", path);
        }
        let secrets = self.webhook.iter_mut();
        for path in secrets.filter_map(|hook| hook.secret_file.as_mut()) {
            resolve("webhook", path);
        }
    }
}
