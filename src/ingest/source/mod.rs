//! Source and GoldSrc: Team Fortress 2, Team Fortress Classic and their relatives.
//!
//! A line is `L date: event`; whoever an event is about is named with number, id and team. A game
//! begins with its level, and anew with every round that no round's end precedes; it is over with
//! `Game_Over` and the final scores, or with what each team `scored`. `grammar` reads one line,
//! `roster` knows who is there, `game` follows one game; this file keeps the games of a log apart.

mod game;
mod grammar;
mod roster;
#[cfg(test)]
mod tests;

use super::{Context, Format, Item, Line, LogParser, MAX_LINE, Skip, clock::Calendar};
use game::{Game, Rules};
use grammar::Event;
use roster::Roster;

pub(super) const FORMAT: Format = Format {
    name: "source",
    detect,
    parser: |context| Box::new(Parser::new(context)),
    max_line: MAX_LINE,
    in_halves: true,
};

fn detect(head: &[u8]) -> bool {
    super::mostly(head, grammar::is_known)
}

struct Parser {
    server: String,
    calendar: Calendar,
    /// The last line's date as it was written: most lines share it with the line before.
    stamp: Vec<u8>,
    rules: Rules,
    roster: Roster,
    game: Game,
}

impl Parser {
    fn new(context: &Context) -> Self {
        Self {
            server: context.server.clone(),
            calendar: Calendar::default(),
            stamp: Vec::new(),
            rules: Rules::default(),
            roster: Roster::default(),
            game: Game::new(1),
        }
    }

    /// The time of a line; and its rest.
    fn read_time<'a>(&mut self, line: &'a [u8]) -> Result<&'a [u8], &'static str> {
        let (stamp, rest) = grammar::stamp(line)?;
        if self.stamp != stamp {
            let date = grammar::date(stamp).ok_or("there is no such date")?;
            self.calendar.read(date);
            self.stamp.clear();
            self.stamp.extend_from_slice(stamp);
        }
        Ok(rest)
    }

    fn event(&mut self, line: u64, event: Event<'_>, items: &mut Vec<Item>) {
        if self.game.has_results() && !matches!(event, Event::Final(..) | Event::Scored(..)) {
            // Whatever comes, all scores have come.
            self.tell(line, items);
        }
        match event {
            Event::Other => {}
            Event::Started(folder) => {
                self.close(line, Skip::Aborted, items);
                self.rules = Rules::of(folder);
                self.roster = Roster::default();
                // What a log says of who plays has to be the same wherever it is read.
                self.game = Game::new(line);
            }
            Event::Closed => self.close(line, Skip::Aborted, items),
            Event::Map(name) => {
                self.close(line, Skip::Aborted, items);
                self.roster = Roster::default();
                self.rules.load(name);
                self.game
                    .begin(line, &self.rules, &mut self.roster, self.calendar);
            }
            Event::Setting(name, value) => self.rules.set(name, value),
            Event::RoundStart if self.game.goes_on() => self.game.round_started(),
            Event::RoundStart | Event::Restart => {
                if event == Event::Restart {
                    self.game = Game::new(line);
                }
                self.game
                    .begin(line, &self.rules, &mut self.roster, self.calendar);
            }
            other => {
                self.game
                    .event(line, other, &mut self.roster, self.calendar);
                if other == Event::GameOver && self.game.is_foreign() {
                    self.close(line, Skip::Aborted, items);
                    self.game = Game::after(line);
                }
            }
        }
    }

    /// The game is over, and everything of it was told.
    fn tell(&mut self, line: u64, items: &mut Vec<Item>) {
        let game = std::mem::replace(&mut self.game, Game::after(line));
        let line = game.line;
        items.push(match game.finish(&self.server, &self.rules) {
            Ok(record) => Item::Game(Box::new(record)),
            Err(reason) => Item::Skipped { line, reason },
        });
        self.roster.forget_tracks();
    }

    /// What was being told has no end, for this reason.
    fn close(&mut self, line: u64, reason: Skip, items: &mut Vec<Item>) {
        let game = std::mem::replace(&mut self.game, Game::new(line));
        let line = game.line;
        if let Some(reason) = game.unfinished(reason) {
            items.push(Item::Skipped { line, reason });
        }
        self.roster.forget_tracks();
    }
}

impl LogParser for Parser {
    fn line(&mut self, line: Line<'_>, items: &mut Vec<Item>) {
        if line.bytes.is_empty() {
            return;
        }
        let read = match line.whole {
            true => self.read_time(line.bytes).and_then(grammar::read),
            // Here nothing could follow.
            false if line.bytes.ends_with(b": Log file closed") => Ok(Event::Closed),
            false => Err("the log ends within this line"),
        };
        match read {
            Ok(event) => self.event(line.number, event, items),
            Err(why) => items.push(Item::Malformed {
                line: line.number,
                why: why.into(),
            }),
        }
    }

    fn finish(&mut self, items: &mut Vec<Item>) {
        self.close(0, Skip::Unfinished, items);
    }

    fn elapsed(&self) -> u64 {
        self.calendar.position()
    }
}
