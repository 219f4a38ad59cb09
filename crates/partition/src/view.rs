//! A team game at one moment, as plain data: everything that a decision on its teams depends on.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Counted, Fill, TeamSum, TeamSums, party_factor};
use evenkeel_model::{MAX_PLAYERS, MAX_TEAMS, Naming, WinModel, counted, units::Factor, worded};

/// Who plays on which team, with their weights. All decisions take it; it is stored with them, so that they can be
/// replayed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GameView {
    /// Number of teams, 2 to [`MAX_TEAMS`]. Teams are counted from 0.
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

/// How strong all players of a game are, and how strengths become chances. Strengths are in the rating system's unit; a
/// newcomer's is 0. Unlike weights, they have no limits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChanceModel {
    /// Turns the teams' strengths into a chance.
    pub win_model: WinModel,
    /// The strength of each human, in the order of the view, without what their party adds.
    pub humans: Vec<f64>,
    /// The strength of each bot, in the order of the view.
    pub bots: Vec<f64>,
    /// The expected strength of the next bot that is added.
    pub next_bot: f64,
    /// The standard deviation of each human's strength, in the order of the view; empty if they are not known.
    pub deviations: Vec<f64>,
    /// What parties of 2, 3 and so on count as a multiple of their weights, as far as the win model has not learned it from
    /// matches; see [`WinModel::befriended`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub party_multiplier: Vec<Factor>,
}

/// A human in a [`GameView`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct HumanInGame {
    /// The identity that the game server sent, unique in the game. Together with the seed it breaks ties, so that the
    /// order of the humans does not matter.
    pub id: String,
    /// Their own weight, in any unit, without what their party adds: finite, at least 0.
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
    /// How often they were on the weaker side of the map in the last games, the latest counting most: at least 0.
    #[serde(default)]
    pub weak_sides: f64,
}

/// A bot in a [`GameView`].
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

/// How often, in this session, a human's behaviour suggested that they exploit the balancing. It is
/// shown to operators; no decision depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Conduct {
    /// How often they left a game and came back to it.
    pub returns: u32,
    /// How often they changed to the stronger team on their own.
    pub switches: u32,
    /// How often PLACE or REBALANCE was sent shortly after such a change.
    pub asks: u32,
}

impl Conduct {
    /// Whether all counts are 0.
    pub fn is_clean(&self) -> bool {
        *self == Self::default()
    }
}

/// Formats the counts, such as `returned 2 times, changed to the stronger team 1 time, 1 of them
/// before a request to balance`.
impl fmt::Display for Conduct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "returned {}, changed to the stronger team {}, {} of them before a request to balance",
            counted(self.returns, "time"),
            counted(self.switches, "time"),
            self.asks
        )
    }
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

impl Default for GameView {
    /// Two teams without players, of which bots fill up the smaller one.
    fn default() -> Self {
        Self {
            teams: 2,
            humans: Vec::new(),
            bots: Vec::new(),
            fill: Fill {
                on: true,
                wish: 0,
                map_range: (0, 0),
                min_humans: 0,
            },
            next_bot: 0.0,
            scores: vec![0.0; 2],
            points_reported: false,
            party_factors: Vec::new(),
            chance: None,
        }
    }
}

impl HumanInGame {
    /// A human of this weight, of whom nothing else is stated.
    pub fn new(id: impl Into<String>, weight: f64) -> Self {
        Self {
            id: id.into(),
            weight,
            ..Self::default()
        }
    }
}

impl GameView {
    /// Whether its parts are consistent: existing teams, weights that are finite and not negative,
    /// and no more players than a roster can hold.
    pub fn is_sound(&self) -> bool {
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
    pub fn counted(&self, human: usize) -> Counted {
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
        let deviation = model.deviations.get(human).copied().unwrap_or(0.0);
        let multiplier = party_factor(&model.party_multiplier, friends + 1);
        Counted {
            weight,
            strength: alone + model.win_model.befriended(alone, friends, multiplier),
            variance: deviation * deviation,
        }
    }

    /// The weight and strength with which a bot counts.
    pub fn counted_bot(&self, bot: usize) -> Counted {
        let strengths = self.chance.as_ref().map(|chance| &chance.bots);
        Counted {
            weight: self.bots[bot].weight,
            strength: strengths.map_or(0.0, |strengths| strengths[bot]),
            variance: 0.0,
        }
    }

    /// The same for the next bot that is added.
    pub fn counted_next_bot(&self) -> Counted {
        let chance = self.chance.as_ref();
        Counted {
            weight: self.next_bot,
            strength: chance.map_or(0.0, |chance| chance.next_bot),
            variance: 0.0,
        }
    }

    /// The sums over the players of each team. Humans without a team are left out.
    pub fn sums(&self) -> TeamSums {
        self.sums_with(&[], 0)
    }

    /// The same with these humans on a team.
    pub fn sums_with(&self, joined: &[usize], to: u8) -> TeamSums {
        let team = |who: usize| match joined.contains(&who) {
            true => Some(to),
            false => self.humans[who].team,
        };
        let teams = usize::from(self.teams);
        let win_model = self.chance.as_ref().map(|chance| chance.win_model);
        let next_bot = self.counted_next_bot();
        let mut sums = TeamSums::new(teams, self.fill, next_bot, win_model);
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

    /// Adds the bots that the game server is expected to add to the teams as they are now.
    pub fn expect_bots(&mut self) {
        let coming = self.coming_bots();
        if let Some(chance) = &mut self.chance {
            let next = chance.next_bot;
            chance.bots.extend(coming.iter().map(|_| next));
        }
        self.bots.extend(coming);
    }

    /// The bots that the game server is expected to add to the teams as they are now; none where it
    /// does not act on bots.
    pub fn coming_bots(&self) -> Vec<BotInGame> {
        let sums = self.sums();
        let coming = |(team, missing)| {
            let bot = BotInGame {
                name: String::new(),
                weight: self.next_bot,
                team,
                points: 0.0,
            };
            std::iter::repeat_n(bot, missing)
        };
        (0u8..).zip(sums.missing_bots()).flat_map(coming).collect()
    }

    /// How bots fill up the teams once all humans are on one. Where none are expected, the places that they would fill
    /// stay empty.
    pub fn filling(&self) -> Fill {
        match self.fill.is_none(self.humans.len()) {
            true => Fill {
                on: false,
                wish: 0,
                ..self.fill
            },
            false => Fill {
                min_humans: 0,
                ..self.fill
            },
        }
    }

    /// The weight of each bot that comes then; 0 for an empty place.
    pub fn weight_of_place(&self) -> f64 {
        match self.filling().on {
            true => self.next_bot,
            false => 0.0,
        }
    }

    /// The sums of the teams whose bots count then; none without bots. Where the game is expected to get no bots, those
    /// that are there are expected to go.
    pub fn teams_with_bots(&self) -> Vec<TeamSum> {
        let go = self.fill.on && self.fill.is_none(self.humans.len());
        match self.bots.is_empty() || go {
            true => Vec::new(),
            false => self.sums().sides().to_vec(),
        }
    }

    /// Whether these bots are on teams that exist, have possible weights, and are not too many.
    pub fn are_sound(&self, bots: &[BotInGame]) -> bool {
        let robot =
            |bot: &BotInGame| bot.team < self.teams && bot.weight >= 0.0 && bot.weight.is_finite();
        // Each team may lack as many bots as a map recommends players.
        bots.len() <= MAX_PLAYERS * MAX_TEAMS && bots.iter().all(robot)
    }

    /// Indices of the humans without a team.
    pub fn waiting(&self) -> impl Iterator<Item = usize> {
        let humans = self.humans.iter().enumerate();
        humans.filter_map(|(who, human)| human.team.is_none().then_some(who))
    }

    /// Whether other members of this human's party are in the game.
    pub fn in_party(&self, human: usize) -> bool {
        self.mates(human).next().is_some()
    }

    /// Indices of the other members of this human's party.
    pub fn mates(&self, human: usize) -> impl Iterator<Item = usize> {
        let party = self.humans[human].party.as_ref();
        let others = self.humans.iter().enumerate();
        others
            .filter(move |(other, person)| {
                party.is_some() && *other != human && person.party.as_ref() == party
            })
            .map(|(other, _)| other)
    }

    /// Indices of the humans whom this one wants to avoid, and of those who want to avoid this one.
    pub fn avoided(&self, human: usize) -> impl Iterator<Item = usize> {
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
    pub fn lower_share(&self, team: Vec<usize>, share: f64) -> Vec<usize> {
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
    pub fn write_conduct(&self, naming: &Naming, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seen = self.humans.iter().filter(|human| !human.conduct.is_clean());
        for human in seen {
            writeln!(f, "{} {}", naming.player(&human.id), human.conduct)?;
        }
        Ok(())
    }
}

impl ChanceModel {
    /// Whether the model has a strength for each of so many humans and bots, and all numbers are finite.
    pub(super) fn is_sound(&self, humans: usize, bots: usize) -> bool {
        let strengths = self.humans.iter().chain(&self.bots).chain(&self.deviations);
        self.win_model.is_sound()
            && self.humans.len() == humans
            && self.bots.len() == bots
            && [0, humans].contains(&self.deviations.len())
            && strengths.chain([&self.next_bot]).all(|s| s.abs() <= 1e12)
    }

    /// The strength of humans who are together on a team: one human, or the members of one party.
    pub(super) fn together(&self, members: impl Iterator<Item = usize> + Clone) -> f64 {
        let size = members.clone().count();
        let friends = size.saturating_sub(1);
        let multiplier = party_factor(&self.party_multiplier, size);
        let of = |member: usize| {
            let alone = self.humans[member];
            alone + self.win_model.befriended(alone, friends, multiplier)
        };
        members.map(of).sum()
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
mod tests {
    use super::*;
    use crate::tests::games::{by_chance, robot, view};

    /// The weights of a game are players' own: what friends add follows from who is on which team.
    #[test]
    fn friends_count_where_they_are_together() {
        let mut game = by_chance(view(2, &[(75.0, 0), (75.0, 0), (75.0, 1)]));
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
        let mut game = view(2, &[(10.0, 0), (20.0, 0), (30.0, 1)]);
        game.fill.wish = 6;
        game.bots = vec![robot(4.0, 1), robot(8.0, 1)];
        game.next_bot = 5.0;
        let mut strength = game.sums();
        let sums: Vec<f64> = strength.present().collect();
        assert_eq!(sums, [30.0, 42.0]);
        assert_eq!(strength.ratio_now(), 30.0 / 42.0);
        assert_eq!(
            strength.ratio_after_bot_fill(),
            35.0 / 42.0,
            "one comes to the first team"
        );
        let late = Counted {
            weight: 25.0,
            ..Counted::default()
        };
        let before = strength.add(1, 1, late);
        // One of the second team's bots leaves: which one is unknown, so their mean of 6 does.
        assert_eq!(strength.ratio_after_bot_fill(), 35.0 / 61.0);
        strength.restore(1, before);
        assert_eq!(strength.ratio_after_bot_fill(), 35.0 / 42.0);
    }

    #[test]
    fn bots_that_are_off_stay() {
        let mut game = view(2, &[(10.0, 0)]);
        game.bots = vec![robot(5.0, 1)];
        game.fill.wish = 8;
        game.fill.on = false;
        assert_eq!(game.sums().ratio_after_bot_fill(), 0.5);
        game.fill.on = true;
        game.fill.min_humans = 2;
        assert_eq!(game.sums().ratio_after_bot_fill(), 0.0, "they go");
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
        let mut game = view(2, &[(75.0, 0), (50.0, 0), (100.0, 1), (50.0, 9)]);
        game.fill.on = false;
        game.bots = vec![robot(25.0, 1)];
        let game = by_chance(game);
        let mut strength = game.sums();
        let expect = |strength: &TeamSums, strengths, heads| {
            let by_hand = evenness_by_hand(strengths, heads);
            let found = strength.evenness_after_bot_fill();
            assert!((found - by_hand).abs() < 1e-9, "{found} {by_hand}");
            let monotone = strength.monotone_after_bot_fill();
            assert!((strength.evenness_of(monotone) - by_hand).abs() < 1e-9);
        };
        expect(&strength, [1.0, 1.0], [2, 2]);
        assert!((strength.evenness_now() - strength.evenness_after_bot_fill()).abs() < 1e-12);
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
            strength.ratio_after_bot_fill(),
            125.0 / 175.0,
            "ratios stay ratios"
        );
    }

    #[test]
    fn four_against_one_is_not_even_by_any_chance() {
        let mut game = view(2, &[(50.0, 0), (50.0, 0), (50.0, 0), (50.0, 0), (50.0, 1)]);
        game.fill.on = false;
        let mut game = by_chance(game);
        if let Some(chance) = &mut game.chance {
            chance.win_model.per_head = 0.0;
        }
        assert!(game.sums().evenness_now() < 0.26);
    }
}
