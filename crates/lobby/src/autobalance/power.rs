//! The power of each player and of each team.

use super::{Power, Situation};
use evenkeel_partition::{Counted, Fill, TeamSum, TeamSums};

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
        let outlook = view.chance.as_ref().map(|model| model.outlook);
        let outlook = outlook.filter(|_| rules.power == Power::Weight);
        let teams = usize::from(view.teams);
        let mut teams = TeamSums::new(teams, Fill::NONE, Counted::default(), outlook);
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
    use super::*;
    use crate::AutoBalanceRules;
    use crate::games::{robot, view};
    use evenkeel_partition::GameView;

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
