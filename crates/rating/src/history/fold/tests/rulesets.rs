//! What is known under several rulesets.

use super::*;

#[test]
fn rulesets_and_kinds_are_apart() {
    let mut insta = duel(200_000, [3.0, 1.0]);
    insta.mutators = vec!["Insta".into()];
    let mut with_bot = duel(400_000, [1.0, 3.0]);
    with_bot.mutators = vec!["colours".into()];
    let bot = someone(Kind::Bot, "a", vec![stay(1, 0, 100_000)]);
    with_bot.participants.push(bot);
    let fold = folded([&insta, &with_bot]);
    let seen: Vec<_> = fold
        .weights()
        .map(|w| format!("{} {} {} {:.1}", w.ruleset, w.key.kind, w.key.id, w.weight))
        .collect();
    // In their first ctf game, the humans start from half of what insta says: the prior of a has
    // 56.25 % of 4 / 0.75 points, and they made one of four.
    let expected = [
        "ctf human a 42.9",
        "ctf human b 57.1",
        "ctf bot a 62.5",
        "ctf+insta human a 62.5",
        "ctf+insta human b 37.5",
    ];
    assert_eq!(seen, expected);
    let plain = rulebook().ruleset::<&str>("ctf", &[]);
    assert_eq!(fold.weights_on(&plain, Level::Ruleset).count(), 3);
}

#[test]
fn a_newcomer_begins_with_what_other_rulesets_know() {
    let insta = |mut record: MatchRecord| {
        record.mutators = vec!["insta".into()];
        record
    };
    let mut plain: Vec<MatchRecord> = (1..=20).map(|i| duel(200_000 * i, [1.0, 0.0])).collect();
    let first = insta(duel(200_000 * 21, [1.0, 0.0]));
    for system in [
        SystemName::Joint,
        SystemName::TrueSkill,
        SystemName::Glicko2,
    ] {
        let known = folded_by(system, &plain);
        let ruleset = rulebook().ruleset("ctf", &["insta"]);
        let teams: Vec<Vec<LineupPlayer>> = first
            .participants
            .iter()
            .map(|p| vec![p.key.clone().into()])
            .collect();
        let chance = |fold: &Fold| fold.chances(&ruleset, "m", &teams)[0];
        assert!(
            chance(&known) > 0.7,
            "{system}: before the first game of its own"
        );
        let best = best_weights(&known, &ruleset);
        assert!(best.iter().all(|(_, level)| *level == Level::FewerMutators));
        plain.push(first.clone());
        let after = folded_by(system, &plain);
        let alone = folded_by(system, [&first]);
        assert!(
            chance(&after) > chance(&alone),
            "{system}: more than one game counts"
        );
        let best = best_weights(&after, &ruleset);
        assert!(best.iter().all(|(_, level)| *level == Level::Ruleset));
        plain.pop();
    }
}

#[test]
fn levels_of_one_ruleset_are_that_ruleset() {
    let matches = [duel(200_000, [3.0, 1.0]), duel(400_000, [0.0, 2.0])];
    let fold = folded(&matches);
    let ruleset = rulebook().ruleset::<&str>("ctf", &[]);
    let on = |level| {
        let weights = fold.weights_on(&ruleset, level);
        weights.map(|w| w.weight).collect::<Vec<_>>()
    };
    assert_eq!(on(Level::Ruleset).len(), 2);
    assert_eq!(on(Level::Ruleset), on(Level::GameType));
    assert_eq!(on(Level::Ruleset), on(Level::AllGames));
}
