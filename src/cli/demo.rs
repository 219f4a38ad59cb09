//! `evenkeel demo`: shows what the program does on recorded matches, without any preparation.
//!
//! The bundled history contains 60 capture-the-flag matches that bots of known skill played on a real OpenArena
//! server, in the interchange format. The demo ingests it as `evenkeel ingest` does, with the default configuration.
//! It does not read the environment or touch the user's database. The same binary always prints the same text, in
//! numbered sections of at most 100 columns:
//!
//! - how well the weights predict matches from which they were not learned;
//! - a lobby of eight of the bots: the teams picked for it, and all possible divisions.

use std::{
    collections::BTreeSet,
    env,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use clap::Args;
use tempfile::TempDir;

use crate::{
    cli::{CliError, config::FOLDER_FILE, open, quoted, table::Table},
    config::Config,
    daemon::ShutdownSignal,
    learning::Standings,
    logs::Ingest,
    model::{
        Kind, MatchRecord, PlayerKey, Rulebook, Ruleset, WinModel,
        win_model::{LineupPlayer, SAME_CHANCE},
    },
    partition::{
        self, GameView, HumanInGame, Problem, ProblemSpec, Solution, pick::WhatIf,
        settings::Objective, view::ChanceModel,
    },
    rating::history::{self, EvaluationPlan, Subset},
    server::Service,
    store::WeightRow,
};

/// The recorded matches, as `evenkeel export` wrote them.
const HISTORY: &[u8] = include_bytes!("demo/openarena-ctf.jsonl.gz");

/// The ruleset that all of them were played under.
const RULESET: &str = "baseoa.ctf";

/// The file name of the demo's database.
const DATABASE: &str = "evenkeel.db";

/// The file name of the configuration that `--keep` writes beside the database.
const CONFIG: &str = FOLDER_FILE;

/// The exit code after a signal: what shells report for Ctrl-C.
const INTERRUPTED: u8 = 130;

/// How long a demo that was interrupted may take to stop, and then to remove its folder.
const LEAVE: Duration = Duration::from_secs(5);

/// Show what Evenkeel does, on 60 recorded matches that come with the program
///
/// Learns from the matches, prints the leaderboard, picks teams, explains them, and measures how
/// well it predicts matches that it has not seen. Works in a temporary folder, which is removed at
/// the end, and reads no configuration.
#[derive(Debug, Args)]
pub(super) struct DemoArgs {
    /// Leave the database and a configuration in FOLDER, for `evenkeel serve --dir FOLDER`. The folder is created
    /// when missing; existing files are not overwritten
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
}

/// Returns [`INTERRUPTED`] if Ctrl-C or SIGTERM ends it.
pub(super) async fn run(args: DemoArgs) -> Result<ExitCode, CliError> {
    let mut shutdown = ShutdownSignal::install()?;
    let kept = args.keep.as_deref().map(KeptFiles::prepare).transpose()?;
    // Removes itself when it goes out of scope, on errors, too.
    let folder = TempDir::with_prefix("evenkeel-demo-")?;
    let database = folder.path().join(DATABASE);
    let (path, opened) = (folder.path().to_owned(), database.clone());
    // A task of its own: it computes for seconds without noticing a signal.
    let mut showing = tokio::spawn(async move { show(&path, &opened).await });
    tokio::select! {
        shown = &mut showing => shown??,
        () = shutdown.wait() => {
            showing.abort();
            let _ = tokio::time::timeout(LEAVE, showing).await;
            remove(folder).await;
            return Ok(ExitCode::from(INTERRUPTED));
        }
    }
    if let Some(kept) = &kept {
        kept.fill(&database)?;
    }
    folder.close()?;
    next(&mut io::stdout().lock(), kept.as_ref())?;
    Ok(ExitCode::SUCCESS)
}

/// Removes the folder, although the database may still be creating files in it.
///
/// Removing fails when a file appears in the meantime, and is then tried again. Once the folder is
/// gone, nothing can appear in it.
async fn remove(folder: TempDir) {
    let path = folder.keep();
    let removing = async {
        while fs::remove_dir_all(&path).is_err() && path.exists() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let _ = tokio::time::timeout(LEAVE, removing).await;
}

/// Learns in `folder` and prints everything but the last section.
async fn show(folder: &Path, database: &Path) -> Result<(), CliError> {
    let mut config = Config::load("", [])?;
    config.store.database = database.to_owned();
    let service = open(&config, true).await?;
    let shown = show_with(folder, &service, &config).await;
    service.close().await;
    shown
}

async fn show_with(folder: &Path, service: &Service, config: &Config) -> Result<(), CliError> {
    let history = folder.join("openarena-ctf.jsonl.gz");
    fs::write(&history, HISTORY)?;
    Ingest::new(service.store())
        .file(&history, &mut |_| ())
        .await?;
    service.learning().refresh().await?;
    let matches: Vec<MatchRecord> = service.learning().matches().await?;
    let weights: Vec<WeightRow> = service
        .store()
        .learned()
        .weights(RULESET, Kind::Bot)
        .await?;
    let lobby = PickedTeams::choose(service, config, &weights)?;
    let forecast = HeldOut::of(&matches, service.learning().rulebook(), config);
    let mut out = io::stdout().lock();
    leaderboard(&mut out, &matches, &weights)?;
    teams(&mut out, &lobby)?;
    reasons(&mut out, &lobby)?;
    Ok(predictions(&mut out, &forecast)?)
}

/// The two files that `--keep` writes, with absolute paths.
struct KeptFiles {
    database: PathBuf,
    config: PathBuf,
    /// The folder of both.
    folder: PathBuf,
}

impl KeptFiles {
    /// Creates the folder.
    ///
    /// # Errors
    /// Fails if the folder cannot be created or contains one of the files already.
    fn prepare(folder: &Path) -> Result<Self, CliError> {
        let fail = CliError::in_file(folder);
        fs::create_dir_all(folder).map_err(fail)?;
        let folder = std::path::absolute(folder).map_err(fail)?;
        let kept = Self {
            database: folder.join(DATABASE),
            config: folder.join(CONFIG),
            folder,
        };
        for path in [&kept.database, &kept.config] {
            // A dangling symbolic link counts as existing, too.
            if path.symlink_metadata().is_ok() {
                let path = path.display();
                let why = format!("{path} exists and is not overwritten; name another folder");
                return Err(CliError::input(why));
            }
        }
        Ok(kept)
    }

    /// Copies the closed database and writes a configuration for it.
    ///
    /// # Errors
    /// Fails if the disk does, or if one of the files has appeared meanwhile; that file stays
    /// unchanged.
    fn fill(&self, database: &Path) -> Result<(), CliError> {
        create(&self.database, |to| {
            io::copy(&mut File::open(database)?, to).map(drop)
        })?;
        create(&self.config, |to| to.write_all(config().as_bytes())).inspect_err(|_| {
            let _ = fs::remove_file(&self.database);
        })
    }
}

/// Writes a new file, and removes it again if writing fails.
fn create(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<(), CliError> {
    let fail = CliError::in_file(path);
    let mut file = File::create_new(path).map_err(fail)?;
    let written = write(&mut file).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written.map_err(fail)
}

/// The share of the matches that are learned before the first prediction counts. After half of them
/// all bots have played, and the other half is enough to measure.
const LEARNED: f64 = 0.5;

/// The predictions of the later matches, each made before the match is learned from.
struct HeldOut {
    /// Number of matches learned before the first prediction.
    learned: usize,
    /// Number of matches predicted.
    matches: usize,
    /// How many predicted matches the side with the better chance won; an even chance counts ½.
    right: f64,
    /// Mean −ln of the chance given to the team that won.
    log_loss: f64,
}

impl HeldOut {
    /// Predicts with the configured rating system. `matches` must be in the order of the fold.
    fn of(matches: &[MatchRecord], rulebook: &Rulebook, config: &Config) -> Self {
        let settings = config.history();
        let plan = EvaluationPlan {
            systems: vec![settings.rating.system.name()],
            warm_up: LEARNED,
            ..EvaluationPlan::default()
        };
        let result = history::evaluate(
            matches.iter(),
            matches.len(),
            rulebook,
            &settings,
            &plan,
            &mut || 0.0, // the time is not reported
            &mut |_| (),
        );
        let table = result.table(None, Subset::All, None);
        let metrics = table.into_iter().find(|line| line.system.is_some());
        let metrics = metrics.map(|line| line.metrics).unwrap_or_default();
        Self {
            learned: matches.len() - metrics.matches,
            matches: metrics.matches,
            right: metrics.accuracy * metrics.matches as f64,
            log_loss: metrics.log_loss,
        }
    }

    /// The probability that coin flips predict at least as many: a tail of the binomial
    /// distribution.
    fn by_luck(&self) -> f64 {
        let n = self.matches;
        let mut ways = 1.0; // of choosing k of n
        let mut tail = 0.0;
        for k in 0..=n {
            if k as f64 >= self.right {
                tail += ways;
            }
            ways *= (n - k) as f64 / (k + 1) as f64;
        }
        tail / libm::exp2(n as f64)
    }
}

/// The skill that each bot had on the server, 1 to 5. The matches do not contain it.
const SKILL: [(&str, u8); 14] = [
    ("Sarge", 5),
    ("Grunt", 5),
    ("Neko", 4),
    ("Tony", 4),
    ("Major", 4),
    ("Kyonshi", 3),
    ("Ayumi", 3),
    ("Liz", 3),
    ("Penguin", 2),
    ("Rai", 2),
    ("Merman", 2),
    ("Gargoyle", 1),
    ("Beret", 1),
    ("Jenna", 1),
];

fn leaderboard(
    out: &mut impl Write,
    matches: &[MatchRecord],
    weights: &[WeightRow],
) -> io::Result<()> {
    let maps: BTreeSet<&str> = matches.iter().map(|record| record.map.as_str()).collect();
    let (count, bots, maps) = (matches.len(), weights.len(), maps.len());
    writeln!(
        out,
        "\
1. Evenkeel learns from finished matches

The program comes with {count} recorded capture-the-flag matches: 4 against 4, to five captures, played
by {bots} bots on {maps} maps of a real OpenArena server. This table shows the weights that Evenkeel
learns from them for the ruleset {RULESET}: 0 to 100 (an unknown player has 50), with standard
deviations (±). \"Skill\" is the setting of each bot on the server, 1 to 5; Evenkeel does not see it.
"
    )?;
    let skill = |row: &WeightRow| {
        let skill = SKILL.iter().find(|(name, _)| *name == row.name);
        skill.map_or(String::new(), |(_, skill)| skill.to_string())
    };
    let rows: Vec<(usize, &WeightRow)> = (1..).zip(weights).collect();
    let table = Table::of(&rows)
        .num("", |(place, _)| place)
        .text("name", |(_, row)| &row.name)
        .num("weight", |(_, row)| format!("{:.1}", row.weight))
        .num("±", |(_, row)| format!("{:.1}", row.deviation))
        .num("matches", |(_, row)| row.games)
        .num("skill", |(_, row)| skill(row));
    writeln!(out, "{table}\n")
}

fn teams(out: &mut impl Write, lobby: &PickedTeams) -> io::Result<()> {
    let spec = lobby.problem.spec();
    let members = |team: u8| {
        let on_it = spec.view.humans.iter().zip(&lobby.solution.team_of);
        let mut on_it: Vec<_> = on_it.filter(|(_, on)| **on == team).collect();
        on_it.sort_by(|(a, _), (b, _)| b.weight.total_cmp(&a.weight));
        on_it.into_iter().map(|(player, _)| player)
    };
    writeln!(
        out,
        "\
2. It picks teams

Eight of the bots join a game, as if they were humans, and Evenkeel picks two teams. It does the
same for humans, whose weights are learned separately.
"
    )?;
    let player = |player: &HumanInGame| (player.id.clone(), player.weight);
    let sum = |team: usize| {
        let sum = lobby.solution.sums.get(team).copied();
        ("sum".to_owned(), sum.unwrap_or(0.0))
    };
    let rows = members(0).zip(members(1));
    let rows = rows.map(|(one, other)| (player(one), player(other)));
    let rows: Vec<_> = rows.chain([(sum(0), sum(1))]).collect();
    let table = Table::of(&rows)
        .text("team 0", |((name, _), _)| name)
        .num("weight", |((_, weight), _)| format!("{weight:.1}"))
        .text("team 1", |(_, (name, _))| name)
        .num("weight", |(_, (_, weight))| format!("{weight:.1}"));
    writeln!(out, "{table}\n")
}

fn reasons(out: &mut impl Write, lobby: &PickedTeams) -> io::Result<()> {
    let (solution, all) = (&lobby.solution, &lobby.all);
    let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
    let [best, worst] = [all.first(), all.last()].map(|chance| chance.copied().unwrap_or(0.5));
    let percent = |chance: f64| format!("{:.0} %", 100.0 * chance);
    writeln!(
        out,
        "\
3. It says why

- The rating system gives team 0 a chance of {} to win. With teams drawn at random, it gives the
  stronger team {} on average, and {} in the worst case.
- There are {} ways to put four of them on each team. In the most even one, the stronger team has
  a chance of {:.1} %. Chances within {:.0} points of 50 % count as even, because no forecast is more
  exact than that. {} Evenkeel picks one at random, so that the teams are
  not the same every time; the demo's random seed is fixed.
- The weaker team has {:.1} % of the stronger one's strength: a ratio of {:.3}.",
        percent(lobby.chance),
        percent(mean),
        percent(worst),
        solution.considered,
        100.0 * best,
        100.0 * SAME_CHANCE,
        match solution.candidates.len() {
            1 => "Only one way is that even.".to_owned(),
            count => format!("{count} ways are that even."),
        },
        100.0 * solution.ratio,
        solution.ratio,
    )?;
    let evenness = |what: &&WhatIf| what.figures.evenness;
    let what_if = solution.trials.iter();
    let most = what_if.min_by(|a, b| evenness(a).total_cmp(&evenness(b)));
    if let Some((what, chance)) = most.and_then(|what| Some((what, what.figures.chance?))) {
        writeln!(
            out,
            "- {} matters most: if {} alone changed to team {}, team 0 would have a chance of {}.",
            what.who,
            what.who,
            what.other,
            percent(chance)
        )?;
    }
    writeln!(out)
}

fn predictions(out: &mut impl Write, forecast: &HeldOut) -> io::Result<()> {
    let HeldOut {
        learned,
        matches,
        right,
        log_loss,
    } = forecast;
    writeln!(
        out,
        "\
4. It predicts matches that it has not seen

Evenkeel starts again without weights. It learns from the first {learned} matches, and then predicts each
of the last {matches} before it learns from that match.
"
    )?;
    let half = *matches as f64 / 2.0;
    let rows = [
        (
            "winner predicted",
            format!("{right} of {matches}"),
            format!("{half} of {matches}"),
        ),
        (
            "log loss (lower is better)",
            format!("{log_loss:.3}"),
            format!("{:.3}", std::f64::consts::LN_2),
        ),
    ];
    let table = Table::of(&rows)
        .text("", |(what, ..)| what)
        .num("Evenkeel", |(_, own, _)| own)
        .num("a coin", |(.., coin)| coin);
    writeln!(
        out,
        "{table}\n\nA coin is right in {right} or more of {matches} matches in {} of 100 tries. {matches} matches are few:\n\
         `evenkeel evaluate` measures the same, with intervals, on your own matches.\n",
        tries(forecast.by_luck())
    )
}

/// The number of tries out of 100, with as many decimals as are needed to show more than 0.
fn tries(chance: f64) -> String {
    let hundred = 100.0 * chance;
    match hundred {
        h if h >= 1.0 => format!("{h:.0}"),
        h if h >= 0.1 => format!("{h:.1}"),
        _ => "fewer than 0.1".to_owned(),
    }
}

fn next(out: &mut impl Write, kept: Option<&KeptFiles>) -> io::Result<()> {
    let program = program();
    writeln!(out, "5. What to run next\n")?;
    match kept {
        Some(kept) => writeln!(
            out,
            "\
The database and its configuration are in
  {}
  {}
Start the daemon on them:
  {program} serve --dir {}
Then look at its pages in a browser, and ask it from another terminal:
  http://127.0.0.1:7998/
  printf 'GAME {RULESET}\\nBOT Sarge\\nBOT Jenna\\nMEANBOT\\nQUIT\\n' | nc 127.0.0.1 7997
",
            kept.database.display(),
            kept.config.display(),
            quoted(&kept.folder),
        )?,
        None => writeln!(
            out,
            "\
Show the same, and keep the database and a configuration, to see them as pages in a browser:
  {program} demo --keep try
Start the daemon with a new database:
  {program} serve
",
        )?,
    }
    writeln!(
        out,
        "\
Learn from the logs of your own game servers:
  {program} ingest games.log

How to connect a game server is described in docs/how-to/connect.md."
    )
}

/// What to type to run this program as it runs now: cargo sets variables for a program that it starts.
fn program() -> &'static str {
    match env::var_os("CARGO_PKG_NAME").is_some_and(|name| name == env!("CARGO_PKG_NAME")) {
        true if cfg!(debug_assertions) => "cargo run --",
        true => "cargo run --release --",
        false => "evenkeel",
    }
}

/// The configuration for `evenkeel serve` with the kept database.
///
/// # Errors
/// Fails if the path is not UTF-8, which TOML requires.
fn config() -> String {
    format!(
        "\
# Made by `evenkeel demo --keep`. All other keys have their defaults: see `evenkeel config default --all`.

[store]
# 60 recorded OpenArena matches, and what was learned from them. The path is relative to the folder of this file, which
# can be copied and moved.
database = \"{DATABASE}\"
"
    )
}

/// The eight players: two of each skill except the middle one, in no particular order.
const PLAYERS: [&str; 8] = [
    "Jenna", "Sarge", "Penguin", "Tony", "Neko", "Grunt", "Beret", "Rai",
];

/// The map, which is not one of those that the matches were played on.
const MAP: &str = "";

/// The seed of the pick.
const SEED: u64 = 2;

/// A lobby with the teams picked for it.
struct PickedTeams {
    problem: Problem,
    solution: Solution,
    /// The predicted chance that team 0 of the picked teams wins.
    chance: f64,
    /// For each way to put four players on each team, the chance that the stronger team wins; ascending.
    all: Vec<f64>,
}

impl PickedTeams {
    /// Picks teams as the daemon does with the default configuration: by the chances that follow from the
    /// strengths just learned.
    ///
    /// # Errors
    /// Fails if the lobby is not a valid problem.
    fn choose(service: &Service, config: &Config, weights: &[WeightRow]) -> Result<Self, CliError> {
        let balance = &config.balance;
        let weight = |name: &str| {
            let row = weights.iter().find(|row| row.key.id == name);
            row.map_or(balance.default_weight.get(), |row| row.weight)
        };
        let rulebook = service.learning().rulebook();
        let ruleset = rulebook.ruleset(RULESET, &[] as &[String]);
        let standings = service.learning().standings();
        let mut settings = balance.partition.clone();
        let spec = ProblemSpec {
            view: GameView {
                humans: PLAYERS
                    .map(|name| HumanInGame::new(name, weight(name)))
                    .to_vec(),
                chance: model(&standings, &ruleset),
                ..GameView::default()
            },
            equal_within: Some(SAME_CHANCE),
            ..ProblemSpec::default()
        };
        if spec.view.chance.is_none() {
            settings.objective = Objective::Ratio;
        }
        let problem = Problem::new(spec).map_err(CliError::input)?;
        // Eight players take microseconds, so no time limit is needed.
        let solution =
            partition::solve(&problem, &settings, SEED, &mut || false).map_err(CliError::input)?;
        let chance = |team_of: &[u8]| {
            let teams = [0, 1].map(|team| members(team_of, team));
            standings.chance(&ruleset, MAP, &teams).unwrap_or(0.5)
        };
        let mut all: Vec<f64> = divisions()
            .map(|team_of| chance(&team_of))
            .map(|chance| chance.max(1.0 - chance))
            .collect();
        all.sort_by(f64::total_cmp);
        Ok(Self {
            chance: chance(&solution.team_of),
            problem,
            solution,
            all,
        })
    }
}

/// The strengths of the players; `None` if nothing has been learned that predicts a chance.
fn model(standings: &Standings, ruleset: &Ruleset) -> Option<ChanceModel> {
    let view = standings.view(ruleset);
    let teams = [0, 1].map(|team| members(&[0, 1, 0, 1, 0, 1, 0, 1], team));
    let win_model = standings.reading(ruleset, MAP, &teams)?.win_model;
    let strength = |name| view.strength(Kind::Bot, name).unwrap_or(0.0);
    Some(win_model)
        .filter(WinModel::is_sound)
        .map(|win_model| ChanceModel {
            win_model,
            humans: PLAYERS.map(strength).to_vec(),
            bots: Vec::new(),
            next_bot: 0.0,
            deviations: Vec::new(),
            party_multiplier: Vec::new(),
        })
}

/// The keys of the bots on a team.
fn members(team_of: &[u8], team: u8) -> Vec<LineupPlayer> {
    let on_it = PLAYERS.iter().zip(team_of).filter(|(_, on)| **on == team);
    let key = |name: &&str| PlayerKey {
        kind: Kind::Bot,
        id: (*name).to_owned(),
    };
    on_it.map(|(name, _)| key(name).into()).collect()
}

/// All ways to put four players on each team. Those that differ only in which team is which count twice,
/// because one side of a map can be easier to win on.
fn divisions() -> impl Iterator<Item = [u8; PLAYERS.len()]> {
    let half = PLAYERS.len() as u32 / 2;
    let masks = (0u32..1 << PLAYERS.len()).filter(move |mask| mask.count_ones() == half);
    masks.map(|mask| std::array::from_fn(|player| u8::from(mask >> player & 1 == 1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn luck_by_hand() {
        let luck = |matches, right| {
            let forecast = HeldOut {
                learned: 0,
                matches,
                right,
                log_loss: 0.0,
            };
            forecast.by_luck()
        };
        assert_eq!(luck(3, 3.0), 0.125);
        assert_eq!(luck(3, 2.0), 0.5);
        assert_eq!(luck(3, 1.5), 0.5);
        assert_eq!(luck(4, 0.0), 1.0);
    }

    #[test]
    fn eight_players_are_divided_in_70_ways() {
        assert_eq!(divisions().count(), 70);
        for team_of in divisions() {
            assert_eq!([0, 1].map(|team| members(&team_of, team).len()), [4, 4]);
        }
    }
}
