//! The configurations to start from, one for each kind of community.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{config::Config, model::Rulebook};

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
}
