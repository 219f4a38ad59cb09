//! What happens to a pick-up match, click by click.

use serde_json::Value;

use crate::lifecycle::{
    Pickup, PickupEffect, PickupEvent, PickupOutcome, PickupRefused, PickupStage, PickupTeams,
    RecordedPickup, Said,
};

const WON: PickupOutcome = PickupOutcome::Won(0);

fn teams(place: u32) -> PickupTeams {
    let team = |names: [&str; 2]| names.map(str::to_owned).to_vec();
    PickupTeams {
        place,
        teams: vec![team(["ann", "bob"]), team(["cid", "dan"])],
        answer: Value::Null,
    }
}

fn pickup(stage: PickupStage) -> Pickup {
    Pickup {
        channel: String::new(),
        question: Value::Null,
        names: Default::default(),
        picked: teams(0),
        stage,
        said: Vec::new(),
        outcome: None,
        recorded: None,
        to_move: false,
    }
}

fn say(
    of: &mut Pickup,
    by: &str,
    organiser: bool,
    outcome: PickupOutcome,
) -> Result<PickupEffect, PickupRefused> {
    let by = by.to_owned();
    let said = Said {
        by,
        organiser,
        outcome,
    };
    of.apply(PickupEvent::Say(said), &[])
}

#[test]
fn a_result_needs_somebody_of_each_team() {
    let mut of = pickup(PickupStage::Playing);
    assert_eq!(say(&mut of, "ann", false, WON), Ok(PickupEffect::Changed));
    assert_eq!(say(&mut of, "bob", false, WON), Ok(PickupEffect::Changed));
    let other = say(&mut of, "cid", false, PickupOutcome::Won(1));
    assert_eq!(other, Ok(PickupEffect::Changed));
    let stranger = say(&mut of, "eve", false, WON);
    assert_eq!(stranger, Err(PickupRefused::NotInIt("eve".to_owned())));
    let no_team = say(&mut of, "dan", false, PickupOutcome::Won(2));
    assert_eq!(no_team, Err(PickupRefused::NoTeam(2)));
    // Cid has looked again.
    assert_eq!(say(&mut of, "cid", false, WON), Ok(PickupEffect::Record));
    assert_eq!((of.stage, of.said.len()), (PickupStage::Recorded, 3));
    assert_eq!(say(&mut of, "dan", false, WON), Ok(PickupEffect::Same));
    let draw = say(&mut of, "dan", false, PickupOutcome::Draw);
    assert_eq!(draw, Err(PickupRefused::IsRecorded));
}

#[test]
fn an_organiser_decides_alone_and_corrects() {
    let mut of = pickup(PickupStage::Playing);
    assert_eq!(say(&mut of, "org", true, WON), Ok(PickupEffect::Record));
    of.recorded = Some(RecordedPickup {
        id: 7,
        unrated: None,
    });
    let void = PickupOutcome::Void;
    let by_player = say(&mut of, "ann", false, void);
    assert_eq!(by_player, Err(PickupRefused::IsRecorded));
    assert_eq!(say(&mut of, "org", true, void), Ok(PickupEffect::Void(7)));
    assert_eq!(say(&mut of, "org", true, void), Ok(PickupEffect::Same));
    assert_eq!(say(&mut of, "ann", false, WON), Err(PickupRefused::IsVoid));
    let right = say(&mut of, "org", true, PickupOutcome::Draw);
    assert_eq!(
        (right, of.stage),
        (Ok(PickupEffect::Record), PickupStage::Recorded)
    );
}

#[test]
fn both_teams_can_agree_that_it_does_not_count() {
    let mut of = pickup(PickupStage::Playing);
    let void = PickupOutcome::Void;
    assert_eq!(say(&mut of, "ann", false, void), Ok(PickupEffect::Changed));
    assert_eq!(say(&mut of, "dan", false, void), Ok(PickupEffect::Changed));
    assert_eq!((of.stage, of.result()), (PickupStage::Void, None));
    let right = say(&mut of, "org", true, WON);
    assert_eq!(right, Err(PickupRefused::IsVoid), "it was never recorded");
    let mut of = pickup(PickupStage::Picked);
    assert_eq!(
        say(&mut of, "ann", false, WON),
        Err(PickupRefused::NotBegun)
    );
    assert_eq!(say(&mut of, "ann", false, void), Ok(PickupEffect::Changed));
    assert_eq!(of.stage, PickupStage::Void);
}

#[test]
fn two_clicks_are_one() {
    let mut of = pickup(PickupStage::Picked);
    let again = |seen| PickupEvent::Again {
        seen,
        picked: teams(seen + 1),
    };
    assert_eq!(of.apply(again(0), &[]), Ok(PickupEffect::Changed));
    assert_eq!(of.apply(again(0), &[]), Ok(PickupEffect::Same));
    assert_eq!(of.picked.place, 1);
    let start = |place| PickupEvent::Start { place };
    let old = of.apply(start(0), &[]);
    assert_eq!(old, Err(PickupRefused::OtherTeams));
    let busy = of.apply(start(1), &[pickup(PickupStage::Playing)]);
    assert_eq!(busy, Err(PickupRefused::Busy("ann".to_owned())));
    assert_eq!(of.apply(start(1), &[]), Ok(PickupEffect::Changed));
    assert_eq!(of.apply(start(1), &[]), Ok(PickupEffect::Same));
    assert_eq!(of.apply(again(1), &[]), Err(PickupRefused::HasBegun));
}

#[test]
fn people_are_moved_once_when_it_begins_and_once_when_it_is_over() {
    let mut of = pickup(PickupStage::Picked);
    let moved = |of: &mut Pickup, stage| of.apply(PickupEvent::Moved { stage }, &[]);
    let playing = PickupStage::Playing;
    assert_eq!(moved(&mut of, PickupStage::Picked), Ok(PickupEffect::Same));
    of.apply(PickupEvent::Start { place: 0 }, &[]).unwrap();
    assert!(of.to_move);
    assert_eq!(moved(&mut of, playing), Ok(PickupEffect::Changed));
    assert_eq!(moved(&mut of, playing), Ok(PickupEffect::Same));
    say(&mut of, "ann", false, WON).unwrap();
    assert!(!of.to_move, "a statement moves nobody");
    say(&mut of, "org", true, WON).unwrap();
    assert!(of.to_move);
    // A bot that is late has moved them to the teams.
    assert_eq!(moved(&mut of, playing), Ok(PickupEffect::Same));
    assert_eq!(
        moved(&mut of, PickupStage::Recorded),
        Ok(PickupEffect::Changed)
    );
    say(&mut of, "org", true, PickupOutcome::Void).unwrap();
    assert!(!of.to_move, "a correction moves nobody");
}
