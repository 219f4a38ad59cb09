//! The power of each player and of each team.

use super::{AutoBalanceRules, Power};
use crate::partition::{BotInGame, GameView};

/// The powers of all players and teams of a game.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Powers {
    /// Each human's power; 0 for humans without a team.
    pub(super) humans: Vec<f64>,
    /// Each team's power, bots included.
    pub(super) teams: Vec<f64>,
    /// Number of players on each team, bots included.
    pub(super) sizes: Vec<usize>,
}

/// A player on a team, for ranking.
struct PlayerOnTeam {
    weight: f64,
    points: f64,
    team: usize,
    human: Option<usize>,
}

impl Powers {
    /// The powers of all players on a team, and of the bots that are `coming`.
    /// O(players · log players).
    pub(super) fn of(view: &GameView, coming: &[BotInGame], rules: &AutoBalanceRules) -> Self {
        let players = players(view, coming);
        let base = f64::from(rules.rank_base.get());
        let power: Vec<f64> = match rules.power {
            Power::Weight => players.iter().map(|player| player.weight).collect(),
            Power::Rank => ranks(&players, base),
            Power::RankAndPoints => {
                let by_points = point_ranks(&players, base);
                let both = ranks(&players, base).into_iter().zip(by_points);
                both.map(|(rank, points)| (rank + points) / 2.0).collect()
            }
        };
        let mut humans = vec![0.0; view.humans.len()];
        let mut teams = vec![0.0; usize::from(view.teams)];
        let mut sizes = vec![0; usize::from(view.teams)];
        for (player, power) in players.iter().zip(power) {
            teams[player.team] += power;
            sizes[player.team] += 1;
            if let Some(human) = player.human {
                humans[human] = power;
            }
        }
        Self {
            humans,
            teams,
            sizes,
        }
    }

    /// The number of players on this team.
    pub(super) fn size(&self, team: u8) -> usize {
        self.sizes[usize::from(team)]
    }

    /// By how many players the largest team exceeds the smallest.
    pub(super) fn spread(&self) -> usize {
        let most = self.sizes.iter().max().copied().unwrap_or(0);
        most - self.sizes.iter().min().copied().unwrap_or(0)
    }

    /// The powers of the two teams with this human of the first on the second.
    pub(super) fn after(&self, who: usize, (from, to): (u8, u8)) -> (f64, f64) {
        let power = self.humans[who];
        let of = |team: u8| self.teams[usize::from(team)];
        (of(from) - power, of(to) + power)
    }
}

fn players(view: &GameView, coming: &[BotInGame]) -> Vec<PlayerOnTeam> {
    let humans = view.humans.iter().enumerate();
    let humans = humans.filter_map(|(index, human)| {
        Some(PlayerOnTeam {
            weight: view.counted(index).weight,
            points: human.points,
            team: usize::from(human.team?),
            human: Some(index),
        })
    });
    let bots = view.bots.iter().chain(coming).map(|bot| PlayerOnTeam {
        weight: bot.weight,
        points: bot.points,
        team: usize::from(bot.team),
        human: None,
    });
    let teams = usize::from(view.teams);
    humans
        .chain(bots)
        .filter(|player| player.team < teams)
        .collect()
}

/// `sortedPower` of Sector's Edge: each player's index in ascending order of weight, plus `base`.
/// Players with equal weights get the mean of their indices, so that the order of joining does not
/// matter.
fn ranks(players: &[PlayerOnTeam], base: f64) -> Vec<f64> {
    let mut rank = vec![0.0; players.len()];
    let order = sorted(players, |player| player.weight);
    for (place, &player) in order.iter().enumerate() {
        rank[player] = base + place as f64;
    }
    share_among_equals(&mut rank, &order, |player| players[player].weight);
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
    use super::*;
    use crate::partition::view::tests::{robot, view};

    /// The page's two listings, computed by hand.
    #[test]
    fn ranks_of_the_page() {
        let mut game = view(2, &[(16.0, 0), (2.0, 1), (9.0, 0), (24.0, 1)]);
        for (human, points) in game.humans.iter_mut().zip([0.0, 40.0, 10.0, 0.0]) {
            human.points = points;
        }
        let rules = |power| AutoBalanceRules {
            power,
            ..AutoBalanceRules::sectors_edge()
        };
        let rank = Powers::of(&game, &[], &rules(Power::Rank));
        assert_eq!(rank.humans, [7.0, 5.0, 6.0, 8.0]);
        assert_eq!(rank.teams, [13.0, 13.0]);
        // By points: a and d have none and count 5; c is the first with points, b the next.
        let both = Powers::of(&game, &[], &rules(Power::RankAndPoints));
        assert_eq!(both.humans, [6.0, 5.5, 5.5, 6.5]);
        let weight = Powers::of(&game, &[], &rules(Power::Weight));
        assert_eq!(weight.teams, [25.0, 26.0]);
    }

    #[test]
    fn equals_have_their_mean_rank() {
        let game = view(2, &[(50.0, 0), (50.0, 1), (90.0, 0), (50.0, 1)]);
        let rules = AutoBalanceRules {
            power: Power::Rank,
            ..AutoBalanceRules::sectors_edge()
        };
        assert_eq!(Powers::of(&game, &[], &rules).humans, [6.0, 6.0, 8.0, 6.0]);
    }

    #[test]
    fn bots_are_players_and_those_on_no_team_are_not() {
        let mut game = view(2, &[(10.0, 0), (99.0, 9)]);
        game.bots = vec![robot(5.0, 1)];
        let powers = Powers::of(
            &game,
            &[],
            &AutoBalanceRules {
                power: Power::Rank,
                ..AutoBalanceRules::sectors_edge()
            },
        );
        assert_eq!(powers.humans, [6.0, 0.0]);
        assert_eq!(powers.teams, [6.0, 5.0]);
        assert_eq!(powers.sizes, [1, 1]);
    }
}
