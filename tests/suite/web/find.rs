//! Visitors find players in all rulesets, and matches by what they have in common.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{json, live::seasons};
use crate::common::{
    hostile::{SECRET, identity},
    http::Pages,
    process::evenkeel,
};

fn list<'a>(page: &'a Value, name: &str) -> &'a Vec<Value> {
    page[name].as_array().unwrap()
}

/// All matches that a filter leaves, over all pages.
fn all(pages: &Pages, filter: &str) -> Vec<Value> {
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = json(pages, &format!("/v1/matches?{filter}{cursor}"));
        found.extend(list(&page, "matches").clone());
        match page["next"].as_i64() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return found,
        }
    }
}

#[test]
fn a_search_finds_players_of_all_rulesets_by_name_and_never_by_identity() {
    let (pages, folder) = seasons(&[]);
    let home = pages.get("/").body;
    assert!(home.contains("action=\"/search\""), "{home}");
    let found = json(&pages, "/v1/players?q=SARGE");
    assert_eq!(list(&found, "players").len(), 1);
    let line = &list(&found, "players")[0];
    assert_eq!(
        (&line["player"]["name"], &line["ruleset"]),
        (&"Sarge".into(), &"baseoa.ctf".into())
    );
    assert_eq!(
        line["games"],
        json(&pages, "/v1/players/Sarge")["standings"][0]["games"]
    );
    let found = json(&pages, "/v1/players?q=green");
    let handle = list(&found, "players")[0]["player"]["handle"]
        .as_str()
        .unwrap()
        .to_owned();
    let page = pages.get("/search?q=green").body;
    assert!(
        page.contains(&format!("/players/{handle}")) && !page.contains(SECRET),
        "{page}"
    );
    assert_eq!(
        list(&json(&pages, "/v1/rulesets?q=baseoa"), "rulesets").len(),
        1
    );
    for text in [SECRET, "nobody-of-this-name"] {
        let found = json(&pages, &format!("/v1/players?q={text}"));
        assert!(list(&found, "players").is_empty(), "{text}: {found}");
    }
    let hostile = pages.get("/search?q=%3Cscript%3E").body;
    assert!(
        !hostile.contains("<script>") && hostile.contains("&lt;script&gt;"),
        "{hostile}"
    );
    let hide = ["player", "hide", &identity(2)];
    assert!(
        evenkeel(folder.path())
            .args(hide)
            .status()
            .unwrap()
            .success()
    );
    assert!(list(&json(&pages, "/v1/players?q=green"), "players").is_empty());
}

#[test]
fn matches_are_listed_to_the_first_one_and_by_what_they_have_in_common() {
    let (pages, _folder) = seasons(&[]);
    let every = all(&pages, "");
    let ids: BTreeSet<i64> = every
        .iter()
        .map(|line| line["id"].as_i64().unwrap())
        .collect();
    assert_eq!((every.len(), ids.len()), (84, 84));
    assert!(every.is_sorted_by(|a, b| a["ended"].as_str() >= b["ended"].as_str()));
    let count = |name: &str, value: &str| every.iter().filter(|line| line[name] == value).count();
    let maps = [
        ("ruleset=baseoa.ctf", count("ruleset", "baseoa.ctf")),
        ("map=ps37ctf", count("map", "ps37ctf")),
    ];
    for (filter, expected) in maps {
        assert!(expected > 0, "{filter}");
        assert_eq!(all(&pages, filter).len(), expected, "{filter}");
    }
    assert!(all(&pages, "picked=true").is_empty() && all(&pages, "map=none").is_empty());
    assert_eq!(pages.get("/matches?cursor=x").status, 400);
    assert_eq!(pages.get("/matches?cause=luck").status, 400);
    assert_eq!(pages.get("/matches?since=yesterday").status, 400);
    let since = every[10]["ended"].as_str().unwrap();
    let later = every
        .iter()
        .filter(|line| line["ended"].as_str() >= Some(since));
    assert_eq!(all(&pages, &format!("since={since}")).len(), later.count());
    assert_eq!(pages.get("/matches?player=nobody").status, 404);
    let page = pages.get("/matches?ruleset=baseoa.ctf").body;
    assert!(
        page.contains("cursor=") && page.contains("Earlier →"),
        "{page}"
    );
}

#[test]
fn a_map_and_a_server_have_a_page_and_matches_lead_there() {
    let (pages, _folder) = seasons(&[]);
    let balance = json(&pages, "/v1/balance?ruleset=baseoa.ctf");
    let expected = list(&balance, "maps")
        .iter()
        .find(|line| line["name"] == "ps37ctf")
        .unwrap();
    let map = json(&pages, "/v1/maps/ps37ctf");
    let line = &list(&map, "rulesets")[0];
    assert_eq!(
        (&line["name"], &line["matches"]),
        (&"baseoa.ctf".into(), &expected["matches"])
    );
    assert_eq!(line["favourite_won"], expected["favourite_won"]);
    let home = pages.get("/").body;
    let hostile = "/maps/..%2F%3Cb%3Emap%3C%2Fb%3E%22%27%26";
    assert!(home.contains(&format!("href=\"{hostile}\"")), "{home}");
    let game = json(&pages, "/v1/matches")["matches"][0]["id"].to_string();
    let game = pages.get(&format!("/matches/{game}")).body;
    let server = game
        .split("href=\"/servers/")
        .nth(1)
        .unwrap()
        .split('"')
        .next()
        .unwrap();
    for path in [hostile.to_owned(), format!("/servers/{server}")] {
        let page = pages.get(&path);
        assert_eq!(page.status, 200, "{path}: {}", page.body);
        assert!(
            page.body.contains("All its matches") && !page.body.contains("<b>"),
            "{path}"
        );
        assert_eq!(page.body.matches("<script").count(), 1, "{path}");
    }
    assert_eq!(
        (
            pages.get("/maps/none").status,
            pages.get("/servers/none").status
        ),
        (404, 404)
    );
}

#[test]
fn two_players_are_compared_over_the_matches_that_both_were_in() {
    let (pages, _folder) = seasons(&[]);
    let handle = |player: &str| {
        let page = json(&pages, &format!("/v1/players/{player}"));
        page["player"]["handle"].as_str().unwrap().to_owned()
    };
    let (own, other) = (handle("Sarge"), handle("Grunt"));
    let both = json(&pages, &format!("/v1/versus?a={own}&b={other}"));
    let found = |word: &str| all(&pages, &format!("player={own}&{word}={other}"));
    // Counted again from the pages of the matches.
    for (word, line) in [("with", &both["together"]), ("against", &both["against"])] {
        let (mut games, mut won) = (0, 0.0);
        for game in found(word) {
            let page = json(&pages, &format!("/v1/matches/{}", game["id"]));
            let team = |handle: &str| {
                list(&page, "teams").iter().position(|team| {
                    let mut players = list(team, "players").iter();
                    players.any(|seat| seat["player"]["handle"] == handle)
                })
            };
            let (mine, theirs) = (team(&own).unwrap(), team(&other).unwrap());
            assert_eq!(mine == theirs, word == "with", "{page}");
            games += 1;
            won += match page["winner"].as_u64() {
                Some(winner) => f64::from(u8::from(winner == mine as u64)),
                None => 0.5,
            };
        }
        assert!(games > 0, "{word}");
        assert_eq!(
            (line["games"].as_u64(), line["won"].as_f64()),
            (Some(games), Some(won)),
            "{word}"
        );
    }
    let page = pages.get(&format!("/versus?a={own}&b={other}")).body;
    assert!(page.contains(">Won by Sarge<"), "{page}");
    assert_eq!(pages.get("/versus?a=x&b=y").status, 404);
    let player = pages.get(&format!("/players/{own}")).body;
    assert!(
        player.contains(&format!("/versus?a={own}&amp;b=")),
        "{player}"
    );
    assert!(
        player.contains(&format!("/matches?player={own}")),
        "{player}"
    );
}
