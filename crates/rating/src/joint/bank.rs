//! The bank: filters with different priors side by side, weighed by how well they predict.
//!
//! How much players differ, and whether points predict better than outcomes, depends on the game
//! and the community, so neither is a setting. Each filter accumulates its log evidence: half the sum
//! of the logarithms of the chances it gave to the results that happened. The bank's estimate is the
//! mean of its filters weighted by evidence (Bayesian model averaging). There are few filters, and
//! those that fall behind are dropped, so a long history costs little more than one filter.

use serde::{Deserialize, Serialize};

use super::calibration::Calibration;
use super::columns::MatchRow;
use super::filter::{Filter, Latent, Observation, Prior};
use super::preset::{Preset, SPREADS};
use crate::Strength;

/// The standard deviations between players that are tried, in units of the noise of a match of two.
/// This range contains the values of all measured histories (0.1 for casual rounds of friends, 0.8
/// for a league, 1.6 for open pick-up games).
const SKILLS: [f64; SPREADS] = [0.1, 0.2, 0.4, 0.8, 1.6];
/// Standard deviation of the drift per match, before the limit of [`DRIFT_SHARE`].
const DRIFT: f64 = 0.05;
/// The most drift per match, as a share of the deviation between players.
const DRIFT_SHARE: f64 = 0.1;
/// The days of absence that add as much drift as a match.
const DAYS: f64 = 7.0;
/// A filter whose log evidence is further than this behind the best one's is dropped. Its share of the estimate is below
/// a two-thousandth of the best one's, but the reason is another: the filters of the first matches are wrong about much
/// else, and one that was 3 behind then has been the best one later. A dropped filter does not come back.
const BEHIND: f64 = 8.0;
/// A filter whose log evidence is at most this behind the best one's is near-best: its share is above a twentieth of the
/// best one's. From [`LATE`] on, only the near-best stay.
const NEAR: f64 = 3.0;
/// The number of matches after which evidence is no longer that of the first matches, and a long history is to cost little
/// more than one filter.
const LATE: u64 = 2_048;
/// Until this number of matches, the best filter that learns from points and the best one that learns from outcomes stay,
/// however far one is behind the other: what points are worth shows late, and a dropped filter does not come back.
const BOTH_KINDS: u64 = LATE;
/// From each of these numbers of matches on, how many filters are kept, so that a long history costs little more than
/// one filter. At the first of them, each near-best one of those kept is then tried with several drifts.
/// Filters that have been level for thousands of matches predict nearly the same.
const KEPT: [(u64, usize); 5] = [
    (DRIFTING, SPLIT),
    (1_024, 4),
    (2_048, 3),
    (4_096, 2),
    (16_384, 1),
];
/// The most filters of which several drifts are tried.
const SPLIT: usize = 3;
/// The number of matches after which several drifts are tried. Before, all drifts predict nearly
/// the same.
const DRIFTING: u64 = 512;
/// The drifts tried, as factors on the drift and on [`DAYS`]: unchanged, half the drift, double the
/// drift, and a day of absence as a match.
const DRIFTS: [(f64, f64); 4] = [(1.0, 1.0), (0.5, 1.0), (2.0, 1.0), (1.0, 1.0 / 7.0)];

/// The most filters at once: those with each drift, twice if points come after them.
const MOST: usize = 2 * SPLIT * DRIFTS.len();

/// The factor on the logarithm of each chance in the evidence. The matches of a community resemble each
/// other more than the model presumes, so their chances count as if there were half as many.
const EVIDENCE: f64 = 0.5;

/// The most by which one match changes the effect of records, as a factor on [`Prior::skill`]. All players with a
/// record gain or lose by it at once, and the first matches with points say little about it.
const RECORD_STEP: f64 = 0.25;

/// One filter of the bank, and its record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Member {
    /// The prior of this filter.
    pub prior: Prior,
    /// Whether it learns from points instead of outcomes where a match has points.
    pub points: bool,
    /// Log evidence: [`EVIDENCE`] · Σ ln(chance given to the observed outcome).
    pub evidence: f64,
    /// The Gaussian that this member has learned.
    pub filter: Filter,
    /// The factor on its latent differences.
    pub calibration: Calibration,
    /// The latent difference of the match that [`look`](Member::look) was last called for, before
    /// learning from it.
    #[serde(skip)]
    pub seen: Latent,
    #[serde(skip)]
    gain: Vec<f64>,
}

/// The filters that are still compared, never none.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bank {
    /// The filters, in the order of their priors.
    pub members: Vec<Member>,
    /// The share of each member in the estimate, by its evidence.
    shares: Vec<f64>,
    asked_for_points: bool,
}

impl Bank {
    /// One filter per prior of [`SKILLS`], with the weights of a preset.
    pub fn new(preset: Preset) -> Self {
        let most = preset.weights().into_iter().fold(0.0, f64::max);
        let member = |(skill, weight): (f64, f64)| Member {
            prior: Prior {
                skill,
                drift: DRIFT.min(DRIFT_SHARE * skill),
                days: DAYS,
            },
            points: false,
            evidence: libm::log(weight / most),
            filter: Filter::default(),
            calibration: Calibration::default(),
            seen: Latent::default(),
            gain: Vec::new(),
        };
        let members = SKILLS.into_iter().zip(preset.weights()).map(member);
        let mut bank = Self {
            members: members.collect(),
            shares: Vec::new(),
            asked_for_points: false,
        };
        bank.weigh();
        bank
    }

    /// Adds a copy of every filter that learns from points; called at the first match with points.
    /// Until then the copies would be identical.
    pub fn try_points(&mut self) {
        if !self.asked_for_points {
            self.asked_for_points = true;
            let doubles = self.members.iter().cloned();
            let doubles = doubles.map(|m| Member { points: true, ..m });
            self.members = self.members.iter().cloned().chain(doubles).collect();
            self.weigh();
        }
    }

    /// Replaces each near-best filter by copies with the drifts of [`DRIFTS`], which share its evidence.
    fn try_drifts(&mut self) {
        let best = self.best(|_| true);
        let with_drifts = |member: Member| match member.evidence >= best - NEAR {
            true => DRIFTS.map(|drift| member.drifting(drift)).to_vec(),
            false => vec![member],
        };
        let members = std::mem::take(&mut self.members);
        self.members = members.into_iter().flat_map(with_drifts).collect();
    }

    /// The highest evidence of such members.
    fn best(&self, such: impl Fn(&Member) -> bool) -> f64 {
        let such = self.members.iter().filter(|m| such(m));
        such.map(|m| m.evidence).fold(f64::NEG_INFINITY, f64::max)
    }

    /// Posterior probabilities of the members; they sum to 1.
    pub fn weights(&self) -> &[f64] {
        &self.shares
    }

    /// Computes the weights from the evidence. Call it when evidence or members have changed.
    pub fn weigh(&mut self) {
        if self.members.len() == 1 {
            self.shares = vec![1.0];
            return;
        }
        let evidence = self.members.iter().map(|m| m.evidence);
        let best = evidence.clone().fold(f64::NEG_INFINITY, f64::max);
        let raw: Vec<f64> = evidence.map(|e| libm::exp(e - best)).collect();
        let sum: f64 = raw.iter().sum();
        self.shares = raw.into_iter().map(|w| w / sum).collect();
    }

    /// The mean over the members, weighted by evidence.
    pub fn mean(&self, of: impl Fn(&Member) -> f64) -> f64 {
        let sum = self.members.iter().zip(&self.shares);
        sum.map(|(member, weight)| weight * of(member)).sum()
    }

    /// Mean and deviation of the mixture of the members' estimates.
    pub fn strength(&self, of: impl Fn(&Member) -> Strength) -> Strength {
        // There are few members, and this is asked for every weight: no list is allocated.
        let mut each = [Strength::default(); MOST];
        let members = self.members.iter().zip(&mut each);
        members.for_each(|(member, own)| *own = of(member));
        let each = || self.shares.iter().zip(&each);
        let mean: f64 = each().map(|(share, own)| share * own.mean).sum();
        let square: f64 = each()
            .map(|(share, s)| {
                share * (s.deviation * s.deviation + (s.mean - mean) * (s.mean - mean))
            })
            .sum();
        Strength {
            mean,
            deviation: libm::sqrt(square),
        }
    }

    /// Drops the filters that are further than [`BEHIND`] behind the best one, later [`NEAR`], and those that are too many by [`KEPT`], but
    /// for the best of each kind until [`BOTH_KINDS`]. Tries several drifts after [`DRIFTING`] matches.
    pub fn prune(&mut self, matches: u64) {
        let kinds = [false, true].map(|points| self.best(|m| m.points == points));
        let best = kinds[0].max(kinds[1]);
        let behind = if matches < LATE { BEHIND } else { NEAR };
        let stays = |m: &Member| matches < BOTH_KINDS && m.evidence >= kinds[usize::from(m.points)];
        self.members
            .retain(|m| m.evidence >= best - behind || stays(m));
        let due = KEPT
            .iter()
            .rev()
            .find(|(at, _)| matches.is_multiple_of(*at));
        if let Some(&(_, keep)) = due {
            self.drop_to(keep, matches < BOTH_KINDS);
        }
        if matches == DRIFTING {
            self.try_drifts();
        }
        self.weigh();
    }

    /// Keeps so many filters, those with the most evidence, and with `both` the best of each kind.
    fn drop_to(&mut self, keep: usize, both: bool) {
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        let evidence = |i: &usize| self.members[*i].evidence;
        order.sort_by(|i, j| evidence(j).total_cmp(&evidence(i)).then(i.cmp(j)));
        if both {
            // The order stays but for the first of each kind, which goes to the front.
            let kind = |i: &usize| self.members[*i].points;
            let first = |points| order.iter().copied().find(|i| kind(i) == points);
            let firsts = [first(false), first(true)];
            order.sort_by_key(|i| !firsts.contains(&Some(*i)));
        }
        let mut kept = vec![false; order.len()];
        order.iter().take(keep).for_each(|&i| kept[i] = true);
        let mut kept = kept.into_iter();
        self.members.retain(|_| kept.next().unwrap_or(false));
    }
}

/// What a match reveals of the latent difference: its outcome, and its points where it has some.
#[derive(Clone, Copy, Debug)]
pub struct Observations {
    /// Observed from who won, or from a tie.
    pub outcome: Observation,
    /// Observed from the difference of points.
    pub points: Option<Observation>,
    /// The factor on the latent difference where a decided outcome is predicted.
    pub sharpness: f64,
}

impl Member {
    /// A copy with one of [`DRIFTS`], which has its share of the evidence.
    fn drifting(&self, (drift, days): (f64, f64)) -> Self {
        let mut copy = self.clone();
        copy.prior.drift *= drift;
        copy.prior.days *= days;
        copy.evidence -= libm::log(DRIFTS.len() as f64);
        copy
    }

    /// The latent difference of a row, without learning from it.
    pub fn latent(&self, row: &MatchRow) -> Latent {
        self.filter.prediction(row, &self.prior)
    }

    /// Computes the latent difference of a match, all of whose columns have numbers, before
    /// learning from it.
    pub fn look(&mut self, row: &MatchRow) {
        self.seen = self.filter.latent(row, &self.prior, &mut self.gain);
    }

    /// The gains S·a of these columns in the match looked at.
    pub fn gains(&self, columns: &[usize]) -> Vec<f64> {
        columns.iter().map(|&c| self.gain[c]).collect()
    }

    /// Learns from the match looked at; the columns in `still` do not change, and `record`, the effect of records,
    /// changes by no more than [`RECORD_STEP`]. A decided outcome adds to the evidence; a tie does not, because its
    /// meaning differs between games.
    pub fn learn(
        &mut self,
        ruleset: u32,
        observed: Observations,
        still: &[usize],
        record: Option<usize>,
    ) {
        if let Observation::Sign(sign) = observed.outcome {
            let seen = self.seen.times(observed.sharpness);
            let chance = self.calibration.chance(ruleset, seen);
            let given = if sign > 0.0 { chance } else { 1.0 - chance };
            self.evidence += EVIDENCE * libm::log(given.max(1e-12)); // a single surprising result must not exclude a filter
            self.calibration.learn(ruleset, seen, sign);
        }
        let points = if self.points { observed.points } else { None };
        let observation = points.unwrap_or(observed.outcome);
        let slow = record.map(|column| (column, RECORD_STEP * self.prior.skill));
        self.filter
            .learn(observation, self.seen, &self.gain, still, slow);
    }

    /// Learns one column from the match looked at, and no other: its mean by `step` per unit of its gain,
    /// and its covariances by `information`, the w / c² of [`Filter::learn`].
    pub fn learn_one(&mut self, column: usize, step: f64, information: f64) {
        self.filter.learn_one(column, step, information, &self.gain);
    }

    /// Learns that a column has this value, with this variance.
    pub fn observe(&mut self, column: usize, value: f64, variance: f64) {
        let unit = 1.0 / libm::sqrt(variance.max(1e-6)); // a row whose noise is 1
        let row = MatchRow {
            known: vec![(column, unit)],
            new: Vec::new(),
        };
        self.look(&row);
        let observed = Observation::Value(value * unit);
        self.filter
            .learn(observed, self.seen, &self.gain, &[], None);
    }

    /// Adds drift to the columns of players: for one match, and for the days each was away; the
    /// variance never exceeds the prior's.
    pub fn drift(&mut self, columns: impl Iterator<Item = (usize, f64)>) {
        let most = self.prior.skill * self.prior.skill;
        let step = self.prior.drift * self.prior.drift;
        for (column, days) in columns {
            let room = most - self.filter.variance(column);
            if room > 0.0 {
                self.filter
                    .widen(column, (step * (1.0 + days / self.prior.days)).min(room));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evidence_weighs_and_who_falls_behind_is_dropped() {
        let mut bank = Bank::new(Preset::Any);
        for (member, evidence) in bank.members.iter_mut().zip([-8.1, -1.0, 0.0, -7.9, -9.0]) {
            member.evidence = evidence;
        }
        bank.weigh();
        let weights = bank.weights();
        assert!((weights[1] / weights[2] - libm::exp(-1.0)).abs() < 1e-15);
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-15);
        bank.prune(1);
        let skills = |bank: &Bank| {
            bank.members
                .iter()
                .map(|m| m.prior.skill)
                .collect::<Vec<_>>()
        };
        assert_eq!(skills(&bank), [0.2, 0.4, 0.8]);
        bank.try_points();
        bank.try_points();
        assert_eq!(bank.members.len(), 6);
    }

    #[test]
    fn a_preset_is_where_the_weights_begin() {
        let same = |(a, b): (f64, f64)| (a - b).abs() < 1e-12;
        for preset in [Preset::Any, Preset::Shooter, Preset::ArenaCtf] {
            let mut bank = Bank::new(preset);
            assert!(
                bank.weights()
                    .iter()
                    .copied()
                    .zip(preset.weights())
                    .all(same)
            );
            bank.prune(1);
            assert_eq!(bank.members.len(), SPREADS, "none is dropped at once");
        }
    }

    #[test]
    fn points_that_come_late_are_compared_for_thousands_of_matches() {
        let mut bank = Bank::new(Preset::Any);
        bank.members.truncate(1);
        bank.prune(16_384);
        bank.try_points();
        (16_385..20_480).for_each(|matches| bank.prune(matches));
        assert_eq!(bank.members.len(), 2);
        bank.members[1].evidence = 1.0;
        bank.prune(32_768);
        assert_eq!(bank.members.len(), 1);
        assert!(bank.members[0].points, "the better one");
        bank.try_points();
        assert_eq!(bank.members.len(), 1, "only once");
    }

    #[test]
    fn the_best_of_both_kinds_stays_until_points_are_known() {
        let mut bank = Bank::new(Preset::Any);
        bank.try_points();
        for (number, member) in bank.members.iter_mut().enumerate() {
            member.evidence = if number < 5 {
                0.0
            } else {
                -10.0 - number as f64
            };
        }
        let kinds = |bank: &Bank| bank.members.iter().map(|m| m.points).collect::<Vec<_>>();
        bank.prune(1);
        assert_eq!(kinds(&bank), [false, false, false, false, false, true]);
        assert_eq!(
            bank.members[5].evidence, -15.0,
            "the best of those with points"
        );
        bank.prune(BOTH_KINDS - 1);
        assert_eq!(bank.members.len(), 6);
        bank.prune(BOTH_KINDS);
        assert_eq!(kinds(&bank), [false; 3], "so many are kept from here on");
    }

    #[test]
    fn drifts_are_tried_once_the_players_are_known() {
        let mut bank = Bank::new(Preset::Any);
        let drift = bank.members[0].prior.drift;
        bank.members[0].evidence = 1.0;
        bank.members[1].evidence = -2.0; // exactly 3 behind
        bank.members[2].evidence = -2.5; // more than 3 behind
        bank.members[4].evidence = -2.6; // the fourth
        bank.members[3].evidence = -7.5; // more than 8 behind
        (1..DRIFTING).for_each(|matches| bank.prune(matches));
        assert_eq!(bank.members.len(), 4);
        let before = bank.weights().to_vec();
        bank.prune(DRIFTING);
        let drifts =
            |bank: &Bank| -> Vec<f64> { bank.members.iter().map(|m| m.prior.drift).collect() };
        let each = [drift, 0.5 * drift, 2.0 * drift, drift];
        assert_eq!(drifts(&bank)[..4], each, "of the best one");
        let next = bank.members[4].prior.skill;
        assert_eq!(next, SKILLS[1], "and of one that is nearly as good");
        let next = bank.members[8].prior.skill;
        assert_eq!((next, bank.members.len()), (SKILLS[2], 4 + 4 + 1));
        let after: Vec<f64> = bank.weights().chunks(4).map(|w| w.iter().sum()).collect();
        let shared = after[0] / after[1] - before[0] / before[1];
        assert!(shared.abs() < 1e-9, "the evidence is shared");
        bank.members[1].evidence += 1.0;
        (DRIFTING + 1..16_385).for_each(|matches| bank.prune(matches));
        assert_eq!(bank.members.len(), 1);
        assert_eq!(bank.members[0].prior.drift, 0.5 * drift);
    }

    #[test]
    fn there_are_never_more_than_the_array_holds() {
        for late in [1, DRIFTING - 1, DRIFTING, DRIFTING + 1, 1_500] {
            let mut bank = Bank::new(Preset::Any); // all level: as many as can be
            for matches in 1..5_000 {
                if matches == late {
                    bank.try_points();
                }
                assert!(bank.members.len() <= MOST, "{matches}");
                bank.prune(matches);
            }
        }
    }

    #[test]
    fn too_many_leave_the_best_of_each_kind() {
        let mut bank = Bank::new(Preset::Any);
        bank.try_points();
        let evidence = |number: usize| -0.1 * number as f64;
        let members = bank.members.iter_mut().enumerate();
        members.for_each(|(number, m)| m.evidence = evidence(number));
        bank.drop_to(3, true);
        let left = bank.members.iter().map(|m| (m.points, m.evidence));
        let by_hand = [0, 1, 5].map(|number| (number == 5, evidence(number)));
        assert_eq!(left.collect::<Vec<_>>(), by_hand);
        bank.drop_to(2, false);
        assert!(bank.members.iter().all(|m| !m.points));
    }

    #[test]
    fn absence_blurs_up_to_somebody_unknown() {
        let mut member = Bank::new(Preset::Any).members.swap_remove(3);
        let known = Strength {
            mean: 1.0,
            deviation: 0.1,
        };
        (0..3).for_each(|_| member.filter.add(known));
        member.drift([(0, 0.0), (1, 7.0), (2, 1e9)].into_iter());
        let step = member.prior.drift * member.prior.drift;
        let variances = [0, 1, 2].map(|c| member.filter.variance(c));
        let expected = [0.01 + step, 0.01 + 2.0 * step, 0.64];
        for (got, expected) in variances.into_iter().zip(expected) {
            assert!((got - expected).abs() < 1e-6, "{got} {expected}");
        }
    }
}
