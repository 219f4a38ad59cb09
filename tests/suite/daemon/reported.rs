//! Kills a daemon between a request over HTTP and its answer: no match is lost, and none is there twice.

#![allow(
    clippy::disallowed_methods,
    reason = "a daemon is killed after a time that is shorter than a sleep can be"
)]

use std::{
    collections::BTreeMap,
    io::{Read, Write},
    net::TcpStream,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::common::{api::Api, draw::Draw, process::HANG};

const KILLS: usize = 12;

/// Sends a match under a key. Returns the answer, if the connection lives as long.
fn send(mut stream: TcpStream, body: &Value, key: &str) -> Option<Value> {
    let body = body.to_string();
    let request = format!(
        "POST /v1/matches HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAuthorization: Bearer club-token\r\n\
         Content-Type: application/json\r\nIdempotency-Key: {key}\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut text = String::new();
    let _ = stream.read_to_string(&mut text);
    let (head, body) = text.split_once("\r\n\r\n")?;
    assert!(head.starts_with("HTTP/1.1 201"), "{text}");
    serde_json::from_str(body).ok() // the daemon may be killed while it sends
}

#[test]
fn kills_lose_no_reported_match_and_double_none() {
    let mut api = Api::start("");
    let (mut draw, mut numbers) = (Draw(7), BTreeMap::new());
    let (mut answered, mut twice) = (0, 0);
    for round in 0..KILLS {
        let (map, key) = (format!("m{round}"), format!("k{round}"));
        let body = json!({"ruleset": "futsal", "teams": [["ann", "bob"], ["cid", "dan"]], "winner": round % 2, "map": map});
        let stream = api.pages.connect();
        stream.set_read_timeout(Some(HANG)).unwrap();
        let patience = Duration::from_micros(draw.below(12_000) as u64);
        let pid = api.pages.daemon.child.id().to_string();
        let killer = std::thread::spawn(move || {
            let began = Instant::now();
            while began.elapsed() < patience {
                std::hint::spin_loop();
            }
            Command::new("kill").args(["-9", &pid]).status().unwrap();
        });
        let first = send(stream, &body, &key);
        killer.join().unwrap();
        api.kill_and_start();
        let again = send(api.pages.connect(), &body, &key).unwrap();
        if let Some(first) = first {
            answered += 1;
            assert_eq!(first, again, "{round}");
        }
        twice += usize::from(send(api.pages.connect(), &body, &key).unwrap() == again);
        assert!(numbers.insert(map, again["match"].clone()).is_none());
    }
    assert_eq!(twice, KILLS);
    let (_, list) = api.call("", "GET", "/v1/matches?limit=200", &Value::Null);
    let list = list["matches"].as_array().unwrap().iter();
    let stored: Vec<(String, Value)> = list
        .map(|line| (line["map"].as_str().unwrap().to_owned(), line["id"].clone()))
        .collect();
    assert_eq!(stored.len(), KILLS, "none twice");
    assert_eq!(stored.into_iter().collect::<BTreeMap<_, _>>(), numbers);
    println!("{KILLS} kills, {answered} of them after the answer");
}
