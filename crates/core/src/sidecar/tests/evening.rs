//! Feeds the lines of a log to a sidecar at their stamps, as if they were written now.

use crate::{
    ingest::{self, Context, LogItem, Reader},
    protocol::{Reply, Request},
    sidecar::{
        Act, Sidecar,
        engine::Engine,
        follower::{
            Follower, FollowerSettings,
            play::{commands, settings},
        },
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
            bots_as_players: false,
            ..settings()
        };
        Some(Box::new(Follower::new(engine, settings)))
    }
    match format {
        "idtech3" => boxed(IdTech3::new(false, vec![])),
        "source" => boxed(Source::new(commands("move {player} {team}"), None, 0)),
        "xonotic" => boxed(Xonotic::new(commands("move {player} {team}"), false, 0)),
        "teeworlds" => boxed(Teeworlds::default()),
        _ => None,
    }
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
