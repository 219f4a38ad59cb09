//! Lobbies of Beyond All Reason with their parties, as its tests have published them: no later matches judge them, so that
//! only sums of ratings and parties are compared.

use std::{path::Path, time::Instant};

use evenkeel::partition::{GameView, HumanInGame, Problem, ProblemSpec, Settings, solve};
use rand::{SeedableRng, rngs::ChaCha8Rng};
use serde_json::Value;

use crate::{
    balancers::Assembly,
    cases::standing,
    common::statistics::{interval, mean},
    data::Line,
    entries::{Entry, FIELD},
};

/// The mean and the unit of the ratings in the file, which are OpenSkill's.
const MEAN: f64 = 25.0;
const UNIT: f64 = 7.5;

/// A published lobby of two teams.
struct Published {
    ratings: Vec<f64>,
    parties: Vec<Vec<usize>>,
}

/// What a balancer makes of the lobbies.
#[derive(Default)]
struct Made {
    apart: Vec<Option<f64>>,
    kept: [usize; 2],
    splits: Vec<f64>,
    micros: Vec<f64>,
}

/// The lobbies, without those of more than two teams.
fn read() -> Result<Vec<Published>, String> {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/lobbies/teiserver_lobbies.json");
    let text =
        std::fs::read_to_string(&file).map_err(|why| format!("{}: {why}", file.display()))?;
    let all: Value = serde_json::from_str(&text).map_err(|why| why.to_string())?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let indices = |party: &Value| {
        list(party)
            .iter()
            .filter_map(Value::as_u64)
            .map(|who| who as usize)
            .collect()
    };
    let two = list(&all["lobbies"])
        .into_iter()
        .filter(|lobby| lobby["team_count"] == 2);
    let published = two.map(|lobby| Published {
        ratings: list(&lobby["ratings"])
            .iter()
            .filter_map(Value::as_f64)
            .collect(),
        parties: list(&lobby["parties"]).iter().map(indices).collect(),
    });
    Ok(published.collect())
}

impl Published {
    /// The difference of the sums of ratings.
    fn apart(&self, teams: &[u8]) -> f64 {
        let sign = |team: &u8| if *team == 0 { 1.0 } else { -1.0 };
        let signed = self
            .ratings
            .iter()
            .zip(teams)
            .map(|(rating, team)| sign(team) * rating);
        signed.sum::<f64>().abs()
    }

    /// Evenkeel's teams of stated weights, as `evenkeel balance` picks them.
    fn ours(&self, seed: u64) -> Vec<u8> {
        let human = |(at, rating): (usize, &f64)| HumanInGame::new(format!("p{at}"), *rating);
        let spec = ProblemSpec {
            view: GameView {
                humans: self.ratings.iter().enumerate().map(human).collect(),
                teams: 2,
                ..GameView::default()
            },
            amounts: true,
            parties: self.parties.clone(),
            ..ProblemSpec::default()
        };
        let problem = Problem::new(spec).expect("a legal lobby");
        let settings = Settings::default().by_sums(false);
        let solution = solve(&problem, &settings, seed, &mut || false).expect("a solution");
        solution.pick().team_of.clone()
    }

    fn theirs(&self, entry: &Entry, seed: u64) -> Option<Vec<u8>> {
        let rating = |own: &f64| {
            let above = (own - MEAN) / UNIT;
            (entry.units.newcomer + entry.units.unit * above).max(entry.units.least)
        };
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let assembly = Assembly {
            ratings: self.ratings.iter().map(rating).collect(),
            games: vec![100; self.ratings.len()],
            parties: self.parties.clone(),
            standing: standing(&vec![None; self.ratings.len()], &mut random),
        };
        (entry.teams)(&assembly, &mut random)
    }
}

/// What somebody who picks teams of a lobby for a seed makes of all.
#[allow(
    clippy::disallowed_methods,
    reason = "the time of each lobby is measured"
)]
fn make(
    lobbies: &[Published],
    seeds: u64,
    pick: impl Fn(&Published, u64) -> Option<Vec<u8>>,
) -> Made {
    let mut made = Made::default();
    for lobby in lobbies {
        let begun = Instant::now();
        let picked: Vec<Vec<u8>> = (1..=seeds).filter_map(|seed| pick(lobby, seed)).collect();
        made.micros
            .push(begun.elapsed().as_secs_f64() * 1e6 / seeds as f64);
        let apart: Vec<f64> = picked.iter().map(|teams| lobby.apart(teams)).collect();
        made.apart.push((!apart.is_empty()).then(|| mean(&apart)));
        let mut different: Vec<Vec<u8>> = Vec::new();
        for teams in picked {
            let together =
                |party: &&Vec<usize>| party.iter().all(|who| teams[*who] == teams[party[0]]);
            made.kept[0] += lobby.parties.iter().filter(together).count();
            made.kept[1] += lobby.parties.len();
            let same: Vec<u8> = teams.iter().map(|team| team ^ teams[0]).collect();
            if !different.contains(&same) {
                different.push(same);
            }
        }
        if !different.is_empty() {
            made.splits.push(different.len() as f64);
        }
    }
    made
}

/// The lines of all balancers.
pub fn lines(seeds: u64) -> Result<Vec<Line>, String> {
    let lobbies = read()?;
    let ours = make(&lobbies, seeds, |lobby, seed| Some(lobby.ours(seed)));
    let mut lines = vec![line("Evenkeel", &ours, &ours)];
    for entry in &FIELD {
        let made = make(&lobbies, seeds, |lobby, seed| lobby.theirs(entry, seed));
        lines.push(line(entry.name, &made, &ours));
    }
    Ok(lines)
}

fn line(balancer: &str, made: &Made, ours: &Made) -> Line {
    let off: Vec<f64> = made.apart.iter().flatten().copied().collect();
    let pairs = made.apart.iter().zip(&ours.apart);
    let paired: Vec<f64> = pairs
        .filter_map(|(own, ours)| Some((*own)? - (*ours)?))
        .collect();
    let (low, high) = interval(&paired);
    let [kept, parties] = made.kept;
    Line {
        history: "teiserver".to_owned(),
        case: "published".to_owned(),
        balancer: balancer.to_owned(),
        rating: "as published".to_owned(),
        lobbies: off.len(),
        off: mean(&off),
        difference: [mean(&paired), low, high],
        kept: (parties > 0).then(|| kept as f64 / parties as f64),
        granted: None,
        splits: mean(&made.splits),
        micros: mean(&made.micros),
    }
}
