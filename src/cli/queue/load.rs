//! `evenkeel queue load`: random tickets for the queues of `config/queues/wotb.toml`.

use std::io::{self, Write};

use clap::{Args, ValueEnum, value_parser};

use crate::{
    cli::CliError,
    model::{Stream, StreamPurpose},
    simulate::{Load, Shape},
};

/// Print random tickets for the queues of config/queues/wotb.toml, to measure `queue match` with
///
/// 75 % of the tickets are single players, 17 % pairs and 8 % parties of three. Tiers are normal
/// with a mean of 7 and a standard deviation of 2.2. Players have loaded 85 % of 20 maps, 25 % of the
/// tickets ask for players with the same control, and 8 % of the players have a new vehicle. Vehicles
/// and the tiers of parties are drawn as `--shape` says.
#[derive(Debug, Args)]
pub(super) struct LoadArgs {
    /// Number of tickets
    #[arg(long, value_name = "N", default_value_t = 4_000, value_parser = value_parser!(u32).range(1..=100_000))]
    tickets: u32,
    /// The seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// How long the oldest ticket has waited, in seconds; the others wait evenly from there to 0
    #[arg(long, value_name = "SECONDS", default_value_t = 10.0, value_parser = seconds)]
    waited: f64,
    /// How vehicles and the tiers of parties are drawn
    #[arg(long, value_enum, default_value_t = ShapeArg::Popular)]
    shape: ShapeArg,
    /// Add ratings, as the queue `rated` needs them
    #[arg(long)]
    rated: bool,
}

/// The names of the shapes.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ShapeArg {
    /// The vehicles of a tier follow Zipf's law; of the other members of a party, 20 % are one tier
    /// below
    Popular,
    /// Each tier has four kinds with six vehicles each, all equally popular; each seat of a party has
    /// its own tier, at most one from the party's
    Seats,
}

impl From<ShapeArg> for Shape {
    fn from(shape: ShapeArg) -> Self {
        match shape {
            ShapeArg::Popular => Self::Popular,
            ShapeArg::Seats => Self::Seats,
        }
    }
}

fn seconds(text: &str) -> Result<f64, String> {
    let number = text
        .parse()
        .ok()
        .filter(|n: &f64| n.is_finite() && *n >= 0.0);
    number.ok_or_else(|| "must be a number of at least 0".to_owned())
}

pub(super) fn run(args: &LoadArgs) -> Result<(), CliError> {
    let load = Load {
        shape: args.shape.into(),
        ..Load::default()
    };
    let mut stream = Stream::new(args.seed, StreamPurpose::Arrivals);
    let mut out = io::BufWriter::new(io::stdout().lock());
    for number in 0..args.tickets {
        let waited = args.waited * (1.0 - f64::from(number) / f64::from(args.tickets));
        let ticket = load.ticket(number as usize, waited, args.rated, &mut stream);
        writeln!(out, "{}", serde_json::to_string(&ticket)?)?;
    }
    Ok(out.flush()?)
}
