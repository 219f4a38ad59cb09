//! The tables.

use evenkeel::{
    model::MatchRecord,
    rating::SystemName,
    rating::history::{Evaluation, Forecast, Subset, interval},
};

use crate::peers::{PEERS, games, predict};

/// The numbers of decided matches, from the very first one on, over which the log loss of a new
/// community is printed.
const FIRST: [usize; 4] = [50, 100, 200, 400];

/// What the systems and the peers predicted of one history.
pub struct Predicted {
    pub evaluation: Evaluation,
    /// The forecasts of each peer for the same matches as the systems'.
    peers: Vec<(&'static str, Vec<Forecast>)>,
}

impl Predicted {
    /// Lets the peers predict the history, too.
    pub fn new(evaluation: Evaluation, matches: &[MatchRecord]) -> Self {
        let games = games(matches);
        let peers = PEERS.map(|(name, new)| {
            let chances = predict(new(), &games);
            let base = evaluation.predictions().filter(|p| p.system.is_none());
            let own = base.map(|p| Forecast {
                chance: chances[p.number],
                won: p.forecast.won,
            });
            (name, own.collect())
        });
        Self {
            peers: peers.into(),
            evaluation,
        }
    }

    /// The number of matches that were predicted.
    fn count(&self) -> usize {
        let base = self.evaluation.predictions();
        base.filter(|p| p.system.is_none()).count()
    }

    /// The log losses of a system, or of the base rate, in order of time.
    fn losses(&self, system: Option<SystemName>) -> Vec<f64> {
        let own = self.evaluation.predictions();
        let own = own.filter(|p| p.system == system);
        own.map(|p| p.forecast.log_loss()).collect()
    }

    /// The names and log losses of all systems and peers, and of the base rate.
    fn all_losses(&self) -> Vec<(&'static str, Vec<f64>)> {
        let mut all = vec![("base rate", self.losses(None))];
        let of = |system: SystemName| (system.as_str(), self.losses(Some(system)));
        all.extend(SystemName::ALL.map(of));
        all.extend(self.peers.iter().map(|(name, own)| (*name, losses(own))));
        all
    }
}

fn losses(forecasts: &[Forecast]) -> Vec<f64> {
    forecasts.iter().map(Forecast::log_loss).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// Prints the measures of each system over a part of the matches.
pub fn print(evaluation: &Evaluation, subset: Subset) {
    let counted = match subset {
        Subset::All => "all after the first fifth",
        Subset::Experienced => "those where everyone is experienced",
    };
    println!("{counted}, and the interval of the log loss against joint:");
    let table = evaluation.table(None, subset, Some(SystemName::Joint));
    for (place, line) in table.iter().enumerate() {
        let m = &line.metrics;
        let system = line.system.map_or("base rate", |s| s.as_str());
        let against = line
            .against
            .map(|i| format!("{:+.4} {:+.4}", i.low, i.high));
        let comparison = line.comparison().map_or("", |c| c.as_str());
        let seconds = place.checked_sub(1).map_or(0.0, |p| evaluation.seconds[p]);
        println!(
            "  {system:12} n {:4}  log loss {:.4} ({}) {comparison:6}  accuracy {:.3}  Brier {:.4}  calibration {:.3}  {:.1} µs",
            m.matches,
            m.log_loss,
            against.unwrap_or_default(),
            m.accuracy,
            m.brier,
            m.calibration_error,
            1e6 * seconds / evaluation.matches as f64,
        );
    }
}

/// Prints the same of the peers, for all matches after the first fifth.
pub fn print_peers(predicted: &Predicted) {
    println!("systems of others, the same matches:");
    let joint = predicted.losses(Some(SystemName::Joint));
    for (name, forecasts) in &predicted.peers {
        let own = losses(forecasts);
        let worse: Vec<f64> = own.iter().zip(&joint).map(|(o, j)| o - j).collect();
        let against = interval(&worse, 1).map(|i| (i.low, i.high));
        let (low, high) = against.unwrap_or_default();
        let comparison = match (low > 0.0, high < 0.0) {
            (true, _) => "worse",
            (_, true) => "better",
            _ => "level",
        };
        let right = |f: &Forecast| match f.chance == 0.5 {
            true => 0.5,
            false => f64::from(u8::from((f.chance > 0.5) == f.won)),
        };
        let right: Vec<f64> = forecasts.iter().map(right).collect();
        println!(
            "  {name:12} n {:4}  log loss {:.4} ({low:+.4} {high:+.4}) {comparison:6}  accuracy {:.3}",
            own.len(),
            mean(&own),
            mean(&right),
        );
    }
}

/// Prints the log loss of each system and peer over the first matches, as the mean over the histories
/// that have so many; their number is in brackets.
pub fn print_first(histories: &[Predicted]) {
    let long_enough = |number: usize| {
        let enough = |p: &&Predicted| p.count() >= number;
        histories.iter().filter(enough).count()
    };
    let columns = FIRST.map(|number| (number, long_enough(number)));
    print!("  {:12}", "");
    for (number, histories) in &columns {
        print!("  {:>9}", format!("{number} ({histories})"));
    }
    println!();
    let losses: Vec<_> = histories.iter().map(Predicted::all_losses).collect();
    let rows = losses.first().map_or(0, Vec::len);
    for row in 0..rows {
        print!("  {:12}", losses[0][row].0);
        for (number, _) in &columns {
            let own = losses.iter().map(|all| &all[row].1);
            let enough = own.filter(|own| own.len() >= *number);
            let means: Vec<f64> = enough.map(|own| mean(&own[..*number])).collect();
            match means.is_empty() {
                true => print!("  {:9}", ""),
                false => print!("  {:9.4}", mean(&means)),
            }
        }
        println!();
    }
}
