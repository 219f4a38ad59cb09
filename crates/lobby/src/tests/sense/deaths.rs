//! Who changes teams when they die, among nine against seven, and who stays.

use evenkeel_model::units::MaxDifference;

use super::{World, joins, nine_and_seven};
use crate::autobalance::{AutoBalanceRules, Power};

#[test]
fn nobody_goes_from_the_seven_to_the_nine() {
    let world = World::default();
    let mut server = world.server();
    server.tell(&format!("GAME ctf\n{}START\n", nine_and_seven()));
    server.pass(30_000);
    for n in 0..7 {
        server.tell(&format!("DEATH s{n}\n"));
    }
    // Among equals without points, nobody is among the best: even the first to come moves.
    assert_eq!(server.ask("DEATH n0\n"), "MOVE n0 0 1");
}

#[test]
fn everybody_of_the_nine_may_move_where_no_points_are_reported() {
    for who in 0..9 {
        let world = World::default();
        let mut server = world.server();
        server.tell(&format!("GAME ctf\n{}START\n", nine_and_seven()));
        server.pass(20_000);
        let moved = server.ask(&format!("DEATH n{who}\n"));
        assert_eq!(moved, format!("MOVE n{who} 0 1"));
    }
}

#[test]
fn unevenness_during_warm_up_does_not_count() {
    let world = World::default();
    let mut server = world.server();
    server.tell(&format!("GAME ctf\n{}", nine_and_seven()));
    server.pass(60_000);
    server.tell("START\nDEATH n0\n");
    server.pass(19_999);
    server.tell("DEATH n1\n");
    server.pass(1);
    assert_eq!(server.ask("DEATH n2\n"), "MOVE n2 0 1");
}

#[test]
fn deaths_in_warm_up_move_nobody() {
    let world = World::default();
    let mut server = world.server();
    server.tell(&format!("GAME ctf\n{}", nine_and_seven()));
    server.pass(600_000);
    for n in 0..9 {
        server.tell(&format!("DEATH n{n}\n"));
    }
}

#[test]
fn whose_points_are_not_reported_is_not_among_the_best() {
    // Of the nine, one has points. The eight others may move, whoever joined last.
    for who in 0..9 {
        let world = World::default();
        let mut server = world.server();
        server.tell(&format!(
            "GAME ctf\n{}START\nPOINTS n3 20\n",
            nine_and_seven()
        ));
        server.pass(20_000);
        if who == 3 {
            server.tell("DEATH n3\n");
        } else {
            let moved = server.ask(&format!("DEATH n{who}\n"));
            assert_eq!(moved, format!("MOVE n{who} 0 1"));
        }
    }
}

#[test]
fn of_players_with_equal_points_none_is_among_the_best() {
    let world = World::default();
    for points in [0, 5, -3] {
        for who in 0..9 {
            let mut server = world.server();
            let report = |team: char, n: usize| format!("POINTS {team}{n} {points}\n");
            let nine: String = (0..9).map(|n| format!("JOIN n{n} team=0\n")).collect();
            let seven: String = (0..7).map(|n| format!("JOIN s{n} team=1\n")).collect();
            let points: String = (0..9)
                .map(|n| report('n', n))
                .chain((0..7).map(|n| report('s', n)))
                .collect();
            server.tell(&format!("GAME ctf\n{nine}{seven}START\n{points}"));
            server.pass(20_000);
            let moved = server.ask(&format!("DEATH n{who}\n"));
            assert_eq!(moved, format!("MOVE n{who} 0 1"));
        }
    }
}

/// Where auto-balance compares the sums of weights, whatever the sizes of teams.
fn by_weight_alone(weights: &[u8]) -> World {
    let mut world = World::new(weights);
    world.settings.auto_balance = AutoBalanceRules {
        power: Power::Weight,
        like_sizes: MaxDifference::OFF,
        ..AutoBalanceRules::default()
    };
    world
}

#[test]
fn teams_that_are_ten_apart_are_unbalanced_and_nearer_ones_are_not() {
    for (who, moves) in [("w10", true), ("w9", false)] {
        let mut server = by_weight_alone(&[60, 10, 9, 31, 29]).server();
        let teams = joins(&["w60", who], "team=0") + &joins(&["w31", "w29"], "team=1");
        server.tell(&format!("GAME ctf\n{teams}START\n"));
        server.pass(20_000);
        let died = server.several(&format!("DEATH {who}\n"));
        assert_eq!(!died.is_empty(), moves, "{who}: {:?}", server.why());
    }
}

#[test]
fn a_move_that_leaves_a_difference_of_ten_is_made_and_one_of_more_is_not() {
    for (who, moves) in [("w30", true), ("w31", false)] {
        let weights = [30, 31, 35, 45, 60];
        let world = by_weight_alone(&weights);
        let mut server = world.server();
        server
            .tell(&format!(
                "GAME ctf\nJOIN {who} team=0\nJOIN w35 team=0\nJOIN w45 team=0\nJOIN w60 team=1\nSTART\n"
            ));
        server.pass(20_000);
        // 35 and 45 stay; 60 and 30, or 31, are against them.
        match moves {
            true => {
                let moved = server.ask(&format!("DEATH {who}\n"));
                assert_eq!(moved, format!("MOVE {who} 0 1"));
            }
            false => server.tell(&format!("DEATH {who}\n")),
        }
    }
}
