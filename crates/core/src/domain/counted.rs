//! Numbers of things in messages.

use std::fmt::Display;

/// A number and what it counts: "1 bot", "2 bots", "2 matches". `thing` is a word with a regular plural.
pub fn counted<N: Display + PartialEq + From<u8>>(number: N, thing: &str) -> String {
    let plural = match thing.ends_with("ch") {
        _ if number == N::from(1) => "",
        true => "es",
        false => "s",
    };
    format!("{number} {thing}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_no_plural() {
        let bots = |n: usize| counted(n, "bot");
        assert_eq!([bots(0), bots(1), bots(2)], ["0 bots", "1 bot", "2 bots"]);
        assert_eq!(
            [counted(1_u64, "match"), counted(2_u64, "match")],
            ["1 match", "2 matches"]
        );
    }
}
