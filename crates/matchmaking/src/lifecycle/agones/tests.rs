//! The requests and answers of the allocator service, field by field.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::lifecycle::WantedInstance;

fn settings() -> AgonesSettings {
    let fleet = ("agones.dev/fleet".to_owned(), "arena".to_owned());
    AgonesSettings {
        url: "https://203.0.113.9:443".to_owned(),
        client_cert: "client.crt".into(),
        client_key: "client.key".into(),
        ca: "ca.crt".into(),
        mode_label: "mode".to_owned(),
        map_label: "example.com/map".to_owned(),
        region_label: "region".to_owned(),
        labels: [fleet].into(),
        ..AgonesSettings::default()
    }
}

fn wanted(latencies: &[(&str, f64)], ceiling: Option<f64>) -> WantedInstance {
    let latency = |(region, latency): &(&str, f64)| ((*region).to_owned(), *latency);
    WantedInstance {
        mode: Some("ctf".to_owned()),
        map: Some("q3ctf1".to_owned()),
        latencies: latencies.iter().map(latency).collect(),
        ceiling,
        wait: 1_000,
        ..WantedInstance::default()
    }
}

fn request(wanted: &WantedInstance) -> Result<Value, String> {
    let text = settings().request(17, "duel", wanted)?;
    Ok(serde_json::from_str(&text).unwrap())
}

fn regions(wanted: &WantedInstance) -> Vec<Value> {
    let request = request(wanted).unwrap();
    let selectors = request["gameServerSelectors"].as_array().unwrap();
    let region = |one: &Value| one["matchLabels"]["region"].clone();
    selectors.iter().map(region).collect()
}

#[test]
fn a_request_has_the_documented_fields() {
    let expected = json!({
        "namespace": "default",
        "gameServerSelectors": [{"matchLabels": {
            "agones.dev/fleet": "arena", "mode": "ctf", "example.com/map": "q3ctf1",
        }}],
        "metadata": {"annotations": {
            "evenkeel/match": "17", "evenkeel/queue": "duel",
            "evenkeel/mode": "ctf", "evenkeel/map": "q3ctf1",
        }},
    });
    assert_eq!(request(&wanted(&[], None)), Ok(expected));
}

#[test]
fn the_nearest_region_is_asked_for_first() {
    let near = [("us", 90.0), ("eu", 20.0), ("asia", 300.0), ("-bad-", 1.0)];
    let any = Value::Null;
    assert_eq!(
        regions(&wanted(&near, None)),
        [json!("eu"), json!("us"), json!("asia"), any]
    );
    assert_eq!(
        regions(&wanted(&near, Some(100.0))),
        [json!("eu"), json!("us")]
    );
    let far = request(&wanted(&near, Some(10.0))).unwrap_err();
    assert_eq!(far, "no region is near enough to all players");
    let names: Vec<String> = (0..100).map(|n| format!("r{n}")).collect();
    let many: Vec<(&str, f64)> = names.iter().map(|name| (name.as_str(), 1.0)).collect();
    assert_eq!(regions(&wanted(&many, Some(2.0))).len(), 16);
}

#[test]
fn a_map_that_cannot_be_a_label_is_not_asked_for() {
    for map in ["a b", "-x", "x_", &"x".repeat(64), "\u{e9}", "a\"}"] {
        let map = Some(map.to_owned());
        let wanted = WantedInstance {
            map,
            ..wanted(&[], None)
        };
        let why = request(&wanted).unwrap_err();
        assert!(
            why.starts_with("the map ") && why.ends_with("label's value"),
            "{why}"
        );
    }
}

fn allocation(status: u16, body: &Value) -> Allocation {
    settings().allocation(status, body.to_string().as_bytes())
}

fn server(body: &Value) -> GameServer {
    match allocation(200, body) {
        Allocation::Done(server) => server,
        other => panic!("{other:?}"),
    }
}

/// What a service of a present version answers; older ones leave out the last fields.
fn answer() -> Value {
    json!({
        "gameServerName": "arena-x7k2p-9d8fz",
        "ports": [{"name": "default", "port": 7463}, {"name": "query", "port": 7464}],
        "address": "203.0.113.7",
        "addresses": [{"type": "ExternalIP", "address": "203.0.113.7"}],
        "nodeName": "node-1",
        "source": "local",
        "metadata": {"labels": {"region": "eu"}, "annotations": {"evenkeel/match": "17"}},
        "counters": {}, "lists": {},
    })
}

fn with(key: &str, value: Value) -> Value {
    let mut answer = answer();
    answer[key] = value;
    answer
}

#[test]
fn an_answer_names_the_game_server() {
    let all = server(&answer());
    assert_eq!(all.name, "arena-x7k2p-9d8fz");
    assert_eq!(all.address, "203.0.113.7:7463");
    assert_eq!(all.region.as_deref(), Some("eu"));
    let old = json!({
        "gameServerName": "gs", "address": "1.2.3.4", "nodeName": "n",
        "ports": [{"name": "default", "port": 1}],
    });
    assert_eq!(server(&old).address, "1.2.3.4:1");
    assert_eq!(server(&with("metadata", Value::Null)).region, None);
    assert_eq!(
        server(&with("address", json!("2001:DB8::7"))).address,
        "[2001:db8::7]:7463"
    );
    assert_eq!(
        server(&with("address", json!("Node.example"))).address,
        "Node.example:7463"
    );
    let query = AgonesSettings {
        port: "query".to_owned(),
        ..settings()
    };
    let Allocation::Done(server) = query.allocation(200, answer().to_string().as_bytes()) else {
        panic!("the port has this name");
    };
    assert_eq!(server.address, "203.0.113.7:7464");
}

#[test]
fn an_answer_that_is_not_as_documented_has_failed() {
    let bad = [
        with("gameServerName", json!("")),
        with("gameServerName", json!("a b")),
        with("gameServerName", json!("a\nEND 0")),
        with("gameServerName", json!("Upper")),
        with("gameServerName", json!("x".repeat(300))),
        with("gameServerName", json!(3)),
        with("address", json!("")),
        with("address", json!("1.2.3.4 evil")),
        with("address", json!("1.2.3.4:80")),
        with("address", json!("fe80::1%eth0")),
        with("ports", json!([])),
        with("ports", Value::Null),
        with("ports", json!([{"name": "default", "port": 0}])),
        with("ports", json!([{"name": "default", "port": 65_536}])),
        with("ports", json!([{"name": "default", "port": "7463"}])),
        json!([]),
        json!(null),
    ];
    for body in &bad {
        let failed = allocation(200, body);
        assert!(
            matches!(failed, Allocation::Failed(_)),
            "{body}: {failed:?}"
        );
    }
    let port = AgonesSettings {
        port: "voice".to_owned(),
        ..settings()
    };
    let failed = port.allocation(200, answer().to_string().as_bytes());
    assert!(matches!(failed, Allocation::Failed(_)), "{failed:?}");
    let cut = answer().to_string();
    for length in 0..cut.len() {
        let failed = settings().allocation(200, &cut.as_bytes()[..length]);
        assert!(
            matches!(failed, Allocation::Failed(_)),
            "{length}: {failed:?}"
        );
    }
    let long = with("source", json!("x".repeat(MAX_ANSWER)));
    assert!(matches!(allocation(200, &long), Allocation::Failed(_)));
}

#[test]
fn other_states_are_told_apart() {
    let none = "there is no available GameServer to allocate";
    let status =
        |code: i64, message: &str| json!({"code": code, "message": message, "details": []});
    assert_eq!(allocation(429, &status(8, none)), Allocation::NoneFree);
    // Operators of the service may choose another status for it.
    assert_eq!(allocation(503, &status(8, none)), Allocation::NoneFree);
    assert_eq!(settings().allocation(429, b"busy"), Allocation::NoneFree);
    let failed = |why: &str| Allocation::Failed(why.to_owned());
    assert_eq!(
        allocation(409, &status(10, "too many\r\n concurrent requests")),
        failed("status 409: too many concurrent requests")
    );
    assert_eq!(
        settings().allocation(302, b"<html>"),
        failed("status 302: ")
    );
    let Allocation::Failed(why) = allocation(500, &status(13, &"\u{1b}x".repeat(500))) else {
        panic!("it has failed");
    };
    assert_eq!(why, format!("status 500: {}", "x".repeat(200)));
}

#[test]
fn settings_that_cannot_work_are_named() {
    assert_eq!(settings().fault(), None);
    let fault = |change: fn(&mut AgonesSettings)| {
        let mut changed = settings();
        change(&mut changed);
        changed.fault().map(|(key, _)| key)
    };
    let key = |key: &str| Some(key.to_owned());
    assert_eq!(fault(|one| one.url.clear()), key("url"));
    for url in [
        "http://a",
        "https://",
        "https://:443",
        "https://a b",
        "https://u@a",
        "https://a?b",
    ] {
        let changed = AgonesSettings {
            url: url.to_owned(),
            ..settings()
        };
        assert_eq!(changed.fault().map(|(key, _)| key), key("url"), "{url}");
    }
    assert_eq!(fault(|one| one.namespace.push('_')), key("namespace"));
    assert_eq!(fault(|one| one.client_cert = "".into()), key("client_cert"));
    assert_eq!(fault(|one| one.client_key = "".into()), key("client_key"));
    assert_eq!(fault(|one| one.ca = "".into()), key("ca"));
    assert_eq!(fault(|one| one.map_label.push('/')), key("map_label"));
    let label =
        |one: &mut AgonesSettings| drop(one.labels.insert("a".to_owned(), "b c".to_owned()));
    assert_eq!(fault(label), key("labels.a"));
}

proptest! {
    #[test]
    fn no_answer_breaks_it(status in any::<u16>(), body in proptest::collection::vec(any::<u8>(), 0..200)) {
        let allocation = settings().allocation(status, &body);
        prop_assert!(!matches!(allocation, Allocation::Done(_)));
    }

    #[test]
    fn an_address_is_one_word(host in ".{0,40}", port in any::<i32>()) {
        let body = json!({
            "gameServerName": "gs", "address": host, "ports": [{"name": "d", "port": port}],
        });
        if let Allocation::Done(server) = allocation(200, &body) {
            prop_assert!(server.address.bytes().all(|byte| byte.is_ascii_graphic()));
        }
    }
}
