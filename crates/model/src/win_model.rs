//! How a rating system turns a difference between two teams into a chance, as plain data that a
//! decision can store.
//!
//! A lineup that has not been played yet, in the form that predictions need.
//!
//! The functions of the normal distribution use `libm`, so that every machine computes the same bits.

use std::f64::consts::FRAC_1_SQRT_2;

use serde::{Deserialize, Serialize};

use crate::PlayerKey;

/// 1/√(2π), the density of the standard normal at 0.
const INV_SQRT_TAU: f64 = 0.398_942_280_401_432_7;

/// The distribution function that turns an edge into a chance to win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Link {
    /// The normal distribution: the edge is in standard deviations.
    Normal,
    /// The logistic distribution: the edge is the logarithm of the odds.
    Logistic,
}

/// How fast the effect of one player's strength falls as the number of players grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Crowding {
    /// It stays the same.
    None,
    /// With the square root of their number: each player adds noise to the match.
    Root,
    /// With their number: a team is as strong as its mean player.
    Mean,
}

/// How a rating system predicts matches between two teams. It is made for a lineup, and holds for
/// matches with about as many players.
///
/// The edge of the first team is the sum of three parts: its strength, the number of its players,
/// and its side of the map. The strength of a team is the sum of its players' strengths. Those are
/// in the rating system's own unit, and that of an average newcomer is 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WinModel {
    /// The function that turns the edge into a chance.
    pub link: Link,
    /// The edge per unit of strength, above 0, in a match of `players` players.
    pub per_strength: f64,
    /// The number of players, on both teams together, for which `per_strength` holds.
    pub players: f64,
    /// How `per_strength` changes with the number of players.
    pub crowding: Crowding,
    /// The edge for each player that a team has more than the other; 0 if an additional average
    /// player makes no difference.
    pub per_head: f64,
    /// The edge of a team that is e (2.718…) times as large as the other; 0 if the rating system
    /// does not learn it.
    pub per_log_size: f64,
    /// The edge of the first team's side of the map.
    pub side: f64,
    /// The unit of weights: a sixth of the strength from the weight 50 to 100.
    pub unit: f64,
    /// The standard deviation of the edge that comes from the uncertainty of the strengths.
    #[serde(alias = "doubt")] // as decisions of 0.2 have it
    pub deviation: f64,
    /// The strength that premade parties add.
    pub company: Company,
}

/// What a rating system has learned about premade parties. The default is for systems that do not
/// learn about parties.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Company {
    /// The strength that each team mate from the same party adds to a player.
    pub per_friend: f64,
    /// The share of that number that comes from matches, 0 to 1; the rest comes from the assumption
    /// that parties add nothing.
    pub learned: f64,
}

/// The size and strength of one team.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TeamLoad {
    /// Number of players on it, bots included.
    pub heads: usize,
    /// Sum of the players' strengths.
    pub strength: f64,
}

impl TeamLoad {
    /// So many players, each of this strength.
    pub fn alike(heads: usize, each: f64) -> Self {
        Self {
            heads,
            strength: heads as f64 * each,
        }
    }
}

/// The factor from the unit of a normal distribution to that of the logistic distribution closest to it
/// (Camilli 1994).
const LOGISTIC: f64 = 1.702;

impl Link {
    /// The chance of the team with this edge, 0 to 1.
    pub fn chance(self, edge: f64) -> f64 {
        match self {
            Self::Normal => cdf(edge),
            Self::Logistic => 1.0 / (1.0 + libm::exp(-edge)),
        }
    }

    /// The edge of a team with this chance, which is limited to 1e-12 to 1 − 1e-12.
    pub fn edge(self, chance: f64) -> f64 {
        let chance = chance.clamp(1e-12, 1.0 - 1e-12);
        match self {
            Self::Normal => quantile(chance),
            Self::Logistic => libm::log(chance / (1.0 - chance)),
        }
    }

    /// The edge that changes the logarithm of the odds by 1, near an even chance.
    pub fn per_log_odds(self) -> f64 {
        match self {
            Self::Normal => 1.0 / LOGISTIC,
            Self::Logistic => 1.0,
        }
    }

    /// How even a game with this edge is, 0 to 1: the chance of the weaker team divided by that of
    /// the stronger one.
    pub fn evenness(self, edge: f64) -> f64 {
        let edge = edge.abs();
        match self {
            Self::Normal => {
                let behind = self.chance(-edge);
                behind / (1.0 - behind)
            }
            Self::Logistic => libm::exp(-edge),
        }
    }
}

impl WinModel {
    /// Whether all numbers are finite, and a stronger team has a larger edge.
    pub fn is_sound(&self) -> bool {
        let numbers = [self.per_strength, self.players, self.unit];
        let doubtful = self.deviation >= 0.0 && self.deviation.is_finite();
        let positive = |number: f64| number > 0.0 && number.is_finite();
        doubtful
            && numbers.into_iter().all(positive)
            && [
                self.per_head,
                self.per_log_size,
                self.side,
                self.company.per_friend,
            ]
            .iter()
            .all(|number| number.is_finite())
            && (0.0..=1.0).contains(&self.company.learned)
    }

    /// The win model of a rating system that learns strengths alone, without deviations, where the numbers of players
    /// and the sides do not matter. Each strength is assumed to have a standard deviation of half of
    /// [`unit`](Self::unit).
    pub fn of_strengths(
        link: Link,
        per_strength: f64,
        players: f64,
        crowding: Crowding,
        unit: f64,
    ) -> Self {
        Self {
            link,
            per_strength,
            players,
            crowding,
            per_head: 0.0,
            per_log_size: 0.0,
            side: 0.0,
            unit,
            deviation: per_strength * libm::sqrt(players) * unit / 2.0,
            company: Company::default(),
        }
    }

    /// The edge per unit of strength in a match of `players` players on both teams together.
    pub fn per_strength_at(&self, players: usize) -> f64 {
        let crowd = self.players / players.max(1) as f64;
        self.per_strength
            * match self.crowding {
                Crowding::None => 1.0,
                Crowding::Root => crowd.sqrt(),
                Crowding::Mean => crowd,
            }
    }

    /// The edge that the numbers of players add to the edge of the strengths.
    ///
    /// It is the learned edge, but at least so much that a larger team has the odds of its size if all players
    /// are as strong as the mean of both teams. The ratio of weights implies these odds, and players expect a
    /// larger team to be at least that much stronger. The mean counts because strengths are relative to an
    /// average newcomer: among weak players, the sum of the larger team is the smaller one. A team without
    /// players counts as a tenth of a player.
    pub fn heads(&self, one: TeamLoad, other: TeamLoad) -> f64 {
        let sizes = (one.heads, other.heads);
        if sizes.0 == sizes.1 {
            return 0.0;
        }
        let least = log_size(sizes.0.max(sizes.1), sizes.0.min(sizes.1)) * self.link.per_log_odds();
        let sign = if sizes.0 < sizes.1 { -1.0 } else { 1.0 };
        let learned = sign * self.learned_heads(sizes.0, sizes.1);
        sign * learned.max(least - sign * self.of_equals(one, other))
    }

    /// The edge of the strengths of these teams if all players are as strong as the mean of both.
    fn of_equals(&self, one: TeamLoad, other: TeamLoad) -> f64 {
        let players = one.heads + other.heads;
        let mean = (one.strength + other.strength) / players.max(1) as f64;
        let more = one.heads as f64 - other.heads as f64;
        self.per_strength_at(players) * mean * more
    }

    /// How far the players of one team are ahead of those of the other, as an edge: their strengths count
    /// from the mean of both teams, so that it does not matter which team has more players.
    pub fn edge_of_players(&self, one: TeamLoad, other: TeamLoad) -> f64 {
        self.per_strength_at(one.heads + other.heads) * (one.strength - other.strength)
            - self.of_equals(one, other)
    }

    /// The learned part of [`heads`](Self::heads), without its lower limit.
    pub fn learned_heads(&self, one: usize, other: usize) -> f64 {
        let more = one as f64 - other as f64;
        self.per_head * more + self.per_log_size * log_size(one, other)
    }

    /// The edge of one team over another, without that of the side of the map.
    pub fn edge(&self, one: TeamLoad, other: TeamLoad) -> f64 {
        let players = one.heads + other.heads;
        self.per_strength_at(players) * (one.strength - other.strength) + self.heads(one, other)
    }

    /// The strength from the weight 0 to the weight 100 in systems with strengths.
    pub fn range(&self) -> f64 {
        2.0 * UNITS * self.unit
    }

    /// How much of the weaker team's chance it may cost in a game of so many humans on two teams that nobody is always on
    /// the same side of the map. 0 where no side is worth anything, and in larger games: there, evenness comes first.
    pub fn price_of_sides(&self, humans: usize) -> f64 {
        /// Two against two have three splits, of which often only one counts as even; three against three have ten.
        const FEW: usize = 4;
        /// Chances of 45 % and 50 %: a player notices that less than being on the worse side in each game.
        const PRICE: f64 = 0.05;
        match self.side != 0.0 && humans <= FEW {
            true => PRICE,
            false => 0.0,
        }
    }

    /// The edge of the first of two teams over the second, with that of its side of the map.
    pub fn edge_of_first(&self, one: TeamLoad, other: TeamLoad) -> f64 {
        self.edge(one, other) + self.side
    }

    /// How even a game of these teams is, 0 to 1: the chance of the weaker of two teams divided by that
    /// of the stronger one. Of more than two teams, it is that of the strongest and the weakest in a game
    /// between these two alone, in which the side of the map does not count. O(teams²).
    pub fn evenness(&self, teams: &[TeamLoad]) -> f64 {
        self.link.evenness(self.largest_edge(teams))
    }

    /// The edge of the strongest team over the weakest in such a game; at least 0. O(teams²).
    pub fn largest_edge(&self, teams: &[TeamLoad]) -> f64 {
        if let &[one, other] = teams {
            return self.edge_of_first(one, other).abs();
        }
        let pairs = (0..teams.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let edges = pairs.map(|(a, b)| self.edge(teams[a], teams[b]).abs());
        edges.fold(0.0, f64::max)
    }

    /// The strength that is added to a player of this strength if their weight is multiplied by
    /// `multiplier`: an average player whose party has the multiplier 1.5 is one [`unit`](Self::unit) stronger.
    pub fn multiplied(&self, strength: f64, multiplier: f64) -> f64 {
        ((multiplier - 1.0) * (2.0 * self.unit + strength)).max(0.0)
    }

    /// The standard deviation of the strength of a player as uncertain as the mean player of this lineup.
    pub fn usual_deviation(&self) -> f64 {
        self.deviation / (self.per_strength * libm::sqrt(self.players))
    }

    /// The strength that a party adds to a player of this strength who has `friends` other members
    /// on the team. Before any match with parties, it follows from `multiplier`, the configured
    /// factor on the weight; as matches show the effect, the learned number replaces it.
    pub fn befriended(&self, strength: f64, friends: usize, multiplier: f64) -> f64 {
        let Company {
            per_friend,
            learned,
        } = self.company;
        per_friend * friends as f64 + (1.0 - learned) * self.multiplied(strength, multiplier)
    }
}

/// The number of [units](WinModel::unit) of strength from the weight 50 to the weight 100, for all rating systems and
/// for ever: a weight is 50 + 50 · strength / (6 units), and at least 0 and at most 100.
pub const UNITS: f64 = 6.0;

/// Chances that differ by less count as equal: no forecast is that exact, and no player notices.
pub const SAME_CHANCE: f64 = 0.02;

/// The chance of the weaker of two teams that are this even, 0 to 1/2.
pub fn chance_of_weaker(evenness: f64) -> f64 {
    evenness / (1.0 + evenness)
}

/// How even two teams are of which one has this chance, 0 to 1.
pub fn evenness_of_chance(chance: f64) -> f64 {
    let behind = chance.min(1.0 - chance);
    behind / (1.0 - behind)
}

/// The logarithm of the ratio of two teams' sizes. A team without players counts as a tenth of a player.
fn log_size(one: usize, other: usize) -> f64 {
    let size = |heads: usize| (heads as f64).max(0.1);
    libm::log(size(one) / size(other))
}

/// A player of a lineup to predict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineupPlayer {
    /// The identity by which predictions look up the player.
    pub key: PlayerKey,
    /// The number of the player's party, which only its members share; `None` without a party.
    pub party: Option<u32>,
    /// Whether the player is to command the team.
    pub commands: bool,
}

/// A player without a party who does not command.
impl From<PlayerKey> for LineupPlayer {
    fn from(key: PlayerKey) -> Self {
        Self {
            key,
            party: None,
            commands: false,
        }
    }
}

/// Density φ(x) of the standard normal.
pub fn pdf(x: f64) -> f64 {
    INV_SQRT_TAU * libm::exp(-0.5 * x * x)
}

/// Distribution function Φ(x) of the standard normal.
pub fn cdf(x: f64) -> f64 {
    0.5 * libm::erfc(-x * FRAC_1_SQRT_2)
}

/// Φ⁻¹ for a probability inside (0, 1), to about 1e-14.
///
/// A rational first approximation (Abramowitz and Stegun 26.2.23, error under 4.5e-4), then three
/// Newton steps.
pub fn quantile(p: f64) -> f64 {
    let tail = p.min(1.0 - p);
    let t = libm::sqrt(-2.0 * libm::log(tail));
    let top = 2.515_517 + t * (0.802_853 + t * 0.010_328);
    let bottom = 1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308));
    let mut x = top / bottom - t; // in the lower tail
    for _ in 0..3 {
        x -= (cdf(x) - tail) / pdf(x);
    }
    if p < 0.5 { x } else { -x }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn win_model(link: Link, crowding: Crowding) -> WinModel {
        WinModel {
            link,
            per_strength: 0.5,
            players: 8.0,
            crowding,
            per_head: 0.0,
            per_log_size: 0.0,
            side: 0.0,
            unit: 1.0,
            deviation: 0.0,
            company: Company::default(),
        }
    }

    #[test]
    fn evenness_is_the_quotient_of_the_chances() {
        for link in [Link::Normal, Link::Logistic] {
            assert_eq!(link.chance(0.0), 0.5);
            assert_eq!(link.evenness(0.0), 1.0);
            for edge in [-2.0_f64, 0.1, 1.0, 5.0] {
                let (ahead, behind) = (link.chance(edge.abs()), link.chance(-edge.abs()));
                assert!((link.evenness(edge) - behind / ahead).abs() < 1e-12);
            }
        }
        let odds = |p: f64| p / (1.0 - p);
        let edge = Link::Normal.per_log_odds() * 0.2;
        assert!((odds(Link::Normal.chance(edge)).ln() - 0.2).abs() < 0.02);
    }

    #[test]
    fn an_edge_has_its_chance() {
        for link in [Link::Normal, Link::Logistic] {
            for chance in [0.01, 0.4, 0.5, 0.9] {
                let edge = link.edge(chance);
                assert!((link.chance(edge) - chance).abs() < 1e-12);
                assert!((link.evenness(edge) - evenness_of_chance(chance)).abs() < 1e-9);
            }
            for edge in [-3.0, -0.1, 0.0, 2.5] {
                assert!((link.edge(link.chance(edge)) - edge).abs() < 1e-9);
            }
            assert!(link.edge(1.0).is_finite() && link.edge(0.0).is_finite());
        }
    }

    #[test]
    fn unknown_teams_are_as_even_as_their_sizes() {
        let logistic = win_model(Link::Logistic, Crowding::Root);
        let heads = |win_model: &WinModel, one, other| {
            win_model.heads(TeamLoad::alike(one, 0.0), TeamLoad::alike(other, 0.0))
        };
        assert!((logistic.link.evenness(heads(&logistic, 4, 1)) - 0.25).abs() < 1e-12);
        assert!((logistic.link.evenness(heads(&logistic, 5, 6)) - 5.0 / 6.0).abs() < 1e-12);
        assert_eq!(heads(&logistic, 3, 3), 0.0);
        assert_eq!(heads(&logistic, 2, 5), -heads(&logistic, 5, 2));
        let learned = WinModel {
            per_head: 1.0,
            ..logistic
        };
        assert_eq!(heads(&learned, 6, 5), 1.0, "more than ln 1.2");
    }

    #[test]
    fn seven_weak_players_are_as_even_as_seven_newcomers() {
        // The weight 27 is a strength of 6 · (27 − 50) / 50.
        let weak = 6.0 * (27.0 - 50.0) / 50.0;
        let win_model = win_model(Link::Normal, Crowding::Root);
        let edge = |each| win_model.edge(TeamLoad::alike(3, each), TeamLoad::alike(4, each));
        assert!((edge(weak) - edge(0.0)).abs() < 1e-12);
        assert!((win_model.link.chance(edge(weak)) - 0.43).abs() < 0.01);
    }

    proptest! {
        #[test]
        fn of_equally_strong_players_the_larger_team_is_the_favourite(
            (normal, crowd) in (any::<bool>(), 0..3usize),
            (per_strength, players) in (0.01..2.0f64, 2.0..32.0f64),
            (per_head, per_log_size) in (-1.0..1.0f64, -1.0..1.0f64),
            each in -12.0..12.0f64,
            (fewer, more) in (0..16usize, 1..8usize),
        ) {
            let link = if normal { Link::Normal } else { Link::Logistic };
            let crowding = [Crowding::None, Crowding::Root, Crowding::Mean][crowd];
            let win_model = WinModel { per_strength, players, per_head, per_log_size, ..win_model(link, crowding) };
            let (small, large) = (TeamLoad::alike(fewer, each), TeamLoad::alike(fewer + more, each));
            let odds = log_size(large.heads, small.heads) * link.per_log_odds();
            let edge = win_model.edge(large, small);
            prop_assert!(edge >= odds - 1e-9, "{edge} {odds}");
            prop_assert!((edge + win_model.edge(small, large)).abs() < 1e-9);
            prop_assert!(win_model.edge_of_players(large, small).abs() < 1e-9);
            // What was learned counts in full where it says that the larger team is ahead by that much.
            let learned = win_model.per_strength_at(small.heads + large.heads) * each * more as f64
                + win_model.learned_heads(large.heads, small.heads);
            prop_assert!((edge - learned.max(odds)).abs() < 1e-9, "{edge} {learned} {odds}");
        }

        #[test]
        fn a_stronger_player_never_harms_the_own_team(
            strengths in prop::collection::vec(-8.0..8.0f64, 2..12),
            cut in 1..11usize,
            by in 0.0..4.0f64,
            per_head in -1.0..1.0f64,
        ) {
            let win_model = WinModel { per_head, ..win_model(Link::Normal, Crowding::Root) };
            let cut = cut.min(strengths.len() - 1);
            let load = |team: &[f64]| TeamLoad { heads: team.len(), strength: team.iter().sum() };
            let (one, other) = (load(&strengths[..cut]), load(&strengths[cut..]));
            let stronger = TeamLoad { strength: one.strength + by, ..one };
            prop_assert!(win_model.edge(stronger, other) >= win_model.edge(one, other) - 1e-9);
            let equal = TeamLoad { heads: one.heads, ..other };
            let plain = win_model.per_strength_at(2 * one.heads) * (one.strength - equal.strength);
            prop_assert_eq!(win_model.edge(one, equal), plain + 0.0);
        }
    }

    #[test]
    fn one_player_counts_less_in_a_crowd() {
        let at = |crowding| win_model(Link::Normal, crowding).per_strength_at(32);
        assert_eq!(at(Crowding::None), 0.5);
        assert_eq!(at(Crowding::Root), 0.25);
        assert_eq!(at(Crowding::Mean), 0.125);
    }
}
