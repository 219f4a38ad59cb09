//! What makes the judge a fair one: it sees later matches alone, it is cross-validated, and no side is learned where a team
//! number means nothing.

use evenkeel::model::{MatchRecord, Outcome};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use super::common::{
    judge::{Game, Judge},
    lobbies::{History, Lobby},
};

/// Matches of four against four out of twelve players, of whom those with the lower numbers are stronger. The first team
/// wins the more often, the stronger it is and the more its side is `worth`.
fn matches(count: usize, worth: f64) -> Vec<MatchRecord> {
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let line = |at: usize| {
        let mut order: Vec<usize> = (0..12).collect();
        for place in 0..8 {
            let other = random.random_range(place..12);
            order.swap(place, other);
        }
        let sum = |places: std::ops::Range<usize>| {
            order[places].iter().map(|n| 6.0 - *n as f64).sum::<f64>()
        };
        let chance = 1.0 / (1.0 + (-0.4 * (sum(0..4) - sum(4..8)) - worth).exp());
        let winner = usize::from(!random.random_bool(chance));
        let team = |places: std::ops::Range<usize>| {
            let ids = order[places].iter().map(|player| format!(r#""p{player}""#));
            ids.collect::<Vec<_>>().join(",")
        };
        let (one, other, won) = (team(0..4), team(4..8), 1 - winner);
        let time = 1_700_000_000 + 1_000 * at;
        format!(
            r#"{{"t":{time},"game":"test","mode":"x","map":null,"teams":[[{one}],[{other}]],"w":null,"role":null,"score":null,"y":{won}}}"#
        )
    };
    let lines: Vec<String> = (0..count).map(line).collect();
    let folder = tempfile::TempDir::with_prefix("evenkeel-").unwrap();
    let file = folder.path().join("history.jsonl");
    std::fs::write(&file, lines.join("\n")).unwrap();
    let matches = evenkeel::logs::read_matches(&file, &mut |_| ()).unwrap();
    assert_eq!(matches.len(), count);
    matches
}

/// What the judges say of the lobbies as they were played.
fn chances(history: &History, lobbies: &[Lobby]) -> Vec<f64> {
    let judges = history.later_judges(lobbies);
    let chance = |lobby: &Lobby| {
        let opinion = judges[&lobby.block].of(lobby.players.iter().map(|(id, _)| id.as_str()));
        opinion.chance(&lobby.played())
    };
    lobbies.iter().map(chance).collect()
}

/// With other results of all matches up to the last lobby of a part, the judge of that part says the same; with other
/// results of later ones, it does not.
#[test]
fn it_sees_later_matches_alone() {
    let records = matches(400, 0.0);
    let history = History::new(records.clone(), true);
    let lobbies = history.lobbies(400);
    assert!(lobbies.len() > 100, "{}", lobbies.len());
    let first_part: Vec<Lobby> = lobbies
        .iter()
        .filter(|l| l.block == lobbies[0].block)
        .cloned()
        .collect();
    let last = first_part.last().unwrap().at;
    let flipped = |from: usize, to: usize| {
        let mut records = records.clone();
        for record in &mut records[from..to] {
            record.outcome = match record.outcome {
                Outcome::Won(winner) => Outcome::Won(1 - winner),
                _ => panic!("somebody has won"),
            };
        }
        chances(&History::new(records, true), &first_part)
    };
    let said = chances(&history, &first_part);
    assert_eq!(flipped(0, last + 1), said);
    assert_ne!(flipped(last + 1, last + 2), said);
    // Both kinds of judges see the same.
    let both = history.judges(&first_part);
    let ids = || first_part[0].players.iter().map(|(id, _)| id.as_str());
    let later = both[&first_part[0].block].later.of(ids());
    assert_eq!(later.chance(&first_part[0].played()), said[0]);
}

/// Results that are a coin's make it shrink all strengths as much as it can; results that strengths decide make it shrink
/// them less. So it learns from games of which nothing can be learned nothing, and it finds out by leaving games out.
#[test]
fn it_is_cross_validated() {
    let seat = |player: usize| (format!("p{player}"), 1.0);
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut games = |decided: bool| -> Vec<Game> {
        let game = |_| {
            let one = random.random_range(0..10);
            let other = (one + random.random_range(1..10)) % 10;
            let coin = random.random_bool(0.5);
            Game {
                teams: [vec![seat(one)], vec![seat(other)]],
                won: Some(if decided { one < other } else { coin }),
            }
        };
        (0..300).map(game).collect()
    };
    let of_coins = Judge::fit(&games(false), false);
    let of_strengths = Judge::fit(&games(true), false);
    assert_eq!(of_coins.penalty(), 32.0);
    assert_eq!(of_strengths.penalty(), 0.5);
    let of = |judge: &Judge| judge.of(["p0", "p9"].into_iter()).chance(&[0, 1]);
    assert!(of(&of_strengths) > 0.95);
    assert!((of(&of_coins) - 0.5).abs() < 0.1);
}

/// Where the first team wins nine of ten matches of equals: as a side, it counts; where a number means nothing, teams are
/// exchanged, half of them, and the judge knows no side.
#[test]
fn teams_are_exchanged_where_a_number_means_nothing() {
    let records = matches(400, 5.0);
    let won = |history: &History| {
        history
            .games
            .iter()
            .filter(|game| game.won == Some(true))
            .count()
    };
    let strangers = |history: &History| {
        let judge = Judge::fit(&history.games, history.sides);
        judge.of(["unknown", "nobody"].into_iter()).chance(&[0, 1])
    };
    let sides = History::new(records.clone(), true);
    assert!(won(&sides) > 280, "{}", won(&sides));
    assert!(strangers(&sides) > 0.7, "{}", strangers(&sides));
    let numbers = History::new(records.clone(), false);
    assert!((160..240).contains(&won(&numbers)), "{}", won(&numbers));
    assert_eq!(strangers(&numbers), 0.5);
    let exchanged = records
        .iter()
        .zip(&numbers.matches)
        .filter(|(one, other)| one != other);
    assert!((160..240).contains(&exchanged.count()));
}
