//! Places all humans without a team at once: provisionally for PLACE, as advice for REBALANCE.

use super::moves::{self, Aim, Search, Unit};
use crate::partition::{GameView, TeamSums};

/// The number of placements up to which all are tried; with more, the heaviest groups are placed
/// first. A thousand take some 50 µs; in real games, rarely more than ten humans wait for a team.
const MAX_TRIED: usize = 1_024;

/// A placement of all humans without a team.
#[derive(Clone, Debug)]
pub(super) struct Arrived {
    /// The teams then.
    pub(super) sums: TeamSums,
    /// Each human, by index, with their team.
    pub(super) teams: Vec<(usize, u8)>,
    /// Whether all placements were tried, so that no other is better.
    pub(super) exact: bool,
}

impl Arrived {
    /// The best placement of these humans, who are on no team. The members of a party go to one team, except pinned ones
    /// and those of the parties in `split`. Fewer humans too many, by `limit`, are better, then more even teams.
    ///
    /// Tries all placements if there are at most [`MAX_TRIED`]. Otherwise puts the heaviest group on the team where the
    /// teams are best then, then the next heaviest.
    pub(super) fn of(
        view: &GameView,
        sums: &TeamSums,
        waiting: impl Iterator<Item = usize>,
        split: &[&str],
        limit: usize,
    ) -> Self {
        let mut units = Unit::of(view, waiting, split);
        units.sort_by(|a, b| b.counted.weight.total_cmp(&a.counted.weight));
        let ways = |ways: usize, _: &Unit| ways.saturating_mul(sums.sides().len());
        let exact = units.iter().fold(1, ways) <= MAX_TRIED;
        let mut search = Search::new(sums.clone(), &units, Aim::Sizes, (limit, usize::MAX));
        match exact {
            true => search.all(0),
            false => search.one_by_one(),
        }
        let steps = search.found().map_or(Vec::new(), |(_, steps)| steps);
        let people = moves::people(&units, &steps);
        Self {
            sums: moves::after(sums, &units, &steps),
            teams: people.map(|(who, team)| (who, team as u8)).collect(),
            exact,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lobby::moves::Score;
    use crate::partition::view::tests::{by_chance, view};
    use proptest::prelude::*;

    /// The reference: tries every placement, without groups or order.
    fn naive(view: &GameView, limit: usize) -> Score {
        let mut found = vec![view.clone()];
        for human in 0..view.humans.len() {
            let spread = |game: GameView| -> Vec<GameView> {
                if game.humans[human].team.is_some() {
                    return vec![game];
                }
                let on = |team| {
                    let mut game = game.clone();
                    game.humans[human].team = Some(team);
                    game
                };
                (0..game.teams).map(on).collect()
            };
            found = found.into_iter().flat_map(spread).collect();
        }
        let scores = found.iter().map(|game| Score::of(&game.sums(), limit, Aim::Sizes));
        scores
            .reduce(|a, b| if b.beats(&a, Aim::Sizes) { b } else { a })
            .unwrap()
    }

    #[test]
    fn parties_go_together_and_pins_are_kept() {
        let mut game = view(2, &[(10.0, 9), (10.0, 9), (10.0, 9), (10.0, 9)]);
        game.humans[0].party = Some("p".into());
        game.humans[3].party = Some("p".into());
        game.humans[1].pin = Some(1);
        let mut placed = Arrived::of(&game, &game.sums(), game.waiting(), &[], 1);
        placed.teams.sort_unstable();
        assert_eq!(placed.teams, [(0, 0), (1, 1), (2, 1), (3, 0)]);
        assert!(placed.exact);
    }

    #[test]
    fn a_crowd_is_placed_in_time_and_well() {
        let crowd: Vec<(f64, u8)> = (0..64).map(|n| (f64::from(n % 13) * 7.0, 9)).collect();
        let game = view(2, &crowd);
        let placed = Arrived::of(&game, &game.sums(), game.waiting(), &[], 1);
        assert!(!placed.exact);
        assert_eq!(placed.teams.len(), 64);
        assert!(
            placed.sums.excess(1) == 0 && placed.sums.evenness_settled() > 0.98,
            "{placed:?}"
        );
    }

    proptest! {
        #[test]
        fn nothing_beats_what_is_exact(
            teams in 2u8..4,
            humans in proptest::collection::vec((0u32..30, 0u8..6), 1..6),
            limit in 0usize..3,
            chances in any::<bool>(),
        ) {
            let humans: Vec<_> = humans.into_iter().map(|(weight, team)| (f64::from(weight), team)).collect();
            let game = view(teams, &humans);
            let game = if chances { by_chance(game) } else { game };
            let placed = Arrived::of(&game, &game.sums(), game.waiting(), &[], limit);
            let oracle = naive(&game, limit);
            let score = Score::of(&placed.sums, limit, Aim::Sizes);
            prop_assert!(!oracle.beats(&score, Aim::Sizes) && !score.beats(&oracle, Aim::Sizes));
        }
    }
}
