//! Requests of a visitor of the statistics pages.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    path::Path,
};

use super::process::{HANG, Process};

/// A daemon with statistics pages.
pub struct Pages {
    pub daemon: Process,
    pub address: SocketAddr,
    /// What it logs up to the address of the pages.
    pub log: Vec<String>,
}

impl Pages {
    /// Starts a daemon in a folder, with variables that change its configuration.
    pub fn start(folder: &Path, variables: &[(&str, &str)]) -> Self {
        let words = ["serve", "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0"];
        let daemon = Process::run(folder, &words, variables);
        let mut log = Vec::new();
        let address = loop {
            let line = daemon.log.recv_timeout(HANG).unwrap();
            log.push(line);
            let line = log.last().unwrap();
            if let Some((_, rest)) = line.split_once("statistics pages are at http://") {
                break rest.split('/').next().unwrap().parse().unwrap();
            }
        };
        Self {
            daemon,
            address,
            log,
        }
    }

    /// The answer to GET.
    pub fn get(&self, path: &str) -> HttpAnswer {
        self.request("GET", path, "")
    }

    /// The answer to a request with more header fields, each with its line end.
    pub fn request(&self, method: &str, path: &str, fields: &str) -> HttpAnswer {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n{fields}\r\n"
        );
        self.send(head.as_bytes())
    }

    /// The answer to these bytes.
    pub fn send(&self, bytes: &[u8]) -> HttpAnswer {
        let mut stream = self.connect();
        // The daemon may refuse before it has read everything.
        let _ = stream.write_all(bytes);
        HttpAnswer::read(stream)
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        stream
    }
}

/// The answer to a request on a connection that ends with it.
#[derive(Debug, Default)]
pub struct HttpAnswer {
    /// 0 if the connection ended without an answer.
    pub status: u16,
    /// The header fields in lower case, each with its line end.
    pub head: String,
    pub body: String,
}

impl HttpAnswer {
    /// Reads an answer up to the end of its connection.
    pub fn read(stream: TcpStream) -> Self {
        let mut stream = BufReader::new(stream);
        let mut answer = Self::default();
        let mut line = String::new();
        while stream.read_line(&mut line).unwrap_or(0) > 0 {
            if line == "\r\n" {
                break;
            }
            if answer.status == 0 {
                let word = line.split_whitespace().nth(1).unwrap();
                answer.status = word.parse().unwrap();
            } else {
                answer.head.push_str(&line.to_lowercase());
            }
            line.clear();
        }
        let mut body = Vec::new();
        let _ = stream.read_to_end(&mut body);
        answer.body = String::from_utf8(body).unwrap();
        answer
    }

    /// The value of a header field.
    pub fn field(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines();
        lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}
