//! The evening of ten people, in Chromium as a telephone.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::{
    common::{
        api::Api,
        chrome::{Chrome, SIZE},
    },
    web::browser::browser,
};

const TEN: &str = "Ann\nBob\nCid\nDan\nEve\nFay\nGus\nHal\nIda\nJon";
/// The variable with the path of `axe.min.js` of the package axe-core.
const AXE: &str = "EVENKEEL_AXE";
/// The variable with a folder for pictures of the pages.
const PICTURES: &str = "EVENKEEL_PICTURES";
/// The lowest height of what a thumb touches, in CSS pixels.
const THUMB: f64 = 44.0;

/// Looks at each page: with axe, for its width, and for what a thumb touches.
struct Eyes {
    axe: Option<String>,
    pictures: Option<PathBuf>,
    seen: usize,
}

impl Eyes {
    fn new() -> Self {
        let axe = std::env::var_os(AXE).map(|path| std::fs::read_to_string(path).unwrap());
        if axe.is_none() {
            println!("skipped: {AXE} is not set, so that axe checks no page");
        }
        let pictures = std::env::var_os(PICTURES).map(PathBuf::from);
        Self {
            axe,
            pictures,
            seen: 0,
        }
    }

    fn look(&mut self, chrome: &mut Chrome, name: &str) {
        self.seen += 1;
        let width = chrome.value("document.documentElement.scrollWidth");
        assert!(
            width.as_u64() <= Some(SIZE.0.into()),
            "{name}: {width} wide"
        );
        // What is small, and not beside text, like a link in a sentence.
        let small = "[...document.querySelectorAll('main button, main input, main select, main textarea, main summary')]
             .filter((one) => one.checkVisibility() && one.type !== 'hidden')
             .map((one) => (one.closest('label') || one)).map((one) => [one.outerHTML, one.getBoundingClientRect().height])";
        for one in chrome.value(small).as_array().unwrap() {
            assert!(one[1].as_f64() >= Some(THUMB), "{name}: {one}");
        }
        if let Some(axe) = &self.axe {
            chrome.value(&format!("{axe}; 0"));
            let found = chrome.value("axe.run().then((found) => found.violations)");
            assert_eq!(found, json!([]), "{name}");
        }
        if let Some(folder) = &self.pictures {
            let file = format!("{:02}-{name}.png", self.seen);
            chrome.picture(&folder.join(file));
        }
    }
}

fn start(browser: &Path, api: &Api) -> Chrome {
    let mut chrome = Chrome::start(browser);
    chrome.go(&format!("http://{}/", api.pages.address));
    chrome.follow("nav a[href='/teams']");
    chrome
}

#[test]
fn the_evening_of_ten_people_with_a_telephone() {
    let Some(browser) = browser() else { return };
    let api = Api::start("");
    let (mut chrome, mut eyes) = (start(&browser, &api), Eyes::new());
    eyes.look(&mut chrome, "sign-in");
    chrome.fill("#token", "club-token");
    chrome.follow("button[value=in]");
    eyes.look(&mut chrome, "nobody-is-known");
    chrome.fill("#ruleset", "futsal");
    chrome.fill("#names", TEN);
    assert!(
        chrome.text().contains("Make teams of 10"),
        "the script counts"
    );
    eyes.look(&mut chrome, "ten-names");
    chrome.follow("button[value=pick]");
    assert!(chrome.text().contains("New players"));
    eyes.look(&mut chrome, "all-are-new");
    chrome.follow("button[value=pick]");
    assert!(chrome.text().contains("5 v 5"));
    eyes.look(&mut chrome, "first-teams");
    chrome.follow("button[value=again]");
    eyes.look(&mut chrome, "again");
    chrome.follow("button[value=won-0]");
    assert!(chrome.text().contains("Team 0 won."));
    eyes.look(&mut chrome, "first-result");
    crate::api::asked::wait_for_weight(&api, "jon");
    chrome.follow("button.main[value=pick]");
    assert!(chrome.text().contains("Team 0 wins with"));
    chrome.value("document.querySelectorAll('details').forEach((one) => one.open = true)");
    eyes.look(&mut chrome, "second-teams-and-why");
    chrome.fill("label.points:first-child input", "5");
    chrome.fill("label.points:nth-child(2) input", "3");
    chrome.follow("button[value=score]");
    assert!(chrome.text().contains("5 : 3."));
    // One goes home, somebody new comes, and one is misspelt.
    chrome.follow("button[value=edit]");
    eyes.look(&mut chrome, "who-plays-next");
    chrome.value("window.jon = [...document.querySelectorAll('.ticks label')].find((one) => one.innerText.trim() == 'Jon'); jon.id = 'jon'; 0");
    chrome.tap("#jon");
    chrome.value("window.ida = [...document.querySelectorAll('.ticks label')].find((one) => one.innerText.trim() == 'Ida'); ida.id = 'ida'; 0");
    chrome.tap("#ida");
    chrome.fill("#names", "Idda, Max");
    assert!(chrome.text().contains("Make teams of 10"));
    chrome.follow("button[value=pick]");
    assert!(chrome.text().contains("Idda: did you mean"));
    eyes.look(&mut chrome, "did-you-mean");
    chrome.tap("label.choice:has(input[name=ask0])");
    chrome.follow("button[value=pick]");
    let text = chrome.text();
    assert!(
        text.contains("5 v 5") && text.contains("Ida") && !text.contains("Jon"),
        "{text}"
    );
    chrome.follow("button[value=draw]");
    assert!(chrome.text().contains("A draw."));
    eyes.look(&mut chrome, "third-result");
    chrome.follow("button[value=undo]");
    eyes.look(&mut chrome, "undone");
    chrome.follow("button[value=won-1]");
    assert!(chrome.text().contains("Team 1 won."));
    let (_, list) = api.call("", "GET", "/v1/matches", &Value::Null);
    assert_eq!(
        list["matches"].as_array().unwrap().len(),
        4,
        "one of them undone"
    );
    println!("{} pages", eyes.seen);
}

#[test]
fn without_scripts_a_visitor_gets_teams() {
    let Some(browser) = browser() else { return };
    let api = Api::start("[api]\nenabled = true\nvisitors = true\n");
    let mut chrome = start(&browser, &api);
    chrome.call(
        "Emulation.setScriptExecutionDisabled",
        json!({"value": true}),
    );
    chrome.go(&format!("http://{}/teams", api.pages.address));
    chrome.fill("#ruleset", "futsal");
    chrome.fill("#names", "Ann, Bob, Cid");
    assert!(!chrome.text().contains("Make teams of 3"));
    chrome.follow("button[value=pick]");
    chrome.follow("button[value=pick]");
    assert!(chrome.text().contains("2 v 1") || chrome.text().contains("1 v 2"));
}
