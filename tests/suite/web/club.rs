//! What a club types in after an evening, as its players read it: results without scores, maps and lengths, and names
//! from many countries.

use serde_json::{Value, json};

use crate::{
    api::asked::{until, wait_for_weight},
    common::{api::Api, forms::Browser, http::Pages, process::poll},
};

/// The text of a page, without what a browser reads.
fn page(api: &Api, path: &str) -> String {
    let answer = api.pages.get(path);
    assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    answer.body
}

/// Records a match of two against two, and returns its number.
fn record(api: &Api, result: (&str, Value)) -> i64 {
    let mut body = json!({"ruleset": "futsal", "teams": [["ann", "bob"], ["cid", "dan"]]});
    body[result.0] = result.1;
    let (status, answer) = api.call("club", "POST", "/v1/matches", &body);
    assert_eq!(status, 201, "{answer}");
    answer["match"].as_i64().unwrap()
}

#[test]
fn a_result_without_scores_has_none_anywhere() {
    let api = Api::start("");
    let won = record(&api, ("winner", json!(1)));
    let drawn = record(&api, ("draw", json!(true)));
    let found = until(&api, "/v1/players?q=ann", |found| {
        !found["players"].as_array().unwrap().is_empty()
    });
    let ann = found["players"][0]["player"]["handle"].as_str().unwrap();
    let own = until(&api, &format!("/v1/players/{ann}"), |own| {
        own["games"]
            .as_array()
            .is_some_and(|games| games.len() == 2)
    });
    for game in own["games"].as_array().unwrap() {
        let points = (&game["points_for"], &game["points_against"]);
        assert_eq!(points, (&Value::Null, &Value::Null), "{game}");
    }
    let one = format!("/matches/{won}");
    for path in [
        "/",
        "/matches",
        "/rulesets/futsal",
        &format!("/players/{ann}"),
        &one,
        &format!("/matches/{drawn}"),
        "/matches.atom",
        &format!("/embed{one}"),
    ] {
        // The record of a player is no score.
        let shown = page(&api, path).replace("0 : 1 : 1", "");
        for wrong in [
            "0 : 1",
            "0 : 0",
            "1 : 0",
            "(no name)",
            "20:00",
            "Match 1 on",
        ] {
            assert!(!shown.contains(wrong), "{path}: {wrong}: {shown}");
        }
    }
    let (list, feed) = (page(&api, "/matches"), page(&api, "/matches.atom"));
    assert!(
        list.contains(">team 1 won<") && list.contains(">draw<"),
        "{list}"
    );
    assert!(
        !list.contains("scope=\"col\">Map<"),
        "no match has one: {list}"
    );
    assert!(
        feed.contains("<title>Team 1 won</title>"),
        "nobody was the favourite: {feed}"
    );
    // A score is shown, on a telephone, too.
    record(&api, ("scores", json!([2, 5])));
    let list = poll(|| match page(&api, "/matches") {
        list if list.contains("2 : 5") => Ok(list),
        list => Err(list),
    });
    assert!(
        list.contains("<span class=\"num\">2 : 5</span> <span class=\"wide\">team 1 won</span>"),
        "{list}"
    );
}

#[test]
fn who_is_as_strong_as_the_others_is_no_favourite() {
    let api = Api::start("");
    let first = record(&api, ("winner", json!(0)));
    wait_for_weight(&api, "ann");
    let shown = page(&api, &format!("/matches/{first}"));
    assert!(shown.contains("Forecast: even."), "{shown}");
    assert!(
        !shown.contains("50\u{a0}%</") && !shown.contains("team 0, 50"),
        "{shown}"
    );
}

#[test]
fn an_undone_match_is_marked_wherever_it_is_listed() {
    let api = Api::start("");
    let number = record(&api, ("winner", json!(1)));
    wait_for_weight(&api, "ann");
    let path = format!("/v1/matches/{number}/void");
    assert_eq!(api.call("club", "POST", &path, &json!({})).0, 200);
    let list = poll(|| match page(&api, "/matches") {
        list if list.contains("<span class=\"tag\">void</span>") => Ok(list),
        list => Err(list),
    });
    assert!(list.contains("team 1 won"), "{list}");
    let feed = page(&api, "/matches.atom");
    assert!(feed.contains("<title>Void: Team 1 won"), "{feed}");
    let shown = page(&api, &format!("/matches/{number}"));
    assert!(
        shown.contains("It was undone, or declared void."),
        "{shown}"
    );
    assert!(
        shown.contains("content=\"Void: Team 1 won"),
        "the preview: {shown}"
    );
}

#[test]
fn what_is_not_there_is_said_and_leads_nowhere() {
    let api = Api::start("");
    record(&api, ("winner", json!(1)));
    wait_for_weight(&api, "ann");
    poll(|| match api.pages.get("/rulesets/futsal").status {
        200 => Ok(()),
        other => Err(other),
    });
    let missing = api.pages.get("/rulesets/futsal?page=999");
    assert_eq!(missing.status, 404);
    assert!(
        missing.body.contains("There is no such page."),
        "{}",
        missing.body
    );
    for (path, why) in [
        ("/matches?map=typo", "There is no map “typo”."),
        ("/matches?server=typo", "There is no server “typo”."),
        ("/matches?ruleset=typo", "There is no game type “typo”."),
        ("/matches?picked=true", "No match fits."),
        (
            "/regulars?ruleset=futsal&kind=bot",
            "Nobody has played futsal lately.",
        ),
    ] {
        let shown = page(&api, path);
        assert!(shown.contains(why), "{path}: {shown}");
    }
    let board = page(&api, "/rulesets/futsal");
    assert!(
        !board.contains(">Bots<") && board.contains("Regulars over time"),
        "{board}"
    );
}

#[test]
fn names_of_all_countries_are_found_and_shown_as_they_are() {
    let api = Api::start("");
    let family = "👨\u{200d}👩\u{200d}👧";
    let named = |id: &str, name: &str| json!({"id": id, "name": name});
    let teams = json!([
        [named("a", "Zoë"), named("b", "Jose\u{301}")],
        [named("c", "И\u{306}"), named("d", family)],
    ]);
    let body = json!({"ruleset": "futsal", "teams": teams, "winner": 0});
    assert_eq!(api.call("club", "POST", "/v1/matches", &body).0, 201);
    wait_for_weight(&api, "a");
    for (search, name) in [
        ("zoe", "Zoë"),
        ("ZOË", "Zoë"),
        ("jose", "José"),
        ("й", "Й"),
        ("👩", family),
    ] {
        let encoded: String = search.bytes().map(|byte| format!("%{byte:02X}")).collect();
        let found = poll(|| {
            let body = api.pages.get(&format!("/search?q={encoded}")).body;
            match body.contains("1 player<") {
                true => Ok(body),
                false => Err(body),
            }
        });
        assert!(found.contains(&format!(">{name}<")), "{search}: {found}");
    }
}

#[test]
fn who_asks_too_often_reads_a_page() {
    let folder = tempfile::TempDir::new().unwrap();
    let limit = [("EVENKEEL_WEB_REQUESTS_PER_SECOND", "1")];
    let pages = Pages::start(folder.path(), &limit);
    let refused = poll(|| match pages.get("/") {
        answer if answer.status == 429 => Ok(answer),
        answer => Err(answer.status),
    });
    assert!(
        refused.body.contains("<h1>You ask too often."),
        "{}",
        refused.body
    );
    assert_eq!(refused.field("retry-after"), Some("1"));
    assert_eq!(
        refused.field("content-type"),
        Some("text/html; charset=utf-8")
    );
}

/// A browser with teams of four, of which it may record the result.
fn teams_of_four<'a>(api: &'a Api, more: &[(&str, &str)]) -> Browser<'a> {
    let mut browser = Browser::open(api, "");
    browser.sign_in("club");
    let mut filled = vec![("ruleset", "futsal"), ("names", "Ann, Bob, Cid, Dan")];
    filled.extend(more);
    assert_eq!(browser.press("pick", &filled), 200);
    if browser.shows("Who is who?") {
        assert_eq!(browser.press("pick", &[]), 200);
    }
    browser
}

#[test]
fn a_second_telephone_is_asked_before_it_records_the_same_game() {
    let api = Api::start("");
    let together = [
        ("together", "Ann, Bob\nCid, Dan"),
        ("pinned", "0: Ann\n1: Cid"),
    ];
    let mut first = teams_of_four(&api, &together);
    let mut second = teams_of_four(&api, &together);
    assert_eq!(first.press("won-0", &[]), 200);
    assert_eq!(second.press("won-0", &[]), 409);
    assert!(
        second.shows("This game seems to be recorded already, as match 1."),
        "{}",
        second.answer.body
    );
    assert_eq!(api.matches(), 1);
    // Another result is another game, and so is the same one if the organiser says so.
    assert_eq!(second.press("won-0", &[]), 200, "{}", second.answer.body);
    assert_eq!(api.matches(), 2);
    let mut third = teams_of_four(&api, &together);
    assert_eq!(third.press("won-1", &[]), 200);
    assert_eq!(api.matches(), 3);
}

#[test]
fn wishes_that_contradict_each_other_are_said_first() {
    let api = Api::start("");
    let both = [("together", "Ann, Bob"), ("apart", "Ann, Bob")];
    let browser = teams_of_four(&api, &both);
    let alert = browser.answer.body.find("was not possible: Ann, Bob.");
    let teams = browser.answer.body.find("<h1>2 v 2</h1>").unwrap();
    assert!(
        alert.is_some_and(|at| at < teams),
        "{}",
        browser.answer.body
    );
    let three = teams_of_four(&api, &[("apart", "Ann, Bob, Cid")]);
    assert!(three.shows("Apart was not possible: Ann, Bob, Cid."));
    let kept = teams_of_four(&api, &[("apart", "Ann, Bob")]);
    assert!(!kept.shows("was not possible"));
}
