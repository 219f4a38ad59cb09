//! A game from its first line to END, over as many connections as that takes.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::line::{Line, World, pause};

/// What a game server knows of a game that it has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum End {
    /// END was answered: the match has this id.
    Answered(i64),
    /// The daemon had begun to answer END when it was killed: the match is stored, with an id that nobody knows.
    OnItsWay,
    /// The game was not ended: its match is played elsewhere, or not at all.
    Dropped,
}

/// Plays games on one connection at a time.
pub struct Console {
    pub daemon: usize,
    pub hello: String,
    pub line: Option<Line>,
    /// Games that should have been resumed, and were not.
    pub forgotten: usize,
    /// How often a game went on at a new connection.
    pub resumed: usize,
}

impl Console {
    pub fn new(daemon: usize, hello: String) -> Self {
        Self {
            daemon,
            hello,
            line: None,
            forgotten: 0,
            resumed: 0,
        }
    }

    /// Sends the lines of a game, each after the one before was carried out, and END. A line may arrive twice.
    pub fn play(&mut self, world: &Arc<World>, lines: &[String]) -> End {
        let (mut at, mut ends) = (0, false);
        let since = Instant::now();
        loop {
            assert!(
                since.elapsed() < Duration::from_secs(180),
                "{} hangs",
                self.hello
            );
            let Some(line) = &mut self.line else {
                if !self.connect(world, &mut at, ends) {
                    return End::Dropped;
                }
                continue;
            };
            if !ends && at < lines.len() {
                let is_start = lines[at] == "START";
                match line.tell(&lines[at]) {
                    Ok(None) => at += 1,
                    // The START whose reply was lost has arrived.
                    Ok(Some(error)) if is_start && error.starts_with("ERROR not-allowed play") => {
                        at += 1;
                    }
                    // The daemon that runs the queue is away. START has changed nothing.
                    Ok(Some(error)) if is_start && is_for_now(&error) => pause(100),
                    // The match was closed: it is played elsewhere.
                    Ok(Some(_)) if self.hello.contains(" match=") => return End::Dropped,
                    Ok(Some(error)) if error.starts_with("ERROR no-game") => {
                        self.forgotten += 1;
                        at = 0;
                    }
                    Ok(Some(error)) => panic!("{}: {error} after {}", self.hello, lines[at]),
                    Err(_) => self.line = None,
                }
                continue;
            }
            let again = std::mem::replace(&mut ends, true);
            match line.ask("END") {
                Ok(reply) if reply.starts_with("END ") => {
                    let id = reply.split(' ').nth(1).unwrap();
                    return End::Answered(id.parse().unwrap());
                }
                Ok(reply) if reply.starts_with("ERROR no-game") && again => return End::OnItsWay,
                // It is kept: the id comes once the match can be stored.
                Ok(reply) if reply.starts_with("ERROR internal") => pause(200),
                Ok(_) if self.hello.contains(" match=") => return End::Dropped,
                Ok(reply) => panic!("{}: {reply} after END, again: {again}", self.hello),
                Err(_) => self.line = None,
            }
        }
    }

    /// The daemon's answers to PLAYER for players of these games.
    pub fn answers(&mut self, world: &Arc<World>, players: usize) -> Vec<String> {
        while self.line.is_none() {
            assert!(
                self.connect(world, &mut 0, false),
                "{} is refused",
                self.hello
            );
        }
        let line = self.line.as_mut().unwrap();
        line.tell("GAME ctf").unwrap();
        let players = 0..players;
        players
            .map(|player| line.ask(&format!("PLAYER a{player}")).unwrap())
            .collect()
    }

    /// Returns false if the daemon refuses the game.
    fn connect(&mut self, world: &Arc<World>, at: &mut usize, ends: bool) -> bool {
        match Line::open(world, self.daemon, &format!("{} resume=yes", self.hello)) {
            Ok((line, hello)) if hello.starts_with("HELLO ") => {
                let goes_on = hello.ends_with(" resumed");
                self.resumed += usize::from(goes_on);
                if !goes_on && !ends && *at > 0 {
                    self.forgotten += 1;
                    *at = 0;
                }
                self.line = Some(line);
            }
            Ok((_, error)) if error.starts_with("ERROR not-allowed") => return false,
            Ok(_) | Err(_) => pause(100),
        }
        true
    }
}

/// Whether the same line may be accepted later.
fn is_for_now(error: &str) -> bool {
    error.starts_with("ERROR overloaded ") || error.starts_with("ERROR internal ")
}
