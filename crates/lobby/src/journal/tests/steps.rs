//! What may happen to a session, in any order.

use proptest::{collection::vec, prelude::*};

use crate::{Command, NewGame, Update, command::BalanceWatch};
use evenkeel_model::{
    ident::Ident,
    in_game::{Move, Verdict},
    record::LeaveReason,
    team_names::RoleName,
};

/// One thing that happens.
#[derive(Clone, Debug)]
pub(super) enum Step {
    Command(Command),
    End(Verdict),
    /// The match of the game that is over has reached the disk.
    Recorded,
    Delivered,
    /// A decision was made, with this reason.
    Decided(u32),
    /// Everything so far is written as a frame.
    Write,
    /// A new journal begins.
    Compact,
}

fn ident() -> impl Strategy<Value = Ident> {
    prop_oneof![
        8 => "[abc]".prop_map(|name| Ident::from_text(&name)),
        1 => Just(Ident::new(b"\"Ren\xe9\"", b"Ren\xe9")),
    ]
}

fn command() -> impl Strategy<Value = Command> {
    let team = 0u8..3;
    let update = (
        proptest::option::of(0u8..3),
        proptest::option::of(proptest::option::of(0u8..2)),
        proptest::option::of("[pq]?"),
        proptest::option::of(proptest::option::of(0u8..2)),
    );
    let update = update.prop_map(|(team, pin, party, wish)| Update {
        team,
        pin,
        party,
        wish,
        ..Update::default()
    });
    prop_oneof![
        3 => any::<bool>().prop_map(|has_teams| Command::Game(NewGame {
            game_type: "ctf".into(),
            canonical_type: "ctf".into(),
            has_teams,
            tournament: false,
        })),
        6 => Just(Command::Start),
        12 => (ident(), update).prop_map(|(id, update)| Command::Join { id, update }),
        3 => ident().prop_map(|id| Command::Leave { id, reason: LeaveReason::Left }),
        3 => (ident(), team.clone()).prop_map(|(id, team)| Command::Move { id, team }),
        3 => (ident(), team.clone()).prop_map(|(name, team)| Command::BotJoin { name, team }),
        1 => ident().prop_map(|name| Command::BotLeave { name }),
        1 => (2u8..4).prop_map(|teams| Command::Teams { teams }),
        1 => (0u32..9).prop_map(|players| Command::MinPlayers { players }),
        1 => any::<bool>().prop_map(|acts| Command::DeclareBots { acts }),
        1 => Just(Command::ShowBots),
        1 => "[xy]".prop_map(|name| Command::Mutator { name }),
        1 => "[mn]".prop_map(|name| Command::Map { name, players: Some((2, 8)) }),
        2 => (ident(), proptest::option::of(0u64..9_000))
            .prop_map(|(id, millis)| Command::Protect { id, millis }),
        2 => (ident(), proptest::option::of("[rs]")).prop_map(|(id, role)| {
            let role = role.and_then(|role| RoleName::read(&role));
            Command::Role { id, role }
        }),
        6 => (team.clone(), -2.0..5.0, proptest::option::of(ident()))
            .prop_map(|(team, points, by)| Command::Score { team, points, by }),
        3 => (ident(), -2.0..50.0).prop_map(|(id, points)| Command::Points { id, points }),
        3 => (ident(), ident()).prop_map(|(killer, victim)| Command::Kill { killer, victim }),
        2 => ident().prop_map(|id| Command::Death { id }),
        1 => (0u64..600_000).prop_map(|left| Command::Clock { left }),
        1 => vec(team.clone(), 0..4).prop_map(|team_of| Command::Assign { team_of }),
        1 => (ident(), team.clone()).prop_map(|(id, team)| Command::Place { id, team }),
        1 => (ident(), team.clone()).prop_map(|(id, to)| Command::Advise {
            moves: vec![Move { id, from: None, to }],
        }),
        1 => vec(-1.0..1.0, 0..3).prop_map(|by_score| Command::Help { by_score }),
        1 => (ident(), team.clone()).prop_map(|(id, team)| Command::AutoMove { id, team }),
        1 => proptest::option::of(ident()).prop_map(|id| Command::Ask { id }),
        1 => proptest::option::of((0u8..2, 0u64..9_000)).prop_map(|imbalance| {
            Command::Watch(BalanceWatch { imbalance, stronger: Some(1) })
        }),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let verdict = prop_oneof![
        Just(Verdict::Scores),
        Just(Verdict::Draw),
        (0u8..3).prop_map(Verdict::Won)
    ];
    prop_oneof![
        20 => command().prop_map(Step::Command),
        2 => verdict.prop_map(Step::End),
        2 => Just(Step::Recorded),
        1 => Just(Step::Delivered),
        1 => any::<u32>().prop_map(Step::Decided),
        6 => Just(Step::Write),
        1 => Just(Step::Compact),
    ]
}

pub(super) fn steps() -> impl Strategy<Value = Vec<(Step, u64)>> {
    vec((step(), 0u64..2_000), 0..80)
}
