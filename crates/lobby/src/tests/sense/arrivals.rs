//! Late arrivals, as the people in a game would have them placed: the short side first, then friends and wishes.

use super::{Server, World, draw_weights, unknowns};
use crate::draw::Draw;

#[test]
fn a_late_arrival_is_not_sent_to_the_larger_team_for_bots_that_never_come() {
    let world = World::new(&[90, 40, 45, 50]);
    let mut server = world.server();
    let game = "GAME ctf\nMINPLAYERS 2\nJOIN w90 team=0\nJOIN w40 team=1\nJOIN w45 team=1\nSTART\nJOIN w50\n";
    assert_eq!(
        server.ask(&format!("{game}PLACE w50\n")),
        "PLACE w50 0 0.607143"
    );
    let why = server.why();
    assert!(
        why.iter().any(|line| line.contains("none are expected")),
        "{why:?}"
    );
}

/// Draws weights of N(50, 15) by Box and Muller's method.
struct Crowd(Draw);

impl Crowd {
    fn weight(&mut self) -> u8 {
        let (a, b) = (self.0.unit(), self.0.unit());
        let normal = (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos();
        (50.0 + 15.0 * normal).clamp(0.0, 100.0) as u8
    }
}

/// How many of `games` late arrivals go to the larger side, in games of `few` against `many`. With
/// `filled`, the bots that BOTS asks for are in the game.
fn to_the_larger_side(
    server: &mut Server,
    filled: bool,
    games: usize,
    few: usize,
    many: usize,
) -> usize {
    let mut crowd = Crowd(Draw(7 + (few * 31 + many) as u64));
    let mut larger = 0;
    for _ in 0..games {
        let mut ids: Vec<String> = Vec::new();
        while ids.len() <= few + many {
            let id = format!("w{}", crowd.weight());
            // The same id twice would be one player.
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let mut lines = "GAME ctf\n".to_owned();
        for (at, id) in ids[1..].iter().enumerate() {
            lines.push_str(&format!("JOIN {id} team={}\n", usize::from(at >= few)));
        }
        server.tell(&format!("{lines}START\n"));
        if filled {
            let bots = server.ask("BOTS\n");
            let mut joins = String::new();
            for (team, count) in bots.split(' ').skip(2).enumerate() {
                for n in 0..count.parse::<usize>().unwrap() {
                    joins.push_str(&format!("BOTJOIN bot{team}{n} {team}\n"));
                }
            }
            server.tell(&joins);
        }
        server.tell(&format!("JOIN {}\n", ids[0]));
        let placed = server.ask(&format!("PLACE {}\n", ids[0]));
        let placed: Vec<&str> = placed.split(' ').collect();
        larger += usize::from(placed[2] == "1");
    }
    larger
}

/// At most 3 % of late arrivals go to the larger side, where bots fill up the other one; none does where the teams differ
/// by two.
#[test]
fn the_short_side_comes_first() {
    const GAMES: usize = 40;
    let world = World::of_all_weights();
    for (bots, filled) in [("no", false), ("", false), ("yes", false), ("yes", true)] {
        for wish in ["", "2", "6", "10", "16"] {
            let mut server = world.server_with_bots(bots);
            if !wish.is_empty() {
                server.tell(&format!("MINPLAYERS {wish}\n"));
            }
            let mut larger = Vec::new();
            for few in 1..=5 {
                larger.push(to_the_larger_side(&mut server, filled, GAMES, few, few + 1));
                let two = to_the_larger_side(&mut server, filled, GAMES, few, few + 2);
                assert_eq!(two, 0, "{few} against {}", few + 2);
            }
            println!(
                "bots={bots:3} in the game: {filled:5} MINPLAYERS {wish:2} to the larger side of {GAMES}, 1 v 2 to 5 v 6: {larger:?}"
            );
            let most = if bots == "yes" { GAMES * 3 / 100 } else { 0 };
            assert!(larger.iter().all(|larger| *larger <= most), "{larger:?}");
        }
    }
}

#[test]
fn of_three_teams_the_smallest_is_filled_first() {
    let world = World::default();
    for (sizes, expected) in [
        ([3, 2, 3], 1),
        ([4, 4, 1], 2),
        ([0, 1, 1], 0),
        ([2, 3, 4], 0),
    ] {
        let mut server = world.server();
        let game = format!("GAME ctf\nTEAMS 3\n{}JOIN late\n", unknowns(&sizes));
        server.tell(&game);
        assert_eq!(server.placed("late"), expected, "{sizes:?}");
    }
    let mut server = world.server();
    let game = format!("GAME ctf\nTEAMS 3\n{}START\n", unknowns(&[4, 1, 1]));
    server.tell(&game);
    let advice = server.several("REBALANCE\n");
    let to: Vec<&str> = advice[1..]
        .iter()
        .map(|line| &line[line.len() - 3..])
        .collect();
    assert!(
        to.iter().all(|step| step.starts_with('0')) && !to.is_empty(),
        "{advice:?}"
    );
}

#[test]
fn of_four_teams_none_but_the_smallest_is_joined() {
    let world = World::new(&[4, 5, 6, 50]);
    let mut server = world.server();
    let light = "JOIN w5 team=1\nJOIN w4 team=1\nJOIN w6 team=1\n";
    let game = format!(
        "GAME ctf\nTEAMS 4\nMINPLAYERS 0\n{}{light}",
        unknowns(&[4, 0, 1, 1])
    );
    server.tell(&format!("{game}START\nJOIN w50\n"));
    let (team, why) = server.placed_because("w50");
    assert!(team >= 2, "{team} {why}");
    // A party that is torn goes past no empty team either.
    let game = format!(
        "GAME ctf\nTEAMS 4\nMINPLAYERS 0\n{}",
        unknowns(&[2, 0, 0, 2])
    );
    server.tell(&format!(
        "{game}JOIN f team=0 party=P\nSTART\nJOIN n party=P\n"
    ));
    let (team, why) = server.placed_because("n");
    assert!([1, 2].contains(&team), "{team} {why}");
    assert!(why.contains("torn"), "{why}");
}

#[test]
fn no_arrival_joins_a_team_that_is_larger_by_two_or_larger_at_all_without_bots() {
    let world = World::of_all_weights();
    for bots in ["", "no", "yes"] {
        let mut server = world.server_with_bots(bots);
        let mut draw = Draw(17);
        for _ in 0..250 {
            let teams = 2 + draw.below(3);
            let wish = [0, 2, 6, 10][draw.below(4)];
            let mut game = format!("GAME ctf\nTEAMS {teams}\nMINPLAYERS {wish}\n");
            let mut sizes = vec![0; teams];
            let ids = draw_weights(&mut draw, 12);
            for id in &ids[..draw.below(11)] {
                let party = ["", "", " party=P", " party=Q"][draw.below(4)];
                let team = draw.below(teams + 1);
                let on = match sizes.get_mut(team) {
                    Some(size) => {
                        *size += 1;
                        format!(" team={team}")
                    }
                    None => String::new(),
                };
                game.push_str(&format!("JOIN w{id}{on}{party}\n"));
            }
            let party = ["", " party=P"][draw.below(2)];
            let who = format!("w{}", ids[11]);
            server.tell(&format!("{game}START\nJOIN {who}{party}\n"));
            let (team, why) = server.placed_because(&who);
            let least = sizes.iter().min().unwrap();
            let larger = sizes[usize::from(team)] - least;
            let most = usize::from(bots == "yes");
            assert!(larger <= most, "{bots} {game}{who}{party} {sizes:?} {why}");
        }
    }
}

#[test]
fn who_is_on_a_team_already_is_not_called_pinned() {
    let world = World::default();
    let mut server = world.server();
    server.tell(&format!(
        "GAME ctf\n{}JOIN n\nJOIN late\n",
        unknowns(&[1, 1])
    ));
    let (team, why) = server.placed_because("t1n0");
    assert_eq!((team, why.contains("(on it already)")), (1, true), "{why}");
    let lines = server.why();
    let says = |words: &str| lines.iter().any(|line| line.contains(words));
    assert!(
        says("2 other players without a team were placed"),
        "{lines:?}"
    );
    server.placed_because("n");
    let lines = server.why();
    let says = |words: &str| lines.iter().any(|line| line.contains(words));
    assert!(
        says("1 other player without a team was placed"),
        "{lines:?}"
    );
}

#[test]
fn who_returns_within_five_minutes_gets_the_old_team_unless_it_is_the_larger_one_by_then() {
    let world = World::default();
    let mut server = world.server();
    let game = format!("GAME ctf\n{}START\n", unknowns(&[3, 3]));
    server.tell(&format!("{game}LEAVE t1n0\n"));
    server.pass(299_000);
    server.tell("JOIN t1n0\n");
    assert_eq!(server.placed("t1n0"), 1);
    // The place was taken meanwhile: 3 against 3, then 2 against 3.
    server.tell(&format!("{game}LEAVE t1n0\nJOIN x team=1\n"));
    server.tell("JOIN t1n0\n");
    assert_eq!(server.placed("t1n0"), 1);
    server.tell(&format!("{game}LEAVE t1n0\nJOIN x team=1\nLEAVE t0n0\n"));
    server.tell("JOIN t1n0\n");
    assert_eq!(server.placed("t1n0"), 0);
}

#[test]
fn a_pin_is_obeyed_even_against_the_short_side() {
    let world = World::default();
    let mut server = world.server();
    server.tell(&format!("GAME ctf\n{}JOIN late pin=1\n", unknowns(&[1, 3])));
    assert_eq!(server.placed("late"), 1);
    assert!(server.why()[1].contains("pinned"));
}

#[test]
fn an_arrival_is_placed_away_from_whom_they_avoid() {
    let world = World::default();
    let mut server = world.server();
    let even = "GAME ctf\nMINPLAYERS 0\nJOIN a team=0\nJOIN b team=0\nJOIN c team=1\nJOIN d team=1\nSTART\n";
    let mut without = [0; 2];
    for _ in 0..8 {
        for (foe, away) in [("a", 1), ("d", 0)] {
            // The wish counts both ways.
            let wishes = [
                format!("JOIN late avoid={foe}\n"),
                format!("JOIN late\nJOIN {foe} avoid=late\n"),
            ];
            for wish in wishes {
                server.tell(&format!("{even}{wish}"));
                let placed = server.ask("PLACE late\n");
                let expected = format!("PLACE late {away} ");
                assert!(placed.starts_with(&expected), "{placed} after {wish}");
                let why = server.why();
                let said = why.iter().any(|line| line.contains("players to avoid"));
                assert!(said, "{why:?}");
            }
            // Taken back, the wish is nothing: chance decides between even teams.
            let back = format!("{even}JOIN late avoid={foe}\nJOIN late avoid=\n");
            server.tell(&back);
            let placed = server.ask("PLACE late\n");
            without[usize::from(placed.starts_with("PLACE late 1 "))] += 1;
            // No wish makes the teams uneven.
            let short = format!(
                "GAME ctf\nMINPLAYERS 0\nJOIN {foe} team={away}\nJOIN x team={}\nJOIN y team={}\nJOIN late avoid={foe}\n",
                1 - away,
                1 - away
            );
            server.tell(&short);
            let placed = server.ask("PLACE late\n");
            assert!(
                placed.starts_with(&format!("PLACE late {away} ")),
                "{placed}"
            );
        }
    }
    assert!(without.iter().all(|&count| count > 0), "{without:?}");
}

#[test]
fn an_arrival_comes_to_the_side_that_they_want_if_that_is_as_even() {
    let world = World::default();
    let mut server = world.server();
    for (sizes, wish, team) in [
        ([2, 2], 0, 0),
        ([2, 2], 1, 1),
        ([3, 4], 1, 0),
        ([4, 3], 0, 1),
    ] {
        for _ in 0..4 {
            let game = format!("GAME ctf\nMINPLAYERS 0\n{}START\n", unknowns(&sizes));
            server.tell(&format!("{game}JOIN late wish={wish}\n"));
            assert_eq!(server.placed("late"), team, "{sizes:?}");
            let why = server.why();
            let words = match team == wish {
                true => "the team that they wished for",
                false => "wish not granted",
            };
            assert!(why.iter().any(|line| line.contains(words)), "{why:?}");
        }
    }
}

#[test]
fn a_friend_comes_to_their_friend_unless_that_makes_the_larger_team_larger() {
    let world = World::default();
    let mut server = world.server();
    for (ones, twos, team, torn) in [(2, 2, 1, false), (3, 2, 1, false), (2, 3, 0, true)] {
        let mut lines = "GAME ctf\nMINPLAYERS 0\nJOIN friend team=1 party=P\n".to_owned();
        for (side, count) in [(0, ones), (1, twos - 1)] {
            (0..count).for_each(|n| lines.push_str(&format!("JOIN x{side}{n} team={side}\n")));
        }
        server.tell(&format!("{lines}START\nJOIN n party=P\n"));
        let reply = server.ask("PLACE n\n");
        assert!(reply.starts_with(&format!("PLACE n {team} ")), "{reply}");
        let why = server.why();
        let words = if torn { "torn" } else { "with their party" };
        assert!(why[1].contains(words), "{ones} v {twos}: {why:?}");
    }
}

#[test]
fn a_friend_does_not_go_to_the_larger_team_because_others_wait() {
    let world = World::default();
    for (larger, smaller, waiting) in [(4, 2, 2), (2, 1, 1), (3, 2, 1), (3, 1, 4)] {
        let mut server = world.server();
        let mut game = unknowns(&[larger - 1, smaller]);
        (0..waiting).for_each(|n| game.push_str(&format!("JOIN s{n}\n")));
        let friend = "JOIN f team=0 party=P\n";
        server.tell(&format!(
            "GAME ctf\nMINPLAYERS 0\n{friend}{game}START\nJOIN n party=P\n"
        ));
        let (team, why) = server.placed_because("n");
        assert_eq!(team, 1, "{larger} v {smaller}: {why}");
        assert!(why.contains("torn"), "{why}");
    }
}

#[test]
fn who_comes_with_a_friend_who_is_pinned_goes_where_the_friend_must_be() {
    let world = World::default();
    for pin in [0, 1] {
        let mut server = world.server();
        let sizes = if pin == 1 { [2, 1] } else { [1, 2] };
        server.tell(&format!(
            "GAME ctf\nMINPLAYERS 0\n{}JOIN n2 party=P pin={pin}\nJOIN n1 party=P\n",
            unknowns(&sizes)
        ));
        let (team, why) = server.placed_because("n1");
        assert_eq!(team, pin, "{why}");
        assert!(why.contains("(with their party)"), "{why}");
        let (team, why) = server.placed_because("n2");
        assert_eq!((team, why.contains("pinned")), (pin, true), "{why}");
    }
}
