//! Logs that were written twice, as to two sinks: each line comes again.
//!
//! A line may well be the same as the one before it, so a repetition is a copy only in a log whose lines nearly all come
//! twice: of the last lines, or as its very first line.

use std::{
    collections::VecDeque,
    hash::{DefaultHasher, Hash, Hasher},
};

/// How many other lines may come between a line and its copy.
const APART: usize = 8;
/// How many lines show whether a log is doubled.
const SHOWN: usize = 32;
/// How many lines show it of a log whose copies do not follow at once.
const SHOWN_APART: usize = 8;

/// The last lines of a log.
#[derive(Clone, Debug, Default)]
pub struct Doubled {
    /// Each of the last lines that is no copy, as a hash, and whether its copy has come.
    recent: VecDeque<(u64, bool)>,
    /// Of the lines before those: whether a copy came, the last one in front.
    past: VecDeque<bool>,
    /// The last line, which may be a copy.
    last: Option<u64>,
}

impl Doubled {
    /// Takes the next line, and returns whether it is the copy of an earlier one.
    pub fn is_copy(&mut self, line: &[u8]) -> bool {
        let mut hash = DefaultHasher::new();
        line.hash(&mut hash);
        let hash = hash.finish();
        let follows = self.last.replace(hash) == Some(hash);
        let recent = self.recent.iter();
        let mut alike = recent.map(|&(other, doubled)| other == hash && !doubled);
        if let Some(at) = alike.rposition(|alike| alike) {
            self.recent[at].1 = true;
            return self.is_doubled(at, follows);
        }
        self.recent.push_back((hash, false));
        if self.recent.len() > APART
            && let Some((_, doubled)) = self.recent.pop_front()
        {
            self.past.push_front(doubled);
            self.past.truncate(SHOWN);
        }
        false
    }

    /// Whether the repetition of the recent line at this place, which `follows` it at once or not, is a copy.
    fn is_doubled(&self, at: usize, follows: bool) -> bool {
        let before = self.recent.iter().take(at + 1).rev();
        let before = before.map(|(_, doubled)| *doubled);
        let last = before.chain(self.past.iter().copied()).take(SHOWN);
        let (mut all, mut doubled) = (0, 0);
        for is_doubled in last {
            all += 1;
            doubled += usize::from(is_doubled);
        }
        (follows || all > SHOWN_APART) && doubled * 3 >= all * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines that are no copies.
    fn kept(lines: &[&str]) -> Vec<String> {
        let mut doubled = Doubled::default();
        let kept = lines
            .iter()
            .filter(|line| !doubled.is_copy(line.as_bytes()));
        kept.map(|&line| line.to_owned()).collect()
    }

    #[test]
    fn each_line_of_a_doubled_log_counts_once() {
        // The same kill comes twice in a row, and each of the two is doubled.
        let single = ["start", "join", "kill", "kill", "win", "end"];
        let twice: Vec<&str> = single.iter().flat_map(|line| [*line; 2]).collect();
        assert_eq!(kept(&twice), single);
        // A copy is lost on its way.
        let lossy = [&twice[..3], &twice[4..]].concat();
        assert_eq!(kept(&lossy), single);
    }

    #[test]
    fn a_log_that_repeats_lines_is_not_doubled() {
        let lines = [
            "start", "kill", "kill", "kill", "x", "y", "kill", "kill", "x",
        ];
        assert_eq!(kept(&lines), lines);
    }

    #[test]
    fn copies_may_come_later() {
        let names: Vec<String> = (0..100).map(|number| number.to_string()).collect();
        let late: Vec<&str> = names
            .chunks(4)
            .flat_map(|four| four.iter().chain(four))
            .map(String::as_str)
            .collect();
        let kept = kept(&late);
        assert_eq!(kept[kept.len() - 80..], names[20..]);
    }
}
