//! The configuration: one file, whose every key is documented in `config/evenkeel.toml`.
//!
//! That file is compiled in and is where the program's defaults stand. What the admin writes is laid
//! over it, then what the environment says; an unknown key or a bad value is an error that names
//! the line. Entry point: [`Config::load`].

mod check;
mod check_running;
mod keys;
mod layers;
mod rooms;

use toml::{Table, Value, de::DeTable};

pub use keys::{
    Advantage, AutoBalance, Balance, Config, CustomRules, Date, Factors, Follow, GameTypes, GapOf,
    Ingest, Limit, Lobby, Log, Mutators, Objective, Place, Rating, Rebalance, RuleSet, Season,
    Server, Store,
};

/// The documented defaults, as `evenkeel config default` prints them.
pub const DEFAULT: &str = include_str!("../../config/evenkeel.toml");

/// Why there is no configuration.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// At a line of the file.
    #[error("line {line}: {why}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What is wrong there.
        why: String,
    },
    /// In the environment.
    #[error("{name}: {why}")]
    Environment {
        /// The variable.
        name: String,
        /// What is wrong with it.
        why: String,
    },
}

impl Config {
    /// Lays the admin's `text` over the defaults, and `environment` over both.
    ///
    /// # Errors
    /// The first unknown key or bad value, with its line or variable.
    pub fn load(
        text: &str,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, ConfigError> {
        let spans = DeTable::parse(text).map_err(|error| layers::syntax(text, &error))?;
        let mut merged = layers::defaults();
        layers::refuse_unknown_keys(text, spans.get_ref(), &merged, "")?;
        let own: Table = text.parse().map_err(|error| layers::syntax(text, &error))?;
        layers::lay_over(&mut merged, own);
        let by_environment = layers::apply_environment(&mut merged, environment)?;
        let blame = |path: &str, why: String| match by_environment.get(path) {
            Some(name) => ConfigError::Environment {
                name: name.clone(),
                why,
            },
            None => ConfigError::Line {
                line: layers::line_of(text, spans.get_ref(), path),
                why,
            },
        };
        let config: Self =
            serde_path_to_error::deserialize(Value::Table(merged)).map_err(|error| {
                let path = error.path().to_string();
                let why = error.inner().message().trim().to_owned();
                blame(&path, format!("{path}: {why}"))
            })?;
        match config.first_fault() {
            Some((path, why)) => Err(blame(&path, format!("{path} {why}"))),
            None => Ok(config),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::domain::Rulebook;

    fn load(text: &str) -> Result<Config, ConfigError> {
        Config::load(text, [])
    }

    fn fault(text: &str) -> String {
        load(text)
            .err()
            .map_or_else(String::new, |error| error.to_string())
    }

    #[test]
    fn the_documented_defaults_are_a_valid_configuration() {
        let empty = load("").unwrap();
        let documented = load(DEFAULT).unwrap();
        assert_eq!(format!("{empty:?}"), format!("{documented:?}"));
        assert!(!layers::defaults().is_empty());
        assert_eq!(empty.balance.top, 20);
        assert_eq!(empty.server.listen.to_string(), "127.0.0.1:7997");
    }

    #[test]
    fn the_documented_defaults_are_those_of_the_rooms() {
        let config = load("").unwrap();
        let rooms = crate::history::Settings::default();
        assert_eq!(config.history(), rooms);
        assert_eq!(
            config.balance().partition,
            crate::partition::Settings::default()
        );
        assert_eq!(config.balance().deadline, crate::partition::DEFAULT_TIME);
        let lobby = crate::lobby::LobbySettings {
            max_roster: 128,
            ..crate::lobby::LobbySettings::default()
        };
        assert_eq!(config.lobby(), lobby);
        let custom = load("auto_balance.rules = 'custom'").unwrap();
        assert_eq!(
            custom.lobby(),
            lobby,
            "the rules written down are the default's"
        );
        assert!(!config.service().learning.auto);
        let auto = load("rating.system = 'auto'").unwrap();
        assert!(auto.service().learning.auto);
    }

    #[test]
    fn what_is_written_is_laid_over_the_defaults() {
        let config = load("[rating]\nwindow = 5\n[game_types.aliases]\nx = 'Y'\n").unwrap();
        assert_eq!((config.rating.window, config.rating.half_life), (5, 10.0));
        assert_eq!(config.game_types.aliases["x"], "Y");
        assert_eq!(config.game_types.aliases["ctf"], "XGame.xCTFGame");
    }

    #[test]
    fn faults_name_their_line() {
        assert_eq!(
            fault("[rating]\n\nwindoww = 5"),
            "line 3: unknown key rating.windoww"
        );
        assert_eq!(fault("\n[ratings]"), "line 2: unknown key ratings");
        assert_eq!(
            fault("[rating]\nwindow = 0"),
            "line 2: rating.window must be 1 to 1000"
        );
        let system = fault("[rating]\nsystem = 'elo9'");
        assert!(system.starts_with("line 2: rating.system must be one of: joint, presence"));
        assert!(fault("[rating]\nwindow = 'x'").starts_with("line 2: rating.window: invalid type"));
        assert!(fault("[rating]\nwindow = -1").starts_with("line 2: rating.window: invalid value"));
        assert!(fault("\n\nrating = 3").starts_with("line 3: rating: invalid type"));
        assert!(fault("[a\n").starts_with("line 1: "));
        assert!(
            fault("[mutators]\nunknown = 'maybe'")
                .starts_with("line 2: mutators.unknown: unknown variant")
        );
        assert!(
            fault("[mutators]\nignore = ['[']")
                .starts_with("line 2: mutators.ignore has a bad pattern")
        );
        assert!(fault("[balance]\npower = nan").starts_with("line 2: balance.power must be"));
        assert!(fault("[server]\nlisten = 'here'").starts_with("line 2: server.listen: "));
    }

    #[test]
    fn the_environment_wins_and_is_blamed() {
        let env = |name: &str, value: &str| [(name.to_owned(), value.to_owned())];
        let text = "[balance]\ntop = 3\npower = 2.0";
        let config = Config::load(text, env("EVENKEEL_BALANCE_TOP", "7")).unwrap();
        assert_eq!((config.balance.top, config.balance.power), (7, 2.0));
        let config = Config::load(text, env("EVENKEEL_STORE_DATABASE", "/a b")).unwrap();
        assert_eq!(config.store.database, PathBuf::from("/a b"));
        let error = Config::load(text, env("EVENKEEL_BALANCE_TOP", "0")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "EVENKEEL_BALANCE_TOP: balance.top must be 1 to 4096"
        );
        let error = Config::load(text, env("EVENKEEL_BALANCE_TOP", "[")).unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("EVENKEEL_BALANCE_TOP: `[` is no value")
        );
        assert!(Config::load(text, env("EVENKEEL_SOMETHING_ELSE", "1")).is_ok());
        let error = Config::load(text, env("EVENKEEL_BALANCE_TOPP", "1")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "EVENKEEL_BALANCE_TOPP: the configuration has no such key"
        );
        let config = Config::load(text, env("EVENKEEL_BALANCE_FACTORS_MOVED", "0.0")).unwrap();
        assert_eq!(config.balance.factors.moved, 0.0);
        let config = Config::load(text, env("EVENKEEL_BALANCE_MAX_DIFFERENCE", "off")).unwrap();
        assert_eq!(config.balance.max_difference, Limit(None));
    }

    #[test]
    fn tokens_are_not_printed() {
        let config = load("[server.clients]\na = 'hunter2'").unwrap();
        assert!(!format!("{config:?} {:?}", config.service()).contains("hunter2"));
        assert!(fault("[server.clients]\na = ''").starts_with("line 1: server.clients must"));
    }

    #[test]
    fn ranges_are_held_at_both_ends() {
        let edges = [
            ("server.max_line_bytes", "63", "64", "65536", "65537"),
            ("server.max_connections", "0", "1", "65536", "65537"),
            ("server.max_errors", "0", "1", "4000000000", "-1"),
            ("server.idle_seconds", "0", "1", "604800", "604801"),
            ("server.drain_seconds", "-1", "0", "60", "61"),
            ("store.busy_ms", "-1", "0", "600000", "600001"),
            ("lobby.max_roster", "1", "2", "128", "129"),
            ("lobby.min_players", "-1", "0", "128", "129"),
            ("lobby.level_max", "-1", "0", "128", "129"),
            ("lobby.min_humans", "-1", "0", "128", "129"),
            ("place.rejoin_grace_seconds", "-1", "0", "86400", "86401"),
            ("place.rejoin_budget", "-0.1", "0", "1.0", "1.1"),
            ("place.max_difference", "-1", "0", "'off'", "1025"),
            ("advantage.max", "0.9", "1.05", "10.0", "nan"),
            ("advantage.dead_band", "0.9", "1", "1.5", "1.6"),
            ("advantage.slew", "1.0", "1.01", "10.0", "11"),
            ("advantage.trust", "0.0", "0.1", "10.0", "nan"),
            ("advantage.usual_seconds", "-1", "0", "86400", "86401"),
            ("rebalance.max_moves", "-1", "0", "16", "17"),
            ("rebalance.enough", "-0.1", "0", "1.0", "1.1"),
            ("rebalance.min_gain", "-0.1", "0", "1.0", "nan"),
            ("rebalance.cooldown_seconds", "-1", "0", "86400", "86401"),
            ("rebalance.max_difference", "-1", "0", "'off'", "'on'"),
            (
                "auto_balance.custom.quiet_end_seconds",
                "-1",
                "0",
                "86400",
                "86401",
            ),
            ("auto_balance.custom.like_sizes", "-1", "0", "'off'", "'on'"),
            (
                "auto_balance.custom.lopsided",
                "[[1, 1]]",
                "[]",
                "[[2, 1]]",
                "[[0, 3]]",
            ),
            ("auto_balance.custom.gap", "0.0", "0.1", "1e6", "inf"),
            ("auto_balance.custom.rank_base", "-1", "0", "1000", "1001"),
            (
                "auto_balance.custom.delay_seconds",
                "-1",
                "0",
                "86400",
                "86401",
            ),
            (
                "auto_balance.custom.movable_share",
                "-0.1",
                "0",
                "1.0",
                "1.1",
            ),
            ("auto_balance.rules", "'on'", "'off'", "'custom'", "'mine'"),
            ("auto_balance.tournament", "['[']", "[]", "['x*']", "[1]"),
            ("server.resume_grace_seconds", "-1", "0", "86400", "86401"),
            ("store.keep_decisions", "-1", "0", "10000000", "10000001"),
            ("balance.top", "0", "1", "4096", "4097"),
            ("balance.power", "-0.1", "0.0", "inf", "nan"),
            ("balance.max_team_share", "0.0", "0.01", "1.0", "1.01"),
            ("balance.max_difference", "-1", "0", "'off'", "'on'"),
            ("balance.party_budget", "-0.1", "0.0", "1.0", "1.1"),
            (
                "balance.party_multiplier",
                "[0.9]",
                "[]",
                "[10.0]",
                "[1.0, 11.0]",
            ),
            ("balance.default_weight", "-0.1", "0.0", "100.0", "100.1"),
            ("balance.default_bot_weight", "-0.1", "0.0", "100.0", "nan"),
            ("balance.deadline_ms", "0", "1", "60000", "60001"),
            ("balance.memory_mb", "0", "1", "4096", "4097"),
            ("balance.factors.moved", "-1.0", "0.0", "1e9", "inf"),
            ("rating.window", "0", "1", "1000", "1001"),
            ("rating.half_life", "0.0", "0.1", "inf", "nan"),
            ("rating.prior", "-1.0", "0.0", "1e9", "inf"),
            ("rating.min_seconds", "-1", "0", "86400", "86401"),
            ("rating.min_humans", "-1", "0", "64", "65"),
            ("rating.elo_k", "0.0", "0.1", "1e6", "inf"),
            ("rating.elo_best", "-0.1", "0.4", "1e6", "inf"),
            ("rating.elo_worst", "-0.1", "0.0", "1.6", "1.7"),
            ("rating.hive_constant", "-0.1", "0.0", "1e6", "inf"),
            ("rating.hive_adaptive", "-0.1", "0.0", "1e6", "inf"),
            ("rating.hive_epsilon", "0.0", "1e-9", "1e6", "inf"),
            ("rating.trueskill_beta", "0.0", "0.1", "1e6", "inf"),
            ("rating.trueskill_drift", "-0.1", "0.0", "1e6", "nan"),
            ("rating.trueskill_ties", "-0.1", "0.0", "0.99", "1.0"),
            ("rating.scoreboard_window", "0", "1", "1000", "1001"),
            ("balance.objective", "'even'", "'ratio'", "'chance'", "1"),
            ("season.keeps", "-0.1", "0.0", "1.0", "1.1"),
            (
                "season.starts",
                "['x']",
                "[]",
                "['2027-01-01']",
                "['2027-02-30']",
            ),
        ];
        for (key, below, least, most, above) in edges {
            for good in [least, most] {
                assert_eq!(fault(&format!("{key} = {good}")), "", "{key} = {good}");
            }
            for bad in [below, above] {
                let fault = fault(&format!("\n{key} = {bad}"));
                assert!(fault.starts_with("line 2: "), "{key} = {bad}: {fault}");
                assert!(fault.contains(key), "{key} = {bad}: {fault}");
            }
        }
    }

    #[test]
    fn the_shipped_lists_know_the_games() {
        let book = Rulebook::new(&load("").unwrap().rulebook()).unwrap();
        for mutator in [
            "XGame.MutInstaGib",
            "XGame.MutZoomInstaGib",
            "Botpack.InstaGibDM",
            "UnrealGame.MutLowGrav",
            "Botpack.LowGrav",
            "XGame.MutQuadJump",
            "UnrealGame.MutBigHead",
            "XWeapons.MutArena",
            "Botpack.RocketArena",
            "XGame.MutVampire",
            "g_instantgib",
            "g_rockets",
            "dmflags=8",
        ] {
            assert!(book.affects_play(mutator), "{mutator}");
        }
        for mutator in [
            "UnrealGame.DMMutator",
            "Botpack.DMMutator",
            "OLStats.MutOLGameStats",
            "AntiTCC.MutAntiTCCFinal",
            "UTSecure.MutUTSecure",
            "MapVoteLA.MapVote",
            "BDBMapVote304.BDBMapVote",
            "UTV2004s.utvMutator",
            "JoolsWorks.IdealBotCounter",
            "TeamColors.MutColors",
            "ACEv08h.ACEActor",
        ] {
            assert!(!book.affects_play(mutator), "{mutator}");
        }
        for game_type in [
            "x.g2",
            "baseoa.g10",
            "SkaarjPack.Invasion",
            "BonusPack.xMutantGame",
        ] {
            assert!(!book.is_team_game(game_type), "{game_type}");
        }
        assert!(book.is_team_game("baseoa.ctf") && !book.is_team_game("baseq3.ffa"));
        assert!(!book.is_team_game("XGame.xDeathMatch") && book.is_team_game("XGame.xTeamGame"));
        assert_eq!(
            book.ruleset::<&str>("CTF", &[]),
            book.ruleset::<&str>("XGame.xCTFGame", &[])
        );
    }
}
