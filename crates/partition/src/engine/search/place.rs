//! Builds a first legal split that is roughly even.

use std::{cmp::Reverse, collections::BTreeMap};

use crate::{
    MAX_TEAMS,
    instance::{Instance, Split},
};

/// How many different human counts are tracked while parties are placed. Two teams have at most
/// 129; with more teams, dropping some can miss the only legal ones.
const WIDTH: usize = 4096;

type Counts = [usize; MAX_TEAMS];

/// A partial placement of the parties: their teams so far, and each team's sum above bots.
#[derive(Clone)]
struct Partial {
    teams: Vec<u8>,
    above_bots: [i64; MAX_TEAMS],
}

/// A legal split. Places parties so that single humans can complete the teams; then places the
/// humans from the strongest down, each on the weakest team that has room (R. L. Graham's longest
/// processing time rule). `None` if it finds no legal split.
pub fn place(instance: &Instance) -> Option<Split> {
    let mut split: Split = instance
        .atoms
        .iter()
        .map(|atom| atom.team.unwrap_or(0))
        .collect();
    let free = |party: bool| {
        let atoms = instance.atoms.iter().enumerate();
        atoms.filter(move |(_, atom)| atom.team.is_none() && (atom.size > 1) == party)
    };
    let mut parties: Vec<usize> = free(true).map(|(place, _)| place).collect();
    parties.sort_by_key(|&place| Reverse(instance.atoms[place].size));
    let singles: Vec<usize> = free(false).map(|(place, _)| place).collect();

    let (mut room, party) = place_parties(instance, &parties, singles.len())?;
    for (&place, &team) in parties.iter().zip(&party.teams) {
        split[place] = team;
    }
    let mut above_bots = party.above_bots;
    for place in singles {
        let open = (0..instance.counts.teams).filter(|&team| room[team] > 0);
        let team = open.min_by_key(|&team| above_bots[team])?;
        room[team] -= 1;
        above_bots[team] += instance.atoms[place].above_bot;
        split[place] = team as u8;
    }
    Some(split)
}

/// A team for each party, and how many of the `singles` each team gets.
fn place_parties(
    instance: &Instance,
    parties: &[usize],
    singles: usize,
) -> Option<(Counts, Partial)> {
    let teams = instance.counts.teams;
    let (mut humans, mut above_bots) = ([0; MAX_TEAMS], instance.start);
    for atom in &instance.atoms {
        if let Some(team) = atom.team {
            humans[usize::from(team)] += atom.size;
            above_bots[usize::from(team)] += atom.above_bot;
        }
    }
    let start = Partial {
        teams: Vec::new(),
        above_bots,
    };
    let mut reached = BTreeMap::from([(humans, start)]);
    for &place in parties {
        let atom = &instance.atoms[place];
        let mut next: BTreeMap<Counts, Partial> = BTreeMap::new();
        for (humans, partial) in reached {
            for team in 0..teams {
                let mut humans = humans;
                humans[team] += atom.size;
                if humans[team] > instance.counts.most {
                    continue;
                }
                let mut partial = partial.clone();
                partial.teams.push(team as u8);
                partial.above_bots[team] += atom.above_bot;
                let known = next.get(&humans);
                if known.is_none_or(|known| spread(&partial, teams) < spread(known, teams)) {
                    next.insert(humans, partial);
                }
            }
        }
        reached = widest(next, teams);
    }
    let filled = reached.into_iter().filter_map(|(humans, partial)| {
        let room = fill_up(humans, singles, teams);
        let full: Vec<usize> = (0..teams).map(|team| humans[team] + room[team]).collect();
        instance.counts.size(&full)?;
        Some((room, partial))
    });
    filled.min_by_key(|(_, partial)| spread(partial, teams))
}

/// The [`WIDTH`] entries with the most even human counts.
fn widest(mut all: BTreeMap<Counts, Partial>, teams: usize) -> BTreeMap<Counts, Partial> {
    if all.len() > WIDTH {
        let mut entries: Vec<_> = all.into_iter().collect();
        entries.sort_by_key(|(humans, _)| humans[..teams].iter().map(|h| h * h).sum::<usize>());
        entries.truncate(WIDTH);
        all = entries.into_iter().collect();
    }
    all
}

fn spread(partial: &Partial, teams: usize) -> i64 {
    let above_bots = || partial.above_bots[..teams].iter().copied();
    above_bots().max().unwrap_or(0) - above_bots().min().unwrap_or(0)
}

/// Distributes `singles` humans, each to the team with the fewest, and returns how many each gets.
fn fill_up(mut humans: Counts, singles: usize, teams: usize) -> Counts {
    let mut room = [0; MAX_TEAMS];
    for _ in 0..singles {
        if let Some(team) = (0..teams).min_by_key(|&team| humans[team]) {
            humans[team] += 1;
            room[team] += 1;
        }
    }
    room
}
