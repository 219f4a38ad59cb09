//! id Tech 3 (`games.log`): Quake III Arena, OpenArena, Urban Terror and their relatives.
//!
//! `grammar` reads one line, `rules` what kind of game an `InitGame` announces, `roster` who is on
//! which client number, and `game` follows one game. This file keeps the games of a log apart.
//!
//! A game begins with `InitGame:` or, in Urban Terror, with each `InitRound:`, and is over with
//! `Exit:`. Its results follow; it is told when something else begins, or when the log is over.

mod game;
pub(crate) mod grammar;
pub(crate) mod roster;
pub(crate) mod rules;
pub(crate) mod scoring;
#[cfg(test)]
mod tests;

use super::{Context, Format, Item, Line, LogParser, MAX_LINE, Skip, clock::Clock};
use game::Game;
use grammar::Event;
use roster::Roster;
use rules::Rules;

pub(super) const FORMAT: Format = Format {
    name: "idtech3",
    detect,
    parser: |context| Box::new(Parser::new(context)),
    max_line: MAX_LINE,
    in_halves: false,
};

fn detect(head: &[u8]) -> bool {
    super::mostly(head, grammar::is_known)
}

/// What is being told.
enum Telling {
    /// Nothing: the log just began or its clock was set back. Play would be that of a game whose
    /// beginning the log does not have.
    Unknown,
    /// The end of such a game, since this line.
    Foreign(u64),
    /// Nothing: a game is over.
    Nothing,
    /// A game.
    Game(Box<Game>),
}

struct Parser {
    server: String,
    clock: Clock,
    roster: Roster,
    telling: Telling,
}

impl Parser {
    fn new(context: &Context) -> Self {
        Self {
            server: context.server.clone(),
            clock: Clock::default(),
            roster: Roster::default(),
            telling: Telling::Unknown,
        }
    }

    /// Whatever was being told is over.
    fn close(&mut self, items: &mut Vec<Item>) {
        match std::mem::replace(&mut self.telling, Telling::Nothing) {
            Telling::Unknown | Telling::Nothing => {}
            Telling::Foreign(line) => items.push(Item::Skipped {
                line,
                reason: Skip::StartedBeforeLog,
            }),
            Telling::Game(game) => {
                let line = game.line;
                items.push(match game.finish(&self.server) {
                    Ok(record) => Item::Game(Box::new(record)),
                    Err(reason) => Item::Skipped { line, reason },
                });
            }
        }
        self.roster.forget_tracks();
    }

    fn begin(&mut self, line: u64, info: &[u8], roster_known: bool, items: &mut Vec<Item>) {
        self.close(items);
        let game = Game::new(line, Rules::read(info), self.clock, roster_known);
        self.telling = Telling::Game(Box::new(game));
    }

    /// A round of Urban Terror. Before an exit it is the same game, whose play only now begins.
    fn round(&mut self, line: u64, info: &[u8], items: &mut Vec<Item>) {
        match &mut self.telling {
            Telling::Game(game) if game.is_between_rounds() => return,
            Telling::Game(game) if !game.is_over() => game.restart(Rules::read(info), self.clock),
            Telling::Game(game) => {
                let roster_known = game.roster_known;
                self.begin(line, info, roster_known, items);
            }
            // No line announced the game of this round: who is there may have come before.
            _ => self.begin(line, info, false, items),
        }
        self.roster.forget_tracks();
        if let Telling::Game(game) = &mut self.telling {
            for client in self.roster.all() {
                game.settle(client, self.clock);
            }
        }
    }

    fn event(&mut self, line: u64, event: Event<'_>, items: &mut Vec<Item>) {
        match event {
            Event::InitGame(info) => {
                self.begin(line, info, true, items);
                self.roster = Roster::default();
            }
            Event::InitRound(info) => self.round(line, info, items),
            Event::Shutdown => self.close(items),
            Event::Connect(number) => self.client(number, |client| client.begun = false),
            Event::Begin(number) => self.client(number, |client| client.begun = true),
            Event::Userinfo(number, info) => self.client(number, |client| client.userinfo(info)),
            Event::Changed(number, info) => {
                let client = self.roster.client(number);
                if client.changed(info) {
                    self.client(number, |_| {});
                }
            }
            Event::Disconnect(number) => {
                self.client(number, |client| client.begun = false);
                self.roster.remove(number);
            }
            Event::Warmup
            | Event::Kill { .. }
            | Event::Capture { .. }
            | Event::RoundWon(_)
            | Event::TeamScore { .. }
            | Event::Exit
            | Event::Result(_)
            | Event::Points { .. } => self.play(line, event),
            Event::Other => {}
        }
    }

    /// A client changes; the game hears of it.
    fn client(&mut self, number: usize, change: impl FnOnce(&mut roster::Client)) {
        let client = self.roster.client(number);
        change(client);
        if let Telling::Game(game) = &mut self.telling {
            game.settle(client, self.clock);
        }
    }

    fn play(&mut self, line: u64, event: Event<'_>) {
        match &mut self.telling {
            Telling::Game(game) => game.event(event, &self.roster, self.clock),
            Telling::Unknown if event != Event::Warmup => self.telling = Telling::Foreign(line),
            Telling::Unknown | Telling::Foreign(_) | Telling::Nothing => {}
        }
    }
}

impl LogParser for Parser {
    fn line(&mut self, line: Line<'_>, items: &mut Vec<Item>) {
        let read = grammar::read(line.bytes, line.whole);
        let malformed = |why: &'static str| Item::Malformed {
            line: line.number,
            why: why.into(),
        };
        match read {
            Ok(None) => {}
            Ok(Some((at, event))) => {
                if self.clock.read(at) && !matches!(event, Event::InitGame(_)) {
                    // The server was started anew. What was told has no end any more, unless it
                    // already had, and a game without a beginning may follow.
                    self.close(items);
                    self.roster = Roster::default();
                    self.telling = Telling::Unknown;
                }
                self.event(line.number, event, items);
            }
            Err(why) => items.push(malformed(why)),
        }
    }

    fn finish(&mut self, items: &mut Vec<Item>) {
        // A log that is still being written may end between the end of a game and its results. The
        // next reading finds them; told now, the same game would be told differently then.
        if let Telling::Game(game) = &mut self.telling
            && !game.has_results(&mut self.roster)
        {
            game.forget_end();
        }
        self.close(items);
    }

    fn elapsed(&self) -> u64 {
        self.clock.position()
    }
}
