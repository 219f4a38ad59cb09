//! Teams, results, and results that are undone, as a club uses the page.

use serde_json::{Value, json};

use crate::common::{api::Api, forms::Browser, http::Pages};

const FIVE: &str = "Ann, Bob, Cid, Dan, Eve";

/// A browser that is signed in, with teams of these people.
fn picked<'a>(api: &'a Api, names: &str, more: &[(&str, &str)]) -> Browser<'a> {
    let mut browser = Browser::open(api, "");
    browser.sign_in("club");
    let mut filled = vec![("ruleset", "futsal"), ("names", names)];
    filled.extend(more);
    assert_eq!(
        browser.press("pick", &filled),
        200,
        "{}",
        browser.answer.body
    );
    if browser.shows("Who is who?") {
        assert_eq!(browser.press("pick", &[]), 200, "{}", browser.answer.body);
    }
    browser
}

fn latest(api: &Api) -> Value {
    let (_, list) = api.call("", "GET", "/v1/matches", &Value::Null);
    list["matches"][0].clone()
}

#[test]
fn without_the_api_there_is_no_page_and_no_link_to_it() {
    let folder = tempfile::TempDir::new().unwrap();
    let pages = Pages::start(folder.path(), &[]);
    assert_eq!(pages.get("/teams").status, 404);
    assert_eq!(pages.request("POST", "/teams", "").status, 404);
    assert!(!pages.get("/").body.contains("/teams\""));
    let api = Api::start("");
    assert!(api.pages.get("/").body.contains("href=\"/teams\""));
    let page = api.pages.get("/teams");
    assert_eq!(page.status, 200);
    assert_eq!(page.field("cache-control"), Some("no-store"));
    let policy = page.field("content-security-policy").unwrap();
    assert!(policy.contains("script-src 'self'") && policy.contains("form-action 'self'"));
}

#[test]
fn a_club_records_undoes_and_plays_on_with_the_page_alone() {
    let api = Api::start("");
    let mut browser = picked(&api, FIVE, &[]);
    assert!(browser.shows("<h1>3 v 2</h1>") || browser.shows("<h1>2 v 3</h1>"));
    assert!(browser.shows("Nothing is known of anybody yet."));
    let teams = browser.teams();
    assert_eq!(browser.press("won-1", &[]), 200);
    assert!(
        browser.shows("Team 1 won. It is "),
        "{}",
        browser.answer.body
    );
    assert_eq!(browser.teams(), teams);
    let line = latest(&api);
    assert_eq!(
        (&line["winner"], &line["server"]),
        (&json!(1), &json!("club"))
    );
    // Undone, and as it should have been.
    assert_eq!(browser.press("undo", &[]), 200);
    assert!(browser.shows("does not count any more"));
    assert_eq!(browser.teams(), teams);
    assert_eq!(browser.press("draw", &[]), 200);
    assert_eq!(api.matches(), 2);
    assert_eq!(latest(&api)["outcome"], "draw");
    // The same people again, and then with the score.
    assert_eq!(browser.press("pick", &[]), 200, "{}", browser.answer.body);
    assert_eq!(browser.teams().concat().len(), 5);
    let wrong = browser.form("score", &[("score", "")]);
    assert_eq!(browser.send(&format!("{wrong}&score=x")), 400);
    assert!(browser.shows("State the score of each team as a number."));
    let scores = browser.form("score", &[("score", "3")]);
    assert_eq!(browser.send(&format!("{scores}&score=2")), 200);
    assert!(browser.shows("3 : 2."), "{}", browser.answer.body);
    assert_eq!(latest(&api)["scores"], json!([3.0, 2.0]));
    assert_eq!(api.matches(), 3);
    // The start offers to undo what was recorded last, and the people who played.
    assert_eq!(browser.press("edit", &[]), 200);
    assert!(
        browser.shows("Recorded last: ") && browser.answer.body.matches(" checked>").count() == 5
    );
    assert_eq!(browser.press("undo", &[]), 200);
    assert!(browser.shows("<h1>Undone</h1>"));
}

#[test]
fn teams_have_the_names_and_colours_of_their_game_type() {
    let api = Api::start("[game_types.teams]\nfutsal = [\"Blue\", \"Red\"]\n");
    let mut browser = picked(&api, FIVE, &[]);
    assert!(browser.shows("class=\"team t1\">Blue"));
    assert!(browser.shows(">Red won</button>") && browser.shows(">Blue won</button>"));
    assert_eq!(browser.press("won-1", &[]), 200);
    assert!(browser.shows("Red won. It is "), "{}", browser.answer.body);
    crate::api::asked::wait_for_weight(&api, "ann");
    assert_eq!(browser.press("pick", &[]), 200);
    assert!(browser.shows("Blue wins with ") && browser.shows("Red with "));
    for number in ["Team 0", "Team 1", "team 0 ", "team 1 "] {
        assert!(!browser.shows(number), "{number}: {}", browser.answer.body);
    }
    assert_eq!(browser.press("edit", &[]), 200);
    assert!(browser.shows("Red won, "), "what was recorded last");
}

#[test]
fn a_double_tap_records_once_and_another_result_is_not_recorded_beside_it() {
    let mut api = Api::start("");
    let mut browser = picked(&api, FIVE, &[]);
    let (won, lost) = (browser.form("won-0", &[]), browser.form("won-1", &[]));
    assert_eq!(browser.send(&won), 200);
    let first = browser.answer.body.clone();
    assert_eq!(browser.send(&won), 200);
    let number = |page: &str| {
        page.split("match ")
            .nth(1)
            .unwrap()
            .split('<')
            .next()
            .unwrap()
            .to_owned()
    };
    assert_eq!(number(&browser.answer.body), number(&first));
    assert_eq!(browser.send(&lost), 422);
    assert!(browser.shows("This game is recorded already, with another result."));
    assert_eq!(browser.press("undo", &[]), 200, "the page offers it");
    let (cookie, origin) = (browser.cookie.clone(), browser.origin.clone());
    drop(browser);
    assert_eq!(api.matches(), 1);
    // A restart loses nothing: all that a form needs is in it.
    api.kill_and_start();
    let mut browser = Browser::open(&api, "");
    assert_ne!(browser.origin, origin);
    browser.cookie = cookie;
    assert_eq!(browser.send(&won), 200);
    assert_eq!(number(&browser.answer.body), number(&first));
    assert_eq!(api.matches(), 1);
}

#[test]
fn again_gives_the_next_best_teams_until_all_were_shown() {
    let api = Api::start("");
    let mut browser = picked(&api, "Ann, Bob, Cid, Dan", &[]);
    let mut seen = std::collections::BTreeSet::new();
    let sides = |browser: &Browser<'_>| {
        let mut teams = browser.teams();
        teams.iter_mut().for_each(|team| team.sort());
        teams.sort();
        teams
    };
    for number in 1..=3 {
        assert!(browser.shows(&format!("number {number} of the 3 best")));
        assert!(seen.insert(sides(&browser)), "{seen:?}");
        assert!(browser.shows("The closest alternative") && browser.shows("Why these teams"));
        browser.press("again", &[]);
    }
    assert!(browser.shows("number 1 of the 3 best"));
    assert!(seen.contains(&sides(&browser)));
}

#[test]
fn two_to_eight_teams_of_at_most_as_many_as_play() {
    let api = Api::start("");
    let nine: Vec<String> = (0..9).map(|number| format!("P{number}")).collect();
    let nine = nine.join("\n");
    for teams in ["2", "5", "8"] {
        let browser = picked(&api, &nine, &[("teams", teams)]);
        assert_eq!(browser.teams().len().to_string(), teams);
        assert_eq!(browser.teams().concat().len(), 9);
    }
    let mut browser = picked(&api, &nine, &[("teams", "8")]);
    assert_eq!(browser.press("won-7", &[]), 200);
    assert_eq!(latest(&api)["winner"], 7);
    let many: String = (0..200).map(|number| format!("P{number},")).collect();
    for (names, teams, why) in [
        ("Ann, Bob", "8", "8 teams need at least as many people."),
        (nine.as_str(), "9", "the number of teams cannot be 9"),
        (many.as_str(), "2", "At most 128 people can play."),
    ] {
        browser.go("");
        let filled = [("ruleset", "futsal"), ("names", names), ("teams", teams)];
        let mut status = browser.press("pick", &filled);
        if browser.shows("Who is who?") {
            status = browser.press("pick", &[]);
        }
        assert_eq!(status, 400, "{}", browser.answer.body);
        assert!(browser.shows(why), "{}", browser.answer.body);
    }
}

#[test]
fn who_must_be_together_is_and_who_must_not_is_not() {
    let api = Api::start("");
    let wishes = [
        ("together", "ann, bob, cid\nfay gus"),
        ("apart", "ann, dan\neve, dan"),
    ];
    let eight = "Ann, Bob, Cid, Dan, Eve, Fay Gus, Hal, Ida";
    let mut browser = picked(&api, eight, &[wishes[0], wishes[1]]);
    for _ in 0..4 {
        let team = |name| browser.team_of(name);
        assert_eq!((team("Ann"), team("Ann")), (team("Bob"), team("Cid")));
        assert_ne!(team("Ann"), team("Dan"));
        assert_ne!(team("Eve"), team("Dan"));
        assert_eq!(browser.press("again", &[]), 200);
    }
    browser.press("edit", &[]);
    assert_eq!(browser.press("pick", &[("apart", "ann, zoe")]), 400);
    assert!(browser.shows("Apart: nobody who plays is called “zoe”."));
    assert!(browser.shows(">ann, zoe</textarea>"), "it can be mended");
}

#[test]
fn what_was_learned_counts_in_the_next_pick() {
    let api = Api::start("");
    let strong =
        json!({"ruleset": "futsal", "teams": [["ann", "bob"], ["cid", "dan"]], "winner": 0});
    let many: Vec<&Value> = std::iter::repeat_n(&strong, 20).collect();
    assert_eq!(api.call("club", "POST", "/v1/matches", &json!(many)).0, 201);
    crate::api::asked::wait_for_weight(&api, "ann");
    let browser = picked(&api, "ANN\nbob\nCid\ndan", &[]);
    assert_ne!(
        browser.team_of("ann"),
        browser.team_of("bob"),
        "they won all games"
    );
    assert!(browser.shows("Team 0 wins with 5") || browser.shows("Team 0 wins with 4"));
    assert!(browser.shows("class=\"weight\""));
}
