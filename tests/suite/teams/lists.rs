//! Lists with weights: the command, `POST /v1/teams` and the page read them alike.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    api::asked::learned,
    common::{
        api::Api,
        draw::Draw,
        forms::Browser,
        process::{evenkeel, run_with},
    },
};

/// The list of the page about balancing in UT2004.
const PAGE: [(&str, &str); 17] = [
    ("5", "Boring John"),
    ("3", "Silly Billy"),
    ("2", "Slartibartfast"),
    ("7", "Chewbacca"),
    ("23", "Ignoramus"),
    ("92", "Riddick"),
    ("93", "Luke Skywalker"),
    ("95", "Darth Vader"),
    ("27", "Peter Griffin"),
    ("56", "Roger"),
    ("28", "Annoying Git"),
    ("99", "Cheat"),
    ("1", "Lame"),
    ("23", "Twonk"),
    ("83", "Foogilicious"),
    ("41", "Flunk Basket"),
    ("49", "Jack O'Neill"),
];

/// Weights as they are typed, with names.
type List = Vec<(String, String)>;

/// Ten lists: the page's, a small one, and eight on five scales.
fn lists() -> Vec<List> {
    let owned = |(weight, name): &(&str, &str)| ((*weight).to_owned(), (*name).to_owned());
    let small = [5, 3, 3, 2, 2, 1, 1];
    let small = small.iter().zip("abcdefg".chars());
    let mut lists: Vec<List> = vec![
        PAGE.iter().map(owned).collect(),
        small
            .map(|(weight, name)| (weight.to_string(), name.to_string()))
            .collect(),
    ];
    let mut draw = Draw(60);
    for number in 0..8 {
        let mut weight = || match number % 5 {
            0 => format!("0.{:03}", draw.below(1_000)),
            1 => (1 + draw.below(9)).to_string(),
            2 => format!("{}.{}", draw.below(100), draw.below(10)),
            3 => (1_000 + draw.below(1_000)).to_string(),
            _ => (draw.below(1_000) * 1_000_000).to_string(),
        };
        let list = (0..4 + number).map(|n| (weight(), format!("p{n}")));
        lists.push(list.collect());
    }
    lists
}

/// The smaller of two sums over the larger.
fn ratio(one: f64, other: f64) -> f64 {
    match one.max(other) {
        0.0 => 1.0,
        most => one.min(other) / most,
    }
}

/// The best ratio of two teams whose sizes differ by at most one.
fn best(list: &List) -> f64 {
    let weights: Vec<f64> = list
        .iter()
        .map(|(weight, _)| weight.parse().unwrap())
        .collect();
    let (n, all) = (weights.len(), weights.iter().sum::<f64>());
    let legal = (0u32..1 << n).filter(|mask| mask.count_ones() as usize == n / 2);
    let ratios = legal.map(|mask| {
        let own = weights
            .iter()
            .enumerate()
            .filter(|(at, _)| mask >> at & 1 == 1);
        let one: f64 = own.map(|(_, weight)| weight).sum();
        ratio(one, all - one)
    });
    ratios.fold(0.0, f64::max)
}

/// The ratio of two teams by the weights of the list; their sizes must differ by at most one.
fn ratio_of(list: &List, teams: &[Vec<String>]) -> f64 {
    let weights: BTreeMap<&str, f64> = list
        .iter()
        .map(|(weight, name)| (name.as_str(), weight.parse().unwrap()))
        .collect();
    let [one, other] = teams else {
        panic!("{teams:?}")
    };
    assert_eq!(one.len() + other.len(), list.len(), "{teams:?}");
    assert!(one.len().abs_diff(other.len()) <= 1, "{teams:?}");
    let sum = |team: &Vec<String>| team.iter().map(|name| weights[name.as_str()]).sum();
    ratio(sum(one), sum(other))
}

/// The names on each team of an answer in JSON, under this key.
fn names(answer: &Value, key: &str) -> Vec<Vec<String>> {
    let teams = answer["teams"]
        .as_array()
        .unwrap_or_else(|| panic!("{answer}"));
    let team = |team: &Value| {
        let players = team["players"].as_array().unwrap().iter();
        let names = players.map(|one| one[key].as_str().unwrap().to_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    };
    teams.iter().map(team).collect()
}

fn text(list: &List) -> String {
    list.iter()
        .map(|(weight, name)| format!("{weight} {name}\n"))
        .collect()
}

fn question(list: &List, seed: usize) -> Value {
    let player = |(weight, name): &(String, String)| json!({"id": name, "weight": weight.parse::<f64>().unwrap()});
    let players: Vec<Value> = list.iter().map(player).collect();
    json!({"ruleset": "futsal", "seed": seed, "players": players})
}

/// The page with the teams of this list.
fn page<'a>(api: &'a Api, list: &str, more: &[(&str, &str)]) -> Browser<'a> {
    let mut browser = Browser::open(api, "");
    browser.sign_in("club");
    let mut filled = vec![("ruleset", "futsal"), ("names", list)];
    filled.extend(more);
    browser.press("pick", &filled);
    // A name that begins like one of somebody known is asked about.
    if browser.shows("did you mean") {
        browser.press("pick", &[("ask0", "new:Annoying Git")]);
    } else if browser.shows("Who is who?") {
        browser.press("pick", &[]);
    }
    browser
}

#[test]
fn the_most_even_sums_win_everywhere_also_in_a_learned_ruleset() {
    for api in [Api::start(""), learned("")] {
        for (seed, list) in lists().iter().enumerate() {
            let best = best(list);
            let near = |ratio: f64| (ratio - best).abs() < 1e-9;
            let number = seed.to_string();
            let args = ["balance", "--no-bots", "--json", "--seed", &number];
            let (code, out, err) = run_with(api.folder.path(), &args, &text(list));
            assert_eq!((code, err.as_str()), (0, ""));
            let offline: Value = serde_json::from_str(&out).unwrap();
            assert!(
                near(ratio_of(list, &names(&offline, "name"))),
                "{best}: {out}"
            );
            assert!(offline["chance"].is_null());

            let (status, online) = api.call("asker", "POST", "/v1/teams", &question(list, seed));
            assert_eq!(status, 200, "{online}");
            assert_eq!(
                names(&online, "id"),
                names(&offline, "name"),
                "the same teams"
            );
            assert!(
                online["teams"][0]["chance"].is_null() && online["teams"][1]["chance"].is_null()
            );
            let why = online["why"][0].as_str().unwrap();
            assert!(
                why.starts_with("the sums of the stated weights decide: "),
                "{why}"
            );

            let browser = page(&api, &text(list), &[]);
            assert!(!browser.teams().is_empty(), "{}", browser.answer.body);
            assert!(
                near(ratio_of(list, &browser.teams())),
                "{best}: {}",
                browser.answer.body
            );
            let sums = why.split(": ").nth(1).unwrap();
            let (one, other) = sums.split_once(" to ").unwrap();
            let said = |one, other| {
                browser.shows(&format!(
                    "The sums of the weights decide: {one} to {other}."
                ))
            };
            assert!(
                said(one, other) || said(other, one),
                "{sums}: {}",
                browser.answer.body
            );
        }
    }
}

#[test]
fn somebody_unknown_counts_as_the_mean_of_the_stated_weights() {
    let api = learned("");
    let mut body = question(
        &vec![
            ("1000".to_owned(), "ann".to_owned()),
            ("1600".to_owned(), "zoe".to_owned()),
        ],
        1,
    );
    body["players"]
        .as_array_mut()
        .unwrap()
        .extend([json!({"id": "yan"}), json!({"id": "xia"})]);
    let (status, answer) = api.call("asker", "POST", "/v1/teams", &body);
    assert_eq!(status, 200, "{answer}");
    let text = answer.to_string();
    for unknown in ["yan", "xia"] {
        let own = format!(r#"{{"deviation":null,"id":"{unknown}","known":false,"weight":1300.0}}"#);
        assert!(text.contains(&own), "{text}");
    }
    assert_eq!(answer["ratio"], json!(1.0), "2600 to 2600: {answer}");
    let toml = "[[players]]\nname = 'a'\nweight = 1\n[[players]]\nname = 'b'\nweight = 3\n[[players]]\nname = 'c'";
    let args = ["balance", "--no-bots", "--format", "toml", "--seed", "1"];
    let (_, out, _) = run_with(api.folder.path(), &args, toml);
    assert!(
        out.contains("3 to 3"),
        "1 and the mean of 2 against 3: {out}"
    );
    let browser = page(&api, "1 a\n3 b\nc", &[]);
    assert!(
        browser.shows("The sums of the weights decide: 3 to 3."),
        "{}",
        browser.answer.body
    );
}

#[test]
fn beside_learned_weights_stated_ones_are_on_their_scale() {
    let api = learned("");
    let ask = |weight: f64, other: &str| {
        let players = json!([{"id": other}, {"id": "new"}, {"id": "zoe", "weight": weight}, {"id": "yan", "weight": 20}]);
        let body = json!({"ruleset": "futsal", "seed": 1, "players": players});
        api.call("asker", "POST", "/v1/teams", &body)
    };
    let refused = "players[2].weight: must be 0 to 100 beside learned weights, not 150";
    let (status, answer) = ask(150.0, "bob");
    assert_eq!((status, answer["detail"].as_str()), (400, Some(refused)));
    let (status, answer) = ask(90.0, "bob");
    assert_eq!(status, 200, "{answer}");
    assert!(answer["teams"][0]["chance"].is_number(), "{answer}");
    let newcomer = r#"{"deviation":null,"id":"new","known":false,"weight":"#;
    assert!(answer.to_string().contains(newcomer), "{answer}");
    // A weight that an operator has pinned is on the scale of learned ones, too.
    assert_eq!(ask(150.0, "pia").0, 200, "nobody knows her");
    let pinned = evenkeel(api.folder.path())
        .args(["player", "pin-weight", "pia", "70", "--new"])
        .output();
    assert!(pinned.unwrap().status.success());
    crate::api::asked::until(&api, "/v1/ratings?ids=pia&ruleset=futsal", |answer| {
        answer["ratings"][0]["known"] == true
    });
    assert_eq!(ask(150.0, "pia").0, 400);
    assert_eq!(ask(100.0, "pia").0, 200);
    // The page names the line.
    let browser = page(&api, "bob\n150 zoltan\n20 yvonne", &[]);
    let line = "“150 zoltan”: must be 0 to 100 beside learned weights, not 150";
    assert!(
        browser.answer.status == 400 && browser.shows(line),
        "{}",
        browser.answer.body
    );
    assert!(
        browser.shows("150 zoltan\n20 yvonne</textarea>"),
        "{}",
        browser.answer.body
    );
}

#[test]
fn what_is_no_weight_is_refused_and_zeros_leave_the_sizes() {
    let api = Api::start("");
    for weight in ["-1", "1e999"] {
        let browser = page(&api, &format!("5 ann\n{weight} bob"), &[]);
        let line = format!("“{weight} bob”: must be a finite number of at least 0");
        assert!(
            browser.answer.status == 400 && browser.shows(&line),
            "{}",
            browser.answer.body
        );
    }
    let zeros: List = (0..5).map(|n| ("0".to_owned(), format!("p{n}"))).collect();
    let (status, answer) = api.call("asker", "POST", "/v1/teams", &question(&zeros, 1));
    assert_eq!((status, &answer["ratio"]), (200, &json!(1.0)), "{answer}");
    ratio_of(&zeros, &names(&answer, "id"));
}

#[test]
fn a_pin_to_a_team_holds_in_a_list_everywhere() {
    let api = Api::start("");
    let list = &lists()[1];
    for team in ["0", "1"] {
        let pins = ["a", "b"].map(|name| format!("{name}={team}"));
        let args = [
            "balance",
            "--no-bots",
            "--json",
            "--pin",
            &pins[0],
            "--pin",
            &pins[1],
        ];
        let (_, out, _) = run_with(api.folder.path(), &args, &text(list));
        let offline = names(&serde_json::from_str(&out).unwrap(), "name");
        let mut body = question(list, 1);
        for player in &mut body["players"].as_array_mut().unwrap()[..2] {
            player["pin"] = json!(team.parse::<u8>().unwrap());
        }
        let (_, answer) = api.call("asker", "POST", "/v1/teams", &body);
        let browser = page(&api, &text(list), &[("pinned", &format!("{team}: a, b"))]);
        for teams in [offline, names(&answer, "id"), browser.teams()] {
            let on = &teams[team.parse::<usize>().unwrap()];
            assert!(
                ["a", "b"]
                    .iter()
                    .all(|name| on.contains(&(*name).to_owned())),
                "{teams:?}"
            );
            // 5 and 3 of the 17 are there, and one of weight 1 comes to them.
            assert!(
                (ratio_of(list, &teams) - 8.0 / 9.0).abs() < 1e-9,
                "{teams:?}"
            );
        }
    }
}
