//! Encrypted connections: the certificate and the key, which may change while the daemon runs.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use parking_lot::RwLock;
use sha2::{Digest, Sha256};
use tokio::time::{MissedTickBehavior, interval};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        crypto::ring,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

use super::TlsError;

/// The most bytes that are read of a file.
const FILE_BYTES: u64 = 1 << 20;
/// How often the files are looked at.
const LOOK: Duration = Duration::from_secs(5);

/// The digest of both files.
type Contents = [u8; 32];

/// The certificate with which the daemon proves its name, and its key. Both are read again when the files
/// change.
#[derive(Debug)]
pub struct TlsIdentity {
    certificate: PathBuf,
    key: PathBuf,
    current: RwLock<Arc<ServerConfig>>,
    /// What the files contained when they were last looked at, or why they could not be read.
    seen: RwLock<Result<Contents, String>>,
}

impl TlsIdentity {
    /// Reads the files, which contain PEM: the chain of certificates, the daemon's own first, and the key.
    ///
    /// # Errors
    /// Fails if a file cannot be read, or if they contain no certificate and its key.
    pub fn load(certificate: &Path, key: &Path) -> Result<Self, TlsError> {
        let (contents, pem) = read_both(certificate, key)?;
        let config = configuration(&pem, certificate, key)?;
        Ok(Self {
            certificate: certificate.to_owned(),
            key: key.to_owned(),
            current: RwLock::new(Arc::new(config)),
            seen: RwLock::new(Ok(contents)),
        })
    }

    /// Reads the files again. If they have changed and are good, new connections use them; if they are bad,
    /// the certificate and the key that are in use stay, and the log says why, once.
    pub fn refresh(&self) {
        let read = read_both(&self.certificate, &self.key);
        let seen = match &read {
            Ok((contents, _)) => Ok(*contents),
            Err(error) => Err(error.to_string()),
        };
        if *self.seen.read() == seen {
            return;
        }
        *self.seen.write() = seen;
        let config = read.and_then(|(_, pem)| configuration(&pem, &self.certificate, &self.key));
        match config {
            Ok(config) => {
                *self.current.write() = Arc::new(config);
                tracing::info!("the certificate of encrypted connections is replaced");
            }
            Err(error) => {
                tracing::error!(%error, "the new certificate is not used; the old one stays");
            }
        }
    }

    /// Looks at the files every five seconds, until dropped.
    pub async fn watch(self: Arc<Self>) {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            let identity = self.clone();
            // Fails only if the runtime stops.
            let _ = tokio::task::spawn_blocking(move || identity.refresh()).await;
        }
    }

    /// What accepts a connection with the certificate of this moment.
    pub(super) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(self.current.read().clone())
    }
}

/// The text of both files, and its digest.
fn read_both(certificate: &Path, key: &Path) -> Result<(Contents, [Vec<u8>; 2]), TlsError> {
    let read = |path: &Path| {
        let mut bytes = Vec::new();
        let file = File::open(path);
        file.and_then(|file| file.take(FILE_BYTES).read_to_end(&mut bytes))
            .map_err(|source| unreadable(path, source))?;
        Ok(bytes)
    };
    let pem = [read(certificate)?, read(key)?];
    let length = pem[0].len() as u64;
    let digest = Sha256::new()
        .chain_update(length.to_be_bytes())
        .chain_update(&pem[0])
        .chain_update(&pem[1]);
    Ok((digest.finalize().into(), pem))
}

fn unreadable(path: &Path, source: io::Error) -> TlsError {
    TlsError::File {
        path: path.to_owned(),
        source,
    }
}

fn configuration(
    [chain, key_pem]: &[Vec<u8>; 2],
    certificate: &Path,
    key: &Path,
) -> Result<ServerConfig, TlsError> {
    let wrong = |path: &Path, why: String| TlsError::Content {
        path: path.to_owned(),
        why,
    };
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(chain).collect();
    let chain = chain.map_err(|error| wrong(certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(wrong(
            certificate,
            "there is no certificate in it".to_owned(),
        ));
    }
    // The error does not contain anything of the key.
    let secret = PrivateKeyDer::from_pem_slice(key_pem)
        .map_err(|_| wrong(key, "there is no usable private key in it".to_owned()))?;
    let provider = Arc::new(ring::default_provider());
    let builder = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(certificate, error.to_string()))?;
    builder
        .with_no_client_auth()
        .with_single_cert(chain, secret)
        .map_err(|error| wrong(certificate, error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn pem() -> (String, String) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        (made.cert.pem(), made.signing_key.serialize_pem())
    }

    #[test]
    fn bad_files_are_refused_with_the_reason_and_change_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (certificate, key) = (
            folder.path().join("cert.pem"),
            folder.path().join("key.pem"),
        );
        let missing = TlsIdentity::load(&certificate, &key)
            .unwrap_err()
            .to_string();
        assert!(missing.contains("cert.pem: No such file"), "{missing}");
        let ((one, one_key), (two, two_key)) = (pem(), pem());
        fs::write(&certificate, &one).unwrap();
        fs::write(&key, &one_key).unwrap();
        let identity = TlsIdentity::load(&certificate, &key).unwrap();
        let first = identity.current.read().clone();
        let cut = one.replace("-----END CERTIFICATE-----", "");
        let bad = [
            ("", one_key.as_str(), "no certificate"),
            ("garbage", &one_key, "no certificate"),
            (&cut, &one_key, "cert.pem: "),
            (&one, "", "no usable private key"),
            (&one, &one, "no usable private key"),
            (&one, &two_key, "cert.pem: "),
            (&two, &one_key, "cert.pem: "),
        ];
        for (chain, secret, why) in bad {
            fs::write(&certificate, chain).unwrap();
            fs::write(&key, secret).unwrap();
            let error = TlsIdentity::load(&certificate, &key)
                .unwrap_err()
                .to_string();
            assert!(error.contains(why) && !error.contains("BEGIN"), "{error}");
            identity.refresh();
            assert!(Arc::ptr_eq(&first, &identity.current.read()), "{error}");
        }
        fs::write(&certificate, &two).unwrap();
        fs::write(&key, &two_key).unwrap();
        identity.refresh();
        let second = identity.current.read().clone();
        assert!(!Arc::ptr_eq(&first, &second));
        identity.refresh();
        assert!(
            Arc::ptr_eq(&second, &identity.current.read()),
            "nothing has changed"
        );
        fs::remove_file(&key).unwrap();
        identity.refresh();
        assert!(Arc::ptr_eq(&second, &identity.current.read()));
    }
}
