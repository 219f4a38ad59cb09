//! The scores of the sides, followed through exchanges of sides.

use crate::event::TEAMS;

/// The scores of both sides, which the log states one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct BothScores([Option<f64>; 2]);

impl BothScores {
    /// Takes the score of a side, and returns those of both once they are known.
    pub(super) fn state(&mut self, side: u8, total: f64) -> Option<[f64; 2]> {
        *self.0.get_mut(usize::from(side))? = Some(total);
        Some([self.0[0]?, self.0[1]?])
    }
}

/// The scores of the sides as the log states them, and the scores of the people who are on them.
///
/// After an exchange of sides most games carry the scores along with the people. Where the sides keep
/// their scores, or begin at 0 again, what the log states next shows it.
#[derive(Clone, Debug, Default)]
pub struct SideTotals {
    /// What the log stated last.
    stated: [f64; TEAMS],
    /// The scores of the people on each side.
    people: [f64; TEAMS],
    /// What to add to a stated score.
    offset: [f64; TEAMS],
    /// After an exchange: the scores stated since, until those of both sides are known.
    since: Option<BothScores>,
}

impl SideTotals {
    /// The last stated score of a side.
    pub(super) fn stated(&self, team: u8) -> f64 {
        let stated = self.stated.get(usize::from(team));
        stated.copied().unwrap_or(0.0)
    }

    /// The scores of the people on each side, as far as they are known.
    pub(super) fn people(&self) -> [f64; TEAMS] {
        self.people
    }

    /// The people exchange their sides.
    pub fn exchange(&mut self) {
        // If no score was stated since the last exchange, this one takes it back.
        self.since = match self.since {
            None => Some(BothScores::default()),
            Some(_) => None,
        };
        self.people.swap(0, 1);
    }

    /// Takes a stated score, and returns by how much the scores of the people on each side changed.
    pub fn state(&mut self, team: u8, total: f64) -> Vec<(u8, f64)> {
        if let Some(since) = self.since.as_mut().filter(|_| team < 2) {
            let Some([one, two]) = since.state(team, total) else {
                return Vec::new();
            };
            self.since = None;
            self.decide([one, two]);
            let changes = [self.apply(0, one), self.apply(1, two)];
            return changes.into_iter().flatten().collect();
        }
        self.apply(team, total).into_iter().collect()
    }

    /// Converts the final scores of the sides, in the order in which the log names them, to those of
    /// the people on them.
    pub fn finals(&mut self, finals: &mut [(u8, f64)]) {
        let score = |finals: &[(u8, f64)], side| {
            let mut found = finals.iter().filter(|(team, _)| *team == side);
            found.next_back().map(|&(_, score)| score)
        };
        if self.since.take().is_some()
            && let (Some(one), Some(two)) = (score(finals, 0), score(finals, 1))
        {
            self.decide([one, two]);
        }
        for (team, score) in finals {
            *score += self.offset.get(usize::from(*team)).copied().unwrap_or(0.0);
        }
    }

    /// The last scores of the people on each side, if these final ones are 0:0 though there were others, as at the end of
    /// some matches of stopwatch.
    pub fn lost(&self, finals: &[(u8, f64)]) -> Option<[f64; TEAMS]> {
        let lost = finals.iter().all(|(_, score)| *score == 0.0)
            && self.people.iter().any(|score| *score > 0.0);
        lost.then_some(self.people)
    }

    /// Decides what an exchange meant for the stated scores, by the next ones.
    fn decide(&mut self, next: [f64; 2]) {
        let [one, two] = [self.stated[0], self.stated[1]];
        if next[0] >= two && next[1] >= one {
            self.stated.swap(0, 1);
            self.offset.swap(0, 1);
        } else {
            let kept = next[0] >= one && next[1] >= two;
            for side in 0..2 {
                let from = if kept { self.stated[side] } else { 0.0 };
                self.offset[side] = self.people[side] - from;
            }
        }
    }

    fn apply(&mut self, team: u8, total: f64) -> Option<(u8, f64)> {
        let index = usize::from(team);
        let now = total + self.offset.get(index)?;
        self.stated[index] = total;
        let change = now - std::mem::replace(&mut self.people[index], now);
        (change != 0.0).then_some((team, change))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The scores of the people after these statements; `x` is an exchange of sides.
    fn people(statements: &[&str]) -> [f64; 2] {
        let mut totals = SideTotals::default();
        for statement in statements {
            match statement.split_once(':') {
                None => totals.exchange(),
                Some((one, two)) => {
                    totals.state(0, one.parse().unwrap());
                    totals.state(1, two.parse().unwrap());
                }
            }
        }
        [totals.people[0], totals.people[1]]
    }

    #[test]
    fn scores_follow_the_people() {
        assert_eq!(people(&["15:0", "x", "1:15", "1:16"]), [1.0, 16.0]);
        // The sides keep their scores: 9 and 6 in the first half, 1 and 2 in the second.
        assert_eq!(people(&["9:6", "x", "10:6", "10:8"]), [7.0, 11.0]);
        // Each half begins at 0.
        assert_eq!(people(&["9:6", "x", "1:0", "1:2"]), [7.0, 11.0]);
        assert_eq!(people(&["3:1", "x", "x", "3:2"]), [3.0, 2.0]);
    }

    #[test]
    fn final_scores_after_an_exchange() {
        let mut totals = SideTotals::default();
        totals.state(1, 4.0);
        totals.exchange();
        let mut finals = [(0, 4.0), (1, 0.0)];
        totals.finals(&mut finals);
        assert_eq!(finals, [(0, 4.0), (1, 0.0)]);
        let mut finals = [(0, 1.0), (1, 2.0)];
        let mut totals = SideTotals::default();
        totals.state(0, 5.0);
        totals.exchange();
        totals.finals(&mut finals);
        assert_eq!(finals, [(0, 1.0), (1, 7.0)]);
    }
}
