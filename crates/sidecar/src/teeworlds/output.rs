//! Reads what a server prints.

use crate::follower::LogTime;
use evenkeel_ingest::{
    GameEvent, stamp,
    teeworlds::{
        grammar::{self, Event, OutputLine},
        play::Play,
    },
};

/// What is known of a server's games by its output.
#[derive(Default)]
pub(super) struct Output {
    pub(super) play: Play,
    time: LogTime,
}

impl Output {
    /// Reads a line, and calls `take` with each event that it means. Returns what the line states.
    pub(super) fn read<'a>(
        &mut self,
        line: &OutputLine<'a>,
        now: u64,
        mut take: impl FnMut(&Play, GameEvent),
    ) -> Option<Event<'a>> {
        let event = grammar::read(line).ok()?;
        self.time.read(line.date, now);
        let now = self.time.at(now);
        self.pass(Some(&event), now, &mut take);
        let mut events = Vec::new();
        // A line that contradicts itself changes nothing.
        let _ = self.play.event(event, now, &mut events);
        for event in events {
            take(&self.play, event);
        }
        Some(event)
    }

    /// Lets time pass.
    pub(super) fn tick(&mut self, now: u64, mut take: impl FnMut(&Play, GameEvent)) {
        self.pass(None, self.time.at(now), &mut take);
    }

    fn pass(
        &mut self,
        event: Option<&Event<'_>>,
        now: u64,
        take: &mut impl FnMut(&Play, GameEvent),
    ) {
        let mut events = Vec::new();
        self.play.pass(event, now, &mut events);
        for event in events {
            take(&self.play, event);
        }
    }
}

/// Splits a line, which may have a time stamp before it; `None` if it has another form.
pub(super) fn split(line: &[u8]) -> Option<OutputLine<'_>> {
    grammar::split(stamp::bare(line, |line| grammar::split(line).is_some()))
}
