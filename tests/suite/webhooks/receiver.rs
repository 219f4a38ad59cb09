//! A receiver of webhooks that answers as a test wants.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
};

use evenkeel::webhooks::SigningKeys;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::mpsc;

pub const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// How a request is answered.
#[derive(Clone, Debug)]
pub enum Reply {
    Status(u16),
    /// 307, to this address.
    Redirect(String),
    /// Never, while the connection remains open.
    Silence,
    /// Never: the connection is closed.
    Close,
    /// 200, and a content without an end.
    Endless,
    /// A head without an end.
    EndlessHead,
}

/// A request as it was received.
#[derive(Clone, Debug)]
pub struct Request {
    pub headers: BTreeMap<String, String>,
    pub text: String,
    /// Whether it was answered with success.
    pub is_taken: bool,
}

impl Request {
    pub fn id(&self) -> &str {
        &self.headers["webhook-id"]
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    pub fn kind(&self) -> String {
        self.json()["type"].as_str().unwrap().to_owned()
    }

    /// The id of the match that it is about.
    pub fn of(&self) -> String {
        self.json()["data"]["match"].to_string()
    }

    /// Checks the signature, as the libraries of Standard Webhooks do, and that the id is the content's.
    pub fn check(&self) {
        let keys = SigningKeys::parse(SECRET).unwrap();
        let seconds: i64 = self.headers["webhook-timestamp"].parse().unwrap();
        let signed = keys.sign(self.id(), seconds, &self.text);
        assert_eq!(self.headers["webhook-signature"], signed);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        assert!((now.unwrap().as_secs() as i64 - seconds).abs() < 300);
        assert_eq!(self.json()["id"], self.id());
        assert_eq!(self.headers["content-type"], "application/json");
    }
}

pub struct Receiver {
    pub address: SocketAddr,
    pub requests: mpsc::UnboundedReceiver<Request>,
    /// The next replies, and the one after them.
    replies: Arc<Mutex<(VecDeque<Reply>, Reply)>>,
    stop: Arc<AtomicBool>,
}

impl Receiver {
    /// Answers the first requests with `first`, and all others with `then`.
    pub fn start(first: Vec<Reply>, then: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, requests) = mpsc::unbounded_channel();
        let stop = Arc::new(AtomicBool::new(false));
        let replies = Arc::new(Mutex::new((VecDeque::from(first), then)));
        let (stopped, shared) = (stop.clone(), replies.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if stopped.load(Ordering::Relaxed) {
                    return;
                }
                let (sender, replies, stopped) = (sender.clone(), shared.clone(), stopped.clone());
                thread::spawn(move || {
                    let mut reader = BufReader::new(stream);
                    while let Some(mut request) = read(&mut reader) {
                        let reply = {
                            let (first, then) = &mut *replies.lock();
                            first.pop_front().unwrap_or_else(|| then.clone())
                        };
                        request.is_taken = matches!(reply, Reply::Status(200..=299));
                        let _ = sender.send(request);
                        if answer(reader.get_mut(), &reply, &stopped).is_err() {
                            return;
                        }
                    }
                });
            }
        });
        Self {
            address,
            requests,
            replies,
            stop,
        }
    }

    /// Answers all further requests so.
    pub fn answer(&self, reply: Reply) {
        *self.replies.lock() = (VecDeque::new(), reply);
    }

    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// The next request.
    pub async fn next(&mut self) -> Request {
        self.requests.recv().await.unwrap()
    }

    /// The next request, for tests with a process of its own.
    pub fn wait(&mut self) -> Request {
        self.requests.blocking_recv().unwrap()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(self.address); // wakes the listener
    }
}

fn read(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut headers = BTreeMap::new();
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    assert_eq!(line, "POST /hook HTTP/1.1\r\n");
    loop {
        line.clear();
        reader.read_line(&mut line).ok()?;
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.insert(name.to_ascii_lowercase(), value.to_owned()),
            None => break,
        };
    }
    let length: usize = headers["content-length"].parse().unwrap();
    let mut bytes = vec![0; length];
    reader.read_exact(&mut bytes).ok()?;
    let text = String::from_utf8(bytes).unwrap();
    Some(Request {
        headers,
        text,
        is_taken: false,
    })
}

fn answer(stream: &mut TcpStream, reply: &Reply, stopped: &AtomicBool) -> std::io::Result<()> {
    let end = std::io::Error::other("closed");
    match reply {
        Reply::Status(status) => {
            write!(stream, "HTTP/1.1 {status} X\r\ncontent-length: 0\r\n\r\n")
        }
        Reply::Redirect(to) => {
            let head = format!("HTTP/1.1 307 X\r\nlocation: {to}\r\ncontent-length: 0\r\n\r\n");
            stream.write_all(head.as_bytes())
        }
        Reply::Close => Err(end),
        Reply::Silence => {
            // Until the sender closes the connection.
            let _ = stream.read(&mut [0]);
            Err(end)
        }
        Reply::Endless => {
            stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")?;
            while !stopped.load(Ordering::Relaxed) {
                stream.write_all(b"5\r\nhello\r\n")?;
            }
            Err(end)
        }
        Reply::EndlessHead => {
            stream.write_all(b"HTTP/1.1 200 OK\r\n")?;
            while !stopped.load(Ordering::Relaxed) {
                stream.write_all(b"x-again: and again\r\n")?;
            }
            Err(end)
        }
    }
}
