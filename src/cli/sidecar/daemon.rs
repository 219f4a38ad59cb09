//! The connection to Evenkeel's daemon, made again for as long as it takes.

use std::{io, net::SocketAddr, time::Duration};

use bytes::BytesMut;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::mpsc,
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::protocol::{FramedLine, Framer};

/// The first and the longest pause before another attempt.
const PAUSES: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(30)];
/// How long connecting, and writing what is still unsaid at the end, may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// The longest line of an answer.
const MAX_LINE: usize = 4_096;
/// Lines that may wait, either way. A daemon that leaves so many unread has hung.
const QUEUE: usize = 4_096;

/// What happened.
pub(super) enum News {
    Connected,
    Line(String),
    Lost(String),
}

/// What the task that owns the socket tells.
enum Told {
    Connected(mpsc::Sender<String>),
    Line(String),
    Lost(String),
}

pub(super) struct Daemon {
    address: SocketAddr,
    task: Option<JoinHandle<()>>,
    told: mpsc::Receiver<Told>,
    teller: mpsc::Sender<Told>,
    /// Of the present connection; lines of an older one are never sent on a newer.
    say: Option<mpsc::Sender<String>>,
}

impl Daemon {
    pub(super) fn new(address: SocketAddr) -> Self {
        let (teller, told) = mpsc::channel(QUEUE);
        Self {
            address,
            task: None,
            told,
            teller,
            say: None,
        }
    }

    /// From now on there is a connection whenever there can be one.
    pub(super) fn connect(&mut self) {
        let work = keep_connected(self.address, self.teller.clone());
        self.task = Some(tokio::spawn(work));
    }

    /// What happens next.
    pub(super) async fn news(&mut self) -> News {
        loop {
            match self.told.recv().await {
                Some(Told::Connected(say)) => {
                    self.say = Some(say);
                    return News::Connected;
                }
                Some(Told::Line(line)) => return News::Line(line),
                Some(Told::Lost(why)) => {
                    self.say = None;
                    return News::Lost(why);
                }
                // It cannot end while this holds a teller.
                None => std::future::pending().await,
            }
        }
    }

    /// Says a line; without a connection it is forgotten, since the next one begins anew.
    pub(super) fn say(&mut self, line: String) {
        if let Some(say) = &self.say
            && say.try_send(line).is_err()
        {
            // The task drops the connection when nobody can speak any more, and makes another.
            self.say = None;
        }
    }

    /// Says what is still unsaid, and closes.
    pub(super) async fn close(mut self) {
        if self.say.take().is_some() {
            let all_said = async {
                while let Some(told) = self.told.recv().await {
                    if matches!(told, Told::Lost(_)) {
                        return;
                    }
                }
            };
            let _ = timeout(PATIENCE, all_said).await;
        }
        if let Some(task) = self.task.take() {
            task.abort();
        }
    }
}

async fn keep_connected(address: SocketAddr, teller: mpsc::Sender<Told>) {
    let [first, longest] = PAUSES;
    let mut pause = first;
    let mut complained = false;
    while !teller.is_closed() {
        let why = match timeout(PATIENCE, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => {
                let (say, said) = mpsc::channel(QUEUE);
                if teller.send(Told::Connected(say)).await.is_err() {
                    return;
                }
                complained = false;
                let (why, served) = converse(stream, said, &teller).await;
                if served {
                    pause = first;
                }
                why
            }
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it does not answer".to_owned(),
        };
        if !std::mem::replace(&mut complained, true) && teller.send(Told::Lost(why)).await.is_err()
        {
            return;
        }
        sleep(pause).await;
        pause = (pause * 2).min(longest);
    }
}

/// Passes lines both ways until the connection ends: why, and whether the daemon ever said anything
/// but an error.
async fn converse(
    mut stream: TcpStream,
    mut said: mpsc::Receiver<String>,
    teller: &mpsc::Sender<Told>,
) -> (String, bool) {
    let (mut reader, mut writer) = stream.split();
    let mut served = false;
    let reading = async {
        let mut framer = Framer::new(MAX_LINE);
        let mut buffer = BytesMut::new();
        loop {
            while let Some(line) = framer.next_line(&mut buffer) {
                if let FramedLine::Text(line) = line {
                    let line = String::from_utf8_lossy(&line).into_owned();
                    served |= !line.starts_with("ERROR");
                    if teller.send(Told::Line(line)).await.is_err() {
                        return Ok(());
                    }
                }
            }
            if reader.read_buf(&mut buffer).await? == 0 {
                return Ok(());
            }
        }
    };
    let writing = async {
        while let Some(mut line) = said.recv().await {
            line.push('\n');
            writer.write_all(line.as_bytes()).await?;
        }
        writer.shutdown().await?;
        // The daemon closes when it has read all of it; closing first could take it away.
        sleep(PATIENCE).await;
        Ok(())
    };
    let ended: io::Result<()> = tokio::select! {
        ended = reading => ended,
        ended = writing => ended,
    };
    let why = match ended {
        Ok(()) => "it has closed the connection".to_owned(),
        Err(error) => error.to_string(),
    };
    (why, served)
}
