//! The pages of queues, and of the comparison of rating systems.

use std::fs;

use tempfile::TempDir;

use super::live::{json, seasons, wait_until};
use crate::common::{
    hostile::{SECRET, identity},
    http::Pages,
    process::poll,
};

const QUEUE: &str = r#"
[queue.quick]
teams = 2
size = 1
ruleset = "baseoa.ctf"
host = "none"

[queue.quick.attributes]
tier = "int 1..10"

[[queue.quick.rule]]
name = "tier spread"
rule = "spread"
of = "tier"
at_most = 1
weight = 0.5
"#;

#[test]
fn queues_have_a_page_where_they_are_configured() {
    let folder = TempDir::new().unwrap();
    let pages = Pages::start(folder.path(), &[]);
    assert_eq!(pages.get("/queues").status, 404);
    let none = serde_json::json!({"queues": [], "instances": [], "hosted": []});
    assert_eq!(json(&pages, "/v1/queues"), none);
    assert!(!pages.get("/").body.contains("/queues"));
    drop(pages);
    fs::write(folder.path().join("evenkeel.toml"), QUEUE).unwrap();
    let pages = Pages::start(folder.path(), &[("EVENKEEL_CONFIG", "evenkeel.toml")]);
    assert!(pages.get("/").body.contains("href=\"/queues\""));
    assert!(
        pages
            .get("/queues")
            .body
            .contains("No ticket has left this queue")
    );
    let submit = |ticket: &str, player: &str, tier: u8| {
        let lines =
            format!("HELLO one\nENQUEUE quick {ticket}\nSEAT {player} tier={tier}\nSUBMIT\n");
        let said = pages.daemon.ask(&lines);
        assert!(
            said.contains("QUEUED ") || said.contains("MATCHED "),
            "{said}"
        );
    };
    submit("t1", &identity(0), 4);
    let waiting = json(&pages, "/v1/queues");
    assert_eq!(waiting["queues"][0]["tickets"], 1);
    let oldest = &waiting["queues"][0]["waiting"][0];
    assert_eq!(oldest["players"], 1);
    assert!(
        (0..60).contains(&oldest["seconds"].as_i64().unwrap()),
        "{oldest}"
    );
    assert!(pages.get("/queues").body.contains("Oldest ticket"));
    submit("t2", &identity(1), 7);
    let found = wait_until(&pages, "/v1/queues", |found| {
        let queue = &found["queues"][0];
        queue["day"]["matched"] == 2 && queue["tickets"] == 0
    });
    let queue = &found["queues"][0];
    assert_eq!(queue["day"]["matches"], 1);
    assert!(queue["day"]["mean_wait"].is_f64());
    assert!(queue["waiting"].as_array().unwrap().is_empty());
    assert_eq!(
        (&queue["day"]["unready"], &queue["week"]),
        (&0.into(), &serde_json::json!([]))
    );
    assert_eq!(queue["hours"].as_array().unwrap().len(), 24);
    let rules = queue["rules"].as_array().unwrap();
    let spread = rules
        .iter()
        .find(|rule| rule["rule"] == "tier spread")
        .unwrap();
    assert_eq!(spread["violated"], 1);
    let cost = spread["mean_cost"].as_f64().unwrap();
    let penalty = queue["day"]["mean_penalty"].as_f64().unwrap();
    assert!(
        cost > 0.0 && (cost - penalty).abs() < 0.01,
        "{cost} and {penalty}"
    );
    submit("t3", &identity(2), 4);
    let said = pages.daemon.ask("HELLO one\nCANCEL t3\n");
    assert!(said.contains("CANCELLED t3"), "{said}");
    wait_until(&pages, "/v1/queues", |found| {
        found["queues"][0]["day"]["cancelled"] == 1
    });
    let answer = pages.get("/queues");
    assert!(answer.body.contains("tier spread") && answer.body.contains("<svg"));
    assert!(!answer.body.contains(SECRET));
    assert!(!pages.get("/v1/queues").body.contains(SECRET));
}

#[test]
fn who_declines_a_match_is_counted_with_the_hour() {
    let folder = TempDir::new().unwrap();
    let queue = QUEUE.replace("host = \"none\"", "host = \"none\"\nready_check = 60");
    fs::write(folder.path().join("evenkeel.toml"), queue).unwrap();
    let pages = Pages::start(folder.path(), &[("EVENKEEL_CONFIG", "evenkeel.toml")]);
    let submit = "HELLO one\nENQUEUE quick t1\nSEAT ann tier=4\nSUBMIT\nENQUEUE quick t2\nSEAT bob tier=4\nSUBMIT\n";
    pages.daemon.ask(submit);
    let said = poll(|| {
        let said = pages.daemon.ask("HELLO one\nTICKET t1\n");
        if said.contains("PROPOSED") {
            Ok(said)
        } else {
            Err(said)
        }
    });
    let id = said
        .split_whitespace()
        .skip_while(|word| *word != "PROPOSED")
        .find(|word| word.parse::<u64>().is_ok());
    let declined = pages
        .daemon
        .ask(&format!("HELLO one\nDECLINE {} ann\n", id.unwrap()));
    assert!(!declined.contains("ERROR"), "{said}: {declined}");
    let found = wait_until(&pages, "/v1/queues", |found| {
        found["queues"][0]["day"]["unready"] == 1
    });
    assert_eq!(found["queues"][0]["day"]["cancelled"], 1);
    assert!(
        pages
            .get("/queues")
            .body
            .contains("1 of the cancelled ones in a ready check")
    );
}

#[test]
fn rating_systems_are_compared_in_the_background() {
    let (pages, _folder) = seasons(&[]);
    let found = wait_until(&pages, "/v1/systems", |found| {
        !found["comparison"].is_null()
    });
    let comparison = &found["comparison"];
    assert_eq!(
        (&comparison["matches"], &comparison["reference"]),
        (&84.into(), &"joint".into())
    );
    assert!(comparison["measured"].as_u64().unwrap() > 30);
    let systems = comparison["systems"].as_array().unwrap();
    assert_eq!(systems.len(), 13, "twelve systems and the base rate");
    let losses: Vec<f64> = systems
        .iter()
        .map(|row| row["log_loss"].as_f64().unwrap())
        .collect();
    assert!(losses.is_sorted() && losses[0] > 0.0, "{losses:?}");
    let joint = systems.iter().find(|row| row["system"] == "joint").unwrap();
    assert!(joint["beside"].is_null() && joint["difference"].is_null());
    assert_eq!(comparison["best"].as_array().unwrap().len(), 2);
    let page = pages.get("/systems").body;
    assert!(
        page.contains("Computed on ") && page.contains("glicko2"),
        "{page}"
    );
    assert_eq!(
        json(&pages, "/v1/systems"),
        found,
        "it is not computed for each visitor"
    );
}
