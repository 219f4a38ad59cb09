//! The queues of the configuration.

use super::*;

#[test]
fn queues_are_read_and_their_faults_name_the_line() {
    let wotb = include_str!("../../../config/queues/wotb.toml");
    let config = load(wotb).unwrap();
    assert_eq!(
        config.queue.keys().collect::<Vec<_>>(),
        ["rated", "regular"]
    );
    assert_eq!(config.queue["regular"].rules.len(), 11);
    let queue = "[queue.q]\nteams = 2\nsize = 5\nruleset = 'x'\n";
    assert_eq!(fault(queue), "");
    for (more, why) in [
        (
            "sizes = 3",
            "line 5: queue.q.sizes: unknown key sizes, did you mean size?",
        ),
        (
            "colour = 'red'",
            "line 5: queue.q.colour: unknown key colour; the keys are teams, ",
        ),
        (
            "ttl = 0",
            "line 5: queue.q.ttl must be 1 to 86400 seconds, not 0",
        ),
        (
            "repeat_maps = 1.5",
            "line 5: queue.q.repeat_maps must be 0 to 1, not 1.5",
        ),
        (
            "smaller = [[9, 5]]",
            "line 5: queue.q.smaller must be pairs of seconds",
        ),
        (
            "[queue.q.attributes]\ntier = 'int'",
            "line 6: queue.q.attributes.tier must be int A..B",
        ),
        (
            "[[queue.q.rule]]\nname = 'a'\nrule = 'mirror'\nof = 'tier'",
            "line 8: queue.q.rule[0].of names tier, which the queue does not declare",
        ),
        (
            "[[queue.q.rule]]\nname = 'a'\nrule = 'gap'\nat_most = true\nof = '@weight'",
            "line 8: queue.q.rule[0].at_most must be ",
        ),
        (
            "[[queue.q.rule]]\nname = 'a'\nrule = 'mirror'\nof = '@weight'\nwithin = 'team'",
            "line 9: queue.q.rule[0].within is not used by rules of the type mirror: its keys are of, name, ",
        ),
        (
            "[[queue.q.rule]]\nname = 'a'\nrule = 'full'\nweight = 'x'",
            "line 8: queue.q.rule[0].weight must be ",
        ),
        (
            "[queue.'a b']\nteams = 2\nsize = 5\nruleset = 'x'",
            "line 5: queue.a b must be a name of letters",
        ),
    ] {
        let found = fault(&format!("{queue}{more}"));
        assert!(found.starts_with(why), "{found}");
    }
    assert_eq!(
        fault("[queue.q]\nteams = 2\nsize = 5"),
        "line 1: queue.q: the key ruleset is missing"
    );
}
