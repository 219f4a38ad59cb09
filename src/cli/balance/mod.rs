//! `evenkeel balance`: chooses teams for a list of players, without a daemon, and prints them as tables or as JSON.
//!
//! The weights of a list stand for strengths, so that the chances to win can decide. The body of `POST /v1/teams` is answered
//! as by the daemon.

mod args;

pub(super) use args::BalanceArgs;

use std::{
    io::{self, Read, Write},
    time::{Duration, Instant},
};

use serde::Serialize;
use serde_json::Value;

use crate::{
    cli::{
        CliError,
        balance::args::{FileFormat, LobbyFile, LobbyFlags, apply_flags, settings},
        block_on, open, open_input, print_json,
        table::{ProgressLine, Table, printable},
    },
    config::Config,
    model::{
        ident::Ident,
        team_names::Naming,
        text::{amount, counted},
    },
    partition::{
        self, GameView, HumanInGame, Problem, ProblemError, ProblemSpec, Solution,
        settings::Objective, view::ChanceModel,
    },
    rating::{self, Player, RatedGame, Seat, system::Scale},
    session::draw_seed,
    web::api::{AskedGame, Asker, TeamsAnswer, picked_for},
};

/// The largest lobby file that is read, in bytes.
const MAX_FILE: u64 = 1 << 20;

pub(super) fn run(args: &BalanceArgs) -> Result<(), CliError> {
    let config = args.common.load()?;
    let (text, format) = read(args)?;
    let input = |why: String| CliError::input(format!("{}: {why}", args.file.display()));
    if let Some(body) = body_of(&text) {
        return block_on(answer_body(args, &config, body));
    }
    let flags = &args.flags;
    let mut lobby = LobbyFile::parse(&text, format).map_err(input)?;
    apply_flags(&mut lobby, flags).map_err(CliError::input)?;
    if lobby.players.is_empty() {
        return Err(input("there are no players in it".to_owned()));
    }
    let humans = lobby.players.len();
    let has_bots =
        config.lobby.bots && !flags.no_bots && humans >= config.lobby.min_humans.as_usize();
    let spec = lobby.into_spec(&config, has_bots, flags.by_chance());
    let mut spec = spec.map_err(input)?;
    spec.check().map_err(CliError::input)?;
    let mut settings = settings(flags, &config, spec.amounts).map_err(CliError::input)?;
    decide(&mut spec, &mut settings, &config.rating.rating);
    let pins = spec.relax();
    let seed = args.seed.unwrap_or_else(draw_seed);
    let problem = Problem::new(spec).map_err(CliError::input)?;
    let time = Duration::from_millis(
        flags
            .time
            .unwrap_or(config.balance.deadline_ms.get().into()),
    );
    let mut solution = solve(&problem, &settings, seed, time).map_err(CliError::input)?;
    if !has_bots {
        // The places that bots would fill stay empty.
        solution.bots.fill(0);
    }
    let notes = notes(&problem, pins, &solution, &settings, seed, time);
    let chosen = Chosen {
        problem: &problem,
        settings: &settings,
        solution: &solution,
        seed,
    };
    let mut out = io::stdout().lock();
    if args.json {
        let report = whole(&chosen, &notes);
        print_json(&report)?;
    } else {
        write_report(&mut out, &chosen, &notes, args.explain)?;
    }
    Ok(())
}

/// What could not be granted, one line each, and what pins cost then.
fn notes(
    problem: &Problem,
    pins: Option<String>,
    solution: &Solution,
    settings: &partition::Settings,
    seed: u64,
    time: Duration,
) -> Vec<String> {
    let spec = problem.spec();
    let are_costly = pins.is_some();
    let mut notes: Vec<String> = pins.into_iter().collect();
    let torn = spec.torn.iter();
    notes.extend(torn.map(|party| spec.torn_note(party, &solution.team_of, &Naming::default())));
    if are_costly {
        let began = Instant::now();
        let free = spec.without_pins(settings, seed, &mut || began.elapsed() >= time);
        let free = free.map(|evenness| solution.evenness(evenness));
        notes.extend(free.map(|evenness| format!("without the pins: {evenness}")));
    }
    notes
}

/// Solves the problem; shows a progress bar if the time limit is long.
fn solve(
    problem: &Problem,
    settings: &partition::Settings,
    seed: u64,
    time: Duration,
) -> Result<Solution, ProblemError> {
    let began = Instant::now();
    let total = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let mut progress = ProgressLine::new(total, "{wide_bar} {pos} of at most {len} ms");
    let mut shown = Duration::ZERO;
    let mut out_of_time = || {
        let elapsed = began.elapsed();
        if elapsed >= shown + Duration::from_millis(50) {
            shown = elapsed;
            progress.set(u64::try_from(elapsed.as_millis()).unwrap_or(total));
        }
        elapsed >= time
    };
    let solution = partition::solve(problem, settings, seed, &mut out_of_time);
    progress.done();
    solution
}

fn read(args: &BalanceArgs) -> Result<(String, FileFormat), CliError> {
    let fail = CliError::in_file(&args.file);
    let reader = open_input(&args.file).map_err(fail)?;
    let mut bytes = Vec::new();
    let read = reader.take(MAX_FILE + 1).read_to_end(&mut bytes);
    read.map_err(fail)?;
    if bytes.len() as u64 > MAX_FILE {
        let path = args.file.display();
        return Err(CliError::input(format!(
            "{path}: the file is longer than {MAX_FILE} bytes"
        )));
    }
    let format = match (
        args.format,
        args.file.extension().and_then(|ext| ext.to_str()),
    ) {
        (FileFormat::Auto, Some("toml")) => FileFormat::Toml,
        (FileFormat::Auto, Some("json")) => FileFormat::Json,
        (FileFormat::Auto, _) => FileFormat::List,
        (given, _) => given,
    };
    // Decode names as the protocol does, and skip the byte-order mark that some editors write.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    Ok((Ident::new(&[], bytes).text().to_owned(), format))
}

/// The chosen teams, and what they were chosen from.
struct Chosen<'a> {
    problem: &'a Problem,
    settings: &'a partition::Settings,
    solution: &'a Solution,
    seed: u64,
}

/// The whole result, for `--json`.
#[derive(Debug, Serialize)]
struct BalanceReport<'a> {
    seed: u64,
    /// The chance of team 0 to win; `None` if none was predicted.
    chance: Option<f64>,
    ratio: f64,
    /// Wishes that could not be granted; missing if there are none.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    relaxed: &'a [String],
    teams: Vec<TeamInReport<'a>>,
    solution: &'a Solution,
}

#[derive(Debug, Serialize)]
struct TeamInReport<'a> {
    team: usize,
    players: Vec<PlayerInTeam<'a>>,
    bots: usize,
    bot_weight: f64,
    /// The parties on the team that count more than their members do alone; missing if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parties: Vec<PartyOnTeam<'a>>,
    sum: f64,
}

#[derive(Debug, Serialize)]
struct PartyOnTeam<'a> {
    players: Vec<&'a str>,
    /// What each member's weight counts.
    multiplier: f64,
    /// What the party adds to the sum.
    more: f64,
}

#[derive(Debug, Serialize)]
struct PlayerInTeam<'a> {
    name: &'a str,
    weight: f64,
}

fn whole<'a>(chosen: &Chosen<'a>, relaxed: &'a [String]) -> BalanceReport<'a> {
    let solution = chosen.solution;
    let teams = 0..solution.sums.len();
    let teams = teams.map(|team| chosen.team(team)).collect();
    BalanceReport {
        seed: chosen.seed,
        chance: solution.chance,
        ratio: solution.ratio,
        relaxed,
        teams,
        solution,
    }
}

/// Writes one table per team, the strongest team first, how the teams were chosen, and the wishes that could
/// not be granted.
fn write_report(
    out: &mut impl Write,
    chosen: &Chosen<'_>,
    relaxed: &[String],
    explain: bool,
) -> io::Result<()> {
    let (solution, seed) = (chosen.solution, chosen.seed);
    for number in 0..solution.sums.len() {
        let team = chosen.team(number);
        let players = team.players.iter();
        let mut rows: Vec<(f64, String)> = players
            .map(|player| (player.weight, player.name.to_owned()))
            .collect();
        if team.bots > 0 {
            let (bots, weight) = (counted(team.bots, "bot"), amount(team.bot_weight));
            let what = format!("{bots} of {weight}");
            rows.push((team.bots as f64 * team.bot_weight, what));
        }
        for party in &team.parties {
            let what = format!(
                "more: {} together, times {}",
                party.players.join(", "),
                amount(party.multiplier)
            );
            rows.push((party.more, what));
        }
        let (players, bots) = (
            counted(team.players.len(), "player"),
            counted(team.bots, "bot"),
        );
        rows.push((team.sum, format!("sum: {players} and {bots}")));
        let table = Table::of(&rows)
            .num(&format!("team {number}"), |(weight, _)| amount(*weight))
            .text("", |(_, what)| what);
        writeln!(out, "{table}")?;
    }
    let how = if solution.exact {
        "exact"
    } else {
        "the best found in time"
    };
    let (candidates, engine) = (solution.candidates.len(), solution.engine);
    let even = solution.headline();
    if let Some(sums) = solution.decided_by() {
        writeln!(out, "{sums}")?;
    }
    let of = match candidates {
        1 => "the best".to_owned(),
        _ if chosen.settings.power.get().is_infinite() => format!("the best of {candidates}"),
        _ => format!("one of the {candidates} best"),
    };
    writeln!(out, "{even}, {of} ({how}, {engine}), seed {seed}")?;
    for line in relaxed {
        writeln!(out, "{}", printable(line))?;
    }
    if explain {
        for line in solution.to_string().lines() {
            writeln!(out, "{}", printable(line))?;
        }
    }
    Ok(())
}

impl<'a> Chosen<'a> {
    fn team(&self, team: usize) -> TeamInReport<'a> {
        let (spec, solution) = (self.problem.spec(), self.solution);
        let on_it = (spec.view.humans.iter())
            .zip(&solution.team_of)
            .filter(|(_, on)| usize::from(**on) == team);
        let player = |(human, _): (&'a HumanInGame, &u8)| PlayerInTeam {
            name: &human.id,
            weight: human.weight,
        };
        let mut players: Vec<PlayerInTeam<'a>> = on_it.map(player).collect();
        players.sort_by(|a, b| b.weight.total_cmp(&a.weight));
        TeamInReport {
            team,
            players,
            bots: solution.bots[team],
            bot_weight: spec.view.weight_of_place(),
            parties: self.parties(team),
            sum: solution.sums[team],
        }
    }

    /// The friends who are together on a team and count more than they do alone.
    fn parties(&self, team: usize) -> Vec<PartyOnTeam<'a>> {
        let spec = self.problem.spec();
        let party = |members: &Vec<usize>| {
            let here = members.iter().copied();
            let here = here.filter(|&who| usize::from(self.solution.team_of[who]) == team);
            let humans: Vec<&'a HumanInGame> = here.map(|who| &spec.view.humans[who]).collect();
            let multiplier = self.settings.multiplier(humans.len());
            let alone: f64 = humans.iter().map(|human| human.weight).sum();
            (multiplier > 1.0).then(|| PartyOnTeam {
                players: humans.iter().map(|human| human.id.as_str()).collect(),
                multiplier,
                more: (multiplier - 1.0) * alone,
            })
        };
        spec.parties.iter().filter_map(party).collect()
    }
}

/// The weight of an average newcomer, whose strength is 0.
const NEWCOMER: f64 = 50.0;
/// The largest weight that `evenkeel weights` prints.
const LARGEST: f64 = 100.0;

/// Gives the problem the strengths of its players if the chances to win are to decide. The ratio decides instead if the
/// configured rating system has no strengths.
fn decide(spec: &mut ProblemSpec, settings: &mut partition::Settings, rating: &rating::Settings) {
    if settings.objective == Objective::Ratio {
        return;
    }
    spec.view.chance = model(&spec.view, settings, rating);
    if spec.view.chance.is_none() {
        settings.objective = Objective::Ratio;
    }
}

/// The strengths of the players, and the win model of the rating system before any match for a game of as many.
fn model(
    view: &GameView,
    settings: &partition::Settings,
    rating: &rating::Settings,
) -> Option<ChanceModel> {
    let system = rating.system.name().build(rating);
    let Scale::Strengths { .. } = system.scale() else {
        return None;
    };
    let win_model = system.win_model(&game(view));
    let strength = |weight: f64| win_model.range() * (weight - NEWCOMER) / LARGEST;
    let sound = win_model.is_sound();
    let humans = view.humans.iter().map(|human| strength(human.weight));
    sound.then(|| ChanceModel {
        win_model,
        humans: humans.collect(),
        bots: Vec::new(),
        next_bot: strength(view.weight_of_place()),
        deviations: Vec::new(),
        party_multiplier: settings.party_multiplier.clone(),
    })
}

/// A game of newcomers with as many players on each team as there will be.
fn game(view: &GameView) -> RatedGame {
    let bots = view.filling();
    let wanted = if bots.on { bots.players() } else { 0 };
    let players = view.humans.len().max(wanted as usize);
    let size = players.div_ceil(usize::from(view.teams)).max(1);
    let teams = (0u16..).take(usize::from(view.teams));
    let seats = teams.flat_map(|team| (0..size).map(move |_| team));
    RatedGame::new(
        (0u32..)
            .zip(seats)
            .map(|(number, team)| Seat::new(Player(number), team))
            .collect(),
    )
}

/// The body, if a file has one: an object with a ruleset, which a lobby file has not.
fn body_of(text: &str) -> Option<Value> {
    let body: Value = serde_json::from_str(text).ok()?;
    body.get("ruleset").is_some().then_some(body)
}

/// Picks the teams with what was learned, and prints the answer of the daemon. Nothing is stored.
async fn answer_body(args: &BalanceArgs, config: &Config, body: Value) -> Result<(), CliError> {
    let input = |why: String| CliError::input(format!("{}: {why}", args.file.display()));
    if args.flags != LobbyFlags::default() {
        let why = "with the body of /v1/teams, only --seed, --explain and --json are of use: state the others in the body";
        return Err(CliError::input(why));
    }
    let game = serde_path_to_error::deserialize(body);
    let mut game: AskedGame = game.map_err(|error| input(error.to_string()))?;
    if game.keep {
        return Err(input("keep: only the daemon keeps decisions".to_owned()));
    }
    game.seed = args.seed.or(game.seed);
    let service = open(config, false).await?;
    service.learning().resume(i64::MAX).await?;
    let asker = Asker::of_command(&service);
    let picked = picked_for(asker, &game).await;
    let printed = match picked.map_err(|problem| input(problem.detail)) {
        Ok(teams) if args.json => print_json(&teams),
        Ok(teams) => Ok(write(&mut io::stdout().lock(), &teams, args.explain)?),
        Err(error) => Err(error),
    };
    service.close().await;
    printed
}

/// Writes one table per team, and how even they are.
fn write(out: &mut impl Write, picked: &TeamsAnswer<'_>, explain: bool) -> io::Result<()> {
    for (number, team) in picked.teams.iter().enumerate() {
        let table = Table::of(&team.players)
            .num(&format!("team {number}"), |player| {
                let weight = player.weight.as_ref();
                weight.map_or_else(String::new, |weight| amount(weight.weight))
            })
            .text("", |player| player.id);
        writeln!(out, "{table}")?;
    }
    let ratio = picked
        .ratio
        .map_or_else(String::new, |ratio| format!("ratio {ratio}, "));
    writeln!(out, "{ratio}seed {}", picked.seed)?;
    for line in picked.why.iter().flatten().filter(|_| explain) {
        writeln!(out, "{}", printable(line))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        partition::{HumanInGame, Problem},
        rating::{SystemChoice, SystemName},
    };

    fn spec(weights: &[f64]) -> ProblemSpec {
        let human = |(n, &weight): (usize, &f64)| HumanInGame::new(format!("p{n}"), weight);
        let mut view = GameView {
            humans: weights.iter().enumerate().map(human).collect(),
            ..GameView::default()
        };
        view.fill.on = false;
        ProblemSpec {
            view,
            ..ProblemSpec::default()
        }
    }

    fn by_chance() -> partition::Settings {
        partition::Settings {
            objective: Objective::Chance,
            ..partition::Settings::default()
        }
    }

    #[test]
    fn weights_become_strengths_on_the_scale_of_weights() {
        for name in SystemName::ALL {
            let rating = rating::Settings {
                system: SystemChoice::Always(name),
                ..rating::Settings::default()
            };
            let (mut spec, mut settings) = (spec(&[100.0, 50.0, 0.0]), by_chance());
            decide(&mut spec, &mut settings, &rating);
            let Some(model) = &spec.view.chance else {
                assert_eq!(settings.objective, Objective::Ratio, "{name:?}");
                continue;
            };
            let six = 6.0 * model.win_model.unit;
            let by_hand = model.humans.iter().zip([six, 0.0, -six]);
            assert!(
                by_hand
                    .into_iter()
                    .all(|(s, by_hand)| (s - by_hand).abs() < 1e-9)
            );
            assert_eq!(settings.objective, Objective::Chance);
            assert!(Problem::new(spec).is_ok());
        }
    }
}
