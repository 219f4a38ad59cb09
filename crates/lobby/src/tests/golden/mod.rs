//! Two thousand lobbies, and the teams that were decided for them before the decisions had one model of a game.
//!
//! Each lobby follows from its number ([`story`]): players come, BALANCE, PLACE, REBALANCE, ADVANTAGE and auto-balance
//! decide about them, and between two decisions people come, go and change teams. `tests/fixtures/lobbies.txt.gz` has,
//! for each lobby, the teams after each of its decisions as they were decided then, and a digest of all lines that
//! answer it. The teams never change; a decision that differs from them must not be worse ([`judge`]). Each decision is
//! made in the game that the recorded ones before it have led to, so that one difference makes no others.
//!
//! An ordinary run decides about every fourth lobby; `cargo test -p evenkeel-lobby --lib golden -- --ignored` about the others.
//!
//! Lines that change on purpose are recorded again, in a commit that says what has changed and why it is better:
//! `cargo test -p evenkeel-lobby --lib lines_as_they_are_now -- --ignored --nocapture | grep '^[0-9].* .* ' | gzip -9n`.

mod judge;
mod story;

use std::{cmp::Ordering, collections::BTreeMap, io::Read};

use flate2::read::GzDecoder;

use judge::Worth;
use story::{Outcome, Story};

/// The number of lobbies.
const LOBBIES: u64 = 2_000;

/// Lobbies of which one BALANCE is worse by this order than the recorded one. The recorded one compared teams by other
/// sums: members of a torn party who meet on a team counted as friends only after the choice. So there are other candidates
/// now, and the seed draws others. In 531 and 1,483 the recorded teams are the most even of eight and of four candidates, with
/// ratios of .9280 and .8054; those that are drawn have .9189 and .8011, within the .01 that the settings tolerate. In 1,879
/// the new teams are more even, with 3, 2 and 1 players instead of 2 each.
const DECIDED_BY_OTHER_SUMS: [u64; 3] = [531, 1_483, 1_879];

/// Lobbies in which auto-balance moves another one of two who are alone on their team: whoever goes, the teams are as far
/// apart. The rounding of a difference decided; now the first goes. The judge looks at the game some minutes earlier, when that
/// one had just been moved.
const OTHER_OF_TWO: [u64; 2] = [749, 1_942];

/// Where the recorded decisions are.
const FILE: &[u8] = include_bytes!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/fixtures/lobbies.txt.gz"
));

/// What is recorded of one lobby.
#[derive(Clone, Debug, Default, PartialEq)]
struct Recorded {
    /// The teams after each decision, one character for each human: `.` for no team.
    teams: Vec<String>,
    /// The digest of all lines.
    lines: String,
}

impl Recorded {
    /// `number teams teams … lines`
    fn parse(line: &str) -> (u64, Self) {
        let mut words = line.split(' ').map(str::to_owned);
        let number = words.next().unwrap().parse().unwrap();
        let mut teams: Vec<String> = words.collect();
        let lines = teams.pop().unwrap();
        (number, Self { teams, lines })
    }

    fn all() -> BTreeMap<u64, Self> {
        let mut text = String::new();
        GzDecoder::new(FILE).read_to_string(&mut text).unwrap();
        text.lines().map(Self::parse).collect()
    }
}

/// What has become of a lobby.
#[derive(Debug, Default)]
struct Compared {
    /// The decisions that differ, with what is bad about their teams and about the recorded ones.
    differ: Vec<(Outcome, [Worth; 2])>,
    again: Recorded,
}

/// Decides again about a lobby. What was decided before the change is the game that each decision starts from.
fn decide(number: u64, recorded: &Recorded) -> Compared {
    let mut story = Story::of(number);
    let mut compared = Compared::default();
    while let Some(outcome) = story.next() {
        let at = compared.again.teams.len();
        let then = recorded.teams.get(at).unwrap_or(&outcome.teams).clone();
        if then != outcome.teams {
            let limit = story.limit();
            let of = |teams: &str| Worth::of(&outcome.before, teams, limit, outcome.kind);
            let worths = [&outcome.teams, &then].map(|teams| of(teams));
            story.put(&then);
            compared.differ.push((outcome, worths));
        }
        compared.again.teams.push(then);
    }
    compared.again.lines = format!("{:08x}", story.lines as u32);
    compared
}

/// Decides again about every fourth lobby, and complains about what is worse, and about lines that have changed.
fn check(first: u64) {
    let all = Recorded::all();
    assert_eq!(all.len() as u64, LOBBIES);
    let (mut worse, mut changed) = (Vec::new(), Vec::new());
    let mut counts = BTreeMap::<_, usize>::new();
    for number in (first..LOBBIES).step_by(4) {
        let compared = decide(number, &all[&number]);
        for (outcome, [now, then]) in &compared.differ {
            let (compare, teams) = (now.compare(then), &all[&number].teams);
            let line = format!("{number} {outcome} instead of {teams:?}: {now:?}, {then:?}");
            println!("{compare:?}: {line}");
            *counts.entry(compare).or_default() += 1;
            let is_known =
                DECIDED_BY_OTHER_SUMS.contains(&number) || OTHER_OF_TWO.contains(&number);
            if compare == Ordering::Greater && !is_known {
                worse.push(line);
            }
        }
        if compared.again != all[&number] {
            changed.push(number);
        }
    }
    println!("decisions that differ (greater is worse): {counts:?}");
    assert!(
        worse.is_empty(),
        "worse: {}\n{}",
        worse.len(),
        worse.join("\n")
    );
    assert!(
        changed.is_empty(),
        "the lines of {} lobbies have changed: {changed:?}",
        changed.len()
    );
}

#[test]
fn decisions_are_no_worse_1() {
    check(0);
}

#[test]
#[ignore = "takes a minute without optimisation"]
fn decisions_are_no_worse_2() {
    check(1);
}

#[test]
#[ignore = "takes a minute without optimisation"]
fn decisions_are_no_worse_3() {
    check(2);
}

#[test]
#[ignore = "takes a minute without optimisation"]
fn decisions_are_no_worse_4() {
    check(3);
}

/// Prints the lines as they are now, with the teams as they are recorded.
#[test]
#[ignore = "prints what the other tests compare with"]
fn lines_as_they_are_now() {
    for (number, recorded) in Recorded::all() {
        let again = decide(number, &recorded).again;
        println!("{number} {} {}", again.teams.join(" "), again.lines);
    }
}
