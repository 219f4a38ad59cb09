use super::*;
use crate::domain::{LeaveReason, units::Count};
use crate::lobby::{
    BotPlan, RosterSettings, Update,
    weights::tests::{ctf, game},
};
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
