//! What is found about queues whose settings cannot be meant.

use super::*;

fn findings(text: &str) -> Vec<String> {
    let queue = Queue::new("x", toml::from_str(text).unwrap()).unwrap();
    let shown =
        |finding: Finding| format!("{:?} {}: {}", finding.severity, finding.about, finding.why);
    queue.findings().into_iter().map(shown).collect()
}

#[test]
fn what_cannot_be_meant_is_found() {
    let text = r#"
        teams = 2
        size = 7
        ttl = 60
        ruleset = "x"
        smaller = [[60, 5]]
        accept = { start = 0, per_second = 0, max = 0 }
        attributes = { tier = "int 1..3", kind = "enum a b", maps = "set", spare = "num" }
        rule = [
          { name = "wide", rule = "spread", of = "tier", at_most = 2, hard = true },
          { name = "few", rule = "at-most-each", of = "kind", at_most = 3, hard = true },
          { name = "same", rule = "mirror", of = "tier", hard = true },
          { name = "idle", rule = "differ-each", of = "tier", at_most = 1, hard = true },
          { name = "a", rule = "has", of = "kind", value = "a", at_least = 5, hard = true },
          { name = "b", rule = "has", of = "kind", value = "b", at_least = 3, hard = true },
          { name = "one", rule = "common", of = "maps", picks = "map", hard = true },
          { name = "two", rule = "common", of = "maps", picks = "map", hard = true },
          { name = "late", rule = "gap", of = "tier", at_most = 1, relax = [[60, 2]], hard = true },
        ]
    "#;
    assert_eq!(
        findings(text),
        [
            "Warning wide: never binds: values are at most 2 apart, and 2 is allowed",
            "Contradiction few: 2 values with at most 3 players each make no team of 7",
            "Warning idle: never binds: same demands the same values on all teams",
            "Contradiction kind: the rules of the type has demand 8 players on a team of 7",
            "Warning late: a step of relax comes after tickets expire (ttl)",
            "Contradiction two: another rule picks the map, too",
            "Warning smaller: a step comes after tickets expire (ttl)",
            "Warning accept: never binds: all rules are hard, so no match has a penalty",
            "Warning spare: no rule uses this attribute",
        ]
    );
}

#[test]
fn ranges_that_cannot_be_meant_are_found() {
    let text = r#"
        teams = 2
        size = 7
        ruleset = "x"
        attributes = { tier = "int 1..3" }
        rule = [
          { name = "all", rule = "range", of = "@games", from = 0, hard = true },
          { name = "old", rule = "range", of = "@hours", from = 20, hard = true },
          { name = "new", rule = "range", of = "@hours", to = 10, hard = true },
          { name = "tiers", rule = "range", of = "tier", from = 1, to = 3, hard = true },
          { name = "none", rule = "range", of = "tier", from = 4, hard = true },
          { name = "saints", rule = "range", of = "@behaviour", from = 101, hard = true },
        ]
    "#;
    assert_eq!(
        findings(text),
        [
            "Warning all: never binds: it allows every value",
            "Contradiction new: no value meets this rule and old",
            "Warning tiers: never binds: it allows every value",
            "Contradiction none: allows no value",
            "Contradiction none: no value meets this rule and tiers",
            "Contradiction saints: allows no value",
        ]
    );
}

#[test]
fn the_shipped_queues_have_no_findings() {
    let files = [
        include_str!("../../../../config/queues/wotb.toml"),
        include_str!("../../../../config/queues/pickup.toml"),
        include_str!("../../../../config/queues/ranked.toml"),
    ];
    let mut queues = 0;
    for file in files {
        let table: toml::Table = file.parse().unwrap();
        for (name, settings) in table["queue"].as_table().unwrap() {
            let queue = Queue::new(name, settings.clone().try_into().unwrap()).unwrap();
            assert_eq!(queue.findings(), [], "{name}");
            queues += 1;
        }
    }
    assert_eq!(queues, 6);
}
