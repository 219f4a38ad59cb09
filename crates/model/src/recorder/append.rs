//! Goes on with what was recorded later.

use super::{MAX_TIMELINES, MatchRecorder};
use crate::{MAX_EVENTS, MAX_STAYS, ScoreEvent, Span};

impl MatchRecorder {
    /// Adds what was recorded later of the same match, by a recorder whose time 0 is `offset` here: everybody was on no
    /// team between `until` and then. Returns by how much the indices of its timelines grow.
    pub fn append(&mut self, later: Self, until: u64, offset: u64) -> usize {
        for who in 0..self.players.len() {
            self.set_team(who, None, until);
            self.set_role(who, None, until);
        }
        let (shifted, grown) = (|at: u64| at.saturating_add(offset), self.players.len());
        let moved = |span: Span| Span {
            from: shifted(span.from),
            to: shifted(span.to),
        };
        for mut player in later.players {
            player
                .stays
                .iter_mut()
                .for_each(|stay| stay.span = moved(stay.span));
            player
                .duties
                .iter_mut()
                .for_each(|(_, span)| *span = moved(*span));
            player.current = player.current.map(|(team, from)| (team, shifted(from)));
            player.role = player.role.map(|(role, from)| (role, shifted(from)));
            self.players.push(player);
        }
        let events = later.events.into_iter().map(|event| ScoreEvent {
            at: shifted(event.at),
            by: event
                .by
                .and_then(|by| by.checked_add(u32::try_from(grown).ok()?)),
            ..event
        });
        self.events.extend(events);
        self.lone.append(later.lone, grown, offset);
        self.spans = self.spans.saturating_add(later.spans);
        self.next = self.next.max(shifted(later.next));
        let too_large = self.players.len() > MAX_TIMELINES
            || self.events.len() > MAX_EVENTS
            || self.spans > MAX_STAYS;
        self.cut |= later.cut || too_large;
        if self.sides.is_some() {
            self.sides = later.sides.map(|_| super::SideWatch::default());
        }
        grown
    }
}
