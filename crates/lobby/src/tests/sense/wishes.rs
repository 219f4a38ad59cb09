//! Pins, parties and whom somebody avoids, stated before BALANCE or after it; and what the reasons say of them.

use super::{World, draw_weights, team_of};
use crate::draw::Draw;

#[test]
fn pins_are_obeyed_and_their_cost_is_said() {
    let world = World::default();
    let mut server = world.server();
    server.tell("GAME ctf\nMINPLAYERS 0\nJOIN a pin=1\nJOIN b pin=1\n");
    let teams = server.several("BALANCE\n");
    assert_eq!(teams[1..3], ["TEAM 1 a", "TEAM 1 b"]);
    let why = server.why();
    assert!(
        why.iter().any(|line| line.contains("pins are obeyed")),
        "{why:?}"
    );
    assert!(
        why.iter()
            .any(|line| line.contains("without the pins: ratio 1.000000")),
        "{why:?}"
    );
    assert!(server.ask("JOIN c pin=2\n").starts_with("ERROR "));
    // Friends who are pinned apart are no error either.
    server.tell("GAME ctf\nJOIN a pin=0 party=p\nJOIN b pin=1 party=p\nJOIN c party=p\n");
    let teams = server.several("BALANCE\n");
    assert_eq!(teams[1..3], ["TEAM 0 a", "TEAM 1 b"]);
}

#[test]
fn the_cost_of_pins_is_in_the_heads_and_the_ratio_that_are_there() {
    let world = World::new(&[90, 80, 20, 10]);
    let mut server = world.server();
    server.tell("GAME ctf\nJOIN a pin=0\nJOIN b pin=0\n");
    let teams = server.balance(1);
    assert!(teams[0].starts_with("BALANCE 4 0.000000 "), "{teams:?}");
    assert_eq!(teams[3..], ["BOTS 0 1", "BOTS 1 3"]);
    let lines = server.why();
    let says = |words: &str| lines.iter().any(|line| line.contains(words));
    assert!(says("unequal numbers of humans: 2 to 0"), "{lines:?}");
    assert!(says("without the pins: ratio 1.000000"), "{lines:?}");
    // A cost without a difference in heads is a cost, too.
    server.tell("GAME ctf\nJOIN w90 pin=0\nJOIN w80 pin=0\nJOIN w20\nJOIN w10\n");
    let teams = server.balance(1);
    assert!(teams[0].starts_with("BALANCE 6 0.176471 "), "{teams:?}");
    let lines = server.why();
    let says = |words: &str| lines.iter().any(|line| line.contains(words));
    assert!(says("without the pins: ratio 1.000000"), "{lines:?}");
}

#[test]
fn wishes_that_no_teams_grant_leave_nobody_without_a_team() {
    let world = World::default();
    for (joins, humans) in [
        ("JOIN a party=p\nJOIN b party=p\n", 2),
        ("JOIN a party=p\nJOIN b party=p\nJOIN c party=p\n", 3),
        ("JOIN a pin=0\n", 1),
        ("JOIN a pin=0\nJOIN b pin=0\nJOIN c pin=0\nJOIN d\n", 4),
        (
            "JOIN a pin=0 party=p\nJOIN b pin=0 party=p\nJOIN c pin=1 party=p\n",
            3,
        ),
        (
            "JOIN a party=p pin=1\nJOIN b party=p\nJOIN c party=p\nJOIN d pin=1\n",
            4,
        ),
        (
            "TEAMS 3\nJOIN a pin=2\nJOIN b pin=2\nJOIN c pin=2\nJOIN d party=q\nJOIN e party=q\n",
            5,
        ),
        (
            "TEAMS 8\nJOIN a party=p\nJOIN b party=p\nJOIN c party=p\n",
            3,
        ),
    ] {
        for mode in ["", "MINPLAYERS 0\n", "MINPLAYERS 16\n"] {
            let mut server = world.server();
            server.tell(&format!("GAME ctf\n{mode}{joins}"));
            let teams = server.several("BALANCE\n");
            assert!(teams[0].starts_with("BALANCE "), "{joins} {teams:?}");
            let of = |id: &str| {
                let line = teams.iter().find(|line| line.ends_with(&format!(" {id}")));
                line.map(|line| line.split(' ').nth(1).unwrap().to_owned())
            };
            let all = ["a", "b", "c", "d", "e"];
            assert_eq!(all.iter().filter(|id| of(id).is_some()).count(), humans);
            for line in joins.lines().filter(|line| line.contains("pin=")) {
                let (_, pin) = line.split_once("pin=").unwrap();
                assert_eq!(
                    of(&line[5..6]).as_deref(),
                    Some(&pin[..1]),
                    "{joins} {teams:?}"
                );
            }
            assert!(server.several("EXPLAIN\n").len() > 1);
        }
    }
}

#[test]
fn a_pin_given_after_balance_is_obeyed() {
    let world = World::default();
    let mut server = world.server();
    for seed in 1..9 {
        let game = "GAME ctf\nMINPLAYERS 0\nJOIN a\nJOIN b\nJOIN x\nJOIN y\n";
        server.tell(game);
        let first = server.balance(seed);
        let other = 1 - team_of(&first, "a");
        server.tell(&format!("JOIN a pin={other}\n"));
        let again = server.balance(seed + 1);
        assert_eq!(team_of(&again, "a"), other, "{again:?}");
        assert_eq!(again[0].split(' ').nth(2), Some("1.000000"), "{again:?}");
        // A pin to where they are changes nothing, nor does taking it back.
        for pin in [format!("pin={other}"), "pin=".to_owned()] {
            server.tell(&format!("JOIN a {pin}\n"));
            let kept = server.balance(seed + 2);
            assert_eq!(kept[1..], again[1..], "{pin}");
        }
    }
}

#[test]
fn friends_who_say_so_after_balance_come_together() {
    let world = World::default();
    let mut server = world.server();
    for seed in 1..9 {
        let game = "GAME ctf\nMINPLAYERS 0\nJOIN a\nJOIN b\nJOIN x\nJOIN y\n";
        server.tell(game);
        let first = server.balance(seed);
        let apart = ["b", "x", "y"].into_iter();
        let mut apart = apart.filter(|id| team_of(&first, id) != team_of(&first, "a"));
        let friend = apart.next().unwrap();
        server.tell(&format!("JOIN a party=p\nJOIN {friend} party=p\n"));
        let again = server.balance(seed);
        assert_eq!(team_of(&again, "a"), team_of(&again, friend), "{again:?}");
        let kept = server.balance(seed + 1);
        assert_eq!(kept[1..], again[1..]);
    }
}

#[test]
fn who_avoids_somebody_after_balance_gets_away_from_them() {
    let world = World::new(&[50, 51, 49, 52]);
    let mut server = world.server();
    let mut apart = 0;
    for seed in 1..=20 {
        let game = "GAME ctf\nMINPLAYERS 0\nJOIN w50\nJOIN w51\nJOIN w49\nJOIN w52\n";
        server.tell(game);
        let first = server.balance(seed);
        let mate = ["w51", "w49", "w52"].into_iter();
        let mut mate = mate.filter(|id| team_of(&first, id) == team_of(&first, "w50"));
        let mate = mate.next().unwrap();
        server.tell(&format!("JOIN w50 avoid={mate}\n"));
        let again = server.balance(seed);
        apart += usize::from(team_of(&again, "w50") != team_of(&again, mate));
    }
    // An avoided pair costs as much as five hundredths of evenness, and the pick is by chance.
    assert!(apart >= 16, "{apart}");
}

#[test]
fn teams_to_which_somebody_is_pinned_stay_and_the_error_says_why() {
    let world = World::default();
    let mut server = world.server();
    let game = "GAME ctf\nTEAMS 3\nMINPLAYERS 0\nJOIN a pin=2\nTEAMS 2\n";
    assert_eq!(
        server.ask(game),
        "ERROR a player is on a team, or pinned to one, that would not exist"
    );
    let lines = server.balance(1);
    assert_eq!(team_of(&lines, "a"), 2, "{lines:?}");
    server.tell("JOIN a pin= team=0\nTEAMS 2\n");
}

#[test]
fn whatever_is_wished_for_after_balance_is_granted_or_the_reasons_say_why_not() {
    let world = World::of_all_weights();
    let mut server = world.server();
    let mut draw = Draw(11);
    for round in 0..60 {
        let count = 3 + draw.below(8);
        let ids: Vec<String> = draw_weights(&mut draw, count)
            .iter()
            .map(|weight| format!("w{weight}"))
            .collect();
        let joins: String = ids.iter().map(|id| format!("JOIN {id}\n")).collect();
        server.tell(&format!("GAME ctf\n{joins}"));
        server.balance(round);
        let mut pins = Vec::new();
        let mut party = Vec::new();
        let mut wishes = String::new();
        for id in &ids {
            match draw.below(4) {
                0 => {
                    pins.push((id, draw.below(2) as u8));
                    wishes.push_str(&format!("JOIN {id} pin={}\n", pins[pins.len() - 1].1));
                }
                1 => {
                    party.push(id);
                    wishes.push_str(&format!("JOIN {id} party=p\n"));
                }
                _ => {}
            }
        }
        server.tell(&wishes);
        let again = server.balance(round + 1);
        let why = server.why();
        for (id, pin) in pins {
            assert_eq!(team_of(&again, id), pin, "{wishes}{again:?}");
        }
        let torn = party
            .windows(2)
            .any(|two| team_of(&again, two[0]) != team_of(&again, two[1]));
        let said = why
            .iter()
            .any(|line| line.contains("torn") || line.contains("given up"));
        assert!(!torn || said, "{wishes}{again:?} {why:?}");
        let same = server.balance(round + 2);
        assert_eq!(same[1..], again[1..], "nothing was wished for since");
    }
}
