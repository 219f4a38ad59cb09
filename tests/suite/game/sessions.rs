//! Random sequences of valid lines: no player is lost, no team is invented, no reply is an internal
//! error, and a player who joins and leaves changes nothing.

use std::{cell::RefCell, collections::BTreeSet, sync::Arc};

use crate::common::{Client, Daemon, game};
use evenkeel::{
    model::Kind::{Bot, Human},
    session::HandClock,
};
use proptest::{
    collection::vec,
    prelude::*,
    sample::select,
    test_runner::{Config, RngAlgorithm, TestCaseError, TestRng, TestRunner},
};
use tokio::runtime::Runtime;

const HUMANS: [&str; 7] = ["a", "b", "c", "d", "e", "René", "\"Boring John\""];
const BOTS: [&str; 3] = ["Sarge", "Grunt", "X"];

/// One or several lines of a game server.
#[derive(Clone, Debug)]
enum Step {
    Say(String),
    Wait(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let id = || select(&HUMANS[..]);
    let bot = || select(&BOTS[..]);
    let team = || 0u8..4;
    let join = (
        id(),
        proptest::option::of(team()),
        proptest::option::of(select(&["x", "y", ""][..])),
        proptest::option::of(select(&["0", "1", "2", ""][..])),
        proptest::option::of(id()),
    );
    let join = join.prop_map(|(id, team, party, pin, avoid)| {
        let mut line = format!("JOIN {id}");
        line.extend(team.map(|team| format!(" team={team}")));
        line.extend(party.map(|party| format!(" party={party}")));
        line.extend(pin.map(|pin| format!(" pin={pin}")));
        line.extend(avoid.map(|avoid| format!(" avoid={avoid}")));
        line
    });
    let plain = select(
        &[
            "START",
            "END",
            "END draw",
            "END 1",
            "ADVANTAGE",
            "BOTS",
            "EXPLAIN",
            "REBALANCE",
            "REBALANCE seed=3",
            "BALANCE",
            "BALANCE seed=9 top=1",
            "GAME ctf",
            "GAME dm",
            "TEAMS 2",
            "TEAMS 3",
            "MINPLAYERS 0",
            "MINPLAYERS 9",
            "MAP m 4 8",
            "MAP n",
            "MUTATOR q",
            "CLOCK 600",
            "CLOCK 10",
            "MEANBOT",
        ][..],
    );
    let plain = plain.prop_map(str::to_owned);
    let line = prop_oneof![
        6 => join,
        2 => id().prop_map(|id| format!("LEAVE {id}")),
        3 => (id(), team()).prop_map(|(id, team)| format!("MOVE {id} {team}")),
        3 => id().prop_map(|id| format!("PLACE {id}")),
        2 => (bot(), team()).prop_map(|(bot, team)| format!("BOTJOIN {bot} {team}")),
        1 => bot().prop_map(|bot| format!("BOTLEAVE {bot}")),
        1 => (id(), 0u32..60).prop_map(|(id, seconds)| format!("PROTECT {id} {seconds}")),
        1 => id().prop_map(|id| format!("ROLE {id} commander")),
        3 => id().prop_map(|id| format!("DEATH {id}")),
        1 => (id(), bot()).prop_map(|(id, bot)| format!("KILL {id} {bot}")),
        1 => (id(), -5i32..50).prop_map(|(id, points)| format!("POINTS {id} {points}")),
        2 => (team(), -2i32..9).prop_map(|(team, points)| format!("SCORE {team} {points}")),
        8 => plain,
    ];
    prop_oneof![
        9 => line.prop_map(Step::Say),
        1 => (0u64..100_000).prop_map(Step::Wait),
    ]
}

/// A model of the game, as its server knows it.
#[derive(Debug, Default)]
struct Model {
    in_game: bool,
    has_teams: bool,
    teams: u8,
    /// The humans in JOIN order, with their teams.
    humans: Vec<(String, Option<u8>)>,
    /// The verbs that had a reply, and whether the reply had more than one line.
    answered: BTreeSet<String>,
}

impl Model {
    /// Applies a line to the model and checks the daemon's reply against it.
    fn check_reply(&mut self, line: &str, reply: &[String]) -> Result<(), TestCaseError> {
        let first = reply.first().map_or("", String::as_str);
        if let Some(error) = first.strip_prefix("ERROR ") {
            let code = error.split(' ').next().unwrap_or("");
            let known = ["bad-argument", "no-game", "unknown-player", "not-allowed"];
            prop_assert!(known.contains(&code), "{}: {}", line, first);
            return Ok(());
        }
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        if reply.iter().any(|line| !line.ends_with(" - 1.000")) {
            let how = if reply.len() > 1 { " with lines" } else { "" };
            self.answered.insert(format!("{verb}{how}"));
        }
        let id = HUMANS.iter().find(|id| rest.starts_with(**id));
        let id = id.copied().unwrap_or("");
        let after = rest.strip_prefix(id).unwrap_or("").trim();
        match verb {
            "GAME" => {
                self.humans.clear();
                (self.in_game, self.has_teams) = (true, rest == "ctf");
            }
            "TEAMS" => {
                self.teams = rest.parse().unwrap();
                // It is accepted although somebody is on a team that is gone only after END.
                for (_, team) in &mut self.humans {
                    *team = team.filter(|team| *team < self.teams);
                }
            }
            "JOIN" => {
                let team = after.split(' ').find_map(|word| word.strip_prefix("team="));
                let team = team.map(|team| team.parse().unwrap());
                match self.humans.iter_mut().find(|(who, _)| who == id) {
                    Some(human) => human.1 = team.or(human.1),
                    None => self.humans.push((id.to_owned(), team)),
                }
                prop_assert!(team.is_none_or(|team: u8| team < self.teams));
            }
            "LEAVE" => {
                let before = self.humans.len();
                self.humans.retain(|(who, _)| who != id);
                prop_assert_eq!(self.humans.len(), before - 1);
            }
            "MOVE" => self.put(id, after)?,
            "PLACE" => {
                let answer = first.strip_prefix(&format!("PLACE {id} ")).unwrap_or("?");
                self.put(id, answer.split(' ').next().unwrap())?;
            }
            "DEATH" if !first.is_empty() => {
                let (from, to) = self.step(first)?;
                let of_theirs = first.starts_with(&format!("MOVE {id} "));
                prop_assert!(of_theirs && from.is_some(), "{}", first);
                self.put(id, &to.to_string())?;
            }
            "REBALANCE" => {
                for line in &reply[1..] {
                    self.step(line)?;
                }
            }
            "BALANCE" => self.chosen(&reply[1..])?,
            "BOTS" => {
                let numbers = first.split(' ').skip(2).count();
                let wanted = if self.has_teams { self.teams.into() } else { 1 };
                prop_assert_eq!(numbers, wanted);
            }
            _ => {}
        }
        Ok(())
    }

    /// Checks that the reply to BALANCE has each player on one team, in JOIN order.
    fn chosen(&mut self, lines: &[String]) -> Result<(), TestCaseError> {
        let teams: Vec<&str> = lines
            .iter()
            .filter_map(|line| line.strip_prefix("TEAM "))
            .collect();
        prop_assert_eq!(teams.len(), self.humans.len());
        for (index, line) in teams.into_iter().enumerate() {
            let (team, id) = line.split_once(' ').unwrap();
            prop_assert_eq!(id, &self.humans[index].0);
            let id = id.to_owned();
            self.put(&id, team)?;
        }
        let bots = lines
            .iter()
            .filter(|line| line.starts_with("BOTS "))
            .count();
        prop_assert_eq!(bots, usize::from(self.teams));
        Ok(())
    }

    /// Checks that `MOVE id from to` names a player in the game.
    fn step(&self, line: &str) -> Result<(Option<u8>, u8), TestCaseError> {
        let rest = line.strip_prefix("MOVE ").unwrap_or("? ? ?");
        let mut words = rest.rsplitn(3, ' ');
        let to: u8 = words.next().unwrap().parse().unwrap();
        let from = words.next().unwrap().parse().ok();
        let id = words.next().unwrap_or("");
        let human = self.humans.iter().find(|(who, _)| who == id);
        prop_assert_eq!(human.map(|(_, team)| *team), Some(from), "{}", line);
        prop_assert!(to < self.teams && from != Some(to), "{}", line);
        Ok((from, to))
    }

    fn put(&mut self, id: &str, team: &str) -> Result<(), TestCaseError> {
        let team = team.parse().ok().filter(|team| *team < self.teams);
        let human = self.humans.iter_mut().find(|(who, _)| who == id);
        prop_assert!(team.is_some() && human.is_some(), "{} on {:?}", id, team);
        human.unwrap().1 = team;
        Ok(())
    }
}

/// Sends a line and returns everything that the daemon replies.
async fn ask(client: &mut Client, line: &str) -> Vec<String> {
    client.send(&format!("{line}\nPING\n")).await;
    let mut lines = Vec::new();
    loop {
        let line = client.line().await;
        assert!(!line.is_empty(), "the connection was closed");
        if line == "PONG" {
            return lines;
        }
        lines.push(line);
    }
}

async fn knowing() -> (Daemon, Arc<HandClock>) {
    let toml = "server.max_errors = 1000000\nrating.system = 'presence'";
    let (daemon, clock) = Daemon::start_by_hand(toml).await;
    let (red, blue) = (
        [(Human, "a"), (Bot, "Sarge")],
        [(Human, "René"), (Bot, "Grunt")],
    );
    let record = game(0, &red, &blue, [5.0, 1.0]);
    daemon
        .service
        .store()
        .matches()
        .record(&record)
        .await
        .unwrap();
    daemon.service.learning().refresh().await.unwrap();
    (daemon, clock)
}

/// Runs the same cases every time, so that their coverage can be asserted.
fn runner(cases: u32) -> TestRunner {
    let config = Config {
        cases,
        failure_persistence: None,
        ..Config::default()
    };
    let chance = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    TestRunner::new_with_rng(config, chance)
}

#[test]
fn nobody_is_lost_and_no_team_is_made_up() {
    let runtime = Runtime::new().unwrap();
    let (daemon, clock) = runtime.block_on(knowing());
    let answered = RefCell::new(BTreeSet::new());
    let mut runner = runner(384);
    let outcome = runner.run(&(vec(step(), 1..120), any::<bool>()), |(steps, uneven)| {
        runtime.block_on(async {
            let mut client = daemon.client().await;
            let mut model = Model {
                teams: 2,
                ..Model::default()
            };
            let lopsided = [
                "JOIN a team=0",
                "JOIN b team=0",
                "JOIN c team=0",
                "JOIN d team=1",
            ];
            let begin = ["GAME ctf", "MINPLAYERS 0", "START"].into_iter();
            for line in begin.chain(lopsided.into_iter().take(if uneven { 4 } else { 0 })) {
                let reply = ask(&mut client, line).await;
                model.check_reply(line, &reply)?;
            }
            for step in steps {
                match step {
                    Step::Wait(millis) => clock.pass(millis),
                    Step::Say(line) => {
                        let reply = ask(&mut client, &line).await;
                        model.check_reply(&line, &reply)?;
                    }
                }
            }
            // At the end, the daemon's roster is that of the model.
            let reply = ask(&mut client, "BALANCE").await;
            model.check_reply("BALANCE", &reply)?;
            answered.borrow_mut().append(&mut model.answered);
            Ok(())
        })
    });
    outcome.unwrap();
    let answered = answered.into_inner();
    for verb in [
        "PLACE",
        "ADVANTAGE",
        "REBALANCE",
        "REBALANCE with lines",
        "BALANCE with lines",
        "BOTS",
        "DEATH",
        "END",
        "EXPLAIN with lines",
    ] {
        assert!(
            answered.contains(verb),
            "{verb} was never put to the test: {answered:?}"
        );
    }
}

#[test]
fn who_comes_and_goes_leaves_no_trace() {
    let runtime = Runtime::new().unwrap();
    let (daemon, _clock) = runtime.block_on(knowing());
    let mut runner = runner(128);
    let says = |steps: Vec<Step>| {
        let lines = steps.into_iter().filter_map(|step| match step {
            // Seeds and numbers of matches differ between the two sessions.
            Step::Say(line) if line == "BALANCE" || line == "REBALANCE" => {
                Some(format!("{line} seed=4"))
            }
            Step::Say(line) if line.starts_with("END") || line.starts_with("PLACE") => None,
            Step::Say(line) => Some(line),
            Step::Wait(_) => None,
        });
        lines.collect::<Vec<_>>()
    };
    let strategy = (
        vec(step(), 1..40).prop_map(says),
        0u8..4,
        select(&["", " party=x", " pin=0", " avoid=a"][..]),
    );
    let outcome = runner.run(&strategy, |(lines, team, option)| {
        runtime.block_on(async {
            let mut answers = Vec::new();
            for visitor in [false, true] {
                let mut client = daemon.client().await;
                ask(&mut client, "GAME ctf").await;
                for line in &lines {
                    ask(&mut client, line).await;
                }
                if visitor {
                    let joined = ask(&mut client, &format!("JOIN zed team={team}{option}")).await;
                    let left = ask(&mut client, "LEAVE zed").await;
                    prop_assert_eq!(joined.is_empty(), left.is_empty());
                }
                let mut transcripts = Vec::new();
                for line in [
                    "BOTS",
                    "ADVANTAGE",
                    "REBALANCE seed=1",
                    "BALANCE seed=1 top=3",
                    "BOTS",
                ] {
                    transcripts.push(ask(&mut client, line).await);
                }
                answers.push(transcripts);
            }
            prop_assert_eq!(&answers[0], &answers[1]);
            Ok(())
        })
    });
    outcome.unwrap();
}
