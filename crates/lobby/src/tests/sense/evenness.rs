//! Teams that are even enough, teams that are not, and a giant among beginners.

use super::{World, unknowns};

#[test]
fn rebalance_sees_that_four_against_one_is_not_even() {
    let world = World::default();
    for others in ["JOIN e team=1\n", ""] {
        let mut server = world.server();
        let four = "JOIN a team=0\nJOIN b team=0\nJOIN c team=0\nJOIN d team=0\n";
        let game = format!("GAME ctf\n{four}{others}START\n");
        server.tell(&game);
        let advice = server.several("REBALANCE seed=1\n");
        let moves = if others.is_empty() { 2 } else { 1 };
        assert_eq!(advice.len(), 1 + moves, "{advice:?}");
    }
}

#[test]
fn several_empty_teams_get_the_players_that_there_are() {
    let world = World::default();
    for (teams, sizes, moves) in [
        (3, vec![2], 1),
        (4, vec![3], 2),
        (8, vec![16], 4),
        (4, vec![0, 5], 3),
        (4, vec![1, 1], 0),
    ] {
        let mut server = world.server();
        let game = format!(
            "GAME ctf\nTEAMS {teams}\nMINPLAYERS 0\n{}START\n",
            unknowns(&sizes)
        );
        server.tell(&game);
        let advice = server.several("REBALANCE\n");
        assert_eq!(advice.len(), 1 + moves, "{sizes:?} {advice:?}");
        let mut to: Vec<&str> = advice[1..]
            .iter()
            .filter_map(|line| line.split(' ').nth(3))
            .collect();
        to.sort_unstable();
        to.dedup();
        assert_eq!(to.len(), moves, "each to another team: {advice:?}");
    }
}

#[test]
fn a_giant_gets_the_weakest_team_mates() {
    let world = World::new(&[99, 30, 20, 10, 5, 1]);
    let mut server = world.server();
    let joins = [10, 99, 20, 5, 30, 1].map(|weight| format!("JOIN w{weight}\n"));
    server.tell(&format!("GAME ctf\nMINPLAYERS 0\n{}", joins.concat()));
    let teams = server.several("BALANCE top=1 seed=1\n");
    let team = |id: &str| {
        let line = teams
            .iter()
            .find(|line| line.ends_with(&format!(" {id}")))
            .unwrap();
        line.split(' ').nth(1).unwrap().to_owned()
    };
    assert_eq!([team("w5"), team("w1")], [team("w99"), team("w99")]);
}

#[test]
fn a_giant_alone_against_five_beginners_stays_alone() {
    let world = World::new(&[99, 30, 20, 10, 5, 1]);
    let mut server = world.server();
    let five = [10, 20, 5, 30, 1].map(|weight| format!("JOIN w{weight} team=1\n"));
    server.tell(&format!(
        "GAME ctf\nMINPLAYERS 0\nJOIN w99 team=0\n{}START\n",
        five.concat()
    ));
    let advice = server.ask("REBALANCE seed=1\n");
    assert!(advice.starts_with("REBALANCE 0 "), "{advice}");
    assert_eq!(server.ask("ADVANTAGE\n"), "ADVANTAGE 1 1.500");
    let why = server.why();
    assert!(
        why.iter()
            .any(|line| line.contains("team 0: 1 player, weight 99")),
        "{why:?}"
    );
}

#[test]
fn balance_said_again_keeps_the_teams() {
    let world = World::new(&[10, 20, 30, 40, 50, 60, 70, 80]);
    let mut server = world.server();
    let joins: String = (1..=8).map(|n| format!("JOIN w{n}0\n")).collect();
    server.tell(&format!("GAME ctf\n{joins}"));
    let first = server.several("BALANCE seed=1\n");
    for seed in 2..20 {
        let again = server.several(&format!("BALANCE seed={seed}\n"));
        assert_eq!(again[1..], first[1..], "{seed}");
    }
    server.tell("JOIN new\n");
    assert_eq!(server.several("BALANCE\n").len(), 12);
}

#[test]
fn balance_keeps_the_teams_for_who_left_and_came_back() {
    let world = World::new(&[10, 20, 30, 40, 50, 60, 70, 80]);
    let mut server = world.server();
    let joins: String = (1..=8).map(|n| format!("JOIN w{n}0\n")).collect();
    server.tell(&format!("GAME ctf\n{joins}"));
    let teams = |mut lines: Vec<String>| {
        lines.retain(|line| line.starts_with("TEAM"));
        lines.sort();
        lines
    };
    let first = teams(server.several("BALANCE seed=1\n"));
    for seed in 2..8 {
        let back = format!("LEAVE w{seed}0\nJOIN w{seed}0\n");
        server.tell(&back);
        let ask = format!("BALANCE seed={seed}\n");
        let again = teams(server.several(&ask));
        assert_eq!(again, first, "{seed}");
    }
    // Who chose another team meanwhile is on it, and the choice is free.
    server.tell("MOVE w10 0\nMOVE w20 0\nMOVE w30 0\n");
    assert_eq!(server.several("BALANCE\n").len(), 11);
}
