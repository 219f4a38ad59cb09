use super::*;
use crate::{
    learning::EarlierGames,
    model::{
        Timestamp,
        weight::{StartWeight, WeightEntry},
    },
};

/// A match with this chance, result and change of the weight to `weight`; one that moves nothing is held.
fn one(id: i64, expected: f64, result: f64, weight: f64, change: f64) -> PlayedMatch {
    PlayedMatch {
        id,
        ended: Timestamp(id * 86_400_000),
        ruleset: "ctf".into(),
        map: "m".into(),
        chance_as_started: None,
        forecast: Some(expected),
        result: Some(result),
        entry: Some(AccountEntry::new(
            WeightEntry {
                before: weight - change,
                weight,
                deviation: 5.0,
                cause: Some(match (result, change == 0.0) {
                    (1.0, true) => WeightCause::WonHeld,
                    (1.0, false) => WeightCause::Won,
                    (0.0, true) => WeightCause::LostHeld,
                    (0.0, false) => WeightCause::Lost,
                    _ => WeightCause::Drew,
                }),
            },
            false,
        )),
        points_for: Some(1.0),
        points_against: Some(3.0),
        points: Some(10.0),
        points_of_others: Some(12.0),
    }
}

/// Bob, who loses what he should win.
fn bob(system: SystemName) -> WhyRating {
    WhyRating {
        ruleset: "ctf".into(),
        weight: 41.2,
        deviation: 3.1,
        games: 34,
        system: Some(system),
        pinned: None,
        start: None,
        merged: 0,
        first_weight: Some(48.5),
        earlier: Vec::new(),
        is_whole: true,
        seasons: 0,
        season_keeps: 0.8,
        matches: vec![
            one(9, 0.75, 0.0, 41.2, -1.4),
            one(8, 0.5, 1.0, 42.6, 0.9),
            one(7, 0.75, 0.0, 41.7, -0.75),
            one(6, 0.75, 0.5, 42.5, -0.3),
        ],
    }
}

#[test]
fn five_sentences_say_why_bob_is_rated_low() {
    let said = bob(SystemName::Joint).sentences();
    let by_hand = [
        "The weight is 41.2 ± 3.1 after 34 rated matches: 8.8 below the 50 of the average seat.",
        "In the last 4 matches, the player's teams were expected to win 2.8 and won 1.5, a draw as half a victory: \
         1.2 fewer than expected. Where scores are known, it counts by how much a match is won or lost.",
        "The weight was 42.8 before the first of these matches and 41.2 after the last one: it rose with 1, fell \
         with 3 and stayed with 0, and moved most with match 9 on 1970-01-10 (lost at a chance of 75 %), by −1.4.",
        "The player made 10.0 points a match, the others in the same matches 12.0 on average. For the weight, they \
         count only as far as they have shown who wins, and less with each match.",
        "Nothing comes from elsewhere: the player started at 48.5, as every newcomer did then.",
    ];
    assert_eq!(said, by_hand);
}

#[test]
fn results_that_move_nothing_are_told_and_strong_players_hear_that_this_is_usual() {
    let matches = vec![
        one(9, 0.75, 1.0, 61.0, 0.0),
        one(8, 0.8, 1.0, 61.0, 0.0),
        one(7, 0.75, 0.0, 61.0, -3.0),
        one(6, 0.7, 1.0, 64.0, 0.5),
        one(5, 0.4, 0.0, 63.5, 0.0),
    ];
    let strong = WhyRating {
        weight: 61.0,
        matches,
        ..bob(SystemName::Joint)
    };
    let held = "A victory never lowers it, and a defeat never raises it: 2 of 3 wins moved nothing, won by less than \
                expected; 1 of 2 defeats moved nothing, since they left the strength no lower than the weight.";
    let usual = " So it is for strong players: half of their wins move nothing, and a defeat costs them more.";
    assert!(strong.sentences()[2].ends_with(&format!("{held}{usual}")));
    let weak = WhyRating {
        weight: 45.0,
        ..strong
    };
    assert!(weak.sentences()[2].ends_with(held));
}

#[test]
fn what_counts_is_said_for_each_system() {
    for system in SystemName::ALL {
        let text = bob(system).sentences().join(" ");
        assert_eq!(
            text.contains("speaks for"),
            goes_by_results(system),
            "{system}"
        );
    }
    let text = |system| bob(system).sentences().join(" ");
    assert!(text(SystemName::Presence).contains("4 for the player and 12 against"));
    assert!(text(SystemName::Scoreboard).contains("whoever wins"));
    assert!(text(SystemName::WinRate).contains("share of matches won"));
    assert!(
        text(SystemName::Elo).contains("fewer than expected, which speaks for a lower weight.")
    );
    assert!(text(SystemName::Elo).contains("best of the winners"));
    assert!(text(SystemName::Glicko2).contains("these points do not count"));
}

#[test]
fn of_weights_of_an_unknown_system_only_the_results_are_told() {
    let unknown = WhyRating {
        system: None,
        ..bob(SystemName::Joint)
    };
    let said = unknown.sentences();
    assert_eq!(said.len(), 4, "{said:?}");
    assert!(said[0].ends_with(": 8.8 below 50."), "{}", said[0]);
    assert!(said[1].ends_with("1.2 fewer than expected."), "{}", said[1]);
    assert!(said[2].ends_with("on average."), "{}", said[2]);
    let scoreboard = bob(SystemName::Scoreboard).sentences();
    assert!(scoreboard[0].ends_with("the 50 of a newcomer."));
}

#[test]
fn a_fixed_weight_is_said_first() {
    let fixed = WhyRating {
        pinned: Some(40.0),
        weight: 40.0,
        deviation: 0.0,
        ..bob(SystemName::Joint)
    };
    assert_eq!(
        fixed.sentences()[0],
        "An operator has fixed the weight at 40: none of the 34 rated matches changes it; beneath it, they have \
         brought the weight to 41.2."
    );
    assert!(
        fixed.sentences()[2]
            .starts_with("Beneath the fixed weight, that of the results was 42.8 before")
    );
}

#[test]
fn few_matches_are_said_to_tell_little() {
    let new = WhyRating {
        weight: 53.0,
        deviation: 9.0,
        games: 1,
        matches: vec![one(1, 0.5, 1.0, 53.0, 0.0)],
        ..bob(SystemName::Joint)
    };
    let said = new.sentences();
    assert_eq!(
        said[0],
        "The weight is 53.0 ± 9.0 after 1 rated match: 3.0 above the 50 of the average seat. That is less than the \
         uncertainty (±): more matches will tell."
    );
    assert!(said[1].contains("In the last 1 match, "), "{}", said[1]);
    let exact = WhyRating {
        weight: 50.0,
        deviation: 0.0,
        ..new
    };
    assert_eq!(
        exact.sentences()[0],
        "The weight is 50.0 after 1 rated match: that is the 50 of the average seat."
    );
}

#[test]
fn what_came_from_elsewhere_is_named() {
    let earlier = |ruleset: &str, is_near| EarlierGames {
        ruleset: ruleset.into(),
        games: 12,
        weight: Some(61.0),
        is_near,
    };
    let of = |start, earlier, is_whole| {
        let why = WhyRating {
            start,
            earlier,
            is_whole,
            ..bob(SystemName::Joint)
        };
        why.elsewhere()
    };
    let start = StartWeight {
        weight: 62.0,
        uncertain: true,
    };
    assert_eq!(
        of(Some(start), vec![earlier("tdm", false)], true),
        "Before the first match here, an operator let the player start at 62, as a guess, and a part of what 12 \
         matches under tdm (weight 61.0) had shown was taken over."
    );
    assert!(of(None, vec![earlier("ctf", true)], true).contains("taken over as it was"));
    assert!(of(None, Vec::new(), false).contains("is not shown"));
    let shared = WhyRating {
        seasons: 2,
        merged: 1,
        ..bob(SystemName::Joint)
    };
    assert_eq!(
        shared.sentences()[5],
        "Since then 2 seasons have begun, and each left 80 % of the distance from 50. 1 other identity counts as \
         this player, with all matches."
    );
}

#[test]
fn games_without_predictions_or_teams_have_what_is_known() {
    let without = |result| {
        let mut why = bob(SystemName::Hive);
        for one in &mut why.matches {
            (one.forecast, one.result, one.points) = (None, result, None);
        }
        why.sentences()
    };
    assert_eq!(
        without(Some(1.0))[1],
        "The player's teams won 4 of the last 4 matches, for which nothing was predicted."
    );
    assert!(
        without(None)[1].starts_with("The weight was"),
        "no result at all"
    );
}
