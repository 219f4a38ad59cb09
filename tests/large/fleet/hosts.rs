//! Instances that host the matches of queues, at any daemon.

use std::sync::Arc;

use super::{
    game::{Console, End},
    line::{DAEMONS, Line, World, pause},
};
use crate::common::draw::Draw;

/// Hosts matches until the test has ended, one at a time. Returns how each ended, by its id.
pub fn host(world: &Arc<World>, number: usize, seed: u64) -> Vec<(i64, End)> {
    let mut draw = Draw(seed);
    let name = format!("host{number}");
    let mut hosted = Vec::new();
    while !world.has_ended() {
        let daemon = draw.below(DAEMONS);
        let Ok((mut line, hello)) = Line::open(world, daemon, &name) else {
            pause(100);
            continue;
        };
        if !hello.starts_with("HELLO ") {
            pause(100);
            continue;
        }
        let instance = format!("INSTANCE {name}.example:27960 slots=2");
        let mut alive = line.tell(&instance).is_ok();
        while alive && !world.has_ended() {
            let pushes = std::mem::take(&mut line.pushes);
            let played = host_all(world, (&name, daemon), &mut line, &pushes, &mut hosted);
            pause(30);
            alive = played && line.tell("LOAD 0").is_ok();
        }
    }
    hosted
}

/// Hosts the matches that the daemon has asked for. Returns false once the connection is broken.
fn host_all(
    world: &Arc<World>,
    (name, daemon): (&str, usize),
    line: &mut Line,
    pushes: &[String],
    hosted: &mut Vec<(i64, End)>,
) -> bool {
    for (at, push) in pushes.iter().enumerate() {
        let words: Vec<&str> = push.split(' ').collect();
        let ["SESSION", id, _, _, _, count] = words[..] else {
            continue;
        };
        let count: usize = count.parse().unwrap();
        let joins = pushes[at + 1..].iter().take(count);
        let players: Vec<&str> = joins
            .filter_map(|join| join.strip_prefix("JOIN ")?.split(' ').next())
            .collect();
        if pushes.len() - at <= count {
            // A reply came before the last of its lines: they are read with the next one.
            line.pushes.splice(0..0, pushes[at..].iter().cloned());
            return true;
        }
        assert_eq!(players.len(), count, "{pushes:?}");
        match line.tell(&format!("READY {id}")) {
            Ok(None) => {}
            Ok(Some(_)) => continue,
            Err(_) => return false,
        }
        let mut lines: Vec<String> = players
            .iter()
            .map(|player| format!("JOIN {player}"))
            .collect();
        lines.extend(["START".to_owned(), "SCORE 0 total=1".to_owned()]);
        let mut console = Console::new(daemon, format!("{name} match={id}"));
        let end = console.play(world, &lines);
        hosted.push((id.parse().unwrap(), end));
    }
    true
}
