//! The rules of auto-balance: when teams are unbalanced, by the power of each player and of each team; which humans may then
//! be moved; and whose turn it is: of a team, newcomers go last if they are spared, and the best before them.

use std::fmt;

use evenkeel_model::{
    text::counted,
    units::{Count, MaxDifference, PositiveAmount, Share, UpToADay},
    win_model::chance_of_weaker,
    worded,
};
use evenkeel_partition::{
    TeamSums,
    sums::{Counted, Fill, TeamSum},
    view::MoveBlock,
};
use serde::{Deserialize, Serialize};

use super::{AutoBalance, Situation, StayReason};

/// The rules that auto-balance applies.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AutoBalanceRules {
    /// Whether auto-balance moves humans at all.
    #[serde(default = "on")]
    pub on: bool,
    /// No human is moved if the remaining time of play is less than this.
    pub quiet_end_seconds: UpToADay,
    /// The difference of sizes up to which teams are balanced, whatever their power.
    pub like_sizes: MaxDifference,
    /// Sizes that are unbalanced whatever the power: at least the first number of players against
    /// at most the second. Where `like_sizes` is a number, all sizes that differ by more than it, and
    /// by more than one, are unbalanced as well.
    pub lopsided: Lopsided,
    /// The difference of power from which on teams are unbalanced, in the unit of `gap_of`.
    pub gap: PositiveAmount,
    /// The unit of `gap`: points of power, or a share of the weaker team's power.
    pub gap_of: GapUnit,
    /// How a player's power is measured.
    pub power: Power,
    /// The power of the weakest player if it is measured by rank; above 0, each player counts.
    pub rank_base: Count<0, 1_000>,
    /// How long the teams must have been unbalanced before a human is moved.
    pub delay_seconds: UpToADay,
    /// The share of a team that may be moved, from the lowest points upwards, rounded down.
    pub movable_share: Share,
    /// Whether each human is moved at most once per game.
    pub once: bool,
    /// Whether newcomers are moved only if no others of their team may be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub spare_newcomers: bool,
    /// Which human is moved.
    pub choice: MoveRule,
}

/// The unit of a difference of the teams' powers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GapUnit {
    /// Points of power: the stronger team has at least this many more.
    Points,
    /// A share of the weaker team's power: the stronger team exceeds it by more than this share.
    Share,
}

/// Team sizes that are unbalanced: up to 128 pairs of the larger and the smaller number.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Vec<(usize, usize)>")]
pub struct Lopsided(pub Vec<(usize, usize)>);

impl TryFrom<Vec<(usize, usize)>> for Lopsided {
    type Error = &'static str;

    fn try_from(sizes: Vec<(usize, usize)>) -> Result<Self, Self::Error> {
        if sizes.len() <= 128 && sizes.iter().all(|(larger, smaller)| larger > smaller) {
            Ok(Self(sizes))
        } else {
            Err("must be up to 128 pairs, the larger number first")
        }
    }
}

fn on() -> bool {
    true
}

/// How a player's power is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Power {
    /// The player's weight. Where the game compares teams by their chances to win
    /// (`[balance] objective`), these decide instead of sums of weights.
    Weight,
    /// The player's rank by weight among all players; the lowest has `rank_base`.
    Rank,
    /// The mean of the rank by weight and the rank by current points.
    RankAndPoints,
}

/// Which human is moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MoveRule {
    /// The first human of the stronger team who dies, unless the move makes the other team too
    /// strong.
    WhoDies,
    /// The human whose move brings the teams closest together, when they die; then the next one.
    Closest,
}

impl AutoBalanceRules {
    /// The rules of Sector's Edge, as published (version 1.2.2, with points).
    pub fn sectors_edge() -> Self {
        Self {
            on: true,
            quiet_end_seconds: const { UpToADay::of(180) },
            like_sizes: const { MaxDifference::of(1) },
            lopsided: Lopsided(vec![(2, 0), (3, 1), (4, 2)]),
            gap: const { PositiveAmount::of(10.0) },
            gap_of: GapUnit::Points,
            power: Power::RankAndPoints,
            rank_base: const { Count::of(5) },
            delay_seconds: const { UpToADay::of(20) },
            movable_share: const { Share::of(0.67) },
            once: true,
            spare_newcomers: false,
            choice: MoveRule::WhoDies,
        }
    }

    /// Rules that a player of Sector's Edge proposed: teams are unbalanced if their weights differ
    /// by more than 20 %, and of the humans who are in no party, the one whose move brings the
    /// weights closest together is moved.
    pub fn players_proposal() -> Self {
        Self {
            like_sizes: MaxDifference::OFF,
            lopsided: Lopsided(Vec::new()),
            gap: const { PositiveAmount::of(0.20) },
            gap_of: GapUnit::Share,
            power: Power::Weight,
            delay_seconds: const { UpToADay::of(0) },
            movable_share: const { Share::of(1.0) },
            once: false,
            choice: MoveRule::Closest,
            ..Self::sectors_edge()
        }
    }

    /// Whether teams may not stay so many players apart, whatever their powers: two more players are worse than any
    /// difference of power. Never where the operator says that sizes do not count.
    pub(super) fn are_apart(&self, players: usize) -> bool {
        let like = self.like_sizes.get();
        like.is_some_and(|like| players > like.max(1))
    }

    /// Whether a team with power `strong` is too strong for one with power `weak`.
    pub(super) fn is_gap(&self, strong: f64, weak: f64) -> bool {
        let gap = self.gap.get();
        match self.gap_of {
            GapUnit::Points => strong - weak >= gap,
            GapUnit::Share => strong > weak * (1.0 + gap),
        }
    }

    /// Whether a move makes the other team too strong: with the powers after the move, the
    /// difference exceeds the gap. A difference of exactly the gap is allowed.
    pub(super) fn tips(&self, strong: f64, weak: f64) -> bool {
        let gap = self.gap.get();
        match self.gap_of {
            GapUnit::Points => strong - weak > gap,
            GapUnit::Share => strong > weak * (1.0 + gap),
        }
    }
}

/// The rules of Sector's Edge.
impl Default for AutoBalanceRules {
    fn default() -> Self {
        Self::sectors_edge()
    }
}

/// When the turn of a human of a team comes; a lesser one goes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MoveTurn {
    /// Nothing is against their move.
    First,
    /// They are among the best of those who are not spared.
    Top,
    /// They are a newcomer, newcomers are spared, and others may be moved.
    Newcomer,
}

impl MoveTurn {
    /// Why a human waits for those whose turn is first.
    pub(super) fn reason(self) -> Option<StayReason> {
        match self {
            MoveTurn::First => None,
            MoveTurn::Top => Some(StayReason::Held(MoveBlock::Top)),
            MoveTurn::Newcomer => Some(StayReason::Newcomer),
        }
    }
}

/// The turns of the humans of a team who may be moved.
pub(super) struct MoveOrder {
    /// Those who go first.
    pub(super) first: Vec<usize>,
    /// Those who go last.
    last: Vec<usize>,
}

impl MoveOrder {
    pub(super) fn turn(&self, who: usize) -> MoveTurn {
        match (self.last.contains(&who), self.first.contains(&who)) {
            (true, _) => MoveTurn::Newcomer,
            (false, true) => MoveTurn::First,
            (false, false) => MoveTurn::Top,
        }
    }
}

impl AutoBalance {
    /// The turns of these humans of one team. As many go first as if nobody were spared, as far as there are others than
    /// newcomers. If all are newcomers, they go like anybody else.
    pub(super) fn order(&self, movable: Vec<usize>) -> MoveOrder {
        let (view, rules) = (&self.situation.view, &self.situation.rules);
        let all = movable.len();
        let is_spared = |who: &usize| rules.spare_newcomers && view.humans[*who].newcomer;
        let (spared, others): (Vec<usize>, Vec<usize>) = movable.into_iter().partition(is_spared);
        let (last, others) = match others.is_empty() {
            true => (others, spared),
            false => (spared, others),
        };
        // The share of all, as a share of the others. Where nobody is spared, it is exactly that of the rules.
        let share = rules.movable_share.get() * (all as f64 / others.len().max(1) as f64);
        MoveOrder {
            first: view.lower_share(others, share),
            last,
        }
    }
}

/// Whether the teams are balanced, and why.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Assessment {
    /// No human needs to move, for this reason.
    Balanced(Calm),
    /// A human of the stronger team should move.
    Unbalanced {
        /// The team that is too strong.
        strong: u8,
        /// The team that is too weak.
        weak: u8,
        /// Why the teams are unbalanced.
        cause: ImbalanceCause,
    },
}

worded! {
    /// Why no human needs to move.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum Calm {
        /// The operator has turned auto-balance off.
        Off = "auto-balance is off",
        /// In this game type the players choose their teams themselves.
        Tournament = "the game is a tournament",
        /// The remaining time of play is less than the rules require.
        NearlyOver = "too little play time is left",
        /// The teams' sizes are nearly equal.
        LikeSizes = "nearly equal sizes",
        /// The teams' powers are nearly equal.
        LikePowers = "nearly equal powers",
        /// The chances to win are nearly equal.
        LikeChances = "nearly equal chances",
    }
}

/// Why teams are unbalanced.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImbalanceCause {
    /// By size: the number of players on the larger and on the smaller team.
    Sizes(usize, usize),
    /// By power: that of the stronger and of the weaker team.
    Powers(f64, f64),
    /// By the chances to win: that of the stronger and of the weaker team.
    Chances(f64, f64),
}

impl Situation {
    pub(super) fn powers(&self) -> Powers {
        Powers::of(self)
    }

    /// Whether the teams are balanced.
    pub(crate) fn assess(&self) -> Assessment {
        self.judge(&self.powers())
    }

    /// Checks the exceptions first, in the order in which Sector's Edge lists them; then sizes,
    /// then power. With more than two teams, compares the largest with the smallest, or the
    /// strongest with the weakest.
    pub(super) fn judge(&self, powers: &Powers) -> Assessment {
        let rules = &self.rules;
        if !rules.on {
            return Assessment::Balanced(Calm::Off);
        }
        if self.tournament {
            return Assessment::Balanced(Calm::Tournament);
        }
        if self
            .left
            .is_some_and(|left| left < rules.quiet_end_seconds.millis())
        {
            return Assessment::Balanced(Calm::NearlyOver);
        }
        let sizes = powers.sizes();
        let (large, most) = extreme(sizes.clone(), |a, b| a > b);
        let (small, fewest) = extreme(sizes, |a, b| a < b);
        if rules
            .like_sizes
            .get()
            .is_some_and(|like| most - fewest <= like)
        {
            return Assessment::Balanced(Calm::LikeSizes);
        }
        let lopsided = |&(many, few): &(usize, usize)| most >= many && fewest <= few;
        if rules.are_apart(most - fewest) || most > fewest && rules.lopsided.0.iter().any(lopsided)
        {
            return Assessment::Unbalanced {
                strong: large,
                weak: small,
                cause: ImbalanceCause::Sizes(most, fewest),
            };
        }
        let teams = &powers.teams;
        let ahead = teams.ahead_now();
        let (strong, most) = extreme(ahead.iter().copied(), |a, b| a > b);
        let (weak, least) = extreme(ahead.iter().copied(), |a, b| a < b);
        match (self.is_too_strong(teams, strong, weak), teams.by_chance()) {
            (false, true) => Assessment::Balanced(Calm::LikeChances),
            (false, false) => Assessment::Balanced(Calm::LikePowers),
            (true, by_chance) => Assessment::Unbalanced {
                strong,
                weak,
                cause: match chance_of_weaker(teams.evenness_now()) {
                    little if by_chance => ImbalanceCause::Chances(1.0 - little, little),
                    _ => ImbalanceCause::Powers(most, least),
                },
            },
        }
    }

    /// Whether one team is too strong for another one: by its power, or where chances decide by its edge. A share is that
    /// by which its odds exceed even ones then; points are those by which its players' weights exceed the others'.
    pub(super) fn is_too_strong(&self, teams: &TeamSums, strong: u8, weak: u8) -> bool {
        let ahead = teams.ahead_now();
        let [most, least] = [strong, weak].map(|team| ahead[usize::from(team)]);
        let (edge, gap) = (most - least, self.rules.gap.get());
        match (teams.win_model(), self.rules.gap_of) {
            _ if strong == weak => false,
            (None, _) => self.rules.is_gap(most, least),
            (Some(win_model), GapUnit::Share) => win_model.link.evenness(edge) * (1.0 + gap) < 1.0,
            (Some(win_model), GapUnit::Points) => {
                let per_strength = win_model.per_strength_at(teams.players());
                edge >= per_strength * win_model.range() * gap / 100.0
            }
        }
    }
}

/// The first team whose value is extreme, and that value: no other value is `beyond` it.
fn extreme<T: Copy + Default>(
    values: impl Iterator<Item = T>,
    beyond: impl Fn(T, T) -> bool,
) -> (u8, T) {
    let teams = (0u8..).zip(values);
    let found = teams.reduce(|best, next| if beyond(next.1, best.1) { next } else { best });
    found.unwrap_or_default()
}

impl fmt::Display for Assessment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (strong, weak, cause) = match self {
            Assessment::Balanced(calm) => return write!(f, "balanced: {calm}"),
            Assessment::Unbalanced {
                strong,
                weak,
                cause,
            } => (strong, weak, cause),
        };
        write!(
            f,
            "unbalanced: team {strong} is too strong for team {weak}, "
        )?;
        match cause {
            ImbalanceCause::Sizes(many, few) => write!(f, "{} to {few}", counted(*many, "player")),
            ImbalanceCause::Powers(much, little) => write!(f, "power {much:.3} to {little:.3}"),
            ImbalanceCause::Chances(much, little) => write!(f, "chances {much:.3} to {little:.3}"),
        }
    }
}

/// The powers of all players and teams of a game, with the bots that are there or coming. Where the rules go by weight and
/// the game compares chances, these decide instead of powers.
#[derive(Clone, Debug)]
pub(super) struct Powers {
    /// What each human counts, whose weight is their power; nothing for humans without a team.
    pub(super) humans: Vec<Counted>,
    /// The sums of the teams.
    pub(super) teams: TeamSums,
}

/// A player on a team, for ranking.
struct PlayerOnTeam {
    counted: Counted,
    points: f64,
    team: usize,
    human: Option<usize>,
}

impl Powers {
    /// The powers of all players on a team, and of the bots that are coming. O(players · log players).
    pub(super) fn of(situation: &Situation) -> Self {
        let Situation { view, rules, .. } = situation;
        let players = players(situation);
        let base = f64::from(rules.rank_base.get());
        let power: Vec<f64> = match rules.power {
            Power::Weight => players.iter().map(|player| player.counted.weight).collect(),
            Power::Rank => ranks(&players, base),
            Power::RankAndPoints => {
                let by_points = point_ranks(&players, base);
                let both = ranks(&players, base).into_iter().zip(by_points);
                both.map(|(rank, points)| (rank + points) / 2.0).collect()
            }
        };
        let win_model = view.chance.as_ref().map(|model| model.win_model);
        let win_model = win_model.filter(|_| rules.power == Power::Weight);
        let teams = usize::from(view.teams);
        let mut teams = TeamSums::new(teams, Fill::NONE, Counted::default(), win_model);
        let mut humans = vec![Counted::default(); view.humans.len()];
        for (player, power) in players.iter().zip(power) {
            let counted = Counted {
                weight: power,
                ..player.counted
            };
            match player.human {
                Some(human) => {
                    humans[human] = counted;
                    teams.add(player.team, 1, counted);
                }
                None => teams.add_bots(player.team, 1, counted),
            }
        }
        Self { humans, teams }
    }

    /// The number of players on each team.
    pub(super) fn sizes(&self) -> impl Iterator<Item = usize> + Clone {
        self.teams.sides().iter().map(TeamSum::players)
    }

    /// The number of players on this team.
    pub(super) fn size(&self, team: u8) -> usize {
        self.teams.sides()[usize::from(team)].players()
    }

    /// The power of this team.
    pub(super) fn team(&self, team: u8) -> f64 {
        self.teams.sides()[usize::from(team)].present().weight
    }

    /// By how many players the largest team exceeds the smallest.
    pub(super) fn spread(&self) -> usize {
        self.sizes().max().unwrap_or(0) - self.sizes().min().unwrap_or(0)
    }

    /// The powers of the two teams with this human of the first on the second.
    pub(super) fn after(&self, who: usize, (from, to): (u8, u8)) -> (f64, f64) {
        let power = self.humans[who].weight;
        (self.team(from) - power, self.team(to) + power)
    }
}

fn players(situation: &Situation) -> Vec<PlayerOnTeam> {
    let view = &situation.view;
    let humans = view.humans.iter().enumerate();
    let humans = humans.filter_map(|(index, human)| {
        Some(PlayerOnTeam {
            counted: view.counted(index),
            points: human.points,
            team: usize::from(human.team?),
            human: Some(index),
        })
    });
    let bots = (0..view.bots.len()).map(|at| (&view.bots[at], view.counted_bot(at)));
    let next = view.counted_next_bot();
    let coming = situation.coming.iter().map(|bot| {
        let weight = bot.weight;
        (bot, Counted { weight, ..next })
    });
    let bots = bots.chain(coming).map(|(bot, counted)| PlayerOnTeam {
        counted,
        points: bot.points,
        team: usize::from(bot.team),
        human: None,
    });
    let teams = usize::from(view.teams);
    let all = humans.chain(bots);
    all.filter(|player| player.team < teams).collect()
}

/// `sortedPower` of Sector's Edge: each player's index in ascending order of weight, plus `base`.
/// Players with equal weights get the mean of their indices, so that the order of joining does not
/// matter.
fn ranks(players: &[PlayerOnTeam], base: f64) -> Vec<f64> {
    let mut rank = vec![0.0; players.len()];
    let order = sorted(players, |player| player.counted.weight);
    for (place, &player) in order.iter().enumerate() {
        rank[player] = base + place as f64;
    }
    share_among_equals(&mut rank, &order, |player| players[player].counted.weight);
    rank
}

/// Gives players with equal keys, who are neighbours in `order`, the mean of their ranks.
fn share_among_equals(rank: &mut [f64], order: &[usize], key: impl Fn(usize) -> f64) {
    for equals in order.chunk_by(|&a, &b| key(a).total_cmp(&key(b)).is_eq()) {
        let sum: f64 = equals.iter().map(|&player| rank[player]).sum();
        let mean = sum / equals.len() as f64;
        equals.iter().for_each(|&player| rank[player] = mean);
    }
}

/// `sortedPointsPower` of Sector's Edge: the same by points, except that the index only increases
/// after players with points, so that all players with 0 points, and the first one with more, get
/// `base`.
fn point_ranks(players: &[PlayerOnTeam], base: f64) -> Vec<f64> {
    let mut rank = vec![0.0; players.len()];
    let mut current = base;
    let order = sorted(players, |player| player.points);
    for &player in &order {
        rank[player] = current;
        if players[player].points > 0.0 {
            current += 1.0;
        }
    }
    share_among_equals(&mut rank, &order, |player| players[player].points);
    rank
}

fn sorted(players: &[PlayerOnTeam], key: impl Fn(&PlayerOnTeam) -> f64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..players.len()).collect();
    order.sort_by(|&a, &b| key(&players[a]).total_cmp(&key(&players[b])));
    order
}

#[cfg(test)]
mod tests {
    use evenkeel_partition::GameView;

    use super::*;
    use crate::{
        autobalance::AutoBalanceRules,
        games::{robot, view},
    };

    fn powers(view: &GameView, power: Power) -> Powers {
        Powers::of(&Situation {
            view: view.clone(),
            coming: Vec::new(),
            left: None,
            tournament: false,
            rules: AutoBalanceRules {
                power,
                ..AutoBalanceRules::sectors_edge()
            },
        })
    }

    fn humans(powers: &Powers) -> Vec<f64> {
        powers.humans.iter().map(|human| human.weight).collect()
    }

    /// The page's two listings, computed by hand.
    #[test]
    fn ranks_of_the_page() {
        let mut game = view(2, &[(16.0, 0), (2.0, 1), (9.0, 0), (24.0, 1)]);
        for (human, points) in game.humans.iter_mut().zip([0.0, 40.0, 10.0, 0.0]) {
            human.points = points;
        }
        let rank = powers(&game, Power::Rank);
        assert_eq!(humans(&rank), [7.0, 5.0, 6.0, 8.0]);
        assert_eq!([0, 1].map(|team| rank.team(team)), [13.0, 13.0]);
        // By points: a and d have none and count 5; c is the first with points, b the next.
        let both = powers(&game, Power::RankAndPoints);
        assert_eq!(humans(&both), [6.0, 5.5, 5.5, 6.5]);
        let weight = powers(&game, Power::Weight);
        assert_eq!([0, 1].map(|team| weight.team(team)), [25.0, 26.0]);
    }

    #[test]
    fn equals_have_their_mean_rank() {
        let game = view(2, &[(50.0, 0), (50.0, 1), (90.0, 0), (50.0, 1)]);
        assert_eq!(humans(&powers(&game, Power::Rank)), [6.0, 6.0, 8.0, 6.0]);
    }

    #[test]
    fn bots_are_players_and_those_on_no_team_are_not() {
        let mut game = view(2, &[(10.0, 0), (99.0, 9)]);
        game.bots = vec![robot(5.0, 1)];
        let powers = powers(&game, Power::Rank);
        assert_eq!(humans(&powers), [6.0, 0.0]);
        assert_eq!([0, 1].map(|team| powers.team(team)), [6.0, 5.0]);
        assert!(powers.sizes().eq([1, 1]));
    }
}
