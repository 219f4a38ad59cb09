//! A lobby in a file: a plain list, or TOML or JSON with all settings.

use std::collections::BTreeSet;

use clap::ValueEnum;
use serde::Deserialize;

use crate::{
    config::Config,
    model::units::MaxDifference,
    partition::{
        Decider, Fill, GameView, HumanInGame, ListedWeight, ProblemError, ProblemSpec, SizeLimits,
    },
};

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
