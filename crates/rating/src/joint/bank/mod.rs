//! The bank: filters with different priors side by side, weighed by how well they predict.
//!
//! How much players differ, and whether points predict better than outcomes, depends on the game
//! and the community, so neither is a setting. Each filter accumulates its log evidence: half the sum
//! of the logarithms of the chances it gave to the results that happened. The bank's estimate is the
//! mean of its filters weighted by evidence (Bayesian model averaging). There are few filters, and
//! those that fall behind are dropped, so a long history costs little more than one filter.
//!
//! A [preset](Preset) is what is known of a game before its first match: how far apart its players are. A hundred matches
//! hardly tell the spreads apart. Who knows the kind of game can say so, and the weights begin where the matches of such a
//! game brought them.
//!
//! Each filter has a [calibration](Calibration): a factor, learned from outcomes, that corrects chances which are too close
//! to 50 % or too far from it.
//!
//! A member's chance is Φ(z), where z is the latent difference divided by its standard deviation.
//! If the outcome depends more on strength than what the member learns from, Φ(z) is too close to a
//! half; if less, it is too far from it. So the chance is Φ(κ·z), where κ starts at 1 and is
//! learned from the outcomes. Each ruleset has its own κ: the sum of a part that all games share
//! and a part that is learned from its own matches.
//!
//! No favourite is as sure as Φ says far from a half: somebody is ill, or a line fails. So a share λ of
//! all matches counts as decided by a coin, and the chance is λ/2 + (1 − λ)·Φ(κ·z). λ is learned as
//! well: each outcome adds to the matches decided by a coin the chance that it was one.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{
    columns::MatchRow,
    filter::{Filter, Latent, Observation, Prior},
};
use crate::{Strength, normal};

/// The number of spreads that the bank tries.
const SPREADS: usize = 5;
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
pub(super) struct Member {
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
pub(super) struct Bank {
    /// The filters, in the order of their priors.
    pub members: Vec<Member>,
    /// The share of each member in the estimate, by its evidence.
    shares: Vec<f64>,
    asked_for_points: bool,
}

impl Bank {
    /// One filter per prior of [`SKILLS`], with the weights of a preset.
    pub(super) fn new(preset: Preset) -> Self {
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
    pub(super) fn try_points(&mut self) {
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
    pub(super) fn weights(&self) -> &[f64] {
        &self.shares
    }

    /// Computes the weights from the evidence. Call it when evidence or members have changed.
    pub(super) fn weigh(&mut self) {
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
    pub(super) fn mean(&self, of: impl Fn(&Member) -> f64) -> f64 {
        let sum = self.members.iter().zip(&self.shares);
        sum.map(|(member, weight)| weight * of(member)).sum()
    }

    /// Mean and deviation of the mixture of the members' estimates.
    pub(super) fn strength(&self, of: impl Fn(&Member) -> Strength) -> Strength {
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
    pub(super) fn prune(&mut self, matches: u64) {
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
pub(super) struct Observations {
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
    pub(super) fn latent(&self, row: &MatchRow) -> Latent {
        self.filter.prediction(row, &self.prior)
    }

    /// Computes the latent difference of a match, all of whose columns have numbers, before
    /// learning from it.
    pub(super) fn look(&mut self, row: &MatchRow) {
        self.seen = self.filter.latent(row, &self.prior, &mut self.gain);
    }

    /// The gains S·a of these columns in the match looked at.
    pub(super) fn gains(&self, columns: &[usize]) -> Vec<f64> {
        columns.iter().map(|&c| self.gain[c]).collect()
    }

    /// Learns from the match looked at; the columns in `still` do not change, and `record`, the effect of records,
    /// changes by no more than [`RECORD_STEP`]. A decided outcome adds to the evidence; a tie does not, because its
    /// meaning differs between games.
    pub(super) fn learn(
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
    pub(super) fn learn_one(&mut self, column: usize, step: f64, information: f64) {
        self.filter.learn_one(column, step, information, &self.gain);
    }

    /// Learns that a column has this value, with this variance.
    pub(super) fn observe(&mut self, column: usize, value: f64, variance: f64) {
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
    pub(super) fn drift(&mut self, columns: impl Iterator<Item = (usize, f64)>) {
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

/// Settings of `joint`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The kind of game.
    #[serde(rename = "joint_preset")]
    pub preset: Preset,
}

/// A kind of game, which decides what weights the spreads begin with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Preset {
    /// Nothing is known: all spreads begin with the same weight.
    #[default]
    Any,
    /// Capture the flag in a small arena, four against four, in a league: TagPro.
    ArenaCtf,
    /// Pick-up games of a shooter, seven against seven: Tribes: Ascend.
    Shooter,
    /// Two against two at beach volleyball, in tournaments.
    Volleyball,
}

impl Preset {
    /// The weight that each spread begins with, from the smallest spread to the largest.
    ///
    /// How they were got: the first fifth of a recorded history of the game was begun anew every 20 matches. After
    /// 100 matches, each spread had a weight by its evidence alone; these are the means over the starts (26 of TagPro, 10
    /// of Tribes, 97 of beach volleyball). `docs/internals/figures.md` has what they change in the other four fifths.
    fn weights(self) -> [f64; SPREADS] {
        match self {
            Self::Any => [0.2; SPREADS],
            Self::ArenaCtf => [0.09, 0.15, 0.35, 0.32, 0.09],
            Self::Shooter => [0.05, 0.07, 0.15, 0.29, 0.44],
            Self::Volleyball => [0.17, 0.20, 0.25, 0.25, 0.13],
        }
    }
}

/// Standard deviation of the common part of κ before any match. With it, κ is learned in some
/// hundred matches.
const ALL: f64 = 0.1;
/// Standard deviation of the part of κ that belongs to a ruleset, before any match.
const RULESET: f64 = 0.05;
/// The matches that a coin decided before any match, out of [`IMAGINARY`].
const UPSETS: f64 = 0.5;
/// The imaginary matches before any match. With them, λ is learned in some hundred matches.
const IMAGINARY: f64 = 100.0;

/// A Gaussian over κ, as the sum of a part that all games share and one per ruleset.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Calibration {
    all: KappaPart,
    rulesets: BTreeMap<u32, KappaPart>,
    /// How many matches a coin decided, by the chance that it did.
    upsets: f64,
    /// All decided matches.
    matches: f64,
}

/// The mean and variance of one part of κ.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct KappaPart {
    mean: f64,
    variance: f64,
}

impl Default for Calibration {
    fn default() -> Self {
        let all = KappaPart {
            mean: 1.0,
            variance: ALL * ALL,
        };
        Self {
            all,
            rulesets: BTreeMap::new(),
            upsets: UPSETS,
            matches: IMAGINARY,
        }
    }
}

impl KappaPart {
    /// The part of a ruleset without matches.
    const RULESET: Self = Self {
        mean: 0.0,
        variance: RULESET * RULESET,
    };
}

impl Calibration {
    /// The mean of κ for a ruleset.
    pub(super) fn factor(&self, ruleset: u32) -> f64 {
        self.all.mean + self.own(ruleset).mean
    }

    /// λ: the share of matches that a coin decides.
    fn upset(&self) -> f64 {
        self.upsets / self.matches
    }

    /// The chance that the first team wins: λ/2 + (1 − λ)·Φ(κ·z), as the mean over κ.
    pub(super) fn chance(&self, ruleset: u32, latent: Latent) -> f64 {
        let z = latent.standardised();
        let by_strength = normal::cdf(self.factor(ruleset) * z / self.deviation(ruleset, z));
        0.5 * self.upset() + (1.0 - self.upset()) * by_strength
    }

    /// Learns from a decided outcome: `sign` is 1 if the first team won, otherwise −1. One step of
    /// moment matching, in which the parts of κ stay independent. Where a coin has probably decided, κ
    /// hardly learns.
    pub(super) fn learn(&mut self, ruleset: u32, latent: Latent, sign: f64) {
        let chance = self.chance(ruleset, latent);
        let given = if sign > 0.0 { chance } else { 1.0 - chance };
        let coin = (0.5 * self.upset() / given).min(1.0);
        self.upsets += coin;
        self.matches += 1.0;
        let z = latent.standardised();
        let deviation = self.deviation(ruleset, z);
        let moments = normal::above(sign * self.factor(ruleset) * z / deviation);
        let (v, w) = (
            (1.0 - coin) * sign * moments.v / deviation,
            (1.0 - coin) * moments.w / (deviation * deviation),
        );
        let own = self.rulesets.entry(ruleset).or_insert(KappaPart::RULESET);
        for part in [&mut self.all, own] {
            let gain = part.variance * z;
            part.mean += gain * v;
            part.variance -= gain * gain * w;
        }
    }

    fn own(&self, ruleset: u32) -> KappaPart {
        self.rulesets
            .get(&ruleset)
            .copied()
            .unwrap_or(KappaPart::RULESET)
    }

    /// The standard deviation of κ·z + N(0, 1).
    fn deviation(&self, ruleset: u32, z: f64) -> f64 {
        libm::sqrt(1.0 + (self.all.variance + self.own(ruleset).variance) * z * z)
    }
}

#[cfg(test)]
mod tests;
