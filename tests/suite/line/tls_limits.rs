//! The limits of connections hold on encrypted connections as on plain ones, with the same words.

use std::time::Instant;

use tempfile::TempDir;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpStream,
};
use tokio_rustls::rustls::{pki_types::CertificateDer, version::TLS13};

use crate::{
    common::process::Process,
    line::tls::{certify, connect, daemon},
};

trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A daemon, and how its connections are encrypted.
struct Target {
    process: Process,
    certificate: CertificateDer<'static>,
    _folder: TempDir,
}

impl Target {
    fn start(toml: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let certificate = certify(folder.path());
        Self {
            process: daemon(folder.path(), toml),
            certificate,
            _folder: folder,
        }
    }

    /// A plain connection, and an encrypted one.
    async fn both(&self) -> [Box<dyn Stream>; 2] {
        let plain = TcpStream::connect(self.process.address).await.unwrap();
        let address = self.process.tls.unwrap();
        let encrypted = connect(address, &self.certificate, &TLS13).await.unwrap();
        [Box::new(plain), Box::new(encrypted)]
    }
}

/// Sends the bytes and returns everything up to the end of the connection.
async fn talk(stream: &mut Box<dyn Stream>, bytes: &[u8]) -> String {
    // The daemon may close the connection before it has read everything.
    let _ = stream.write_all(bytes).await;
    let _ = stream.flush().await;
    let mut said = Vec::new();
    let _ = stream.read_to_end(&mut said).await;
    String::from_utf8_lossy(&said).into_owned()
}

#[tokio::test]
async fn lines_that_are_too_long_or_wrong_are_refused_alike() {
    let target = Target::start("server.max_line_bytes = 64\nserver.max_errors = 3\n");
    let long = "x".repeat(65);
    let longer = "x".repeat(1_000_000);
    let fits = "x".repeat(64 - "PLAYER ".len());
    let refused = "ERROR too-long the line is longer than 64 bytes\n";
    let unknown = "ERROR unknown-command NONSENSE\n";
    let thrown_out = "ERROR too-many-errors 3 errors since the last GAME\n";
    let cases = [
        (format!("{long}\nPING\nQUIT\n"), format!("{refused}PONG\n")),
        (
            format!("{longer}\nPING\n{longer}\r\nQUIT\n"),
            format!("{refused}PONG\n{refused}"),
        ),
        (
            format!("GAME ctf\nPLAYER {fits}\r\nPLAYER {fits}x\nPLAYER {fits}\nQUIT\n"),
            format!("PLAYER {fits}\n{refused}PLAYER {fits}\n"),
        ),
        ("NONSENSE\n".repeat(1_000), unknown.repeat(3) + thrown_out),
        (
            format!(
                "GAME ctf\nPLAYER a\nNONSENSE\nPLAYER a\n{long}\nPLAYER a\nNONSENSE\nPLAYER a\n"
            ),
            format!("PLAYER a\n{unknown}PLAYER a\n{refused}PLAYER a\n{unknown}{thrown_out}"),
        ),
    ];
    for (lines, answers) in cases {
        for mut stream in target.both().await {
            assert_eq!(talk(&mut stream, lines.as_bytes()).await, answers);
        }
    }
}

#[tokio::test]
async fn who_is_slow_is_closed_alike() {
    let limits =
        "server.first_line_seconds = 1\nserver.line_seconds = 1\nserver.idle_seconds = 1\n";
    let target = Target::start(limits);
    let mut all = Vec::new();
    for (bytes, answers) in [
        ("", ""),
        ("PLAY", ""),
        ("\n\n\n", ""),
        ("PING\n", "PONG\n"),
        ("PING\nPLAY", "PONG\n"),
        ("GAME ctf\nPLAYER a\nPLAYER a", "PLAYER a\n"),
    ] {
        for mut stream in target.both().await {
            all.push(tokio::spawn(async move {
                let began = Instant::now();
                assert_eq!(talk(&mut stream, bytes.as_bytes()).await, answers);
                // Not at once, and not by the two hours of the default.
                assert!(began.elapsed().as_secs_f64() > 0.8, "{bytes}");
            }));
        }
    }
    for one in all {
        one.await.unwrap();
    }
}

#[tokio::test]
async fn who_sends_too_much_is_read_later_and_loses_nothing() {
    let target = Target::start(
        "[limits]\nlines_per_second = 100\nlines_burst = 50\n[[clients]]\nname = 'a'\ntoken = 'x'\nrights = ['ask']\n",
    );
    let [plain, encrypted] = target.both().await;
    // Both are the same client, with one limit for all its connections.
    let lines = format!("HELLO a x\nGAME ctf\n{}QUIT\n", "PLAYER a\n".repeat(100));
    let began = Instant::now();
    let one = |mut stream: Box<dyn Stream>| {
        let lines = lines.clone();
        tokio::spawn(async move { talk(&mut stream, lines.as_bytes()).await })
    };
    let (one, other) = (one(plain), one(encrypted));
    for said in [one.await.unwrap(), other.await.unwrap()] {
        let (hello, rest) = said.split_once('\n').unwrap();
        assert!(hello.starts_with("HELLO evenkeel/"), "{hello}");
        assert_eq!(rest, "PLAYER a\n".repeat(100));
    }
    // 206 lines, of which 50 at once.
    assert!(
        began.elapsed().as_secs_f64() >= 1.5,
        "{:?}",
        began.elapsed()
    );
}

#[tokio::test]
async fn who_guesses_is_slowed_down_alike() {
    let target = Target::start("[[clients]]\nname = 'a'\ntoken = 'x'\nrights = ['ask']\n");
    for _ in 0..2 {
        for mut stream in target.both().await {
            let said = talk(&mut stream, b"HELLO a guess\nPING\n").await;
            assert_eq!(said, "ERROR not-allowed unknown server or wrong token\n");
        }
    }
    // The right token is accepted after it has waited like any other.
    for mut stream in target.both().await {
        let began = Instant::now();
        let said = talk(&mut stream, b"HELLO a x\nPING\nQUIT\n").await;
        assert!(said.ends_with("\nPONG\n"), "{said}");
        assert!(began.elapsed().as_secs_f64() > 0.1, "{:?}", began.elapsed());
    }
}
