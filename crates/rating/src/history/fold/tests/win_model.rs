//! What predictions count: the side, heads, friends, commanders, and the first points of newcomers.

use super::*;

#[test]
fn strengths_and_win_model_find_the_split_whose_chance_is_nearest_to_even() {
    let matches = sided(600);
    // A system whose chance depends on the sum of strengths alone finds it exactly; the noise of
    // joint differs slightly between splits.
    for (system, slack) in [
        (SystemName::TrueSkill, 1e-12),
        (SystemName::Hive, 1e-12),
        (SystemName::Joint, 0.004),
    ] {
        let fold = folded_by(system, &matches);
        let ruleset = rulebook().ruleset::<&str>("ctf", &[]);
        let strengths: BTreeMap<&PlayerKey, f64> = fold
            .weights_on(&ruleset, Level::Ruleset)
            .map(|w| (w.key, w.strength))
            .collect();
        let keys: Vec<&PlayerKey> = strengths.keys().copied().take(8).collect();
        let split = |mask: u32| -> Vec<Vec<LineupPlayer>> {
            let team = |t: u32| {
                let own = (0..).zip(&keys).filter(move |(i, _)| mask >> i & 1 == t);
                own.map(|(_, key)| (*key).clone().into()).collect()
            };
            vec![team(0), team(1)]
        };
        let reading = |mask| fold.reading(&ruleset, "m", &split(mask)).unwrap();
        let win_model = reading(0b0000_1111).win_model;
        let load = |team: &[LineupPlayer]| TeamLoad {
            heads: team.len(),
            strength: team.iter().map(|player| strengths[&player.key]).sum(),
        };
        let edge = |mask| {
            let teams = split(mask);
            win_model.edge(load(&teams[0]), load(&teams[1])) + win_model.side
        };
        let odds = |mask| (fold.chances(&ruleset, "m", &split(mask))[0] - 0.5).abs();
        let splits = || (0..256_u32).filter(|mask| mask.count_ones() == 4);
        let gap = |mask: u32| edge(mask).abs();
        let chosen = splits().min_by(|a, b| gap(*a).total_cmp(&gap(*b))).unwrap();
        let best = splits().map(odds).fold(f64::INFINITY, f64::min);
        assert!(
            odds(chosen) <= best + slack,
            "{system}: {} {best}",
            odds(chosen)
        );
        for mask in splits() {
            let chance = fold.chances(&ruleset, "m", &split(mask))[0];
            let by_win_model = win_model.link.chance(edge(mask));
            assert!(
                (chance - by_win_model).abs() < 0.02,
                "{system}: {chance} {by_win_model}"
            );
            let reading = reading(mask);
            assert!((reading.win_model.link.chance(reading.edge) - chance).abs() < 1e-9);
            assert!((reading.strengths[0] - load(&split(mask)[0]).strength).abs() < 1e-9);
        }
        if system != SystemName::TrueSkill {
            assert!(
                win_model.side > 0.1,
                "{system} knows the side: {win_model:?}"
            );
        }
    }
}

#[test]
fn one_head_more_counts_what_was_learned_of_it() {
    let matches = sided(600);
    let ruleset = rulebook().ruleset::<&str>("ctf", &[]);
    let win_model = |system| {
        let stranger = PlayerKey {
            kind: Kind::Human,
            id: "nobody".into(),
        };
        let teams = [5, 4].map(|size| vec![stranger.clone().into(); size]);
        let reading = folded_by(system, &matches).reading(&ruleset, "m", &teams);
        reading.unwrap().win_model
    };
    assert_eq!(
        win_model(SystemName::Presence).per_head,
        0.0,
        "it compares with 50"
    );
    let hive = win_model(SystemName::Hive);
    assert!(hive.learned_heads(5, 4) > 0.1, "{hive:?}");
    let joint = win_model(SystemName::Joint);
    assert!(
        joint.learned_heads(5, 4) > 0.1,
        "{joint:?}: it learned something"
    );
    let [five, four] = [5, 4].map(|heads| TeamLoad::alike(heads, 0.0));
    assert!(joint.heads(five, four) >= joint.learned_heads(5, 4));
}

/// Two against two out of eight players of equal strength; the pair that is a party wins three of four.
fn with_friends(matches: i64) -> Vec<MatchRecord> {
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let mut one = |number: i64| {
        let mut pool: Vec<u32> = (0..8).collect();
        let mut person = |seat: usize| {
            let id = format!("p{}", pool.swap_remove(random.random_range(0..pool.len())));
            Participant {
                party: (seat < 2).then_some(7),
                ..someone(
                    Kind::Human,
                    &id,
                    vec![stay(u8::from(seat >= 2), 0, 100_000)],
                )
            }
        };
        let people = (0..4).map(&mut person).collect();
        let won = f64::from(u8::from(random.random_bool(0.75)));
        game(200_000 * number, &[won, 1.0 - won], people)
    };
    (1..=matches).map(&mut one).collect()
}

#[test]
fn a_party_counts_in_predictions_what_was_learned_of_friends() {
    let settings = Settings {
        sides: false,
        ..settings(SystemName::Joint)
    };
    let mut fold = Fold::new(&rulebook(), settings);
    for record in with_friends(200) {
        fold.push(&record, Fingerprint::of(&record)).unwrap();
    }
    let ruleset = rulebook().ruleset::<&str>("ctf", &[]);
    let teams = |party: Option<u32>| -> Vec<Vec<LineupPlayer>> {
        let player = |id: String, party| LineupPlayer {
            party,
            ..someone(Kind::Human, &id, vec![]).key.into()
        };
        let team = |from: u32, party| {
            let ids = (from..from + 2).map(|n| format!("p{n}"));
            ids.map(|id| player(id, party)).collect()
        };
        vec![team(0, party), team(2, None)]
    };
    let chance = |party| fold.chances(&ruleset, "m", &teams(party))[0];
    let (alone, together) = (chance(None), chance(Some(3)));
    assert!(together > alone + 0.005, "{alone} {together}");
    // What the strengths differ by, times the edge per strength, is what the edge differs by; the noise
    // differs slightly, too.
    let reading = |party| fold.reading(&ruleset, "m", &teams(party)).unwrap();
    let (alone, together) = (reading(None), reading(Some(3)));
    let added = together.strengths[0] - alone.strengths[0];
    let per_friend = together.win_model.company.per_friend;
    assert!((added - 2.0 * per_friend).abs() < 1e-12);
    let edge = together.win_model.per_strength * added;
    assert!(
        (together.edge - alone.edge - edge).abs() < 0.02 * edge,
        "{edge}"
    );
}

/// Four against four, in groups of eight newcomers who play twelve games; the stronger ones make more
/// points from the first game on.
fn groups_of_newcomers(groups: u32) -> Vec<MatchRecord> {
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};
    let mut random = ChaCha8Rng::seed_from_u64(11);
    let mut one = |number: u32| {
        let mut order: Vec<u32> = (0..8).collect();
        let drawn: Vec<u32> = (0..8)
            .map(|_| order.swap_remove(random.random_range(0..order.len())))
            .collect();
        let sum = |team: &[u32]| team.iter().map(|p| f64::from(*p)).sum::<f64>();
        let edge = (sum(&drawn[..4]) - sum(&drawn[4..])) / 4.0;
        let won = random.random_bool(rating::normal::cdf(edge));
        let person = |(seat, p): (usize, &u32)| Participant {
            points: Some(f64::from(*p)),
            ..someone(
                Kind::Human,
                &format!("g{} p{p}", number / 12),
                vec![stay(u8::from(seat >= 4), 0, 100_000)],
            )
        };
        let scores = [f64::from(u8::from(won)), f64::from(u8::from(!won))];
        let people = drawn.iter().enumerate().map(person).collect();
        game(200_000 * i64::from(number + 1), &scores, people)
    };
    (0..12 * groups).map(&mut one).collect()
}

#[test]
fn newcomers_start_where_their_first_game_points_to_if_there_is_a_variance() {
    let matches = groups_of_newcomers(12);
    let ruleset = rulebook().ruleset::<&str>("ctf", &[]);
    for (system, takes_evidence) in [
        (SystemName::TrueSkill, true),
        (SystemName::Glicko2, true),
        (SystemName::PlackettLuce, true),
        (SystemName::ThurstoneMosteller, true),
        (SystemName::Elo, false),
        (SystemName::Hive, false),
        (SystemName::HiveHistory, false),
        (SystemName::Presence, false),
        (SystemName::Scoreboard, false),
    ] {
        let fold = folded_by(system, &matches);
        assert_eq!(
            !fold.warnings(&ruleset).is_empty(),
            takes_evidence,
            "{system}"
        );
    }
}

#[test]
fn predictions_count_who_will_command() {
    let matches = commanded(300);
    let ruleset = rulebook().ruleset::<&str>("ctf", &[]);
    let lineup = |commands: bool| -> Vec<Vec<LineupPlayer>> {
        let player = |n: u32| LineupPlayer {
            commands: commands && n == 0,
            ..someone(Kind::Human, &format!("p{n}"), vec![]).key.into()
        };
        vec![(0..2).map(player).collect(), (2..4).map(player).collect()]
    };
    for system in [SystemName::Joint, SystemName::Hive] {
        let settings = Settings {
            sides: false,
            ..settings(system)
        };
        let mut fold = Fold::new(&rulebook(), settings);
        for record in &matches {
            fold.push(record, Fingerprint::of(record)).unwrap();
        }
        let (with, without) = (lineup(true), lineup(false));
        let chance = |teams: &[Vec<LineupPlayer>]| fold.chances(&ruleset, "m", teams)[0];
        let (more, less) = (chance(&with), chance(&without));
        assert!(more > less + 0.01, "{system}: {more} {less}");
        // What the strengths differ by is what the edge differs by, the noise of this lineup aside.
        let key = &with[0][0].key;
        let command = fold.command_strength(&ruleset, &with, key).unwrap();
        let reading = |teams: &[Vec<LineupPlayer>]| fold.reading(&ruleset, "m", teams).unwrap();
        let (with, without) = (reading(&with), reading(&without));
        assert!((with.strengths[0] - without.strengths[0] - command).abs() < 1e-9);
        let edge = with.win_model.per_strength * command;
        let differ = with.edge - without.edge;
        assert!(
            (differ - edge).abs() < 0.1 * edge,
            "{system}: {differ} {edge}"
        );
    }
}
