//! Auto-balance: while the teams are unbalanced, a human of the stronger team who dies may be
//! moved.
//!
//! The rules and their defaults are those of Sector's Edge; see [`AutoBalanceRules`]. Bots count as
//! players, so that a team filled with bots does not count as the smaller one; only humans are
//! moved. Where sizes count, no team stays two players larger than another one, whatever the powers.

mod rules;

pub use rules::{
    Assessment, AutoBalanceRules, Calm, GapUnit, ImbalanceCause, Lopsided, MoveRule, Power,
};

use std::{cmp::Ordering, fmt};

use evenkeel_model::{ident::Ident, in_game::Move, team_names::Naming};
use evenkeel_partition::{BotInGame, GameView, TeamSums, sums::EQUAL, view::MoveBlock};
use serde::{Deserialize, Serialize};

use crate::{
    moves::{Aim, MoveSearch, Unit},
    question::Question,
};

use rules::{MoveTurn, Powers};

/// The most moves in a row that [`MoveRule::Closest`] considers.
const MAX_CHAIN: usize = 16;

/// The parts of a game that the rules depend on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Situation {
    /// The players and their teams.
    pub view: GameView,
    /// The bots that the game server is expected to add, which count like those on a team.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub coming: Vec<BotInGame>,
    /// The remaining time of play in milliseconds, if CLOCK has stated it.
    pub left: Option<u64>,
    /// Whether the players choose their teams themselves.
    pub tournament: bool,
    /// The rules when the question was asked.
    pub rules: AutoBalanceRules,
}

/// The question of auto-balance: does this human, who died, change teams?
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AutoBalance {
    /// The game when the human died.
    pub situation: Situation,
    /// The human who died, as an index into the view's humans.
    pub who: usize,
    /// For how many milliseconds the teams have been unbalanced in this direction.
    pub lasted: u64,
    /// The humans who have died since somebody may be moved, as indices: nobody waits for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub died: Vec<usize>,
}

/// Whether the human changes teams, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AutoBalanceAnswer {
    /// Whether the teams are balanced.
    #[serde(rename = "verdict")]
    pub assessment: Assessment,
    /// Each team's power, in the unit of the rules.
    pub powers: Vec<f64>,
    /// The result for the human.
    pub fate: Fate,
}

/// The result for a human who died: a change of team, or the reason to stay.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fate {
    /// They change teams.
    Moves(Move),
    /// They stay, for this reason.
    Stays(StayReason),
}

/// Why a human who died is not moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StayReason {
    /// The teams are balanced.
    Balanced,
    /// They are not on the stronger team.
    OtherTeam,
    /// Their team is the stronger one, but the smaller one, too.
    Smaller,
    /// The teams have been unbalanced for less than the delay.
    TooSoon,
    /// The move would split their party.
    Party,
    /// A decision has already moved them in this game.
    Moved,
    /// They are a newcomer, and others of their team may be moved.
    Newcomer,
    /// They must not be moved for another reason.
    Held(MoveBlock),
    /// The move would make the other team too strong.
    Tips,
    /// Moving other humans would bring the teams closer together.
    NotClosest,
    /// Nobody's move would bring the teams closer together.
    NoGain,
}

impl Question for AutoBalance {
    type Answer = AutoBalanceAnswer;

    fn is_sound(&self) -> bool {
        let view = &self.situation.view;
        let coming = &self.situation.coming;
        view.is_sound() && view.are_sound(coming) && self.who < view.humans.len()
    }

    fn answer(&self, _seed: u64) -> AutoBalanceAnswer {
        let powers = self.situation.powers();
        let assessment = self.situation.judge(&powers);
        let fate = match self.fate(&assessment, &powers) {
            Ok(to) => Fate::Moves(Move {
                id: Ident::from_text(&self.situation.view.humans[self.who].id),
                from: self.situation.view.humans[self.who].team,
                to,
            }),
            Err(stay) => Fate::Stays(stay),
        };
        AutoBalanceAnswer {
            assessment,
            powers: powers.teams.present().collect(),
            fate,
        }
    }

    fn explain(
        &self,
        answer: &AutoBalanceAnswer,
        naming: &Naming,
        f: &mut fmt::Formatter<'_>,
    ) -> fmt::Result {
        let who = naming.player(&self.situation.view.humans[self.who].id);
        match &answer.fate {
            Fate::Moves(step) => writeln!(f, "move {}", step.announced(naming))?,
            Fate::Stays(stay) => writeln!(f, "{who} stays: {stay}")?,
        }
        writeln!(f, "{}, for {} s", answer.assessment, self.lasted / 1_000)?;
        for (team, power) in answer.powers.iter().enumerate() {
            writeln!(f, "{}: power {power:.3}", naming.team(team))?;
        }
        if answer.fate == Fate::Stays(StayReason::Party) {
            let view = &self.situation.view;
            let mates = view.mates(self.who);
            let mates = naming.players(mates.map(|mate| &view.humans[mate].id));
            writeln!(f, "the party of {who}: {mates}")?;
        }
        self.situation.view.write_conduct(naming, f)
    }
}

impl AutoBalance {
    /// The team that they change to, or why they stay.
    fn fate(&self, assessment: &Assessment, powers: &Powers) -> Result<u8, StayReason> {
        let Situation { view, rules, .. } = &self.situation;
        let Assessment::Unbalanced { strong, weak, .. } = *assessment else {
            return Err(StayReason::Balanced);
        };
        if rules.are_apart(powers.spread()) {
            return self.fate_by_sizes(powers, weak);
        }
        if view.humans[self.who].team != Some(strong) {
            return Err(StayReason::OtherTeam);
        }
        if powers.size(strong) < powers.size(weak) {
            return Err(StayReason::Smaller);
        }
        self.may_move_now()?;
        let order = self.order(self.movable(strong));
        if let Some(waits) = order.turn(self.who).reason() {
            return Err(waits);
        }
        match rules.choice {
            MoveRule::WhoDies => match self.tips(powers, self.who, (strong, weak)) {
                true => Err(StayReason::Tips),
                false => Ok(weak),
            },
            MoveRule::Closest => {
                let moves = self.closest(powers, order.first, (strong, weak));
                match moves.contains(&self.who) {
                    true => Ok(weak),
                    false if moves.is_empty() => Err(StayReason::NoGain),
                    false => Err(StayReason::NotClosest),
                }
            }
        }
    }

    /// Why the human who died must stay now, whoever else is there.
    fn may_move_now(&self) -> Result<(), StayReason> {
        if self.lasted < self.situation.rules.delay_seconds.millis() {
            return Err(StayReason::TooSoon);
        }
        self.block(self.who).map_or(Ok(()), Err)
    }

    /// Why this human must never be moved as things are; `None` if they may.
    fn block(&self, who: usize) -> Option<StayReason> {
        let Situation { view, rules, .. } = &self.situation;
        let human = &view.humans[who];
        if view.in_party(who) {
            return Some(StayReason::Party);
        }
        if rules.once && human.moved {
            return Some(StayReason::Moved);
        }
        human.block().map(StayReason::Held)
    }

    /// The humans of a team who may be moved (`CanBeAutobalanced` of Sector's Edge), its best included.
    fn movable(&self, team: u8) -> Vec<usize> {
        let humans = self.situation.view.humans.iter().enumerate();
        let on_it = humans.filter(|(_, human)| human.team == Some(team));
        let on_it = on_it.map(|(who, _)| who);
        on_it.filter(|&who| self.block(who).is_none()).collect()
    }

    /// The humans whose moves from the first team to the second bring the teams closest together, one after the other, until
    /// these two are balanced or no move helps: all teams where chances decide, otherwise these two.
    fn closest(
        &self,
        powers: &Powers,
        mut eligible: Vec<usize>,
        (strong, weak): (u8, u8),
    ) -> Vec<usize> {
        let by_chance = powers.teams.by_chance();
        if by_chance {
            // Of several who are as good, the one who has died goes, else the first; by powers, the first.
            eligible.sort_by_key(|&who| who != self.who);
        }
        let path = (usize::from(strong), usize::from(weak));
        let units = eligible.iter();
        let units: Vec<Unit> = units
            .map(|&who| Unit::alone(who, powers.humans[who], path))
            .collect();
        let are_even = |teams: &TeamSums| !self.situation.is_too_strong(teams, strong, weak);
        let limits = (usize::MAX, usize::MAX);
        let aim = match by_chance {
            true => Aim::Evenness,
            false => Aim::Pair(path.0, path.1),
        };
        let search = MoveSearch::new(powers.teams.clone(), &units, aim, limits);
        let gone = search.best_first(MAX_CHAIN, are_even);
        gone.into_iter().map(|unit| eligible[unit]).collect()
    }

    /// How even the chances to win are, and how even they would be with this human of the first team
    /// on the second. `None` without a chance model; the powers then decide, as in Sector's Edge.
    fn chances_of(&self, who: usize, (from, to): (u8, u8)) -> Option<(f64, f64)> {
        let view = &self.situation.view;
        let mut sums = view.sums();
        let now = sums.by_chance().then(|| sums.evenness_after_bot_fill())?;
        sums.put(
            Some(usize::from(from)),
            usize::from(to),
            1,
            view.counted(who),
        );
        Some((now, sums.evenness_after_bot_fill()))
    }

    /// Whether the move of this human from one team to the other would make the other one too strong.
    fn tips(&self, powers: &Powers, who: usize, (from, to): (u8, u8)) -> bool {
        if let Some((before, after)) = self.chances_of(who, (from, to)) {
            return after + EQUAL < before;
        }
        let (left, joined) = powers.after(who, (from, to));
        self.situation.rules.tips(joined, left)
    }
}

impl fmt::Display for StayReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StayReason::Balanced => f.write_str("the teams are balanced"),
            StayReason::OtherTeam => f.write_str("not on the stronger team"),
            StayReason::Smaller => f.write_str("the stronger team is the smaller one"),
            StayReason::TooSoon => {
                f.write_str("the teams have not been unbalanced for long enough")
            }
            StayReason::Party => f.write_str("plays in a party"),
            StayReason::Moved => f.write_str("already moved in this game"),
            StayReason::Newcomer => f.write_str("new here, and others of their team go first"),
            StayReason::Held(held) => held.fmt(f),
            StayReason::Tips => f.write_str("the move would make the other team too strong"),
            StayReason::NotClosest => f.write_str("moving others brings the teams closer together"),
            StayReason::NoGain => f.write_str("nobody's move brings the teams closer together"),
        }
    }
}

/// What is against the move of a human.
struct Against {
    /// When their turn comes, which counts more than the cost.
    turn: MoveTurn,
    /// How uneven the game would be.
    cost: f64,
}

impl Against {
    fn is_less(&self, other: &Self) -> bool {
        match self.turn.cmp(&other.turn) {
            Ordering::Less => true,
            Ordering::Greater => false,
            Ordering::Equal => self.cost + EQUAL < other.cost,
        }
    }
}

impl AutoBalance {
    /// The team `smallest` if the human who died goes there because their own team outnumbers it, or why they stay.
    ///
    /// They stay while as many as have to go are waited for: humans of their team who have not died yet since somebody
    /// may be moved, and whose moves are better. So the best go, and once everybody has died, nobody is missing: as long
    /// as nobody moves, no fewer are waited for than have to go.
    fn fate_by_sizes(&self, powers: &Powers, smallest: u8) -> Result<u8, StayReason> {
        let rules = &self.situation.rules;
        let team = self.situation.view.humans[self.who].team;
        let larger = |team: &u8| {
            let more = powers.size(*team).saturating_sub(powers.size(smallest));
            rules.are_apart(more)
        };
        let Some(team) = team.filter(larger) else {
            return Err(StayReason::OtherTeam);
        };
        self.may_move_now()?;
        let movable = self.movable(team);
        let order = self.order(movable.clone());
        let against = |who: usize| Against {
            turn: order.turn(who),
            cost: self.cost(powers, who, (team, smallest)),
        };
        let own = against(self.who);
        let sizes: Vec<usize> = powers.sizes().collect();
        let waits = |who: &usize| *who != self.who && !self.died.contains(who);
        let waited_for = movable.into_iter().filter(waits);
        let waited_for = waited_for.filter(|&who| against(who).is_less(&own));
        if waited_for.count() < surplus(&sizes, &self.stuck(&sizes), team) {
            return Ok(smallest);
        }
        Err(own.turn.reason().unwrap_or(match rules.choice {
            MoveRule::WhoDies => StayReason::Tips,
            MoveRule::Closest => StayReason::NotClosest,
        }))
    }

    /// How many players of each team cannot be moved.
    fn stuck(&self, sizes: &[usize]) -> Vec<usize> {
        let teams = (0u8..).zip(sizes);
        teams
            .map(|(team, size)| size.saturating_sub(self.movable(team).len()))
            .collect()
    }

    /// How uneven the game would be with this human of the first team on the second. Where whoever dies is moved, all
    /// moves are as good that do not make the other team too strong.
    fn cost(&self, powers: &Powers, who: usize, (from, to): (u8, u8)) -> f64 {
        let whoever = self.situation.rules.choice == MoveRule::WhoDies;
        if whoever && !self.tips(powers, who, (from, to)) {
            return 0.0;
        }
        match self.chances_of(who, (from, to)) {
            Some((_, after)) => 1.0 - after,
            None => {
                let (left, joined) = powers.after(who, (from, to));
                (left - joined).abs()
            }
        }
    }
}

/// How many players of this team have to go so that no two teams differ by more than one. With more than two teams it
/// can be one more, if others may go instead. A team with more players who are `stuck` than its share keeps these, and
/// the others divide the rest.
fn surplus(sizes: &[usize], stuck: &[usize], team: u8) -> usize {
    let mut divided: Vec<usize> = (0..sizes.len()).collect();
    let mut all: usize = sizes.iter().sum();
    let own = usize::from(team);
    while let Some(at) = divided
        .iter()
        .position(|&one| stuck[one] > all / divided.len())
    {
        let kept = divided.swap_remove(at);
        all -= stuck[kept];
        if kept == own {
            return sizes[own] - stuck[own];
        }
    }
    let (share, rest) = (all / divided.len(), all % divided.len());
    let larger = divided.iter().filter(|&&one| sizes[one] > share).count();
    let keeps = share + usize::from(larger <= rest);
    sizes[own].saturating_sub(keeps)
}

#[cfg(test)]
mod tests;
