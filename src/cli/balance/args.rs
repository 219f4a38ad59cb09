//! The options of `evenkeel balance`, and the lobby that it reads from a file: a plain list, or TOML or JSON with all
//! settings.

use std::{collections::BTreeSet, path::PathBuf};

use clap::{Args, ValueEnum};
use serde::Deserialize;

use crate::{
    cli::CommonArgs,
    config::Config,
    model::units::MaxDifference,
    partition::{
        self, GameView, HumanInGame, ProblemError, ProblemSpec,
        problem::SizeLimits,
        settings::{Engine, Objective},
        stated::{Decider, ListedWeight},
        sums::Fill,
    },
};

/// Choose teams for a list of players
///
/// The list has one line `weight name` per player. Weights are amounts on any scale, and the teams with the most even
/// sums are picked. With `--objective chance`, the weights are those that `evenkeel weights` prints, 0 to 100, and the chances
/// to win decide, which follow from the strengths behind these weights. A lobby file in TOML or JSON can contain every
/// setting of the lobby; flags override it. [lobby] and [balance] of the configuration apply where neither a flag nor
/// the lobby file says otherwise. If the name of the file does not end in .toml or .json,
/// give its format with `--format`.
///
/// It also takes the body of `POST /v1/teams`, an object in JSON with a `ruleset`: then the learned weights of the database
/// count, and the answer is that of the daemon.
#[derive(Debug, Args)]
pub(in crate::cli) struct BalanceArgs {
    /// The list or lobby file; - is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    pub(super) file: PathBuf,
    /// Format of the file
    #[arg(long, value_enum, default_value = "auto")]
    pub(super) format: FileFormat,
    #[command(flatten)]
    pub(super) flags: LobbyFlags,
    /// The seed of the pick; drawn by default, and always printed
    #[arg(long, value_name = "N")]
    pub(super) seed: Option<u64>,
    /// Print the reasons for the pick
    #[arg(long)]
    pub(super) explain: bool,
    /// Print JSON
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) common: CommonArgs,
}

/// What the flags say about the lobby, and about how its teams are picked.
#[derive(Debug, Default, PartialEq, Args)]
pub(super) struct LobbyFlags {
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
    /// Find the combinations with this engine; by default, the fastest suitable one
    #[arg(long, value_enum)]
    engine: Option<EngineArg>,
    /// Time limit in milliseconds, after which the best teams found so far are the result
    #[arg(long, value_name = "MS")]
    pub(super) time: Option<u64>,
    /// Memory limit in megabytes
    #[arg(long, value_name = "MB")]
    memory: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum ObjectiveArg {
    /// The chances to win, as the configured rating system predicts them before any match for players of these learned
    /// weights; the ratio if it has no strengths
    Chance,
    /// The weight of the weakest team divided by that of the strongest
    #[default]
    Ratio,
}

impl LobbyFlags {
    /// Whether the chances to win are to decide, for which the weights must be learned ones.
    pub(super) fn by_chance(&self) -> bool {
        self.objective == ObjectiveArg::Chance
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
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
pub(super) fn apply_flags(lobby: &mut LobbyFile, args: &LobbyFlags) -> Result<(), String> {
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
    args: &LobbyFlags,
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

fn set_factor(factors: &mut partition::settings::Factors, text: &str) -> Result<(), String> {
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

/// How a lobby file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FileFormat {
    /// By the ending of the file's name: .toml, .json, or else a list
    Auto,
    /// One line `weight name` per player
    List,
    /// A lobby file in TOML
    Toml,
    /// A lobby file in JSON
    Json,
}

/// The content of a lobby file. A missing setting has the configured value.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct LobbyFile {
    pub(super) teams: Option<u8>,
    pub(super) min: Option<u32>,
    pub(super) max: Option<u32>,
    pub(super) target: Option<u32>,
    pub(super) bot_weight: Option<f64>,
    pub(super) max_share: Option<f64>,
    pub(super) max_difference: Option<MaxDifference>,
    pub(super) players: Vec<LobbyPlayer>,
}

/// One player of a lobby file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LobbyPlayer {
    pub(super) name: String,
    /// The player's weight; if missing, the mean of the stated ones.
    #[serde(default)]
    pub(super) weight: Option<f64>,
    /// The line of a list that states it.
    #[serde(skip)]
    line: Option<usize>,
    #[serde(default)]
    pub(super) party: Option<String>,
    #[serde(default)]
    pub(super) pin: Option<u8>,
    /// The team that the player is on now.
    #[serde(default)]
    pub(super) team: Option<u8>,
    /// The team that the player was on in the last game.
    #[serde(default)]
    pub(super) last: Option<u8>,
    #[serde(default)]
    pub(super) avoid: Vec<String>,
    /// The team on which the player would like to be.
    #[serde(default)]
    pub(super) wish: Option<u8>,
}

impl LobbyFile {
    /// # Errors
    /// Returns what is wrong, with the line.
    pub(super) fn parse(text: &str, format: FileFormat) -> Result<Self, String> {
        match format {
            FileFormat::List | FileFormat::Auto => list(text),
            FileFormat::Toml => toml::from_str(text).map_err(|error| error.to_string()),
            FileFormat::Json => serde_json::from_str(text).map_err(|error| error.to_string()),
        }
    }

    /// The player with this name, to change them.
    pub(super) fn player(&mut self, name: &str) -> Result<&mut LobbyPlayer, String> {
        let name = name.trim();
        let found = self.players.iter_mut().find(|player| player.name == name);
        found.ok_or_else(|| format!("there is no player {name}"))
    }

    /// What a player or bot without a stated weight counts if the sums of the stated ones decide; `None` if none is
    /// stated, or if the weights are `learned` ones, from which chances follow.
    fn unknown(&self, learned: bool) -> Result<Option<f64>, String> {
        let listed = |player: &LobbyPlayer| match player.weight {
            Some(weight) => ListedWeight::Stated(weight),
            None => ListedWeight::Unknown,
        };
        let list = self.players.iter().map(listed);
        let list = list.chain(learned.then_some(ListedWeight::Learned));
        match Decider::of(&list.collect::<Vec<_>>()) {
            Ok(Decider::Sums { unknown }) => Ok(Some(unknown)),
            Ok(Decider::Learned) => Ok(None),
            Err(error) => {
                let player = self.players.get(error.at());
                let place = player.map_or_else(String::new, LobbyPlayer::place);
                Err(format!("{place}: the weight {error}"))
            }
        }
    }

    /// Converts the lobby to a problem, whose weights may be `learned` ones. Without bots, the places that they would
    /// fill have no weight.
    pub(super) fn into_spec(
        self,
        config: &Config,
        has_bots: bool,
        learned: bool,
    ) -> Result<ProblemSpec, String> {
        let unknown = self.unknown(learned)?;
        self.check_avoided()?;
        let (limits, default) = (config.balance.limits, config.balance.default_weight.get());
        let default_bot = config.balance.default_bot_weight.get();
        let human = |player: &LobbyPlayer| HumanInGame {
            party: player.party.clone(),
            pin: player.pin,
            team: player.team,
            last: player.last,
            wish: player.wish,
            avoid: player.avoid.clone(),
            ..HumanInGame::new(&player.name, player.weight.or(unknown).unwrap_or(default))
        };
        let limits = SizeLimits {
            max_difference: self.max_difference.unwrap_or(limits.max_difference),
            ..limits
        };
        let view = GameView {
            humans: self.players.iter().map(human).collect(),
            teams: self.teams.unwrap_or(2),
            fill: Fill {
                on: has_bots,
                wish: self.target.unwrap_or(config.lobby.min_players.get()),
                map_range: match has_bots {
                    true => level(&self, config),
                    false => (0, 0),
                },
                min_humans: 0,
            },
            // A weight that nobody has stated is that of an unknown player.
            next_bot: self.bot_weight.or(unknown).unwrap_or(default_bot),
            ..GameView::default()
        };
        let spec = ProblemSpec::of(view, limits);
        Ok(ProblemSpec {
            max_share: self.max_share.unwrap_or(spec.max_share),
            amounts: unknown.is_some(),
            ..spec
        })
    }

    /// Whether everybody who is avoided is in the lobby.
    fn check_avoided(&self) -> Result<(), String> {
        let names: BTreeSet<&str> = self.players.iter().map(|one| one.name.as_str()).collect();
        for LobbyPlayer { name, avoid, .. } in &self.players {
            if avoid.contains(name) {
                return Err(ProblemError::AvoidsSelf(name.clone()).to_string());
            }
            if !avoid.iter().all(|other| names.contains(other.as_str())) {
                return Err(format!("{name} avoids a player who is not in the lobby"));
            }
        }
        Ok(())
    }
}

impl LobbyPlayer {
    /// Where the player is stated, for errors.
    fn place(&self) -> String {
        match self.line {
            Some(line) => format!("line {line}"),
            None => self.name.clone(),
        }
    }
}

/// The range of players; flags and file override the configuration. If only one end is given, the
/// other is moved so that it does not contradict it.
fn level(lobby: &LobbyFile, config: &Config) -> (u32, u32) {
    let (low, high) = (config.lobby.level_min.get(), config.lobby.level_max.get());
    match (lobby.min, lobby.max) {
        (Some(min), Some(max)) => (min, max),
        (Some(min), None) => (min, high.max(min)),
        (None, Some(max)) => (low.min(max), max),
        (None, None) => (low, high),
    }
}

/// Parses `weight name` lines; skips blank lines and those that begin with `#`.
fn list(text: &str) -> Result<LobbyFile, String> {
    let mut players = Vec::new();
    let mut seen = BTreeSet::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let wrong = |why: &str| format!("line {}: {why}", index + 1);
        let split = line.split_once(char::is_whitespace);
        let (weight, name) = split.ok_or_else(|| wrong("expected `weight name`"))?;
        let weight = weight
            .parse()
            .map_err(|_| match line.rsplit_once(char::is_whitespace) {
                Some((name, weight)) if weight.parse::<f64>().is_ok() => {
                    wrong(&format!("the weight comes first: {weight} {}", name.trim()))
                }
                _ => wrong("the weight is no number"),
            })?;
        let name = name.trim().to_owned();
        if !seen.insert(name.clone()) {
            return Err(wrong("this name has been used before"));
        }
        let weight = Some(weight);
        players.push(LobbyPlayer {
            name,
            weight,
            line: Some(index + 1),
            party: None,
            pin: None,
            team: None,
            last: None,
            avoid: vec![],
            wish: None,
        });
    }
    Ok(LobbyFile {
        players,
        ..LobbyFile::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_name_their_faulty_line() {
        let fault = |text| list(text).err().unwrap_or_default();
        assert_eq!(fault("5 a\nfive b"), "line 2: the weight is no number");
        assert_eq!(
            fault("50 Ann\nBoring Bob  60"),
            "line 2: the weight comes first: 60 Boring Bob"
        );
        assert_eq!(fault("5 a\n\n7"), "line 3: expected `weight name`");
        assert_eq!(
            fault("5 a\n# no\n7 a"),
            "line 3: this name has been used before"
        );
        let lobby = list("5 Boring John\r\n 3.5\tSilly  Billy \n").unwrap();
        let names: Vec<_> = lobby
            .players
            .iter()
            .map(|p| (p.name.as_str(), p.weight))
            .collect();
        assert_eq!(
            names,
            [("Boring John", Some(5.0)), ("Silly  Billy", Some(3.5))]
        );
    }

    #[test]
    fn toml_and_json_say_the_same() {
        let toml = "teams = 3\nmax_difference = 'off'\n[[players]]\nname = 'a'\nweight = 1\nparty = 'x'\n\
                    [[players]]\nname = 'b'\nparty = 'x'\npin = 2\nwish = 1\navoid = ['a']";
        let json = r#"{"teams": 3, "max_difference": "off", "players": [
            {"name": "a", "weight": 1, "party": "x"}, {"name": "b", "party": "x", "pin": 2, "wish": 1, "avoid": ["a"]}]}"#;
        let config = Config::load("", []).unwrap();
        let toml = LobbyFile::parse(toml, FileFormat::Toml)
            .unwrap()
            .into_spec(&config, true, false)
            .unwrap();
        let json = LobbyFile::parse(json, FileFormat::Json)
            .unwrap()
            .into_spec(&config, true, false)
            .unwrap();
        assert_eq!(toml, json);
        assert_eq!(
            (toml.view.teams, toml.max_difference, &toml.parties),
            (3, None, &vec![vec![0, 1]])
        );
        assert_eq!(
            (
                toml.view.humans[1].weight,
                toml.view.humans[1].wish,
                toml.avoid
            ),
            (1.0, Some(1), vec![(1, 0)])
        );
        assert!(LobbyFile::parse("{\"player\": []}", FileFormat::Json).is_err());
    }
}
