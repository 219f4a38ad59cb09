//! A match has one course of chances: pages, their data, views, webhooks and commands all show the same.

use std::{fs, io::BufReader, net::TcpStream, path::Path, time::Duration};

use evenkeel::{
    model::match_chances::{MAX_TEAM_CHANGES, MatchChances, TeamCause},
    store,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    common::{
        backends::rows,
        http::Pages,
        process::{ask, evenkeel, line},
        until,
    },
    web::live::{json as read, wait_until},
    webhooks::receiver::{Receiver, Reply, SECRET},
};

/// Fourteen players: thirteen whom BALANCE divides, and one who comes late.
const PLAYERS: usize = 13;

const CONFIG: (&str, &str) = ("EVENKEEL_CONFIG", "evenkeel.toml");

struct Story {
    folder: TempDir,
    receiver: Receiver,
    pages: Pages,
    stream: BufReader<TcpStream>,
    learned: usize,
}

fn start(folder: &Path) -> Pages {
    Pages::start(folder, &[CONFIG])
}

fn hello(pages: &Pages) -> BufReader<TcpStream> {
    let mut stream = pages.daemon.connect();
    let hello = ask(&mut stream, "HELLO arena bots=no resume=yes\n");
    assert!(hello.starts_with("HELLO evenkeel/"), "{hello}");
    stream
}

fn tell(stream: &mut BufReader<TcpStream>, lines: &str) {
    assert_eq!(ask(stream, &format!("{lines}\nPING\n")), "PONG");
}

fn name(player: usize) -> String {
    format!("id-{player} name=Name{player}")
}

impl Story {
    /// A daemon that has learned from some matches.
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let receiver = Receiver::start(vec![], Reply::Status(204));
        let url = receiver.url();
        let toml = format!(
            "[rating]\nmin_seconds = 0\n[[webhook]]\nname = 'one'\nurl = '{url}'\nsecret = '{SECRET}'\n"
        );
        fs::write(folder.path().join("evenkeel.toml"), toml).unwrap();
        let pages = start(folder.path());
        let stream = hello(&pages);
        let mut story = Self {
            folder,
            receiver,
            pages,
            stream,
            learned: 0,
        };
        for _ in 0..4 {
            story.learn();
        }
        story
    }

    /// A match in which the players with low numbers win. Returns once the daemon has learned from it.
    fn learn(&mut self) {
        let joins = (0..PLAYERS).map(|player| {
            let team = usize::from(player > 5);
            format!("JOIN {} team={team}\n", name(player))
        });
        let joins: String = joins.collect();
        let end = ask(
            &mut self.stream,
            &format!("GAME ctf\n{joins}START\nSCORE 0\nSCORE 0\nEND\n"),
        );
        assert!(end.ends_with(" recorded"), "{end}");
        self.learned += 1;
        self.wait_for_weights();
    }

    fn wait_for_weights(&self) {
        wait_until(&self.pages, "/v1/rulesets", |home| {
            home["rulesets"][0]["rated_matches"] == self.learned
        });
    }

    /// BALANCE of thirteen players. Returns the chance of team 0 in the reply, and the team of each player.
    fn balance(&mut self) -> (f64, Vec<usize>) {
        let joins: String = (0..PLAYERS)
            .map(|player| format!("JOIN {}\n", name(player)))
            .collect();
        let head = ask(
            &mut self.stream,
            &format!("GAME ctf\n{joins}BALANCE seed=3\n"),
        );
        let words: Vec<&str> = head.split(' ').collect();
        let team = |text: String| text.split(' ').nth(1).unwrap().parse().unwrap();
        let teams = (0..PLAYERS).map(|_| team(line(&mut self.stream))).collect();
        for _ in PLAYERS..words[1].parse().unwrap() {
            line(&mut self.stream);
        }
        (words[3].parse().unwrap(), teams)
    }

    fn live(&self) -> Value {
        read(&self.pages, "/v1/live")["games"][0]["chances"].clone()
    }

    /// Kills the daemon, and goes on with the next one.
    fn kill(&mut self) {
        self.pages.daemon.kill();
        self.pages = start(self.folder.path());
        self.stream = hello(&self.pages);
    }

    fn end(&mut self) -> i64 {
        let end = ask(&mut self.stream, "SCORE 1\nEND\n");
        let id = end.split(' ').nth(1).unwrap().parse().unwrap();
        self.learned += 1;
        self.wait_for_weights();
        id
    }

    fn page(&self, id: i64) -> Value {
        read(&self.pages, &format!("/v1/matches/{id}"))
    }

    fn html(&self, id: i64) -> String {
        self.pages.get(&format!("/matches/{id}")).body
    }

    fn run(&self, words: &[&str]) -> String {
        let mut command = evenkeel(self.folder.path());
        let output = command
            .args(words)
            .env(CONFIG.0, CONFIG.1)
            .output()
            .unwrap();
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {error}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What the webhook is sent about a recorded match.
    fn reported(&mut self, id: i64) -> Value {
        loop {
            let request = self.receiver.wait();
            request.check();
            if request.of() == id.to_string() {
                return request.json()["data"].clone();
            }
        }
    }
}

fn sizes(teams: &Value) -> [u64; 2] {
    [0, 1]
        .map(|team| teams["humans"][team].as_u64().unwrap() + teams["bots"][team].as_u64().unwrap())
}

fn first(teams: &Value) -> f64 {
    let [one, other] = [0, 1].map(|team| teams["win"][team].as_f64().unwrap());
    assert!(
        (one + other - 1.0).abs() < 1e-12 && one > 0.0 && one < 1.0,
        "{teams}"
    );
    one
}

fn rounded(chance: f64) -> f64 {
    (1_000.0 * chance).round() / 1_000.0
}

#[test]
fn all_pages_views_webhooks_and_commands_tell_the_same_chances() {
    let mut story = Story::new();
    let (told, teams) = story.balance();
    let picked = story.live()["picked"].clone();
    assert!((first(&picked) - told).abs() < 1e-6, "what BALANCE replied");
    let of = |team: usize| teams.iter().filter(|&&other| other == team).count() as u64;
    assert_eq!(sizes(&picked), [of(0), of(1)]);
    tell(&mut story.stream, "START");
    assert_eq!(story.live()["picked"], picked);
    // Somebody without a team changes nothing. The daemon is killed between PLACE and what follows.
    let place = ask(&mut story.stream, "JOIN id-late name=Late\nPLACE id-late\n");
    let small: usize = place.split(' ').nth(2).unwrap().parse().unwrap();
    let before = story.live();
    story.kill();
    let after = wait_until(&story.pages, "/v1/live", |live| {
        live["games"][0]["connected"] == true
    });
    assert_eq!(after["games"][0]["chances"], before, "the journal has them");
    let (mover, leaver) = (0, (1..PLAYERS).find(|&one| teams[one] == teams[0]).unwrap());
    let to = 1 - teams[mover];
    let lines = format!("LEAVE id-{leaver}\nMOVE id-{mover} {to}\nMOVE id-{mover} {to}");
    tell(&mut story.stream, &lines);
    let live = story.live();
    let id = story.end();

    // The data of the page.
    // The row of its forecast comes a moment after its END.
    let page = wait_until(&story.pages, &format!("/v1/matches/{id}"), |page| {
        page["forecast"].is_number()
    });
    let chances = &page["chances"];
    assert_eq!(chances["picked"], picked);
    assert_eq!(chances["started"], before["started"]);
    assert_eq!(sizes(&chances["started"]), [of(0), of(1)]);
    let changes = page["changes"].as_array().unwrap();
    let short = |change: &Value| {
        let name = change["player"]["name"].as_str().unwrap().to_owned();
        (
            name,
            change["cause"].as_str().unwrap().to_owned(),
            change["from"].clone(),
            change["to"].clone(),
        )
    };
    let expected = [
        (
            "Late".to_owned(),
            "place".to_owned(),
            Value::Null,
            json!(small),
        ),
        (
            format!("Name{leaver}"),
            "leave".to_owned(),
            json!(teams[leaver]),
            Value::Null,
        ),
        (
            format!("Name{mover}"),
            "move".to_owned(),
            json!(teams[mover]),
            json!(to),
        ),
    ];
    assert_eq!(changes.iter().map(short).collect::<Vec<_>>(), expected);
    let mut now = [of(0), of(1)];
    now[small] += 1;
    assert_eq!(sizes(&changes[0]), now);
    now[teams[leaver]] -= 1;
    assert_eq!(sizes(&changes[1]), now);
    now[teams[mover]] -= 1;
    now[to] += 1;
    assert_eq!(sizes(&changes[2]), now);
    for (change, told) in [(&changes[0], &before["now"]), (&changes[2], &live["now"])] {
        assert_eq!(
            (&change["win"], &change["humans"]),
            (&told["win"], &told["humans"])
        );
    }
    let forecast = page["forecast"].as_f64().unwrap();
    assert_ne!(forecast, first(&chances["started"]), "it is something else");

    // Lists, the player's page, the webhook.
    let home = read(&story.pages, "/v1/matches");
    let listed = home["matches"].as_array().unwrap().iter();
    let home = listed.clone().find(|one| one["id"] == id).unwrap();
    assert_eq!(
        (&home["chances"], &home["forecast"]),
        (chances, &page["forecast"])
    );
    let late = changes[0]["player"]["handle"].as_str().unwrap();
    let own = read(&story.pages, &format!("/v1/players/{late}"))["games"][0].clone();
    assert_eq!(own["chance_as_started"], chances["started"]["win"][small]);
    let data = story.reported(id);
    assert_eq!(&data["chances"], chances);

    // The pages and the command.
    let [one, other] = sizes(&chances["started"]);
    let (team, chance) = match first(&chances["started"]) {
        chance if chance >= 0.5 => (0, chance),
        chance => (1, 1.0 - chance),
    };
    let percent = format!("{:.0}\u{a0}%", 100.0 * chance);
    let (started, listed) = match percent.starts_with("50") {
        true => (": even chances.".to_owned(), "even".to_owned()),
        false => (
            format!(", team {team} had a chance of {percent} to win."),
            format!("team {team}, {percent}"),
        ),
    };
    let html = story.html(id);
    for part in [
        format!("As started ({one} v {other}){started}"),
        "As picked".to_owned(),
        format!("PLACE put <a href=\"/players/{late}\">"),
        format!(" went from team {} to team {to}", teams[mover]),
        "Forecast: ".to_owned(),
    ] {
        assert!(html.contains(&part), "{part}: {html}");
    }
    let home = story.pages.get("/").body;
    assert!(home.contains(&listed) && home.contains(">As started<"));
    let shown = story.run(&["match", "show", &id.to_string()]);
    for part in [
        format!("{:.1} %", 100.0 * first(&picked)),
        format!("{:.1} %", 100.0 * first(&changes[2])),
        format!("PLACE put Late on team {small}"),
        format!("as started  ┆     {one} v {other}"),
        format!("forecast: team 0 wins with {:.1} %", 100.0 * forecast),
    ] {
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            squeezed(&shown).contains(&squeezed(&part)),
            "{part}: {shown}"
        );
    }
    views(&story, id, &page);
    whatever_is_learned_later(story, id, &page);
}

/// The views have the same numbers.
fn views(story: &Story, id: i64, page: &Value) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let path = story.folder.path().join("evenkeel.db");
    let sql = "SELECT match_id, chance_as_picked, chance_as_started, forecast FROM match_report ORDER BY match_id";
    let report: Vec<(i64, Option<f64>, Option<f64>, f64)> = runtime.block_on(rows(&path, sql));
    let [picked, started] =
        ["picked", "started"].map(|key| Some(rounded(first(&page["chances"][key]))));
    let forecast = rounded(page["forecast"].as_f64().unwrap());
    assert_eq!(report.last(), Some(&(id, picked, started, forecast)));
    assert_eq!(report[0].1, None, "BALANCE picked no teams for it");
    let sql = "SELECT k.cause, p.name, k.humans, round(k.chance, 3) FROM match_chances k
               LEFT JOIN match_players p ON p.match_id = k.match_id AND p.seat = k.seat
               WHERE k.match_id = (SELECT max(match_id) FROM match_chances) ORDER BY k.step";
    let report: Vec<(String, Option<String>, String, f64)> = runtime.block_on(rows(&path, sql));
    let causes: Vec<&str> = report.iter().map(|row| &*row.0).collect();
    assert_eq!(causes, ["picked", "started", "place", "leave", "move"]);
    assert_eq!(report[2].1.as_deref(), Some("Late"));
    for (row, change) in report[2..].iter().zip(page["changes"].as_array().unwrap()) {
        let [one, other] = sizes(change);
        assert_eq!(
            (&row.2, row.3),
            (&format!("{one} v {other}"), rounded(first(change)))
        );
    }
    let sql = "SELECT round(chance, 3) FROM decisions WHERE kind = 'balance'";
    // Decisions are written after their replies: the test waits for what EXPLAIN and replays know.
    runtime.block_on(until(async || {
        let decided: Vec<(Option<f64>,)> = rows(&path, sql).await;
        decided == [(picked,)]
    }));
}

/// Neither later matches nor a rebuild change what was told, and who is hidden or forgotten has no name in it.
fn whatever_is_learned_later(mut story: Story, id: i64, page: &Value) {
    story.learn();
    story.run(&["rebuild"]);
    let told = |page: &Value| (page["chances"].clone(), page["changes"].clone());
    assert_eq!(told(&story.page(id)), told(page));
    for (command, player, change) in [("hide", "id-late", 0), ("forget", "id-0", 2)] {
        story.run(&["player", command, player]);
        let later = wait_until(&story.pages, &format!("/v1/matches/{id}"), |page| {
            page["changes"][change]["player"]["handle"].is_null()
        });
        assert_eq!(later["changes"][change]["player"]["name"], Value::Null);
        assert_eq!(later["chances"], page["chances"]);
    }
    let html = story.html(id);
    assert!(!html.contains("Late") && !html.contains("Name0<"), "{html}");
    assert!(
        html.contains("PLACE put <span class=\"gone\">a player</span>"),
        "{html}"
    );
}

/// Without weights there are no chances, only sizes; and a game server that moves players all the time costs little.
#[tokio::test]
async fn a_match_without_weights_has_sizes_and_only_so_many_changes() {
    let folder = TempDir::new().unwrap();
    let mut pages = Pages::start(folder.path(), &[]);
    let mut stream = hello(&pages);
    let moves: String = (0..3_000)
        .map(|turn| format!("MOVE c {}\n", turn % 2))
        .collect();
    let lines =
        format!("GAME ctf\nJOIN a team=0\nJOIN b team=1\nJOIN c team=1\nSTART\n{moves}END\n");
    let end = ask(&mut stream, &lines);
    assert!(end.starts_with("END 1 "), "{end}");
    let page = read(&pages, "/v1/matches/1");
    assert_eq!(
        page["chances"],
        json!({"picked": null, "started": {"humans": [1, 2], "bots": [0, 0]}})
    );
    assert_eq!(page["changes"].as_array().unwrap().len(), MAX_TEAM_CHANGES);
    let html = pages.get("/matches/1").body;
    assert!(
        html.contains("As started (1 v 2), no chance was predicted."),
        "{html}"
    );
    assert!(html.contains("Only the first 200 changes are kept."));
    pages.daemon.stop();
    let path = folder.path().join("evenkeel.db");
    let store = store::open(&path, false, Duration::from_secs(5))
        .await
        .unwrap();
    let found = store.matches().page_match(1).await.unwrap().unwrap();
    let told = MatchChances {
        picked: found.line.chances.picked,
        started: found.line.chances.started,
        changes: found.changes,
    };
    assert!(told.is_sound(3) && told.changes.iter().all(|one| one.cause == TeamCause::Move));
    store.close().await;
}
