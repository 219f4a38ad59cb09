//! Feeds the lines of a log to a sidecar at their stamps, as if they were written now.

use bytes::BytesMut;
use evenkeel::{
    ingest::{self, Context, LogItem, Reader},
    protocol::{Reply, Request},
    sidecar::{
        Act, ChatSettings, Sidecar,
        engine::Engine,
        follower::{CommandTemplate, Follower, FollowerSettings, TemplateCommands},
        idtech3::IdTech3,
        source::Source,
        teeworlds::Teeworlds,
        xonotic::Xonotic,
    },
};

/// How often time passes without a line, in milliseconds.
const TICK: u64 = 250;
/// For how long after a line it does. Later nothing waits for it.
const TICKS: u64 = 60_000;

/// The sidecar of a server that writes logs of this format, if there is one.
pub(super) fn follower(format: &str) -> Option<Box<dyn Sidecar>> {
    fn boxed<E: Engine + 'static>(engine: E) -> Option<Box<dyn Sidecar>> {
        let settings = FollowerSettings {
            server: "test".into(),
            token: None,
            bots_as_players: false,
            auto_balance: false,
            settle: 1_000,
            attempts: 2,
            chat: ChatSettings::default(),
        };
        Some(Box::new(Follower::new(engine, settings)))
    }
    let commands = || TemplateCommands {
        move_command: CommandTemplate::of_move("move {player} {team}").unwrap(),
        bots_command: None,
    };
    match format {
        "idtech3" => boxed(IdTech3::new(false, vec![])),
        "source" => boxed(Source::new(commands(), None, 0)),
        "xonotic" => boxed(Xonotic::new(commands(), false, 0)),
        "teeworlds" => boxed(Teeworlds::default()),
        _ => None,
    }
}

/// The line of a request, without its end.
pub(super) fn line(request: &Request) -> String {
    let mut line = BytesMut::new();
    request.encode(&mut line);
    String::from_utf8_lossy(&line).trim_end().to_owned()
}

/// What `ingest` finds in a log.
pub(super) fn items(format: &str, log: &[u8]) -> Vec<LogItem> {
    let (mut reader, mut items) = (reader(format), Vec::new());
    reader.feed(log, &mut items);
    reader.finish(&mut items);
    items
}

fn reader(format: &str) -> Reader {
    let context = Context {
        server: "here".to_owned(),
        ..Context::default()
    };
    Reader::new(ingest::by_name(format).unwrap(), &context)
}

/// When the first such line was written, in milliseconds since the log began.
pub(super) fn time_of(format: &str, log: &[u8], is_it: impl Fn(&[u8]) -> bool) -> Option<u64> {
    let (mut clock, mut items) = (reader(format), Vec::new());
    let mut lines = log.split_inclusive(|&b| b == b'\n');
    lines.find_map(|line| {
        clock.feed(line, &mut items);
        is_it(line).then(|| clock.elapsed())
    })
}

/// Feeds a log to a sidecar, and each of its acts, with the time, to `take`. HELLO is answered. Another reader of the log
/// tells the times.
pub(super) fn follow(
    format: &str,
    log: &[u8],
    sidecar: &mut dyn Sidecar,
    mut take: impl FnMut(u64, &Act),
) {
    let (mut clock, mut items, mut now) = (reader(format), Vec::new(), 0);
    let mut acts = Vec::new();
    sidecar.connected(now, &mut acts);
    let mut pass = |sidecar: &mut dyn Sidecar, now, acts: &mut Vec<Act>| {
        while !acts.is_empty() {
            for act in std::mem::take(acts) {
                take(now, &act);
                if matches!(act, Act::Send(Request::Hello { .. })) {
                    sidecar.reply(Reply::hello(None), now, acts);
                }
            }
        }
    };
    for line in log.split_inclusive(|&b| b == b'\n') {
        clock.feed(line, &mut items);
        let last = now;
        while now + TICK < clock.elapsed() && now < last + TICKS {
            now += TICK;
            sidecar.tick(now, &mut acts);
            pass(sidecar, now, &mut acts);
        }
        now = now.max(clock.elapsed());
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        sidecar.log_line(line, now, &mut acts);
        pass(sidecar, now, &mut acts);
    }
    let end = now + TICKS;
    while now < end {
        now += TICK;
        sidecar.tick(now, &mut acts);
        pass(sidecar, now, &mut acts);
    }
}
