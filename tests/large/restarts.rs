//! Restarts under load.

use crate::common::restarts::restart_again_and_again;

#[test]
#[ignore = "takes a minute: `cargo test --test large -- --ignored`"]
fn after_each_of_fifty_kills_the_first_answers_are_complete() {
    let seen = restart_again_and_again(50);
    println!("{seen:?}");
    assert!(seen.compared > 1_000, "{seen:?}");
}
