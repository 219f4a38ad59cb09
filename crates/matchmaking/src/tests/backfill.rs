//! Free seats of matches in play, as players and organisers would describe them.
//!
//! 1. Somebody leaves a 4 v 4, and a solo waits. Everybody expects the solo on the team of three.
//! 2. One seat is free, and a party of two waits longer than a solo. The party is not torn; the solo plays.
//! 3. A player who has left waits again. Nobody expects the player back in the same match.
//! 4. A ticket has waited long for a full match. A seat in play comes first: it plays now, not later.
//! 5. The hard rules hold against those who are still there: tiers, mirrored tiers, vehicles, control, and the
//!    map and the mode that are being played.
//! 6. A player who avoids one of those who are there does not join.
//! 7. The match ends while the search runs: nobody is sent to it, and nobody loses their place.
//! 8. The server asks twice, or takes its request back: two players never come for one seat.
//! 9. The daemon is killed, or the player does not come: the seat is sought again, and the wait is kept.
//! 10. The server fills the seat itself, or the game server dies: nobody is sent to a seat that is taken.
//!
//! 1 to 6 are about the choice and are here; 7 to 10 are in the tests of the lifecycle, and
//! `tests/suite/queue/backfill.rs`.

use super::situations::{queue, shipped, tank, ticket};
use crate::{Queue, Ticket, backfill::OpenMatch, planner::PlanInput};

const PLAIN: &str =
    "teams = 2\nsize = 4\nruleset = \"ctf\"\neven_by = \"skill\"\n[attributes]\nskill = \"num\"\n";

fn one(queue: &Queue, id: &str, waited: f64, skills: &[f64]) -> Ticket {
    let player = |(at, skill): (usize, &f64)| format!(r#"{{"id":"{id}.{at}","skill":{skill}}}"#);
    let players: Vec<String> = skills.iter().enumerate().map(player).collect();
    let players = players.join(",");
    ticket(
        queue,
        &format!(r#"{{"ticket":"{id}","waited":{waited},"players":[{players}]}}"#),
    )
}

/// A match of these teams, all of whose missing players are sought.
pub(super) fn open(queue: &Queue, teams: Vec<Vec<Ticket>>) -> OpenMatch {
    let size = queue.settings().size.as_usize();
    let heads = |team: &Vec<Ticket>| team.iter().map(|ticket| ticket.players.len()).sum();
    let heads: Vec<usize> = teams.iter().map(heads).collect();
    OpenMatch {
        free: heads.iter().map(|heads| size - heads).collect(),
        heads,
        size,
        teams,
        ..OpenMatch::default()
    }
}

fn found(queue: &Queue, tickets: &[Ticket], open: OpenMatch) -> Vec<Vec<(usize, usize)>> {
    let found = PlanInput::new(queue, tickets).backfill(&[open]);
    found[0].iter().map(|one| one.seats.clone()).collect()
}

fn three_against_four(queue: &Queue) -> OpenMatch {
    let team = |name: &str, count: usize| -> Vec<Ticket> {
        (0..count)
            .map(|n| one(queue, &format!("{name}{n}"), 0.0, &[50.0]))
            .collect()
    };
    open(queue, vec![team("a", 3), team("b", 4)])
}

#[test]
fn a_solo_takes_the_seat_of_who_has_left() {
    let queue = queue(PLAIN);
    let solo = [one(&queue, "s", 3.0, &[50.0])];
    assert_eq!(found(&queue, &solo, three_against_four(&queue)), [[(0, 0)]]);
    let none = OpenMatch {
        free: vec![0, 0],
        ..three_against_four(&queue)
    };
    assert!(found(&queue, &solo, none).is_empty(), "nobody was sought");
    let barred = OpenMatch {
        barred: [0].into(),
        ..three_against_four(&queue)
    };
    assert!(
        found(&queue, &solo, barred).is_empty(),
        "who has left this match"
    );
}

#[test]
fn a_party_is_not_torn_for_one_seat() {
    let queue = queue(PLAIN);
    let tickets = [
        one(&queue, "p", 90.0, &[50.0, 50.0]),
        one(&queue, "s", 3.0, &[50.0]),
    ];
    assert_eq!(
        found(&queue, &tickets, three_against_four(&queue)),
        [[(1, 0)]]
    );
    let mut two = three_against_four(&queue);
    two.teams[0].pop();
    let two = OpenMatch {
        free: vec![2, 0],
        heads: vec![2, 4],
        ..two
    };
    assert_eq!(found(&queue, &tickets, two), [[(0, 0)]]);
}

#[test]
fn the_oldest_plays_unless_another_waits_nearly_as_long_and_makes_it_more_even() {
    let queue = queue(PLAIN);
    let tickets = [
        one(&queue, "old", 100.0, &[90.0]),
        one(&queue, "near", 60.0, &[55.0]),
        one(&queue, "young", 20.0, &[50.0]),
    ];
    assert_eq!(
        found(&queue, &tickets, three_against_four(&queue)),
        [[(1, 0)]]
    );
    let tickets = [tickets[0].clone(), tickets[2].clone()];
    assert_eq!(
        found(&queue, &tickets, three_against_four(&queue)),
        [[(0, 0)]]
    );
}

#[test]
fn an_even_match_of_three_is_filled_on_both_sides_or_not_at_all() {
    let queue = queue(PLAIN);
    let mut even = three_against_four(&queue);
    even.teams[1].pop();
    let even = OpenMatch {
        free: vec![1, 1],
        heads: vec![3, 3],
        ..even
    };
    let tickets = [
        one(&queue, "s", 9.0, &[50.0]),
        one(&queue, "t", 5.0, &[52.0]),
    ];
    assert!(found(&queue, &tickets[..1], even.clone()).is_empty());
    let both = found(&queue, &tickets, even.clone());
    assert_eq!(both.len(), 1, "{both:?}");
    assert_eq!(both[0].len(), 2);
    assert_ne!(both[0][0].1, both[0][1].1);
    let only_one = OpenMatch {
        free: vec![0, 1],
        ..even
    };
    assert_eq!(
        found(&queue, &tickets[..1], only_one),
        [[(0, 1)]],
        "as the server wishes"
    );
}

/// A match of two full teams of tier 8, of whom one of team 0 has left.
fn tanks(queue: &Queue) -> OpenMatch {
    let team = |from: usize, count: usize| -> Vec<Ticket> {
        (from..from + count)
            .map(|n| tank(queue, &format!("m{n}"), 0.0, &[8], ""))
            .collect()
    };
    let picks = [("mode", "encounter"), ("map", "mines")];
    let picks = picks.map(|(name, word)| (name.to_owned(), word.to_owned()));
    OpenMatch {
        picks: picks.into(),
        ..open(queue, vec![team(1, 6), team(8, 7)])
    }
}

#[test]
fn the_hard_rules_hold_against_those_who_are_there() {
    let queue = shipped("regular");
    // m14 was of the kind that is missing on team 0: number 7 modulo 4.
    let joins = |ticket: Ticket| !found(&queue, &[ticket], tanks(&queue)).is_empty();
    assert!(joins(tank(&queue, "x7", 30.0, &[8], "")));
    assert!(
        !joins(tank(&queue, "x7", 30.0, &[7], "")),
        "the tiers are mirrored"
    );
    assert!(!joins(tank(&queue, "x7", 30.0, &[10], "")));
    let json = |map: &str, mode: &str, more: &str| {
        let text = format!(
            r#"{{"ticket":"x7","waited":30,"players":[{{"id":"x","tier":8,"kind":"destroyer","vehicle":"v","modes":["{mode}"],"maps":["{map}"],"control":"touch"{more}}}]}}"#
        );
        ticket(&queue, &text)
    };
    assert!(joins(json("mines", "encounter", "")));
    assert!(
        !joins(json("canal", "encounter", "")),
        "the map is not loaded"
    );
    assert!(!joins(json("mines", "supremacy", "")), "another mode");
    let mouse = json("mines", "encounter", "").players[0].clone();
    assert_eq!(mouse.id, "x");
    let single = r#","tier_cap":7"#;
    assert!(
        !joins(json("mines", "encounter", single)),
        "a first battle in a new vehicle"
    );
}

#[test]
fn players_who_avoid_each_other_stay_apart() {
    let text = "teams = 2\nsize = 2\nruleset = \"ctf\"\n[attributes]\navoid = \"set\"\n\
                [[rule]]\nname = \"apart\"\nrule = \"apart\"\nof = \"avoid\"\nhard = true\n";
    let queue = queue(text);
    let one = |id: &str, avoid: &str| {
        ticket(
            &queue,
            &format!(r#"{{"ticket":"{id}","players":[{{"id":"{id}","avoid":[{avoid}]}}]}}"#),
        )
    };
    let game = || {
        open(
            &queue,
            vec![vec![one("a", "")], vec![one("b", ""), one("c", "\"z\"")]],
        )
    };
    assert!(found(&queue, &[one("x", "\"b\"")], game()).is_empty());
    assert!(
        found(&queue, &[one("z", "")], game()).is_empty(),
        "the other way round"
    );
    assert_eq!(found(&queue, &[one("y", "\"q\"")], game()), [[(0, 0)]]);
}

#[test]
fn mirrored_seats_are_filled_together_and_a_penalty_must_be_accepted() {
    let text = "teams = 2\nsize = 2\nruleset = \"ctf\"\naccept = { start = 0.0, per_second = 0.1, max = 5.0 }\n\
                [attributes]\ntier = \"int 1..10\"\n\
                [[rule]]\nname = \"mirror\"\nrule = \"mirror\"\nof = \"tier\"\nhard = true\n\
                [[rule]]\nname = \"spread\"\nrule = \"spread\"\nof = \"tier\"\nat_most = 0\n";
    let queue = queue(text);
    let one = |id: &str, tier: u32, waited: u32| {
        ticket(
            &queue,
            &format!(
                r#"{{"ticket":"{id}","waited":{waited},"players":[{{"id":"{id}","tier":{tier}}}]}}"#
            ),
        )
    };
    let game = || open(&queue, vec![vec![one("a", 8, 0)], vec![one("b", 8, 0)]]);
    let tickets = [one("x", 7, 9), one("y", 8, 8), one("z", 8, 1)];
    assert_eq!(found(&queue, &tickets, game()), [[(1, 0), (2, 1)]]);
    let tickets = [one("x", 7, 9), one("y", 7, 8)];
    assert!(
        found(&queue, &tickets, game()).is_empty(),
        "the penalty is 1, and .9 is accepted"
    );
    let tickets = [one("x", 7, 10), one("y", 7, 8)];
    assert_eq!(found(&queue, &tickets, game()).len(), 1);
}
