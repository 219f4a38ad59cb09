//! Wishes for a side, as the people in a game would see them granted or refused, and when they count.

use evenkeel_model::units::UpToADay;

use super::{Server, World, joins, unknowns};

/// The lines of EXPLAIN about wishes that were not granted.
fn refused(server: &mut Server) -> Vec<String> {
    let lines = server.why().into_iter();
    lines
        .filter(|line| line.contains("wish not granted"))
        .collect()
}

#[test]
fn a_wish_that_costs_nothing_is_always_granted() {
    let world = World::default();
    let mut server = world.server();
    let ids = ["a", "b", "c", "d", "e", "f"];
    for seed in 0..20 {
        let wishes = "JOIN a wish=1\nJOIN b wish=0\nJOIN f wish=1\n";
        let game = format!("GAME ctf\nMINPLAYERS 0\n{}{wishes}", joins(&ids, ""));
        server.tell(&game);
        let teams = server.balanced(seed, &["a", "b", "f"]);
        assert_eq!(teams, [1, 0, 1], "{seed}");
        assert!(refused(&mut server).is_empty());
    }
}

#[test]
fn who_did_not_wish_goes_where_there_is_room_and_the_teams_still_vary() {
    let world = World::default();
    let mut server = world.server();
    let ids = ["a", "b", "c", "d", "e", "f"];
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let game = format!("GAME ctf\nMINPLAYERS 0\n{}JOIN a wish=0\n", joins(&ids, ""));
        server.tell(&game);
        seen.insert(server.balanced(seed, &ids));
        server.played();
    }
    assert!(seen.iter().all(|teams| teams[0] == 0));
    assert!(seen.len() > 5, "{seen:?}");
}

#[test]
fn five_of_seven_who_want_one_side_do_not_make_it_five_against_two() {
    let world = World::default();
    let mut server = world.server();
    let (many, few) = (["a", "b", "c", "d", "e"], ["x", "y"]);
    for seed in 0..8 {
        let game = format!(
            "GAME ctf\nMINPLAYERS 0\n{}{}",
            joins(&many, "wish=0"),
            joins(&few, "")
        );
        server.tell(&game);
        let teams = server.balanced(seed, &many);
        let granted = teams.iter().filter(|team| **team == 0).count();
        assert_eq!(granted, 4, "the side of four is theirs: {teams:?}");
        assert_eq!(server.balanced(seed, &few), [1, 1]);
        let refused = refused(&mut server);
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert!(refused[0].contains("no room"), "{refused:?}");
    }
}

#[test]
fn if_everybody_wants_one_side_half_of_them_are_there() {
    let world = World::default();
    let mut server = world.server();
    let ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut on_it = [0; 8];
    for seed in 0..30 {
        server.tell(&format!(
            "GAME ctf\nMINPLAYERS 0\n{}",
            joins(&ids, "wish=1")
        ));
        let teams = server.balanced(seed, &ids);
        assert_eq!(teams.iter().filter(|team| **team == 1).count(), 4);
        for (count, team) in on_it.iter_mut().zip(&teams) {
            *count += usize::from(*team);
        }
        assert_eq!(refused(&mut server).len(), 4);
        server.played();
    }
    assert!(
        on_it.iter().all(|count| (5..26).contains(count)),
        "{on_it:?}"
    );
}

#[test]
fn a_giant_who_wants_to_join_the_other_giant_does_not_and_the_reasons_say_what_it_would_cost() {
    let world = World::new(&[95, 94, 20, 21]);
    let mut server = world.server();
    let ids = ["w95", "w94", "w20", "w21"];
    for seed in 0..8 {
        let game = format!(
            "GAME ctf\nMINPLAYERS 0\n{}JOIN w95 wish=0\nJOIN w94 wish=0\n",
            joins(&ids, "")
        );
        server.tell(&game);
        let teams = server.balanced(seed, &ids);
        assert_ne!(teams[0], teams[1], "{teams:?}");
        let refused = refused(&mut server);
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert!(
            refused[0].contains("ratio 0.216931") && refused[0].contains("instead of ratio 1.0"),
            "{refused:?}"
        );
    }
    // Alone, the giant's wish costs nothing: the sides are exchanged.
    let game = format!(
        "GAME ctf\nMINPLAYERS 0\n{}JOIN w95 wish=1\n",
        joins(&ids, "")
    );
    server.tell(&game);
    assert_eq!(server.balanced(1, &["w95"]), [1]);
}

#[test]
fn friends_stay_together_and_go_where_one_of_them_wants_to() {
    let world = World::default();
    let mut server = world.server();
    let ids = ["a", "b", "x", "y", "z", "u"];
    for seed in 0..8 {
        let party = "JOIN a party=p wish=1\nJOIN b party=p\n";
        let game = format!("GAME ctf\nMINPLAYERS 0\n{}{party}", joins(&ids, ""));
        server.tell(&game);
        let teams = server.balanced(seed, &["a", "b"]);
        assert_eq!(teams, [1, 1]);
        // Friends who want opposite sides are friends first.
        server.tell("JOIN b wish=0\n");
        let teams = server.balanced(seed + 1, &["a", "b"]);
        assert_eq!(teams[0], teams[1], "{teams:?}");
        let refused = refused(&mut server);
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert!(refused[0].contains("party"), "{refused:?}");
    }
}

#[test]
fn who_must_be_on_a_team_is_there_whatever_they_wish_for() {
    let world = World::default();
    let mut server = world.server();
    server.tell("GAME ctf\nMINPLAYERS 0\nJOIN a pin=0 wish=1\nJOIN b\nJOIN c\nJOIN d\n");
    assert_eq!(server.balanced(1, &["a"]), [0]);
    let refused = refused(&mut server);
    assert!(refused[0].contains("pinned"), "{refused:?}");
}

#[test]
fn a_flag_carrier_is_not_moved_for_a_wish_and_nobody_else_is() {
    let world = World::default();
    let mut server = world.server();
    let game = format!("GAME ctf\nMINPLAYERS 0\n{}START\n", unknowns(&[3, 3]));
    server.tell(&game);
    server.tell("JOIN t0n0 wish=1\nPROTECT t0n0\nJOIN t1n1 wish=0\n");
    server.pass(60_000);
    let advice = server.several("REBALANCE\n");
    assert_eq!(advice.len(), 1, "{advice:?}");
    server.tell("DEATH t1n1\n");
}

#[test]
fn on_the_first_evening_newcomers_get_the_side_that_they_want() {
    let world = World::default();
    let mut server = world.server();
    // With the bots that fill up the teams, too.
    for level in ["", "MINPLAYERS 0\n"] {
        for seed in 0..6 {
            let game = format!("GAME ctf\n{level}JOIN a wish=1\nJOIN b\nJOIN c wish=1\nJOIN d\n");
            server.tell(&game);
            let teams = server.balanced(seed, &["a", "b", "c", "d"]);
            assert_eq!(teams, [1, 0, 1, 0]);
        }
    }
}

#[test]
fn a_wish_for_a_team_that_does_not_exist_is_an_error_and_changes_nothing() {
    let world = World::default();
    let mut server = world.server();
    server.tell("GAME ctf\nMINPLAYERS 0\nJOIN a wish=1\nJOIN b\n");
    assert_eq!(server.ask("JOIN a wish=2\n"), "ERROR there is no team 2");
    let word = server.ask("JOIN a wish=red\n");
    assert!(word.starts_with("ERROR bad-argument"), "{word}");
    assert_eq!(server.balanced(1, &["a"]), [1]);
    // A wish never keeps the number of teams from changing.
    server.tell("TEAMS 3\nJOIN b wish=2\nTEAMS 2\n");
    assert_eq!(server.balanced(1, &["a"]), [1]);
}

#[test]
fn a_wish_can_be_changed_and_taken_back() {
    let world = World::default();
    let mut server = world.server();
    let ids = ["a", "b", "c", "d"];
    server.tell(&format!(
        "GAME ctf\nMINPLAYERS 0\n{}JOIN a wish=0\n",
        joins(&ids, "")
    ));
    assert_eq!(server.balanced(1, &["a"]), [0]);
    server.tell("JOIN a wish=1\n");
    let moved = server.balanced(2, &ids);
    assert_eq!(moved[0], 1, "{moved:?}");
    server.tell("JOIN a wish=\n");
    assert_eq!(server.balanced(3, &ids), moved, "nobody moves for nothing");
}

#[test]
fn of_three_teams_everybody_gets_the_one_they_want() {
    let world = World::default();
    let mut server = world.server();
    let ids = ["a", "b", "c", "d", "e", "f"];
    for seed in 0..6 {
        let wishes = "JOIN a wish=2\nJOIN b wish=0\nJOIN c wish=2\nJOIN d wish=2\n";
        let game = format!(
            "GAME ctf\nTEAMS 3\nMINPLAYERS 0\n{}{wishes}",
            joins(&ids, "")
        );
        server.tell(&game);
        let teams = server.balanced(seed, &["a", "b", "c", "d"]);
        assert_eq!(teams[1], 0);
        let on_two = [0, 2, 3].iter().filter(|who| teams[**who] == 2).count();
        assert_eq!(on_two, 2, "{teams:?}");
    }
}

#[test]
fn wishes_of_the_first_seconds_count_together_whatever_their_order() {
    let mut world = World::new(&[90, 70, 50, 40, 30, 10]);
    world.settings.roster.wish_seconds = UpToADay::of(30);
    let ids = ["w90", "w70", "w50", "w40", "w30", "w10"];
    let wishes = [
        "JOIN w90 wish=0\n",
        "JOIN w70 wish=0\n",
        "JOIN w10 wish=1\n",
    ];
    for seed in 0..6 {
        let mut teams = Vec::new();
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let mut server = world.server();
            let game = format!("GAME ctf\nMINPLAYERS 0\n{}", joins(&ids, ""));
            server.tell(&game);
            for at in order {
                server.pass(9_000);
                server.tell(wishes[at]);
            }
            teams.push(server.balanced(seed, &ids));
        }
        assert_eq!(teams[0], teams[1]);
        assert_eq!(teams[0], teams[2]);
    }
}

#[test]
fn a_late_wish_counts_for_the_next_game() {
    let mut world = World::new(&[]);
    world.settings.roster.wish_seconds = UpToADay::of(30);
    let mut server = world.server();
    let game = format!(
        "GAME ctf\nMINPLAYERS 0\n{}",
        joins(&["a", "b", "c", "d"], "")
    );
    let mut elsewhere = 0;
    for seed in 0..12 {
        server.tell(&game);
        // BALANCE does not wait, and what is wished for after it counts as long as the time runs.
        server.balanced(seed, &["a"]);
        server.pass(30_000);
        server.tell("JOIN b wish=1\n");
        server.pass(1);
        server.tell("JOIN a wish=1\n");
        let teams = server.balanced(seed, &["a", "b"]);
        assert_eq!(teams[1], 1, "just in time: {teams:?}");
        elsewhere += usize::from(teams[0] == 0);
        let why = server.why();
        let says = |line: &String| line.contains("the wish of a came late");
        assert!(why.iter().any(says), "{why:?}");
        server.played();
        server.tell(&game);
        assert_eq!(server.balanced(seed, &["a"]), [1], "{seed}");
        // It is used up then.
        server.played();
        server.tell(&format!("{game}JOIN d wish=1\nJOIN b wish=1\n"));
        let third = server.balanced(seed, &["a", "b", "d"]);
        assert_eq!(third, [0, 1, 1]);
        server.played();
    }
    assert!(
        elsewhere > 0,
        "it did not count for the game in which it came"
    );
}

#[test]
fn who_comes_late_and_wants_to_the_far_stronger_side_comes_to_the_other_one() {
    let world = World::new(&[90, 80, 20, 10, 50]);
    let mut server = world.server();
    let strong = "JOIN w90 team=0\nJOIN w80 team=0\n";
    let weak = "JOIN w20 team=1\nJOIN w10 team=1\n";
    let game = format!("GAME ctf\nMINPLAYERS 0\n{strong}{weak}START\n");
    server.tell(&format!("{game}JOIN w50 wish=0\n"));
    assert_eq!(server.placed("w50"), 1);
    let refused = refused(&mut server);
    assert_eq!(refused.len(), 1, "{refused:?}");
    assert!(refused[0].contains("less even"), "{refused:?}");
}
