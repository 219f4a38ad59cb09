//! What visitors read: the names of teams where the game has them.

use std::fs;

use tempfile::TempDir;

use super::{
    json,
    live::{play, tell},
};
use crate::common::{hostile, http::Pages, process::evenkeel};

const NAMES: &str = "[game_types.teams]\n\"baseoa.*\" = [\"Blue\", \"Red\"]\n";

#[test]
fn teams_have_the_names_and_colours_of_their_game_type() {
    let folder = TempDir::new().unwrap();
    hostile::ingest_season(folder.path());
    fs::write(folder.path().join("evenkeel.toml"), NAMES).unwrap();
    let pages = Pages::start(folder.path(), &[("EVENKEEL_CONFIG", "evenkeel.toml")]);
    let list = json(&pages, "/v1/matches?ruleset=baseoa.ctf");
    let mut won = list["matches"].as_array().unwrap().iter();
    let won = won.find(|line| line["outcome"] == "won").unwrap();
    let name = ["Blue", "Red"][won["winner"].as_u64().unwrap() as usize];
    let page = pages.get(&format!("/matches/{}", won["id"])).body;
    assert!(page.contains(&format!("{name} won.")), "{page}");
    // Team 0 is called Blue, and has the colour that team 1 has without names.
    assert!(
        page.contains("<span class=\"team t1\">Blue</span>"),
        "{page}"
    );
    assert!(
        !page.contains("Team 0") && !page.contains("team 1"),
        "{page}"
    );
    for path in ["/matches", "/rulesets/baseoa.ctf?kind=bot", "/matches.atom"] {
        let body = pages.get(path).body;
        assert!(
            body.contains("Blue won") && body.contains("Red won"),
            "{path}: {body}"
        );
    }
    assert!(pages.get("/balance").body.contains("Blue won"));
    let map = pages.get("/maps/ps37ctf").body;
    assert!(
        map.contains(">Blue won<") && !map.contains("Team 0"),
        "{map}"
    );
    let mut stream = play(&pages);
    tell(&mut stream, "SCORE 0\n");
    let live = pages.get("/live").body;
    assert!(
        live.contains(">Blue</span>") && live.contains(">Red</span>"),
        "{live}"
    );
}

#[test]
fn names_of_teams_that_do_not_fit_are_refused_with_their_key() {
    let folder = TempDir::new().unwrap();
    for wrong in [
        "\"a\" = [\"one\"]",
        "\"a\" = [\"\", \"b\"]",
        "\"[\" = [\"a\", \"b\"]",
    ] {
        fs::write(
            folder.path().join("evenkeel.toml"),
            format!("[game_types.teams]\n{wrong}\n"),
        )
        .unwrap();
        let run = evenkeel(folder.path())
            .args(["config", "check", "evenkeel.toml"])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&run.stderr).into_owned()
            + &String::from_utf8_lossy(&run.stdout);
        assert!(
            !run.status.success() && said.contains("teams"),
            "{wrong}: {said}"
        );
    }
}
