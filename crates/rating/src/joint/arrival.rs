//! Bots that come after a player has left early. Each learns only from its own stretch of the game.
//!
//! A player leaves when the team is behind. The bot that comes instead is on a team that will
//! probably lose, however strong the bot is. So the row of the game leaves out the bot's seat, and
//! the bot's stretch of the game is an observation of its own. That observation changes only the
//! estimate of that bot.
//!
//! The stretch is predicted from everything that the game had shown when the bot came. The rest is
//! luck, which moves no mean on average. Let A be the row of the game up to that moment, y its
//! [step](fn@step), and B the row of the stretch. The mean of the latent difference
//! of the stretch is then B·m + (B·S·A)·y.

use super::{Column, Joint, columns::MatchRow, departure::step, filter::Latent};
use crate::{Arrival, RatedGame, Seat, game::Comparison};

/// What the members of the bank expect of a stretch before they learn from the game: for each comparison,
/// the mean of the latent difference by member.
pub(super) struct Expectation(Vec<(Comparison, Vec<f64>)>);

impl Joint {
    /// Predicts a bot's stretch from what the game had shown when the bot came. Call it before the
    /// filters learn from the game.
    pub(super) fn expect(&mut self, whole: &RatedGame, arrival: &Arrival) -> Expectation {
        let Arrival { player, game, .. } = arrival;
        let seats = game.seats().iter().filter(|seat| seat.player == *player);
        let teams: Vec<usize> = seats.map(|seat| usize::from(seat.team)).collect();
        let mut comparisons = game.comparisons();
        comparisons.retain(|comparison| comparison.has_any(&teams));
        let mut expected = Vec::with_capacity(comparisons.len());
        for comparison in comparisons {
            let own = self.columns.compared(game, &comparison);
            self.admit(&own.new, game);
            let until = self.columns.compared(&arrival.before, &comparison);
            self.admit(&until.new, game);
            let own = self.columns.compared(game, &comparison);
            let until = self.columns.compared(&arrival.before, &comparison);
            let means = self.means(whole, arrival, &comparison, &until, &own);
            expected.push((comparison, means));
        }
        Expectation(expected)
    }

    /// The mean of the latent difference of a stretch, by member of the bank. `until` is the row of
    /// the game before the stretch, `own` the row of the stretch.
    fn means(
        &mut self,
        whole: &RatedGame,
        arrival: &Arrival,
        comparison: &Comparison,
        until: &MatchRow,
        own: &MatchRow,
    ) -> Vec<f64> {
        let statistics = *self.outcomes.entry(arrival.game.mode).or_default();
        let lead = statistics.lead(&arrival.before, whole, comparison);
        let tie = statistics.tie();
        let columns: Vec<usize> = own.known.iter().map(|&(column, _)| column).collect();
        let members = self.bank.members.iter_mut().map(|member| {
            member.look(until);
            let (seen, gains) = (member.seen, member.gains(&columns));
            let of_part = |lead| step(lead, arrival.since, member.points, tie, seen);
            let step = lead.map_or(0.0, of_part);
            let shift = own.known.iter().zip(gains).map(|((_, x), gain)| x * gain);
            member.latent(own).mean + step * shift.sum::<f64>()
        });
        members.collect()
    }

    /// Learns a bot's estimate from its stretch. Call it after the filters have learned from the game.
    pub(super) fn welcome(&mut self, whole: &RatedGame, arrival: &Arrival, expected: &Expectation) {
        let statistics = *self.outcomes.entry(arrival.game.mode).or_default();
        let Some(own) = self.columns.number(Column::Skill(arrival.player)) else {
            return;
        };
        let played = arrival.played.clamp(0.0, 1.0);
        let tie = statistics.tie();
        for (comparison, means) in &expected.0 {
            let row = self.columns.compared(&arrival.game, comparison);
            let lead = statistics.lead(&arrival.game, whole, comparison);
            for (member, &mean) in self.bank.members.iter_mut().zip(means) {
                member.look(&row);
                let variance = member.seen.variance;
                let latent = Latent { mean, variance };
                let of_part = |lead| step(lead, played, member.points, tie, latent);
                let step = lead.map_or(0.0, of_part);
                member.learn_one(own, step, played / (1.0 + played * variance));
            }
        }
    }
}

/// The seats of a team without those of the arrivals, who learn from a stretch of their own instead.
pub(super) fn without_arrivals(team: &[Seat], arrivals: &[Arrival]) -> Vec<Seat> {
    let came = |seat: &Seat| arrivals.iter().any(|arrival| arrival.player == seat.player);
    team.iter().copied().filter(|seat| !came(seat)).collect()
}
