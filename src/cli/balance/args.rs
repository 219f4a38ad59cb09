//! The options of `evenkeel balance`, and what they change in the lobby and in the settings.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::lobby::{FileFormat, LobbyFile};
use crate::{
    cli::SettingsArgs,
    config::Config,
    model::units::MaxDifference,
    partition::{self, Engine, Objective},
};

/// Choose teams for a list of players
///
/// The list has one line `weight name` per player. Weights are amounts on any scale, and the teams with the most even
/// sums are picked. With `--objective chance`, the weights are those that `evenkeel weights` prints, 0 to 100, and the chances
/// to win decide, which follow from the strengths behind these weights. A lobby file in TOML or JSON can contain every
/// setting of the lobby; flags override it. [lobby] and [balance] of the configuration apply where neither a flag nor
/// the lobby file says otherwise. If the name of the file does not end in .toml or .json,
/// give its format with `--format`.
#[derive(Debug, Args)]
pub(in crate::cli) struct BalanceArgs {
    /// The list or lobby file; - is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(super) file: PathBuf,
    /// Format of the file
    #[arg(long, value_enum, default_value = "auto")]
    pub(super) format: FileFormat,
    /// Number of teams, 2 to 8
    #[arg(long, value_name = "N")]
    teams: Option<u8>,
    /// The fewest players that the map is made for, bots included
    #[arg(long, value_name = "N")]
    min: Option<u32>,
    /// The most players that the map is made for, bots included
    #[arg(long, value_name = "N")]
    max: Option<u32>,
    /// The number of players wanted, bots included
    #[arg(long, value_name = "N")]
    target: Option<u32>,
    /// Choose teams without bots, as with `[lobby] bots = false`
    #[arg(long, conflicts_with_all = ["target", "bot_weight"])]
    pub(super) no_bots: bool,
    /// The weight of a bot; by default, the mean of the stated weights
    #[arg(long, value_name = "WEIGHT")]
    bot_weight: Option<f64>,
    /// The largest share of the players on one team
    #[arg(long, value_name = "SHARE")]
    max_share: Option<f64>,
    /// The largest difference between two teams' players, or "off"
    #[arg(long, value_name = "N")]
    max_difference: Option<MaxDifference>,
    /// Keep these players together; may be repeated
    #[arg(long = "party", value_name = "NAME,NAME…")]
    parties: Vec<String>,
    /// Put this player on this team (counted from 0); may be repeated
    #[arg(long = "pin", value_name = "NAME=TEAM")]
    pins: Vec<String>,
    /// Keep these two players on different teams if it costs little; may be repeated
    #[arg(long = "avoid", value_name = "NAME,NAME")]
    avoid: Vec<String>,
    /// Put this player on this team if that costs little; may be repeated
    #[arg(long = "wish", value_name = "NAME=TEAM")]
    wishes: Vec<String>,
    /// The team that a player is on now; may be repeated
    #[arg(long = "current", value_name = "NAME=TEAM")]
    current: Vec<String>,
    /// The team that a player was on in the last game; may be repeated
    #[arg(long = "last", value_name = "NAME=TEAM")]
    last: Vec<String>,
    /// What makes teams even
    #[arg(long, value_enum, default_value = "ratio")]
    objective: ObjectiveArg,
    /// How much evenness keeping the parties together may cost
    #[arg(long, value_name = "EVENNESS")]
    party_budget: Option<f64>,
    /// How much of the weaker team's chance to win the wishes for a team may cost together
    #[arg(long, value_name = "CHANCE")]
    wish_budget: Option<f64>,
    /// The weights of parties of 2, 3, … players, as multiples of their members' sum
    #[arg(long, value_name = "M,M…", value_delimiter = ',')]
    party_multiplier: Option<Vec<f64>>,
    /// The cost of one unit of a term of `[balance.factors]`, or of all of them (`all=0`); may be repeated
    #[arg(long = "factor", value_name = "TERM=COST")]
    factors: Vec<String>,
    /// Pick one of the K best combinations, not only the most even one
    #[arg(long, value_name = "K")]
    top: Option<usize>,
    /// Pick with a probability proportional to quality to this power; inf picks the best
    #[arg(long, value_name = "POWER")]
    power: Option<f64>,
    /// The seed of the pick; drawn by default, and always printed
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// Find the combinations with this engine; by default, the fastest suitable one
    #[arg(long, value_enum)]
    engine: Option<EngineArg>,
    /// Time limit in milliseconds, after which the best teams found so far are the result
    #[arg(long, value_name = "MS")]
    pub(super) time: Option<u64>,
    /// Memory limit in megabytes
    #[arg(long, value_name = "MB")]
    memory: Option<usize>,
    /// Print the reasons for the pick
    #[arg(long)]
    pub(super) explain: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) config: SettingsArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ObjectiveArg {
    /// The chances to win, as the configured rating system predicts them before any match for players of these learned
    /// weights; the ratio if it has no strengths
    Chance,
    /// The weight of the weakest team divided by that of the strongest
    Ratio,
}

impl BalanceArgs {
    /// Whether the chances to win are to decide, for which the weights must be learned ones.
    pub(super) fn by_chance(&self) -> bool {
        self.objective == ObjectiveArg::Chance
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum EngineArg {
    /// Try every combination, changing one player per step
    Exhaustive,
    /// Sort and join the sums of two halves
    Meet,
    /// Branch and bound, for more than two teams
    Branch,
    /// Improve a first solution until the time limit
    Search,
}

/// Puts what the flags state in the place of what the lobby file states.
pub(super) fn apply_flags(lobby: &mut LobbyFile, args: &BalanceArgs) -> Result<(), String> {
    lobby.teams = args.teams.or(lobby.teams);
    lobby.min = args.min.or(lobby.min);
    lobby.max = args.max.or(lobby.max);
    lobby.target = args.target.or(lobby.target);
    lobby.bot_weight = args.bot_weight.or(lobby.bot_weight);
    lobby.max_share = args.max_share.or(lobby.max_share);
    lobby.max_difference = args.max_difference.or(lobby.max_difference);
    for (number, party) in args.parties.iter().enumerate() {
        for name in party.split(',') {
            lobby.player(name)?.party = Some(format!("--party {}", number + 1));
        }
    }
    for pair in &args.avoid {
        let (one, other) = pair
            .split_once(',')
            .ok_or(format!("--avoid {pair}: expected NAME,NAME"))?;
        lobby.player(other)?;
        lobby.player(one)?.avoid.push(other.trim().to_owned());
    }
    for pin in &args.pins {
        let (name, team) = name_and_team("--pin", pin)?;
        lobby.player(name)?.pin = Some(team);
    }
    for wish in &args.wishes {
        let (name, team) = name_and_team("--wish", wish)?;
        lobby.player(name)?.wish = Some(team);
    }
    for current in &args.current {
        let (name, team) = name_and_team("--current", current)?;
        lobby.player(name)?.team = Some(team);
    }
    for last in &args.last {
        let (name, team) = name_and_team("--last", last)?;
        lobby.player(name)?.last = Some(team);
    }
    Ok(())
}

/// Parses `NAME=TEAM`; the name may contain `=`.
fn name_and_team<'a>(flag: &str, text: &'a str) -> Result<(&'a str, u8), String> {
    let parts = text
        .rsplit_once('=')
        .and_then(|(name, team)| Some((name, team.parse().ok()?)));
    parts.ok_or_else(|| format!("{flag} {text}: expected NAME=TEAM"))
}

/// The settings of the configuration, with those of the flags in their place. Where the weights are stated `amounts`,
/// their sums decide.
pub(super) fn settings(
    args: &BalanceArgs,
    config: &Config,
    amounts: bool,
) -> Result<partition::Settings, String> {
    let mut settings = config.balance.partition.clone();
    if amounts {
        settings = settings.by_sums(args.top.is_some());
    }
    if let Some(top) = args.top {
        settings.top = checked("--top", top as u64)?;
    }
    if let Some(power) = args.power {
        settings.power = checked("--power", power)?;
    }
    if let Some(budget) = args.party_budget {
        settings.party_budget = checked("--party-budget", budget)?;
    }
    if let Some(budget) = args.wish_budget {
        settings.wish_budget = checked("--wish-budget", budget)?;
    }
    if let Some(megabytes) = args.memory {
        // More megabytes than the upper end are of no use to any search, and no search works with
        // fewer than the lower end.
        settings.memory_mb = checked("--memory", megabytes.clamp(1, 4_096) as u64)?;
    }
    if let Some(multipliers) = &args.party_multiplier {
        let multipliers = multipliers.iter();
        let checked = multipliers.map(|&multiplier| checked("--party-multiplier", multiplier));
        settings.party_multiplier = checked.collect::<Result<_, _>>()?;
    }
    settings.objective = match args.objective {
        ObjectiveArg::Chance => Objective::Chance,
        ObjectiveArg::Ratio => Objective::Ratio,
    };
    settings.engine = args.engine.map(|engine| match engine {
        EngineArg::Exhaustive => Engine::Exhaustive,
        EngineArg::Meet => Engine::Meet,
        EngineArg::Branch => Engine::Branch,
        EngineArg::Search => Engine::Search,
    });
    for factor in &args.factors {
        set_factor(&mut settings.factors, factor)?;
    }
    Ok(settings)
}

/// Converts the value of a flag to a setting, which checks the range.
fn checked<V, T: TryFrom<V, Error: std::fmt::Display>>(flag: &str, value: V) -> Result<T, String> {
    T::try_from(value).map_err(|error| format!("{flag} {error}"))
}

fn set_factor(factors: &mut partition::Factors, text: &str) -> Result<(), String> {
    let wrong = || format!("--factor {text}: expected TERM=COST");
    let (name, cost) = text.split_once('=').ok_or_else(wrong)?;
    let cost: f64 = cost.parse().map_err(|_| wrong())?;
    let cost = checked(&format!("--factor {name}"), cost)?;
    let all = name == "all";
    let mut known = all;
    for (term, factor) in factors.named_mut() {
        if all || term == name {
            *factor = cost;
            known = true;
        }
    }
    if known {
        Ok(())
    } else {
        Err(format!("--factor {text}: there is no term {name}"))
    }
}
