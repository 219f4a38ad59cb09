//! A fake of the allocator service of Agones: HTTPS with mutual TLS, the documented path, the documented
//! fields. What it answers is scripted. Nothing of Agones itself runs.

use std::{
    collections::VecDeque,
    fs,
    io::{self, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    path::PathBuf,
    sync::{Arc, mpsc},
    thread,
};

use parking_lot::Mutex;
use rcgen::ExtendedKeyUsagePurpose;
use rustls::{
    ServerConfig, ServerConnection, StreamOwned,
    crypto::ring,
    pki_types::{PrivateKeyDer, pem::PemObject},
    server::WebPkiClientVerifier,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::authority::Authority;

/// What a request is answered.
pub enum Play {
    /// This game server.
    Server(&'static str),
    /// This status, with a code of gRPC.
    Status(u16, i64),
    /// Nothing, until the client gives up.
    Hang,
    /// The first half of an answer, then the end of the connection.
    Cut,
    /// Bytes that are no HTTP.
    Garbage,
    /// HTTP whose body is no JSON.
    Words,
    /// A body without an end.
    Flood,
    /// This game server, once the sender is dropped or has sent.
    Later(&'static str, mpsc::Receiver<()>),
}

/// What the fake and its threads share.
#[derive(Default)]
struct Desk {
    script: Mutex<VecDeque<Play>>,
    requests: Mutex<Vec<Value>>,
    refused: Mutex<usize>,
}

/// The fake service, with the files that its clients need. It lasts as long as the test's process.
pub struct FakeAllocator {
    pub address: SocketAddr,
    pub folder: TempDir,
    desk: Arc<Desk>,
}

impl FakeAllocator {
    /// Starts the service. It plays the script, and then answers that no game server is ready.
    pub fn start(script: Vec<Play>) -> Self {
        let (servers, clients) = (Authority::new(), Authority::new());
        let folder = TempDir::new().unwrap();
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
        let own = clients.sign(ExtendedKeyUsagePurpose::ClientAuth);
        write("client.crt", &own.certificate);
        write("client.key", &own.key);
        write("ca.crt", &servers.certificate.pem());
        let stranger = Authority::new();
        let strange = stranger.sign(ExtendedKeyUsagePurpose::ClientAuth);
        write("stranger.crt", &strange.certificate);
        write("stranger.key", &strange.key);
        write("stranger-ca.crt", &stranger.certificate.pem());
        let config = Arc::new(config(&servers, &clients));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let desk = Arc::new(Desk {
            script: Mutex::new(script.into()),
            ..Desk::default()
        });
        let shared = desk.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (config, desk) = (config.clone(), shared.clone());
                thread::spawn(move || serve(stream, config, &desk));
            }
        });
        Self {
            address,
            folder,
            desk,
        }
    }

    /// The section of the configuration with which a daemon asks this service.
    pub fn section(&self) -> String {
        let path = |name: &str| format!("{:?}", self.path(name));
        format!(
            r#"
[coordinator]
provider = "agones"
rest_seconds = 0
heartbeat_seconds = 3600

[coordinator.agones]
url = "https://{}"
namespace = "games"
client_cert = {}
client_key = {}
ca = {}
timeout_seconds = 1
mode_label = "mode"
region_label = "region"

[coordinator.agones.labels]
"agones.dev/fleet" = "arena"
"#,
            self.address,
            path("client.crt"),
            path("client.key"),
            path("ca.crt"),
        )
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The requests that have come, in order.
    pub fn requests(&self) -> Vec<Value> {
        self.desk.requests.lock().clone()
    }

    /// How many connections had no certificate that the service accepts.
    pub fn refused(&self) -> usize {
        *self.desk.refused.lock()
    }

    /// Adds to the script.
    pub fn then(&self, play: Play) {
        self.desk.script.lock().push_back(play);
    }
}

fn config(servers: &Authority, clients: &Authority) -> ServerConfig {
    let provider = Arc::new(ring::default_provider());
    let verifier = WebPkiClientVerifier::builder_with_provider(clients.roots(), provider.clone());
    let own = servers.sign(ExtendedKeyUsagePurpose::ServerAuth);
    let chain = vec![
        rustls::pki_types::CertificateDer::from_pem_slice(own.certificate.as_bytes()).unwrap(),
    ];
    let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).unwrap();
    ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(chain, key)
        .unwrap()
}

type Tls = StreamOwned<ServerConnection, TcpStream>;

fn serve(stream: TcpStream, config: Arc<ServerConfig>, desk: &Desk) {
    let connection = ServerConnection::new(config).unwrap();
    let mut tls = StreamOwned::new(connection, stream);
    while tls.conn.is_handshaking() {
        if tls.conn.complete_io(&mut tls.sock).is_err() {
            *desk.refused.lock() += 1;
            return;
        }
    }
    // The connection lasts for several requests, as that of the real service.
    while let Ok(Some(body)) = request(&mut tls) {
        let play = desk.script.lock().pop_front();
        desk.requests.lock().push(body);
        if answer(&mut tls, play.unwrap_or(Play::Status(429, 8))).is_err() {
            return;
        }
    }
}

/// Reads a request, and returns its body; `None` at the end of the connection. Panics where the request is
/// not as documented.
fn request(tls: &mut Tls) -> io::Result<Option<Value>> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        if tls.read(&mut byte)? == 0 {
            return Ok(None);
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap().to_lowercase();
    assert!(
        head.starts_with("post /gameserverallocation http/1.1\r\n"),
        "{head}"
    );
    assert!(
        head.contains("\r\ncontent-type: application/json\r\n"),
        "{head}"
    );
    let (_, length) = head.split_once("\r\ncontent-length: ").unwrap();
    let (length, _) = length.split_once('\r').unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    tls.read_exact(&mut body)?;
    let body: Value = serde_json::from_slice(&body).unwrap();
    let known = ["namespace", "gameServerSelectors", "metadata"];
    assert!(
        body.as_object()
            .unwrap()
            .keys()
            .all(|key| known.contains(&key.as_str()))
    );
    Ok(Some(body))
}

fn answer(tls: &mut Tls, play: Play) -> io::Result<()> {
    match play {
        Play::Server(name) => send(tls, 200, &server(name)),
        Play::Later(name, go) => {
            let _ = go.recv();
            send(tls, 200, &server(name))
        }
        Play::Status(status, code) => {
            let message = "there is no available GameServer to allocate";
            send(
                tls,
                status,
                &json!({"code": code, "message": message, "details": []}),
            )
        }
        Play::Hang => {
            let mut rest = Vec::new();
            let _ = tls.read_to_end(&mut rest);
            Err(io::ErrorKind::TimedOut.into())
        }
        Play::Cut => {
            let whole = text(200, &server("gs-cut").to_string());
            tls.write_all(&whole.as_bytes()[..whole.len() - 20])?;
            Err(io::ErrorKind::BrokenPipe.into())
        }
        Play::Garbage => {
            tls.write_all(b"\x00\xff SSH-2.0 not HTTP\r\n\r\n")?;
            Err(io::ErrorKind::InvalidData.into())
        }
        Play::Words => {
            tls.write_all(text(200, "<html>it works</html>").as_bytes())?;
            tls.flush()
        }
        Play::Flood => {
            tls.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")?;
            loop {
                tls.write_all(&[b' '; 4_096])?;
            }
        }
    }
}

fn server(name: &str) -> Value {
    json!({
        "gameServerName": name,
        "ports": [{"name": "default", "port": 7463}],
        "address": "203.0.113.7",
        "nodeName": "node-1",
        "source": "local",
        "metadata": {"labels": {"region": "eu"}, "annotations": {}},
    })
}

fn text(status: u16, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} Status\r\nContent-Type: application/json\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

fn send(tls: &mut Tls, status: u16, body: &Value) -> io::Result<()> {
    tls.write_all(text(status, &body.to_string()).as_bytes())?;
    tls.flush()
}
