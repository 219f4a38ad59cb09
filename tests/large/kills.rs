//! A hundred kills at random moments.

use crate::common::kills::kill_again_and_again;

#[test]
#[ignore = "takes a minute: `cargo test --test large -- --ignored`"]
fn a_hundred_kills_lose_nothing() {
    let kills = kill_again_and_again(100);
    println!("{kills:?}");
    assert_eq!(kills.resumed + kills.new, 100);
    assert!(kills.resumed > 20 && kills.unanswered > 5, "{kills:?}");
}
