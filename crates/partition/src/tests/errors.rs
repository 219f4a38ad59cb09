//! Invalid problems and settings, and their errors.

use super::*;
use crate::settings::Engine;
use crate::settings::MAX_TOP;
use crate::settings::Objective;

fn refused(change: impl FnOnce(&mut ProblemSpec)) -> ProblemError {
    let mut spec = lobby(&[1.0, 2.0, 3.0, 4.0]);
    change(&mut spec);
    Problem::new(spec).unwrap_err()
}

#[test]
fn problems_out_of_range_are_refused() {
    assert_eq!(refused(|spec| spec.view.teams = 1), ProblemError::Teams(1));
    assert_eq!(refused(|spec| spec.view.teams = 9), ProblemError::Teams(9));
    assert_eq!(
        refused(|spec| spec.view.humans = humans(&[1.0; 129])),
        ProblemError::Humans(129)
    );
    for weight in [-1.0, f64::NAN, f64::INFINITY] {
        let error = refused(|spec| spec.view.humans[2].weight = weight);
        assert!(matches!(error, ProblemError::Weight { who, .. } if who == "p2"));
        assert!(matches!(
            refused(|spec| spec.view.next_bot = weight),
            ProblemError::Weight { .. }
        ));
    }
    for share in [0.0, -0.1, 1.1, f64::NAN] {
        assert!(matches!(
            refused(|spec| spec.max_share = share),
            ProblemError::Share(_)
        ));
    }
    let level = |min, max, wish| {
        refused(move |spec| {
            (spec.view.fill.map_range, spec.view.fill.wish) = ((min, max), wish);
        })
    };
    assert_eq!(
        level(4, 3, 0),
        ProblemError::Level {
            min: 4,
            max: 3,
            wish: 0
        }
    );
    assert_eq!(
        level(0, 9999, 0),
        ProblemError::Level {
            min: 0,
            max: 9999,
            wish: 0
        }
    );
}

#[test]
fn what_does_not_exist_or_contradicts_itself_is_refused() {
    let no_human = ProblemError::NoSuch {
        what: "human",
        index: 4,
        count: 4,
    };
    assert_eq!(refused(|spec| spec.parties = vec![vec![0, 4]]), no_human);
    assert_eq!(refused(|spec| spec.avoid = vec![(4, 0)]), no_human);
    let no_team = ProblemError::NoSuch {
        what: "team",
        index: 2,
        count: 2,
    };
    assert_eq!(refused(|spec| spec.view.humans[0].pin = Some(2)), no_team);
    assert_eq!(refused(|spec| spec.view.humans[0].team = Some(2)), no_team);
    assert_eq!(refused(|spec| spec.view.humans[0].last = Some(2)), no_team);
    assert_eq!(
        refused(|spec| spec.avoid = vec![(1, 1)]),
        ProblemError::AvoidsSelf("p1".into())
    );
    let twice = ProblemError::TwoParties("p1".into());
    assert_eq!(
        refused(|spec| spec.parties = vec![vec![0, 1], vec![1, 2]]),
        twice
    );
    assert_eq!(refused(|spec| spec.parties = vec![vec![1, 1]]), twice);
    assert_eq!(
        refused(|spec| spec.view.humans[1].id = "p0".into()),
        ProblemError::SameKey("p0".into())
    );
    let error = refused(|spec| {
        spec.parties = vec![vec![0, 1, 2]];
        (spec.view.humans[0].pin, spec.view.humans[2].pin) = (Some(1), Some(0));
    });
    let wanted = ProblemError::PinsContradict {
        first: "p0".into(),
        second: "p2".into(),
        teams: (1, 0),
    };
    assert_eq!(error, wanted);
}

#[test]
fn what_no_team_can_hold_is_refused() {
    let error = refused(|spec| spec.parties = vec![vec![0, 1, 2]]);
    assert_eq!(error, ProblemError::PartyTooLarge { size: 3, most: 2 });
    let pin_three = |spec: &mut ProblemSpec| {
        spec.view.humans[..3]
            .iter_mut()
            .for_each(|human| human.pin = Some(1));
    };
    assert_eq!(
        refused(pin_three),
        ProblemError::PinsTooMany {
            pinned: vec![0, 3],
            humans: 4
        }
    );
    // Without the limits, both are legal.
    let mut spec = ProblemSpec {
        max_difference: None,
        max_share: 1.0,
        ..lobby(&[1.0; 4])
    };
    pin_three(&mut spec);
    spec.parties = vec![vec![0, 1, 2, 3]];
    assert!(Problem::new(spec).is_ok());
}

#[test]
fn settings_out_of_range_are_refused() {
    let defaults = serde_json::to_value(Settings::default()).unwrap();
    let read = serde_json::from_value::<Settings>;
    assert_eq!(read(defaults.clone()).unwrap(), Settings::default());
    for (path, value, why) in [
        ("/top", 0.into(), "1 to 4096"),
        ("/top", (MAX_TOP + 1).into(), "1 to 4096"),
        ("/factors/moved", (-1.0).into(), "0 or more"),
        ("/power", (-0.1).into(), "0 or more, or inf"),
        ("/party_budget", 1.5.into(), "0 to 1"),
        ("/party_multiplier", vec![1.1, 0.5].into(), "1 to 10"),
        ("/memory_mb", 0.into(), "1 to 4096 megabytes"),
    ] {
        let mut settings = defaults.clone();
        *settings.pointer_mut(path).unwrap() = value;
        let error = read(settings).unwrap_err().to_string();
        assert!(
            error.contains(&format!("must be {why}, not ")),
            "{path}: {error}"
        );
    }
}

#[test]
fn a_handicap_is_finite_and_counted() {
    let error = refused(|spec| spec.handicap = f64::INFINITY);
    assert_eq!(error, ProblemError::Handicap(f64::INFINITY));
    let spec = ProblemSpec {
        handicap: 1.0,
        ..lobby(&[1.0, 2.0])
    };
    let problem = Problem::new(spec).unwrap();
    assert_eq!(
        solve(&problem, &Settings::default(), 0, &mut || false).unwrap_err(),
        ProblemError::HandicapUncounted(Objective::Ratio)
    );
}

#[test]
fn engines_refuse_what_they_cannot_do() {
    let mut spec = lobby(&[1.0, 2.0, 3.0, 4.0]);
    spec.view.teams = 3;
    let three = Problem::new(spec.clone()).unwrap();
    spec.view.teams = 2;
    let two = Problem::new(spec).unwrap();
    let weights: Vec<f64> = (0..60).map(|index| f64::from(index).sqrt()).collect();
    let large = Problem::new(lobby(&weights)).unwrap();
    let refused = |problem: &Problem, engine| {
        let settings = Settings {
            engine: Some(engine),
            ..Settings::default()
        };
        matches!(
            solve(problem, &settings, 0, &mut || false),
            Err(ProblemError::Engine { .. })
        )
    };
    assert!(refused(&three, Engine::Exhaustive) && refused(&three, Engine::Meet));
    assert!(refused(&two, Engine::Branch) && !refused(&two, Engine::Meet));
    assert!(
        [Engine::Exhaustive, Engine::Meet]
            .into_iter()
            .all(|e| refused(&large, e))
    );
}
