//! A running sidecar: what it knows. `hear` takes the log's events, `decide` the daemon's answers.

mod decide;
mod hear;

use super::{
    Act, Settings,
    answers::Answers,
    lull::Lull,
    people::People,
    play::{Game, Phase},
    words::word,
};

/// How long a move in play may take until the daemon is told that it did not happen, in milliseconds.
const DOUBT: u64 = 5_000;
/// A client says something at least so often, in milliseconds, so that its connection is not idle.
const SILENCE: u64 = 60_000;

/// See the room. `now` is the caller's clock in milliseconds, which never runs backwards.
pub struct Sidecar {
    settings: Settings,
    connected: bool,
    answers: Answers,
    people: People,
    game: Option<Game>,
    lull: Lull,
    /// Whether games here begin with a warm-up, in which teams are chosen; otherwise they are after the
    /// game before.
    warms_up: bool,
    /// Whether the last game announced was a warm-up.
    warmed: bool,
    /// Whether this daemon knows nothing of the course of games: one of an older version.
    outdated: bool,
    /// Since when the daemon may believe somebody on a team they are not on.
    doubt: Option<u64>,
    spoke: u64,
}

impl Sidecar {
    /// Nothing is known yet.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            connected: false,
            answers: Answers::default(),
            people: People::default(),
            game: None,
            lull: Lull::default(),
            warms_up: false,
            warmed: false,
            outdated: false,
            doubt: None,
            spoke: 0,
        }
    }

    /// There is a connection to the daemon, which knows nothing of the game yet.
    pub fn connected(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.connected = true;
        self.outdated = false;
        self.spoke = now;
        self.answers = Answers::default();
        self.lull = Lull::new(now);
        self.people.forget_known();
        let mut hello = format!("HELLO {}", word(&self.settings.server));
        if let Some(token) = &self.settings.token {
            hello += &format!(" {}", word(token));
        }
        acts.push(Act::Say(hello));
        if self.settings.bots_as_players {
            // Bots are players here; there are no others to come.
            acts.push(Act::Say("MINPLAYERS 0".to_owned()));
        }
        if let Some(game) = &mut self.game {
            game.whole &= matches!(game.phase, Phase::Opening | Phase::WarmUp);
            game.announce(&mut |line| acts.push(Act::Say(line)));
            for number in 0..self.people.len() {
                self.settle(number, None, now, acts);
            }
        }
    }

    /// The connection is gone.
    pub fn disconnected(&mut self) {
        self.connected = false;
        self.people.forget_known();
        if let Some(game) = &mut self.game {
            game.whole &= matches!(game.phase, Phase::Opening | Phase::WarmUp);
        }
    }

    /// Time has passed.
    pub fn tick(&mut self, now: u64, acts: &mut Vec<Act>) {
        if !self.connected {
            return;
        }
        if self
            .doubt
            .is_some_and(|since| now >= since.saturating_add(DOUBT))
        {
            self.doubt = None;
            self.tell_truth(acts);
        }
        if self.is_lull() {
            self.think(now, acts);
        }
        if acts.iter().any(|act| matches!(act, Act::Say(_))) {
            self.spoke = now;
        } else if now >= self.spoke.saturating_add(SILENCE) {
            self.spoke = now;
            acts.push(Act::Say("PING".to_owned()));
        }
    }
}
