mod again;

use super::*;
use crate::{
    Update,
    recorder::RecordFrame,
    roster::BotPlan,
    settings::RosterSettings,
    weights::tests::{ctf, game},
};
use evenkeel_model::{in_game::Verdict, record::LeaveReason, units::Count};
use evenkeel_partition::view::Conduct;
use proptest::prelude::*;

fn settings() -> LobbySettings {
    let roster = RosterSettings {
        max_roster: Count::of(4),
        ..RosterSettings::default()
    };
    LobbySettings {
        roster,
        ..LobbySettings::default()
    }
}

fn lobby() -> Lobby {
    let mut lobby = Lobby::new(settings());
    lobby.change(ctf()).unwrap();
    lobby
}

fn ident(text: &str) -> Ident {
    Ident::from_text(text)
}

#[test]
fn without_a_game_nothing_can_happen_and_mutators_are_forgotten() {
    let mut lobby = Lobby::new(settings());
    assert_eq!(lobby.add_mutator("x"), Ok(()));
    assert_eq!(
        lobby.join(&ident("a"), &Update::default()),
        Err(LobbyError::NoGame)
    );
    assert_eq!(lobby.bots().err(), Some(LobbyError::NoGame));
    lobby.change(ctf()).unwrap();
    assert!(lobby.game().unwrap().mutators.is_empty());
}

#[test]
fn a_new_game_forgets_the_roster_and_keeps_the_wishes() {
    let mut lobby = lobby();
    lobby.set_min_players(8);
    lobby.set_map("m", Some((2, 4))).unwrap();
    lobby
        .join(
            &ident("a"),
            &Update {
                team: Some(1),
                ..Update::default()
            },
        )
        .unwrap();
    lobby.join(&ident("b"), &Update::default()).unwrap();
    lobby.change(ctf()).unwrap();
    assert!(lobby.game().unwrap().roster.humans().is_empty());
    assert_eq!(lobby.last_team(&ident("a")), Some(1));
    assert_eq!(lobby.last_team(&ident("b")), None);
    assert_eq!(lobby.map_range(), Ok((0, 32)));
    assert_eq!(lobby.wish(), 8);
}

#[test]
fn a_command_that_fails_changes_nothing() {
    let mut lobby = lobby();
    for name in ["a", "b", "c", "d"] {
        lobby
            .join(
                &ident(name),
                &Update {
                    team: Some(1),
                    ..Update::default()
                },
            )
            .unwrap();
    }
    assert_eq!(
        lobby.join(&ident("e"), &Update::default()),
        Err(LobbyError::RosterFull)
    );
    assert_eq!(
        lobby.move_to(&ident("a"), 2),
        Err(LobbyError::NoSuchTeam(2))
    );
    assert_eq!(
        lobby.move_to(&ident("x"), 0),
        Err(LobbyError::UnknownPlayer)
    );
    let wrong = Update {
        team: Some(0),
        pin: Some(Some(5)),
        ..Update::default()
    };
    assert_eq!(
        lobby.join(&ident("a"), &wrong),
        Err(LobbyError::NoSuchTeam(5))
    );
    assert_eq!(lobby.game().unwrap().roster.sizes(2), [0, 4]);
    lobby.set_teams(4).unwrap();
    lobby.move_to(&ident("a"), 3).unwrap();
    assert_eq!(lobby.set_teams(2), Err(LobbyError::TeamInUse));
    assert_eq!(lobby.set_teams(9), Err(LobbyError::BadTeams(9)));
}

#[test]
fn bots_fill_up_to_the_wish_within_the_level() {
    let mut lobby = Lobby::new(LobbySettings::default());
    lobby.change(ctf()).unwrap();
    lobby
        .join(
            &ident("a"),
            &Update {
                team: Some(0),
                ..Update::default()
            },
        )
        .unwrap();
    assert_eq!(
        lobby.bots(),
        Ok(BotPlan {
            players: 6,
            per_team: vec![2, 3]
        })
    );
    lobby.set_map("m", Some((8, 12))).unwrap();
    assert_eq!(
        lobby.bots(),
        Ok(BotPlan {
            players: 8,
            per_team: vec![3, 4]
        })
    );
    lobby.change(game("dm", false)).unwrap();
    lobby.join(&ident("a"), &Update::default()).unwrap();
    lobby.set_map("m", Some((2, 5))).unwrap();
    assert_eq!(
        lobby.bots(),
        Ok(BotPlan {
            players: 5,
            per_team: vec![4]
        })
    );
}

proptest! {
    #[test]
    fn leave_after_join_restores(
        names in proptest::collection::vec("[abc]", 0..6), new in "[a-e]", team in proptest::option::of(0u8..2),
    ) {
        let mut lobby = lobby();
        for name in &names {
            lobby.join(&ident(name), &Update::default()).unwrap();
        }
        let before = lobby.game().unwrap().roster.clone();
        prop_assume!(before.find(&ident(&new)).is_none());
        if lobby.join(&ident(&new), &Update { team, ..Update::default() }).is_ok() {
            lobby.leave(&ident(&new), LeaveReason::Left).unwrap();
        }
        prop_assert_eq!(&lobby.game().unwrap().roster, &before);
    }
}

#[test]
fn the_roster_of_a_game_that_is_over_does_not_hold_its_teams() {
    let mut lobby = lobby();
    lobby.set_teams(4).unwrap();
    for (name, team) in [("a", 0), ("b", 1), ("c", 2), ("d", 3)] {
        let pin = (team == 3).then_some(Some(3));
        let update = Update {
            team: Some(team),
            pin,
            ..Update::default()
        };
        lobby.join(&ident(name), &update).unwrap();
    }
    lobby.bot_join(&ident("bot"), 3).unwrap();
    lobby.bot_join(&ident("stays"), 1).unwrap();
    lobby.at(1_000).start().unwrap();
    assert_eq!(lobby.set_teams(2), Err(LobbyError::TeamInUse), "in play");
    let end = |lobby: &mut Lobby, at| {
        let finished = lobby.at(at).end(Verdict::Draw, &RecordFrame::default());
        finished.unwrap()
    };
    let over = end(&mut lobby, 61_000);
    lobby.set_teams(2).unwrap();
    let roster = &lobby.game().unwrap().roster;
    assert_eq!((roster.sizes(2), roster.unplaced()), (vec![1, 1], 2));
    assert_eq!(roster.bots().len(), 1);
    assert_eq!(roster.highest_team(), Some(1));
    // The record of the game that is over is the same; the next one has two teams, with or without GAME.
    assert_eq!(end(&mut lobby, 61_500), over);
    lobby.at(62_000).start().unwrap();
    assert_eq!(end(&mut lobby, 92_000).record.scores.len(), 2);
    lobby.change(ctf()).unwrap();
    assert_eq!(lobby.teams(), 2);
}

#[test]
fn a_full_roster_of_a_game_that_is_over_has_room_for_whoever_comes() {
    let mut lobby = lobby();
    for name in ["a", "b", "c", "d"] {
        lobby.join(&ident(name), &Update::default()).unwrap();
        lobby.bot_join(&ident(&format!("bot {name}")), 1).unwrap();
    }
    let come = |lobby: &mut Lobby, name: &str| lobby.join(&ident(name), &Update::default());
    lobby.at(1_000).start().unwrap();
    assert_eq!(
        come(&mut lobby, "e"),
        Err(LobbyError::RosterFull),
        "in play"
    );
    let over = lobby.at(61_000).end(Verdict::Draw, &RecordFrame::default());
    let over = over.unwrap();
    // Who joined first makes room; nobody who has come since does, before all others have.
    for name in ["e", "f", "a", "e"] {
        come(&mut lobby, name).unwrap();
        lobby.bot_join(&ident(&format!("bot {name}")), 0).unwrap();
    }
    let roster = &lobby.game().unwrap().roster;
    let humans: Vec<_> = roster.humans().iter().map(|one| one.id.text()).collect();
    assert_eq!(humans, ["d", "e", "f", "a"]);
    let bots: Vec<_> = roster.bots().iter().map(|one| one.name.text()).collect();
    assert_eq!(bots, ["bot d", "bot e", "bot f", "bot a"]);
    assert_eq!(lobby.conduct(&ident("a")), Conduct::default());
    // The record of the game that is over is the same.
    let again = lobby.at(62_000).end(Verdict::Draw, &RecordFrame::default());
    assert_eq!(again.unwrap(), over);
    lobby.at(63_000).start().unwrap();
    assert_eq!(
        come(&mut lobby, "g"),
        Err(LobbyError::RosterFull),
        "in play again"
    );
}
