//! Tests of the course of a match's chances.

use std::cell::Cell;

use proptest::prelude::*;

use super::*;
use crate::{
    AutoBalanceRules, BotWeight, Finished, LobbySettings, RecordFrame, RosterSettings, Update,
    weights::tests::{ctf, game},
};
use evenkeel_model::{
    LeaveReason, LineupPlayer, MAX_TEAM_CHANGES, MatchChances, Verdict, WinModel,
    units::{MaxDifference, PositiveShare},
};
use evenkeel_partition::SizeLimits;

/// Weights that predict by the numbers of players, and count how often.
#[derive(Default)]
struct BySize(Cell<u32>);

impl Weights for BySize {
    fn human(&self, _id: &str) -> f64 {
        50.0
    }

    fn bot(&self, _name: &str) -> Option<BotWeight> {
        None
    }

    fn mean_bot(&self) -> (f64, usize) {
        (50.0, 0)
    }

    fn win_model(&self, _teams: &[Vec<LineupPlayer>]) -> Option<WinModel> {
        None
    }

    fn chances(&self, teams: &[Vec<LineupPlayer>], _strengths: &[f64]) -> Vec<f64> {
        self.0.set(self.0.get() + 1);
        let all = teams.iter().map(Vec::len).sum::<usize>().max(1) as f64;
        teams.iter().map(|team| team.len() as f64 / all).collect()
    }
}

/// A lobby, and the journal of it.
struct Journaled {
    lobby: Lobby,
    journal: Vec<(u64, Command)>,
    weights: BySize,
    now: u64,
}

impl Journaled {
    fn new(settings: LobbySettings) -> Self {
        let mut lobby = Lobby::new(settings);
        lobby.keep_trail();
        Self {
            lobby,
            journal: Vec::new(),
            weights: BySize::default(),
            now: 0,
        }
    }

    /// Carries out a command as a session does.
    fn apply(&mut self, command: Command) {
        self.now += 10;
        if self.lobby.apply(&command, self.now).is_err() {
            return;
        }
        let assess = command.changes_teams();
        let notes = assess || command == Command::Start;
        self.journal.push((self.now, command));
        if assess {
            self.lobby.watch(&self.weights);
        }
        if notes {
            self.lobby.note_chances(&self.weights);
        }
        self.note_trail();
    }

    fn decide(&mut self, decision: impl FnOnce(&mut Lobby, &BySize)) {
        self.now += 10;
        decision(self.lobby.at(self.now), &self.weights);
        self.note_trail();
    }

    fn balance(&mut self) {
        self.decide(|lobby, weights| {
            let limits = SizeLimits {
                max_team_share: PositiveShare::of(1.0),
                max_difference: MaxDifference::OFF,
            };
            let question = lobby.balance(weights, limits, Default::default());
            let Ok(question) = question else { return };
            let decided = question.decide(1, &mut || false).unwrap();
            assert!(lobby.follow(&decided, weights).unwrap().chance.is_some());
        });
    }

    fn note_trail(&mut self) {
        let journal = &mut self.journal;
        self.lobby
            .drain_trail(|at, command| journal.push((at, command)));
    }

    fn join(&mut self, id: &str, team: Option<u8>) {
        self.apply(join(id, team));
    }

    /// The lobby that the journal makes again, without any weights.
    fn replayed(&self) -> Lobby {
        let mut lobby = Lobby::new(self.lobby.settings.clone());
        for (at, command) in &self.journal {
            lobby.apply(command, *at).unwrap();
        }
        lobby
    }

    fn end(mut self) -> MatchChances {
        self.now += 10;
        let end = |mut lobby: Lobby| {
            let lobby = lobby.at(self.now);
            lobby.end(Verdict::Draw, &RecordFrame::default()).unwrap()
        };
        let (own, again) = (end(self.lobby.clone()), end(self.replayed()));
        assert_eq!(own, again, "a journal needs no weights");
        own.chances
    }
}

fn ident(id: &str) -> Ident {
    Ident::from_text(id)
}

fn join(id: &str, team: Option<u8>) -> Command {
    let update = Update {
        team,
        ..Update::default()
    };
    let id = ident(id);
    Command::Join { id, update }
}

fn moved(id: &str, team: u8) -> Command {
    let id = ident(id);
    Command::Move { id, team }
}

fn leave(id: &str) -> Command {
    let (id, reason) = (ident(id), LeaveReason::Left);
    Command::Leave { id, reason }
}

fn without_bots() -> LobbySettings {
    let roster = RosterSettings {
        bots: false,
        ..RosterSettings::default()
    };
    LobbySettings {
        roster,
        ..LobbySettings::default()
    }
}

/// The course of a match of two teams: for each change the cause, the seat, the teams, and the sizes.
type Announced = (TeamCause, Option<u32>, Option<u8>, Option<u8>, String);

fn announced(chances: &MatchChances) -> Vec<Announced> {
    let one = |change: &TeamChange| {
        let sizes = change.teams.sizes();
        (change.cause, change.who, change.from, change.to, sizes)
    };
    chances.changes.iter().map(one).collect()
}

#[test]
fn the_fourteenth_player_is_not_in_the_chance_as_picked() {
    let mut game = Journaled::new(without_bots());
    game.apply(ctf());
    for player in 0..13 {
        game.join(&format!("p{player}"), None);
    }
    assert_eq!(game.weights.0.get(), 0, "nothing is predicted for a JOIN");
    game.balance();
    let sizes = |teams: &Option<TeamChances>| teams.as_ref().map(TeamChances::sizes);
    let picked = game.lobby.chance_summary().picked;
    assert!(
        ["7 v 6", "6 v 7"]
            .map(str::to_owned)
            .contains(&sizes(&picked).unwrap())
    );
    assert_eq!(game.weights.0.get(), 1);
    game.apply(Command::Start);
    assert_eq!(game.weights.0.get(), 2);
    game.join("late", None);
    assert_eq!(game.weights.0.get(), 2, "who is on no team changes nothing");
    game.decide(|lobby, weights| drop(lobby.place(&ident("late"), weights, 1).unwrap()));
    assert_eq!(game.weights.0.get(), 3);
    let summary = game.lobby.chance_summary();
    assert_eq!(
        (&summary.picked, sizes(&summary.now)),
        (&picked, Some("7 v 7".into()))
    );
    game.apply(leave("late"));
    let chances = game.end();
    assert_eq!(chances.picked, picked);
    assert_eq!(sizes(&chances.started), sizes(&picked));
    let small = chances.changes[0].to;
    assert_eq!(
        announced(&chances),
        [
            (TeamCause::Place, Some(13), None, small, "7 v 7".into()),
            (
                TeamCause::Leave,
                Some(13),
                small,
                None,
                sizes(&picked).unwrap()
            ),
        ]
    );
    assert_eq!(chances.changes[0].teams.win, [0.5, 0.5]);
    assert_eq!(chances.changes[1].teams.win, picked.unwrap().win);
}

#[test]
fn each_change_has_its_cause_its_teams_and_the_chance_after_it() {
    let mut game = Journaled::new(without_bots());
    game.apply(ctf());
    game.join("a", Some(0));
    game.join("b", Some(1));
    game.apply(Command::Start);
    game.join("c", Some(1));
    game.join("c", Some(1));
    game.join("c", Some(0));
    game.apply(moved("c", 1));
    game.apply(moved("c", 1));
    let bot = |team| Command::BotJoin {
        name: ident("b"),
        team,
    };
    game.apply(bot(0));
    game.apply(bot(1));
    game.apply(Command::BotLeave { name: ident("b") });
    game.apply(leave("a"));
    let chances = game.end();
    let started = chances.started.as_ref().unwrap();
    assert_eq!(
        (started.sizes(), &*started.win),
        ("1 v 1".into(), &[0.5, 0.5][..])
    );
    assert_eq!(chances.picked, None, "BALANCE has not picked these teams");
    let [c, bot] = [Some(2), Some(3)];
    let one = |cause, who, from, to, sizes: &str| (cause, who, from, to, sizes.to_owned());
    assert_eq!(
        announced(&chances),
        [
            one(TeamCause::Join, c, None, Some(1), "1 v 2"),
            one(TeamCause::Move, c, Some(1), Some(0), "2 v 1"),
            one(TeamCause::Move, c, Some(0), Some(1), "1 v 2"),
            one(TeamCause::Join, bot, None, Some(0), "2 v 2"),
            one(TeamCause::Move, bot, Some(0), Some(1), "1 v 3"),
            one(TeamCause::Leave, bot, Some(1), None, "1 v 2"),
            one(TeamCause::Leave, Some(0), Some(0), None, "0 v 2"),
        ],
        "the human b and the bot b are two players"
    );
    assert_eq!(chances.changes[4].teams.bots, [0, 1]);
    assert_eq!(chances.changes[4].teams.win, [0.25, 0.75]);
    let last = &chances.changes[6].teams;
    assert!(
        last.win.is_empty(),
        "nobody plays against a team without players"
    );
}

#[test]
fn auto_balance_and_a_second_balance_are_changes_too() {
    let mut settings = without_bots();
    settings.auto_balance = AutoBalanceRules::players_proposal();
    let mut game = Journaled::new(settings);
    game.apply(ctf());
    for player in 0..6 {
        game.join(&format!("p{player}"), Some(0));
    }
    game.join("other", Some(1));
    game.apply(Command::Start);
    game.now += 600_000;
    game.decide(|lobby, weights| drop(lobby.died(&ident("p0"), weights).unwrap()));
    game.balance();
    let chances = game.end();
    let causes: Vec<TeamCause> = chances.changes.iter().map(|change| change.cause).collect();
    assert_eq!(causes, [TeamCause::AutoMove, TeamCause::Balance]);
    let sizes: Vec<String> = chances
        .changes
        .iter()
        .map(|change| change.teams.sizes())
        .collect();
    assert!(
        sizes[0] == "5 v 2" && ["4 v 3", "3 v 4"].contains(&&*sizes[1]),
        "{sizes:?}"
    );
    assert_eq!(chances.picked, None, "it was in play");
}

#[test]
fn more_than_two_teams_have_a_chance_each_and_no_teams_have_none() {
    let mut three = Journaled::new(without_bots());
    three.apply(Command::Teams { teams: 3 });
    three.apply(ctf());
    for player in ["a", "b", "c", "d"] {
        three.join(player, None);
    }
    three.balance();
    three.apply(Command::Start);
    let chances = three.end();
    let picked = chances.picked.unwrap();
    assert_eq!(
        (picked.win.len(), &picked.win),
        (3, &chances.started.unwrap().win)
    );
    assert!((picked.win.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    let mut none = Journaled::new(without_bots());
    none.apply(game("dm", false));
    none.join("a", None);
    none.apply(Command::Start);
    none.join("b", None);
    assert_eq!(none.weights.0.get(), 0);
    assert_eq!(none.end(), MatchChances::default());
}

#[test]
fn thousands_of_moves_cost_a_bounded_number_of_predictions() {
    let mut game = Journaled::new(without_bots());
    game.apply(ctf());
    game.join("a", Some(0));
    game.join("b", Some(1));
    game.join("c", Some(1));
    game.apply(Command::Start);
    for turn in 0..5_000_u32 {
        game.apply(moved("c", u8::from(turn % 2 == 1)));
    }
    assert_eq!(game.weights.0.get(), 1 + MAX_TEAM_CHANGES as u32);
    assert_eq!(game.lobby.chance_summary().now, None, "they are not known");
    let bytes = postcard::to_stdvec(&game.lobby).unwrap();
    let read: Lobby = postcard::from_bytes(&bytes).unwrap();
    assert!(read.restored(game.lobby.settings.clone()).is_some());
    assert_eq!(game.end().changes.len(), MAX_TEAM_CHANGES);
}

#[test]
fn a_journal_cannot_bring_impossible_numbers() {
    let mut game = Journaled::new(without_bots());
    game.apply(ctf());
    let bad = TeamChances {
        win: vec![2.0, -1.0],
        humans: vec![1, 1],
        bots: vec![0, 0],
    };
    let refused = game.lobby.apply(&Command::Chances(bad.clone()), 5);
    assert_eq!(refused, Err(LobbyError::BadChances));
    let mut lobby = game.lobby.clone();
    lobby.game_mut().unwrap().recorder.chances.pick(&bad);
    assert!(lobby.restored(without_bots()).is_none());
}

#[derive(Clone, Debug)]
enum Step {
    Join(u8, Option<u8>),
    Leave(u8),
    Move(u8, u8),
    Bot(u8, Option<u8>),
    Place(u8),
    Balance,
    Start,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let (who, team) = (|| 0..6_u8, || 0..2_u8);
    let step = prop_oneof![
        (who(), proptest::option::of(team())).prop_map(|(who, team)| Step::Join(who, team)),
        who().prop_map(Step::Leave),
        (who(), team()).prop_map(|(who, team)| Step::Move(who, team)),
        (who(), proptest::option::of(team())).prop_map(|(who, team)| Step::Bot(who, team)),
        who().prop_map(Step::Place),
        Just(Step::Balance),
        Just(Step::Start),
    ];
    proptest::collection::vec(step, 0..60)
}

/// The numbers of players on two teams in the record, at a millisecond of play.
fn present(finished: &Finished, at: u64) -> [u32; 2] {
    let mut sizes = [0; 2];
    for stay in finished
        .record
        .participants
        .iter()
        .flat_map(|p| &p.presence)
    {
        if stay.span.from <= at && at < stay.span.to {
            sizes[usize::from(stay.team)] += 1;
        }
    }
    sizes
}

proptest! {
    #[test]
    fn the_sizes_after_each_change_are_those_of_the_record(steps in steps()) {
        let mut game = Journaled::new(without_bots());
        game.apply(ctf());
        for step in steps {
            let id = |who| format!("p{who}");
            match step {
                Step::Join(who, team) => game.join(&id(who), team),
                Step::Leave(who) => game.apply(leave(&id(who))),
                Step::Move(who, team) => game.apply(moved(&id(who), team)),
                Step::Bot(who, team) => {
                    let name = ident(&format!("b{who}"));
                    game.apply(match team {
                        Some(team) => Command::BotJoin { name, team },
                        None => Command::BotLeave { name },
                    });
                }
                Step::Place(who) => game.decide(|lobby, weights| drop(lobby.place(&ident(&id(who)), weights, 1))),
                Step::Balance => game.balance(),
                Step::Start => game.apply(Command::Start),
            }
        }
        game.apply(Command::Start);
        game.join("last", Some(0));
        let finished = game.replayed().at(game.now + 10).end(Verdict::Draw, &RecordFrame::default()).unwrap();
        let chances = game.end();
        prop_assert_eq!(&chances, &finished.chances);
        prop_assert!(chances.is_sound(finished.record.participants.len()));
        for change in &chances.changes {
            let sizes = change.teams.humans.iter().zip(&change.teams.bots);
            let sizes: Vec<u32> = sizes.map(|(humans, bots)| humans + bots).collect();
            prop_assert_eq!(sizes, present(&finished, change.at), "{:?}", change);
            // BALANCE replies a chance in any case.
            let empty = change.teams.sizes().split(" v ").any(|size| size == "0");
            prop_assert!(change.teams.win.is_empty() == empty || change.cause == TeamCause::Balance);
        }
    }
}
