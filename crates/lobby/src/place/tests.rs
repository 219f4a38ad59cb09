use super::*;
use crate::games::{robot, view};
use evenkeel_model::units::MaxDifference;
use evenkeel_partition::sums::EQUAL;
use proptest::prelude::*;

fn place(view: GameView, who: usize) -> Placement {
    placed(view, who, 1)
}

fn placed(view: GameView, who: usize, seed: u64) -> Placement {
    let settings = PlaceSettings::default();
    let question = Place {
        view,
        who,
        settings,
        stays: false,
        late: false,
    };
    question.answer(seed)
}

#[test]
fn the_bot_that_leaves_counts() {
    // 80 against 30 and bots of 10 and 50. If they join team 1, one of its bots leaves: 80 against
    // 30+20+30. If they join team 0, no team needs fewer bots: 100 against 90.
    let mut game = view(2, &[(80.0, 0), (30.0, 1), (20.0, 9)]);
    game.fill.wish = 4;
    game.bots = vec![robot(50.0, 1), robot(10.0, 1), robot(20.0, 0)];
    game.next_bot = 25.0;
    let answer = place(game, 2);
    // Team 0: its bot of 20 leaves, and of team 1's two the mean: 100 against 30+30.
    assert_eq!(answer.sides[0].ratio, 60.0 / 100.0);
    // Team 1: both of its bots leave: 80 and the bot of 20 against 50.
    assert_eq!(answer.sides[1].ratio, 50.0 / 100.0);
    assert_eq!((answer.team, answer.reason), (0, Reason::Ratio));
}

#[test]
fn the_bot_that_comes_weighs_what_those_not_playing_do() {
    // Two on each team; a third player makes a bot join the other.
    let mut game = view(2, &[(30.0, 0), (30.0, 0), (20.0, 1), (20.0, 1), (10.0, 9)]);
    game.next_bot = 40.0;
    let answer = place(game, 4);
    assert_eq!(answer.sides[0].ratio, 70.0 / 80.0);
    assert_eq!(answer.sides[1].ratio, 50.0 / 100.0);
    assert_eq!((answer.team, answer.ratio), (0, 70.0 / 80.0));
}

/// The latecomers of the players' proposal on the auto-balance page join the lighter team.
#[test]
fn latecomers_of_the_page() {
    // A party of three, at 1.2 times its sum, and 12 others who weigh less.
    let strong = [11.0, 11.0, 10.0].map(|weight| (weight * 1.2, 0));
    let rest = [5.0, 5.0, 5.0, 3.0, 3.0, 3.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0];
    let mut humans: Vec<(f64, u8)> = strong.to_vec();
    humans.extend(rest.map(|weight| (weight, 1)));
    humans.push((2.0, 9));
    let mut game = view(2, &humans);
    game.fill.on = false;
    let free = PlaceSettings {
        max_difference: MaxDifference::OFF,
        ..PlaceSettings::default()
    };
    let question = |settings| Place {
        view: game.clone(),
        who: 15,
        settings,
        stays: false,
        late: false,
    };
    let answer = question(free).answer(1);
    assert_eq!((answer.team, answer.reason), (1, Reason::Ratio));
    assert!((answer.ratio - 34.0 / 38.4).abs() < 1e-12);
    // By default, three are not left alone against thirteen.
    assert_eq!(question(PlaceSettings::default()).answer(1).team, 0);
}

#[test]
fn ties_go_to_fewer_humans_then_to_the_losing_side_then_to_chance() {
    let mut game = view(2, &[(40.0, 0), (20.0, 1), (20.0, 1), (10.0, 9)]);
    game.fill.on = false;
    let answer = place(game, 3);
    assert_eq!((answer.team, answer.reason), (0, Reason::FewerHumans));

    let mut game = view(2, &[(40.0, 0), (40.0, 1), (10.0, 9)]);
    game.scores = vec![3.0, 1.0];
    assert_eq!(place(game.clone(), 2).reason, Reason::Losing);
    assert_eq!(place(game.clone(), 2).team, 1);

    game.scores = vec![1.0, 1.0];
    let teams: Vec<u8> = (0..64)
        .map(|seed| placed(game.clone(), 2, seed).team)
        .collect();
    let ones = teams.iter().filter(|&&team| team == 1).count();
    assert!((16..48).contains(&ones), "{ones}");
    assert_eq!(place(game, 2).reason, Reason::Chance);
}

#[test]
fn why_a_wish_is_not_granted() {
    // 80 against 30: the arrival makes team 1 stronger, and wishes for team 0.
    let uneven = || {
        let mut game = view(2, &[(80.0, 0), (30.0, 1), (20.0, 9)]);
        game.fill.on = false;
        game
    };
    let against = |game: GameView, who: usize| {
        let answer = place(game, who);
        assert_eq!(answer.team, 1, "{answer:?}");
        answer.against(0)
    };
    assert_eq!(against(uneven(), 2), "the game would be less even");
    let mut pinned = uneven();
    pinned.humans[2].pin = Some(1);
    assert_eq!(against(pinned, 2), "they are pinned to another team");
    let mut friends = uneven();
    for who in [1, 2] {
        friends.humans[who].party = Some("p".into());
    }
    assert_eq!(against(friends, 2), "their party is on another team");
    let mut full = view(2, &[(10.0, 0), (10.0, 0), (80.0, 1), (20.0, 9)]);
    full.fill.on = false;
    assert_eq!(against(full, 3), "it would have too many players");
}

#[test]
fn a_party_comes_together_where_the_ratio_allows() {
    let even = |weight: f64| {
        let mut game = view(2, &[(50.0, 0), (50.0, 1), (weight, 9)]);
        game.humans[0].party = Some("p".into());
        game.humans[2].party = Some("p".into());
        game.next_bot = weight;
        game
    };
    let answer = place(even(20.0), 2);
    assert_eq!((answer.team, answer.reason), (0, Reason::Party));
    // Without bots, team 0 would exceed team 1 by 130 to 50.
    let mut game = even(30.0);
    game.fill.on = false;
    game.humans[0].weight = 100.0;
    let answer = place(game, 2);
    assert_eq!((answer.team, answer.reason), (1, Reason::Torn));
}

#[test]
fn a_party_goes_where_there_is_room_for_all_of_it_or_is_torn() {
    let mut game = view(
        2,
        &[
            (50.0, 0),
            (50.0, 0),
            (50.0, 0),
            (50.0, 1),
            (50.0, 1),
            (50.0, 9),
            (50.0, 9),
        ],
    );
    game.fill.on = false;
    for who in [5, 6] {
        game.humans[who].party = Some("p".into());
    }
    let first = place(game.clone(), 5);
    assert_eq!((first.team, first.reason), (1, Reason::Party));
    game.humans[5].team = Some(1);
    let second = place(game.clone(), 6);
    assert_eq!((second.team, second.reason), (1, Reason::Party));
    // Three against three: no side holds two more.
    game.humans[5].team = None;
    game.humans[0].team = Some(1);
    game.humans.push(game.humans[1].clone());
    game.humans[7].id = "x".into();
    game.humans[7].team = Some(0);
    assert_eq!(place(game, 5).reason, Reason::Torn);
}

#[test]
fn the_larger_side_is_joined_only_where_bots_come_and_it_is_clearly_more_even() {
    let mut game = view(2, &[(90.0, 0), (15.0, 1), (20.0, 1), (80.0, 9)]);
    game.next_bot = 20.0;
    assert_eq!(
        place(game.clone(), 3).team,
        1,
        "130 against 115, not 170 against 35"
    );
    game.fill.on = false;
    assert_eq!(place(game.clone(), 3).team, 0);
    assert_eq!(place(game.clone(), 3).reason, Reason::ShortSide);
    game.fill.on = true;
    game.humans[1].weight = 90.0;
    assert_eq!(place(game, 3).team, 0);
}

#[test]
fn a_party_that_arrives_together_stays_together() {
    let mut game = view(
        2,
        &[
            (50.0, 0),
            (50.0, 1),
            (20.0, 9),
            (20.0, 9),
            (20.0, 9),
            (20.0, 9),
        ],
    );
    game.humans[2].party = Some("p".into());
    game.humans[5].party = Some("p".into());
    let first = place(game.clone(), 2);
    assert_eq!(first.reason, Reason::Party);
    game.humans[2].team = Some(first.team);
    let second = place(game, 5);
    assert_eq!((second.team, second.reason), (first.team, Reason::Party));
    assert_eq!(second.ratio, 1.0, "the other two go to the other team");
}

#[test]
fn who_comes_back_keeps_the_team_unless_that_unbalances() {
    let mut game = view(2, &[(50.0, 0), (52.0, 1), (20.0, 9)]);
    game.fill.on = false;
    assert_eq!(place(game.clone(), 2).team, 0);
    game.humans[2].old_team = Some(1);
    let answer = place(game.clone(), 2);
    assert_eq!((answer.team, answer.reason), (1, Reason::OldTeam));
    game.humans[2].weight = 90.0;
    game.humans[1].weight = 80.0;
    let answer = place(game, 2);
    assert_eq!((answer.team, answer.reason), (0, Reason::Ratio));
}

#[test]
fn arrivals_of_one_breath_are_placed_together() {
    // Alone, 10 would join the lighter team 1; but 30 is waiting, and belongs there.
    let mut game = view(2, &[(50.0, 0), (30.0, 1), (10.0, 9), (30.0, 9)]);
    let first = place(game.clone(), 2);
    assert_eq!((first.team, first.others), (0, 1));
    assert_eq!(first.ratio, 1.0);
    game.humans[2].team = Some(first.team);
    let second = place(game, 3);
    assert_eq!((second.team, second.ratio), (1, 1.0));
}

#[test]
fn a_pin_is_kept_and_more_teams_are_considered() {
    let mut game = view(4, &[(50.0, 0), (50.0, 1), (50.0, 3), (40.0, 9)]);
    game.fill.on = false;
    assert_eq!(place(game.clone(), 3).team, 2);
    game.humans[3].pin = Some(3);
    let answer = place(game, 3);
    assert_eq!((answer.team, answer.reason), (3, Reason::Pin));
}

proptest! {
    #[test]
    fn the_side_exists_and_is_within_budget_of_the_best(
        teams in 2u8..=8,
        humans in proptest::collection::vec((0.0..100.0, 0u8..10), 1..20),
        seed: u64,
    ) {
        let mut humans = humans;
        humans[0].1 = 9;
        let answer = placed(view(teams, &humans), 0, seed);
        prop_assert!(answer.team < teams);
        prop_assert!((0.0..=1.0).contains(&answer.ratio));
        let chosen = answer.sides.iter().find(|side| side.team == answer.team).unwrap();
        for side in &answer.sides {
            prop_assert!(side.over >= chosen.over);
            prop_assert!(side.over > chosen.over || side.ratio <= chosen.ratio + EQUAL);
        }
    }
}

#[test]
fn an_arrival_keeps_away_from_players_to_avoid() {
    let even = [(50.0, 0), (50.0, 0), (50.0, 1), (50.0, 1), (50.0, 9)];
    for seed in 0..16 {
        let mut game = view(2, &even);
        game.humans[4].avoid = vec!["a".into()];
        let answer = placed(game, 4, seed);
        assert_eq!((answer.team, answer.reason), (1, Reason::Avoid), "{seed}");
        assert_eq!(answer.sides[0].avoided, 1);
        // The wish counts both ways.
        let mut game = view(2, &even);
        game.humans[3].avoid = vec!["e".into()];
        assert_eq!(placed(game, 4, seed).team, 0, "{seed}");
    }
    // Not where the other team would be one human too many, or the game clearly less even.
    let mut game = view(2, &[(50.0, 0), (50.0, 1), (50.0, 1), (50.0, 9)]);
    game.humans[3].avoid = vec!["a".into()];
    assert_eq!(place(game, 3).team, 0);
    let mut game = view(2, &[(40.0, 0), (60.0, 1), (20.0, 9)]);
    game.humans[2].avoid = vec!["a".into()];
    let answer = place(game, 2);
    assert_eq!((answer.team, answer.reason), (0, Reason::Ratio));
    // Whom nobody knows here is avoided anyway.
    let mut game = view(2, &even);
    game.humans[4].avoid = vec!["z".into()];
    assert_ne!(place(game, 4).reason, Reason::Avoid);
}
