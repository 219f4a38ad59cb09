//! What `joint` learns from a game: from the teams that stayed, from players who leave early, and from the bots that come
//! after them.
//!
//! **Players who leave early** learn from the state of the game when they left, instead of from
//! its end. If players could choose their share of a game, the estimates would be biased: a player who quits
//! whenever the team is behind takes part in, say, two thirds of each defeat and in the whole of
//! each victory. So the game counts for all players as if that player had stayed
//! ([`Seat::missed`](crate::Seat)), and the mean of that player learns from the part of the
//! game that they played. The rest of the game counts with the result that the filter expected when
//! they left.
//!
//! This moves no mean on average, whenever the player leaves. The score of a game is a Brownian
//! motion (Stern 1994), so the expected final result is a martingale, and no rule for when to stop
//! gains anything from a martingale (Doob's optional stopping theorem).
//!
//! Let τ be the share of play time that is over, and y the [lead](OutcomeStatistics::lead). It is an
//! observation τ·a·x + N(0, τ). A member of the bank that learns from outcomes uses instead the
//! chances of the outcomes that remain at this lead:
//!
//! ```text
//! m' = (m + q·y) / (1 + q·τ),   q' = q / (1 + q·τ)
//! P(won) = Φ((y + (1 − τ)·m' − ε) / s),   P(lost) = Φ((−y − (1 − τ)·m' − ε) / s)
//! s² = (1 − τ) + (1 − τ)²·q'
//! ```
//!
//! where m and q are the mean and variance of a·x before the game, and ε is the margin of a tie. The
//! change of its means is the mean of those of a victory, a tie and a defeat, by these chances.
//! Covariances learn from the end of the game, like those of all other players, because they depend
//! far more on the lineup than on the result.
//!
//! **Bots that come after a player has left early** learn only from their own stretch of the game.
//! A player leaves when the team is behind. The bot that comes instead is on a team that will
//! probably lose, however strong the bot is. So the row of the game leaves out the bot's seat, and
//! the bot's stretch of the game is an observation of its own. That observation changes only the
//! estimate of that bot.
//!
//! The stretch is predicted from everything that the game had shown when the bot came. The rest is
//! luck, which moves no mean on average. Let A be the row of the game up to that moment, y its
//! [step], and B the row of the stretch. The mean of the latent difference
//! of the stretch is then B·m + (B·S·A)·y.

use super::{
    Joint,
    bank::Member,
    columns::{Column, MatchRow},
    filter::{Latent, Observation, Tie},
};
use crate::{
    RatedGame, Seat, Strength,
    game::{Arrival, Comparison, Departure},
    normal,
};

impl Joint {
    /// Learns from a game.
    pub(super) fn learn(&mut self, game: &RatedGame) {
        if game.places.is_empty() || game.teams() < 2 {
            return;
        }
        self.matches += 1;
        let skill = |p| self.columns.number(Column::Skill(p));
        let away = |player| self.columns.absence(player, game.day);
        let seats = game.seats().iter();
        let mut playing: Vec<(usize, f64)> = seats
            .filter_map(|s| Some((skill(s.player)?, away(s.player))))
            .collect();
        playing.sort_unstable_by_key(|(column, _)| *column);
        playing.dedup_by_key(|(column, _)| *column);
        for member in &mut self.bank.members {
            member.drift(playing.iter().copied());
        }
        if !game.departures.is_empty() {
            self.bank.try_points(); // so that every member has a win model
        }
        let mut predictions = Vec::with_capacity(game.departures.len());
        for departure in &game.departures {
            predictions.push(self.look_ahead(departure));
        }
        let mut expected = Vec::with_capacity(game.arrivals.len());
        for arrival in &game.arrivals {
            expected.push(self.expect(game, arrival));
        }
        for comparison in &game.comparisons() {
            self.compare(game, comparison);
        }
        self.meet(game);
        for (arrival, expected) in game.arrivals.iter().zip(&expected) {
            self.welcome(game, arrival, expected);
        }
        let others = self.stayers(game);
        for (departure, prediction) in game.departures.iter().zip(&predictions) {
            self.charge(game, departure, prediction, &others);
        }
        self.columns.count(game, self.matches);
        self.bank.prune(self.matches);
        if self.columns.list.len() > self.active {
            self.clear();
        }
    }

    /// Adds a column for each of these entries, which have none.
    fn admit(&mut self, new: &[(Column, f64)], game: &RatedGame) {
        for &(column, _) in new {
            let away = match column {
                Column::Skill(player) => self.away.take(player),
                _ => None,
            };
            for member in &mut self.bank.members {
                if let Column::Newness | Column::Experience = column {
                    let deviation = member.prior.deviation(column);
                    member.filter.add_optional(deviation);
                    continue;
                }
                let known = away.as_ref().and_then(|away| self.away.of(away, member));
                let fresh = || member.prior.strength_in(column, game.no_map);
                member.filter.add(known.unwrap_or_else(fresh));
            }
            self.columns.add(column);
        }
    }

    /// Gives columns to the players who have none yet: where all share a place, nothing is compared.
    fn meet(&mut self, game: &RatedGame) {
        let players = game.seats().iter().map(|seat| Column::Skill(seat.player));
        let mut new: Vec<Column> = players
            .filter(|column| self.columns.number(*column).is_none())
            .collect();
        new.sort_unstable();
        new.dedup();
        let entries: Vec<(Column, f64)> = new.into_iter().map(|column| (column, 0.0)).collect();
        self.admit(&entries, game);
    }

    /// Learns from two teams, or two neighbouring places, and the result.
    fn compare(&mut self, game: &RatedGame, comparison: &Comparison) {
        let mut row = self.columns.compared(game, comparison);
        if !row.new.is_empty() {
            self.admit(&row.new, game);
            row = self.columns.compared(game, comparison);
        }
        for member in &mut self.bank.members {
            member.look(&row);
        }
        let variance = self.bank.mean(|m| m.seen.variance);
        let mean = self.bank.mean(|m| m.seen.mean);
        let statistics = self.outcomes.entry(game.mode).or_default();
        let observed = statistics.observe(game, comparison, mean, variance);
        if observed.points.is_some() {
            self.bank.try_points();
        }
        let still = self.still(game, comparison);
        let record = self.columns.number(Column::Record);
        for member in &mut self.bank.members {
            member.learn(game.ruleset, observed, &still, record);
        }
        self.bank.weigh();
    }

    /// The columns, ascending, of players who take part in the game without learning from it.
    fn still(&self, game: &RatedGame, comparison: &Comparison) -> Vec<usize> {
        let teams = comparison.sides.iter().flatten();
        let seats = teams.flat_map(|&team| game.team(team));
        let players = seats.filter(|s| !s.learns).map(|s| s.player);
        let columns = players.flat_map(|p| [Column::Skill(p), Column::Command(p)]);
        let mut still: Vec<usize> = columns.filter_map(|c| self.columns.number(c)).collect();
        still.sort_unstable();
        still.dedup();
        still
    }

    /// Moves the players who have been away longest out of the covariance.
    fn clear(&mut self) {
        self.cleared = true;
        let is_map = |column: &&Column| matches!(column, Column::SideMap(..));
        let many_maps = self.columns.list.iter().filter(is_map).count() > self.active / 4;
        let last_game = |column: &Column| match column {
            Column::Skill(p) | Column::Command(p) => self.columns.last_game(*p),
            // There are few maps, unless a game server invents names.
            Column::SideMap(..) if many_maps => 0,
            _ => u64::MAX,
        };
        let list = &self.columns.list;
        let mut kept: Vec<usize> = (0..list.len()).collect();
        kept.sort_by_key(|&i| (std::cmp::Reverse(last_game(&list[i])), i));
        let leaving = kept.split_off(self.active * 3 / 4); // a quarter at once, so that clearing is rare
        kept.sort_unstable();
        let bank = self.away.number(&self.bank);
        for number in leaving {
            if let Column::Skill(player) = list[number] {
                let members = self.bank.members.iter();
                let each: Vec<Strength> = members.map(|m| m.filter.strength(number)).collect();
                self.away.leave(player, bank, &each);
            }
        }
        self.columns.keep(&kept);
        for member in &mut self.bank.members {
            member.filter.keep(&kept);
        }
    }
}

/// What the members of the bank predict for the part of a game that a departed player played,
/// before they learn the result.
struct DeparturePrediction {
    /// The numbers of the player's columns: skill and command.
    own: Vec<usize>,
    comparisons: Vec<ComparisonPrediction>,
    /// The means of those columns before the game, by member.
    means: Vec<Vec<f64>>,
}

/// The prediction for one comparison in which the player's team is.
struct ComparisonPrediction {
    comparison: Comparison,
    /// By member: the latent difference, and the gains S·a of the player's columns.
    members: Vec<(Latent, Vec<f64>)>,
}

impl Joint {
    /// Predicts the part of a game that a departed player played. Call it before the filters learn from
    /// the game.
    fn look_ahead(&mut self, departure: &Departure) -> DeparturePrediction {
        let Departure { player, game, .. } = departure;
        let seats = game.seats().iter().filter(|seat| seat.player == *player);
        let teams: Vec<usize> = seats.map(|seat| usize::from(seat.team)).collect();
        let mut comparisons = game.comparisons();
        comparisons.retain(|comparison| comparison.has_any(&teams));
        for comparison in &comparisons {
            let row = self.columns.compared(game, comparison);
            self.admit(&row.new, game);
        }
        let own = [Column::Skill(*player), Column::Command(*player)];
        let own: Vec<usize> = own.iter().filter_map(|c| self.columns.number(*c)).collect();
        let prediction = |comparison: Comparison| {
            let row = self.columns.compared(game, &comparison);
            let look = |member: &mut Member| {
                member.look(&row);
                (member.seen, member.gains(&own))
            };
            ComparisonPrediction {
                comparison,
                members: self.bank.members.iter_mut().map(look).collect(),
            }
        };
        let comparisons = comparisons.into_iter().map(prediction).collect();
        let mean = |member: &Member| own.iter().map(|&c| member.filter.mean(c)).collect();
        let means = self.bank.members.iter().map(mean).collect();
        DeparturePrediction {
            own,
            comparisons,
            means,
        }
    }

    /// Undoes what a departed player's means have learned from the end of the game, and lets them
    /// learn from the part that the player played. The difference is divided equally among the
    /// columns `others`, so that the sum of all means stays the same and weights as a whole do not
    /// drift. Call it after the filters have learned from the game.
    fn charge(
        &mut self,
        whole: &RatedGame,
        departure: &Departure,
        prediction: &DeparturePrediction,
        others: &[usize],
    ) {
        let statistics = self.outcomes.entry(departure.game.mode).or_default();
        let tie = statistics.tie();
        for (index, member) in self.bank.members.iter_mut().enumerate() {
            let Some(before) = prediction.means.get(index) else {
                continue;
            };
            let mut means = before.clone();
            for part in &prediction.comparisons {
                let Some((latent, gains)) = part.members.get(index) else {
                    continue;
                };
                let lead = statistics.lead(&departure.game, whole, &part.comparison);
                let of_part = |lead| step(lead, departure.played, member.points, tie, *latent);
                let step = lead.map_or(0.0, of_part);
                for (mean, gain) in means.iter_mut().zip(gains) {
                    *mean += gain * step;
                }
            }
            let mut surplus = 0.0;
            for (&column, mean) in prediction.own.iter().zip(means) {
                surplus += member.filter.mean(column) - mean;
                member.filter.set_mean(column, mean);
            }
            for &column in others {
                let shifted = member.filter.mean(column) + surplus / others.len() as f64;
                member.filter.set_mean(column, shifted);
            }
        }
    }

    /// The skill columns of the players who learn from the whole game.
    fn stayers(&self, game: &RatedGame) -> Vec<usize> {
        let left = |player| game.departures.iter().any(|d| d.player == player);
        let seats = game.seats().iter();
        let came = |player| game.arrivals.iter().any(|a| a.player == player);
        let stayers = seats.filter(|seat| seat.learns && !left(seat.player) && !came(seat.player));
        let number = |seat: &Seat| self.columns.number(Column::Skill(seat.player));
        let mut stayers: Vec<usize> = stayers.filter_map(number).collect();
        stayers.sort_unstable();
        stayers.dedup();
        stayers
    }
}

/// The change of the means, per unit of gain, by a part of a game with this
/// [lead](OutcomeStatistics::lead). `played` is its share of the play time.
///
/// By the chance that ties follow the forecast, the game ends in a tie if the latent difference is within the margin of
/// `tie`. Otherwise a tie says nothing, and the game counts as if it were played on until somebody leads.
fn step(lead: f64, played: f64, by_points: bool, tie: Tie, latent: Latent) -> f64 {
    let played = played.clamp(0.0, 1.0);
    if by_points {
        let root = libm::sqrt(played.max(1e-9));
        let part = Latent {
            mean: root * latent.mean,
            variance: played * latent.variance,
        };
        return root * Observation::Value(lead / root).step(part);
    }
    let by = |chance: f64, outcome: Observation| chance * outcome.step(latent);
    let decided = |(won, lost): (f64, f64)| {
        by(won, Observation::Sign(1.0)) + by(lost, Observation::Sign(-1.0))
    };
    let (won, lost) = chances_left(latent, played, lead, tie.margin);
    let full = Tie { share: 1.0, ..tie };
    let with_ties = decided((won, lost)) + by(1.0 - won - lost, Observation::Within(full));
    let without = decided(chances_left(latent, played, lead, 0.0));
    tie.share * with_ties + (1.0 - tie.share) * without
}

/// The chances that the latent difference of the whole game is above `tie` and below −`tie`, with this
/// [lead](OutcomeStatistics::lead) after the share `played` of it.
fn chances_left(latent: Latent, played: f64, lead: f64, tie: f64) -> (f64, f64) {
    let Latent { mean, variance } = latent;
    let left = 1.0 - played;
    let known = 1.0 + variance * played;
    let mean = (mean + variance * lead) / known;
    let variance = variance / known;
    let noise = libm::sqrt((left + left * left * variance).max(1e-9));
    let end = lead + left * mean;
    (
        normal::cdf((end - tie) / noise),
        normal::cdf((-end - tie) / noise),
    )
}

/// What the members of the bank expect of a stretch before they learn from the game: for each comparison,
/// the mean of the latent difference by member.
struct Expectation(Vec<(Comparison, Vec<f64>)>);

impl Joint {
    /// Predicts a bot's stretch from what the game had shown when the bot came. Call it before the
    /// filters learn from the game.
    fn expect(&mut self, whole: &RatedGame, arrival: &Arrival) -> Expectation {
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
    fn welcome(&mut self, whole: &RatedGame, arrival: &Arrival, expected: &Expectation) {
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

#[cfg(test)]
mod tests {
    use super::*;

    const EQUALS: Latent = Latent {
        mean: 0.0,
        variance: 0.5,
    };

    #[test]
    fn the_chances_left_are_martingales() {
        // Nothing played: the chance before the game. All played: what the score tells.
        let stronger = Latent {
            mean: 0.7,
            variance: 0.5,
        };
        let chance = normal::cdf(stronger.standardised());
        let (won, lost) = chances_left(stronger, 0.0, 0.0, 0.0);
        assert!((won - chance).abs() < 1e-12 && (won + lost - 1.0).abs() < 1e-12);
        assert!(chances_left(stronger, 1.0, 0.3, 0.2).0 > 0.999);
        assert!(chances_left(stronger, 1.0, -0.3, 0.2).1 > 0.999);
        let (won, lost) = chances_left(stronger, 1.0, 0.1, 0.2);
        assert!(won + lost < 0.001, "a tie");
        // At half-time their means over what may have happened are the chances before: the lead is
        // τ·a·x + N(0, τ).
        let (played, mut mean, mut all) = (0.5, (0.0, 0.0), 0.0);
        let spread = libm::sqrt(played + played * played * stronger.variance);
        for n in -600..=600 {
            let z = f64::from(n) / 100.0;
            let lead = played * stronger.mean + spread * z;
            let (won, lost) = chances_left(stronger, played, lead, 0.2);
            mean = (
                mean.0 + normal::pdf(z) * won,
                mean.1 + normal::pdf(z) * lost,
            );
            all += normal::pdf(z);
        }
        let (won, lost) = chances_left(stronger, 0.0, 0.0, 0.2);
        assert!((mean.0 / all - won).abs() < 1e-6, "{mean:?} {all}");
        assert!((mean.1 / all - lost).abs() < 1e-6, "{mean:?} {all}");
    }

    const TIE: Tie = Tie {
        margin: 0.3,
        share: 1.0,
    };

    #[test]
    fn what_is_expected_moves_nothing() {
        assert!(step(0.0, 0.5, false, TIE, EQUALS).abs() < 1e-12);
        assert!(step(0.0, 0.5, true, TIE, EQUALS).abs() < 1e-12);
        let sure = step(9.0, 1.0, false, TIE, EQUALS);
        assert!((sure - Observation::Sign(1.0).step(EQUALS)).abs() < 1e-12);
        let tie = step(0.1, 1.0, false, TIE, EQUALS);
        assert!((tie - Observation::Within(TIE).step(EQUALS)).abs() < 1e-12);
        assert!(step(-0.2, 0.5, false, TIE, EQUALS) < 0.0);
    }

    #[test]
    fn where_ties_say_nothing_the_rest_is_as_if_there_were_none() {
        let none = Tie { share: 0.0, ..TIE };
        assert!(step(0.0, 1.0, false, none, EQUALS).abs() < 1e-9);
        let ahead = step(0.1, 1.0, false, none, EQUALS);
        assert!((ahead - Observation::Sign(1.0).step(EQUALS)).abs() < 1e-2);
        // What is expected at the start moves a favourite as little as equals.
        let favourite = Latent {
            mean: 0.7,
            variance: 0.5,
        };
        assert!(step(0.0, 0.0, false, none, favourite).abs() < 1e-9);
    }
}
