//! What games of other rulesets say: a prior, which a player's own games replace.

use super::*;

/// Of a match: the ruleset, the players in drawn order, the players of a team, and who wins.
type Drawn = (usize, Vec<usize>, usize, bool);

/// A game type, the same with a mutator, and another game type.
const RULESETS: [(&str, &[&str]); 3] = [("ctf", &[]), ("ctf", &["insta"]), ("tdm", &[])];

fn ruleset_of(number: usize) -> Ruleset {
    let (game_type, mutators) = RULESETS[number];
    rulebook().ruleset(game_type, mutators)
}

/// A match under one of [`RULESETS`] of which only the winner is known.
fn decided(number: usize, ruleset: usize, teams: [&[String]; 2], won: u8) -> MatchRecord {
    let people = teams.iter().zip(0..).flat_map(|(team, t)| {
        let ids = team.iter();
        ids.map(move |id| someone(Kind::Human, id, vec![stay(t, 0, 100_000)]))
    });
    let end = 200_000 * i64::try_from(number + 1).unwrap();
    let mut record = game(end, &[0.0, 0.0], people.collect());
    record.outcome = Outcome::Won(won);
    record.game_type = RULESETS[ruleset].0.into();
    record.mutators = RULESETS[ruleset].1.iter().map(|m| (*m).into()).collect();
    record
}

fn ids(players: &[usize]) -> Vec<String> {
    players.iter().map(|player| format!("p{player}")).collect()
}

fn history_of(drawn: &[Drawn]) -> Vec<MatchRecord> {
    let one = |(number, (ruleset, order, size, first)): (usize, &Drawn)| {
        let teams = [ids(&order[..*size]), ids(&order[*size..2 * size])];
        decided(number, *ruleset, [&teams[0], &teams[1]], u8::from(!first))
    };
    drawn.iter().enumerate().map(one).collect()
}

fn any_drawn() -> impl Strategy<Value = Vec<Drawn>> {
    let order = Just((0..12).collect::<Vec<usize>>()).prop_shuffle();
    let one = (0..RULESETS.len(), order, 2..=4_usize, any::<bool>());
    prop::collection::vec(one, 1..40)
}

/// The weights in use under a ruleset, by id, and the level from which each comes.
fn in_use(fold: &Fold, ruleset: &Ruleset) -> BTreeMap<String, (f64, Level)> {
    let best = best_weights(fold, ruleset).into_iter();
    best.map(|(weight, level)| (weight.key.id.clone(), (weight.weight, level)))
        .collect()
}

/// Checks for each player's first match under a ruleset that the weight in use does not move against its result.
/// Returns the number of checked players, and of those whose weight moved.
fn first_matches(system: SystemName, matches: &[MatchRecord]) -> (usize, usize) {
    let (mut checked, mut moved) = (0, 0);
    let mut fold = Fold::new(rulebook(), settings(system));
    for record in matches {
        let ruleset = rulebook().ruleset(&record.game_type, &record.mutators);
        let before = in_use(&fold, &ruleset);
        fold.push(record, Fingerprint::of(record)).unwrap();
        let after = in_use(&fold, &ruleset);
        for participant in &record.participants {
            let id = &participant.key.id;
            let (Some(&(was, level)), Some(&(is, _))) = (before.get(id), after.get(id)) else {
                continue;
            };
            if level == Level::Ruleset {
                continue;
            }
            let won = record.outcome == Outcome::Won(participant.presence[0].team);
            let gain = if won { is - was } else { was - is };
            assert!(
                gain >= -1e-9,
                "{system} {ruleset} {id} {level:?}: {was} {is}"
            );
            checked += 1;
            moved += usize::from(gain > 1e-3);
        }
    }
    (checked, moved)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn an_own_match_never_moves_a_weight_from_elsewhere_against_its_result(drawn in any_drawn()) {
        let matches = history_of(&drawn);
        for system in SystemName::ALL {
            let (checked, moved) = first_matches(system, &matches);
            // A scoreboard without points shows nothing. Nobody gets above 100 or below 0. An account that goes on from
            // fewer mutators may stand where the result was expected.
            prop_assert!(moved * 4 >= checked, "{system}: {moved} of {checked}");
        }
    }

    #[test]
    fn priors_are_in_checkpoints(drawn in any_drawn(), k in any::<prop::sample::Index>()) {
        let matches = history_of(&drawn);
        let k = k.index(matches.len() + 1);
        for system in SystemName::ALL {
            with_and_without_a_checkpoint(system, &matches, k);
        }
    }
}

/// A long history of twelve players who win by chance.
fn long(matches: usize) -> Vec<MatchRecord> {
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let one = |number: usize| {
        let ruleset = number * number % 7 % RULESETS.len();
        let mut order: Vec<usize> = (number / 8..number / 8 + 12).collect();
        order.shuffle(&mut random);
        (ruleset, order, 4, random.random_bool(0.5))
    };
    let drawn: Vec<Drawn> = (0..matches).map(one).collect();
    history_of(&drawn)
}

#[test]
fn newcomers_of_a_long_history_move_with_their_results() {
    let matches = long(400);
    for system in SystemName::ALL {
        let (checked, _) = first_matches(system, &matches);
        assert!(
            system == SystemName::Scoreboard || checked > 50,
            "{system}: {checked}"
        );
    }
}

#[test]
fn matches_of_other_rulesets_change_no_weight_that_is_known() {
    let matches = long(120);
    for system in SystemName::ALL {
        let mut fold = Fold::new(rulebook(), settings(system));
        for record in &matches {
            let own = rulebook().ruleset(&record.game_type, &record.mutators);
            let others = || (0..RULESETS.len()).map(ruleset_of).filter(|r| *r != own);
            let weights = |fold: &Fold| -> Vec<(Ruleset, PlayerKey, u64)> {
                let of = |ruleset: Ruleset| {
                    let weights = fold.weights_on(&ruleset, Level::Ruleset);
                    let bits =
                        weights.map(|w| (w.ruleset.clone(), w.key.clone(), w.weight.to_bits()));
                    bits.collect::<Vec<_>>()
                };
                others().flat_map(of).collect()
            };
            let before = weights(&fold);
            fold.push(record, Fingerprint::of(record)).unwrap();
            assert_eq!(weights(&fold), before, "{system}");
        }
    }
}

#[test]
fn predictions_and_teams_count_the_same_priors() {
    let matches = long(60);
    let lineup = [0, 1].map(|team| {
        let key = |n: usize| someone(Kind::Human, &format!("p{}", team + 2 * n), vec![]).key;
        (0..6).map(|n| key(n).into()).collect::<Vec<LineupPlayer>>()
    });
    for system in SystemName::ALL {
        let fold = folded_by(system, &matches);
        let new = rulebook().ruleset::<&str>("dom", &[]);
        for ruleset in (0..RULESETS.len()).map(ruleset_of).chain([new]) {
            let best = best_weights(&fold, &ruleset);
            let strength = |player: &LineupPlayer| {
                let known = best.iter().find(|(weight, _)| *weight.key == player.key);
                known.map_or(0.0, |(weight, _)| weight.strength)
            };
            let sums = lineup
                .each_ref()
                .map(|team| team.iter().map(strength).sum::<f64>());
            let reading = fold.reading(&ruleset, "m", &lineup).unwrap();
            for (sum, read) in sums.iter().zip(reading.strengths) {
                assert!(
                    (sum - read).abs() < 1e-9,
                    "{system} {ruleset}: {sum} {read}"
                );
            }
        }
    }
}

/// The weight in use of p0 under a ruleset; 50 if there is none.
fn weight_of_p0(fold: &Fold, ruleset: usize) -> f64 {
    let weights = in_use(fold, &ruleset_of(ruleset));
    weights.get("p0").map_or(50.0, |(weight, _)| *weight)
}

/// A 3:1 victory of p0 and p1, or of the other two.
fn two_by_two(number: usize, ruleset: usize, first: bool) -> MatchRecord {
    let teams = [ids(&[0, 1]), ids(&[2, 3])];
    let mut record = decided(number, ruleset, [&teams[0], &teams[1]], u8::from(!first));
    record.scores = if first {
        vec![3.0, 1.0]
    } else {
        vec![1.0, 3.0]
    };
    record
}

const ORDINARY: usize = 0;
const INSTA: usize = 1;

#[test]
fn one_instagib_victory_changes_the_first_ordinary_one_by_little() {
    let alone = folded_by(SystemName::Joint, [&two_by_two(1, ORDINARY, true)]);
    let insta = two_by_two(0, INSTA, true);
    let guess = folded_by(SystemName::Joint, [&insta]);
    let both = folded_by(SystemName::Joint, [&insta, &two_by_two(1, ORDINARY, true)]);
    let elsewhere = weight_of_p0(&guess, INSTA) - 50.0;
    let guess = weight_of_p0(&guess, ORDINARY) - 50.0;
    let (alone, both) = (weight_of_p0(&alone, 0), weight_of_p0(&both, 0));
    assert!(
        (guess - PART_FROM_ELSEWHERE * elsewhere).abs() < 1e-9,
        "{guess} {elsewhere}"
    );
    assert!(both > 50.0 + guess, "it is a victory");
    assert!(
        alone < both && both < alone + guess,
        "{alone} {both} {guess}"
    );
}

#[test]
fn the_only_ordinary_match_counts_though_thirty_elsewhere_were_won() {
    let mut matches: Vec<_> = (0..30).map(|n| two_by_two(n, INSTA, true)).collect();
    for system in SystemName::ALL {
        let before = folded_by(system, &matches);
        matches.push(two_by_two(30, ORDINARY, false));
        let after = folded_by(system, &matches);
        matches.pop();
        let (was, is) = (
            weight_of_p0(&before, ORDINARY),
            weight_of_p0(&after, ORDINARY),
        );
        let is_silent = system == SystemName::Scoreboard; // there are no points of players
        assert!(
            is_silent || was > 50.5 && is < was - 0.1,
            "{system}: {was} {is}"
        );
        // With fewer mutators, all of it counts.
        let mut other: Vec<_> = (0..30).map(|n| two_by_two(n, ORDINARY, true)).collect();
        let full = weight_of_p0(&folded_by(system, &other), INSTA);
        assert!(
            is_silent || (full - 50.0) > 1.5 * (was - 50.0),
            "{system}: {full} {was}"
        );
        other.push(two_by_two(30, INSTA, false));
        let less = weight_of_p0(&folded_by(system, &other), INSTA);
        assert!(is_silent || less < full, "{system}: {full} {less}");
    }
}

#[test]
fn a_prior_follows_until_the_first_own_match() {
    let mut matches = vec![two_by_two(0, ORDINARY, true)];
    for p in &mut matches[0].participants {
        p.key.id = format!("other {}", p.key.id);
    }
    for system in [SystemName::Joint, SystemName::Elo, SystemName::HiveHistory] {
        let mut fold = folded_by(system, &matches);
        let mut guess = 50.0;
        for number in 1..9 {
            let record = two_by_two(number, INSTA, true);
            fold.push(&record, Fingerprint::of(&record)).unwrap();
            let now = weight_of_p0(&fold, ORDINARY);
            assert!(now > guess, "{system}: {now} {guess}");
            guess = now;
        }
        let own = two_by_two(9, ORDINARY, false);
        fold.push(&own, Fingerprint::of(&own)).unwrap();
        let own = weight_of_p0(&fold, ORDINARY);
        let again = two_by_two(10, INSTA, true);
        fold.push(&again, Fingerprint::of(&again)).unwrap();
        assert!(
            own < guess && weight_of_p0(&fold, ORDINARY) == own,
            "{system}"
        );
    }
}

/// Two against two in both game types by turns, then somebody who has won thirty games of one of them. `same` is
/// whether who is strong in one is strong in the other.
fn in_both(same: bool) -> Vec<MatchRecord> {
    use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng, seq::SliceRandom};
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut matches = Vec::new();
    for group in 0..30 {
        for number in 0..30 {
            let ruleset = if number < 18 { 2 } else { ORDINARY };
            let mut order: Vec<usize> = (0..8).collect();
            order.shuffle(&mut random);
            // Odd players are strong; under the other rules, those whose half is odd.
            let strong = |p: &usize| match ruleset == ORDINARY && !same {
                true => p / 2 % 2,
                false => p % 2,
            };
            let sum = |team: &[usize]| team.iter().map(strong).sum::<usize>() as f64;
            let edge = sum(&order[..4]) - sum(&order[4..]);
            let players: Vec<usize> = order.iter().map(|p| 8 + 8 * group + p).collect();
            let teams = [ids(&players[..4]), ids(&players[4..])];
            let won = random.random_bool(rating::normal::cdf(edge));
            matches.push(decided(
                matches.len(),
                ruleset,
                [&teams[0], &teams[1]],
                u8::from(!won),
            ));
        }
    }
    matches.extend((0..10).map(|n| two_by_two(900 + n, 2, true)));
    matches
}

#[test]
fn it_is_learned_how_much_one_ruleset_says_about_another() {
    for system in [SystemName::TrueSkill, SystemName::Elo, SystemName::Joint] {
        let part = |same| {
            let fold = folded_by(system, &in_both(same));
            let there = weight_of_p0(&fold, 2) - 50.0;
            (weight_of_p0(&fold, ORDINARY) - 50.0) / there
        };
        let (much, little) = (part(true), part(false));
        assert!(much > 0.6 && little < 0.4, "{system}: {much} {little}");
    }
}

#[test]
fn a_start_weight_stays_in_what_other_rulesets_say() {
    let key = someone(Kind::Human, "p0", vec![]).key;
    let start = StartWeight {
        weight: 70.0,
        uncertain: false,
    };
    for system in SystemName::ALL {
        let starts: BTreeMap<_, _> = [(key.clone(), start)].into();
        let mut fold = Fold::new(rulebook(), settings(system)).with_starts(starts);
        let first = two_by_two(0, INSTA, true);
        fold.push(&first, Fingerprint::of(&first)).unwrap();
        let (there, here) = (weight_of_p0(&fold, INSTA), weight_of_p0(&fold, ORDINARY));
        let half = 70.0 + PART_FROM_ELSEWHERE * (there - 70.0);
        assert!((here - half).abs() < 1e-6, "{system}: {there} {here}");
    }
}
