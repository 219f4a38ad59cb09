//! What people come with, answered from the pages alone: each question is walked over the links of the pages, and the table
//! of docs/reference/questions.md has the same questions with the same number of clicks.

use std::fs;

use tempfile::TempDir;

use super::live::{play, tell};
use crate::common::{hostile, http::Pages};

/// Who asks, what, the links or the search from the home page on, the page that answers, and a text of the answer.
type Question = (
    &'static str,
    &'static str,
    &'static [&'static str],
    &'static str,
    &'static str,
);

const SARGE: &str = "/search?q=sarge";
const BALANCE: &str = "/balance";

const QUESTIONS: [Question; 20] = [
    (
        "a player",
        "Am I getting better?",
        &[SARGE, "/players/"],
        "player",
        " Over the last 12 matches: ",
    ),
    (
        "a player",
        "How strong am I beside the others?",
        &[SARGE, "/players/"],
        "player",
        " of the others",
    ),
    (
        "a player",
        "With whom do I win?",
        &[SARGE, "/players/"],
        "player",
        "On the same team</h3>",
    ),
    (
        "a player",
        "Why is my weight what it is?",
        &[SARGE, "/players/"],
        "player",
        "Why this rating</h2>",
    ),
    (
        "a player",
        "Who of us two has won more?",
        &[SARGE, "/players/", "/versus?"],
        "two players",
        ">Won by Sarge<",
    ),
    (
        "an administrator",
        "Have matches become more even?",
        &[BALANCE],
        "balance",
        "<strong>Favourites won ",
    ),
    (
        "an administrator",
        "Are the teams that Evenkeel picks more even?",
        &[BALANCE],
        "balance",
        "Decided matches",
    ),
    (
        "an administrator",
        "What do one-sided matches have in common?",
        &[BALANCE],
        "balance",
        ">Explains</th>",
    ),
    (
        "an administrator",
        "Which matches were those with newcomers?",
        &[BALANCE, "cause=newcomers"],
        "matches",
        "A player with fewer than 10 matches",
    ),
    (
        "an administrator",
        "Which map favours a side?",
        &[BALANCE],
        "balance",
        "Red, equal teams",
    ),
    (
        "an organiser",
        "Who waits, and for how long?",
        &["/queues"],
        "queues",
        "Oldest ticket",
    ),
    (
        "an organiser",
        "How do I make fair teams for tonight?",
        &["/teams"],
        "teams",
        "Make teams",
    ),
    (
        "an organiser",
        "Who will win the game that runs?",
        &["/live"],
        "live",
        "With the score, Red has a chance of ",
    ),
    (
        "an organiser",
        "How do I show this on our own site?",
        &["/rulesets/"],
        "game type",
        "/embed/rulesets/",
    ),
    (
        "an organiser",
        "Who plays most, and how do they compare?",
        &["/rulesets/", "/regulars?"],
        "regulars",
        "Weights over time",
    ),
    (
        "a stranger",
        "What is played here?",
        &[],
        "home",
        ">baseoa.ctf</a>",
    ),
    (
        "a stranger",
        "How even are the matches?",
        &[],
        "home",
        "Favourite won",
    ),
    (
        "a stranger",
        "Who is the best?",
        &["/rulesets/"],
        "game type",
        "<td class=\"num\">1</td>",
    ),
    (
        "a stranger",
        "Was the latest match a surprise?",
        &["/matches/"],
        "match",
        "of such matches",
    ),
    (
        "a stranger",
        "Can I trust the forecasts?",
        &[BALANCE],
        "balance",
        "predictions beat a coin",
    ),
];

const CONFIG: &str = "[api]\nenabled = true\nvisitors = true\n[game_types.teams]\n\"baseoa.*\" = [\"Red\", \"Blue\"]\n\
    [queue.quick]\nteams = 2\nsize = 1\nruleset = \"baseoa.ctf\"\nhost = \"none\"\n";

/// The addresses of the links of a page.
fn links(page: &str) -> Vec<String> {
    let links = page.split("href=\"").skip(1);
    let links = links.filter_map(|link| link.split('"').next());
    links.map(|link| link.replace("&amp;", "&")).collect()
}

/// Follows the first links with these parts, from the home page on; `/search?q=` is the form in the head of each page.
fn walk(pages: &Pages, steps: &[&str]) -> String {
    let mut page = pages.get("/").body;
    for step in steps {
        let next = match step.starts_with("/search?q=") {
            true => {
                assert!(page.contains("role=\"search\""), "{step}: {page}");
                (*step).to_owned()
            }
            false => {
                let found = links(&page).into_iter().find(|link| {
                    link.contains(step) && !link.contains(".atom") && !link.contains(".json")
                });
                found.unwrap_or_else(|| panic!("no link {step}: {page}"))
            }
        };
        let answer = pages.get(&next);
        assert_eq!(answer.status, 200, "{next}");
        page = answer.body;
    }
    page
}

#[test]
fn twenty_questions_are_answered_with_few_clicks() {
    let folder = TempDir::new().unwrap();
    hostile::ingest_season(folder.path());
    fs::write(folder.path().join("evenkeel.toml"), CONFIG).unwrap();
    let pages = Pages::start(folder.path(), &[("EVENKEEL_CONFIG", "evenkeel.toml")]);
    let mut unanswered = Vec::new();
    let ask = |(who, question, steps, _, answer): Question, unanswered: &mut Vec<String>| {
        if !walk(&pages, steps).contains(answer) {
            unanswered.push(format!("{who}: {question} There is no {answer:?}."));
        }
    };
    let of_now = |question: &Question| question.3 == "live";
    for question in QUESTIONS.into_iter().filter(|question| !of_now(question)) {
        ask(question, &mut unanswered);
    }
    let mut game = play(&pages);
    tell(&mut game, "SCORE 0\n");
    for question in QUESTIONS.into_iter().filter(of_now) {
        ask(question, &mut unanswered);
    }
    assert!(unanswered.is_empty(), "{}", unanswered.join("\n"));
}

#[test]
fn the_table_of_questions_in_the_docs_has_these_questions_and_clicks() {
    let docs = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/reference/questions.md");
    let docs = fs::read_to_string(docs).unwrap();
    let row = |(who, question, steps, page, _): Question| {
        format!("| {who} | {question} | {page} | {} |", steps.len())
    };
    let missing: Vec<String> = QUESTIONS.map(row).into();
    let missing: Vec<&String> = missing.iter().filter(|row| !docs.contains(*row)).collect();
    assert!(
        missing.is_empty(),
        "docs/reference/questions.md lacks {missing:#?}"
    );
    let rows = docs
        .lines()
        .filter(|line| line.starts_with("| a ") || line.starts_with("| an "));
    assert_eq!(rows.count(), QUESTIONS.len());
}
