//! Properties of all rating systems: who shares a place is rated alike, the numbers of players and teams mean nothing,
//! and points of weight are worth as much in either direction.

use proptest::prelude::*;

use super::{
    Player, RatedGame, Seat, Settings, System, SystemName, game::Tally, system::Scale, worth,
};
use evenkeel_model::win_model::UNITS;

/// All players of a history.
const PLAYERS: usize = 12;
/// By how many points of weight rounding may change a weight.
const ROUNDING: f64 = 1e-9;

/// A team, and the points that decide its place.
#[derive(Clone, Debug)]
struct TeamPoints {
    /// Players with their shares of the game.
    players: Vec<(usize, f64)>,
    points: u8,
}

/// The teams of a game, and whether the record has their scores.
#[derive(Clone, Debug)]
struct Drawn {
    teams: Vec<TeamPoints>,
    scores: bool,
}

/// Games of two to six teams of one to three players, or of players for themselves. Few points, so that many tie.
fn drawn() -> impl Strategy<Value = Drawn> {
    let everybody = Just((0..PLAYERS).collect::<Vec<_>>()).prop_shuffle();
    let sizes = prop_oneof![
        prop::collection::vec(1..=3_usize, 2..=6),
        prop::collection::vec(1..=1_usize, 3..=10),
    ];
    let share = prop_oneof![3 => Just(1.0), 1 => 0.1..1.0];
    let shares = prop::collection::vec(share, PLAYERS);
    let points = prop::collection::vec(0..4_u8, 10);
    let all = (everybody, sizes, shares, points, any::<bool>());
    all.prop_map(|(players, sizes, shares, points, scores)| {
        let mut left = players.into_iter().zip(shares);
        let team = |(size, points): (usize, u8)| TeamPoints {
            players: left.by_ref().take(size).collect(),
            points,
        };
        let teams = sizes.into_iter().zip(points).map(team);
        let teams = teams.filter(|team| !team.players.is_empty()).collect();
        Drawn { teams, scores }
    })
}

impl Drawn {
    /// The game, in which each player and each team has the number that these lists give it.
    fn game(&self, players: &[u32], order: &[usize]) -> RatedGame {
        let mut teams: Vec<&TeamPoints> =
            order.iter().filter_map(|&at| self.teams.get(at)).collect();
        if self.teams.iter().all(|team| team.players.len() == 1) {
            teams.sort_by_key(|team| players[team.players[0].0]); // in a game without teams
        }
        let (mut seats, mut tallies) = (Vec::new(), Vec::new());
        for (number, team) in (0..).zip(&teams) {
            for &(player, share) in &team.players {
                let player = Player(players[player]);
                seats.push(Seat {
                    share,
                    ..Seat::new(player, number)
                });
                let points = f64::from(team.points);
                tallies.push(Tally {
                    points: Some(points),
                    scored: points,
                    conceded: 1.0,
                    minutes: 10.0 * share,
                    ..Tally::new(player)
                });
            }
        }
        let above = |own: &TeamPoints| teams.iter().filter(|team| team.points > own.points).count();
        let mut game = RatedGame::new(seats);
        game.places = teams.iter().map(|team| above(team) as u16).collect();
        if self.scores {
            game.scores = teams.iter().map(|team| team.points.into()).collect();
        }
        game.tallies = tallies;
        game
    }
}

fn folded(system: SystemName, games: &[RatedGame]) -> Box<dyn System> {
    let mut system = system.build(&Settings::default());
    games.iter().for_each(|game| system.update(game));
    system
}

/// A player's weight, without the ends of its scale.
fn weight(system: &dyn System, player: Player) -> Option<f64> {
    let mean = system.strength(player)?.mean;
    Some(match system.scale() {
        Scale::Weights => mean,
        Scale::Strengths { newcomer, unit } => 50.0 + 50.0 * (mean - newcomer) / (UNITS * unit),
    })
}

/// The numbers from 0 on, as many as there are players.
fn numbers() -> Vec<u32> {
    (0..).take(PLAYERS).collect()
}

/// The teams in the order in which they were drawn.
const AS_DRAWN: [usize; 10] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn equals_who_share_a_place_stay_equal(drawn in drawn()) {
        let alone = |team: &TeamPoints| TeamPoints { players: vec![(team.players[0].0, 1.0)], ..team.clone() };
        let drawn = Drawn { teams: drawn.teams.iter().map(alone).collect(), ..drawn };
        let game = drawn.game(&numbers(), &AS_DRAWN);
        for name in SystemName::ALL {
            let system = folded(name, &[game.clone(), game.clone(), game.clone()]);
            let of = |team: usize| weight(&*system, game.team(team)[0].player).unwrap();
            for group in game.groups() {
                for pair in group.windows(2) {
                    let (one, other) = (of(pair[0]), of(pair[1]));
                    prop_assert!((one - other).abs() < ROUNDING, "{name}: {one} {other}");
                }
            }
        }
    }

    #[test]
    fn the_numbers_of_players_and_teams_mean_nothing(
        history in prop::collection::vec(drawn(), 1..6),
        players in Just(numbers()).prop_shuffle(),
        order in Just(AS_DRAWN.to_vec()).prop_shuffle(),
    ) {
        let with = |players: &[u32], order: &[usize]| -> Vec<RatedGame> {
            history.iter().map(|drawn| drawn.game(players, order)).collect()
        };
        let (games, renamed) = (with(&numbers(), &AS_DRAWN), with(&players, &order));
        for name in SystemName::ALL {
            let (system, other) = (folded(name, &games), folded(name, &renamed));
            for (number, &renamed) in (0..).zip(&players) {
                let (one, other) = (weight(&*system, Player(number)), weight(&*other, Player(renamed)));
                prop_assert_eq!(one.is_some(), other.is_some(), "{}", name);
                let apart = one.zip(other).map_or(0.0, |(one, other)| (one - other).abs());
                prop_assert!(apart < ROUNDING, "{name}: {one:?} {other:?}");
            }
        }
    }

    #[test]
    fn seats_may_be_listed_in_any_order(
        history in prop::collection::vec(drawn(), 1..4),
        places in Just((0..PLAYERS).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let games: Vec<RatedGame> =
            history.iter().map(|drawn| drawn.game(&numbers(), &AS_DRAWN)).collect();
        let listed_otherwise = |game: &RatedGame| {
            let seats = places.iter().filter_map(|&at| game.seats().get(at).copied());
            let mut same = RatedGame::new(seats.collect());
            (same.places, same.scores) = (game.places.clone(), game.scores.clone());
            same.tallies = game.tallies.clone();
            same
        };
        let others: Vec<RatedGame> = games.iter().map(listed_otherwise).collect();
        for name in SystemName::ALL {
            let bytes = |games: &[RatedGame]| folded(name, games).save().unwrap();
            prop_assert!(bytes(&games) == bytes(&others), "{name}");
        }
    }
}

#[test]
fn where_all_share_a_place_nobody_moves() {
    for players in [3, 5, 9] {
        let team = |player| TeamPoints {
            players: vec![(player, 1.0)],
            points: 2,
        };
        let teams = (0..players).map(team).collect();
        let game = Drawn {
            teams,
            scores: false,
        }
        .game(&numbers(), &AS_DRAWN);
        for name in SystemName::ALL {
            let system = folded(name, std::slice::from_ref(&game));
            let weights = game
                .seats()
                .iter()
                .map(|seat| weight(&*system, seat.player).unwrap());
            let first = weight(&*system, Player(0)).unwrap();
            assert!(
                weights
                    .into_iter()
                    .all(|one| (one - first).abs() < ROUNDING),
                "{name}"
            );
            if let Scale::Strengths { .. } = system.scale() {
                assert!((first - 50.0).abs() < ROUNDING, "{name}: {first}");
            }
        }
    }
}

#[test]
fn points_are_worth_the_same_in_either_direction_and_ten_a_few_percent() {
    let of = |system: SystemName, points| {
        let settings = Settings {
            system: system.into(),
            ..Settings::default()
        };
        worth(&settings, points)
    };
    for system in SystemName::ALL {
        let Some(ten) = of(system, 10.0) else {
            continue;
        };
        let less = of(system, -10.0).unwrap();
        assert!((ten + less - 1.0).abs() < 1e-9, "{system}: {ten} {less}");
        assert!((of(system, 0.0).unwrap() - 0.5).abs() < 1e-12, "{system}");
        assert!(ten > 0.5 && ten < 1.0, "{system}: {ten}");
    }
    // 10 points are 1.2 units of 0.46, and a player counts √(2 / 8) of them.
    let joint = of(SystemName::Joint, 10.0).unwrap();
    let by_hand = crate::normal::cdf(1.2 * 0.46 / 2.0);
    assert!((joint - by_hand).abs() < 1e-3, "{joint} {by_hand}");
    assert_eq!(of(SystemName::Presence, 10.0), None);
}
