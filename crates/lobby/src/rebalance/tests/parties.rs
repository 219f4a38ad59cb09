//! Parties: an empty or outnumbered team is worse than a split party.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::{advise, game};
use crate::games::{by_chance, view};
use crate::{Advice, Decided, Question, Rebalance, RebalanceSettings};
use evenkeel_partition::{GameView, MoveBlock};

/// Equal humans without bots: the sizes of the parties on each team, of which 1 is a human alone.
fn parties(teams: &[&[usize]]) -> GameView {
    let mut humans = Vec::new();
    let mut names = Vec::new();
    for (team, sizes) in (0u8..).zip(teams) {
        for size in *sizes {
            let name = (*size > 1).then(|| format!("{team}{}", names.len()));
            humans.extend(vec![(50.0, team); *size]);
            names.extend(vec![name; *size]);
        }
    }
    let mut game = view(teams.len() as u8, &humans);
    game.fill.on = false;
    for (human, name) in game.humans.iter_mut().zip(names) {
        human.party = name;
    }
    game
}

/// The team of each human once the advice is followed.
fn after(game: &GameView, advice: &Advice) -> Vec<u8> {
    let team = |id: &str| {
        let mut steps = advice.steps();
        steps.find(|step| step.id.text() == id).map(|step| step.to)
    };
    let humans = game.humans.iter();
    humans
        .map(|human| team(&human.id).or(human.team).unwrap())
        .collect()
}

fn sizes(teams: u8, of: &[u8]) -> Vec<usize> {
    let on = |team| of.iter().filter(|other| **other == team).count();
    let mut sizes: Vec<usize> = (0..teams).map(on).collect();
    sizes.sort_unstable();
    sizes
}

/// How many parties are not together on these teams.
fn torn(game: &GameView, of: &[u8]) -> usize {
    let apart = |at: &usize| game.mates(*at).any(|mate| of[mate] != of[*at]);
    let parties = (0..of.len()).filter(apart);
    let parties: BTreeSet<_> = parties.map(|at| &game.humans[at].party).collect();
    parties.len()
}

/// Teams of parties, the sizes of the teams after the moves, the number of moves and that of split parties.
type Case<'a> = (&'a [&'a [usize]], &'a [usize], usize, usize);

#[test]
fn a_party_is_split_for_a_team_that_is_empty_or_outnumbered() {
    let cases: [Case; 10] = [
        (&[&[4], &[]], &[2, 2], 2, 1),
        (&[&[3], &[]], &[1, 2], 1, 1),
        (&[&[2], &[]], &[1, 1], 1, 1),
        (&[&[4], &[1]], &[2, 3], 1, 1),
        (&[&[3, 3], &[2]], &[4, 4], 2, 1),
        (&[&[5, 1], &[1, 1]], &[4, 4], 2, 1),
        // Whole parties will do.
        (&[&[2, 2], &[]], &[2, 2], 2, 0),
        (&[&[3, 3], &[1, 1]], &[4, 4], 4, 0),
        (&[&[4], &[], &[]], &[1, 1, 2], 2, 1),
        (&[&[3], &[3], &[]], &[2, 2, 2], 2, 2),
    ];
    for (teams, expected, moves, split) in cases {
        for chances in [false, true] {
            for seed in 0..5 {
                let game = parties(teams);
                let mut game = if chances { by_chance(game) } else { game };
                if let Some(chance) = &mut game.chance {
                    chance.win_model.side = 0.0; // no side is worth another move
                }
                let settings = RebalanceSettings::default();
                let decided = Decided::by(
                    Rebalance {
                        view: game.clone(),
                        settings,
                    },
                    seed,
                );
                let of = after(&game, &decided.answer);
                assert_eq!(sizes(game.teams, &of), expected, "{teams:?} {decided}");
                let went = (decided.answer.moves.len(), torn(&game, &of));
                assert_eq!(went, (moves, split), "{teams:?} {decided}");
                let notes = decided.to_string();
                let announced =
                    notes.matches("is torn, because a team would be empty or outnumbered");
                assert_eq!(announced.count(), split, "{decided}");
            }
        }
    }
}

#[test]
fn a_party_that_has_just_come_is_split_for_an_empty_team() {
    let mut game = game(&[(50.0, 9), (50.0, 9), (50.0, 9), (50.0, 9)]);
    for human in &mut game.humans {
        human.party = Some("p".into());
    }
    let advice = advise(&game, RebalanceSettings::default());
    assert_eq!(sizes(2, &after(&game, &advice)), [2, 2]);
    assert!(advice.moves.is_empty() && advice.whole.is_empty());
}

#[test]
fn who_must_stay_of_a_split_party_stays() {
    let mut game = parties(&[&[4], &[]]);
    game.humans[0].held = Some(MoveBlock::Protected);
    game.humans[3].held = Some(MoveBlock::Protected);
    let advice = advise(&game, RebalanceSettings::default());
    assert_eq!(after(&game, &advice), [0, 1, 1, 0]);
}

#[test]
fn the_party_because_of_which_nobody_moves_is_named() {
    // The better four are one party: nobody is outnumbered.
    let weights = [90.0, 80.0, 90.0, 80.0, 20.0, 10.0, 20.0, 10.0];
    let teams = (0u8..8).map(|at| at / 4);
    let humans: Vec<(f64, u8)> = weights.into_iter().zip(teams).collect();
    for chances in [false, true] {
        let mut game = game(&humans);
        game.humans[..4]
            .iter_mut()
            .for_each(|human| human.party = Some("p".into()));
        let game = if chances { by_chance(game) } else { game };
        let settings = RebalanceSettings::default();
        let mut question = Rebalance {
            view: game,
            settings,
        };
        let named = "nobody moves, because the party of a, b, c, d stays together";
        let decided = Decided::by(question.clone(), 1);
        assert!(decided.answer.moves.is_empty());
        assert!(decided.to_string().contains(named), "{decided}");
        // If they must stay anyway, it is not because of the party.
        for human in &mut question.view.humans {
            human.held = Some(MoveBlock::Protected);
        }
        let decided = Decided::by(question, 1);
        assert!(!decided.to_string().contains("party"), "{decided}");
    }
}

#[test]
fn a_giant_alone_against_a_party_stays_alone() {
    let mut game = game(&[(20.0, 0), (20.0, 0), (20.0, 0), (20.0, 0), (80.0, 1)]);
    for human in &mut game.humans[..4] {
        human.party = Some("p".into());
    }
    let advice = advise(&game, RebalanceSettings::default());
    assert!(advice.moves.is_empty() && advice.whole.is_empty());
}

/// Whether as many humans are where they are missing as without parties, and no party is split without need.
fn no_party_is_split_without_need(
    teams: &[&[usize]],
    chances: bool,
    seed: u64,
) -> Result<(), TestCaseError> {
    let game = parties(teams);
    prop_assume!(!game.humans.is_empty());
    let game = if chances { by_chance(game) } else { game };
    let settings = RebalanceSettings::default();
    let question = Rebalance {
        view: game.clone(),
        settings,
    };
    let lack = |advice: &Advice| {
        let of = after(&game, advice);
        let mut game = game.clone();
        for (human, team) in game.humans.iter_mut().zip(of) {
            human.team = Some(team);
        }
        let teams = game.sums();
        (teams.empty_teams(), teams.excess(1))
    };
    let names = game.humans.iter();
    let names: BTreeSet<&str> = names.filter_map(|human| human.party.as_deref()).collect();
    let names: Vec<&str> = names.into_iter().collect();
    // The oracle: every set of parties that may be split.
    let reached = (0u32..1 << names.len()).map(|set| {
        let split = (0..).zip(&names).filter(|(at, _)| set >> at & 1 == 1);
        let split: Vec<&str> = split.map(|(_, name)| *name).collect();
        (lack(&question.advise(&split, seed)), split.len())
    });
    let reached: Vec<_> = reached.collect();
    let least = reached.iter().map(|(lack, _)| *lack).min().unwrap();
    let fewest = reached.iter().filter(|(lack, _)| *lack == least);
    let fewest = fewest.map(|(_, split)| *split).min().unwrap();
    let advice = question.answer(seed);
    prop_assert_eq!(lack(&advice), least);
    let split = torn(&game, &after(&game, &advice));
    prop_assert!(
        split <= fewest,
        "{} instead of {}: {:?}",
        split,
        fewest,
        advice
    );
    Ok(())
}

/// Without any party, some of both parties of three would go. If a party of three is split with the help of others, or the
/// party of four, only one party is.
#[test]
fn another_party_is_split_if_fewer_are_then() {
    let cases: [(&[&[usize]], u64); 2] = [
        (&[&[4, 3, 3], &[2]], 8_310_379_145_633_249_829),
        (&[&[3, 4, 3], &[4], &[3]], 4_964_188_065_814_782_926),
    ];
    for (teams, seed) in cases {
        no_party_is_split_without_need(teams, false, seed).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn as_few_parties_as_possible_are_split(
        first in prop::collection::vec(1usize..5, 0..4),
        second in prop::collection::vec(1usize..5, 0..3),
        third in prop::option::of(prop::collection::vec(1usize..4, 0..2)),
        chances: bool,
        seed: u64,
    ) {
        let teams = [Some(&first), Some(&second), third.as_ref()];
        let teams: Vec<&[usize]> = teams.into_iter().flatten().map(|team| &team[..]).collect();
        no_party_is_split_without_need(&teams, chances, seed)?;
    }
}
