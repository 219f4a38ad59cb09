//! A team game at one moment, as plain data: everything that a decision depends on.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ChanceModel, Conduct};
use crate::{
    domain::{MAX_PLAYERS, MAX_TEAMS, Naming, units::Factor, worded},
    partition::{Counted, Fill, TeamSums, party_factor},
};

/// Who plays on which team, with their weights. A [`Lobby`](super::Lobby) makes it; it is stored
/// with the decision, so that the decision can be replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Number of teams, 2 to 8. Teams are counted from 0.
    pub teams: u8,
    /// The humans, in the order in which they joined.
    pub humans: Vec<HumanInGame>,
    /// The bots, in the order in which they joined.
    pub bots: Vec<BotInGame>,
    /// What the number of bots depends on.
    pub fill: Fill,
    /// The expected weight of the next bot that is added.
    pub next_bot: f64,
    /// Each team's score so far.
    pub scores: Vec<f64>,
    /// Whether the game server has reported points in this game. If not, all points are 0.
    pub points_reported: bool,
    /// The factors on the weights of parties of 2, 3 and so on whose members are on one team; the last one holds for all
    /// larger parties, and none stands for 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub party_factors: Vec<Factor>,
    /// The model that predicts chances. If there is none, decisions compare teams by the ratio of their weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chance: Option<ChanceModel>,
}

/// A human in a [`Snapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HumanInGame {
    /// The identity that the game server sent.
    pub id: String,
    /// Their own weight, without what their party adds.
    pub weight: f64,
    /// The team that they are on; `None` for a late arrival.
    pub team: Option<u8>,
    /// The team that they must be on.
    pub pin: Option<u8>,
    /// The party that they came with.
    pub party: Option<String>,
    /// The team that they left shortly before they came back.
    pub old_team: Option<u8>,
    /// Their points on the scoreboard.
    pub points: f64,
    /// Whether the game server has reported their points. If not, they are 0.
    pub points_reported: bool,
    /// Ids of the humans they want to avoid, in the game or not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub avoid: Vec<String>,
    /// The team on which they would like to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wish: Option<u8>,
    /// Why they must not be moved now; `None` if they may be.
    pub held: Option<MoveBlock>,
    /// Whether a decision has already moved them in this game.
    pub moved: bool,
    /// How often their behaviour suggests that they exploit the balancing.
    pub conduct: Conduct,
    /// The team that they were on in the last game.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last: Option<u8>,
    /// Whether nothing is known of them, so that the weight is a newcomer's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub newcomer: bool,
    /// How often they were on the weaker side of the map in the last games, the latest counting most.
    #[serde(default)]
    pub weak_sides: f64,
}

/// A bot in a [`Snapshot`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BotInGame {
    /// The name that the game server sent.
    pub name: String,
    /// The bot's weight; the mean for an unknown bot.
    pub weight: f64,
    /// The team that the bot is on, counted from 0.
    pub team: u8,
    /// The bot's points on the scoreboard.
    pub points: f64,
}

worded! {
    /// Why a human must not be moved.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    pub enum MoveBlock {
        /// JOIN pinned them to a team.
        Pinned = "pinned to their team",
        /// PROTECT applies to them.
        Protected = "protected",
        /// A decision moved them less than the cooldown ago.
        JustMoved = "moved recently",
        /// Others on their team joined later, and the last to join move first.
        CameFirst = "others joined later",
        /// They are in the top third of their team by points.
        Top = "among the best of their team",
    }
}

impl Snapshot {
    /// Whether its parts are consistent: existing teams, weights that are finite and not negative,
    /// and no more players than a roster can hold.
    pub(super) fn is_sound(&self) -> bool {
        let exists = |team: Option<u8>| team.is_none_or(|team| team < self.teams);
        let person = |human: &HumanInGame| {
            let teams = [
                human.team,
                human.pin,
                human.old_team,
                human.wish,
                human.last,
            ];
            teams.into_iter().all(exists) && human.weight >= 0.0 && human.weight.is_finite()
        };
        (2..=MAX_TEAMS).contains(&usize::from(self.teams))
            && self.scores.len() == usize::from(self.teams)
            && self.humans.len() <= MAX_PLAYERS
            && self.fill.wish.max(self.fill.map_range.0) as usize <= MAX_PLAYERS
            && self.humans.iter().all(person)
            && self.are_sound(&self.bots)
            && self
                .chance
                .as_ref()
                .is_none_or(|chance| chance.is_sound(self.humans.len(), self.bots.len()))
    }

    /// The weight and strength with which a human counts on their team, with what the members of their party there add.
    pub(super) fn counted(&self, human: usize) -> Counted {
        self.counted_on(human, &|who| self.humans[who].team)
    }

    /// The same if everybody is on these teams.
    fn counted_on(&self, human: usize, team: &dyn Fn(usize) -> Option<u8>) -> Counted {
        let own = team(human);
        let on_it = |mate: &usize| own.is_some() && team(*mate) == own;
        let friends = self.mates(human).filter(on_it).count();
        let factor = party_factor(&self.party_factors, friends + 1);
        let weight = self.humans[human].weight * factor;
        let Some(model) = &self.chance else {
            return Counted {
                weight,
                ..Counted::default()
            };
        };
        let alone = model.humans[human];
        let doubt = model.doubts.get(human).copied().unwrap_or(0.0);
        let multiplier = party_factor(&model.party_multiplier, friends + 1);
        Counted {
            weight,
            strength: alone + model.outlook.befriended(alone, friends, multiplier),
            variance: doubt * doubt,
        }
    }

    /// The weight and strength with which a bot counts.
    pub(super) fn counted_bot(&self, bot: usize) -> Counted {
        let strengths = self.chance.as_ref().map(|chance| &chance.bots);
        Counted {
            weight: self.bots[bot].weight,
            strength: strengths.map_or(0.0, |strengths| strengths[bot]),
            variance: 0.0,
        }
    }

    /// The sums over the players of each team. Humans without a team are left out.
    pub(super) fn sums(&self) -> TeamSums {
        self.sums_with(&[], 0)
    }

    /// The same with these humans on a team.
    pub(super) fn sums_with(&self, joined: &[usize], to: u8) -> TeamSums {
        let team = |who: usize| match joined.contains(&who) {
            true => Some(to),
            false => self.humans[who].team,
        };
        let chance = self.chance.as_ref();
        let next_bot = Counted {
            weight: self.next_bot,
            strength: chance.map_or(0.0, |chance| chance.next_bot),
            variance: 0.0,
        };
        let teams = usize::from(self.teams);
        let outlook = chance.map(|chance| chance.outlook);
        let mut sums = TeamSums::new(teams, self.fill, next_bot, outlook);
        for who in 0..self.humans.len() {
            let on = team(who).map(usize::from);
            if let Some(on) = on.filter(|on| *on < MAX_TEAMS) {
                sums.add(on, 1, self.counted_on(who, &team));
            }
        }
        for (at, bot) in self.bots.iter().enumerate() {
            sums.add_bots(usize::from(bot.team), 1, self.counted_bot(at));
        }
        sums
    }

    /// Whether these bots are on teams that exist, have possible weights, and are not too many.
    pub(super) fn are_sound(&self, bots: &[BotInGame]) -> bool {
        let robot =
            |bot: &BotInGame| bot.team < self.teams && bot.weight >= 0.0 && bot.weight.is_finite();
        // Each team may lack as many bots as a map recommends players.
        bots.len() <= MAX_PLAYERS * MAX_TEAMS && bots.iter().all(robot)
    }

    /// Indices of the humans without a team.
    pub(super) fn waiting(&self) -> impl Iterator<Item = usize> {
        let humans = self.humans.iter().enumerate();
        humans.filter_map(|(who, human)| human.team.is_none().then_some(who))
    }

    /// Whether other members of this human's party are in the game.
    pub(super) fn in_party(&self, human: usize) -> bool {
        self.mates(human).next().is_some()
    }

    /// Indices of the other members of this human's party.
    pub(super) fn mates(&self, human: usize) -> impl Iterator<Item = usize> {
        let party = self.humans[human].party.as_ref();
        let others = self.humans.iter().enumerate();
        others
            .filter(move |(other, person)| {
                party.is_some() && *other != human && person.party.as_ref() == party
            })
            .map(|(other, _)| other)
    }

    /// Indices of the humans whom this one wants to avoid, and of those who want to avoid this one.
    pub(super) fn avoided(&self, human: usize) -> impl Iterator<Item = usize> {
        let avoids = |one: usize, other: usize| {
            let other = &self.humans[other].id;
            self.humans[one].avoid.contains(other)
        };
        (0..self.humans.len())
            .filter(move |&other| other != human && (avoids(human, other) || avoids(other, human)))
    }

    /// Of `team`, the humans of one team, those who are not among its best: the lower `share` by
    /// points, and those whose points are not reported. If no points are reported at all, weights
    /// decide. Humans with equal points or weights have equal ranks.
    pub(super) fn lower_share(&self, team: Vec<usize>, share: f64) -> Vec<usize> {
        let by = |key: &dyn Fn(usize) -> f64| -> Vec<(usize, f64)> {
            team.iter().map(|&who| (who, key(who))).collect()
        };
        if self.points_reported {
            let mut lower = lower_share(by(&|who| self.humans[who].points), share);
            let silent = |who: &usize| !self.humans[*who].points_reported;
            let rest = team
                .iter()
                .filter(|who| silent(who) && !lower.contains(who));
            let rest: Vec<usize> = rest.copied().collect();
            lower.extend(rest);
            return lower;
        }
        lower_share(by(&|who| self.counted(who).weight), share)
    }

    /// Writes a line for each human whose behaviour suggests that they exploit the balancing.
    pub(super) fn write_conduct(&self, naming: &Naming, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen = self.humans.iter().filter(|human| !human.conduct.is_clean());
        for human in seen {
            writeln!(f, "{} {}", naming.player(&human.id), human.conduct)?;
        }
        Ok(())
    }
}

/// The players of a team, given by index and points, without its best: the lower `share` by points,
/// rounded down (`CanBeAutobalanced` of Sector's Edge). Players with equal points have the mean of their ranks,
/// so that the order of joining does not matter.
fn lower_share(mut players: Vec<(usize, f64)>, share: f64) -> Vec<usize> {
    players.sort_by(|a, b| a.1.total_cmp(&b.1));
    let count = (players.len() as f64 * share).floor();
    let (mut lower, mut rank) = (Vec::new(), 0);
    // Zero of either sign is the same.
    for equals in players.chunk_by(|a, b| a.1 == b.1) {
        let mean = rank as f64 + (equals.len() - 1) as f64 / 2.0;
        if mean < count {
            lower.extend(equals.iter().map(|&(index, _)| index));
        }
        rank += equals.len();
    }
    lower
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::domain::{Company, Crowding, Link, Outlook};

    /// A game without bots, of humans a, b, c, … given as `(weight, team)`; team 9 means no team.
    pub(in crate::lobby) fn snapshot(teams: u8, humans: &[(f64, u8)]) -> Snapshot {
        let person = |(index, &(weight, team)): (usize, &(f64, u8))| HumanInGame {
            id: char::from(b'a' + index as u8).to_string(),
            weight,
            team: Some(team).filter(|&team| team < teams),
            pin: None,
            party: None,
            old_team: None,
            points: 0.0,
            points_reported: true,
            avoid: Vec::new(),
            wish: None,
            held: None,
            moved: false,
            conduct: Conduct::default(),
            last: None,
            newcomer: false,
            weak_sides: 0.0,
        };
        Snapshot {
            teams,
            humans: humans.iter().enumerate().map(person).collect(),
            bots: Vec::new(),
            fill: Fill {
                on: true,
                wish: 0,
                map_range: (0, 64),
                min_humans: 0,
            },
            next_bot: 0.0,
            scores: vec![0.0; usize::from(teams)],
            points_reported: true,
            party_factors: Vec::new(),
            chance: None,
        }
    }

    /// A bot with this weight, on this team.
    pub(in crate::lobby) fn robot(weight: f64, team: u8) -> BotInGame {
        BotInGame {
            name: format!("bot {weight} {team}"),
            weight,
            team,
            points: 0.0,
        }
    }

    /// The same game by chances, with strengths that follow the weights: 50 is none, 25 points are one.
    pub(in crate::lobby) fn by_chance(mut game: Snapshot) -> Snapshot {
        let strength = |weight: f64| (weight - 50.0) / 25.0;
        game.chance = Some(ChanceModel {
            outlook: outlook(),
            humans: game.humans.iter().map(|h| strength(h.weight)).collect(),
            bots: game.bots.iter().map(|bot| strength(bot.weight)).collect(),
            next_bot: strength(game.next_bot),
            doubts: vec![0.1; game.humans.len()],
            party_multiplier: Vec::new(),
        });
        game
    }

    /// In a match of eight, one unit of strength is an edge of a half, and one head more a fifth.
    pub(in crate::lobby) fn outlook() -> Outlook {
        Outlook {
            link: Link::Normal,
            per_strength: 0.5,
            players: 8.0,
            crowding: Crowding::Root,
            per_head: 0.2,
            per_log_size: 0.0,
            side: 0.05,
            unit: 1.0,
            doubt: 0.1,
            company: Company::default(),
        }
    }

    /// The weights of a game are players' own: what friends add follows from who is on which team.
    #[test]
    fn friends_count_where_they_are_together() {
        let mut game = by_chance(snapshot(2, &[(75.0, 0), (75.0, 0), (75.0, 1)]));
        for human in &mut game.humans {
            human.party = Some("p".into());
        }
        game.party_factors = vec![Factor::of(1.2), Factor::of(1.5)];
        let model = game.chance.as_mut().unwrap();
        model.party_multiplier = vec![Factor::of(1.2)];
        let (friend, alone) = (game.counted(0), game.counted(2));
        assert_eq!((friend.weight, alone.weight), (90.0, 75.0));
        // A strength of 1 is half as much again as an average player, of whom a fifth is added.
        assert!((friend.strength - 1.6).abs() < 1e-12);
        assert_eq!(alone.strength, 1.0);
        let together = game.sums_with(&[2], 0);
        let weights: Vec<f64> = together.present().collect();
        assert_eq!(weights, [3.0 * 75.0 * 1.5, 0.0]);
    }

    #[test]
    fn two_thirds_are_rounded_as_the_page_does() {
        let lower = |points: &[f64]| {
            let players = points.iter().copied().enumerate().collect();
            lower_share(players, 0.67)
        };
        assert_eq!(lower(&[]), [0; 0]);
        assert_eq!(lower(&[7.0]), [0; 0], "int(0.67) is 0");
        assert_eq!(lower(&[7.0, 3.0]), [1]);
        assert_eq!(lower(&[9.0, 1.0, 5.0]), [1, 2]);
        assert_eq!(lower(&[0.0, 0.0, 0.0]), [0, 1, 2], "equals have one rank");
        assert_eq!(lower(&[5.0, 0.0, 5.0]), [1, 0, 2]);
        assert_eq!(lower(&[0.0, 0.0, 5.0, 0.0, 5.0, 0.0]), [0, 1, 3, 5]);
        assert_eq!(lower(&[4.0, 3.0, 2.0, 1.0, 0.0, -1.0]), [5, 4, 3, 2]);
    }

    #[test]
    fn bots_that_stay_are_themselves_and_others_are_means() {
        // 2 against 1 and two bots; 6 players are wanted, so each team needs one more bot.
        let mut game = snapshot(2, &[(10.0, 0), (20.0, 0), (30.0, 1)]);
        game.fill.wish = 6;
        game.bots = vec![robot(4.0, 1), robot(8.0, 1)];
        game.next_bot = 5.0;
        let mut strength = game.sums();
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
        assert_eq!(game.sums().ratio_settled(), 0.5);
        game.fill.on = true;
        game.fill.min_humans = 2;
        assert_eq!(game.sums().ratio_settled(), 0.0, "they go");
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
        let mut strength = game.sums();
        let expect = |strength: &TeamSums, strengths, heads| {
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
        let strength = filled.sums();
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
        assert!(game.sums().evenness_now() < 0.26);
    }
}
