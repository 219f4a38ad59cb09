//! The sums over the players of each team, and how even the teams are by them: of the splits that BALANCE compares, and
//! of the teams that other decisions try. Bots are added or removed to fill up the teams.

use std::fmt;

use serde::{Deserialize, Serialize};

use evenkeel_model::{MAX_TEAMS, TeamLoad, WinModel, counted};

/// Ratios closer than this count as equal: far less than players can notice, far more than rounding
/// errors.
pub const EQUAL: f64 = 1e-9;

/// The numbers with which players count in a decision: their weight and, if chances are compared, their strength.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counted {
    /// The weight.
    pub weight: f64,
    /// The strength; 0 without chances.
    pub strength: f64,
    /// The variance of the strength.
    pub variance: f64,
}

impl std::ops::Add for Counted {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            weight: self.weight + other.weight,
            strength: self.strength + other.strength,
            variance: self.variance + other.variance,
        }
    }
}

impl std::iter::Sum for Counted {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| sum + one)
    }
}

/// The sums over the players of one team.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TeamSum {
    /// Number of humans.
    pub humans: usize,
    /// The sums over the humans.
    pub counted: Counted,
    /// Number of bots now.
    pub bots: usize,
    /// The sums over these bots.
    pub of_bots: Counted,
}

impl TeamSum {
    /// Number of players now, bots included.
    pub fn players(&self) -> usize {
        self.humans + self.bots
    }

    /// The sums over all present players.
    pub fn present(&self) -> Counted {
        self.counted + self.of_bots
    }

    /// The sums over the team's bots once there are `wanted` of them, of whom each new one counts as `next`. It is not
    /// known how sure the strengths of bots are.
    fn bots_of(&self, wanted: usize, next: Counted) -> Counted {
        let bots = BotsOnTeam::new(self.bots, wanted);
        Counted {
            weight: bots.sum(self.of_bots.weight, next.weight),
            strength: bots.sum(self.of_bots.strength, next.strength),
            variance: 0.0,
        }
    }
}

/// The sums over the players of each team.
#[derive(Clone, Debug)]
pub struct TeamSums {
    sides: [TeamSum; MAX_TEAMS],
    teams: usize,
    fill: Fill,
    next_bot: Counted,
    /// Turns strengths into a chance; `None` if the game compares teams by the ratio of weights.
    win_model: Option<WinModel>,
}

impl TeamSums {
    /// Teams without players, which bots `fill` up; each bot that comes counts as `next_bot`. By chances if there is an
    /// `win_model`.
    pub fn new(teams: usize, fill: Fill, next_bot: Counted, win_model: Option<WinModel>) -> Self {
        Self {
            sides: [TeamSum::default(); MAX_TEAMS],
            teams: teams.min(MAX_TEAMS),
            fill,
            next_bot,
            win_model,
        }
    }

    /// Adds to a team `bots` bots that are on it now; a team that does not exist gets none.
    pub fn add_bots(&mut self, team: usize, bots: usize, counted: Counted) {
        if let Some(side) = self.sides.get_mut(team) {
            side.bots += bots;
            side.of_bots = side.of_bots + counted;
        }
    }

    /// The teams, in order of their numbers.
    pub fn sides(&self) -> &[TeamSum] {
        &self.sides[..self.teams]
    }

    /// Adds to a team `humans` humans whose weights and strengths sum up to `counted`. Returns the
    /// previous sums, with which [`restore`](Self::restore) undoes the change exactly.
    pub fn add(&mut self, team: usize, humans: usize, counted: Counted) -> TeamSum {
        let before = self.sides[team];
        self.sides[team].humans += humans;
        self.sides[team].counted = before.counted + counted;
        before
    }

    /// Removes such humans from a team.
    pub fn remove(&mut self, team: usize, humans: usize, counted: Counted) -> TeamSum {
        let before = self.sides[team];
        self.sides[team].humans = before.humans.saturating_sub(humans);
        self.sides[team].counted = Counted {
            weight: (before.counted.weight - counted.weight).max(0.0),
            strength: before.counted.strength - counted.strength,
            variance: before.counted.variance - counted.variance,
        };
        before
    }

    /// Puts such humans on a team, from another one or from none.
    pub fn put(&mut self, from: Option<usize>, to: usize, humans: usize, counted: Counted) {
        if let Some(from) = from {
            self.remove(from, humans, counted);
        }
        self.add(to, humans, counted);
    }

    /// The number of humans on all teams.
    pub fn humans(&self) -> usize {
        self.sides().iter().map(|side| side.humans).sum()
    }

    /// The number of players on all teams now, bots included.
    pub fn players(&self) -> usize {
        self.sides().iter().map(TeamSum::players).sum()
    }

    /// Undoes a change of `team`.
    pub fn restore(&mut self, team: usize, before: TeamSum) {
        self.sides[team] = before;
    }

    /// Each team's weight with the present bots. O(teams).
    pub fn present(&self) -> impl Iterator<Item = f64> + Clone {
        self.sides().iter().map(|side| side.present().weight)
    }

    /// The team that is most likely to win with the bots that play now; without a chance model, the one with
    /// the highest weight. `None` if several are equal, or all have no weight.
    pub fn strongest(&self) -> Option<u8> {
        let sums = self.ahead_now();
        let most = sums.iter().copied().fold(0.0, f64::max);
        let mut strongest = (0u8..).zip(&sums);
        let mut strongest = strongest
            .by_ref()
            .filter(|(_, sum)| **sum >= most && most > 0.0);
        let (first, second) = (strongest.next(), strongest.next());
        first.filter(|_| second.is_none()).map(|(team, _)| team)
    }

    /// How strong each team is beside the others with the bots that play now: how far it is ahead of an average one, or its
    /// weight without a chance model.
    pub fn ahead_now(&self) -> Vec<f64> {
        match self.by_chance() {
            true => self.edges_now(),
            false => self.present().collect(),
        }
    }

    /// Whether all teams have as many players now.
    pub fn are_of_one_size(&self) -> bool {
        let mut sizes = self.sides().iter().map(TeamSum::players);
        let first = sizes.next();
        sizes.all(|size| Some(size) == first)
    }

    /// The ratio with the present bots.
    pub fn ratio_now(&self) -> f64 {
        ratio(self.present())
    }

    /// The same of two teams alone.
    pub fn ratio_between(&self, one: usize, other: usize) -> f64 {
        let sides = self.sides();
        ratio(
            [one, other]
                .map(|team| sides[team].present().weight)
                .into_iter(),
        )
    }

    /// Each team's weight after bots have been added or removed. O(teams).
    pub fn after_bot_fill(&self) -> impl Iterator<Item = f64> + Clone {
        let size = self.size_after_bot_fill();
        self.sides().iter().map(move |side| {
            let wanted = size.map_or(side.bots, |size| size.saturating_sub(side.humans));
            side.counted.weight + side.bots_of(wanted, self.next_bot).weight
        })
    }

    /// The ratio after bots have been added or removed. O(teams).
    pub fn ratio_after_bot_fill(&self) -> f64 {
        ratio(self.after_bot_fill())
    }

    /// How even the teams are with the bots that play now, 0 to 1: by their chances to win if the
    /// game compares teams by chances, otherwise by the ratio of their weights.
    pub fn evenness_now(&self) -> f64 {
        match &self.win_model {
            None => self.ratio_now(),
            Some(win_model) => win_model.link.evenness(self.edge(win_model, None)),
        }
    }

    /// How even the teams are once bots have been added or removed. O(teams), or O(teams²) by
    /// chances.
    pub fn evenness_after_bot_fill(&self) -> f64 {
        match &self.win_model {
            None => self.ratio_after_bot_fill(),
            Some(win_model) => win_model
                .link
                .evenness(self.edge(win_model, self.size_after_bot_fill())),
        }
    }

    /// A monotone function of the evenness, which is faster to compute: it grows with the evenness, and
    /// is 1 only if the evenness is 1.
    pub fn monotone_after_bot_fill(&self) -> f64 {
        match &self.win_model {
            None => self.ratio_after_bot_fill(),
            Some(win_model) => 1.0 / (1.0 + self.edge(win_model, self.size_after_bot_fill())),
        }
    }

    /// The evenness for a value of [`monotone_after_bot_fill`](Self::monotone_after_bot_fill).
    pub fn evenness_of(&self, monotone: f64) -> f64 {
        match &self.win_model {
            None => monotone,
            Some(win_model) => win_model.link.evenness(1.0 / monotone - 1.0),
        }
    }

    /// Whether the evenness is by chances.
    pub fn by_chance(&self) -> bool {
        self.win_model.is_some()
    }

    /// The edge of the strongest team over the weakest if every team has `size` players; with
    /// `None`, as the teams are.
    fn edge(&self, win_model: &WinModel, size: Option<usize>) -> f64 {
        win_model.largest_edge(&self.loads(size)[..self.teams])
    }

    /// How far each team is ahead of an average one with the bots that play now, by its strength, the
    /// number of its players and its side of the map; the edge of one team over another is the
    /// difference. Empty without a chance model.
    pub fn edges_now(&self) -> Vec<f64> {
        let Some(win_model) = &self.win_model else {
            return Vec::new();
        };
        let loads = &self.loads(None)[..self.teams];
        let against = |one: &TeamLoad| {
            let others = loads.iter().map(|other| win_model.edge(*one, *other));
            others.sum::<f64>() / self.teams as f64
        };
        let mut edges: Vec<f64> = loads.iter().map(against).collect();
        if let [one, other] = &mut edges[..] {
            *one += win_model.side / 2.0;
            *other -= win_model.side / 2.0;
        }
        edges
    }

    /// How the edge of team 0 over team 1 is predicted once bots have been added or removed. `None`
    /// without a chance model, and for more than two teams.
    pub fn edge_of_first(&self) -> Option<f64> {
        let win_model = self.win_model.as_ref().filter(|_| self.teams == 2)?;
        let [one, other, ..] = self.loads(self.size_after_bot_fill());
        Some(win_model.edge_of_first(one, other))
    }

    /// The chance of team 0 once bots have been added or removed. `None` without a chance model, and for more than two
    /// teams.
    pub fn chance_of_first(&self) -> Option<f64> {
        let win_model = self.win_model.as_ref()?;
        self.edge_of_first().map(|edge| win_model.link.chance(edge))
    }

    /// The win model, if the evenness is by chances.
    pub fn win_model(&self) -> Option<&WinModel> {
        self.win_model.as_ref()
    }

    /// The size and strength of each team if every team has `size` players; with `None`, as the teams
    /// are.
    fn loads(&self, size: Option<usize>) -> [TeamLoad; MAX_TEAMS] {
        let mut loads = [TeamLoad::default(); MAX_TEAMS];
        for (load, side) in loads.iter_mut().zip(self.sides()) {
            let bots = size.map_or(side.bots, |size| size.saturating_sub(side.humans));
            let strength = side.bots_of(bots, self.next_bot).strength;
            *load = TeamLoad {
                heads: side.humans + bots,
                strength: side.counted.strength + strength,
            };
        }
        loads
    }

    /// The size of every team once bots have filled it; `None` if the bots stay as they are.
    fn size_after_bot_fill(&self) -> Option<usize> {
        let humans = self.sides().iter().map(|side| side.humans);
        let largest = humans.clone().max().unwrap_or(0);
        self.fill.team_size(self.teams, humans.sum(), largest)
    }

    /// How many bots each team lacks; 0 if the bots stay as they are, or some will be removed.
    pub fn missing_bots(&self) -> impl Iterator<Item = usize> {
        let size = self.size_after_bot_fill().unwrap_or(0);
        self.sides()
            .iter()
            .map(move |side| size.saturating_sub(side.players()))
    }

    /// How many teams have nobody, even once bots have been added or removed.
    pub fn empty_teams(&self) -> usize {
        let size = self.size_after_bot_fill();
        let heads = |side: &&TeamSum| size.map_or(side.players(), |size| size.max(side.humans));
        self.sides().iter().filter(|side| heads(side) == 0).count()
    }

    /// How many humans too many there are: the sum, over the teams, of those by which a team outnumbers the
    /// smallest beyond `limit`.
    pub fn excess(&self, limit: usize) -> usize {
        let least = self.sides().iter().map(|side| side.humans).min();
        let most = least.unwrap_or(0).saturating_add(limit);
        let sides = self.sides().iter();
        sides.map(|side| side.humans.saturating_sub(most)).sum()
    }

    /// By how many humans the largest team exceeds the smallest.
    pub fn spread(&self) -> usize {
        let humans = self.sides().iter().map(|side| side.humans);
        let most = humans.clone().max().unwrap_or(0);
        most - humans.min().unwrap_or(0)
    }
}

/// The smallest sum over the largest, 0 to 1; 1 if all are 0 (UT2004 page, "Choosing teams").
pub fn ratio(sums: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = sums.clone().fold(0.0, f64::max);
    let least = sums.fold(f64::INFINITY, f64::min);
    if most > 0.0 { least / most } else { 1.0 }
}

/// What the number of bots depends on, besides the humans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fill {
    /// Whether bots fill up the teams. If not, the bots in the game stay.
    pub on: bool,
    /// The number of players that are wanted, bots included.
    pub wish: u32,
    /// The fewest and the most players that the map is made for.
    #[serde(rename = "level")]
    pub map_range: (u32, u32),
    /// The fewest humans for which a game gets bots.
    pub min_humans: u32,
}

impl Fill {
    /// The bots in the game stay.
    pub const NONE: Self = Self {
        on: false,
        wish: 0,
        map_range: (0, 0),
        min_humans: 0,
    };

    /// The number of players that are wanted, limited to the map's range.
    pub fn players(&self) -> u32 {
        let (min, max) = self.map_range;
        self.wish.clamp(min, max.max(min))
    }

    /// Whether a game with this many humans gets no bots.
    pub fn is_none(&self, humans: usize) -> bool {
        !self.on || humans < self.min_humans as usize
    }

    /// The least size of each team that bots fill, however few humans are on it.
    pub fn least_size(&self, teams: usize) -> usize {
        (self.players() as usize).div_ceil(teams.max(1))
    }

    /// The size of each team once bots have filled it, for `humans` in all and at most `largest` on
    /// one team:
    ///
    /// `max(round_up(clamp(wish, map_range), teams), largest · teams) / teams`
    ///
    /// (the Ideal Bot Counter of the UT2004 balancing page). `None` keeps the present bots; 0
    /// removes all.
    pub fn team_size(&self, teams: usize, humans: usize, largest: usize) -> Option<usize> {
        if self.is_none(humans) {
            return self.on.then_some(0);
        }
        Some(self.least_size(teams).max(largest))
    }
}

/// Formats the explanation of BOTS, one line.
impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            on,
            wish,
            map_range: (min, max),
            min_humans,
        } = self;
        if !on {
            return writeln!(f, "bots are off");
        }
        writeln!(
            f,
            "{}: {wish} are wanted, the map is made for {min} to {max}; games get bots from {} on",
            counted(self.players(), "player"),
            counted(*min_humans, "human")
        )
    }
}

/// The bots that are on a team now, and those that it will have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BotsOnTeam {
    there: usize,
    wanted: usize,
}

impl BotsOnTeam {
    /// `there` bots are on the team, and it will have `wanted`.
    pub fn new(there: usize, wanted: usize) -> Self {
        Self { there, wanted }
    }

    /// The number of bots that the team will have.
    pub fn count(self) -> usize {
        self.wanted
    }

    /// The sum of a number over the bots that the team will have: `there` is the sum over those on it
    /// now. It is unknown which bot the game removes, so each bot that leaves counts as the mean of
    /// those on the team; each one that is added counts as `next` (UT2004 page, "Late changes").
    pub fn sum(self, there: f64, next: f64) -> f64 {
        if self.wanted >= self.there {
            there + next * (self.wanted - self.there) as f64
        } else {
            there * (self.wanted as f64 / self.there as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_even() {
        assert_eq!(ratio([0.0, 0.0].into_iter()), 1.0);
        assert_eq!(ratio([0.0, 1.0].into_iter()), 0.0);
    }
}
