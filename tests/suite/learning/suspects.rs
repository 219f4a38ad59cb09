//! `player suspects`: another account of a strong player is found, and honest newcomers are not.

use std::collections::BTreeSet;

use evenkeel::{
    model::{Kind::Human, MatchRecord, Rulebook, fingerprint::Fingerprint},
    rating,
    rating::history::{Fold, Settings},
};

use crate::common::{config, draw::Draw, game, process::evenkeel, service};

/// A season of four against four: regulars who play all the time, and newcomers of whom each plays only a
/// few matches. One unit of mean strength decides a match about as a normal deviation of 1 does.
struct World {
    draw: Draw,
    /// The strength of each player, by id.
    strengths: Vec<(String, f64)>,
    matches: Vec<MatchRecord>,
}

impl World {
    fn new(seed: u64, regulars: usize) -> Self {
        let mut draw = Draw(seed);
        let strengths = (0..regulars)
            .map(|i| (format!("r{i}"), normal(&mut draw)))
            .collect();
        Self {
            draw,
            strengths,
            matches: Vec::new(),
        }
    }

    /// One match of these players, filled up with regulars.
    fn play(&mut self, with: Option<(String, f64)>) {
        let mut pool: Vec<(String, f64)> = self.strengths.clone();
        self.draw.shuffle(&mut pool);
        pool.truncate(8 - usize::from(with.is_some()));
        pool.extend(with);
        self.draw.shuffle(&mut pool);
        let mean = |team: &[(String, f64)]| team.iter().map(|(_, s)| s).sum::<f64>() / 4.0;
        let ahead = 2.0 * (mean(&pool[..4]) - mean(&pool[4..])) + normal(&mut self.draw);
        let ids: Vec<_> = pool.iter().map(|(id, _)| (Human, id.as_str())).collect();
        let margin = (3.0 * ahead.abs()).ceil().clamp(1.0, 9.0);
        let scores = if ahead > 0.0 {
            [margin, 0.0]
        } else {
            [0.0, margin]
        };
        let minute = 20 * self.matches.len() as i64;
        self.matches
            .push(game(minute, &ids[..4], &ids[4..], scores));
    }

    /// `matches` matches of a newcomer of this strength.
    fn visit(&mut self, id: &str, strength: f64, matches: usize) {
        (0..matches).for_each(|_| self.play(Some((id.to_owned(), strength))));
    }
}

/// A normal deviate: the sum of twelve uniform ones.
fn normal(draw: &mut Draw) -> f64 {
    (0..12).map(|_| draw.unit()).sum::<f64>() - 6.0
}

/// The listed players of a season.
fn listed(matches: &[MatchRecord]) -> BTreeSet<String> {
    let rulebook = Rulebook::new(&config("").rulebook()).unwrap();
    let settings = Settings {
        sides: false,
        ..Settings::from(rating::Settings::default())
    };
    let mut fold = Fold::new(&rulebook, settings);
    for record in matches {
        fold.push(record, Fingerprint::of(record)).unwrap();
    }
    let ruleset = fold.rulesets().next().unwrap();
    let suspects = fold.suspects(ruleset);
    assert!(suspects.is_sorted_by(|a, b| a.statistic >= b.statistic));
    suspects.into_iter().map(|suspect| suspect.key.id).collect()
}

/// The share of honest newcomers, drawn as the regulars are, who are listed, and that of visitors who are
/// three deviations above the mean; documented in docs/how-to/players.md.
#[test]
fn honest_newcomers_are_hardly_ever_listed_and_second_accounts_often() {
    let (mut honest, mut wrong, mut strong, mut found) = (0, 0, 0, 0);
    for seed in 1..=4 {
        let mut world = World::new(seed, 24);
        (0..300).for_each(|_| world.play(None));
        for visitor in 0..60 {
            let strength = normal(&mut world.draw);
            world.visit(&format!("n{visitor}"), strength, 12);
        }
        for second in 0..6 {
            world.visit(&format!("s{second}"), 3.0, 12);
        }
        let listed = listed(&world.matches);
        let count = |prefix: char| listed.iter().filter(|id| id.starts_with(prefix)).count();
        assert_eq!(count('r'), 0, "regulars are known");
        (honest, wrong) = (honest + 60, wrong + count('n'));
        (strong, found) = (strong + 6, found + count('s'));
    }
    println!("listed: {wrong} of {honest} honest newcomers, {found} of {strong} second accounts");
    assert!(wrong * 50 <= honest, "{wrong} of {honest}");
    assert!(found * 4 >= strong, "{found} of {strong}");
}

#[tokio::test]
async fn the_command_lists_them_with_the_reason_unless_they_are_known() {
    let (service, folder) = service(&config("")).await;
    let mut world = World::new(9, 24);
    (0..300).for_each(|_| world.play(None));
    for second in 0..4 {
        world.visit(&format!("s{second}"), 5.0, 18);
    }
    for record in &world.matches {
        service.store().matches().record(record).await.unwrap();
    }
    service.learning().refresh().await.unwrap();
    let run = |args: &[&str]| {
        let mut command = evenkeel(folder.path());
        let output = command
            .args(["player"])
            .args(args)
            .args(["--db", "test.db"])
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let table = run(&["suspects"]);
    assert!(
        table.contains("above what newcomers show in 18 matches"),
        "{table}"
    );
    let json: serde_json::Value = serde_json::from_str(&run(&["suspects", "--json"])).unwrap();
    for suspect in json.as_array().unwrap() {
        let id = suspect["id"].as_str().unwrap();
        assert!(id.starts_with('s') && table.contains(id), "{json}");
        assert!(suspect["statistic"].as_f64().unwrap() >= 2.2);
        run(&["pin-weight", id, "90"]);
    }
    let none = run(&["suspects"]);
    assert_eq!(
        none,
        "no player with few matches plays far above a newcomer, and no two clients say that somebody was in matches of both at the same time\n"
    );
}
