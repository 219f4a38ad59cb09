//! Records a match while it is played, or while its log is read: who was on which team and when, points, kills, deaths,
//! roles, leaves, and the changes of the scores. The match record follows from that.
//!
//! Times are milliseconds since play began. A recorder trusts nobody: what exceeds a bound is left out, and
//! [`MatchRecorder::is_cut`] states that something is missing.

mod append;
mod lone;
mod namesakes;
mod record;
mod scores;
mod sides;
mod timeline;

pub(super) use record::joined;

use serde::{Deserialize, Serialize};

use super::{
    MAX_EVENTS, MAX_PLAYERS, MAX_STAYS, PlayTime, PlayerKey, Presence, RoleName, ScoreEvent, Span,
};
use lone::{Counted, LoneEvents};
use sides::SideWatch;
pub use sides::is_exchange;
pub use timeline::PlayerTimeline;

/// The most timelines of one match, far above any real one. A log may begin several for one player.
const MAX_TIMELINES: usize = 20_000;

/// Records one match. Players are named by the indices of their timelines.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct MatchRecorder {
    /// The earliest time of the next event.
    next: u64,
    players: Vec<PlayerTimeline>,
    /// `by` is the index of a timeline; the record has that of a participant.
    events: Vec<ScoreEvent>,
    /// The number of stays and duties of all timelines together.
    spans: usize,
    cut: bool,
    /// What was counted while no opponents were known.
    lone: LoneEvents,
    /// Set if the teams may exchange their sides.
    #[serde(skip)]
    sides: Option<SideWatch>,
}

impl MatchRecorder {
    /// The time of an event at `millis` by a clock that may be coarse. No two events get the same time, so that times
    /// keep the order in which events were reported.
    pub fn tick(&mut self, millis: u64) -> u64 {
        let at = millis.max(self.next);
        self.next = at.saturating_add(1);
        at
    }

    /// The time of the last event.
    pub fn last(&self) -> u64 {
        self.next.saturating_sub(1)
    }

    /// Whether something is missing because it exceeded a bound.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Notes that something was left out.
    pub fn cut(&mut self) {
        self.cut = true;
    }

    /// Whether there is no timeline.
    pub fn is_empty(&self) -> bool {
        self.players.is_empty()
    }

    /// All timelines.
    pub fn players(&self) -> &[PlayerTimeline] {
        &self.players
    }

    /// All timelines, to change them.
    pub fn players_mut(&mut self) -> &mut [PlayerTimeline] {
        &mut self.players
    }

    /// The timeline of this index, to change it.
    pub fn player(&mut self, who: usize) -> &mut PlayerTimeline {
        &mut self.players[who]
    }

    /// Counts an enemy killed at `at`, unless the player has no timeline.
    pub fn count_kill(&mut self, who: Option<usize>, at: u64) {
        if let Some(who) = who {
            let player = self.player(who);
            player.kills = player.kills.saturating_add(1);
            self.note_lone(who, at, Counted::Kill);
        }
    }

    /// Counts a death on its own at `at`, unless the player has no timeline.
    pub fn count_death(&mut self, who: Option<usize>, at: u64) {
        if let Some(who) = who {
            let player = self.player(who);
            player.deaths = player.deaths.saturating_add(1);
            self.note_lone(who, at, Counted::Death);
        }
    }

    /// Counts that a player was the victim of a kill at `at`.
    pub fn count_killed(&mut self, who: usize, at: u64) {
        let player = self.player(who);
        player.killed = player.killed.saturating_add(1);
        self.note_lone(who, at, Counted::Killed);
    }

    /// Begins a timeline and returns its index; that of the last one if there are 20,000 already.
    pub fn enter(&mut self, key: PlayerKey, name: String) -> usize {
        if self.players.len() >= MAX_TIMELINES {
            self.cut = true;
        } else {
            self.players.push(PlayerTimeline::new(key, name));
        }
        self.players.len() - 1
    }

    /// Corrects the identity and the name of a player.
    pub fn rename(&mut self, who: usize, key: PlayerKey, name: String) {
        self.players[who].key = key;
        self.players[who].name = name;
    }

    /// Ends the player's stay on a team at `at`, and begins one on `team` if that is not `None`.
    pub fn set_team(&mut self, who: usize, team: Option<u8>, at: u64) {
        self.watch_sides(who, team, at);
        let player = &mut self.players[who];
        if let Some((team, from)) = player.current.take()
            && has_room(&mut self.spans, &mut self.cut)
        {
            let span = Span { from, to: at };
            player.stays.push(Presence { team, span });
        }
        player.current = team.map(|team| (team, at));
    }

    /// Like [`set_team`](Self::set_team), at the next free time from `millis` on. If `who` is `None`, begins a timeline
    /// as soon as there is a team; `player` is then called for the identity and the name. Returns the timeline.
    pub fn place(
        &mut self,
        who: Option<usize>,
        team: Option<u8>,
        millis: u64,
        player: impl FnOnce() -> (PlayerKey, String),
    ) -> Option<usize> {
        let who = who.or_else(|| {
            team?;
            let (key, name) = player();
            Some(self.enter(key, name))
        })?;
        let at = self.tick(millis);
        self.set_team(who, team, at);
        Some(who)
    }

    /// Ends the player's role at `at`, and gives them another one if `role` is not `None`.
    pub fn set_role(&mut self, who: usize, role: Option<RoleName>, at: u64) {
        let player = &mut self.players[who];
        if let Some((role, from)) = player.role.take()
            && has_room(&mut self.spans, &mut self.cut)
        {
            player.duties.push((role, Span { from, to: at }));
        }
        player.role = role.map(|role| (role, at));
    }

    /// Begins play anew at time 0, with the players who are on teams, and discards all that was recorded.
    pub fn restart(&mut self) {
        let players = std::mem::take(&mut self.players).into_iter();
        let playing = players.filter(|player| player.current.is_some());
        let begin = |player: PlayerTimeline| PlayerTimeline {
            party: player.party,
            current: player.current.map(|(team, _)| (team, 0)),
            role: player.role.map(|(role, _)| (role, 0)),
            ..PlayerTimeline::new(player.key, player.name)
        };
        *self = Self {
            next: 1,
            players: playing.map(begin).collect(),
            ..Self::default()
        };
    }

    /// Ends the match, and with it every stay and role, at `millis` or after the last event. Returns the time of the
    /// end.
    pub fn end(&mut self, millis: u64) -> u64 {
        let at = self.tick(millis);
        for who in 0..self.players.len() {
            self.set_team(who, None, at);
            self.set_role(who, None, at);
        }
        at
    }

    /// Ends the match at `at`, which is not before the last change of a score; what players did later does not count.
    pub fn end_at(&mut self, at: u64) {
        self.end(at);
        for player in &mut self.players {
            player.stays.retain(|stay| stay.span.from < at);
            let ends = player.stays.iter_mut().map(|stay| &mut stay.span.to);
            ends.for_each(|to| *to = at.min(*to));
        }
    }

    /// How long the match on `teams` teams has been played by now, in milliseconds: waiting for opponents is not play.
    pub fn played(&self, teams: usize, now: u64) -> u64 {
        let stays = self.players.iter().enumerate().flat_map(|(who, player)| {
            let current = player.current.map(|(team, from)| Presence {
                team,
                span: Span { from, to: now },
            });
            player
                .stays
                .iter()
                .copied()
                .chain(current)
                .map(move |stay| (who, stay))
        });
        PlayTime::of_stays(stays, teams).millis()
    }

    /// How many timelines, stays, roles and changes of a score have been recorded.
    pub fn parts(&self) -> usize {
        self.players.len() + self.spans + self.events.len() + self.lone.len()
    }

    /// Frees what only a record needs.
    pub fn forget(&mut self) {
        self.events = Vec::new();
        self.lone = LoneEvents::default();
        self.spans = 0;
        for player in &mut self.players {
            player.stays = Vec::new();
            player.duties = Vec::new();
        }
    }

    /// For how many score events and how many stays memory is reserved now.
    pub fn room(&self) -> (usize, usize) {
        let stays = self.players.iter().map(|player| player.stays.capacity());
        (self.events.capacity(), stays.sum())
    }

    /// Completes a recorder that was read from the disk; `None` if it exceeds the bounds of a running game, or if a
    /// number is not finite.
    pub fn restored(mut self) -> Option<Self> {
        let spans = |player: &PlayerTimeline| player.stays.len() + player.duties.len();
        self.spans = self.players.iter().map(spans).sum();
        let mut points = self.players.iter().filter_map(|player| player.points);
        let sound = self.players.len() <= MAX_PLAYERS
            && self.events.len() <= MAX_EVENTS
            && self.spans <= MAX_STAYS
            && self.events.iter().all(|event| event.points.is_finite())
            && points.all(f64::is_finite);
        sound.then_some(self)
    }
}

/// Counts one more stay or duty; returns false, and notes that something is missing, if there are [`MAX_STAYS`].
fn has_room(spans: &mut usize, cut: &mut bool) -> bool {
    let room = *spans < MAX_STAYS;
    match room {
        true => *spans += 1,
        false => *cut = true,
    }
    room
}

#[cfg(test)]
mod tests;
