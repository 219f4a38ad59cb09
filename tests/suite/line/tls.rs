//! Encrypted connections: the same lines over TLS, with certificates that change while the daemon runs.

use std::{fs, io::Write, net::SocketAddr, path::Path, sync::Arc};

use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    net::TcpStream,
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore, SupportedProtocolVersion,
        crypto::ring,
        pki_types::{CertificateDer, ServerName},
        version::{TLS12, TLS13},
    },
};

use crate::common::process::{HANG, Process, evenkeel};

/// Writes a new certificate for `localhost`, and its key.
pub(crate) fn certify(folder: &Path) -> CertificateDer<'static> {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    fs::write(folder.join("key.pem"), made.signing_key.serialize_pem()).unwrap();
    fs::write(folder.join("cert.pem"), made.cert.pem()).unwrap();
    made.cert.der().clone()
}

/// Starts a daemon with a second listener, which shows the certificate of the folder.
pub(crate) fn daemon(folder: &Path, more: &str) -> Process {
    let toml = format!(
        "{more}\n[server.tls]\nlisten = '127.0.0.1:0'\ncertificate = 'cert.pem'\nkey = 'key.pem'\nhandshake_seconds = 1\n"
    );
    fs::write(folder.join("evenkeel.toml"), toml).unwrap();
    Process::start_with(folder, &[("EVENKEEL_CONFIG", "evenkeel.toml")])
}

pub(crate) type Encrypted = BufReader<TlsStream<TcpStream>>;

/// Connects with this version, if the daemon proves that it has this certificate.
pub(crate) async fn connect(
    address: SocketAddr,
    trusted: &CertificateDer<'static>,
    version: &'static SupportedProtocolVersion,
) -> std::io::Result<Encrypted> {
    let mut roots = RootCertStore::empty();
    roots.add(trusted.clone()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[version])
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(address).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TlsConnector::from(Arc::new(config))
        .connect(name, stream)
        .await?;
    Ok(BufReader::new(stream))
}

async fn ask(stream: &mut Encrypted, lines: &str) -> String {
    stream.get_mut().write_all(lines.as_bytes()).await.unwrap();
    stream.get_mut().flush().await.unwrap();
    let mut line = String::new();
    stream.read_line(&mut line).await.unwrap();
    line
}

#[tokio::test]
async fn the_same_lines_and_rights_over_tls() {
    let folder = TempDir::new().unwrap();
    let certificate = certify(folder.path());
    let clients = "[[clients]]\nname = 'a'\ntoken = 'x'\nrights = ['ask']";
    let process = daemon(folder.path(), clients);
    let address = process.tls.unwrap();
    for version in [&TLS12, &TLS13] {
        let mut stream = connect(address, &certificate, version).await.unwrap();
        let reply = ask(&mut stream, "GAME ctf\n").await;
        assert_eq!(
            reply,
            "ERROR not-allowed say HELLO <server> <token> first\n"
        );
        assert!(
            ask(&mut stream, "HELLO a x\n")
                .await
                .starts_with("HELLO evenkeel/")
        );
        assert_eq!(
            ask(&mut stream, "GAME ctf\nMEANBOT\n").await,
            "MEANBOT 50.000 0\n"
        );
        let reply = ask(&mut stream, "START\n").await;
        assert!(reply.contains("needs the right report"), "{reply}");
        // A long reply, and then the end.
        stream
            .get_mut()
            .write_all(&b"PLAYER a b c\n".repeat(20_000))
            .await
            .unwrap();
        stream.get_mut().write_all(b"QUIT\n").await.unwrap();
        let mut rest = String::new();
        stream.read_to_string(&mut rest).await.unwrap();
        assert_eq!(rest, "PLAYER a b c\n".repeat(20_000));
        let mut wrong = connect(address, &certificate, version).await.unwrap();
        let reply = ask(&mut wrong, "HELLO a y\n").await;
        assert_eq!(reply, "ERROR not-allowed unknown server or wrong token\n");
        assert_eq!(ask(&mut wrong, "").await, "");
    }
}

#[tokio::test]
async fn both_listeners_share_the_room_for_connections() {
    let folder = TempDir::new().unwrap();
    let certificate = certify(folder.path());
    let process = daemon(folder.path(), "server.max_connections = 1");
    let mut plain = process.connect();
    plain.get_mut().write_all(b"GAME ctf\nPING\n").unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut plain, &mut line).unwrap();
    assert_eq!(line, "PONG\n");
    assert!(
        connect(process.tls.unwrap(), &certificate, &TLS13)
            .await
            .is_err()
    );
}

#[tokio::test]
async fn strangers_to_tls_disturb_nobody() {
    let folder = TempDir::new().unwrap();
    let certificate = certify(folder.path());
    let process = daemon(folder.path(), "");
    let address = process.tls.unwrap();
    let mut inside = connect(address, &certificate, &TLS13).await.unwrap();
    let mut silent = Vec::new();
    for _ in 0..50 {
        silent.push(TcpStream::connect(address).await.unwrap());
    }
    let garbage: [&[u8]; 4] = [
        b"PING\nPING\nPING\n",
        &[0x16, 3, 1, 0xff, 0xff, 1, 0, 0xff, 0xff, 0xff],
        &[0xff; 70_000],
        &[0x16, 3, 3, 0, 0],
    ];
    for bytes in garbage {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let _ = stream.write_all(bytes).await;
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said).await;
        assert!(!said.windows(4).any(|part| part == b"PONG"), "{said:?}");
        assert_eq!(ask(&mut inside, "PING\n").await, "PONG\n");
    }
    // The handshake has a time limit of one second.
    for mut stream in silent {
        let mut said = Vec::new();
        let _ = stream.read_to_end(&mut said).await;
        assert!(said.is_empty());
    }
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    assert!(connect(address, other.cert.der(), &TLS13).await.is_err());
    assert_eq!(ask(&mut inside, "PING\n").await, "PONG\n");
}

#[tokio::test]
async fn certificates_change_while_the_daemon_runs() {
    let folder = TempDir::new().unwrap();
    let first = certify(folder.path());
    let process = daemon(folder.path(), "");
    let address = process.tls.unwrap();
    let log = |wanted: &str| while !process.log.recv_timeout(HANG).unwrap().contains(wanted) {};
    let mut inside = connect(address, &first, &TLS13).await.unwrap();
    // A bad file keeps the old certificate.
    fs::write(folder.path().join("cert.pem"), "no certificate").unwrap();
    process.signal("-HUP");
    log("the new certificate is not used; the old one stays");
    connect(address, &first, &TLS13).await.unwrap();
    let second = certify(folder.path());
    process.signal("-HUP");
    log("the certificate of encrypted connections is replaced");
    connect(address, &second, &TLS13).await.unwrap();
    assert!(connect(address, &first, &TLS13).await.is_err());
    // Without SIGHUP, the daemon finds it out by itself.
    let third = certify(folder.path());
    log("the certificate of encrypted connections is replaced");
    connect(address, &third, &TLS13).await.unwrap();
    assert_eq!(
        ask(&mut inside, "PING\n").await,
        "PONG\n",
        "open connections go on"
    );
}

#[test]
fn a_daemon_without_its_certificate_does_not_start() {
    let folder = TempDir::new().unwrap();
    let run = |tls: &str| {
        let toml = format!("[server]\nlisten = '127.0.0.1:0'\n[server.tls]\n{tls}");
        fs::write(folder.path().join("evenkeel.toml"), toml).unwrap();
        let mut serve = evenkeel(folder.path());
        let output = serve
            .args(["serve", "--config", "evenkeel.toml"])
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    let files = "certificate = 'cert.pem'\nkey = 'key.pem'";
    for (tls, why) in [
        (
            "listen = '127.0.0.1:0'",
            "line 4: server.tls.certificate must not be empty",
        ),
        (
            "listen = '127.0.0.1:0'\ncertificate = 'c'",
            "server.tls.key must not be empty",
        ),
        (
            "listen = 'here'",
            "line 4: server.tls.listen must be empty, or an address and port",
        ),
        (
            &format!("listen = '127.0.0.1:0'\n{files}"),
            "cert.pem: No such file",
        ),
        (
            &format!("listen = '0.0.0.0:0'\n{files}"),
            "0.0.0.0:0 is not a loopback address",
        ),
    ] {
        let (code, said) = run(tls);
        assert_eq!(code, Some(3), "{said}");
        assert!(said.contains(why), "{said}");
    }
}
