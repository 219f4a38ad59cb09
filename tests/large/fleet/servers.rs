//! Game servers that play one match after the other. Each stays with one daemon.

use std::sync::Arc;

use super::{
    game::{Console, End},
    line::{DAEMONS, World, pause},
};
use crate::common::draw::Draw;

/// The players of these games.
pub const PLAYERS: usize = 24;

/// What a game server has played.
#[derive(Default)]
pub struct Played {
    /// How each game ended, by its map: no two games have the same one.
    pub games: Vec<(String, End)>,
    pub resumed: usize,
    pub forgotten: usize,
}

/// Plays until the test ends.
pub fn play_games(world: &Arc<World>, number: usize, seed: u64) -> Played {
    let mut draw = Draw(seed);
    let mut console = Console::new(number % DAEMONS, format!("server{number}"));
    let mut played = Played::default();
    while !world.is_ending() {
        let game = played.games.len();
        let map = format!("s{number}g{game}");
        // Every tenth game has a player who never comes again, and who may be forgotten.
        let leaver = (game % 10 == 0).then(|| format!("f{number}_{game}"));
        let end = console.play(world, &lines(&map, leaver.as_deref(), &mut draw));
        if let End::Answered(id) = end {
            world.recorded.lock().push(id);
            world.leavers.lock().extend(leaver);
        }
        played.games.push((map, end));
        pause(100 + draw.below(300));
    }
    played.resumed = console.resumed;
    played.forgotten = console.forgotten;
    played
}

/// The lines of a game but for END, of two against two.
fn lines(map: &str, leaver: Option<&str>, draw: &mut Draw) -> Vec<String> {
    let mut players: Vec<String> = (0..PLAYERS).map(|player| format!("a{player}")).collect();
    draw.shuffle(&mut players);
    players.truncate(4);
    if let Some(leaver) = leaver {
        players[0] = leaver.to_owned();
    }
    let mut lines = vec!["GAME ctf".to_owned(), format!("MAP {map}")];
    let joins = players.iter().enumerate();
    lines.extend(joins.map(|(at, player)| format!("JOIN {player} team={}", at % 2)));
    lines.push("START".to_owned());
    let mut scores = [0, 0];
    for _ in 0..3 + draw.below(4) {
        let team = draw.below(2);
        scores[team] += 1;
        lines.push(format!("SCORE {team} total={}", scores[team]));
    }
    lines
}
