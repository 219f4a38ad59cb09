//! The pages in Chromium as a telephone: none is wider than the screen, axe finds nothing, and the page of running games
//! keeps the focus and tells screen readers the score.

use std::path::PathBuf;

use serde_json::json as value;

use super::{
    browser::browser,
    json,
    live::{play, seasons, tell},
    paths,
};
use crate::common::chrome::{Chrome, SIZE};

/// The variable with the path of `axe.min.js` of the package axe-core.
const AXE: &str = "EVENKEEL_AXE";
/// The variable with a folder for pictures of the pages.
const PICTURES: &str = "EVENKEEL_PICTURES";

#[test]
fn no_page_is_wider_than_a_telephone_and_axe_finds_nothing() {
    let Some(browser) = browser() else { return };
    let axe = std::env::var_os(AXE).map(|path| std::fs::read_to_string(path).unwrap());
    if axe.is_none() {
        println!("skipped: {AXE} is not set, so that axe checks no page");
    }
    let pictures = std::env::var_os(PICTURES).map(PathBuf::from);
    let (pages, _folder) = seasons(&[]);
    let mut stream = play(&pages);
    tell(&mut stream, "SCORE 1\nCLOCK 300\n");
    let mut paths = paths(&pages);
    paths.extend(
        [
            "/live",
            "/regulars?ruleset=baseoa.ctf&kind=bot",
            "/versus?a=Sarge&b=Grunt",
            "/embed/live",
        ]
        .map(str::to_owned),
    );
    let list = json(&pages, "/v1/matches?ruleset=baseoa.ctf");
    paths.push(format!(
        "/maps/{}",
        list["matches"][0]["map"].as_str().unwrap()
    ));
    let mut chrome = Chrome::start(&browser);
    for (at, path) in paths.iter().enumerate() {
        chrome.go(&format!("http://{}{path}", pages.address));
        chrome.value("document.querySelectorAll('details').forEach((one) => one.open = true)");
        let width = chrome.value("document.documentElement.scrollWidth");
        assert!(
            width.as_u64() <= Some(SIZE.0.into()),
            "{path}: {width} wide"
        );
        if let Some(axe) = &axe {
            chrome.value(&format!("{axe}; 0"));
            let found = chrome.value(
                "axe.run().then((found) => found.violations.map((one) => [one.id, one.nodes.map((node) => node.html)]))",
            );
            assert_eq!(found, value!([]), "{path}");
        }
        if let Some(folder) = &pictures {
            chrome.picture(&folder.join(format!("{at:02}.png")));
        }
    }
    println!("{} pages", paths.len());
}

#[test]
fn the_page_of_running_games_keeps_the_focus_and_tells_the_score() {
    let Some(browser) = browser() else { return };
    let (pages, _folder) = seasons(&[]);
    let mut stream = play(&pages);
    let mut chrome = Chrome::start(&browser);
    chrome.go(&format!("http://{}/live", pages.address));
    let follows = "document.getElementById('updates').textContent.includes('by itself')";
    let wait = |chrome: &mut Chrome, what: &str| {
        // The page asks every five seconds.
        let wait = format!(
            "new Promise((done) => {{ const look = () => {what} ? done(true) : setTimeout(look, 100); look(); \
             setTimeout(() => done(false), 15000); }})"
        );
        assert_eq!(chrome.value(&wait), value!(true), "{what}");
    };
    wait(&mut chrome, follows);
    chrome.value("window.link = document.querySelector('.players a'); link.focus(); window.target = link.href; 0");
    tell(&mut stream, "SCORE 1\n");
    wait(
        &mut chrome,
        "document.querySelector('[role=status]').textContent.includes('1 : 1')",
    );
    let kept =
        chrome.value("document.activeElement !== link && document.activeElement.href === target");
    assert_eq!(
        kept,
        value!(true),
        "the same link on the new page has the focus"
    );
    wait(
        &mut chrome,
        "document.querySelector('.clock').textContent.includes('played')",
    );
}
