//! What the judge says of the teams of each balancer.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Instant,
};

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use crate::{
    balancers::Assembly,
    cases::{Case, standing},
    common::{
        daemon::{Picked, SEEDS},
        judge::{Judge, Opinion},
        lobbies::{History, Lobby},
        statistics::mean,
    },
    entries::Entry,
    ratings::{Known, Source},
};

/// The teams that one balancer has picked for some lobbies, as they are judged.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    /// The mean distance of the chance from one half of each lobby; `None` where it has no answer.
    pub off: Vec<Option<f64>>,
    /// The parties on one team, of all; the wishes that are granted, of all.
    pub kept: [usize; 2],
    pub granted: [usize; 2],
    /// How many different divisions there are among those of all seeds.
    splits: Vec<f64>,
    micros: Vec<f64>,
}

/// The lobbies of a case, with what the judge knows of their players.
pub struct Bench<'a> {
    pub case: Case,
    pub lobbies: &'a [Lobby],
    opinions: Vec<Opinion>,
    wishes: Vec<Vec<Option<u8>>>,
    sides: bool,
}

impl Measured {
    /// The mean number of different divisions among the seeds.
    pub fn splits(&self) -> f64 {
        mean(&self.splits)
    }

    /// The mean time of a lobby in microseconds.
    pub fn micros(&self) -> f64 {
        mean(&self.micros)
    }

    fn add(&mut self, bench: &Bench, at: usize, picked: &[Vec<u8>], micros: f64) {
        let lobby = &bench.lobbies[at];
        let off: Vec<f64> = picked
            .iter()
            .map(|teams| bench.opinions[at].off(teams))
            .collect();
        self.off.push((!off.is_empty()).then(|| mean(&off)));
        self.micros.push(micros);
        let same = |teams: &Vec<u8>| -> Vec<u8> {
            let mirrored = teams.iter().map(|team| 1 - team).collect();
            if bench.sides {
                teams.clone()
            } else {
                teams.clone().min(mirrored)
            }
        };
        if !picked.is_empty() {
            self.splits
                .push(picked.iter().map(same).collect::<BTreeSet<_>>().len() as f64);
        }
        for teams in picked {
            let together =
                |party: &&Vec<usize>| party.iter().all(|who| teams[*who] == teams[party[0]]);
            self.kept[0] += lobby.parties.iter().filter(together).count();
            self.kept[1] += lobby.parties.len();
            let wishes = bench.wishes[at].iter().zip(teams);
            for (wish, team) in wishes.filter_map(|(wish, team)| Some(((*wish)?, *team))) {
                self.granted[0] += usize::from(wish == team);
                self.granted[1] += 1;
            }
        }
    }
}

impl<'a> Bench<'a> {
    pub fn new(
        case: Case,
        history: &History,
        judges: &BTreeMap<usize, Judge>,
        lobbies: &'a [Lobby],
    ) -> Self {
        let opinion = |lobby: &Lobby| {
            judges[&lobby.block].of(lobby.players.iter().map(|(id, _)| id.as_str()))
        };
        Self {
            case,
            lobbies,
            opinions: lobbies.iter().map(opinion).collect(),
            wishes: lobbies.iter().map(|lobby| case.wished(lobby)).collect(),
            sides: history.sides,
        }
    }

    /// The teams of a balancer with these ratings, with so many seeds.
    #[allow(
        clippy::disallowed_methods,
        reason = "the time of each lobby is measured"
    )]
    pub fn run(&self, entry: &Entry, source: Source, known: &[Vec<Known>], seeds: u64) -> Measured {
        let mut measured = Measured::default();
        for (at, lobby) in self.lobbies.iter().enumerate() {
            let mut assembly = Assembly {
                ratings: known[at].iter().map(|k| entry.rating(source, k)).collect(),
                games: known[at].iter().map(|k| k.games).collect(),
                parties: lobby.parties.clone(),
                standing: Vec::new(),
            };
            let (mut picked, mut spent) = (Vec::new(), 0.0);
            for seed in 1..=seeds {
                let mut random = ChaCha8Rng::seed_from_u64(seed << 32 | lobby.at as u64);
                assembly.standing = standing(&self.wishes[at], &mut random);
                let begun = Instant::now();
                let teams = (entry.teams)(&assembly, &mut random);
                spent += begun.elapsed().as_secs_f64() * 1e6;
                let exchanged = !entry.keeps_sides && random.random_bool(0.5);
                let side = |team: u8| team ^ u8::from(exchanged);
                picked.extend(teams.map(|teams| teams.into_iter().map(side).collect()));
            }
            measured.add(self, at, &picked, spent / seeds as f64);
        }
        measured
    }

    /// The teams of Evenkeel.
    pub fn ours(&self, picked: &[Picked]) -> Measured {
        let mut measured = Measured::default();
        for (at, picked) in picked.iter().enumerate() {
            let seeds = picked.teams.len().min(SEEDS as usize);
            measured.add(self, at, &picked.teams[..seeds], picked.micros);
        }
        measured
    }

    /// The teams as they were played.
    pub fn played(&self) -> Measured {
        let mut measured = Measured::default();
        for (at, lobby) in self.lobbies.iter().enumerate() {
            measured.add(self, at, &[lobby.played()], 0.0);
        }
        measured
    }
}
