//! Experiments on one's own server, as an administrator tells them: which of two policies picks the teams of each game.

use std::{fs, path::Path};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::{
    api::Api,
    http::Pages,
    process::{Process, configured, poll, run},
};

const RANDOM_OR_BEST: &str = "[experiment]\nruleset = 'ctf'\n";

/// One game of eight players, with BALANCE, and its END.
fn game(seed: u64) -> String {
    let joins: String = (0..8).map(|player| format!("JOIN p{player}\n")).collect();
    format!("GAME ctf\n{joins}BALANCE seed={seed}\nEXPLAIN\nSTART\nSCORE 0\nEND\n")
}

/// Plays so many games on a server, one after the other. Returns what was said.
fn play(daemon: &Process, server: &str, games: u64) -> String {
    let games: String = (0..games).map(game).collect();
    daemon.ask(&format!("HELLO {server}\n{games}"))
}

fn status(folder: &Path) -> Value {
    let (code, out, error) = run(
        folder,
        &[
            "experiment",
            "status",
            "--json",
            "--config",
            "evenkeel.toml",
        ],
    );
    assert_eq!(code, 0, "{error}");
    serde_json::from_str(&out).unwrap()
}

/// The running experiment once so many matches of it are learned.
fn learned(folder: &Path, matches: u64) -> Value {
    poll(|| match status(folder)[0].clone() {
        shown if counts(&shown, "matches").iter().sum::<u64>() == matches => Ok(shown),
        shown => Err(shown.to_string()),
    })
}

fn counts(experiment: &Value, what: &str) -> [u64; 2] {
    [0, 1].map(|arm| experiment["arms"][arm][what].as_u64().unwrap())
}

/// The arms that EXPLAIN has named, in order.
fn arms(said: &str) -> Vec<char> {
    let named = said
        .lines()
        .filter_map(|line| line.split_once("belongs to arm "));
    named.map(|(_, arm)| arm.chars().next().unwrap()).collect()
}

#[test]
fn each_game_has_one_of_two_policies_and_says_which() {
    let folder = configured(RANDOM_OR_BEST);
    let daemon = Process::start_configured(folder.path());
    let said = play(&daemon, "alpha", 30);
    let arms = arms(&said);
    assert_eq!(arms.len(), 30, "{said}");
    assert!(said.contains("the teams were drawn at random"), "{said}");
    assert!(
        said.contains("belongs to arm b, Evenkeel's teams"),
        "{said}"
    );
    let all = [learned(folder.path(), 30)];
    let of = |arm: char| arms.iter().filter(|own| **own == arm).count() as u64;
    assert_eq!(counts(&all[0], "games"), [of('a'), of('b')]);
    assert_eq!(counts(&all[0], "matches"), [of('a'), of('b')]);
    assert!(of('a') >= 5 && of('b') >= 5, "{arms:?}");
    assert_eq!(all[0]["key"], Value::Null, "nobody knows the next arm");
    // Another ruleset is not in it.
    let other = daemon.ask("HELLO alpha\nGAME dm\nJOIN a\nSTART\nEND\n");
    assert!(!other.contains("ERROR"), "{other}");
    assert_eq!(
        counts(&status(folder.path())[0], "games")
            .iter()
            .sum::<u64>(),
        30
    );
    let (code, out, _) = run(folder.path(), &["experiment", "verify"]);
    assert_eq!(code, 0);
    assert!(
        out.contains("30 games of servers: every arm is the one that follows from the key"),
        "{out}"
    );
}

#[test]
fn asking_again_does_not_change_the_arm_and_neither_does_a_kill() {
    let folder = configured(RANDOM_OR_BEST);
    let mut daemon = Process::start_configured(folder.path());
    let joins = "JOIN a\nJOIN b\nJOIN c\nJOIN d\n";
    let said = daemon.ask(&format!(
        "HELLO alpha\nGAME ctf\n{joins}BALANCE\nEXPLAIN\nBALANCE\nEXPLAIN\n"
    ));
    let drawn = arms(&said);
    assert!(drawn.len() == 2 && drawn[0] == drawn[1], "{said}");
    for _ in 0..4 {
        daemon.kill();
        daemon = Process::start_configured(folder.path());
        let said = daemon.ask("HELLO alpha resume=yes\nBALANCE\nEXPLAIN\n");
        assert_eq!(arms(&said), drawn[..1], "{said}");
    }
    let said = daemon.ask("HELLO alpha resume=yes\nSTART\nSCORE 1\nEND\n");
    assert!(said.contains("END "), "{said}");
    let experiment = learned(folder.path(), 1);
    assert_eq!(counts(&experiment, "games").iter().sum::<u64>(), 1);
}

#[test]
fn a_mutator_that_makes_another_game_of_it_takes_it_out() {
    let folder = configured(RANDOM_OR_BEST);
    let daemon = Process::start_configured(folder.path());
    let joins: String = (0..8).map(|player| format!("JOIN p{player}\n")).collect();
    let said = daemon.ask(&format!(
        "HELLO alpha\nGAME ctf\n{joins}BALANCE\nEXPLAIN\nMUTATOR instagib\nBALANCE\nEXPLAIN\nSTART\nSCORE 0\nEND\n"
    ));
    assert_eq!(arms(&said).len(), 1, "{said}");
    assert!(said.contains("END "), "{said}");
    play(&daemon, "alpha", 2);
    let experiment = learned(folder.path(), 2);
    assert_eq!(counts(&experiment, "games").iter().sum::<u64>(), 3);
}

#[test]
fn teams_that_were_changed_by_hand_are_counted_and_others_are_not() {
    let folder = configured(RANDOM_OR_BEST);
    let daemon = Process::start_configured(folder.path());
    // What is learned between BALANCE and START moves the chances, but nobody.
    for match_of_others in 0..4 {
        let joins: String = (0..8).map(|player| format!("JOIN p{player}\n")).collect();
        let other = "HELLO beta\nGAME ctf\nJOIN p0 team=0\nJOIN p1 team=1\nSTART\nSCORE 0\nEND\n";
        let said = daemon.ask(&format!(
            "HELLO alpha\nGAME ctf\n{joins}BALANCE seed={match_of_others}\n"
        ));
        assert!(said.contains("BALANCE "), "{said}");
        assert!(daemon.ask(other).contains("END "));
        let said = daemon.ask("HELLO alpha resume=yes\nSTART\nSCORE 1\nEND\n");
        assert!(said.contains("END "), "{said}");
    }
    assert_eq!(counts(&status(folder.path())[0], "changed"), [0, 0]);
    let moved: String = (0..5).map(|player| format!("MOVE p{player} 0\n")).collect();
    let by_hand = game(9).replace("START", &format!("{moved}START"));
    let said = daemon.ask(&format!("HELLO alpha\n{by_hand}"));
    assert!(said.contains("END "), "{said}");
    assert_eq!(
        counts(&status(folder.path())[0], "changed")
            .iter()
            .sum::<u64>(),
        1
    );
}

#[test]
fn a_game_that_comes_again_with_the_same_players_keeps_its_arm() {
    let folder = configured(RANDOM_OR_BEST);
    let daemon = Process::start_configured(folder.path());
    // The map is restarted before play: nobody draws until the arm is welcome.
    let game = "GAME ctf\nJOIN a\nJOIN b\nJOIN c\nJOIN d\nBALANCE\nEXPLAIN\n";
    let said = daemon.ask(&format!("HELLO alpha\n{}", game.repeat(12)));
    let drawn = arms(&said);
    assert_eq!(drawn.len(), 12, "{said}");
    assert!(drawn.iter().all(|arm| *arm == drawn[0]), "{drawn:?}");
    assert_eq!(
        counts(&status(folder.path())[0], "games")
            .iter()
            .sum::<u64>(),
        1
    );
}

#[test]
fn a_game_that_nobody_has_asked_about_belongs_to_an_arm_too() {
    let folder = configured(RANDOM_OR_BEST);
    let daemon = Process::start_configured(folder.path());
    daemon.ask("HELLO alpha\nGAME ctf\nJOIN a team=0\nJOIN b team=1\nSTART\nSCORE 0\nEND\n");
    // On the same GAME, the next START begins the next game.
    daemon.ask(
        "HELLO beta\nGAME ctf\nJOIN a team=0\nJOIN b team=1\nSTART\nEND\nSTART\nSCORE 1\nEND\n",
    );
    let experiment = learned(folder.path(), 3);
    assert_eq!(counts(&experiment, "games").iter().sum::<u64>(), 3);
}

#[test]
fn a_change_of_what_a_policy_inherits_ends_it_and_shows_the_key() {
    let folder = configured(RANDOM_OR_BEST);
    let mut daemon = Process::start_configured(folder.path());
    play(&daemon, "alpha", 4);
    daemon.stop();
    let before = status(folder.path());
    // Nothing that matters to the policies.
    fs::write(
        folder.path().join("evenkeel.toml"),
        format!("{RANDOM_OR_BEST}[limits]\nnew_players_per_hour = 4000\n"),
    )
    .unwrap();
    let mut daemon = Process::start_configured(folder.path());
    assert_eq!(status(folder.path()).as_array().unwrap().len(), 1);
    daemon.stop();
    fs::write(
        folder.path().join("evenkeel.toml"),
        format!("{RANDOM_OR_BEST}[balance]\ntop = 7\n"),
    )
    .unwrap();
    let mut daemon = Process::start_configured(folder.path());
    let both = status(folder.path());
    assert_eq!(both.as_array().unwrap().len(), 2);
    assert_eq!(both[1]["commitment"], before[0]["commitment"]);
    assert_eq!(both[1]["key"].as_str().unwrap().len(), 64);
    assert!(
        both[1]["why_ended"].as_str().unwrap().contains("inherit"),
        "{both}"
    );
    assert_ne!(both[0]["commitment"], both[1]["commitment"]);
    daemon.stop();
    fs::write(folder.path().join("evenkeel.toml"), "").unwrap();
    let daemon = Process::start_configured(folder.path());
    let both = status(folder.path());
    assert!(
        both[0]["why_ended"]
            .as_str()
            .unwrap()
            .contains("no experiment any more"),
        "{both}"
    );
    let said = play(&daemon, "alpha", 1);
    assert!(arms(&said).is_empty(), "{said}");
}

#[test]
fn off_balances_nothing() {
    let policies = "[experiment.a]\nteams = 'off'\nname = 'no balancing'\n[experiment.b]\nteams = 'off'\nname = 'nothing'\nadvantage = 'off'\n";
    let folder = configured(&format!("{RANDOM_OR_BEST}{policies}"));
    let daemon = Process::start_configured(folder.path());
    let joins = "JOIN a team=0\nJOIN b team=0\nJOIN c team=0\nJOIN d team=0\nJOIN e team=1\n";
    let said = daemon.ask(&format!(
        "HELLO alpha\nGAME ctf\n{joins}BALANCE\nSTART\nSCORE 0\nSCORE 0\nJOIN late\nPLACE late\nREBALANCE\nADVANTAGE\nDEATH a\nPING\n"
    ));
    for line in ["TEAM 0 a\n", "TEAM 1 e\n", "PLACE late 1 ", "ADVANTAGE - "] {
        assert!(said.contains(line), "{line}: {said}");
    }
    assert!(!said.contains("MOVE "), "{said}");
}

#[test]
fn what_cannot_be_compared_is_refused_with_its_key() {
    for (toml, why) in [
        ("share = 0.01", "experiment.share must be 0.05 to 0.95"),
        (
            "[experiment.a]\nname = ''",
            "experiment.a.name must be a text",
        ),
        (
            "[experiment.a]\nteams = 'best'",
            "experiment.a must differ from policy b",
        ),
        (
            "[experiment.a]\nname = \"Evenkeel's teams\"",
            "experiment.a.name must not be the name",
        ),
        (
            "[experiment.b]\nfactors = { fun = 1.0 }",
            "experiment.b.factors has no factor fun",
        ),
        (
            "[experiment.a]\nteams = 'by-hand'\n[queue.duel]\nteams = 2\nsize = 1\nruleset = 'ctf'",
            "experiment.a.teams must be",
        ),
        (
            "[experiment.a]\nteams = 'worst'",
            "experiment.a.teams must be",
        ),
        ("outcome = 'retention'", "experiment.outcome must be"),
    ] {
        let folder = configured(&format!("{RANDOM_OR_BEST}{toml}\n"));
        let (code, _, error) = run(folder.path(), &["config", "check", "evenkeel.toml"]);
        assert!(code == 3 && error.contains(why), "{toml}: {code} {error}");
    }
}

/// A daemon with pages and `/v1`, for a client with the token `secret-…`.
fn pages(folder: &TempDir) -> Pages {
    let path = folder.path().join("evenkeel.toml");
    Pages::start(
        folder.path(),
        &[("EVENKEEL_CONFIG", path.to_str().unwrap())],
    )
}

#[test]
fn the_page_and_v1_say_what_is_known() {
    let folder = configured(&format!("{RANDOM_OR_BEST}[api]\nenabled = true\n"));
    let pages = pages(&folder);
    let empty = pages.get("/experiment");
    assert!(
        empty.status == 200 && empty.body.contains("too few matches"),
        "{}",
        empty.body
    );
    play(&pages.daemon, "alpha", 12);
    poll(|| {
        let page = pages.get("/experiment").body;
        match page.contains("12 matches") && page.contains("random teams") && page.contains("<svg")
        {
            true => Ok(()),
            false => Err(page),
        }
    });
    let answer: Value = serde_json::from_str(&pages.get("/v1/experiments").body).unwrap();
    assert_eq!(answer["experiments"][0], status(folder.path())[0]);
    assert_eq!(answer["experiments"][0]["ended"], json!(null));
    let game: Value = serde_json::from_str(&pages.get("/v1/matches/3").body).unwrap();
    let page = pages.get("/matches/3").body;
    let arm = game["arm"].as_str().unwrap();
    assert!(page.contains(&format!("belongs to arm {arm} of")), "{page}");
}

#[test]
fn over_http_people_keep_their_arm_until_a_result_is_recorded() {
    let mut api = Api::start("[experiment]\nruleset = 'futsal'\n");
    let body = |keep: bool, names: &[&str]| {
        let players: Vec<Value> = names.iter().map(|name| json!({"id": name})).collect();
        json!({"ruleset": "futsal", "players": players, "keep": keep})
    };
    let pick = |api: &Api, names: &[&str]| {
        let (status, answer) = api.call("club", "POST", "/v1/teams", &body(true, names));
        assert_eq!(status, 200, "{answer}");
        answer
    };
    let (_, loose) = api.call("asker", "POST", "/v1/teams", &body(false, &["a", "b"]));
    assert_eq!(loose["arm"], Value::Null, "{loose}");
    assert!(loose.get("arm").is_some());
    let other = json!({"ruleset": "chess", "players": [{"id": "a"}, {"id": "b"}], "keep": true});
    assert!(
        api.call("club", "POST", "/v1/teams", &other)
            .1
            .get("arm")
            .is_none()
    );
    let names = ["ann", "bob", "cid", "dan"];
    let mut arms = Vec::new();
    for round in 0..16 {
        let first = pick(&api, &names);
        // In another order, again and again, and after a kill: the arm is the same.
        let again = pick(&api, &["dan", "ann", "cid", "bob"]);
        assert_eq!(first["arm"], again["arm"]);
        if round == 1 {
            api.kill_and_start();
            assert_eq!(pick(&api, &names)["arm"], first["arm"]);
        }
        let why = first["why"].to_string();
        let named = format!("belongs to arm {}", first["arm"].as_str().unwrap());
        assert!(why.contains(&named), "{why}");
        // The result names the decision before the last one: it is of the same people.
        let team = |at: usize| -> Vec<Value> {
            let players = first["teams"][at]["players"].as_array().unwrap();
            players.iter().map(|one| one["id"].clone()).collect()
        };
        let result = json!({"ruleset": "futsal", "scores": [round % 3, 2], "decision": first["decision"],
                            "teams": [team(0), team(1)]});
        let (status, recorded) = api.call("club", "POST", "/v1/matches", &result);
        assert_eq!(status, 201, "{recorded}");
        arms.push(first["arm"].as_str().unwrap().to_owned());
    }
    assert!(
        arms.contains(&"a".to_owned()) && arms.contains(&"b".to_owned()),
        "{arms:?}"
    );
    let experiment = poll(|| {
        let (_, all) = api.call("", "GET", "/v1/experiments", &Value::Null);
        match all["experiments"][0].clone() {
            shown if counts(&shown, "matches").iter().sum::<u64>() == 16 => Ok(shown),
            shown => Err(shown.to_string()),
        }
    });
    assert_eq!(counts(&experiment, "games").iter().sum::<u64>(), 16);
    let of = |arm: &str| arms.iter().filter(|own| *own == arm).count() as u64;
    assert_eq!(counts(&experiment, "matches"), [of("a"), of("b")]);
}
