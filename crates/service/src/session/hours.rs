//! How many matches of one human a client may record over HTTP in one hour of the matches' own time.
//!
//! Nobody plays more. The matches on disk are counted once for each hour that is asked about, and kept in memory, with a
//! bound on the humans of all hours together. It decides and counts, and reads no clock and no database.

use std::{
    collections::{BTreeMap, HashMap, hash_map::Entry},
    hash::{DefaultHasher, Hash, Hasher},
};

use crate::model::{PlayerKey, Timestamp};

/// The most matches of a human, of one client and one hour.
pub(super) const MOST: u32 = 30;
/// The milliseconds of an hour.
pub(super) const HOUR: i64 = 3_600_000;
/// The most humans whose counts are kept, over all hours: some 40 MB.
const MOST_COUNTS: usize = 1_000_000;

/// An hour of a client: when it begins, in hours since 1970.
pub(super) type ClientHour = (String, i64);

/// The hour in which a match ended, by its number and its beginning.
pub(super) fn hour_of(end: Timestamp) -> i64 {
    end.0.div_euclid(HOUR)
}

/// The counts of the hours that were asked about last.
#[derive(Debug, Default)]
pub(super) struct Hours {
    hours: BTreeMap<ClientHour, Counts>,
    /// How many counts there are.
    counts: usize,
    /// How often hours were asked about.
    asked: u64,
}

#[derive(Debug, Default)]
struct Counts {
    /// By the hash of a human, which takes a tenth of the memory of the identity. Two humans with one hash would share a count:
    /// among a million that happens once in thirty million hours.
    humans: HashMap<u64, u32>,
    /// When the hour was asked about last.
    asked: u64,
}

/// Somebody who has too many matches in an hour.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TooMany {
    pub human: PlayerKey,
    pub hour: i64,
}

impl Hours {
    /// Whether the counts of an hour are not known.
    pub fn lacks(&self, hour: &ClientHour) -> bool {
        !self.hours.contains_key(hour)
    }

    /// Takes over the counts of an hour, unless they are known: they are newer then.
    pub fn load(&mut self, hour: ClientHour, humans: impl Iterator<Item = (PlayerKey, u32)>) {
        if !self.lacks(&hour) {
            return;
        }
        self.asked += 1;
        let counts = Counts {
            asked: self.asked,
            ..Counts::default()
        };
        self.hours.insert(hour.clone(), counts);
        for (human, count) in humans {
            self.add(&hour, &human, count);
        }
    }

    /// Counts matches of a client, each with the hour in which it ended and its humans: all, or none. Their hours must
    /// have been loaded; one that is not known begins with none.
    ///
    /// # Errors
    /// Fails with the first human who would have too many.
    pub fn count(
        &mut self,
        client: &str,
        matches: &[(i64, Vec<PlayerKey>)],
    ) -> Result<(), TooMany> {
        let mut new: HashMap<(i64, &PlayerKey), u32> = HashMap::new();
        for (hour, humans) in matches {
            let known = self.hours.get(&(client.to_owned(), *hour));
            for human in humans {
                let new = new.entry((*hour, human)).or_default();
                *new += 1;
                let before = known.and_then(|known| known.humans.get(&hash(human)));
                if before.copied().unwrap_or(0).saturating_add(*new) > MOST {
                    let (human, hour) = (human.clone(), *hour);
                    return Err(TooMany { human, hour });
                }
            }
        }
        self.asked += 1;
        for (hour, _) in matches {
            let own = self.hours.entry((client.to_owned(), *hour)).or_default();
            own.asked = self.asked;
        }
        for ((hour, human), new) in new {
            self.add(&(client.to_owned(), hour), human, new);
        }
        Ok(())
    }

    /// Takes back what was just counted of these matches.
    pub fn uncount(&mut self, client: &str, matches: &[(i64, Vec<PlayerKey>)]) {
        for (hour, humans) in matches {
            let Some(own) = self.hours.get_mut(&(client.to_owned(), *hour)) else {
                continue;
            };
            for human in humans {
                if let Entry::Occupied(mut count) = own.humans.entry(hash(human)) {
                    *count.get_mut() = count.get().saturating_sub(1);
                    if *count.get() == 0 {
                        count.remove();
                        self.counts -= 1;
                    }
                }
            }
        }
    }

    /// Forgets the counts of these matches' hours: nobody knows whether they were recorded, so they are counted again.
    pub fn forget(&mut self, client: &str, matches: &[(i64, Vec<PlayerKey>)]) {
        for (hour, _) in matches {
            self.remove(&(client.to_owned(), *hour));
        }
    }

    /// Adds matches of a human to an hour of the present question.
    fn add(&mut self, hour: &ClientHour, human: &PlayerKey, matches: u32) {
        self.make_room();
        let is_full = self.counts >= MOST_COUNTS;
        let own = self.hours.entry(hour.clone()).or_default();
        match own.humans.entry(hash(human)) {
            Entry::Occupied(mut count) => *count.get_mut() += matches,
            // The present question alone has more humans than are kept, which takes clients without shares.
            Entry::Vacant(_) if is_full => {}
            Entry::Vacant(count) => {
                count.insert(matches);
                self.counts += 1;
            }
        }
    }

    /// Forgets the hours that were not asked about for longest, while there are too many counts; none of the present
    /// question, which would be read again with each one that follows.
    fn make_room(&mut self) {
        while self.counts >= MOST_COUNTS {
            let earlier = self.hours.iter();
            let earlier = earlier.filter(|(_, own)| own.asked < self.asked);
            let Some((oldest, _)) = earlier.min_by_key(|(_, own)| own.asked) else {
                return;
            };
            let oldest = oldest.clone();
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, hour: &ClientHour) {
        if let Some(gone) = self.hours.remove(hour) {
            self.counts -= gone.humans.len();
        }
    }
}

fn hash(human: &PlayerKey) -> u64 {
    let mut hasher = DefaultHasher::new();
    human.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Kind;

    fn human(id: &str) -> PlayerKey {
        PlayerKey {
            kind: Kind::Human,
            id: id.to_owned(),
        }
    }

    fn game(hour: i64, humans: &[&str]) -> (i64, Vec<PlayerKey>) {
        (hour, humans.iter().map(|id| human(id)).collect())
    }

    #[test]
    fn the_thirty_first_match_of_a_human_in_an_hour_is_refused() {
        let mut hours = Hours::default();
        for _ in 0..MOST {
            assert_eq!(hours.count("a", &[game(7, &["x", "y"])]), Ok(()));
        }
        let refused = TooMany {
            human: human("x"),
            hour: 7,
        };
        assert_eq!(
            hours.count("a", &[game(7, &["z", "x"])]),
            Err(refused.clone())
        );
        for other in [game(8, &["x"]), game(6, &["x"]), game(7, &["z"])] {
            assert_eq!(hours.count("a", &[other]), Ok(()));
        }
        assert_eq!(
            hours.count("b", &[game(7, &["x"])]),
            Ok(()),
            "another client"
        );
        let refused = TooMany { hour: 9, ..refused };
        let all = vec![game(9, &["x"]); MOST as usize + 1];
        assert_eq!(hours.count("a", &all), Err(refused));
        assert!(hours.lacks(&("a".to_owned(), 9)), "nothing is counted");
        assert_eq!(hours.count("a", &all[1..]), Ok(()));
    }

    #[test]
    fn matches_on_disk_count_and_those_that_were_not_recorded_do_not() {
        let mut hours = Hours::default();
        let hour = ("a".to_owned(), 7);
        assert!(hours.lacks(&hour));
        hours.load(
            hour.clone(),
            [(human("x"), 20), (human("x"), 9)].into_iter(),
        );
        hours.load(hour.clone(), [(human("x"), 0)].into_iter());
        assert_eq!(hours.count("a", &[game(7, &["x"])]), Ok(()));
        assert!(hours.count("a", &[game(7, &["x"])]).is_err());
        hours.uncount("a", &[game(7, &["x"])]);
        assert_eq!(hours.count("a", &[game(7, &["x"])]), Ok(()));
        hours.uncount("a", &[game(7, &["x", "never"]), game(8, &["x"])]);
        assert!(!hours.lacks(&hour) && hours.counts == 1);
        hours.forget("a", &[game(7, &["x"])]);
        assert!(hours.lacks(&hour));
        assert_eq!(hours.counts, 0);
    }

    #[test]
    fn memory_is_bounded_and_the_latest_hours_are_kept() {
        let mut hours = Hours::default();
        let crowd = |hour: i64| -> Vec<PlayerKey> {
            (0..100_000)
                .map(|number| human(&format!("{hour}x{number}")))
                .collect()
        };
        for hour in 0..13 {
            assert_eq!(hours.count("a", &[(hour, crowd(hour))]), Ok(()));
        }
        let kept: usize = hours.hours.values().map(|own| own.humans.len()).sum();
        assert_eq!((hours.counts, kept), (MOST_COUNTS, MOST_COUNTS));
        assert!(hours.lacks(&("a".to_owned(), 2)) && !hours.lacks(&("a".to_owned(), 3)));
    }

    #[test]
    fn an_hour_with_more_humans_than_are_kept_is_not_read_again() {
        let mut hours = Hours::default();
        let hour = ("a".to_owned(), 7);
        let crowd = (0..1_000_100).map(|number| (human(&number.to_string()), 29));
        hours.load(hour.clone(), crowd);
        assert_eq!(hours.counts, MOST_COUNTS);
        for _ in 0..2 {
            assert_eq!(hours.count("a", &[game(7, &["1000050"])]), Ok(()));
            assert!(!hours.lacks(&hour));
        }
        assert_eq!(hours.count("a", &[game(7, &["5"])]), Ok(()));
        assert!(hours.count("a", &[game(7, &["5"])]).is_err());
        assert_eq!(
            hours.count("a", &[game(8, &["new"])]),
            Ok(()),
            "the other hour is older now"
        );
        assert!(hours.lacks(&hour) && hours.counts == 1);
    }
}
