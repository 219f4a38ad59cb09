//! The numbers of `docs/explanation/ratings.md` are those of the program.

use std::{fs, path::Path};

use evenkeel::{
    model::{Kind, MatchRecord, Rulebook, Ruleset, fingerprint::Fingerprint},
    rating,
    rating::history::{Fold, Settings},
};

use crate::common::{game, player};

const MILLIS: u64 = 20 * 60_000;

/// The page, with single spaces.
fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/explanation/ratings.md");
    let text = fs::read_to_string(path).unwrap();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Teams of this size that always stay together, and exchange sides after each match.
struct Rivals {
    fold: Fold,
    rulebook: Rulebook,
    size: usize,
    minute: i64,
}

impl Rivals {
    fn new(size: usize) -> Self {
        let rulebook = Rulebook::new(&crate::common::config("").rulebook()).unwrap();
        Self {
            fold: Fold::new(&rulebook, Settings::default()),
            rulebook,
            size,
            minute: 0,
        }
    }

    /// A match of twenty minutes that team `a` wins or loses 3:1.
    fn play(&mut self, mutators: &[&str], won: bool) {
        let side = (self.minute / 30 % 2) as u8;
        self.minute += 30;
        let mut record = game(self.minute, &[], &[], [0.0, 0.0]);
        record.end = record.start.plus_millis(MILLIS as i64);
        record.mutators = mutators.iter().map(|name| (*name).to_owned()).collect();
        record.events = Vec::new();
        let scores = [3.0, 1.0];
        let ahead = usize::from(side) ^ usize::from(!won);
        record.scores = vec![scores[ahead], scores[1 - ahead]];
        record.outcome = MatchRecord::outcome_of(&record.scores);
        for (team, name) in [(side, 'a'), (1 - side, 'b')] {
            for number in 0..self.size {
                let one = player(Kind::Human, &format!("{name}{number}"), team, MILLIS);
                record.participants.push(one);
            }
        }
        let ruling = self.fold.push(&record, Fingerprint::of(&record)).unwrap();
        assert!(ruling.rated.is_ok(), "{:?}", ruling.rated);
    }

    fn ruleset(&self, mutators: &[&str]) -> Ruleset {
        self.rulebook.ruleset("ctf", mutators)
    }

    /// The weight of a player of team `a` in a ruleset, to a tenth.
    fn weight(&self, mutators: &[&str]) -> String {
        let ruleset = self.ruleset(mutators);
        let known = self.fold.best_weight(&ruleset, Kind::Human, "a0");
        format!("{:.1}", known.unwrap().0.weight)
    }
}

#[test]
fn the_table_of_wins_in_a_row() {
    let mut rows = [
        vec!["one win".to_owned()],
        vec!["ten wins in a row".to_owned()],
        vec!["ten wins in a row, then a defeat".to_owned()],
    ];
    for size in [1, 2, 4, 8] {
        let mut rivals = Rivals::new(size);
        rivals.play(&[], true);
        rows[0].push(rivals.weight(&[]));
        (1..10).for_each(|_| rivals.play(&[], true));
        rows[1].push(rivals.weight(&[]));
        rivals.play(&[], false);
        rows[2].push(rivals.weight(&[]));
    }
    let page = page();
    for row in rows {
        let row = format!("| {} |", row.join(" | "));
        assert!(
            page.contains(&row),
            "docs/explanation/ratings.md lacks {row}"
        );
    }
}

#[test]
fn what_ten_points_are_worth() {
    let chance = rating::worth(&rating::Settings::default(), 10.0).unwrap();
    let said = format!("a team wins {:.1} % of its matches", 100.0 * chance);
    assert!(
        page().contains(&said),
        "docs/explanation/ratings.md lacks: {said}"
    );
}

#[test]
fn what_a_victory_in_another_ruleset_says() {
    let mut fresh = Rivals::new(2);
    fresh.play(&[], true);
    let mut known = Rivals::new(2);
    known.play(&["instagib"], true);
    let start = known.weight(&[]);
    known.play(&[], true);
    let said = format!(
        "A player who wins a first match 3:1 in two against two is at {} with the default system. With a victory in one InstaGib match \
         before it, the player starts at {start} and is then at {}.",
        fresh.weight(&[]),
        known.weight(&[])
    );
    assert!(
        page().contains(&said),
        "docs/explanation/ratings.md lacks: {said}"
    );
}
