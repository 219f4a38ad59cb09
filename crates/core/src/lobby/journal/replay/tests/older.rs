//! A journal that version 0.2.0 has written.

use super::{play, read, steps::Step};
use crate::{
    domain::{
        Company, Crowding, Ident, LeaveReason, Link, Move, Outlook, RoleName, TeamChances, Verdict,
    },
    lobby::{BalanceWatch, Command, LastBalance, NewGame, Update},
    partition::{ProblemSpec, Strengths, WeightedHuman},
};

/// The journal of [`steps`], which was begun with a snapshot between the two parts of them.
const JOURNAL: &[u8] = include_bytes!("0.2.0.journal");

fn id(text: &str) -> Ident {
    Ident::from_text(text)
}

fn join(id: Ident, team: u8) -> Command {
    let update = Update {
        name: Some("N".into()),
        team: Some(team),
        party: Some("p".into()),
        pin: Some(None),
        avoid: Some(vec!["c".into()]),
        wish: None,
    };
    Command::Join { id, update }
}

/// Commands before and in play, which change everything that a snapshot contains.
fn commands() -> [Vec<Command>; 2] {
    let strange = Ident::new(b"\"Ren\xe9\"", b"Ren\xe9");
    let outlook = Outlook {
        link: Link::Normal,
        per_strength: 0.5,
        players: 8.0,
        crowding: Crowding::Root,
        per_head: 0.1 + 0.2,
        per_log_size: 0.0,
        side: 0.05,
        unit: 1.0,
        doubt: 0.1,
        company: Company::default(),
    };
    let problem = ProblemSpec {
        humans: vec![WeightedHuman {
            current: Some(1),
            ..WeightedHuman::new("a", 61.25)
        }],
        strengths: Some(Strengths {
            outlook,
            humans: vec![0.3],
            bot: 0.0,
            bots_there: Vec::new(),
            doubts: Vec::new(),
            party_multiplier: Vec::new(),
        }),
        ..ProblemSpec::default()
    };
    let score = |by| Command::Score {
        team: 1,
        points: 2.0,
        by,
    };
    let chances = |win| TeamChances {
        win,
        humans: vec![2, 1],
        bots: vec![0, 1],
    };
    let role = |id, role| Command::Role {
        id,
        role: RoleName::read(role),
    };
    let before = vec![
        Command::Game(NewGame {
            game_type: "ctf".into(),
            canonical_type: "ctf".into(),
            has_teams: true,
            tournament: false,
        }),
        Command::Mutator { name: "x".into() },
        Command::Map {
            name: "m".into(),
            players: Some((2, 8)),
        },
        Command::DeclareBots { acts: true },
        join(id("a"), 0),
        join(id("b"), 0),
        join(strange.clone(), 1),
        Command::BotJoin {
            name: id("Sarge"),
            team: 1,
        },
        Command::Protect {
            id: id("b"),
            millis: None,
        },
        Command::Balanced(LastBalance::of(&problem)),
        Command::Chances(chances(vec![0.25, 0.75])),
        role(id("a"), "commander"),
        Command::Start,
        Command::Chances(chances(Vec::new())),
        score(Some(id("a"))),
        Command::Points {
            id: strange.clone(),
            points: 7.5,
        },
        Command::Clock { left: 60_000 },
    ];
    let after = vec![
        Command::Kill {
            killer: id("a"),
            victim: strange.clone(),
        },
        Command::Death { id: id("b") },
        score(Some(strange)),
        Command::Watch(BalanceWatch {
            imbalance: Some((1, 3)),
            stronger: Some(1),
        }),
        Command::Move {
            id: id("b"),
            team: 1,
        },
        Command::Advise {
            moves: vec![Move {
                id: id("b"),
                from: Some(1),
                to: 0,
            }],
        },
        Command::Help {
            by_score: vec![0.5, 0.0],
        },
        Command::Ask { id: None },
        Command::AutoMove {
            id: id("a"),
            team: 1,
        },
        role(id("a"), ""),
        Command::Leave {
            id: id("b"),
            reason: LeaveReason::Timeout,
        },
    ];
    [before, after]
}

fn steps() -> Vec<(Step, u64)> {
    let [before, after] = commands();
    let commands = |commands: Vec<Command>| commands.into_iter().map(Step::Command);
    let steps = commands(before)
        .chain([Step::Decided(5), Step::Compact])
        .chain(commands(after))
        .chain([Step::Decided(9), Step::Write]);
    steps.map(|step| (step, 700)).collect()
}

#[test]
fn a_game_of_version_0_2_0_goes_on() {
    let mut live = play(&steps(), |_| ());
    // It did not note when a game began, and knew no wishes for a side.
    live.lobby.forget_beginning();
    let mut game = read(JOURNAL).unwrap();
    // Version 0.2.0 did not count scores in a row: counting begins with its snapshot.
    let run = game.lobby.game.as_ref().unwrap().run;
    live.lobby.game.as_mut().unwrap().run = run;
    live.check(&game);
    assert_eq!(game.valid, JOURNAL.len());
    let frame = game.frame();
    let finished = game.lobby.end(Verdict::Scores, &frame).unwrap();
    assert_eq!(finished, live.lobby.end(Verdict::Scores, &frame).unwrap());
}
