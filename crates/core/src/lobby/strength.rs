//! The sums of the teams' weights and strengths, while a decision tries humans on different teams.
//! Bots are added or removed to fill up the teams.

use super::{Snapshot, bots::Fill, team_sum::TeamSum, weights::Counted};
use crate::domain::{MAX_TEAMS, Outlook, TeamLoad};

/// Ratios closer than this count as equal: far less than players can notice, far more than rounding
/// errors.
pub(super) const EQUAL: f64 = 1e-9;

/// The sums over the players of each team.
#[derive(Clone, Debug)]
pub(super) struct TeamStrengths {
    sides: [TeamSum; MAX_TEAMS],
    teams: usize,
    fill: Fill,
    next_bot: Counted,
    /// Turns strengths into a chance; `None` if the game compares teams by the ratio of weights.
    outlook: Option<Outlook>,
}

impl TeamStrengths {
    /// The teams of a game. Humans without a team are left out.
    pub(super) fn of(snapshot: &Snapshot) -> Self {
        let mut sides = [TeamSum::default(); MAX_TEAMS];
        for (index, human) in snapshot.humans.iter().enumerate() {
            let team = human.team.map(usize::from);
            if let Some(side) = team.and_then(|team| sides.get_mut(team)) {
                side.humans += 1;
                side.counted = side.counted + snapshot.counted(index);
            }
        }
        for (index, bot) in snapshot.bots.iter().enumerate() {
            if let Some(side) = sides.get_mut(usize::from(bot.team)) {
                side.bots += 1;
                side.of_bots = side.of_bots + snapshot.counted_bot(index);
            }
        }
        let chance = snapshot.chance.as_ref();
        Self {
            sides,
            teams: usize::from(snapshot.teams).min(MAX_TEAMS),
            fill: snapshot.fill,
            next_bot: Counted {
                weight: snapshot.next_bot,
                strength: chance.map_or(0.0, |chance| chance.next_bot),
                variance: 0.0,
            },
            outlook: chance.map(|chance| chance.outlook),
        }
    }

    /// The teams, in order of their numbers.
    pub(super) fn sides(&self) -> &[TeamSum] {
        &self.sides[..self.teams]
    }

    /// Adds to a team `humans` humans whose weights and strengths sum up to `counted`. Returns the
    /// previous sums, with which [`restore`](Self::restore) undoes the change exactly.
    pub(super) fn add(&mut self, team: usize, humans: usize, counted: Counted) -> TeamSum {
        let before = self.sides[team];
        self.sides[team].humans += humans;
        self.sides[team].counted = before.counted + counted;
        before
    }

    /// Removes such humans from a team.
    pub(super) fn remove(&mut self, team: usize, humans: usize, counted: Counted) -> TeamSum {
        let before = self.sides[team];
        self.sides[team].humans = before.humans.saturating_sub(humans);
        self.sides[team].counted = Counted {
            weight: (before.counted.weight - counted.weight).max(0.0),
            strength: before.counted.strength - counted.strength,
            variance: before.counted.variance - counted.variance,
        };
        before
    }

    /// Undoes a change of `team`.
    pub(super) fn restore(&mut self, team: usize, before: TeamSum) {
        self.sides[team] = before;
    }

    /// Each team's weight with the present bots. O(teams).
    pub(super) fn present(&self) -> impl Iterator<Item = f64> + Clone {
        self.sides().iter().map(|side| side.present().weight)
    }

    /// The team that is most likely to win with the bots that play now; without a chance model, the one with
    /// the highest weight. `None` if several are equal, or all have no weight.
    pub(super) fn strongest(&self) -> Option<u8> {
        let sums = match self.by_chance() {
            true => self.edges_now(),
            false => self.present().collect(),
        };
        let most = sums.iter().copied().fold(0.0, f64::max);
        let mut strongest = (0u8..).zip(&sums);
        let mut strongest = strongest
            .by_ref()
            .filter(|(_, sum)| **sum >= most && most > 0.0);
        let (first, second) = (strongest.next(), strongest.next());
        first.filter(|_| second.is_none()).map(|(team, _)| team)
    }

    /// Whether all teams have as many players now.
    pub(super) fn are_of_one_size(&self) -> bool {
        let mut sizes = self.sides().iter().map(TeamSum::players);
        let first = sizes.next();
        sizes.all(|size| Some(size) == first)
    }

    /// The ratio with the present bots.
    pub(super) fn ratio_now(&self) -> f64 {
        ratio(self.present())
    }

    /// The ratio after bots have been added or removed. O(teams).
    pub(super) fn ratio_settled(&self) -> f64 {
        match self.settled_size() {
            None => self.ratio_now(),
            Some(size) => ratio(self.sides().iter().map(|side| {
                let wanted = size.saturating_sub(side.humans);
                side.counted.weight + side.bots_of(wanted, self.next_bot).weight
            })),
        }
    }

    /// How even the teams are with the bots that play now, 0 to 1: by their chances to win if the
    /// game compares teams by chances, otherwise by the ratio of their weights.
    pub(super) fn evenness_now(&self) -> f64 {
        match &self.outlook {
            None => self.ratio_now(),
            Some(outlook) => outlook.link.evenness(self.edge(outlook, None)),
        }
    }

    /// How even the teams are once bots have been added or removed. O(teams), or O(teams²) by
    /// chances.
    pub(super) fn evenness_settled(&self) -> f64 {
        self.evenness_of(self.monotone_settled())
    }

    /// A monotone function of the evenness, which is faster to compute: it grows with the evenness, and
    /// is 1 only if the evenness is 1.
    pub(super) fn monotone_settled(&self) -> f64 {
        match &self.outlook {
            None => self.ratio_settled(),
            Some(outlook) => 1.0 / (1.0 + self.edge(outlook, self.settled_size())),
        }
    }

    /// The evenness for a value of [`monotone_settled`](Self::monotone_settled).
    pub(super) fn evenness_of(&self, monotone: f64) -> f64 {
        match &self.outlook {
            None => monotone,
            Some(outlook) => outlook.link.evenness(1.0 / monotone - 1.0),
        }
    }

    /// Whether the evenness is by chances.
    pub(super) fn by_chance(&self) -> bool {
        self.outlook.is_some()
    }

    /// The edge of the strongest team over the weakest if every team has `size` players; with
    /// `None`, as the teams are.
    fn edge(&self, outlook: &Outlook, size: Option<usize>) -> f64 {
        outlook.largest_edge(&self.loads(size)[..self.teams])
    }

    /// How far each team is ahead of an average one with the bots that play now, by its strength, the
    /// number of its players and its side of the map; the edge of one team over another is the
    /// difference. Empty without a chance model.
    pub(super) fn edges_now(&self) -> Vec<f64> {
        let Some(outlook) = &self.outlook else {
            return Vec::new();
        };
        let loads = &self.loads(None)[..self.teams];
        let against = |one: &TeamLoad| {
            let others = loads.iter().map(|other| outlook.edge(*one, *other));
            others.sum::<f64>() / self.teams as f64
        };
        let mut edges: Vec<f64> = loads.iter().map(against).collect();
        if let [one, other] = &mut edges[..] {
            *one += outlook.side / 2.0;
            *other -= outlook.side / 2.0;
        }
        edges
    }

    /// How the edge of team 0 over team 1 is predicted once bots have been added or removed. `None`
    /// without a chance model, and for more than two teams.
    pub(super) fn edge_of_first(&self) -> Option<f64> {
        let outlook = self.outlook.as_ref().filter(|_| self.teams == 2)?;
        let [one, other, ..] = self.loads(self.settled_size());
        Some(outlook.edge_of_first(one, other))
    }

    /// The outlook, if the evenness is by chances.
    pub(super) fn outlook(&self) -> Option<&Outlook> {
        self.outlook.as_ref()
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
    fn settled_size(&self) -> Option<usize> {
        let humans = self.sides().iter().map(|side| side.humans);
        let largest = humans.clone().max().unwrap_or(0);
        self.fill.team_size(self.teams, humans.sum(), largest)
    }

    /// How many bots each team lacks; 0 if the bots stay as they are, or some will be removed.
    pub(super) fn missing_bots(&self) -> impl Iterator<Item = usize> {
        let size = self.settled_size().unwrap_or(0);
        self.sides()
            .iter()
            .map(move |side| size.saturating_sub(side.players()))
    }

    /// How many teams have nobody, even once bots have been added or removed.
    pub(super) fn empty_teams(&self) -> usize {
        let size = self.settled_size();
        let heads = |side: &&TeamSum| size.map_or(side.players(), |size| size.max(side.humans));
        self.sides().iter().filter(|side| heads(side) == 0).count()
    }

    /// How many humans too many there are: the sum, over the teams, of those by which a team outnumbers the
    /// smallest beyond `limit`.
    pub(super) fn excess(&self, limit: usize) -> usize {
        let least = self.sides().iter().map(|side| side.humans).min();
        let most = least.unwrap_or(0).saturating_add(limit);
        let sides = self.sides().iter();
        sides.map(|side| side.humans.saturating_sub(most)).sum()
    }

    /// By how many humans the largest team exceeds the smallest.
    pub(super) fn spread(&self) -> usize {
        let humans = self.sides().iter().map(|side| side.humans);
        let most = humans.clone().max().unwrap_or(0);
        most - humans.min().unwrap_or(0)
    }
}

/// The smallest sum over the largest, 0 to 1; 1 if all are 0 (UT2004 page, "Choosing teams").
pub(super) fn ratio(sums: impl Iterator<Item = f64> + Clone) -> f64 {
    let most = sums.clone().fold(0.0, f64::max);
    let least = sums.fold(f64::INFINITY, f64::min);
    if most > 0.0 { least / most } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lobby::snapshot::tests::{by_chance, robot, snapshot};

    #[test]
    fn bots_that_stay_are_themselves_and_others_are_means() {
        // 2 against 1 and two bots; 6 players are wanted, so each team needs one more bot.
        let mut game = snapshot(2, &[(10.0, 0), (20.0, 0), (30.0, 1)]);
        game.fill.wish = 6;
        game.bots = vec![robot(4.0, 1), robot(8.0, 1)];
        game.next_bot = 5.0;
        let mut strength = TeamStrengths::of(&game);
        let sums: Vec<f64> = strength.present().collect();
        assert_eq!(sums, [30.0, 42.0]);
        assert_eq!(strength.ratio_now(), 30.0 / 42.0);
        assert_eq!(
            strength.ratio_settled(),
            35.0 / 42.0,
            "one comes to the first team"
        );
        let late = Counted {
            weight: 25.0,
            ..Counted::default()
        };
        let before = strength.add(1, 1, late);
        // One of the second team's bots leaves: which one is unknown, so their mean of 6 does.
        assert_eq!(strength.ratio_settled(), 35.0 / 61.0);
        strength.restore(1, before);
        assert_eq!(strength.ratio_settled(), 35.0 / 42.0);
    }

    #[test]
    fn bots_that_are_off_stay() {
        let mut game = snapshot(2, &[(10.0, 0)]);
        game.bots = vec![robot(5.0, 1)];
        game.fill.wish = 8;
        game.fill.on = false;
        assert_eq!(TeamStrengths::of(&game).ratio_settled(), 0.5);
        game.fill.on = true;
        game.fill.min_humans = 2;
        assert_eq!(TeamStrengths::of(&game).ratio_settled(), 0.0, "they go");
    }

    /// The oracle of chances: from the formula of the documentation, without the types of this room.
    fn evenness_by_hand(strengths: [f64; 2], heads: [usize; 2]) -> f64 {
        let players = (heads[0] + heads[1]) as f64;
        let more = heads[0] as f64 - heads[1] as f64;
        let per_strength = 0.5 * (8.0 / players).sqrt();
        // If all were as strong as their mean, the larger team would have at least the odds of its size.
        let of_equals = per_strength * more * (strengths[0] + strengths[1]) / players;
        let least = (heads[0] as f64 / heads[1] as f64).ln() / 1.702 - of_equals;
        let by_heads = match more {
            0.0 => 0.0,
            m if m > 0.0 => least.max(0.2 * m),
            m => least.min(0.2 * m),
        };
        let edge = per_strength * (strengths[0] - strengths[1]) + by_heads + 0.05;
        let chance = 0.5 * libm::erfc(-edge / 2f64.sqrt());
        chance.min(1.0 - chance) / chance.max(1.0 - chance)
    }

    #[test]
    fn evenness_is_that_of_the_chances_with_the_heads_that_are_there() {
        let mut game = snapshot(2, &[(75.0, 0), (50.0, 0), (100.0, 1), (50.0, 9)]);
        game.fill.on = false;
        game.bots = vec![robot(25.0, 1)];
        let game = by_chance(game);
        let mut strength = TeamStrengths::of(&game);
        let expect = |strength: &TeamStrengths, strengths, heads| {
            let by_hand = evenness_by_hand(strengths, heads);
            let found = strength.evenness_settled();
            assert!((found - by_hand).abs() < 1e-9, "{found} {by_hand}");
            let monotone = strength.monotone_settled();
            assert!((strength.evenness_of(monotone) - by_hand).abs() < 1e-9);
        };
        expect(&strength, [1.0, 1.0], [2, 2]);
        assert!((strength.evenness_now() - strength.evenness_settled()).abs() < 1e-12);
        let late = Counted {
            weight: 50.0,
            ..Counted::default()
        };
        strength.add(0, 1, late);
        expect(&strength, [1.0, 1.0], [3, 2]);
        strength.remove(0, 1, late);
        strength.add(1, 1, late);
        expect(&strength, [1.0, 1.0], [2, 3]);
        // With a fourth bot on the first team, which the mean of those known is expected to be.
        let mut filled = game.clone();
        filled.fill.on = true;
        filled.fill.wish = 6;
        filled.humans[3].team = Some(1);
        let strength = TeamStrengths::of(&filled);
        expect(&strength, [1.0 - 2.0, 1.0], [3, 3]);
        assert_eq!(
            strength.ratio_settled(),
            125.0 / 175.0,
            "ratios stay ratios"
        );
    }

    #[test]
    fn four_against_one_is_not_even_by_any_chance() {
        let mut game = snapshot(2, &[(50.0, 0), (50.0, 0), (50.0, 0), (50.0, 0), (50.0, 1)]);
        game.fill.on = false;
        let mut game = by_chance(game);
        if let Some(chance) = &mut game.chance {
            chance.outlook.per_head = 0.0;
        }
        assert!(TeamStrengths::of(&game).evenness_now() < 0.26);
    }

    #[test]
    fn nothing_is_even() {
        assert_eq!(ratio([0.0, 0.0].into_iter()), 1.0);
        assert_eq!(ratio([0.0, 1.0].into_iter()), 0.0);
    }
}
