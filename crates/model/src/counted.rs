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

/// An amount, of at least 0, with up to three decimals; below 1 with as many as five significant digits need.
pub fn amount(number: f64) -> String {
    let small = 0.0 < number && number < 1.0;
    let digits = match small {
        true => 4.0 - libm::floor(libm::log10(number)),
        false => 3.0,
    };
    let text = format!("{number:.0$}", digits as usize);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_of_any_size_are_told_apart() {
        let told = [
            0.0,
            9.0,
            42.125,
            0.1,
            0.0625,
            0.000_123_456,
            1500.0,
            0.1 + 0.2,
        ]
        .map(amount);
        let by_hand = [
            "0",
            "9",
            "42.125",
            "0.1",
            "0.0625",
            "0.00012346",
            "1500",
            "0.3",
        ];
        assert_eq!(told, by_hand);
    }

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
