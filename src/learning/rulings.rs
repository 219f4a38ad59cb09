//! Rulings in the form in which they are stored.

use crate::{
    model::{MatchRecord, Outcome},
    rating::history::{Played, Ruling},
    store::{Performance, RulingRow},
};

/// Converts the ruling on a folded record for the store. `seats` maps the participants of the record
/// to those of the stored one, which may have more identities.
pub(super) fn row(
    match_id: i64,
    record: &MatchRecord,
    seats: &[usize],
    ruling: &Ruling,
) -> RulingRow {
    let played = ruling.rated.as_ref().map_or(&[][..], Vec::as_slice);
    let performance = |own: &Played| {
        let participant = record.participants.get(own.participant)?;
        let team = participant.main_team().filter(|_| record.has_teams());
        let performance = Performance {
            key: participant.key.clone(),
            team,
            result: team.and_then(|team| result(record.outcome, team)),
            entry: own.entry,
            points_for: own.scored,
            points_against: own.conceded,
        };
        Some((*seats.get(own.participant)?, performance))
    };
    RulingRow {
        match_id,
        ruleset: ruling.ruleset.to_string(),
        unrated: ruling.rated.as_ref().err().map(|why| why.as_str().into()),
        ended_at: record.end,
        chance: ruling.chance,
        causes: ruling.causes,
        performances: played.iter().filter_map(performance).collect(),
    }
}

/// The result of a match for one team: 1, 0.5 or 0.
fn result(outcome: Outcome, team: u8) -> Option<f64> {
    match outcome {
        Outcome::Won(winner) => Some(f64::from(u8::from(winner == team))),
        Outcome::Draw => Some(0.5),
        Outcome::Undecided | Outcome::Abandoned => None,
    }
}
