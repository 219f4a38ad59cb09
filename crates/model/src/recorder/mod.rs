//! Records a match while it is played, or while its log is read: who was on which team and when, points, kills, deaths,
//! roles, leaves, and the changes of the scores. The match record follows from that.
//!
//! It recognises teams that exchange their sides in mid-game, as they do at half-time.
//!
//! Times are milliseconds since play began. A recorder trusts nobody: what exceeds a bound is left out, and
//! [`MatchRecorder::is_cut`] states that something is missing.

mod record;

pub(super) use record::joined;

use serde::{Deserialize, Serialize};

use crate::{
    PlayerKey,
    record::{
        LeaveReason, MAX_EVENTS, MAX_PLAYERS, MAX_STAYS, PlayTime, Presence, ScoreEvent, Span,
        other_side,
    },
    team_names::RoleName,
};

use record::{CountedDeed, LoneEvents};

/// The most timelines of one match, far above any real one. A log may begin several for one player.
const MAX_TIMELINES: usize = 20_000;
/// The longest time, in milliseconds, between the first and the last player who changes sides at one
/// exchange.
const WINDOW: u64 = 15_000;
/// With more timelines than this, exchanges are not looked for any more. A real game has fewer.
const MAX_WATCHED: usize = 1_000;

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
            self.note_lone(who, at, CountedDeed::Kill);
        }
    }

    /// Counts a death on its own at `at`, unless the player has no timeline.
    pub fn count_death(&mut self, who: Option<usize>, at: u64) {
        if let Some(who) = who {
            let player = self.player(who);
            player.deaths = player.deaths.saturating_add(1);
            self.note_lone(who, at, CountedDeed::Death);
        }
    }

    /// Counts that a player was the victim of a kill at `at`.
    pub fn count_killed(&mut self, who: usize, at: u64) {
        let player = self.player(who);
        player.killed = player.killed.saturating_add(1);
        self.note_lone(who, at, CountedDeed::Killed);
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
    pub fn assign(
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
            self.sides = later.sides.map(|_| SideWatch::default());
        }
        grown
    }
}

impl MatchRecorder {
    /// Adds a change of a team's score.
    pub fn score(&mut self, team: u8, points: f64, by: Option<usize>, at: u64) {
        if self.events.len() >= MAX_EVENTS {
            self.cut = true;
            return;
        }
        let by = by.and_then(|who| u32::try_from(who).ok());
        self.events.push(ScoreEvent {
            at,
            team,
            points,
            by,
        });
    }

    /// Whether there is any change of a score.
    pub fn has_scores(&self) -> bool {
        !self.events.is_empty()
    }

    /// Removes all changes, because they begin to be stated in a more reliable way.
    pub fn forget_scores(&mut self) {
        self.events.clear();
    }

    /// The sum of the changes of each of the first `teams` teams.
    pub fn sums(&self, teams: usize) -> Vec<f64> {
        let mut sums = vec![0.0; teams];
        for event in &self.events {
            if let Some(sum) = sums.get_mut(usize::from(event.team)) {
                *sum += event.points;
            }
        }
        sums
    }

    /// Scales the changes so that each team's add up to its final score. The factor must be the same for all teams (a
    /// capture may be worth 10 points); if there is no such factor, all changes are removed.
    pub fn reconcile(&mut self, scores: &[f64]) {
        let sums = self.sums(scores.len());
        let worth = sums.iter().zip(scores).find(|(sum, _)| **sum != 0.0);
        let worth = worth.map_or(1.0, |(sum, score)| score / sum);
        let right = |(sum, score): (&f64, &f64)| sum * worth == *score;
        if worth > 0.0 && sums.iter().zip(scores).all(right) {
            self.events.iter_mut().for_each(|e| e.points *= worth);
        } else {
            self.events.clear();
        }
    }
}

/// What one player has done, from coming to leaving. A player who comes back may go on with the same timeline or begin
/// another one: the record joins those of one identity.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct PlayerTimeline {
    /// The identity that the match is counted for.
    pub key: PlayerKey,
    /// The name used last.
    pub name: String,
    /// The party that they came with.
    pub party: Option<String>,
    /// The team that they are on, and since when.
    pub current: Option<(u8, u64)>,
    stays: Vec<Presence>,
    /// The role that they have, and since when.
    pub role: Option<(RoleName, u64)>,
    /// The roles that they had, with the times, whichever team they were on.
    duties: Vec<(RoleName, Span)>,
    /// Their points on the scoreboard, if they are known.
    pub points: Option<f64>,
    kills: u32,
    /// The deaths that were counted on their own.
    deaths: u32,
    /// How often they were the victim of a kill. Whether deaths are counted on their own, too, depends on the game.
    killed: u32,
    /// Why they left, unless they have come back.
    pub left: Option<LeaveReason>,
}

impl PlayerTimeline {
    fn new(key: PlayerKey, name: String) -> Self {
        Self {
            key,
            name,
            party: None,
            current: None,
            stays: Vec::new(),
            role: None,
            duties: Vec::new(),
            points: None,
            kills: 0,
            deaths: 0,
            killed: 0,
            left: None,
        }
    }

    /// The team that they are on.
    pub fn team(&self) -> Option<u8> {
        self.current.map(|(team, _)| team)
    }

    /// Forgets all time on teams: the player only watched.
    pub fn forget_stays(&mut self) {
        self.current = None;
        self.stays.clear();
    }

    /// Forgets the stay that goes on: the player has only watched since it began.
    pub fn forget_current(&mut self) {
        self.current = None;
    }
}

/// The changes of team that may be the beginning of an exchange of sides.
///
/// Most players of both teams change to the other one within [`WINDOW`] at an exchange; a change of
/// single players, or a shuffle of the teams, moves about half of them at the most.
#[derive(Clone, Debug)]
struct Moves {
    /// When the first of these players left their team.
    since: u64,
    /// The players who were on either side before, with their teams.
    before: Vec<(usize, u8)>,
    /// The number of timelines before.
    players: usize,
}

/// Watches the teams of one game for exchanges of sides.
#[derive(Clone, Debug, Default)]
struct SideWatch {
    moves: Option<Moves>,
    /// The times of the exchanges that [`MatchRecorder::reconcile_sides`] has not returned yet.
    exchanges: Vec<u64>,
}

/// Whether players who were on one side and are on another now have exchanged the sides: three of four of those who are still
/// there, and somebody of either team, are on the other one.
pub fn is_exchange(players: impl Iterator<Item = (u8, u8)>) -> bool {
    let (mut moved, mut all) = ([0usize; 2], 0);
    for (old, new) in players {
        all += 1;
        if new == other_side(old) {
            moved[usize::from(old)] += 1;
        }
    }
    moved.iter().all(|&count| count > 0) && (moved[0] + moved[1]) * 4 >= all * 3
}

/// An exchange of sides.
struct SideExchange {
    /// When the first player changed sides.
    since: u64,
    /// The number of timelines that had begun by then.
    players: usize,
}

impl MatchRecorder {
    /// A recorder of a match in which the teams may exchange their sides. What was recorded before an exchange follows
    /// the people: the record has each of them on the side of the match's end.
    pub fn with_sides() -> Self {
        Self {
            sides: Some(SideWatch::default()),
            ..Self::default()
        }
    }

    /// A recorder of a match in which the teams may exchange their sides if `sides` is set.
    pub fn with_sides_if(sides: bool) -> Self {
        match sides {
            true => Self::with_sides(),
            false => Self::default(),
        }
    }

    /// Decides whether the last changes of team were an exchange of sides, and returns the times of all exchanges since
    /// the last call. Call it before a score is attributed to a side.
    pub fn reconcile_sides(&mut self) -> Vec<u64> {
        self.decide_sides();
        let sides = self.sides.as_mut();
        sides.map_or(Vec::new(), |sides| std::mem::take(&mut sides.exchanges))
    }

    /// Decides whether the last changes of team were an exchange of sides.
    fn decide_sides(&mut self) {
        let Some(sides) = &mut self.sides else { return };
        let Some(exchange) = sides.decide(&self.players) else {
            return;
        };
        for player in &mut self.players[..exchange.players] {
            exchange.apply(player);
        }
        let before = self.events.iter_mut().filter(|e| e.at < exchange.since);
        before.for_each(|event| event.team = other_side(event.team));
    }

    /// Watches for an exchange of sides: this player leaves their team for `team` at `at`.
    fn watch_sides(&mut self, who: usize, team: Option<u8>, at: u64) {
        let old = self.players[who].team();
        if self.sides.is_none() || old.is_none() || old == team {
            return;
        }
        if self.sides.as_ref().is_some_and(|sides| sides.is_due(at)) {
            self.decide_sides();
        }
        if let Some(sides) = &mut self.sides {
            sides.note(&self.players, at);
        }
    }
}

impl SideWatch {
    /// Notes that a player leaves a team at `at`, before the change. Call [`SideWatch::decide`] first if
    /// [`SideWatch::is_due`].
    fn note(&mut self, players: &[PlayerTimeline], at: u64) {
        if self.moves.is_some() || players.len() > MAX_WATCHED {
            return;
        }
        let teams = players.iter().map(PlayerTimeline::team).enumerate();
        let before = teams.filter_map(|(who, team)| Some((who, team.filter(|&team| team < 2)?)));
        self.moves = Some(Moves {
            since: at,
            before: before.collect(),
            players: players.len(),
        });
    }

    /// Whether the changes noted so far began too long before `at` to belong to one that happens then.
    fn is_due(&self, at: u64) -> bool {
        let moves = self.moves.as_ref();
        moves.is_some_and(|moves| at > moves.since.saturating_add(WINDOW))
    }

    /// Decides whether the changes noted since the last call were an exchange of sides.
    fn decide(&mut self, players: &[PlayerTimeline]) -> Option<SideExchange> {
        let moves = self.moves.take()?;
        let before = moves.before.iter();
        if !is_exchange(before.filter_map(|&(who, old)| Some((old, players[who].team()?)))) {
            return None;
        }
        self.exchanges.push(moves.since);
        Some(SideExchange {
            since: moves.since,
            players: moves.players,
        })
    }
}

impl SideExchange {
    /// Follows a player's team back through the exchange: what was before is on the other side.
    fn apply(&self, player: &mut PlayerTimeline) {
        let earlier = player.stays.iter_mut();
        for stay in earlier.filter(|stay| stay.span.from < self.since) {
            stay.team = other_side(stay.team);
        }
        if let Some((team, from)) = &mut player.current
            && *from < self.since
        {
            // This player did not change: they are on the other people's team from now on.
            let span = Span {
                from: *from,
                to: self.since,
            };
            let team = other_side(*team);
            player.stays.push(Presence { team, span });
            *from = self.since;
        }
    }
}

#[cfg(test)]
mod tests;
