//! Clients that connect, webhooks that the daemon sends to, and their secrets.

use super::*;

#[test]
fn tokens_are_not_printed() {
    let client = "[[clients]]\nname = 'a'\nrights = ['ask']\n";
    for bad in [
        "hunter2 = 1",
        "token = 1234512345",
        "token = ['1234512345']",
    ] {
        let why = fault(&format!("{client}{bad}"));
        assert!(!why.is_empty() && !why.contains("12345"), "{why}");
    }
    let why = fault(&format!("{client}token = ''"));
    assert_eq!(why, "line 4: clients[0].token must not be empty");
    let config = load("[[clients]]\nname = 'a'\ntoken = 'hunter2'\nrights = ['ask']").unwrap();
    let access = config.access().unwrap();
    let shown = format!("{config:?} {access:?} {:?}", config.service());
    assert!(!shown.contains("hunter2"));
}

#[test]
fn faults_of_clients_name_their_line() {
    let client = "[[clients]]\nname = 'a'\ntoken = 'x'\nrights = ['ask']\n";
    assert_eq!(fault(client), "");
    let with = |keys: &str| fault(&format!("[[clients]]\n{keys}"));
    for (keys, why) in [
        (
            "name = 'a'\ntoken = 'x'",
            "line 1: clients[0]: the key rights is missing",
        ),
        (
            "rights = ['ask']\ntoken = 'x'",
            "line 1: clients[0]: the key name is missing",
        ),
        (
            "name = 'a'\ntoken = 'x'\nrights = []",
            "line 4: clients[0].rights must not be empty",
        ),
        (
            "name = 'a'\ntoken = 'x'\nrights = ['all']",
            "line 4: clients[0].rights[0] must be one of: ask, report, queue, instance, admin, not \"all\"",
        ),
        (
            "name = 'a'\nrights = ['ask']",
            "line 2: clients[0].name must have a token, a token_file or networks beside it",
        ),
        (
            "name = ' '\ntoken = 'x'\nrights = ['ask']",
            "line 2: clients[0].name must not be empty",
        ),
        (
            "name = 'a*b'\ntoken = 'x'\nrights = ['ask']",
            "line 2: clients[0].name must have * only",
        ),
        (
            "name = 'a**'\ntoken = 'x'\nrights = ['ask']",
            "line 2: clients[0].name must have * only",
        ),
        (
            "name = 'a'\ntoken = 'x'\nrights = ['ask']\nplayers = ['']",
            "line 5: clients[0].players must not contain an empty id",
        ),
        (
            "name = 'a'\ntoken = ''\nrights = ['ask']",
            "line 3: clients[0].token must not be empty",
        ),
        (
            "name = 'a'\ntoken = 'sha256:12'\nrights = ['ask']",
            "line 3: clients[0].token must be a token, or a hash",
        ),
        (
            "name = 'a'\ntoken = 'x'\ntoken_file = 'y'\nrights = ['ask']",
            "line 3: clients[0].token must not be there together with token_file",
        ),
        (
            "name = 'a'\nnetworks = ['10.0.0.0/33']\nrights = ['ask']",
            "line 3: clients[0].networks must be networks such as",
        ),
        (
            "name = 'a'\ntoken = 'x'\nrights = ['ask']\nadmin = true",
            "line 5: clients[0].admin: unknown key admin",
        ),
    ] {
        let found = with(keys);
        assert!(found.starts_with(why), "{found}");
    }
    let twice = format!("{client}{client}");
    assert_eq!(
        fault(&twice),
        "line 6: clients[1].name must not be another client's, too"
    );
    assert!(
        fault(&format!("server.allow_anonymous = true\n{client}")).starts_with(
            "line 1: server.allow_anonymous must be false when clients are configured"
        )
    );
    assert!(fault("[clients]\nname = 'a'").contains("must be in double brackets, [[clients]]"));
}

const HOOK: &str = "[[webhook]]\nname = 'a'\nurl = 'https://example.org/s3cret'\n\
                    secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'\n";

#[test]
fn the_documented_webhook_is_valid() {
    let lines = DEFAULT.lines().skip_while(|line| *line != "# [[webhook]]");
    let lines = lines.take_while(|line| line.starts_with('#'));
    let text: String = lines.map(|line| format!("{}\n", &line[2..])).collect();
    let text = text.replace("whsec_…", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
    assert!(fault(&text).contains("webhook[0].secret must not be beside secret_file"));
    let alone: Vec<_> = text
        .lines()
        .filter(|line| !line.starts_with("secret_file"))
        .collect();
    assert_eq!(alone.len(), 9);
    let (documented, least) = (load(&alone.join("\n")).unwrap(), load(HOOK).unwrap());
    let keys = |config: &Config| {
        let hook = &config.webhook[0];
        let bounds = (hook.timeout_seconds, hook.keep_seconds, hook.max_waiting);
        (hook.events.clone(), hook.plain_http, bounds)
    };
    assert_eq!(keys(&documented), keys(&least));
}

#[test]
fn secrets_of_webhooks_are_not_printed() {
    let config = load(HOOK).unwrap();
    let printed = format!("{config:?}");
    assert!(printed.contains("https://example.org"));
    assert!(
        !printed.contains("s3cret") && !printed.contains("MfKQ"),
        "{printed}"
    );
    let bad = fault(&HOOK.replace("MfKQ", "secret!"));
    assert!(
        bad.starts_with("line 4: webhook[0].secret must be whsec_"),
        "{bad}"
    );
    assert!(!bad.contains("secret!"), "{bad}");
}

#[test]
fn webhooks_that_do_not_fit_are_refused() {
    let with = |line: &str| fault(&format!("{HOOK}{line}"));
    let other = HOOK.replace("'a'", "'b'");
    assert_eq!(with(&other), "");
    assert_eq!(with(HOOK), "line 6: webhook[1].name must not be a twice");
    assert!(with("events = []").starts_with("line 5: webhook[0].events must not be empty"));
    assert!(with("events = ['won']").starts_with("line 5: webhook[0].events"));
    assert!(with("events = 'formed'").starts_with("line 5: webhook[0].events"));
    assert!(with("timeout_seconds = 61").contains("must be 1 to 60 seconds, not 61"));
    assert!(with("max_waiting = 10001").contains("must be 1 to 10000, not 10001"));
    assert!(with("retries = 3").starts_with("line 5: webhook[0]"));
    let plain = HOOK.replace("https://example.org", "http://example.org");
    assert!(fault(&plain).starts_with("line 3: webhook[0].url must begin with https://"));
    assert_eq!(fault(&format!("{plain}plain_http = true")), "");
    assert_eq!(
        fault(&HOOK.replace("https://example.org", "http://127.0.0.1:8080")),
        ""
    );
    let bare: Vec<_> = HOOK.lines().take(3).collect();
    assert!(fault(&bare.join("\n")).contains("webhook[0].secret or secret_file is missing"));
    assert_eq!(
        fault("[webhook]\nname = 'a'"),
        "line 1: webhook must be in double brackets, [[webhook]]: there may be several"
    );
    let many: String = (0..17)
        .map(|n| HOOK.replace("'a'", &format!("'a{n}'")))
        .collect();
    assert!(fault(&many).contains("webhook[16].name is that of one more than 16 webhooks"));
}

#[test]
fn tokens_that_can_be_guessed_are_named() {
    let client = |name: &str, token: &str| {
        format!("[[clients]]\nname = '{name}'\ntoken = '{token}'\nrights = ['ask']\n")
    };
    let hash = Secret::of("abc").hash();
    let text =
        client("weak", "abc") + &client("good", "a long random string") + &client("hashed", &hash);
    let warnings = load(&text).unwrap().warnings().unwrap();
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0].starts_with("the token of client weak is short"),
        "{warnings:?}"
    );
}
