//! `evenkeel queue simulate`: a queue in virtual time, with random people and the real planner; the result is printed
//! as tables, and the waits as plots.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::{Args, value_parser};
use plotters::prelude::*;

use super::configured;
use crate::{
    cli::{
        CliError, between, print_json,
        table::{ProgressLine, Table, printable},
    },
    matchmaking::Effort,
    simulate::{
        CategoryWaits, Load, MatchQuantiles, QueueOutcome, SearchPlan, SimulationReport,
        SimulationSettings,
    },
};

pub(super) fn run(args: &SimulateQueueArgs) -> Result<(), CliError> {
    let settings = args.settings().map_err(CliError::input)?;
    let queue = configured(&args.config, &args.queue)?;
    if let Some(folder) = &args.svg {
        std::fs::create_dir_all(folder).map_err(CliError::in_file(folder))?;
    }
    let template = "{wide_bar} {pos}/{len} virtual seconds, {eta} to go";
    let mut progress = ProgressLine::new(settings.length as u64, template);
    let plan = SearchPlan {
        effort: args.effort,
        threads: args.threads,
    };
    let outcome = QueueOutcome::of(&queue, settings, plan, |now| progress.set(now));
    let outcome =
        outcome.map_err(|error| CliError::input(format!("no ticket can be drawn: {error}")))?;
    progress.done();
    if let Some(folder) = &args.svg {
        plot(folder, &outcome.report)
            .map_err(|error| CliError::failed(format!("cannot draw the plot: {error}")))?;
    }
    let mut out = io::stdout().lock();
    if args.json {
        print_json(&outcome)?;
    } else {
        print(&mut out, &outcome)?;
    }
    Ok(())
}

/// Simulate a queue: people who queue, wait, play and queue again, against the real planner
///
/// Time is virtual: an hour takes as long as its searches. Prints how long people waited, who waited
/// longest, and how close the matches were. The result depends on the configuration, the options, the
/// seed and the effort alone; only the times of the searches depend on the machine.
#[derive(Debug, Args)]
pub(super) struct SimulateQueueArgs {
    /// The queue, by its name in the configuration
    #[arg(long, value_name = "NAME")]
    pub queue: String,
    /// Read the configuration from FILE
    #[arg(long, value_name = "FILE", env = "EVENKEEL_CONFIG")]
    pub config: PathBuf,
    /// Virtual time, in hours
    #[arg(long, value_name = "HOURS", default_value_t = 1.0, value_parser = hours)]
    hours: f64,
    /// The seed of all random numbers
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    /// How much each round searches; the daemon's rounds have 1
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..=i64::from(Effort::MOST)))]
    pub effort: u32,
    /// Search on N threads; this changes nothing but the time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u16).range(1..=256))]
    pub threads: u16,
    /// The shortest time between the beginnings of two rounds, in milliseconds; by default as in the
    /// daemon
    #[arg(long, value_name = "MILLIS", value_parser = value_parser!(u64).range(10..=60_000))]
    spacing: Option<u64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write plots of the waits to FOLDER
    #[arg(long, value_name = "FOLDER")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    people: PeopleArgs,
}

/// Who is online, and what they do.
#[derive(Debug, Args)]
#[command(next_help_heading = "People")]
struct PeopleArgs {
    /// Number of players online
    #[arg(long, value_name = "N", default_value_t = 5_000, value_parser = value_parser!(u32).range(1..=1_000_000))]
    online: u32,
    /// How long a match lasts for a player, on average, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 300.0, value_parser = duration)]
    battle: f64,
    /// How much shorter or longer a match is for some players, as a share of --battle
    #[arg(long, value_name = "SHARE", default_value_t = 0.3, value_parser = share)]
    battle_spread: f64,
    /// How long players rest between two matches, on average, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0.0, value_parser = seconds)]
    rest: f64,
    /// Half of the tickets are cancelled after this wait, or later, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 240.0, value_parser = duration)]
    patience: f64,
    /// Standard deviation of the logarithm of the wait after which a ticket is cancelled
    #[arg(long, value_name = "SD", default_value_t = 0.5, value_parser = deviation)]
    patience_spread: f64,
    /// Share of the players who decline a match, if the queue has a ready check
    #[arg(long, value_name = "SHARE", default_value_t = 0.03, value_parser = share)]
    declines: f64,
    /// How long players take to answer the ready check, on average, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0, value_parser = seconds)]
    answer: f64,
    /// Mean of the players' weights
    #[arg(long, value_name = "WEIGHT", default_value_t = 50.0, value_parser = weight)]
    weight: f64,
    /// Standard deviation of the players' weights
    #[arg(long, value_name = "SD", default_value_t = 15.0, value_parser = weight)]
    weight_spread: f64,
    /// Share of the tickets with two players
    #[arg(long, value_name = "SHARE", default_value_t = 0.17, value_parser = share)]
    pairs: f64,
    /// Share of the tickets with three players; with --pairs, at most 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.08, value_parser = share)]
    threes: f64,
    /// Mean of the attribute `tier`
    #[arg(long, value_name = "TIER", default_value_t = 7.0, value_parser = weight)]
    tier: f64,
    /// Standard deviation of the attribute `tier`
    #[arg(long, value_name = "SD", default_value_t = 2.2, value_parser = weight)]
    tier_spread: f64,
    /// Number of vehicles of a tier; who has which follows Zipf's law
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = value_parser!(u32).range(1..=10_000))]
    vehicles: u32,
    /// Number of maps that players can have loaded
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = value_parser!(u32).range(1..=128))]
    maps: u32,
    /// Share of the maps that a player has loaded
    #[arg(long, value_name = "SHARE", default_value_t = 0.85, value_parser = share)]
    loaded: f64,
    /// Share of the tickets that accept only one of two modes
    #[arg(long, value_name = "SHARE", default_value_t = 0.2, value_parser = share)]
    one_mode: f64,
    /// Share of the tickets that play with a mouse
    #[arg(long, value_name = "SHARE", default_value_t = 0.3, value_parser = share)]
    mouse: f64,
    /// Share of the tickets that ask for players with the same control
    #[arg(long, value_name = "SHARE", default_value_t = 0.25, value_parser = share)]
    single_control: f64,
    /// Share of the players with a new vehicle
    #[arg(long, value_name = "SHARE", default_value_t = 0.08, value_parser = share)]
    newcomers: f64,
}

fn hours(text: &str) -> Result<f64, String> {
    between(text, 0.001, 24.0)
}

fn share(text: &str) -> Result<f64, String> {
    between(text, 0.0, 1.0)
}

fn seconds(text: &str) -> Result<f64, String> {
    between(text, 0.0, 86_400.0)
}

fn duration(text: &str) -> Result<f64, String> {
    between(text, 1.0, 86_400.0)
}

fn deviation(text: &str) -> Result<f64, String> {
    between(text, 0.0, 5.0)
}

fn weight(text: &str) -> Result<f64, String> {
    between(text, 0.0, 100.0)
}

impl SimulateQueueArgs {
    /// The settings of the simulation.
    ///
    /// # Errors
    /// Fails if the shares of parties are more than 1 together.
    pub fn settings(&self) -> Result<SimulationSettings, String> {
        let people = &self.people;
        if people.pairs + people.threes > 1.0 {
            return Err("--pairs and --threes must be at most 1 together".to_owned());
        }
        let default = SimulationSettings::default();
        Ok(SimulationSettings {
            online: people.online as usize,
            length: self.hours * 3_600.0,
            battle: people.battle,
            battle_spread: people.battle_spread,
            rest: people.rest,
            patience: people.patience,
            patience_spread: people.patience_spread,
            declines: people.declines,
            answer: people.answer,
            weight_mean: people.weight,
            weight_deviation: people.weight_spread,
            load: people.load(),
            spacing_millis: self.spacing.unwrap_or(default.spacing_millis),
            seed: self.seed,
        })
    }
}

impl PeopleArgs {
    fn load(&self) -> Load {
        Load {
            pairs: self.pairs,
            threes: self.threes,
            tier_mean: self.tier,
            tier_deviation: self.tier_spread,
            vehicles: self.vehicles as usize,
            maps: self.maps as usize,
            loaded: self.loaded,
            one_mode: self.one_mode,
            mouse: self.mouse,
            single_control: self.single_control,
            newcomers: self.newcomers,
            ..Load::default()
        }
    }
}

type Failure = Box<dyn std::error::Error>;

/// The colours of the lines, in order; more lines begin again.
const COLOURS: [RGBColor; 6] = [BLACK, BLUE, RED, GREEN, MAGENTA, CYAN];

/// Draws `waits.svg`, the distribution of the waits, and `categories.svg`, their percentiles by
/// category.
fn plot(folder: &Path, report: &SimulationReport) -> Result<(), Failure> {
    distribution(&folder.join("waits.svg"), report)?;
    categories(&folder.join("categories.svg"), report)
}

/// The share of the tickets whose wait has ended, over the seconds since SUBMIT.
fn distribution(path: &Path, report: &SimulationReport) -> Result<(), Failure> {
    let most = report
        .waits
        .iter()
        .map(|waits| waits.p99)
        .fold(0.1, f64::max);
    let root = SVGBackend::new(path, (640, 480)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(format!("waits in {}", report.queue), ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(44)
        .build_cartesian_2d(0.0..most, 0.0..1.0)?;
    chart
        .configure_mesh()
        .x_desc("seconds")
        .y_desc("share of the tickets that have left the queue")
        .draw()?;
    for (curve, &colour) in report.curves.iter().zip(COLOURS.iter().cycle()) {
        let points = curve.points.iter().copied().filter(|(at, _)| *at <= most);
        let points = [(0.0, 0.0)].into_iter().chain(points);
        let line = chart.draw_series(LineSeries::new(points, colour))?;
        line.label(curve.category.as_str())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour));
    }
    chart
        .configure_series_labels()
        .background_style(WHITE.mix(0.8))
        .position(SeriesLabelPosition::LowerRight)
        .draw()?;
    root.present()?;
    Ok(())
}

/// For each category, the median, the 95th and the 99th percentile of its waits.
fn categories(path: &Path, report: &SimulationReport) -> Result<(), Failure> {
    let rows: &[CategoryWaits] = &report.waits;
    let most = rows.iter().map(|waits| waits.p99).fold(0.1, f64::max);
    let height = 90 + 18 * rows.len() as u32;
    let root = SVGBackend::new(path, (640, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let count = rows.len() as f64;
    let mut chart = ChartBuilder::on(&root)
        .caption("waits: p50 blue, p95 black, p99 red", ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(170)
        .build_cartesian_2d(0.0..most * 1.02, 0.0..count)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .y_labels(0)
        .x_desc("seconds")
        .draw()?;
    for (at, row) in rows.iter().enumerate() {
        let y = count - at as f64 - 0.5;
        let line = [(row.p50, y), (row.p99, y)];
        chart.draw_series(LineSeries::new(line, BLACK.mix(0.3)))?;
        for (x, colour) in [(row.p50, BLUE), (row.p95, BLACK), (row.p99, RED)] {
            chart.draw_series([Circle::new((x, y), 3, colour.filled())])?;
        }
        let place = chart.backend_coord(&(0.0, y));
        let style = ("sans-serif", 12).into_font().into_text_style(&root);
        root.draw_text(&row.category, &style, (place.0 - 160, place.1 - 6))?;
    }
    root.present()?;
    Ok(())
}

/// Prints what became of the tickets, how long they waited, and what the matches were like.
fn print(out: &mut impl Write, outcome: &QueueOutcome) -> io::Result<()> {
    let report = &outcome.report;
    let search = &outcome.search;
    writeln!(
        out,
        "queue {}: {} players online for {:.0} s; {:.1} players in {:.1} tickets a second",
        printable(&report.queue),
        report.online,
        report.seconds,
        report.players as f64 / report.seconds,
        report.tickets.queued as f64 / report.seconds,
    )?;
    counts(out, report)?;
    waits(out, "tickets", &report.waits)?;
    if !report.worst.is_empty() {
        waits(out, "longest waits, by p95", &report.worst)?;
    }
    matches(out, report)?;
    writeln!(
        out,
        "searches: {:.3} CPU seconds a second, {} rounds with {:.1} tickets; a round took {:.1} ms (p50), \
         {:.1} ms (p99), {:.1} ms (most); {} rounds late, {} behind",
        search.cpu_per_second,
        report.rounds,
        report.waiting,
        search.p50,
        search.p99,
        search.most,
        search.late,
        search.behind,
    )
}

fn counts(out: &mut impl Write, report: &SimulationReport) -> io::Result<()> {
    let counts = &report.tickets;
    writeln!(
        out,
        "tickets: {} queued = {} matched + {} cancelled + {} declined + {} expired + {} left",
        counts.queued,
        counts.matched,
        counts.cancelled,
        counts.declined,
        counts.expired,
        counts.left,
    )
}

fn waits(out: &mut impl Write, head: &str, rows: &[CategoryWaits]) -> io::Result<()> {
    let seconds = |seconds: f64| format!("{seconds:.2}");
    let waits = Table::of(rows)
        .text(head, |row| &row.category)
        .num("number", |row| row.tickets)
        .num("matched", |row| percent(row.matched))
        .num("mean s", |row| seconds(row.mean))
        .num("p50 s", |row| seconds(row.p50))
        .num("p95 s", |row| seconds(row.p95))
        .num("p99 s", |row| seconds(row.p99))
        .num("most s", |row| seconds(row.most));
    writeln!(out, "{waits}")
}

/// How often each map and each mode was picked.
fn picks(out: &mut impl Write, report: &SimulationReport) -> io::Result<()> {
    for picked in &report.picks {
        let shares = Table::of(&picked.words)
            .text(&picked.pick, |word| &word.word)
            .num("matches", |word| word.matches)
            .num("of the matches", |word| percent(word.share));
        writeln!(out, "{shares}")?;
        writeln!(
            out,
            "{:.1} % of the players had the {} of their last match again",
            100.0 * picked.again,
            printable(&picked.pick),
        )?;
    }
    Ok(())
}

fn matches(out: &mut impl Write, report: &SimulationReport) -> io::Result<()> {
    writeln!(
        out,
        "{} matches, {:.1} % of their players with full teams; {} proposals lost a ticket during the search, \
         {} matches were declined",
        report.matches,
        100.0 * report.full,
        report.dropped,
        report.dissolved,
    )?;
    let sizes = Table::of(&report.sizes)
        .text("team size", |size| size.size)
        .num("matches", |size| size.matches)
        .num("of the players", |size| percent(size.players));
    writeln!(out, "{sizes}")?;
    let rules = Table::of(&report.rules)
        .text("rule", |rule| &rule.rule)
        .text("", |rule| if rule.hard { "hard" } else { "" })
        .num("matches that violate it", |rule| rule.violated)
        .num("penalty a match", |rule| format!("{:.3}", rule.cost));
    writeln!(out, "{rules}")?;
    picks(out, report)?;
    let rows: [(&str, &MatchQuantiles); 3] = [
        ("difference of the teams' sums", &report.closeness.gap),
        ("chance, from even", &report.closeness.chance),
        ("penalty", &report.penalty),
    ];
    let figure = |number: f64| format!("{number:.3}");
    let spreads = Table::of(&rows)
        .text("of a match", |(what, _)| what)
        .num("p50", |(_, spread)| figure(spread.p50))
        .num("p95", |(_, spread)| figure(spread.p95))
        .num("most", |(_, spread)| figure(spread.most));
    writeln!(out, "{spreads}")
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
