//! Moves as console commands, and names of bots that are safe in one.

use proptest::prelude::*;

use super::super::*;

fn bot(number: usize, team: u8, name: &str) -> ReplaceableBot {
    ReplaceableBot {
        number,
        team,
        again: SpareBot::new(name, 4.5),
    }
}

#[test]
fn names_that_are_commands_are_refused() {
    for wrong in [
        "",
        "a;quit",
        "a\"b",
        "a b",
        "a\nquit",
        "-x",
        "$x",
        "é",
        "a//b",
        &"x".repeat(33),
    ] {
        assert_eq!(SpareBot::new(wrong, 1.0), None, "{wrong:?}");
    }
    assert_eq!(SpareBot::new("Sarge", f64::NAN), None);
    assert!(SpareBot::new("Mr.Gauntlet-2_x", 1.0).is_some());
    assert!("Sarge:5".parse::<SpareBot>().is_ok());
    assert!("Sarge".parse::<SpareBot>().is_err() && "Sarge:x".parse::<SpareBot>().is_err());
}

#[test]
fn humans_move_in_turns_and_bots_come_back() {
    let mut orders = IdTech3Orders {
        force: vec![(1, 0), (2, 0), (3, 1)],
        ..IdTech3Orders::default()
    };
    assert!(orders.reseat(bot(5, 0, "Sarge"), 1));
    assert!(!orders.reseat(bot(6, 0, "x;quit"), 1));
    let moved = ["forceteam 1 red", "forceteam 3 blue", "forceteam 2 red"];
    let bots = ["clientkick 5", "wait 5", "addbot Sarge 4.5 blue"];
    let expected = [&bots[..1], &moved[..], &bots[1..]].concat();
    assert_eq!(orders.commands(false), expected);
    assert_eq!(orders.commands(true)[1], "!putteam 1 red");
    assert_eq!(orders.count(), 4);
}

#[test]
fn bots_go_where_they_are_missing() {
    let bots = || {
        vec![
            bot(0, 0, "A"),
            bot(1, 0, "B"),
            bot(2, 0, "C"),
            bot(3, 1, "D"),
        ]
    };
    let orders = |counts: &[u32], spare: &[SpareBot]| {
        let mut orders = IdTech3Orders::default();
        orders.seat_bots(bots(), counts, spare);
        orders.commands(false)
    };
    let none: [&str; 0] = [];
    assert_eq!(
        orders(&[2, 2], &[]),
        ["clientkick 2", "wait 5", "addbot C 4.5 blue"]
    );
    assert_eq!(orders(&[3, 1], &[]), none);
    // Without spare bots, no bot is removed for good, and none is added.
    assert_eq!(orders(&[0, 1], &[]), none);
    assert_eq!(orders(&[3, 3], &[]), none);
    let spare = ["A:1".parse().unwrap(), "E:2".parse().unwrap()];
    assert_eq!(orders(&[1, 1], &spare), ["clientkick 1", "clientkick 2"]);
    assert_eq!(orders(&[3, 3], &spare), ["addbot E 2 blue"]);
}

proptest! {
    #[test]
    fn no_name_is_ever_two_words(name in any::<String>()) {
        if let Some(bot) = SpareBot::new(&name, 1.0) {
            let add = vec![(bot, 1)];
            let commands = IdTech3Orders { add, ..IdTech3Orders::default() }.commands(false);
            prop_assert_eq!(commands.len(), 1);
            prop_assert!(commands[0].split(' ').count() == 4);
            prop_assert!(commands[0].bytes().all(|b| b.is_ascii_graphic() || b == b' '));
            prop_assert!(!commands[0].contains([';', '"', '$', '/']));
        }
    }
}
