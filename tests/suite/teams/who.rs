//! Who is meant by the names of a form: in any case, with slips, twice, hostile, hidden.

use std::{thread, time::Duration};

use serde_json::json;

use crate::{
    api::asked::until,
    common::{api::Api, forms::Browser, process::evenkeel},
};

/// Waits until the pages know so many players: they read what is stored, a moment after the daemon has learned it.
fn wait_for_players(api: &Api, players: usize) {
    until(api, "/v1/leaderboards/futsal", |board| {
        board["players"] == players
    });
}

/// A daemon that knows Ann, Bob Lee, two called Max, and somebody by a guid.
fn club(toml: &str) -> Api {
    let api = Api::start(toml);
    let named = |id: &str, name: &str| json!({"id": id, "name": name});
    let body = json!({"ruleset": "futsal", "winner": 0, "teams": [
        [named("ann", "Ann"), named("a1", "Max"), named("C3D2E5F6A7B8C9D0", "Mr. X")],
        [named("bob-lee", "Bob Lee"), named("b2", "max"), named("x", "<script>alert(1)</script>")],
    ]});
    assert_eq!(api.call("club", "POST", "/v1/matches", &body).0, 201);
    wait_for_players(&api, 6);
    api
}

fn pick(browser: &mut Browser<'_>, names: &str) -> u16 {
    browser.go("");
    browser.press("pick", &[("ruleset", "futsal"), ("names", names)])
}

#[test]
fn slips_are_offered_doubles_ask_and_new_names_need_one_tap() {
    let api = club("");
    let mut browser = Browser::open(&api, "");
    browser.sign_in("club");
    assert_eq!(pick(&mut browser, "ANN\nAna\nann\nmax\nZoe\nbob lee"), 200);
    for text in [
        "<bdi>Ana</bdi>: did you mean",
        "<bdi>Ann</bdi>, 1 game",
        "<bdi>ann</bdi> is there twice",
        "Somebody else: <bdi>ann 2</bdi>",
        "Which <bdi>max</bdi>?",
        "name=\"new\" value=\"Zoe\" checked",
    ] {
        assert!(browser.shows(text), "{text}: {}", browser.answer.body);
    }
    let page = browser.answer.body.clone();
    // Only a name that is like nobody's is chosen already.
    assert_eq!(page.matches(" checked").count(), 1, "{page}");
    let max: Vec<&str> = page.split("name=\"ask2\" value=\"on:").skip(1).collect();
    assert_eq!(max.len(), 2, "two are called so");
    let max = format!("on:{}", max[1].split('"').next().unwrap());
    let answers = [
        ("ask0", "new:Ana"),
        ("ask1", "drop"),
        ("ask2", max.as_str()),
    ];
    let questions = browser.form("pick", &answers);
    assert_eq!(browser.send(&questions), 200);
    let mut all = browser.teams().concat();
    all.sort_by_key(|name| name.to_lowercase());
    let called_max = all
        .iter()
        .position(|name| name.to_lowercase() == "max")
        .unwrap();
    all.remove(called_max);
    assert_eq!(all, ["Ana", "Ann", "Bob Lee", "Zoe"]);
    // The other answers, and back to the names as they were typed.
    pick(&mut browser, "ANN\nAna\nann");
    let back = browser.form("edit", &[]);
    let ann = browser
        .answer
        .body
        .split("name=\"ask0\" value=\"on:")
        .nth(1)
        .unwrap();
    let ann = format!("on:{}", ann.split('"').next().unwrap());
    let same = [("ask0", ann.as_str()), ("ask1", "new:ann 2")];
    assert_eq!(browser.press("pick", &same), 200);
    let mut two = browser.teams().concat();
    two.sort();
    assert_eq!(two, ["Ann", "ann 2"], "the slip was Ann, too");
    assert_eq!(browser.send(&back), 200);
    assert!(
        browser.shows(">Ana\nann</textarea>"),
        "{}",
        browser.answer.body
    );
}

#[test]
fn new_names_become_players_of_their_own() {
    let api = club("");
    let mut browser = Browser::open(&api, "");
    browser.sign_in("club");
    assert_eq!(pick(&mut browser, "Ann, Zoe Lee, C3D2E5F6A7B8C9D0"), 200);
    assert_eq!(browser.press("pick", &[]), 200);
    assert!(
        browser.teams().concat().contains(&"Mr. X".to_owned()),
        "an identity is found, too"
    );
    let team = browser.team_of("Zoe Lee");
    assert_eq!(browser.press(&format!("won-{team}"), &[]), 200);
    wait_for_players(&api, 7);
    // Now she is known, and the page can tick her; no identity was written anywhere.
    // The row of her match comes a moment after her weight.
    for _ in 0..500 {
        browser.go("");
        if browser.shows("<bdi>Zoe Lee</bdi>") {
            break;
        }
        thread::sleep(Duration::from_millis(20));
    }
    assert!(browser.shows("<bdi>Zoe Lee</bdi>"));
    assert!(!browser.shows("C3D2E5F6A7B8C9D0"));
    assert_eq!(pick(&mut browser, "zoe LEE, bob lee"), 200);
    assert_eq!(browser.teams().concat().len(), 2, "{}", browser.answer.body);
}

#[test]
fn hostile_names_are_text() {
    let api = club("");
    let mut browser = Browser::open(&api, "");
    browser.sign_in("club");
    let hostile = "\"><img src=x onerror=alert(1)>\n</textarea><script>alert(2)</script>\n<script>alert(1)</script>\n' or 1=1 --\n%00\n\u{202e}evil";
    let mut seen = String::new();
    assert_eq!(pick(&mut browser, hostile), 200, "{}", browser.answer.body);
    seen.push_str(&browser.answer.body);
    browser.press("edit", &[]);
    seen.push_str(&browser.answer.body);
    pick(&mut browser, hostile);
    assert_eq!(browser.press("pick", &[]), 200);
    seen.push_str(&browser.answer.body);
    assert_eq!(browser.press("won-0", &[("ruleset", "<b>futsal</b>")]), 200);
    seen.push_str(&browser.answer.body);
    browser.go("?ruleset=%22%3E%3Cb%3E");
    seen.push_str(&browser.answer.body);
    for tag in ["<img", "<script>", "<b>", "</textarea><script", "\u{202e}"] {
        assert!(
            !seen.contains(tag) || tag == "<b>" && !seen.contains("<b>futsal"),
            "{tag}"
        );
    }
    assert!(seen.contains("&lt;script&gt;alert(1)"));
}

#[test]
fn visitors_see_nobody_who_is_hidden() {
    let api = club("[api]\nenabled = true\nvisitors = true\n");
    let hidden = evenkeel(api.folder.path())
        .args(["player", "hide", "ann"])
        .output()
        .unwrap();
    assert!(hidden.status.success());
    let mut browser = Browser::open(&api, "");
    assert!(!browser.shows("<bdi>Ann</bdi>") && browser.shows("<bdi>Bob Lee</bdi>"));
    assert_eq!(pick(&mut browser, "ann, bob lee, Ana"), 200);
    assert!(
        browser.shows("value=\"ann\" checked"),
        "as if nobody had this name"
    );
    assert!(
        browser.shows("value=\"Ana\" checked"),
        "and she is offered to nobody"
    );
    assert_eq!(browser.press("pick", &[]), 200);
    let row = browser.answer.body.split("<bdi>ann</bdi>").nth(1).unwrap();
    assert!(row.starts_with("</li>"), "without a weight: {row}");
}

#[test]
fn forms_are_bounded() {
    let api = Api::start("[api]\nenabled = true\nvisitors = true\n");
    let mut browser = Browser::open(&api, "");
    assert_eq!(browser.send(&format!("names={}", "x".repeat(70_000))), 413);
    assert_eq!(browser.send(&"a=b&".repeat(1_500)), 400);
    assert_eq!(browser.send(""), 200, "the first page");
    assert_eq!(
        browser.send("do=pick&names=a,b&ruleset=&ask0=new:a&ask1=new:b"),
        200
    );
    let long = "x".repeat(300);
    assert_eq!(
        browser.send(&format!("do=pick&new=a&new=b&ruleset={long}")),
        400
    );
    assert!(browser.shows("ruleset: must have at most 255 bytes"));
    assert_eq!(
        browser.send("do=pick&on=00112233445566778899&new=b&ruleset=futsal"),
        400
    );
    assert!(browser.shows("Somebody who was ticked is not known any more."));
    assert_eq!(
        browser.send("do=won-0&seat=0:new:a&seat=1:new:b&ruleset=futsal&key=1"),
        401
    );
    assert_eq!(browser.send("do=undo&match=1"), 401);
}
