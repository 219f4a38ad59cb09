//! Bots that come, bots that are not there, and servers that have none.

use super::{World, draw_weights, nine_and_seven, unknowns};
use crate::draw::Draw;

#[test]
fn bots_that_left_are_still_those_of_a_server_that_has_bots() {
    let world = World::default();
    let mut server = world.server();
    server.tell(&format!(
        "GAME ctf\nBOTJOIN x 0\nBOTLEAVE x\n{}START\n",
        unknowns(&[4, 1])
    ));
    assert_eq!(server.ask("REBALANCE\n"), "REBALANCE 0 0.250000 1.000000");
    // It takes that back with its name.
    server.ask("HELLO s bots=no\n");
    let advice = server.several("REBALANCE\n");
    assert_eq!(advice.len(), 2, "{advice:?}");
}

#[test]
fn no_bots_are_expected_where_the_configuration_has_none() {
    let mut world = World::default();
    world.settings.roster.bots = false;
    let mut server = world.server();
    server.ask("HELLO s bots=yes\n");
    let game = format!("GAME ctf\n{}START\n", unknowns(&[4, 1]));
    server.tell(&game);
    assert_eq!(server.ask("BOTS\n"), "BOTS 0 0 0");
    let advice = server.several("REBALANCE\n");
    assert_eq!(advice[0], "REBALANCE 1 0.250000 0.666667", "{advice:?}");
    assert!(server.ask("ADVANTAGE\n").starts_with("ADVANTAGE 1 "));
    server.tell("JOIN late\n");
    assert_eq!(server.placed("late"), 1);
}

#[test]
fn advantage_counts_bots_that_come_and_no_others() {
    let world = World::default();
    for (hello, expected) in [
        ("HELLO s\n", "ADVANTAGE 1 1.500"),
        ("HELLO s bots=no\n", "ADVANTAGE 1 1.500"),
        ("HELLO s bots=yes\n", "ADVANTAGE - 1.000"),
    ] {
        let mut server = world.server();
        server.ask(hello);
        server.tell(&format!("GAME ctf\n{}START\n", unknowns(&[4, 1])));
        assert_eq!(server.ask("ADVANTAGE\n"), expected, "{hello}");
    }
}

#[test]
fn auto_balance_counts_bots_that_come_and_no_others() {
    let world = World::default();
    for (hello, moves) in [("", true), ("HELLO s bots=yes\n", false)] {
        let mut server = world.server();
        if !hello.is_empty() {
            server.ask(hello);
        }
        server.tell(&format!("GAME ctf\n{}START\n", nine_and_seven()));
        server.pass(20_000);
        match moves {
            true => assert_eq!(server.ask("DEATH n0\n"), "MOVE n0 0 1"),
            false => server.tell("DEATH n0\n"),
        }
    }
}

#[test]
fn balance_and_bots_go_on_saying_how_many_should_come() {
    let world = World::default();
    let mut server = world.server();
    server.tell("GAME ctf\nJOIN a\nJOIN b\nJOIN c\n");
    let balanced = server.several("BALANCE\n");
    let bots: u32 = balanced[4..]
        .iter()
        .map(|line| line[7..].parse::<u32>().unwrap())
        .sum();
    assert_eq!(bots, 3, "{balanced:?}");
    assert!(server.ask("BOTS\n").starts_with("BOTS 6 "));
}

#[test]
fn rebalance_asks_for_no_move_right_after_balance() {
    let world = World::of_all_weights();
    for bots in ["", "no", "yes"] {
        let mut server = world.server_with_bots(bots);
        let mut draw = Draw(5);
        let mut moved = Vec::new();
        for round in 0..60 {
            for humans in [5, 6, 7, 8, 9, 11] {
                let weights = draw_weights(&mut draw, humans);
                let joins: String = weights.iter().map(|w| format!("JOIN w{w}\n")).collect();
                server.tell(&format!("GAME ctf\n{joins}"));
                let first = server.balance(round);
                let advice = server.several("REBALANCE seed=1\n");
                if advice.len() > 1 {
                    moved.push(format!("{joins:?}: {first:?} {advice:?}"));
                }
                let ratio = |reply: &String| reply.split(' ').nth(2).map(str::to_owned);
                if bots != "yes" {
                    assert_eq!(ratio(&first[0]), ratio(&advice[0]), "{first:?} {advice:?}");
                }
            }
        }
        assert!(
            moved.is_empty(),
            "{bots} {}: {}",
            moved.len(),
            moved.join("\n")
        );
    }
}
