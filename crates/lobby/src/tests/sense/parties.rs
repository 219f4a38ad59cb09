//! Friends stay together where a team holds them, and are torn by as little as needed where none does.

use super::{World, draw_weights, team_of, unknowns};
use crate::draw::Draw;

#[test]
fn a_party_does_not_leave_a_team_empty_or_outnumbered() {
    let world = World::default();
    for (teams, moves) in [
        (vec!["ppp", ""], 1),
        (vec!["pppp", ""], 2),
        (vec!["pppp", "-"], 1),
        (vec!["pppqqq", "rr"], 2),
        (vec!["pppp", "", ""], 2),
    ] {
        let mut server = world.server();
        let mut game = format!("GAME ctf\nTEAMS {}\nMINPLAYERS 0\n", teams.len());
        for (team, parties) in teams.iter().enumerate() {
            for (n, party) in parties.chars().enumerate() {
                let party = match party {
                    '-' => String::new(),
                    party => format!(" party={party}"),
                };
                game.push_str(&format!("JOIN t{team}n{n} team={team}{party}\n"));
            }
        }
        server.tell(&format!("{game}START\n"));
        let advice = server.several("REBALANCE seed=1\n");
        assert_eq!(advice.len(), 1 + moves, "{teams:?} {advice:?}");
        let why = server.why();
        let torn = why.iter().filter(|line| line.contains("is torn, because"));
        assert_eq!(torn.count(), 1, "{why:?}");
        let done: String = advice[1..]
            .iter()
            .map(|line| {
                let words: Vec<&str> = line.split(' ').collect();
                format!("MOVE {} {}\n", words[1], words[3])
            })
            .collect();
        server.tell(&done);
        let advice = server.several("REBALANCE seed=2\n");
        assert_eq!(advice.len(), 1, "{teams:?} {advice:?}");
    }
}

#[test]
fn the_party_that_keeps_the_better_team_together_is_named() {
    let world = World::new(&[90, 80, 20, 10]);
    let mut server = world.server();
    let friends = "JOIN w90 team=0 party=p\nJOIN w80 team=0 party=p\n";
    let game =
        format!("GAME ctf\nMINPLAYERS 0\n{friends}JOIN w20 team=1\nJOIN w10 team=1\nSTART\n");
    server.tell(&game);
    assert!(server.ask("REBALANCE seed=1\n").starts_with("REBALANCE 0 "));
    let why = server.why();
    let named = "WHY nobody moves, because the party of w90, w80 stays together";
    assert!(why.iter().any(|line| line.starts_with(named)), "{why:?}");
}

#[test]
fn a_party_comes_together_on_the_side_that_holds_it() {
    let world = World::default();
    let teams = "JOIN a team=0\nJOIN b team=0\nJOIN c team=0\nJOIN d team=1\nJOIN e team=1\n";
    let party = "JOIN n1 party=P\nJOIN n2 party=P\n";
    let mut server = world.server();
    server.tell(&format!("GAME ctf\nMINPLAYERS 0\n{teams}{party}"));
    assert!(server.ask("PLACE n1\n").starts_with("PLACE n1 1 "));
    assert!(server.why()[1].contains("with their party"));
    assert!(server.ask("PLACE n2\n").starts_with("PLACE n2 1 "));
    assert!(server.why()[1].contains("with their party"));
    // One against one more than that: no side holds two.
    let even = format!("GAME ctf\nMINPLAYERS 0\n{teams}JOIN f team=1\n{party}");
    server.tell(&even);
    let (one, two) = (server.ask("PLACE n1\n"), server.ask("PLACE n2\n"));
    assert_ne!(one.split(' ').nth(2), two.split(' ').nth(2), "{one} {two}");
    assert!(server.why()[1].contains("party is torn"));
}

#[test]
fn a_third_friend_is_with_part_of_the_party_where_another_is_on_the_other_team() {
    let world = World::default();
    for seats in [2, 3, 4] {
        let mut server = world.server();
        let party = "JOIN p0 party=P\nJOIN p1 party=P\nJOIN p2 party=P\n";
        let game = unknowns(&[seats, seats]);
        server.tell(&format!("GAME ctf\nMINPLAYERS 0\n{game}{party}"));
        let mut teams = Vec::new();
        for n in 0..3 {
            let (team, why) = server.placed_because(&format!("p{n}"));
            let apart = teams.iter().any(|other| *other != team);
            let whole = why.contains("(with their party)");
            assert!(!(whole && apart), "{teams:?} {team} {why}");
            assert!(whole || why.contains("torn"), "{why}");
            teams.push(team);
        }
    }
}

#[test]
fn a_party_of_three_comes_together_or_is_torn_by_as_little_as_needed() {
    let world = World::default();
    let party = "JOIN p0 party=P\nJOIN p1 party=P\nJOIN p2 party=P\n";
    for (sizes, expected) in [
        ([4, 2], Some(1)),
        ([5, 2], Some(1)),
        ([3, 2], None),
        ([3, 3], None),
    ] {
        let mut server = world.server();
        server.tell(&format!("GAME ctf\n{}{party}", unknowns(&sizes)));
        let mut teams = Vec::new();
        let mut reasons = Vec::new();
        for n in 0..3 {
            teams.push(server.placed(&format!("p{n}")));
            reasons.push(server.why()[1].clone());
        }
        match expected {
            Some(team) => assert_eq!(teams, [team; 3], "{sizes:?} {reasons:?}"),
            None => {
                let ones = teams.iter().filter(|team| **team == 1).count();
                let [zero, one] = sizes;
                let after = (zero + 3 - ones).abs_diff(one + ones);
                assert!(after <= 1, "{sizes:?} {teams:?}");
                let torn = reasons.iter().any(|reason| reason.contains("torn"));
                assert!(torn, "{sizes:?} {reasons:?}");
            }
        }
    }
}

#[test]
fn a_party_that_no_team_holds_is_torn_as_little_as_needed() {
    let world = World::default();
    let mut server = world.server();
    server.tell("GAME ctf\nJOIN a party=p\nJOIN b party=p\nJOIN c party=p\nJOIN d\n");
    let teams = server.several("BALANCE\n");
    let of: Vec<&str> = teams[1..4].iter().map(|line| &line[5..6]).collect();
    let ones = of.iter().filter(|team| **team == "1").count();
    assert!(ones == 1 || ones == 2, "{teams:?}");
    let why = server.why();
    assert!(
        why.iter()
            .any(|line| line.contains("party of a, b, c is torn")),
        "{why:?}"
    );
}

#[test]
fn a_party_of_three_of_four_keeps_two_together() {
    let world = World::new(&[90, 10, 50, 40]);
    let mut server = world.server();
    server.tell("GAME ctf\nJOIN w90 party=p\nJOIN w10 party=p\nJOIN w50 party=p\nJOIN w40\n");
    let teams = server.several("BALANCE\n");
    let of: Vec<&str> = teams[1..5].iter().map(|line| &line[5..6]).collect();
    assert_eq!(
        of.iter().filter(|team| **team == "1").count(),
        2,
        "{teams:?}"
    );
    // Torn already, BALANCE keeps these teams.
    let again = server.several("BALANCE\n");
    assert_eq!(again[1..], teams[1..]);
}

#[test]
fn a_party_of_four_on_teams_of_two_is_torn_into_two_pairs() {
    let world = World::default();
    let mut server = world.server();
    for seed in 0..20 {
        let party: String = (0..4).map(|n| format!("JOIN p{n} party=P\n")).collect();
        let others: String = (0..4).map(|n| format!("JOIN o{n}\n")).collect();
        server.tell(&format!("GAME ctf\nTEAMS 4\nMINPLAYERS 0\n{party}{others}"));
        let teams = server.balance(seed);
        let mut sizes = [0; 4];
        for n in 0..4 {
            sizes[usize::from(team_of(&teams, &format!("p{n}")))] += 1;
        }
        sizes.sort_unstable();
        assert_eq!(sizes, [0, 0, 2, 2], "{teams:?}");
    }
}

#[test]
fn the_reasons_say_who_of_a_torn_party_is_together_in_truth() {
    let world = World::of_all_weights();
    let mut server = world.server();
    let mut draw = Draw(3);
    for round in 0..40 {
        let others = 1 + draw.below(3);
        // More than half, so that no team holds all of them.
        let size = others + 2 + draw.below(2);
        let ids: Vec<String> = draw_weights(&mut draw, size + others)
            .iter()
            .map(|weight| format!("w{weight}"))
            .collect();
        let party: String = ids[..size]
            .iter()
            .map(|id| format!("JOIN {id} party=P\n"))
            .collect();
        let rest: String = ids[size..]
            .iter()
            .map(|id| format!("JOIN {id}\n"))
            .collect();
        server.tell(&format!("GAME ctf\n{party}{rest}"));
        let teams = server.balance(485 + round);
        let lines = server.why();
        let note = lines.iter().find(|line| line.contains("is torn")).cloned();
        let note = note.unwrap_or_else(|| panic!("{teams:?} {lines:?}"));
        let (_, together) = note.split_once("room for all of it: ").unwrap();
        let mut parts: Vec<Vec<&str>> = vec![Vec::new(); 2];
        for id in &ids[..size] {
            parts[usize::from(team_of(&teams, id))].push(id);
        }
        parts.retain(|part| part.len() > 1);
        let parts: Vec<String> = parts.iter().map(|part| part.join(", ")).collect();
        let truth = format!("{} stay together", parts.join(" and "));
        assert_eq!(together, truth, "{teams:?}");
    }
}
