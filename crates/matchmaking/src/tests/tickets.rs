//! What a queue accepts as its settings and as a ticket.

use crate::{KnownAttributes, Queue, QueueSettings, TicketSpec};

fn fault(text: &str) -> String {
    let settings: Result<QueueSettings, _> = toml::from_str(text);
    match settings {
        Err(error) => error.to_string(),
        Ok(settings) => match Queue::new("x", settings) {
            Err(error) => error.to_string(),
            Ok(_) => String::new(),
        },
    }
}

const LEAST: &str = "teams = 2\nsize = 3\nruleset = 'x'\n";

#[test]
fn settings_are_refused_with_the_key_at_fault() {
    assert_eq!(fault(LEAST), "");
    let rule = |rule: &str| {
        let attributes =
            "attributes = { tier = 'int 1..9', name = 'id', maps = 'set', ping = 'map num' }";
        fault(&format!(
            "{LEAST}{attributes}\nrule = [{{ name = 'a', {rule} }}]"
        ))
    };
    for (keys, why) in [
        ("rule = 'spread', of = 'tier'", "rule[0].at_most is missing"),
        ("rule = 'spread', at_most = 1", "rule[0].of is missing"),
        (
            "rule = 'spread', of = 'level', at_most = 1",
            "rule[0].of names level, which the queue does not declare",
        ),
        (
            "rule = 'spread', of = 'name', at_most = 1",
            "rule[0].of must name an attribute with numbers, not name",
        ),
        (
            "rule = 'mirror', of = 'maps'",
            "rule[0].of must name an attribute with one value, not maps",
        ),
        (
            "rule = 'mirror', of = 'tier', at_most = 1",
            "rule[0].at_most is not used by rules of the type mirror",
        ),
        (
            "rule = 'spread', of = 'tier', at_most = 1, by = 'max'",
            "rule[0].by is not used by rules of the type spread: its keys are of, at_most, parties, within, relax, name",
        ),
        (
            "rule = 'full', size = 3",
            "rule[0].size is not used by rules of the type full: its keys are name, rule, hard, weight, square",
        ),
        (
            "rule = 'gap', of = 'tier', at_most = -1",
            "rule[0].at_most must be 0 or more, not -1",
        ),
        (
            "rule = 'gap', of = 'tier', at_most = 1, relax = [[5, 'x']]",
            "rule[0].relax[0][1] invalid type",
        ),
        (
            "rule = 'common', of = 'ping'",
            "rule[0].of names the map ping, which needs the key `at_most`",
        ),
        (
            "rule = 'nice'",
            "rule[0].rule must be one of: full, spread, mirror, ",
        ),
        (
            "rule = 'gap', of = 'tier', at_most = 3, relax = [[5, 2]]",
            "rule[0].relax must be pairs",
        ),
        (
            "rule = 'gap', of = 'tier', at_most = 3, relax = [[9, 4], [5, 6]]",
            "rule[0].relax must be pairs",
        ),
        (
            "rule = 'has', of = 'name', value = 'x'",
            "rule[0].at_least or the key at_most is missing",
        ),
        ("rule = 'apart'", "rule[0].of or the key last is missing"),
        (
            "rule = 'at-most-each', of = 'name', at_most = 1, from = 3",
            "rule[0].counted_by is missing",
        ),
    ] {
        let found = rule(keys);
        assert!(found.starts_with(why), "{keys}: {found}");
    }
    for (text, why) in [
        ("smaller = [[10, 3]]", "smaller must be pairs"),
        ("smaller = [[10, 2], [20, 2]]", "smaller must be pairs"),
        (
            "even_by = 'tier'",
            "even_by names tier, which the queue does not declare",
        ),
        (
            "attributes = { 'a b' = 'num' }",
            "attributes.a b must be a name",
        ),
        ("colour = 3", "unknown field `colour`"),
    ] {
        let found = fault(&format!("{LEAST}{text}"));
        assert!(found.contains(why), "{text}: {found}");
    }
    let twice = "rule = [{ name = 'a', rule = 'full' }, { name = 'a', rule = 'full' }]";
    assert!(fault(&format!("{LEAST}{twice}")).contains("rule[1].name must not repeat a name"));
    assert!(fault("teams = 8\nsize = 64\nruleset = 'x'").contains("at most 128 players"));
}

#[test]
fn a_ticket_is_refused_with_a_reason() {
    let settings = format!("{LEAST}attributes = {{ tier = 'int 1..9', maps = 'set' }}");
    let queue = Queue::new("x", toml::from_str(&settings).unwrap()).unwrap();
    let read = |json: &str| {
        let spec: TicketSpec = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let ticket = queue.ticket(&spec, &mut |_| KnownAttributes::default());
        ticket.map_err(|error| error.to_string())
    };
    let good = read(r#"{"ticket":"t","waited":1.5,"players":[{"id":"p","tier":8,"maps":["a"]}]}"#);
    assert_eq!(good.unwrap().players[0].values.len(), 2);
    for (json, why) in [
        (
            r#"{"ticket":"","players":[{"id":"p","tier":8}]}"#,
            "the ticket's id must be",
        ),
        (
            r#"{"ticket":"a b","players":[{"id":"p","tier":8}]}"#,
            "the ticket's id must be",
        ),
        (
            r#"{"ticket":"t","players":[]}"#,
            "a ticket of 0 players: 1 to 3 fit on a team",
        ),
        (
            r#"{"ticket":"t","players":[{"id":"p","tier":8},{"id":"p","tier":8}]}"#,
            "p is in the ticket twice",
        ),
        (
            r#"{"ticket":"t","players":[{"id":"p"}]}"#,
            "p: tier is missing",
        ),
        (
            r#"{"ticket":"t","players":[{"id":"p","tier":10}]}"#,
            "p: tier must be a whole number from 1 to 9",
        ),
        (
            r#"{"ticket":"t","players":[{"id":"p","tier":8,"@weight":99}]}"#,
            "p: the queue has no attribute @weight",
        ),
        (
            r#"{"ticket":"t","waited":-1,"players":[{"id":"p","tier":8}]}"#,
            "the ticket waited -1 seconds",
        ),
        (
            r#"{"ticket":"t","players":[{"id":"p\u0007","tier":8}]}"#,
            "a player's id must be",
        ),
    ] {
        let found = read(json).unwrap_err();
        assert!(found.starts_with(why), "{json}: {found}");
    }
}

#[test]
fn the_wire_s_words_are_read_by_type() {
    let settings =
        format!("{LEAST}attributes = {{ maps = 'set', ping = 'map num', alone = 'flag' }}");
    let queue = Queue::new("x", toml::from_str(&settings).unwrap()).unwrap();
    let mut spec: TicketSpec =
        serde_json::from_str(r#"{"ticket":"t","players":[{"id":"p"}]}"#).unwrap();
    for (name, text) in [
        ("maps", "b"),
        ("maps", "a"),
        ("ping.eu", "32"),
        ("alone", "true"),
    ] {
        spec.players[0].state(&queue, name, text);
    }
    let ticket = queue
        .ticket(&spec, &mut |_| KnownAttributes::default())
        .unwrap();
    let values = format!("{:?}", ticket.players[0].values);
    assert_eq!(
        values,
        r#"[Number(1.0), Set(["a", "b"]), Map([("eu", 32.0)])]"#
    );
}
