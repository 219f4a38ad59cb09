//! The record of a game that is over, or of a half of one.

use super::Game;
use crate::{
    TEAMS, record,
    skip::Skip,
    source::{server::LoggedServer, style::ResultStyle},
};
use evenkeel_model::{MatchRecord, Timestamp};

/// The fewest rounds of a half before a restart; a single round decides who chooses the side.
const HALF: f64 = 2.0;

impl Game {
    /// The reason why a game without an end has no record; `None` if there was nothing to report.
    pub(in crate::source) fn unfinished(self, reason: Skip) -> Option<Skip> {
        match self.has_begun() {
            _ if self.foreign => Some(Skip::StartedBeforeLog),
            true if self.lasted.is_some() && reason != Skip::Unfinished => Some(Skip::NoResult),
            true if self.recorder.is_empty() => None,
            true => Some(reason),
            false => None,
        }
    }

    /// The last scores of the people on each side, if the log has them no more at the end.
    fn lost_scores(&self, style: ResultStyle) -> Option<[f64; TEAMS]> {
        let lost = self.totals.lost(&self.finals);
        lost.filter(|_| style == ResultStyle::Finals)
    }

    /// Whether a game of Team Fortress 2, where each round is announced, has a result that nothing in
    /// the log explains.
    fn lacks_round(&self, scores: &[f64], log: &LoggedServer) -> bool {
        let is_tf2 = log.shown == Some("tf") && log.setup.may_be_tf2();
        let sums = self.recorder.sums(scores.len());
        let explained = sums == scores && scores.iter().any(|score| *score > 0.0);
        is_tf2 && (self.headless || self.round_began.is_none()) && !explained
    }

    /// The final score of each team, and whether the first two have to be exchanged: where the teams
    /// exchanged sides, and in Counter-Strike, team 0 is the one that the log names first.
    fn scores(&mut self, style: ResultStyle) -> (Vec<f64>, bool) {
        match self.lost_scores(style) {
            Some(scores) => self.finals.iter_mut().for_each(|(team, score)| {
                *score = scores[usize::from(*team)];
            }),
            None => self.totals.finals(&mut self.finals),
        }
        let named = self.exchanged || matches!(style, ResultStyle::Rounds { .. });
        let second_first = self.finals.first().is_some_and(|(team, _)| *team == 1);
        let last = self.finals.iter().map(|(team, _)| usize::from(*team)).max();
        let mut scores = vec![0.0; last.unwrap_or(0) + 1];
        for &(team, score) in &self.finals {
            scores[usize::from(team)] = score;
        }
        (scores, named && second_first)
    }

    /// Builds the record, and returns it with whether its first two teams have to be exchanged; or
    /// returns why there is none.
    pub(in crate::source) fn finish(
        mut self,
        server: &str,
        log: &LoggedServer,
    ) -> Result<(MatchRecord, bool), Skip> {
        let Some(lasted) = self.lasted else {
            return Err(Skip::Unfinished);
        };
        if self.foreign {
            return Err(Skip::StartedBeforeLog);
        }
        if let Some(why) = self.contradiction {
            return Err(Skip::Contradiction(why));
        }
        let is_tie = |scores: [f64; TEAMS]| scores[0] == scores[1];
        if self.lost_scores(log.style).is_some_and(is_tie) {
            // With the same score, the faster team has won, which the log does not state.
            return Err(Skip::NoResult);
        }
        let (scores, exchange) = self.scores(log.style);
        if self.lacks_round(&scores, log) {
            return Err(Skip::StartedBeforeLog);
        }
        let record = self.record(scores, lasted, server, log)?;
        Ok((record, exchange))
    }

    /// What was played before a restart of a game of Counter-Strike that does not mark the end of a
    /// match, if it may be a half of one: at least [`HALF`] rounds, which were not fought with knives
    /// alone. It has the sides of its last round, with which it ends.
    pub(in crate::source) fn into_half(
        mut self,
        server: &str,
        log: &LoggedServer,
    ) -> Option<MatchRecord> {
        let begun = (self.has_begun() || self.foreign) && !self.is_over();
        let knives = self.kills[0] > 0 && self.kills[1] == 0;
        if !begun || knives || log.style != (ResultStyle::Rounds { has_end: false }) {
            return None;
        }
        let (won, (began, _)) = self.won.zip(self.began)?;
        self.follow_sides();
        let [one, two, ..] = self.totals.people();
        if one + two < HALF {
            return None;
        }
        let last = self.rounds.last().map_or(0, |(at, ..)| at + 1);
        let lasted = won.saturating_sub(began).max(last);
        self.recorder.end_at(lasted);
        let exchanged_late = self.exchanged_late;
        let record = self.record(vec![one, two], lasted, server, log).ok()?;
        Some(if exchanged_late {
            record.with_teams_exchanged()
        } else {
            record
        })
    }

    /// Builds the record of a game with these scores, which lasted `lasted` milliseconds.
    fn record(
        mut self,
        scores: Vec<f64>,
        lasted: u64,
        server: &str,
        log: &LoggedServer,
    ) -> Result<MatchRecord, Skip> {
        let (position, date) = self.began.ok_or(Skip::Unfinished)?;
        self.recorder.reconcile(&scores);
        if !self.recorder.has_scores() {
            // The captures do not add up to the result, so the scores of the rounds are used.
            for &(at, team, points) in &self.rounds {
                self.recorder.score(team, points, None, at);
            }
            self.recorder.reconcile(&scores);
        }
        let began = Timestamp(i64::try_from(position).unwrap_or(i64::MAX));
        let record = MatchRecord {
            server: server.to_owned(),
            start: date.unwrap_or(began),
            map: log.setup.map.clone(),
            game_type: log.setup.game_type(log.shown, self.seen),
            mutators: self.mutators,
            scores,
            ..MatchRecord::default()
        };
        record::complete(&self.recorder, record, lasted)
    }
}
