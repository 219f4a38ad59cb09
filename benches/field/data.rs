//! The results as lines of a table, `docs/internals/field.csv`, from which the page and the picture are made.

use std::fmt::Write;

/// The first line of the file.
const HEAD: &str =
    "history,case,balancer,rating,lobbies,off,difference,low,high,kept,granted,splits,micros";

/// What one balancer reached in one case.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// A recorded history, `all` of them, or `teiserver`.
    pub history: String,
    pub case: String,
    pub balancer: String,
    pub rating: String,
    /// The lobbies for which it has an answer.
    pub lobbies: usize,
    /// The mean distance of the chance from one half; for `teiserver` the difference of the sums.
    pub off: f64,
    /// That less Evenkeel's in the same lobbies, and its 95 % interval.
    pub difference: [f64; 3],
    /// The share of the parties on one team.
    pub kept: Option<f64>,
    /// The share of the wishes that are granted.
    pub granted: Option<f64>,
    /// The number of different divisions of 30 seeds.
    pub splits: f64,
    /// The time of a lobby in microseconds.
    pub micros: f64,
}

impl Line {
    /// Whether it is surely better than Evenkeel, as far as the interval says.
    pub fn is_better(&self) -> bool {
        self.difference[2] < 0.0
    }

    /// Whether it is surely worse.
    pub fn is_worse(&self) -> bool {
        self.difference[1] > 0.0
    }
}

/// The file of these lines.
pub fn to_csv(lines: &[Line]) -> String {
    let mut csv = format!("{HEAD}\n");
    let share = |share: Option<f64>| share.map_or(String::new(), |share| format!("{share:.4}"));
    for line in lines {
        let [difference, low, high] = line.difference;
        let names = [&line.history, &line.case, &line.balancer, &line.rating];
        for name in names {
            let _ = write!(csv, "\"{name}\",");
        }
        let _ = writeln!(
            csv,
            "{},{:.4},{difference:.4},{low:.4},{high:.4},{},{},{:.2},{:.1}",
            line.lobbies,
            line.off,
            share(line.kept),
            share(line.granted),
            line.splits,
            line.micros
        );
    }
    csv
}

/// The lines of such a file; `None` if it is not one.
pub fn from_csv(csv: &str) -> Option<Vec<Line>> {
    let mut lines = csv.lines();
    if lines.next()? != HEAD {
        return None;
    }
    lines.map(line).collect()
}

fn line(text: &str) -> Option<Line> {
    // Names are in quotes, because some have a comma, and none has a quotation mark.
    let parts: Vec<&str> = text.split('"').collect();
    let [_, history, _, case, _, balancer, _, rating, numbers] = parts[..] else {
        return None;
    };
    let cells: Vec<&str> = numbers.strip_prefix(',')?.split(',').collect();
    let [
        lobbies,
        off,
        difference,
        low,
        high,
        kept,
        granted,
        splits,
        micros,
    ] = cells[..]
    else {
        return None;
    };
    let number = |cell: &str| cell.parse::<f64>().ok();
    Some(Line {
        history: history.to_owned(),
        case: case.to_owned(),
        balancer: balancer.to_owned(),
        rating: rating.to_owned(),
        lobbies: lobbies.parse().ok()?,
        off: number(off)?,
        difference: [number(difference)?, number(low)?, number(high)?],
        kept: number(kept),
        granted: number(granted),
        splits: number(splits)?,
        micros: number(micros)?,
    })
}
