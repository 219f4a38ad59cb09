//! The documented files that are compiled in: the whole configuration, and those to start from, one for each kind of
//! community.

use clap::ValueEnum;

/// A game, or a kind of community, for which there is a configuration to start from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum GamePreset {
    /// Team Fortress 2 with the sidecar
    Tf2,
    /// OpenArena with the sidecar
    #[value(name = "openarena")]
    OpenArena,
    /// Unreal Tournament 2004 with the mutator
    Ut2004,
    /// Quake III Arena with the sidecar
    Quake3,
    /// Urban Terror with the sidecar
    #[value(name = "urbanterror")]
    UrbanTerror,
    /// Xonotic or Nexuiz with the sidecar
    Xonotic,
    /// Nexuiz with the sidecar
    Nexuiz,
    /// Teeworlds with the sidecar
    Teeworlds,
    /// Counter-Strike: Source, Global Offensive, or the logs of 1.6 and 2
    #[value(alias = "css", alias = "csgo", alias = "cs16", alias = "cs2")]
    CounterStrike,
    /// Team Fortress Classic, from its logs
    Tfc,
    /// Unreal Tournament (1999), from its logs
    Ut99,
    /// Pick-up games (PUGs), with a queue
    Pickup,
}

impl GamePreset {
    /// The text of the configuration, a valid file.
    pub fn text(self) -> &'static str {
        match self {
            Self::Tf2 => include_str!("../../config/presets/tf2.toml"),
            Self::OpenArena => include_str!("../../config/presets/openarena.toml"),
            Self::Ut2004 => include_str!("../../config/presets/ut2004.toml"),
            Self::Quake3 => include_str!("../../config/presets/quake3.toml"),
            Self::UrbanTerror => include_str!("../../config/presets/urbanterror.toml"),
            Self::Xonotic => include_str!("../../config/presets/xonotic.toml"),
            Self::Nexuiz => include_str!("../../config/presets/nexuiz.toml"),
            Self::Teeworlds => include_str!("../../config/presets/teeworlds.toml"),
            Self::CounterStrike => include_str!("../../config/presets/counter-strike.toml"),
            Self::Tfc => include_str!("../../config/presets/tfc.toml"),
            Self::Ut99 => include_str!("../../config/presets/ut99.toml"),
            Self::Pickup => include_str!("../../config/presets/pickup.toml"),
        }
    }
}

/// The keys that most people set, with their defaults: what `evenkeel config default` prints.
pub const START: &str = include_str!("../../config/start.toml");
/// All keys but the tuning keys, with their defaults.
pub const DEFAULT: &str = include_str!("../../config/evenkeel.toml");
/// The tuning keys, whose defaults are right for every community, and these defaults.
pub const TUNING: &str = include_str!("../../config/tuning.toml");

/// All keys with their defaults, as one valid file. The tuning keys are at its end, as comments: a file cannot open a
/// section twice, and nobody should set them.
pub fn all_keys() -> String {
    let comment = |line: &str| match line.is_empty() || line.starts_with('#') {
        true => format!("{line}\n"),
        false => format!("#{line}\n"),
    };
    let tuning: String = TUNING.lines().map(comment).collect();
    format!("{DEFAULT}\n{tuning}")
}

#[cfg(test)]
mod tests {
    use toml::{Table, Value};

    use super::*;
    use crate::{
        config::{Config, layers},
        model::Rulebook,
    };

    /// A preset with its commented sections, and with a hash in place of each token.
    fn with_comments(text: &str) -> String {
        let mut inside = false;
        let line = |line: &str| {
            inside = line.starts_with("# [[") || inside && line.starts_with('#');
            let bare = line.trim_start_matches('#').trim_start();
            format!("{}\n", if inside { bare } else { line })
        };
        let text: String = text.lines().map(line).collect();
        text.replace("sha256:…", &format!("sha256:{}", "0".repeat(64)))
    }

    #[test]
    fn presets_are_short_and_valid_and_so_are_their_commented_sections() {
        for preset in GamePreset::value_variants() {
            let text = preset.text();
            assert!(text.lines().count() <= 75, "{preset:?}");
            assert!(text.lines().all(|line| line.chars().count() <= 120));
            let config = Config::load(text, []).unwrap_or_else(|why| panic!("{preset:?}: {why}"));
            assert!(config.follow.is_empty() && config.clients.is_empty());
            assert!(config.backups().is_some(), "{preset:?}");
            let whole = Config::load(&with_comments(text), []);
            let whole = whole.unwrap_or_else(|why| panic!("{preset:?} with comments: {why}"));
            assert_eq!(whole.follow.len(), 1, "{preset:?}");
            let clients = whole.clients.len();
            assert_eq!(clients == 2, *preset == GamePreset::Pickup, "{clients}");
            whole.check_access().unwrap();
        }
    }

    #[test]
    fn presets_know_the_game_types_of_their_games() {
        for (preset, reported, ruleset) in [
            (GamePreset::Tf2, "tf.cp", "tf"),
            (GamePreset::Tf2, "tf.arena", "tf"),
            (GamePreset::Tf2, "tf.mvm", "tf.mvm"),
            (GamePreset::OpenArena, "ctf", "baseoa.ctf"),
            (GamePreset::Ut2004, "CTF", "xgame.xctfgame"),
            (GamePreset::Quake3, "ctf", "baseq3.ctf"),
            (GamePreset::UrbanTerror, "bomb", "q3ut4.bomb"),
            (GamePreset::Xonotic, "ctf", "xonotic.ctf"),
            (GamePreset::Nexuiz, "ctf", "xonotic.ctf"),
            (GamePreset::Teeworlds, "lts", "teeworlds.lts"),
            (GamePreset::CounterStrike, "csgo.de", "csgo"),
            (GamePreset::CounterStrike, "cs2.de", "cs2"),
            (GamePreset::CounterStrike, "cstrike.cs", "cstrike"),
            (GamePreset::Tfc, "tfc.ctf", "tfc"),
            (GamePreset::Ut99, "ctf", "botpack.ctfgame"),
            (GamePreset::Pickup, "tf.koth", "tf"),
        ] {
            let config = Config::load(preset.text(), []).unwrap();
            let book = Rulebook::new(&config.rulebook()).unwrap();
            let found = book.ruleset::<&str>(reported, &[]).to_string();
            assert_eq!(found, ruleset, "{preset:?}");
            assert!(book.is_team_game(reported), "{preset:?}: {reported}");
            let kind = config.rating.rating.joint.preset;
            assert_ne!(kind, crate::rating::joint::Preset::Any, "{preset:?}");
        }
    }

    /// The table of the README names each game that is read.
    #[test]
    fn each_game_of_the_readme_has_a_preset() {
        let readme = include_str!("../../README.md");
        let table = readme
            .lines()
            .skip_while(|line| !line.starts_with("| game |"))
            .skip(2);
        let table = table.take_while(|line| line.starts_with('|'));
        let cells = table.filter_map(|row| row.split('|').nth(1));
        let text: String = cells
            .flat_map(str::chars)
            .filter(|c| !"[]".contains(*c))
            .collect();
        let of = [
            ("OpenArena", "openarena"),
            ("Quake III Arena", "quake3"),
            ("Urban Terror", "urbanterror"),
            ("Nexuiz", "nexuiz"),
            ("Xonotic", "xonotic"),
            ("Teeworlds", "teeworlds"),
            ("Team Fortress 2", "tf2"),
            ("CS:S", "css"),
            ("CS:GO", "csgo"),
            ("CS 1.6", "cs16"),
            ("CS2", "cs2"),
            ("UT2004", "ut2004"),
            ("TFC", "tfc"),
            ("UT99", "ut99"),
        ];
        let mut rest = text;
        for (game, preset) in of {
            assert!(rest.contains(game), "{game}");
            assert!(GamePreset::from_str(preset, false).is_ok(), "{preset}");
            rest = rest.replacen(game, "", 1);
        }
        let targets = rest.replace("any other", "").replace("UT2004", "");
        let words = targets.split(|c: char| !c.is_alphanumeric());
        let left: Vec<&str> = words
            .filter(|word| word.starts_with(char::is_uppercase))
            .collect();
        assert!(left.is_empty(), "games without a preset: {left:?}");
    }

    #[test]
    fn the_queue_of_the_pick_up_community_has_the_weights_of_its_matches() {
        let config = Config::load(GamePreset::Pickup.text(), []).unwrap();
        let queue = &config.queue["pickup"];
        let aliases = config.game_types.aliases.values();
        assert!(aliases.clone().count() > 3);
        assert!(aliases.into_iter().all(|name| *name == queue.ruleset));
    }

    /// The keys that a file sets, by their paths, with their values.
    fn set_keys(table: &Table, at: &str) -> Vec<(String, Value)> {
        let keys = table.iter().flat_map(|(key, value)| {
            let path = layers::join(at, key);
            match value {
                Value::Table(inner) => set_keys(inner, &path),
                value => vec![(path, value.clone())],
            }
        });
        keys.collect()
    }

    #[test]
    fn the_file_to_start_from_has_few_keys_and_their_defaults() {
        Config::load(START, []).unwrap();
        assert!(START.lines().count() <= 60);
        assert!(START.lines().all(|line| line.chars().count() <= 120));
        let keys = set_keys(&START.parse().unwrap(), "");
        assert!((10..=16).contains(&keys.len()), "{}", keys.len());
        let mut defaults: Table = DEFAULT.parse().unwrap();
        for (path, value) in keys {
            let default = layers::value_at(&mut defaults, &path);
            assert_eq!(default, Some(&mut value.clone()), "{path}");
        }
    }

    #[test]
    fn all_keys_are_one_valid_file() {
        let text = all_keys();
        Config::load(&text, []).unwrap();
        assert!(text.starts_with(DEFAULT));
        assert_eq!(text.parse::<Table>().unwrap(), DEFAULT.parse().unwrap());
        let tuning: Vec<_> = text[DEFAULT.len() + 1..].lines().collect();
        let is_comment = |line: &&str| line.is_empty() || line.starts_with('#');
        assert!(tuning.iter().all(is_comment));
        let keys = tuning.iter().filter_map(|line| line.strip_prefix('#'));
        let keys = keys.filter(|rest| !rest.starts_with([' ', '#']));
        let keys: String = keys.map(|line| format!("{line}\n")).collect();
        assert_eq!(keys.parse::<Table>().unwrap(), TUNING.parse().unwrap());
    }

    #[test]
    fn a_key_is_in_one_of_the_files() {
        let usual = set_keys(&DEFAULT.parse().unwrap(), "");
        let tuning = set_keys(&TUNING.parse().unwrap(), "");
        assert!(tuning.len() > 30 && usual.len() > 100);
        let is_usual = |path: &String| usual.iter().any(|(other, _)| other == path);
        assert!(!tuning.iter().any(|(path, _)| is_usual(path)));
    }
}
