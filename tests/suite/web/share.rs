//! What other sites show of the pages: previews of links, frames, badges and feeds.

use std::{
    collections::BTreeSet,
    io::{Read, Write},
};

use super::{json, live::seasons, some_handle};
use crate::common::{
    hostile::{SECRET, identity},
    http::Pages,
    process::evenkeel,
};

const RULESET: &str = "/rulesets/%3Ci%3Ectf%3C%2Fi%3E%26a";

/// The value of a `meta` element, still escaped.
fn meta<'a>(page: &'a str, name: &str) -> &'a str {
    let begins = format!("\"{name}\" content=\"");
    let rest = page.split(&begins).nth(1);
    rest.map_or("", |rest| rest.split('"').next().unwrap())
}

/// The texts between an opening and a closing mark.
fn all_between<'a>(text: &'a str, open: &str, close: &str) -> Vec<&'a str> {
    let parts = text.split(open).skip(1);
    parts
        .map(|part| part.split(close).next().unwrap())
        .collect()
}

#[test]
fn the_preview_of_a_link_tells_what_happened_and_what_was_expected() {
    let origin = [("EVENKEEL_WEB_ORIGIN", "https://club.example")];
    for (variables, site) in [
        (&[][..], "http://127.0.0.1"),
        (&origin[..], "https://club.example"),
    ] {
        let (pages, _folder) = seasons(variables);
        let list = json(&pages, "/v1/matches?ruleset=baseoa.ctf");
        let line = list["matches"].as_array().unwrap().iter();
        let mut decided = line.filter(|line| !line["winner"].is_null());
        let line = decided.next().unwrap();
        let path = format!("/matches/{}", line["id"]);
        let page = pages.get(&path).body;
        let (winner, forecast) = (line["winner"].as_u64(), line["forecast"].as_f64().unwrap());
        let favourite = u64::from(forecast < 0.5);
        let chance = format!("{:.0}\u{a0}%", 100.0 * forecast.max(1.0 - forecast));
        let said = meta(&page, "og:description");
        let begins = format!(
            "Team {} won {} : ",
            winner.unwrap(),
            line["scores"][0].as_f64().unwrap()
        );
        assert!(
            said.starts_with(&begins) && said.contains(&chance),
            "{said}"
        );
        let expected = said.contains("as expected");
        assert_eq!(expected, winner == Some(favourite), "{said}");
        assert_eq!(meta(&page, "description"), said);
        assert_eq!(meta(&page, "og:url"), format!("{site}{path}"));
        let player = pages.get("/players/Sarge").body;
        let said = meta(&player, "og:description");
        let place = json(&pages, "/v1/players/Sarge")["standings"][0]["place"].clone();
        assert!(said.contains(&format!("place {place} of ")), "{said}");
        for path in ["/", "/balance", "/live", "/systems", RULESET] {
            let page = pages.get(path).body;
            assert!(!meta(&page, "description").is_empty(), "{path}");
        }
    }
}

#[test]
fn other_sites_may_frame_what_is_below_embed_and_nothing_else() {
    let (pages, _folder) = seasons(&[("EVENKEEL_WEB_BASE_PATH", "/stats")]);
    let player = format!("/players/{}", identity(0));
    for path in [RULESET, &player, "/matches/1", "/live"] {
        let framed = pages.get(&format!("/stats/embed{path}"));
        assert_eq!(framed.status, 200, "{path}: {}", framed.body);
        assert_eq!(framed.field("x-frame-options"), None, "{path}");
        let policy = framed.field("content-security-policy").unwrap();
        assert!(policy.ends_with("frame-ancestors *"), "{path}: {policy}");
        assert!(policy.starts_with("default-src 'none'"), "{path}: {policy}");
        assert!(framed.body.contains("<base target=\"_blank\">"), "{path}");
        assert!(framed.body.contains("content=\"noindex\""), "{path}");
        for part in [SECRET, "<script", "<img", "<nav"] {
            assert!(!framed.body.contains(part), "{path}: {part}");
        }
        let whole = pages.get(&format!("/stats{path}"));
        assert_eq!(whole.field("x-frame-options"), Some("deny"), "{path}");
        let policy = whole.field("content-security-policy").unwrap();
        assert!(policy.ends_with("frame-ancestors 'none'"), "{path}");
    }
    for path in [
        "/embed/",
        "/embed/balance",
        "/embed/teams",
        "/embed/players/x",
    ] {
        let answer = pages.get(&format!("/stats{path}"));
        assert_eq!(answer.status, 404, "{path}");
    }
}

#[test]
fn a_badge_shows_the_standing_until_the_player_is_hidden() {
    let (pages, folder) = seasons(&[]);
    let line = &json(&pages, "/v1/players/Sarge")["standings"][0];
    let badge = pages.get("/players/Sarge.svg");
    assert_eq!(
        badge.field("content-type"),
        Some("image/svg+xml; charset=utf-8")
    );
    let weight = format!("{:.1} ± ", line["weight"].as_f64().unwrap());
    for part in [">Sarge</text>", &weight, "· baseoa.ctf</text>"] {
        assert!(badge.body.contains(part), "{part}: {}", badge.body);
    }
    let hostile = format!("/players/{}.svg", identity(0));
    let body = pages.get(&hostile).body;
    assert!(
        body.contains("&lt;script&gt;") && !body.contains(SECRET),
        "{body}"
    );
    let other = pages.get("/players/Sarge.svg?ruleset=other");
    assert_eq!(
        (other.status, pages.get("/matches/1.svg").status),
        (404, 404)
    );
    let hide = ["player", "hide", &identity(0)];
    assert!(
        evenkeel(folder.path())
            .args(hide)
            .status()
            .unwrap()
            .success()
    );
    for ending in ["svg", "atom"] {
        let answer = pages.get(&format!("/players/{}.{ending}", identity(0)));
        assert_eq!(answer.status, 404, "{ending}");
        assert_eq!(
            answer.field("content-type"),
            Some("text/html; charset=utf-8")
        );
    }
    let (pages, _folder) = seasons(&[("EVENKEEL_WEB_SHOW", "division")]);
    assert!(!pages.get("/players/Sarge.svg").body.contains('±'));
}

#[test]
fn feeds_have_whole_links_and_an_id_for_each_match() {
    let (pages, _folder) = seasons(&[("EVENKEEL_WEB_ORIGIN", "https://club.example")]);
    let player = format!("/players/{}", some_handle(&pages));
    for (feed, count) in [("/matches", 30), (RULESET, 24), (&player, 24)] {
        let answer = pages.get(&format!("{feed}.atom"));
        let kind = answer.field("content-type");
        assert_eq!(kind, Some("application/atom+xml; charset=utf-8"), "{feed}");
        let entries = all_between(&answer.body, "<entry>", "</entry>");
        assert_eq!(entries.len(), count, "{feed}");
        let ids = all_between(&answer.body, "<id>", "</id>");
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(unique.len(), count + 1, "{feed}");
        let mut links = all_between(&answer.body, "href=\"", "\"").into_iter();
        assert!(
            links.all(|link| link.starts_with("https://club.example/")),
            "{}",
            answer.body
        );
        assert!(
            entries[0].contains("won ") || entries[0].contains("Draw"),
            "{}",
            entries[0]
        );
        assert!(
            !answer.body.contains(SECRET) && !answer.body.contains("<b>"),
            "{feed}"
        );
        let page = pages.get(if feed == "/matches" { "/" } else { feed }).body;
        assert!(page.contains(&format!("href=\"{feed}.atom\"")), "{feed}");
    }
    let own = pages.get(&format!("{player}.atom")).body;
    assert!(
        own.contains("<title>Won: Team ") && own.contains("<title>Lost: Team "),
        "{own}"
    );
    assert_eq!(pages.get("/rulesets/nothing.atom").status, 404);
}

/// The head and the body of an answer to somebody who reads gzip.
pub fn compressed(pages: &Pages, path: &str) -> (String, Vec<u8>) {
    let mut stream = pages.connect();
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nAccept-Encoding: br, gzip\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let end = bytes
        .windows(4)
        .position(|part| part == b"\r\n\r\n")
        .unwrap()
        + 4;
    let body = bytes.split_off(end);
    (String::from_utf8(bytes).unwrap().to_lowercase(), body)
}

#[test]
fn pages_are_compressed_for_those_who_can_read_it() {
    let (pages, _folder) = seasons(&[]);
    let style = pages.get("/").body;
    let style = all_between(&style, "stylesheet\" href=\"", "\"")[0].to_owned();
    for path in [
        "/",
        "/players/Sarge",
        "/v1/balance",
        "/matches.atom",
        &style,
    ] {
        let plain = pages.get(path);
        assert_eq!(plain.field("content-encoding"), None, "{path}");
        assert_eq!(plain.field("vary"), Some("accept-encoding"), "{path}");
        let (head, body) = compressed(&pages, path);
        assert!(
            head.contains("content-encoding: gzip\r\n"),
            "{path}: {head}"
        );
        assert!(body.len() * 2 < plain.body.len(), "{path}: {}", body.len());
        let mut text = String::new();
        let mut packed = flate2::read::GzDecoder::new(&body[..]);
        packed.read_to_string(&mut text).unwrap();
        assert_eq!(text, plain.body, "{path}");
    }
    let (head, _) = compressed(&pages, "/healthz");
    assert!(!head.contains("content-encoding"), "{head}");
}

#[test]
fn search_engines_are_told_what_is_no_page_and_browsers_find_a_picture() {
    let (pages, _folder) = seasons(&[("EVENKEEL_WEB_BASE_PATH", "/stats")]);
    let robots = pages.get("/robots.txt").body;
    assert!(robots.starts_with("User-agent: *\n"), "{robots}");
    assert!(robots.contains("\nDisallow: /stats/embed/\n"), "{robots}");
    let home = pages.get("/stats/").body;
    let icon = all_between(&home, "type=\"image/svg+xml\" href=\"", "\"")[0];
    let icon = pages.get(icon);
    assert_eq!(icon.field("content-type"), Some("image/svg+xml"));
    assert!(icon.body.starts_with("<svg"), "{}", icon.body);
}
