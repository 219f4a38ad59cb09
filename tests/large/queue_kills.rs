//! A hundred kills while tickets come in.

use crate::common::queue_kills::kill_during_submits;

#[test]
#[ignore = "takes a minute: `cargo test --test large -- --ignored`"]
fn a_hundred_kills_lose_no_ticket() {
    let kills = kill_during_submits(100);
    println!("{kills:?}");
    assert_eq!((kills.lost, kills.twice), (0, 0), "{kills:?}");
    assert!(kills.answered > kills.sent / 4, "{kills:?}");
}
