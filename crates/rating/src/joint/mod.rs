//! `joint`, the default: a probit filter that maintains the full covariance between players.
//!
//! A team game reveals only sums of strengths: it remains open which of its players made a team
//! win. A system with an independent deviation per player discards that information after each
//! match. The covariance between all players preserves it until a match with another lineup
//! decides. The state is a Gaussian over `columns`: players, commanders, the effect of being new,
//! of one player more, of a party, of sides, and of sides on a map. A match is a sparse row a of
//! factors; its latent difference is d = a·x + N(0, 1), and team a wins when d > 0, so the chance
//! is Φ(a·m / √(1 + a·S·a)). Learning is moment matching with one rank-1 change of S (`filter`). A
//! factor on the argument of Φ, which is learned from the outcomes, keeps the chances from being
//! too close to 50 % or too far from it (`bank`).
//!
//! - **Ties** mean that |d| was below ε. ε is chosen so that matches between equal teams tie as
//!   often as the matches so far did. Whether that is what a tie means is learned (`outcomes`), and a tie is learned by the
//!   chance that it is. A decided match counts only by the sign of d, not as |d| > ε:
//!   in real games the rules decide what a tie is, so ties do not lie between victory and defeat on
//!   the scale of d.
//! - **Points**, if a game has them, replace the outcome. The difference of the teams' √points has
//!   about the same noise whatever the number of points (Anscombe). Divided by the typical size of
//!   that noise, it is an observation of d itself, while the outcome shows only the sign of d.
//! - **Records**: the points that a player made in earlier matches, compared with an average
//!   player's, have an effect that is learned like all other effects. If the points of a game mean
//!   nothing, the effect stays near 0. If they show strength, a player's strength is known sooner
//!   than from the results of teams. A record counts less with each game of the player: results show
//!   what points that do not win are worth.
//! - **Experience**: the number of a player's earlier games has two effects that are learned from matches, too: that
//!   of being new, which is gone after some ten games, and one per e times as many games, which goes on growing.
//!   Where newcomers are as strong as others, both are nothing. So they count only as far as the matches speak for them
//!   (`filter`).
//! - **One player more** is an advantage before any match shows what it is worth, so that a player who
//!   alone holds two opponents even is rated above them. Matches soon overrule this.
//! - **Priors** are weighed by evidence (`bank`), so there is nothing to tune. The other constants,
//!   for which the evidence was not clear, were chosen on the first fifth of three sets of finished
//!   games (the benchmark `accuracy` measures on the rest); values near them do as well.
//! - **Absence** adds drift: a week adds as much as a match, unless the evidence favours a day.
//! - **Above `ACTIVE` columns**, the players who have been away longest leave the covariance.
//!   Their strengths are kept, independent of all others, until they return: each one's strength alone, in few bytes,
//!   because there may be millions.

mod bank;
pub(super) mod columns;
mod filter;
mod learning;
mod outcomes;
mod triangle;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::bank::{Preset, Settings};
use self::{
    bank::{Bank, Member},
    columns::{Column, Columns},
    filter::{Latent, Prior},
    outcomes::OutcomeStatistics,
};
use super::{
    Player, RatedGame, Strength, System,
    player_map::{PlayerMap, Shared},
    system::{Effects, RoleStrengths, Scale, StrengthParts, with_effects},
};
use evenkeel_model::{
    WinModel,
    win_model::{Company, Crowding, Link},
};

/// The most columns in the covariance: half a megabyte per member of the bank. With twice as many, 84,000 matches of 6,113
/// players took 1.8 times as long, and the log loss of 852 beach volleyball players fell by .0001
/// (docs/internals/figures.md).
pub(crate) const ACTIVE: usize = 512;
/// The unit of weights, see [`Scale`].
const UNIT: f64 = 0.46;

/// The `joint` system.
#[derive(Clone, Serialize, Deserialize)]
pub struct Joint {
    columns: Columns,
    bank: Bank,
    matches: u64,
    /// Statistics of matches, by [mode](RatedGame::mode).
    outcomes: BTreeMap<u32, OutcomeStatistics>,
    /// Players outside the covariance.
    away: Absent,
    /// The limit on columns; [`ACTIVE`] outside tests.
    active: usize,
    cleared: bool,
}

impl Joint {
    /// A system without any games, of a game of which nothing is known.
    pub fn new() -> Self {
        Self::with(Settings::default())
    }

    /// A system without any games.
    pub fn with(settings: Settings) -> Self {
        Self {
            columns: Columns::default(),
            bank: Bank::new(settings.preset),
            matches: 0,
            outcomes: BTreeMap::new(),
            away: Absent::default(),
            active: ACTIVE,
            cleared: false,
        }
    }

    /// One member's estimate of a player, without the effect of being new.
    fn skill(&self, member: &Member, player: Player) -> Option<Strength> {
        if let Some(number) = self.columns.number(Column::Skill(player)) {
            return Some(member.filter.strength(number));
        }
        self.away.strength(member, player)
    }

    /// Each member's estimate of the latent difference of two teams, with the member's weight.
    fn latents(
        &self,
        game: &RatedGame,
        a: usize,
        b: usize,
    ) -> impl Iterator<Item = (f64, &Member, Latent)> {
        let mut row = self.columns.row(game, a, b);
        let mut away = Vec::new();
        row.new.retain(|&(column, x)| match column {
            Column::Skill(player) if self.away.has(player) => {
                away.push((player, x));
                false
            }
            _ => true,
        });
        let members = self.bank.weights().iter().zip(&self.bank.members);
        members.map(move |(&weight, member)| {
            let mut latent = member.latent(&row);
            for &(player, x) in &away {
                if let Some(s) = self.skill(member, player) {
                    latent.mean += x * s.mean;
                    latent.variance += (x * s.deviation) * (x * s.deviation);
                }
            }
            (weight, member, latent)
        })
    }

    /// The factor on the latent difference of a match that does not tie.
    fn sharpness(&self, game: &RatedGame) -> f64 {
        let statistics = self.outcomes.get(&game.mode);
        statistics.copied().unwrap_or_default().sharpness()
    }

    /// Starts a player at a mean. The column of a player holds the strength without the effect of being new, which
    /// is a newcomer's strength. Who has been in games from which they did not learn has a column already.
    fn seed(&mut self, player: Player, mean: f64, away: Away) {
        match self.columns.number(Column::Skill(player)) {
            None => self.away.set(player, away),
            Some(number) => {
                let members = self.bank.members.iter_mut();
                members.for_each(|member| member.filter.set_mean(number, mean));
            }
        }
    }

    /// The strength as a commander, without the effects of earlier matches.
    fn own_roles(&self, player: Player, own: Strength) -> RoleStrengths {
        let column = Column::Command(player);
        let commands = self.columns.number(column).is_some();
        RoleStrengths {
            sides: None,
            commander: commands.then(|| own.mean + self.effect(column)),
        }
    }

    /// The effects of a player's earlier matches, of their number and of the points in them.
    fn career(&self, player: Player) -> f64 {
        with_effects(0.0, self.effects(), self.columns.factors(player))
    }

    /// The mean over the bank of a player's strength, without the effects of earlier matches.
    fn own(&self, player: Player) -> Option<Strength> {
        self.skill(&self.bank.members[0], player)?;
        let of = |member: &Member| {
            let fresh = Strength::prior(member.prior.skill);
            self.skill(member, player).unwrap_or(fresh)
        };
        Some(self.bank.strength(of))
    }

    /// The strength per unit of a column that players share, as the mean over the bank; that of the
    /// prior if no match has had the effect.
    fn effect(&self, column: Column) -> f64 {
        let number = self.columns.number(column);
        self.bank.mean(|m| match number {
            Some(number) => m.filter.mean(number),
            None => m.prior.mean(column),
        })
    }
}

impl Joint {
    /// What the filters have learned about premade parties. The learned share is the part of the
    /// prior's variance that matches have removed.
    fn company(&self) -> Company {
        let Some(number) = self.columns.number(Column::Party) else {
            return Company::default();
        };
        let left = self.bank.mean(|m| {
            let before = m.prior.deviation(Column::Party);
            m.filter.strength(number).variance() / (before * before)
        });
        Company {
            per_friend: self.effect(Column::Party),
            learned: (1.0 - left).clamp(0.0, 1.0),
        }
    }
}

impl Default for Joint {
    fn default() -> Self {
        Self::new()
    }
}

impl System for Joint {
    fn beats(&self, game: &RatedGame, a: usize, b: usize) -> f64 {
        let (latents, sharpness) = (self.latents(game, a, b), self.sharpness(game));
        latents
            .map(|(weight, member, latent)| {
                let latent = latent.times(sharpness);
                weight * member.calibration.chance(game.ruleset, latent)
            })
            .sum()
    }

    fn update(&mut self, game: &RatedGame) {
        self.learn(game);
    }

    fn strength(&self, player: Player) -> Option<Strength> {
        let own = self.own(player)?;
        let mean = with_effects(own.mean, self.effects(), self.columns.factors(player));
        Some(Strength { mean, ..own })
    }

    fn parts(&self, player: Player) -> Option<StrengthParts> {
        let own = self.own(player)?;
        Some(StrengthParts {
            own,
            roles: self.own_roles(player, own),
            factors: self.columns.factors(player),
        })
    }

    /// Those of being new, of experience and of the record.
    fn effects(&self) -> Effects {
        [Column::Newness, Column::Experience, Column::Record].map(|column| self.effect(column))
    }

    fn scale(&self) -> Scale {
        Scale::Strengths {
            newcomer: self.effect(Column::Newness),
            unit: UNIT,
        }
    }

    /// The noise is that of exactly this lineup, 1 + a·S·a.
    fn win_model(&self, game: &RatedGame) -> WinModel {
        self.win_model_and_chance(game).0
    }

    fn win_model_and_chance(&self, game: &RatedGame) -> (WinModel, f64) {
        let (mut per_latent, mut variance, mut chance) = (0.0, 0.0, 0.0);
        let sharpness = self.sharpness(game);
        for (weight, member, latent) in self.latents(game, 0, 1) {
            let factor = sharpness * member.calibration.factor(game.ruleset);
            per_latent += weight * factor / libm::sqrt(1.0 + latent.variance);
            variance += weight * latent.variance;
            chance += weight * (member.calibration).chance(game.ruleset, latent.times(sharpness));
        }
        let players = game.shares().max(1.0);
        let per_strength = per_latent * columns::unit(players);
        let side = |column| per_latent * self.effect(column);
        let sides = match game.sides && game.teams() == 2 {
            true => [
                Column::Side(game.ruleset),
                Column::SideMap(game.ruleset, game.map),
            ]
            .map(side),
            false => [0.0; 2],
        };
        let newcomer = self.effect(Column::Newness);
        let win_model = WinModel {
            link: Link::Normal,
            per_strength,
            players,
            crowding: Crowding::Root,
            per_head: per_latent * self.effect(Column::Size) + per_strength * newcomer,
            per_log_size: per_latent * self.effect(Column::LogSize),
            side: sides.iter().sum(),
            unit: UNIT,
            deviation: per_latent * libm::sqrt(variance),
            company: self.company(),
        };
        (win_model, chance)
    }

    fn command(&self, player: Player, _: &RatedGame) -> f64 {
        self.effect(Column::Command(player))
    }

    /// The strength of a commander includes the one as a player.
    fn roles(&self, player: Player) -> RoleStrengths {
        let commands = self.columns.number(Column::Command(player)).is_some();
        let own = commands.then(|| self.own(player)).flatten();
        let roles = own.map(|own| self.own_roles(player, own));
        let career = |own| with_effects(own, self.effects(), self.columns.factors(player));
        RoleStrengths {
            sides: None,
            commander: roles.and_then(|own| own.commander).map(career),
        }
    }

    fn start(&mut self, player: Player, prior: Strength) {
        self.seed(player, prior.mean, Away::Stated(prior));
    }

    fn adopt(&mut self, player: Player, prior: Strength) {
        self.seed(player, prior.mean, Away::Adopted(prior));
        self.columns.meet(player);
    }

    fn hint(&mut self, player: Player, evidence: Strength) {
        let Some(number) = self.columns.number(Column::Skill(player)) else {
            return;
        };
        // Subtract the effects that the player's earlier matches had in the game from which the
        // evidence comes.
        let career = self.career(player);
        for member in &mut self.bank.members {
            member.observe(number, evidence.mean - career, evidence.variance());
        }
    }

    fn newcomer_deviation(&self) -> f64 {
        libm::sqrt(self.bank.mean(|m| m.prior.skill * m.prior.skill))
    }

    /// The deviation is that of the mixture. The differences between the members' means stay; their
    /// variances are all multiplied by one factor.
    fn widen(&mut self, player: Player, least: f64) {
        let number = self.columns.number(Column::Skill(player));
        let (Some(number), Some(now)) = (number, self.strength(player)) else {
            return;
        };
        let within = self.bank.mean(|m| m.filter.variance(number));
        let missing = least * least - now.variance();
        if missing > 0.0 && within > 0.0 {
            for member in &mut self.bank.members {
                let own = member.filter.variance(number);
                member.filter.widen(number, own * missing / within);
            }
        }
    }

    fn new_season(&mut self, keep: f64) {
        self.away.fade(keep);
        let list = &self.columns.list;
        for member in &mut self.bank.members {
            let prior: Prior = member.prior;
            member.filter.fade(keep, |number| match list[number] {
                column @ (Column::Skill(_) | Column::Command(_)) => Some(prior.deviation(column)),
                _ => None,
            });
        }
    }

    fn warning(&self) -> Option<String> {
        self.cleared.then(|| {
            format!("more than {ACTIVE} columns: the players away longest are rated without their covariances")
        })
    }
}

/// The strengths of the players outside the covariance.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Absent {
    players: PlayerMap<Away>,
    /// The members of the bank when players have left the covariance: the prior of each, and whether it learns from
    /// points. There are as many as there were different banks.
    banks: Shared<Vec<Vec<(Prior, bool)>>>,
}

/// The strength of a player outside the covariance.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Away {
    /// Stated by an operator: the same for every member of the bank.
    Stated(Strength),
    /// Adopted from other rulesets: the same for every member of the bank, with its deviation between
    /// players as the largest that there is.
    Adopted(Strength),
    /// Moved out of the covariance when the bank had one member; the number of that bank.
    Alone(u32, Strength),
    /// Moved out of the covariance: each member's own estimate, and the number of the bank.
    Dormant(u32, Box<[Strength]>),
}

impl Absent {
    /// Whether the player is one of them.
    fn has(&self, player: Player) -> bool {
        self.players.get(player).is_some()
    }

    /// Adds a player, or replaces what was known.
    fn set(&mut self, player: Player, away: Away) {
        self.players.set(player, away);
    }

    /// Removes a player, who comes back.
    fn take(&mut self, player: Player) -> Option<Away> {
        self.players.remove(player)
    }

    /// One member's estimate of a player; `None` if the player is not absent.
    fn strength(&self, member: &Member, player: Player) -> Option<Strength> {
        self.of(self.players.get(player)?, member)
    }

    /// The estimate of one member. A member that was created later gets the estimate of the closest
    /// one: the same prior, or the one it was copied from.
    fn of(&self, away: &Away, member: &Member) -> Option<Strength> {
        let (bank, each) = match away {
            Away::Stated(strength) => return Some(*strength),
            Away::Adopted(strength) => {
                let deviation = strength.deviation.min(member.prior.skill);
                return Some(Strength {
                    deviation,
                    ..*strength
                });
            }
            Away::Alone(_, strength) => return Some(*strength),
            Away::Dormant(bank, each) => (self.banks.get(*bank as usize)?, each),
        };
        let like = |((prior, points), _): &(&(Prior, bool), &Strength)| {
            let (points, drift) = (*points == member.points, *prior == member.prior);
            (prior.skill == member.prior.skill, points, drift)
        };
        let closest = bank.iter().zip(each).max_by_key(like);
        closest.map(|(_, strength)| *strength)
    }

    /// The number of the bank as it is now.
    fn number(&mut self, bank: &Bank) -> u32 {
        let members = bank.members.iter();
        let now: Vec<(Prior, bool)> = members.map(|m| (m.prior, m.points)).collect();
        let known = self.banks.iter().position(|known| *known == now);
        let number = known.unwrap_or_else(|| {
            self.banks.edit().push(now);
            self.banks.len() - 1
        });
        u32::try_from(number).unwrap_or(u32::MAX)
    }

    /// Adds a player who leaves the covariance, with the estimate of each member of the bank.
    fn leave(&mut self, player: Player, bank: u32, each: &[Strength]) {
        let away = match each {
            [alone] => Away::Alone(bank, *alone),
            _ => Away::Dormant(bank, each.into()),
        };
        self.players.set(player, away);
    }

    /// Moves the estimates of all players who were in the covariance towards their priors.
    fn fade(&mut self, keep: f64) {
        let Self { players, banks } = self;
        for away in players.values_mut() {
            let (bank, each) = match away {
                Away::Stated(_) | Away::Adopted(_) => continue,
                Away::Alone(bank, strength) => (*bank, std::slice::from_mut(strength)),
                Away::Dormant(bank, each) => (*bank, &mut **each),
            };
            let priors = banks.get(bank as usize).into_iter().flatten();
            for ((prior, _), strength) in priors.zip(each) {
                *strength = strength.faded(keep, Strength::prior(prior.skill));
            }
        }
    }
}

#[cfg(test)]
mod tests;
