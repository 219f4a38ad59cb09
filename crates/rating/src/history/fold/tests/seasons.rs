//! What a new season leaves.

use super::*;

#[test]
fn a_season_brings_everyone_nearer_to_a_newcomer() {
    let matches: Vec<MatchRecord> = (1..=9).map(|i| duel(200_000 * i, [5.0, 1.0])).collect();
    for system in [
        SystemName::Joint,
        SystemName::TrueSkill,
        SystemName::Presence,
    ] {
        let spread = |seasons: Vec<Timestamp>| {
            let settings = Settings {
                seasons,
                season_keeps: Share::of(0.3),
                ..settings(system)
            };
            let mut fold = Fold::new(&rulebook(), settings);
            for record in &matches {
                fold.push(record, Fingerprint::of(record)).unwrap();
            }
            let ruleset = rulebook().ruleset::<&str>("ctf", &[]);
            let teams = ["a", "b"].map(|id| {
                let (kind, id) = (Kind::Human, id.into());
                vec![PlayerKey { kind, id }.into()]
            });
            fold.chances(&ruleset, "other", &teams)[0]
        };
        let (without, with) = (spread(vec![]), spread(vec![matches[8].end]));
        assert!(without > with && with > 0.5, "{system}: {without} {with}");
    }
}

#[test]
fn a_season_that_has_begun_is_that_of_the_next_match() {
    let matches: Vec<MatchRecord> = (1..=9).map(|i| duel(200_000 * i, [5.0, 1.0])).collect();
    let start = Timestamp(matches[8].start.0);
    let settings = Settings {
        seasons: vec![start],
        season_keeps: Share::of(0.5),
        ..settings(SystemName::Elo)
    };
    let mut fold = Fold::new(&rulebook(), settings);
    for record in &matches[..8] {
        fold.push(record, Fingerprint::of(record)).unwrap();
    }
    let strengths = |fold: &Fold| fold.weights().map(|w| w.strength).collect::<Vec<f64>>();
    let before = strengths(&fold);
    assert_eq!(fold.next_season(), Some(start));
    let mut later = fold.clone();
    later.begin_seasons(Timestamp(start.0 - 1));
    assert_eq!(strengths(&later), before);
    later.begin_seasons(start);
    // A half of the distance of each is kept, once.
    let halves: Vec<f64> = before.iter().map(|strength| strength * 0.5).collect();
    assert_eq!(strengths(&later), halves);
    assert_eq!(later.next_season(), None);
    for fold in [&mut fold, &mut later] {
        fold.push(&matches[8], Fingerprint::of(&matches[8]))
            .unwrap();
    }
    assert_eq!(strengths(&later), strengths(&fold));
}
