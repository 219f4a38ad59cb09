//! How good teams are, computed from the players and their teams alone: with none of the code that decides.

use std::{cmp::Ordering, collections::BTreeMap};

use super::story::Kind;
use evenkeel_model::{TeamLoad, chance_of_weaker, units::Factor};
use evenkeel_partition::{GameView, HumanInGame};

/// What is bad about teams: the first number that differs decides, and the lower one is better.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Worth {
    /// Pins that are not obeyed, and people who are moved although they must stay.
    broken: usize,
    /// Teams without anybody, and humans too many on teams that outnumber the smallest by more than allowed.
    lack: (usize, usize),
    /// Parties that are on several teams.
    torn: usize,
    /// By how many humans the largest team exceeds the smallest.
    spread: usize,
    /// One half minus the chance of the weaker team, or of one with its share of the weights.
    uneven: f64,
    /// Humans who have to leave their team.
    moved: usize,
    /// Wishes for a team that are not granted, and pairs on one team who avoid each other.
    refused: usize,
}

impl Worth {
    /// What is bad about these teams of the humans of a game; `limit` is by how many humans teams may differ.
    pub(super) fn of(game: &GameView, teams: &str, limit: usize, kind: Kind) -> Self {
        let on: Vec<Option<usize>> = teams
            .chars()
            .map(|team| team.to_digit(10).map(|team| team as usize))
            .collect();
        let humans = || game.humans.iter().zip(&on);
        let count = |what: &dyn Fn(&HumanInGame, Option<usize>) -> bool| {
            humans().filter(|(human, on)| what(human, **on)).count()
        };
        let now = |human: &HumanInGame| human.team.map(usize::from);
        let left = |human: &HumanInGame, on| now(human).is_some_and(|now| Some(now) != on);
        let pinned = |human: &HumanInGame, on: Option<usize>| {
            let elsewhere =
                on.is_some_and(|on| human.pin.is_some_and(|pin| usize::from(pin) != on));
            elsewhere && (kind == Kind::Balance || now(human) != on)
        };
        let held = |human: &HumanInGame, on| {
            kind != Kind::Balance
                && (human.held.is_some() || human.pin.is_some())
                && left(human, on)
        };
        let sizes: Vec<usize> = (0..usize::from(game.teams))
            .map(|team| on.iter().filter(|on| **on == Some(team)).count())
            .collect();
        let (most, fewest) = (*sizes.iter().max().unwrap(), *sizes.iter().min().unwrap());
        let over = |size: &usize| size.saturating_sub(fewest + limit);
        let (loads, weights) = totals(game, &on, &sizes);
        Self {
            broken: count(&pinned) + count(&held),
            lack: (
                loads.iter().filter(|load| load.heads == 0).count(),
                sizes.iter().map(over).sum(),
            ),
            torn: torn(game, &on),
            spread: most - fewest,
            uneven: 0.5 - chance_of_weaker(evenness(game, &loads, &weights)),
            moved: count(&left),
            refused: count(&|human, on| human.wish.is_some_and(|w| on != Some(usize::from(w))))
                + together(game, &on),
        }
    }

    /// `Less` if these teams are better than the others.
    pub(super) fn compare(&self, other: &Self) -> Ordering {
        let first = |worth: &Self| (worth.broken, worth.lack, worth.torn, worth.spread);
        let even = match (self.uneven - other.uneven).abs() < 1e-9 {
            true => Ordering::Equal,
            false => self.uneven.total_cmp(&other.uneven),
        };
        let last = (self.moved, self.refused).cmp(&(other.moved, other.refused));
        first(self).cmp(&first(other)).then(even).then(last)
    }
}

/// How even the teams are, 0 to 1.
fn evenness(game: &GameView, loads: &[TeamLoad], weights: &[f64]) -> f64 {
    if let Some(model) = &game.chance {
        return model.win_model.evenness(loads);
    }
    let most = weights.iter().copied().fold(0.0, f64::max);
    let least = weights.iter().copied().fold(f64::INFINITY, f64::min);
    if most > 0.0 { least / most } else { 1.0 }
}

/// What a list of factors says of a party of this size.
fn factor(factors: &[Factor], size: usize) -> f64 {
    let entry = size.checked_sub(2).and_then(|extra| factors.get(extra));
    let entry = entry.or(factors.last()).filter(|_| size > 1);
    entry.map_or(1.0, |factor| factor.get())
}

/// The players and the sums of the strengths and weights of each team, with the bots that it will have. Friends count as
/// they are together on these teams.
fn totals(game: &GameView, on: &[Option<usize>], sizes: &[usize]) -> (Vec<TeamLoad>, Vec<f64>) {
    let model = game.chance.as_ref();
    let friends = |who: usize| {
        let party = &game.humans[who].party;
        let mates = (0..on.len()).filter(|mate| *mate != who && on[*mate] == on[who]);
        mates
            .filter(|mate| party.is_some() && game.humans[*mate].party == *party)
            .count()
    };
    let teams = 0..sizes.len();
    let largest = sizes.iter().max().copied().unwrap_or(0);
    let players: usize = sizes.iter().sum();
    let (least, most) = game.fill.map_range;
    let wanted = (game.fill.wish.max(least).min(most.max(least)) as usize).div_ceil(sizes.len());
    let of = |team: usize| {
        let there: Vec<usize> = (0..game.bots.len())
            .filter(|bot| usize::from(game.bots[*bot].team) == team)
            .collect();
        let bots = match game.fill.on {
            false => there.len(),
            true if players < game.fill.min_humans as usize => 0,
            true => wanted.max(largest) - sizes[team],
        };
        let sum = |human: &dyn Fn(usize) -> f64, bot: &dyn Fn(usize) -> f64, next: f64| {
            let humans = (0..on.len())
                .filter(|who| on[*who] == Some(team))
                .map(human);
            let here: f64 = there.iter().map(|at| bot(*at)).sum();
            let of_bots = match bots.checked_sub(there.len()) {
                Some(more) => here + more as f64 * next,
                None => here / there.len() as f64 * bots as f64,
            };
            humans.sum::<f64>() + of_bots
        };
        let strength = model.map_or(0.0, |model| {
            sum(
                &|who| {
                    let (alone, friends) = (model.humans[who], friends(who));
                    let multiplier = factor(&model.party_multiplier, friends + 1);
                    alone + model.win_model.befriended(alone, friends, multiplier)
                },
                &|bot| model.bots[bot],
                model.next_bot,
            )
        });
        let weight = sum(
            &|who| game.humans[who].weight * factor(&game.party_factors, friends(who) + 1),
            &|bot| game.bots[bot].weight,
            game.next_bot,
        );
        let heads = sizes[team] + bots;
        (TeamLoad { heads, strength }, weight)
    };
    teams.map(of).unzip()
}

/// How many parties are on several teams.
fn torn(game: &GameView, on: &[Option<usize>]) -> usize {
    let mut parties = BTreeMap::<&str, Vec<usize>>::new();
    for (human, on) in game.humans.iter().zip(on) {
        if let (Some(party), Some(on)) = (&human.party, on) {
            parties.entry(party).or_default().push(*on);
        }
    }
    let apart = |teams: &&Vec<usize>| teams.iter().any(|team| *team != teams[0]);
    parties.values().filter(apart).count()
}

/// How many humans are on one team with somebody whom they avoid.
fn together(game: &GameView, on: &[Option<usize>]) -> usize {
    let humans = || game.humans.iter().zip(on);
    let meets = |(human, on): &(&HumanInGame, &Option<usize>)| {
        let mut others = humans().filter(|(_, other)| on.is_some() && *other == *on);
        others.any(|(other, _)| human.avoid.contains(&other.id))
    };
    humans().filter(meets).count()
}
