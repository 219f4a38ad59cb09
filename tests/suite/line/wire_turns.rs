//! Questions about weights: no allocation for any of them, one write for each read, and the same answers as the
//! requests give.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use evenkeel::{
    model::Kind,
    server::{ByteStream, Peer, Service, serve},
};
use proptest::prelude::*;
use tempfile::TempDir;
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf},
    net::{TcpListener, TcpStream},
};
use tokio_util::sync::CancellationToken;

use crate::common::{config, game, gate, service};

/// A service with a journal, which knows the weights of `a b`, `c`, `Grunt` and `Doom`.
async fn learned() -> (Arc<Service>, TempDir) {
    let (service, folder) = service(&config("")).await;
    let journal = folder.path().join("games");
    service.sessions().open_journal(&journal).await.unwrap();
    let (red, blue) = (
        [(Kind::Human, "a b"), (Kind::Bot, "Grunt")],
        [(Kind::Human, "c"), (Kind::Bot, "Doom")],
    );
    let played = game(0, &red, &blue, [3.0, 1.0]);
    service.store().matches().record(&played).await.unwrap();
    service.learning().refresh().await.unwrap();
    (service, folder)
}

/// Serves one connection as a task.
fn serve_on<S>(stream: S, service: Arc<Service>)
where
    S: ByteStream + Send + 'static,
{
    let config = config("");
    let peer = Peer::enter(&gate(&config), [127, 0, 0, 1].into()).unwrap();
    tokio::spawn(async move {
        let stop = CancellationToken::new();
        serve(stream, &service, config.server.limits, peer, stop).await;
    });
}

const QUESTIONS: &[u8] = b"PLAYER a b\r\nPLAYER nobody\nBOT Grunt\nbot stranger\n player c \n";

const ANSWERS: usize = 5;

/// Sends the bytes and reads this number of lines.
async fn exchange<S>(stream: &mut S, bytes: &[u8], lines: usize, heard: &mut Vec<u8>)
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    let ends = |bytes: &[u8]| bytes.iter().filter(|&&byte| byte == b'\n').count();
    heard.clear();
    stream.write_all(bytes).await.unwrap();
    while ends(heard) < lines {
        assert_ne!(stream.read_buf(heard).await.unwrap(), 0);
    }
}

#[test]
fn questions_about_weights_allocate_nothing() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut heard = Vec::with_capacity(4_096);
    let (mut stream, _folder) = runtime.block_on(async {
        let (service, folder) = learned().await;
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (ours, theirs) = tokio::join!(TcpStream::connect(address), listener.accept());
        serve_on(theirs.unwrap().0, service);
        let mut ours = ours.unwrap();
        exchange(&mut ours, b"GAME ctf\nPING\n", 1, &mut heard).await;
        assert_eq!(heard, b"PONG\n");
        (ours, folder)
    });
    let mut rounds = |number: usize| {
        runtime.block_on(async {
            for _ in 0..number {
                exchange(&mut stream, QUESTIONS, ANSWERS, &mut heard).await;
            }
        });
    };
    // The buffers of the thread grow to their size, and the weights come to hand.
    rounds(10);
    let counted = allocation_counter::measure(|| rounds(1_000));
    assert_eq!(counted.count_total, 0, "{counted:?}");
    let answers: Vec<_> = heard
        .split(|&byte| byte == b'\n')
        .map(<[u8]>::len)
        .collect();
    assert_eq!(answers, [17, 13, 16, 19, 15, 0], "{heard:?}");
}

/// A pipe whose reads and writes are counted.
struct Counted {
    pipe: DuplexStream,
    reads: Arc<AtomicUsize>,
    writes: Arc<AtomicUsize>,
}

impl ByteStream for Counted {
    fn acknowledge(&self) {}
}

impl AsyncRead for Counted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.pipe).poll_read(context, buffer);
        self.reads
            .fetch_add(usize::from(read.is_ready()), Ordering::Relaxed);
        read
    }
}

impl AsyncWrite for Counted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.writes.fetch_add(1, Ordering::Relaxed);
        Pin::new(&mut self.pipe).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_shutdown(context)
    }
}

#[tokio::test]
async fn all_lines_of_a_read_are_answered_with_one_write() {
    let (service, _folder) = learned().await;
    let (mut ours, pipe) = tokio::io::duplex(64 * 1024);
    let counts: [Arc<AtomicUsize>; 2] = Default::default();
    let [reads, writes] = counts.clone();
    serve_on(
        Counted {
            pipe,
            reads,
            writes,
        },
        service,
    );
    let mut heard = Vec::new();
    let counted = || counts.each_ref().map(|count| count.load(Ordering::Relaxed));
    exchange(&mut ours, b"GAME ctf\nPING\n", 1, &mut heard).await;
    let mut before = counted();
    // The last line of the first read comes with the second one; other requests among the questions change
    // nothing, and the answers keep their order.
    let with_more = [QUESTIONS, b"PING\nMEANBOT\n", QUESTIONS, b"PLAYER a"].concat();
    let rest = [b" b\n", QUESTIONS].concat();
    let once = QUESTIONS.repeat(100);
    for (bytes, lines) in [
        (&with_more, 2 * ANSWERS + 2),
        (&rest, ANSWERS + 1),
        (&once, 100 * ANSWERS),
    ] {
        exchange(&mut ours, bytes, lines, &mut heard).await;
        let after = counted();
        assert_eq!(
            (after[0] - before[0], after[1] - before[1]),
            (1, 1),
            "{lines}"
        );
        before = after;
        assert!(!String::from_utf8_lossy(&heard).contains("ERROR"));
    }
    exchange(&mut ours, &with_more, 2 * ANSWERS + 2, &mut heard).await;
    let said = String::from_utf8(heard).unwrap();
    let verbs: Vec<_> = said
        .lines()
        .map(|line| line.split(' ').next().unwrap())
        .collect();
    let five = ["PLAYER", "PLAYER", "BOT", "BOT", "PLAYER"];
    assert_eq!(verbs, [&five[..], &["PONG", "MEANBOT"], &five].concat());
}

/// How the game server introduces itself, and lines that questions about weights may follow.
fn setup() -> impl Strategy<Value = (&'static str, String)> {
    let line = prop::sample::select(vec![
        "GAME ctf",
        "GAME dm",
        "GAME nonsense",
        "MUTATOR instagib",
        "MAP square",
        "JOIN c team=0",
        "BOTJOIN Grunt 1",
    ]);
    let bots = prop::sample::select(vec!["", "bots=yes", "bots=no"]);
    let lines = prop::collection::vec(line, 0..6);
    (bots, lines.prop_map(|lines| lines.join("\n")))
}

/// A question, or a line that is almost one.
fn question() -> impl Strategy<Value = Vec<u8>> {
    let verb = prop::sample::select(vec!["PLAYER", "BOT", "player", "Bot", "PLAYERS", ""]);
    let blanks = prop::sample::select(vec![" ", "", " \t", "\u{c}"]);
    let known = prop::sample::select(vec!["a b", "c", "Grunt", "Doom", "\"a b\"", "\"Grunt\""]);
    let id = prop_oneof![
        4 => known.prop_map(|id| id.as_bytes().to_vec()),
        1 => "\\PC{0,8}".prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..8),
    ];
    let end = prop::sample::select(vec!["\n", "\r\n", " \n"]);
    (verb, blanks, id, end).prop_map(|(verb, blanks, id, end)| {
        let id: Vec<u8> = id.into_iter().filter(|byte| *byte != b'\n').collect();
        [verb.as_bytes(), blanks.as_bytes(), &id, end.as_bytes()].concat()
    })
}

/// What a new connection answers to these lines after the setup. The lines are sent at once, behind `first`.
async fn answers(service: Arc<Service>, setup: &str, first: &str, lines: &[u8]) -> Vec<u8> {
    let (mut stream, pipe) = tokio::io::duplex(64 * 1024);
    serve_on(pipe, service);
    let mut heard = Vec::new();
    let mut talk = async |bytes: &[u8], pongs: usize| {
        heard.clear();
        stream.write_all(bytes).await.unwrap();
        let is_pong = |line: &&[u8]| *line == b"PONG";
        while heard.split(|&byte| byte == b'\n').filter(is_pong).count() < pongs
            || !heard.ends_with(b"PONG\n")
        {
            assert_ne!(stream.read_buf(&mut heard).await.unwrap(), 0);
        }
        heard.clone()
    };
    // Questions bring the weights to hand.
    talk(
        &[setup.as_bytes(), b"PLAYER c\nBOT Doom\nPING\n"].concat(),
        1,
    )
    .await;
    let pongs = 1 + usize::from(!first.is_empty());
    let said = talk(&[first.as_bytes(), lines, b"PING\n"].concat(), pongs).await;
    match first.is_empty() {
        true => said,
        false => said[b"PONG\n".len()..].to_vec(),
    }
}

#[test]
fn a_question_is_answered_alike_at_once_and_by_the_requests() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (service, _folder) = runtime.block_on(learned());
    let names = AtomicUsize::new(0);
    let hello = |(bots, lines): &(&str, String)| {
        let name = names.fetch_add(1, Ordering::Relaxed);
        format!("HELLO server{name} {bots}\n{lines}\n")
    };
    proptest!(ProptestConfig::with_cases(200), |(
        setup in setup(),
        questions in prop::collection::vec(question(), 1..12),
    )| {
        let lines = questions.concat();
        let (at_once, by_requests) = runtime.block_on(async {
            let at_once = answers(service.clone(), &hello(&setup), "", &lines).await;
            // Behind a request that is no question, all lines of a read are left to the requests.
            let by_requests = answers(service.clone(), &hello(&setup), "PING\n", &lines).await;
            (at_once, by_requests)
        });
        prop_assert_eq!(at_once.escape_ascii().to_string(), by_requests.escape_ascii().to_string());
    });
}
