//! What a problem takes from a game, and what it says about it.

use super::*;
use crate::{
    problem::{SizeLimits, Tolerance},
    sums::BotsOnTeam,
};
use evenkeel_model::units::{MaxDifference, PositiveShare};

#[test]
fn a_game_gives_its_parties_whom_somebody_avoids_and_the_limits() {
    let mut view = lobby(&[1.0; 5]).view;
    for at in [0, 1] {
        view.humans[at].party = Some("friends".to_owned());
    }
    view.humans[2].party = Some("nobody else".to_owned());
    view.humans[3].avoid = ["p0", "p3", "somebody who is gone"]
        .map(str::to_owned)
        .to_vec();
    let limits = SizeLimits {
        max_team_share: PositiveShare::of(0.6),
        max_difference: MaxDifference::of(2),
    };
    let spec = ProblemSpec::of(view, limits);
    assert_eq!(spec.parties, [[0, 1]]);
    assert_eq!(spec.avoid, [(3, 0)]);
    assert_eq!((spec.max_share, spec.max_difference), (0.6, Some(2)));
}

#[test]
fn all_members_of_a_torn_party_count_as_friends() {
    let spec = ProblemSpec {
        torn: vec![vec![0, 1, 2]],
        parties: vec![vec![0, 1], vec![3, 4]],
        ..lobby(&[1.0; 5])
    };
    let friends: Vec<Vec<usize>> = spec.friends().cloned().collect();
    assert_eq!(friends, [vec![0, 1, 2], vec![3, 4]]);
}

#[test]
fn what_is_even_enough_may_be_picked_however_even_the_best_split_is() {
    let tolerance = Tolerance {
        enough: 0.95,
        slack: 0.01,
    };
    for (best, least) in [(1.0, 0.95), (0.95, 0.95), (0.9, 0.89)] {
        let found = tolerance.least(best);
        assert!((found - least).abs() < 1e-12, "{best}: {found}");
    }
}

#[test]
fn bots_fill_a_team_only_where_they_come() {
    for (come, on_it) in [(true, 3), (false, 1)] {
        let mut spec = lobby(&[1.0; 4]);
        spec.view.fill.on = come;
        spec.view.bots = bots_on(0, (1, 20.0)).collect();
        let problem = Problem::new(spec).unwrap();
        assert_eq!(problem.bots_on(0, 3), BotsOnTeam::new(1, on_it), "{come}");
    }
}
