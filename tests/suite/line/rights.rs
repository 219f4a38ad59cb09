//! Who may do what: clients, their rights, and what becomes of them when the configuration changes.

use std::{collections::BTreeSet, fs, io::Write, path::Path, sync::Arc};

use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio_util::sync::CancellationToken;

use crate::common::{
    Client, Daemon, config, gate,
    process::{HANG, Process, evenkeel},
    service, until,
};
use evenkeel::server::{ConnectionLimits, Gate, Peer, Service, serve};

const RIGHTS: [&str; 5] = ["ask", "report", "queue", "instance", "admin"];

/// A line for each verb, and the rights of which one is enough; none for verbs that everybody may send.
const VERBS: [(&str, &[&str]); 51] = [
    ("PING", &[]),
    ("GAME ctf", &["ask", "report"]),
    ("MUTATOR m", &["ask", "report"]),
    ("MAP field 2 8", &["ask", "report"]),
    ("TEAMS 2", &["ask", "report"]),
    ("MINPLAYERS 2", &["ask", "report"]),
    ("JOIN ann", &["ask", "report"]),
    ("JOIN bob", &["ask", "report"]),
    ("BOTJOIN Sarge 0", &["ask", "report"]),
    ("MOVE ann 1", &["ask", "report"]),
    ("PROTECT ann 5", &["ask", "report"]),
    ("ROLE ann medic", &["ask", "report"]),
    ("PLAYER ann", &["ask"]),
    ("BOT Sarge", &["ask"]),
    ("RANK ann", &["ask"]),
    ("MEANBOT", &["ask"]),
    ("BALANCE seed=7", &["ask"]),
    ("BOTS", &["ask"]),
    ("PLACE ann", &["ask"]),
    ("ADVANTAGE", &["ask"]),
    ("REBALANCE", &["ask"]),
    ("SWITCH ann", &["ask"]),
    ("EXPLAIN", &["ask"]),
    ("START", &["report"]),
    ("SCORE 0", &["report"]),
    ("POINTS ann 3", &["report"]),
    ("KILL ann bob", &["report"]),
    ("DEATH ann", &["report"]),
    ("CLOCK 60", &["report"]),
    ("BEHAVIOUR ann 1", &["report"]),
    ("LEAVE bob", &["ask", "report"]),
    ("BOTLEAVE Sarge", &["ask", "report"]),
    ("END", &["report"]),
    ("QUEUES", &["queue"]),
    ("ENQUEUE q t1", &["queue"]),
    ("SEAT ann", &["queue"]),
    ("SUBMIT", &["queue"]),
    ("TICKET t1", &["queue"]),
    ("EXPLAIN t1", &["queue"]),
    ("ACCEPT 1 ann", &["queue"]),
    ("DECLINE 1 ann", &["queue"]),
    ("CANCEL t1", &["queue"]),
    ("LISTEN", &["queue"]),
    ("INSTANCE 192.0.2.1:7", &["instance"]),
    ("LOAD 0.5", &["instance"]),
    ("READY 1", &["instance"]),
    ("REFUSE 1 full", &["instance"]),
    ("BACKFILL 1 0 1", &["instance"]),
    ("hello {} token-of-{}", &[]),
    ("ping", &[]),
    ("Game ctf", &["ask", "report"]),
];

/// A client for each of these lists of rights: its name is the list, its token `token-of-` and the name.
fn clients(of: &[&str]) -> String {
    let section = |rights: &&str| {
        let list: Vec<&str> = rights.split('+').collect();
        format!("[[clients]]\nname = '{rights}'\ntoken = 'token-of-{rights}'\nrights = {list:?}\n")
    };
    of.iter().map(section).collect()
}

async fn greeted(daemon: &Daemon, name: &str) -> Client {
    daemon.named(&format!("{name} token-of-{name}")).await
}

/// Sends a line and PING, and returns the first line of the replies.
async fn first(client: &mut Client, line: &str) -> String {
    let ping = if line.eq_ignore_ascii_case("PING") {
        ""
    } else {
        "PING\n"
    };
    client.send(&format!("{line}\n{ping}")).await;
    let mut lines = Vec::new();
    while lines.last().is_none_or(|last| last != "PONG") {
        let reply = client.line().await;
        assert_ne!(reply, "", "closed after {line}");
        if !reply.starts_with("* ") {
            lines.push(reply);
        }
    }
    lines.swap_remove(0)
}

/// The page on access lists each verb with the rights of which one is enough.
#[test]
fn the_documentation_has_the_rights_of_every_verb() {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/how-to/access.md"));
    let page = page.unwrap();
    let rows = page.lines().filter_map(|line| {
        let (rights, verbs) = line.strip_prefix("| `")?.split_once('|')?;
        let rights: BTreeSet<String> = rights
            .split(" or ")
            .map(|one| one.trim().replace('`', ""))
            .collect();
        rights
            .iter()
            .all(|one| RIGHTS.contains(&one.as_str()))
            .then_some((rights, verbs))
    });
    let rows: Vec<(BTreeSet<String>, &str)> = rows.collect();
    assert_eq!(rows.len(), RIGHTS.len() + 1);
    for (line, rights) in VERBS.iter().filter(|(_, rights)| !rights.is_empty()) {
        let verb = line.split(' ').next().unwrap().to_ascii_uppercase();
        let own: BTreeSet<String> = rights.iter().map(|one| (*one).to_owned()).collect();
        let listed = rows.iter().any(|(rights, verbs)| {
            let mut words = verbs.split(|c: char| !c.is_ascii_uppercase());
            *rights == own && words.any(|word| word == verb)
        });
        assert!(listed, "{verb} needs {rights:?}");
    }
}

#[tokio::test]
async fn every_verb_needs_its_right() {
    let toml = format!(
        "server.max_errors = 10000\n{}[queue.q]\nteams = 2\nsize = 5\nruleset = 'ctf'\n",
        clients(&RIGHTS)
    );
    let daemon = Daemon::start(&toml).await;
    let mut permitted = 0;
    for right in RIGHTS {
        let mut client = greeted(&daemon, right).await;
        for (line, needed) in VERBS {
            let line = line.replace("{}", right);
            let reply = first(&mut client, &line).await;
            let verb = line.split(' ').next().unwrap().to_uppercase();
            let lacks = format!(
                "ERROR not-allowed {verb} needs the right {}, which you do not have",
                needed.join(" or ")
            );
            let expected = needed.is_empty() || needed.contains(&right);
            assert_eq!(reply != lacks, expected, "{right}: {line}: {reply}");
            assert!(expected || reply == lacks, "{right}: {line}: {reply}");
            permitted += u32::from(expected);
        }
    }
    let each = VERBS
        .iter()
        .map(|(_, needed)| if needed.is_empty() { 5 } else { needed.len() });
    assert_eq!(permitted as usize, each.sum::<usize>());
    // All rights together: nothing is refused for want of one.
    let all = clients(&["ask+report+queue+instance+admin"]);
    let daemon = Daemon::start(&all).await;
    let mut client = greeted(&daemon, "ask+report+queue+instance+admin").await;
    for (line, _) in VERBS {
        let line = line.replace("{}", "ask+report+queue+instance+admin");
        let reply = first(&mut client, &line).await;
        assert!(!reply.contains("needs the right"), "{line}: {reply}");
    }
}

/// The table of the documentation is that of the test above.
#[test]
fn the_documentation_lists_the_verbs_of_each_right() {
    let page = include_str!("../../../docs/how-to/access.md");
    let mut rows: Vec<Vec<&str>> = VERBS.iter().map(|(_, needed)| needed.to_vec()).collect();
    rows.sort();
    rows.dedup();
    for needed in rows.into_iter().filter(|needed| !needed.is_empty()) {
        let start = format!("| `{}` |", needed.join("` or `"));
        let row = page.lines().find_map(|line| line.strip_prefix(&start));
        let row = row.unwrap_or_else(|| panic!("no row {start}"));
        let words = row.split(|c: char| !c.is_ascii_alphabetic());
        let capitals = |word: &&str| word.len() > 2 && word.bytes().all(|b| b.is_ascii_uppercase());
        let listed: BTreeSet<&str> = words.filter(capitals).collect();
        let own = VERBS
            .iter()
            .filter(|(line, of)| *of == needed && !line.starts_with("Game"));
        let verbs: BTreeSet<&str> = own
            .map(|(line, _)| line.split(' ').next().unwrap())
            .collect();
        assert_eq!(listed, verbs, "{start}");
    }
}

#[tokio::test]
async fn hosting_a_match_needs_the_right_of_an_instance() {
    let daemon = Daemon::start(&clients(&["ask", "instance"])).await;
    let mut client = daemon.client().await;
    let reply = client.ask("HELLO ask token-of-ask match=7\n").await;
    assert_eq!(
        reply,
        "ERROR not-allowed HELLO needs the right instance, which you do not have"
    );
    assert_eq!(
        client.line().await,
        "",
        "a HELLO that fails closes the connection"
    );
    let mut client = daemon.client().await;
    let reply = client
        .ask("HELLO instance token-of-instance match=7\n")
        .await;
    assert!(!reply.contains("needs the right"), "{reply}");
}

/// Serves a connection from this address in memory, until it ends or the test does.
async fn talk_from(toml: &str, from: &str, lines: &str) -> String {
    let config = config(toml);
    let (service, _folder) = service(&config).await;
    let peer = Peer::enter(&gate(&config), from.parse().unwrap()).unwrap();
    let (mut ours, theirs) = tokio::io::duplex(65_536);
    let limits = config.server.limits;
    ours.write_all(format!("{lines}QUIT\n").as_bytes())
        .await
        .unwrap();
    serve(theirs, &service, limits, peer, CancellationToken::new()).await;
    let mut said = String::new();
    ours.read_to_string(&mut said).await.unwrap();
    said
}

#[tokio::test]
async fn without_clients_this_machine_may_use_the_daemon_and_no_other() {
    let lines = "PING\nGAME ctf\nMEANBOT\nSEAT ann\n";
    let all = "PONG\nMEANBOT 50.000 0\nERROR not-allowed say HELLO <name> first\n";
    for near in ["127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1"] {
        assert_eq!(talk_from("", near, lines).await, all, "{near}");
    }
    for far in ["192.0.2.1", "2001:db8::1"] {
        let said = talk_from("", far, lines).await;
        assert_eq!(
            said,
            "PONG\nERROR not-allowed GAME needs the right ask or report, which you do not have\n\
             ERROR not-allowed MEANBOT needs the right ask, which you do not have\n\
             ERROR not-allowed SEAT needs the right queue, which you do not have\n"
        );
        let anonymous = "server.allow_anonymous = true";
        assert_eq!(talk_from(anonymous, far, lines).await, all);
    }
}

#[tokio::test]
async fn a_client_without_a_token_is_known_by_its_network() {
    let toml = "[[clients]]\nname = 'lan'\nnetworks = ['192.0.2.0/24', '2001:db8::7']\nrights = ['ask']\n\
                [[clients]]\nname = 'ctf'\ntoken = 'x'\nrights = ['report']";
    let lines = "GAME ctf\nMEANBOT\nSTART\n";
    for lan in ["192.0.2.9", "::ffff:192.0.2.9", "2001:db8::7"] {
        assert_eq!(
            talk_from(toml, lan, lines).await,
            "MEANBOT 50.000 0\nERROR not-allowed START needs the right report, which you do not have\n"
        );
    }
    for other in ["192.0.3.9", "2001:db8::8", "127.0.0.1"] {
        let said = talk_from(toml, other, lines).await;
        let first = "ERROR not-allowed say HELLO <server> <token> first\n";
        assert_eq!(said, first.repeat(3), "{other}");
        let said = talk_from(toml, other, "HELLO lan\n").await;
        assert_eq!(said, "ERROR not-allowed unknown server or wrong token\n");
    }
}

#[tokio::test]
async fn a_client_of_the_queues_speaks_for_its_players() {
    let toml = "[queue.q]\nteams = 2\nsize = 5\nruleset = 'ctf'\n\
                [[clients]]\nname = 'phone'\ntoken = 'x'\nrights = ['queue']\nplayers = ['ann', 'steam:*']";
    let daemon = Daemon::start(toml).await;
    let mut phone = daemon.named("phone x").await;
    phone.tell("ENQUEUE q t\nSEAT ann\nSEAT steam:7\n").await;
    for line in ["SEAT bob", "SEAT Ann", "ACCEPT 1 bob", "DECLINE 1 bob"] {
        let reply = first(&mut phone, line).await;
        assert_eq!(
            reply, "ERROR not-allowed you may not speak for this player",
            "{line}"
        );
    }
    assert!(phone.ask("SUBMIT\n").await.starts_with("QUEUED t "));
}

#[tokio::test]
async fn a_token_may_be_a_hash_or_in_a_file() {
    let folder = TempDir::new().unwrap();
    let new = evenkeel(folder.path())
        .args(["token", "new"])
        .output()
        .unwrap();
    let printed = String::from_utf8(new.stdout).unwrap();
    let word = |name: &str| {
        let line = printed.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap().trim().to_owned()
    };
    let (token, hash) = (word("token"), word("hash"));
    assert_eq!((token.len(), hash.len()), (64, 71), "{printed}");
    let again = evenkeel(folder.path())
        .args(["token", "new"])
        .output()
        .unwrap();
    assert_ne!(again.stdout, printed.as_bytes());
    let plain = folder.path().join("plain");
    let hashed = folder.path().join("hashed");
    fs::write(&plain, format!("{token}\r\nignored\n")).unwrap();
    fs::write(&hashed, &hash).unwrap();
    for source in [
        format!("token = '{hash}'"),
        format!("token_file = '{}'", plain.display()),
        format!("token_file = '{}'", hashed.display()),
    ] {
        let toml = format!("[[clients]]\nname = 'a'\nrights = ['ask']\n{source}");
        let daemon = Daemon::start(&toml).await;
        daemon
            .named(&format!("a {token}"))
            .await
            .tell("GAME ctf\n")
            .await;
        let reply = daemon
            .client()
            .await
            .ask(&format!("HELLO a {hash}\n"))
            .await;
        assert!(
            reply.starts_with("ERROR not-allowed "),
            "the hash is no token: {reply}"
        );
    }
    fs::write(&plain, "\nsecond line").unwrap();
    let toml = |path: &Path| {
        format!(
            "[[clients]]\nname = 'a'\nrights = ['ask']\ntoken_file = '{}'",
            path.display()
        )
    };
    let error = config(&toml(&plain)).access().unwrap_err().to_string();
    assert!(
        error.ends_with("plain: its first line must not be empty"),
        "{error}"
    );
    let error = config(&toml(&folder.path().join("none")))
        .access()
        .unwrap_err()
        .to_string();
    assert!(error.contains("No such file"), "{error}");
}

#[tokio::test]
async fn a_wrong_name_and_a_wrong_token_are_answered_alike() {
    let daemon = Daemon::start(&clients(&["ask"])).await;
    for hello in [
        "ask",
        "ask wrong",
        "other token-of-ask",
        "other",
        "\"\u{e9}\" x",
        "ask token-of-as",
    ] {
        let mut client = daemon.client().await;
        let reply = client.ask(&format!("HELLO {hello}\n")).await;
        assert_eq!(
            reply, "ERROR not-allowed unknown server or wrong token",
            "{hello}"
        );
        assert_eq!(client.line().await, "");
    }
    assert_eq!(daemon.gate.failed_hellos(), 6);
}

/// A gate, and what serves connections in memory behind it. The clock is paused.
struct Hellos {
    gate: Arc<Gate>,
    service: Arc<Service>,
    limits: ConnectionLimits,
    _folder: TempDir,
}

impl Hellos {
    async fn new(toml: &str) -> Self {
        let config = config(toml);
        let (service, folder) = service(&config).await;
        tokio::time::pause();
        Self {
            gate: gate(&config),
            service,
            limits: config.server.limits,
            _folder: folder,
        }
    }

    /// Says HELLO on a new connection. Returns the reply, and after how many milliseconds the connection has
    /// ended; after the reply, it is read for up to half a second.
    async fn hello(&self, from: [u8; 4], hello: &str) -> (String, u128) {
        let peer = Peer::enter(&self.gate, from.into()).unwrap();
        let (mut ours, theirs) = tokio::io::duplex(4_096);
        let lines = format!("HELLO {hello}\nQUIT\n");
        ours.write_all(lines.as_bytes()).await.unwrap();
        let began = tokio::time::Instant::now();
        let stop = CancellationToken::new();
        serve(theirs, &self.service, self.limits, peer, stop).await;
        let passed = began.elapsed().as_millis();
        let mut said = String::new();
        ours.read_to_string(&mut said).await.unwrap();
        (said, passed)
    }
}

#[tokio::test]
async fn who_guesses_tokens_waits_and_nobody_else_does() {
    let hellos = Hellos::new(&clients(&["ask", "report"])).await;
    let (guesser, other) = ([192, 0, 2, 1], [192, 0, 2, 2]);
    let mut waits = Vec::new();
    for _ in 0..9 {
        let (said, passed) = hellos.hello(guesser, "ask wrong").await;
        assert!(
            said.starts_with("ERROR not-allowed unknown server"),
            "{said}"
        );
        waits.push(passed);
    }
    // Each wait is from the last reply on, and the test waits half a second after it.
    let expected = [0, 0, 0, 0, 0, 0, 500, 1_500, 3_500];
    for (wait, expected) in waits.iter().zip(expected) {
        assert!((expected..expected + 600).contains(wait), "{waits:?}");
    }
    for (from, name) in [(guesser, "report"), (other, "ask"), ([127, 0, 0, 1], "ask")] {
        let hello = format!("{name} token-of-{name}");
        let (said, passed) = hellos.hello(from, &hello).await;
        assert!(said.starts_with("HELLO evenkeel/"), "{name}: {said}");
        assert!(passed < 600, "{name}: {passed} ms");
    }
}

#[tokio::test]
async fn attempts_at_once_are_refused_unchecked() {
    let hellos = Hellos::new(&clients(&["ask"])).await;
    let guesser = [192, 0, 2, 1];
    for _ in 0..9 {
        hellos.hello(guesser, "ask wrong").await;
    }
    let before = hellos.gate.failed_hellos();
    let attempts = (0..20).map(|_| hellos.hello(guesser, "ask token-of-ask"));
    // The first attempt waits for its turn; the others are refused, although their token is right.
    let said = all_at_once(attempts).await;
    let early = |(said, _): &&(String, u128)| said.starts_with("ERROR overloaded too many HELLOs");
    assert_eq!(said.iter().filter(early).count(), 19, "{said:?}");
    assert_eq!(hellos.gate.failed_hellos(), before);
}

/// Runs all of them at once on this task.
async fn all_at_once<T>(all: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut all: Vec<_> = all.map(|one| (Box::pin(one), None)).collect();
    std::future::poll_fn(move |context| {
        let mut open = 0;
        for (future, done) in &mut all {
            if done.is_none() {
                match future.as_mut().poll(context) {
                    std::task::Poll::Ready(value) => *done = Some(value),
                    std::task::Poll::Pending => open += 1,
                }
            }
        }
        match open {
            0 => {
                std::task::Poll::Ready(all.iter_mut().filter_map(|(_, done)| done.take()).collect())
            }
            _ => std::task::Poll::Pending,
        }
    })
    .await
}

#[tokio::test]
async fn an_address_has_a_number_of_connections() {
    let gate = gate(&config(
        "server.allow_anonymous = true\nlimits.connections_per_address = 3",
    ));
    let address = [192, 0, 2, 1].into();
    let mut inside: Vec<_> = (0..3)
        .map(|_| Peer::enter(&gate, address).unwrap())
        .collect();
    assert!(Peer::enter(&gate, address).is_none());
    assert!(Peer::enter(&gate, [192, 0, 2, 2].into()).is_some());
    inside.pop();
    assert!(Peer::enter(&gate, address).is_some());
    let here: Vec<_> = (0..1_000)
        .filter_map(|_| Peer::enter(&gate, [127, 0, 0, 1].into()))
        .collect();
    assert_eq!(here.len(), 1_000, "this machine has no limit");
}

#[tokio::test]
async fn a_reload_takes_rights_from_open_connections() {
    let before = format!(
        "{}[queue.q]\nteams = 2\nsize = 5\nruleset = 'ctf'\n",
        clients(&["ask+report", "queue+ask", "admin"])
    );
    let daemon = Daemon::start(&before).await;
    let mut loses = greeted(&daemon, "ask+report").await;
    loses.tell("GAME ctf\nSTART\n").await;
    let mut listens = greeted(&daemon, "queue+ask").await;
    listens.tell("LISTEN\n").await;
    let mut goes = greeted(&daemon, "admin").await;
    let after = before.replace("[\"ask\", \"report\"]", "[\"ask\"]");
    let after = after
        .replace("[\"queue\", \"ask\"]", "[\"ask\"]")
        .replace("token-of-admin", "other");
    daemon.gate.replace(config(&after).access().unwrap());
    assert!(
        first(&mut loses, "SCORE 0")
            .await
            .contains("needs the right report")
    );
    assert_eq!(loses.ask("MEANBOT\n").await, "MEANBOT 50.000 0");
    // These two are closed although they send nothing.
    let said = listens.rest().await;
    assert_eq!(
        said,
        "ERROR not-allowed you have lost the right to what this connection does\n"
    );
    assert_eq!(
        goes.rest().await,
        "ERROR not-allowed you are no client any more\n"
    );
    daemon.gate.replace(config(&before).access().unwrap());
    loses.tell("SCORE 0\n").await;
    // Without clients, everybody here may do everything; then HELLO is needed again.
    let mut silent = daemon.client().await;
    assert!(silent.ask("GAME ctf\n").await.contains("say HELLO"));
    daemon.gate.replace(config("").access().unwrap());
    silent.tell("GAME ctf\nSTART\n").await;
    daemon.gate.replace(config(&before).access().unwrap());
    assert!(silent.ask("SCORE 0\n").await.contains("say HELLO"));
}

#[tokio::test]
async fn sighup_changes_clients_and_a_bad_file_changes_nothing() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("evenkeel.toml");
    let write = |text: &str| fs::write(&file, text).unwrap();
    write(&clients(&["ask", "report"]));
    let process = Process::start_with(
        folder.path(),
        &[("EVENKEEL_CONFIG", file.to_str().unwrap())],
    );
    let log = |wanted: &str| while !process.log.recv_timeout(HANG).unwrap().contains(wanted) {};
    let mut client = Client::connect(process.address).await;
    client.hello("ask token-of-ask").await;
    client.tell("GAME ctf\n").await;
    for (bad, why) in [
        ("[[clients]]\nname = 'a'", "cannot be read again"),
        (
            "[[clients]]\nname = 'a'\nrights = ['ask']\ntoken_file = 'gone'",
            "the configuration is not taken over",
        ),
    ] {
        write(bad);
        process.signal("-HUP");
        log(why);
        client.tell("GAME dm\n").await;
    }
    write(&clients(&["report"]));
    process.signal("-HUP");
    assert_eq!(
        client.rest().await,
        "ERROR not-allowed you are no client any more\n"
    );
    log("clients and limits of the configuration are taken over");
    let mut client = Client::connect(process.address).await;
    client.hello("report token-of-report").await;
}

/// Without any signal: a file that changes is read again, a bad one is reported once, and what waits for the
/// next start is named.
#[tokio::test]
async fn a_changed_file_is_taken_over_by_itself() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("evenkeel.toml");
    let write = |text: &str| fs::write(&file, text).unwrap();
    write(&clients(&["ask"]));
    let process = Process::start_with(
        folder.path(),
        &[("EVENKEEL_CONFIG", file.to_str().unwrap())],
    );
    let mut seen = Vec::new();
    let mut log = |wanted: &str| loop {
        let line = process.log.recv_timeout(HANG).unwrap();
        seen.push(line);
        if seen.last().unwrap().contains(wanted) {
            return seen.clone();
        }
    };
    let mut client = Client::connect(process.address).await;
    client.hello("ask token-of-ask").await;
    write("[[clients]]\nname = 'a'");
    log("cannot be read again");
    client.tell("GAME ctf\n").await;
    // A file with the token belongs to the configuration, too.
    let token = folder.path().join("token");
    fs::write(&token, "first\n").unwrap();
    let from_file = format!(
        "[[clients]]\nname = 'a'\nrights = ['ask']\ntoken_file = '{}'\n\
         [lobby]\nmin_players = 7\n[rating]\nsystem = 'elo'\n[season]\nkeeps = 0.5\n",
        token.display()
    );
    write(&from_file);
    log("clients and limits of the configuration are taken over");
    let seen_then = log("these keys take effect at the next start");
    let last = seen_then.last().unwrap();
    assert!(last.contains("rating.system, season.keeps"), "{last}");
    assert!(!last.contains("lobby"), "{last}");
    let bad = seen_then
        .iter()
        .filter(|line| line.contains("cannot be read again"));
    assert_eq!(bad.count(), 1, "{seen_then:?}");
    Client::connect(process.address)
        .await
        .hello("a first")
        .await;
    fs::write(&token, "second\n").unwrap();
    log("clients and limits of the configuration are taken over");
    Client::connect(process.address)
        .await
        .hello("a second")
        .await;
}

/// In the evening, an administrator edits the file: the next game has the new settings, the running one keeps its own.
#[tokio::test]
async fn the_next_game_has_the_settings_of_a_changed_file() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("evenkeel.toml");
    let write = |text: &str| fs::write(&file, text).unwrap();
    write("[lobby]\nmin_players = 8\n");
    let variables = [("EVENKEEL_CONFIG", file.to_str().unwrap())];
    let process = Process::start_with(folder.path(), &variables);
    let log = |wanted: &str| loop {
        let line = process.log.recv_timeout(HANG).unwrap();
        if line.contains(wanted) {
            return line;
        }
    };
    let mut client = Client::connect(process.address).await;
    client.hello("here").await;
    client.tell("GAME ctf\n").await;
    assert_eq!(client.ask("BOTS\n").await, "BOTS 8 4 4");
    write(
        "[lobby]\nmin_players = 4\nmax_roster = 3\n[balance]\nobjective = 'ratio'\n\
         [auto_balance]\nrules = 'off'\n[rebalance]\nenough = 0.5\n",
    );
    log("each server has the new settings of games at its next GAME");
    client.tell("START\n").await;
    assert_eq!(client.ask("BOTS\n").await, "BOTS 8 4 4", "it runs");
    let other = process.ask("GAME ctf\nBOTS\n");
    assert_eq!(other, "BOTS 2 1 1\n", "a new connection begins with them");
    client.tell("GAME ctf\n").await;
    log("this game has the settings of the configuration that was read again");
    assert_eq!(client.ask("BOTS\n").await, "BOTS 2 1 1");
    client.tell("JOIN a\nJOIN b\nJOIN c\n").await;
    let full = client.ask("JOIN d\n").await;
    assert!(full.starts_with("ERROR roster-full"), "{full}");
    client.send("BALANCE\n").await;
    client.lines(6).await;
    let first = client.reasons("EXPLAIN\n").await;
    assert!(
        first.iter().all(|line| !line.contains("chance")),
        "{first:?}"
    );
    // The same text again is no change.
    write(
        "[lobby]\nmin_players = 4\nmax_roster = 3\n[balance]\nobjective = 'ratio'\n\
           [auto_balance]\nrules = 'off'\n[rebalance]\nenough = 0.5\n# a word\n",
    );
    log("clients and limits of the configuration are taken over");
}

#[test]
fn strangers_are_not_let_in_by_accident() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("evenkeel.toml");
    let run = |toml: &str, words: &[&str]| {
        fs::write(&file, toml).unwrap();
        let output = evenkeel(folder.path())
            .args(words)
            .args(["--config", "evenkeel.toml"])
            .output()
            .unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stderr).unwrap(),
        )
    };
    for (toml, words) in [
        ("", &["serve", "--listen", "0.0.0.0:0"][..]),
        ("", &["serve", "--listen", "[::]:0"]),
        ("server.listen = '0.0.0.0:0'", &["serve"]),
        ("server.listen = '192.0.2.1:7997'", &["serve"]),
    ] {
        let (code, said) = run(toml, words);
        assert_eq!(code, Some(3), "{toml} {words:?}: {said}");
        assert!(
            said.contains("is not a loopback address: everybody"),
            "{said}"
        );
        assert!(
            !folder.path().join("evenkeel.db").exists(),
            "nothing was opened"
        );
    }
    fs::write(&file, "server.listen = '0.0.0.0:0'").unwrap();
    let check = evenkeel(folder.path())
        .args(["config", "check", "evenkeel.toml"])
        .output()
        .unwrap();
    assert_eq!(check.status.code(), Some(3));
    // Other commands go on with the configuration of 0.1.
    let (_, said) = run("server.listen = '0.0.0.0:0'", &["weights"]);
    assert!(!said.contains("loopback"), "{said}");
    for toml in ["server.allow_anonymous = true", &clients(&["ask"])] {
        fs::write(&file, toml).unwrap();
        let variables = [
            ("EVENKEEL_CONFIG", "evenkeel.toml"),
            ("EVENKEEL_LISTEN", "0.0.0.0:0"),
        ];
        let mut process = Process::start_at(folder.path(), &variables);
        process.stop();
    }
}

#[test]
fn tokens_are_in_no_log() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("evenkeel.toml");
    fs::write(
        &file,
        format!("log.filter = 'trace'\n{}", clients(&["ask"])),
    )
    .unwrap();
    let variables = [("EVENKEEL_CONFIG", file.to_str().unwrap())];
    let mut process = Process::start_with(folder.path(), &variables);
    process.ask("HELLO ask token-of-ask\nGAME ctf\n");
    process.ask("HELLO ask hunter2\n");
    fs::write(
        &file,
        "[[clients]]\nname = 'a'\nrights = ['ask']\ntoken = 1234512345",
    )
    .unwrap();
    process.signal("-HUP");
    let mut log: Vec<String> = Vec::new();
    while !log
        .last()
        .is_some_and(|line| line.contains("cannot be read again"))
    {
        log.push(process.log.recv_timeout(HANG).unwrap());
    }
    process.stop();
    log.extend(process.log.iter());
    let log = log.join("\n");
    assert!(
        log.contains("HELLO with an unknown name, a wrong token"),
        "{log}"
    );
    for token in ["token-of-ask", "hunter2", "1234512345"] {
        assert!(!log.contains(token), "{log}");
    }
}

/// A daemon whose client `flood` may send little, and whose client `other` shares nothing with it.
fn limited(more: &str) -> String {
    format!(
        "server.max_errors = 100000\n{}[limits]\n{more}\n",
        clients(&["ask+report", "ask"])
    )
}

#[tokio::test]
async fn a_flood_is_slowed_down_and_the_neighbour_does_not_notice() {
    let daemon = Daemon::start(&limited("lines_per_second = 1\nlines_burst = 20")).await;
    let flood = greeted(&daemon, "ask+report").await;
    // 10,000 lines at one per second would take hours.
    let (mut reader, mut writer) = flood.stream.into_inner().into_split();
    let sending = tokio::spawn(async move {
        for _ in 0..10_000 {
            if writer.write_all(b"PING\n").await.is_err() {
                break;
            }
        }
    });
    let mut pongs = [0; 5 * 18];
    reader.read_exact(&mut pongs).await.unwrap();
    let mut other = greeted(&daemon, "ask").await;
    other.tell("GAME ctf\n").await;
    for _ in 0..16 {
        assert_eq!(other.ask("MEANBOT\n").await, "MEANBOT 50.000 0");
    }
    sending.abort();
}

#[tokio::test]
async fn lines_beyond_the_limit_are_late_and_none_is_lost() {
    let config = config(&limited(
        "lines_per_second = 100\nlines_burst = 50\nreports_per_second = 10\nreports_burst = 5",
    ));
    for (line, expected) in [("PING\n", 1_950), ("SCORE 0\nPING\n", 24_150)] {
        let (service, _folder) = service(&config).await;
        let peer = Peer::enter(&gate(&config), [192, 0, 2, 1].into()).unwrap();
        let (mut ours, theirs) = tokio::io::duplex(65_536);
        let hello = "HELLO ask+report token-of-ask+report\nGAME ctf\nSTART\n";
        let lines = format!("{hello}{}QUIT\n", line.repeat(246));
        ours.write_all(lines.as_bytes()).await.unwrap();
        tokio::time::pause();
        let began = tokio::time::Instant::now();
        let limits = config.server.limits;
        serve(theirs, &service, limits, peer, CancellationToken::new()).await;
        let passed = began.elapsed().as_millis();
        tokio::time::resume();
        let mut said = String::new();
        ours.read_to_string(&mut said).await.unwrap();
        assert_eq!(said.matches("PONG\n").count(), 246);
        assert!(!said.contains("ERROR"), "{said}");
        assert!(
            (expected..expected + 600).contains(&passed),
            "{line}: {passed} ms"
        );
    }
}

#[tokio::test]
async fn decisions_beyond_the_limit_are_refused() {
    let daemon = Daemon::start(&limited("decisions_per_second = 1\ndecisions_burst = 3")).await;
    let mut client = greeted(&daemon, "ask+report").await;
    client.tell("GAME ctf\nJOIN a\nJOIN b\n").await;
    for line in ["BALANCE", "PLACE a", "REBALANCE"] {
        let reply = first(&mut client, line).await;
        assert!(!reply.starts_with("ERROR"), "{line}: {reply}");
    }
    let reply = client.ask("BALANCE\n").await;
    assert!(
        reply.starts_with("ERROR overloaded too many decisions: ask again in "),
        "{reply}"
    );
    assert_eq!(
        client.ask("MEANBOT\n").await,
        "MEANBOT 50.000 0",
        "other lines go on"
    );
    let mut other = greeted(&daemon, "ask").await;
    other.tell("GAME ctf\nJOIN a\n").await;
    assert!(other.ask("PLACE a\n").await.starts_with("PLACE a "));
    // There is one again soon.
    until(async || !first(&mut client, "PLACE a").await.starts_with("ERROR")).await;
}

#[tokio::test]
async fn anonymous_connections_share_the_limits_of_their_address() {
    let toml =
        "server.allow_anonymous = true\n[limits]\ndecisions_per_second = 1\ndecisions_burst = 2";
    let config = config(toml);
    let gate = gate(&config);
    let lines = "GAME ctf\nJOIN a\nPLACE a\nPLACE a\nQUIT\n";
    let mut refused = Vec::new();
    for from in [
        "192.0.2.1",
        "192.0.2.1",
        "192.0.2.2",
        "127.0.0.1",
        "127.0.0.1",
    ] {
        let (service, _folder) = service(&config).await;
        let peer = Peer::enter(&gate, from.parse().unwrap()).unwrap();
        let (mut ours, theirs) = tokio::io::duplex(4_096);
        ours.write_all(lines.as_bytes()).await.unwrap();
        serve(
            theirs,
            &service,
            config.server.limits,
            peer,
            CancellationToken::new(),
        )
        .await;
        let mut said = String::new();
        ours.read_to_string(&mut said).await.unwrap();
        refused.push(said.matches("ERROR overloaded too many decisions").count());
    }
    assert_eq!(refused[0], 0);
    assert!(
        refused[1] >= 1,
        "the second connection of the address: {refused:?}"
    );
    assert_eq!(refused[2..], [0, 0, 0], "other addresses, and this machine");
}

#[test]
fn the_hash_of_a_token_that_exists() {
    let folder = TempDir::new().unwrap();
    let mut child = evenkeel(folder.path())
        .args(["token", "hash"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(b"sesame\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "sha256:d0c04f4b1951e4aeaaec8223ed2039e542f3aae805a6fa7f6d794e5afff5d272\n"
    );
}
