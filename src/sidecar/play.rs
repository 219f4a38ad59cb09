//! One game as the log tells it: how far it is, and what the daemon was told of its score.

use std::collections::BTreeSet;

use super::people::People;
use crate::ingest::idtech3::setup::GameSetup;

/// Red and blue.
const TEAMS: usize = 2;
/// How long the log's clock runs on before a game is taken to be in play: warm-up is announced at once.
const OPENING: u64 = 1_000;
/// How long results may take to be told after the end.
const RESULTS: u64 = 2_000;
/// Whoever comes so long after the beginning of play comes late; before it, they are still loading the
/// level.
const LATE: u64 = 15_000;

/// How far a game is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// Announced; it may be a warm-up.
    Opening,
    WarmUp,
    Playing,
    /// The results are being told.
    Over,
    /// Nothing more comes of it.
    Ended,
}

pub(super) struct Game {
    pub(super) rules: GameSetup,
    pub(super) phase: Phase,
    /// When the phase began, by the log's clock.
    since: u64,
    /// Whether the daemon has heard all of it, so that it can make a record of it.
    pub(super) whole: bool,
    told: [i64; TEAMS],
    result: bool,
    /// Client numbers whose final points were told.
    pointed: BTreeSet<usize>,
    /// Identities that were on the server when play began, or came since.
    pub(super) met: BTreeSet<String>,
}

impl Game {
    pub(super) fn new(rules: GameSetup, at: u64, whole: bool) -> Self {
        Self {
            rules,
            phase: Phase::Opening,
            since: at,
            whole,
            told: [0; TEAMS],
            result: false,
            pointed: BTreeSet::new(),
            met: BTreeSet::new(),
        }
    }

    /// What the daemon hears at the beginning.
    pub(super) fn announce(&self, say: &mut impl FnMut(String)) {
        use super::words::word;
        say(format!("GAME {}", word(&self.rules.game_type)));
        for mutator in &self.rules.mutators {
            say(format!("MUTATOR {}", word(mutator)));
        }
        if !self.rules.map.is_empty() {
            say(format!("MAP {}", word(&self.rules.map)));
        }
    }

    pub(super) fn enter(&mut self, phase: Phase, at: u64) {
        self.phase = phase;
        self.since = at;
    }

    /// Whether it is in play, now that the log's clock is here.
    pub(super) fn must_have_begun(&self, at: u64) -> bool {
        self.phase == Phase::Opening && at >= self.since.saturating_add(OPENING)
    }

    /// Whether all results have come, or were waited for long enough.
    pub(super) fn has_results(&self, people: &People, at: u64) -> bool {
        let waited = at >= self.since.saturating_add(RESULTS);
        let told = (self.result || !self.rules.teams)
            && people
                .known()
                .all(|(number, ..)| self.pointed.contains(&number));
        self.phase == Phase::Over && (waited || told)
    }

    /// Whether somebody who comes now comes late.
    pub(super) fn is_late(&self, at: u64) -> bool {
        self.phase == Phase::Playing && at >= self.since.saturating_add(LATE)
    }

    /// Play begins, or begins anew. A game that begins anew in play is still the same one for the daemon: its
    /// final score corrects what was reported before.
    pub(super) fn start(&mut self, at: u64, people: &People, say: &mut impl FnMut(String)) {
        let anew = self.is_told();
        self.enter(Phase::Playing, at);
        if anew {
            return;
        }
        self.told = [0; TEAMS];
        self.met = people
            .known()
            .map(|(_, _, known)| known.id.clone())
            .collect();
        if self.whole {
            say("START".to_owned());
        }
    }

    fn is_told(&self) -> bool {
        self.whole && self.phase == Phase::Playing
    }

    pub(super) fn capture(
        &mut self,
        by: Option<usize>,
        flag: i64,
        people: &People,
        say: &mut impl FnMut(String),
    ) {
        if self.is_told() {
            self.score(if flag == 1 { 1 } else { 0 }, 1, by, people, say);
        }
    }

    /// A team's total, where it is not what the daemon was told.
    pub(super) fn total(&mut self, team: i64, total: i64, say: &mut impl FnMut(String)) {
        let Some(index @ 0..TEAMS) = usize::try_from(team - 1).ok() else {
            return;
        };
        let points = total - std::mem::replace(&mut self.told[index], total);
        if self.whole && self.rules.teams && points != 0 {
            say(format!("SCORE {index} {points}"));
        }
    }

    /// The final score, which sets right what the daemon was told.
    pub(super) fn result(&mut self, totals: [i64; TEAMS], say: &mut impl FnMut(String)) {
        if self.phase == Phase::Over && !std::mem::replace(&mut self.result, true) {
            self.total(1, totals[0], say);
            self.total(2, totals[1], say);
        }
    }

    /// Somebody's final points.
    pub(super) fn points(
        &mut self,
        number: usize,
        points: i64,
        people: &People,
        say: &mut impl FnMut(String),
    ) {
        let known = people.get(number).and_then(|person| person.known.as_ref());
        if let Some(known) = known
            && self.phase == Phase::Over
            && self.pointed.insert(number)
            && self.whole
        {
            say(format!("POINTS {} {points}", known.id));
        }
    }

    /// Somebody died; a change of teams is carried out as a death and is none.
    pub(super) fn kill(
        &mut self,
        killer: Option<usize>,
        victim: usize,
        team_change: bool,
        people: &People,
        say: &mut impl FnMut(String),
    ) {
        let known = |number: usize| people.get(number)?.known.as_ref();
        let team = |number: usize| people.get(number)?.team();
        if !self.is_told() {
            return;
        }
        let Some(killer) = killer.filter(|&killer| killer != victim) else {
            if self.rules.scored_by_kills && !team_change {
                self.score_of(victim, team(victim), -1, people, say);
            }
            return;
        };
        let enemies = !self.rules.teams || team(killer) != team(victim);
        if let (Some(killer), Some(victim), true) = (known(killer), known(victim), enemies) {
            say(format!("KILL {} {}", killer.id, victim.id));
        }
        if self.rules.scored_by_kills {
            self.score_of(
                killer,
                team(killer),
                if enemies { 1 } else { -1 },
                people,
                say,
            );
        }
    }

    fn score_of(
        &mut self,
        by: usize,
        team: Option<u8>,
        points: i64,
        people: &People,
        say: &mut impl FnMut(String),
    ) {
        if let Some(team) = team {
            self.score(usize::from(team), points, Some(by), people, say);
        }
    }

    fn score(
        &mut self,
        team: usize,
        points: i64,
        by: Option<usize>,
        people: &People,
        say: &mut impl FnMut(String),
    ) {
        let Some(told) = self.told.get_mut(team).filter(|_| self.rules.teams) else {
            return;
        };
        *told += points;
        match by.and_then(|by| people.get(by)?.known.as_ref()) {
            Some(known) => say(format!("SCORE {team} {points} {}", known.id)),
            None => say(format!("SCORE {team} {points}")),
        }
    }
}
