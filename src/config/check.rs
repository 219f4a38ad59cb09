//! Ranges: every value that makes no sense, by the path of its key.

use tracing_subscriber::EnvFilter;

use super::{Config, Follow, Rating};
use crate::{
    domain::{Patterns, Rulebook, Secret},
    logs,
    partition::ProblemError,
    rating::SystemName,
};

/// A key's path, and the rule that its value breaks.
type Fault = (String, String);

impl Config {
    /// The first value that is out of its range.
    pub(super) fn first_fault(&self) -> Option<Fault> {
        let numbers = [
            self.server_faults(),
            self.lobby_faults(),
            self.running_faults(),
            self.rating_faults(),
            self.ingest_faults(),
        ];
        let mut numbers = numbers.into_iter().flatten();
        let broken = numbers.find(|(_, holds, _)| !holds);
        let broken = broken.map(|(path, _, rule)| (path.to_owned(), rule.to_owned()));
        broken
            .or_else(|| self.partition_fault())
            .or_else(|| self.pattern_fault())
            .or_else(|| self.filter_fault())
            .or_else(|| self.follow_fault())
            .or_else(|| self.system_fault())
    }

    fn server_faults(&self) -> Vec<Check> {
        let server = &self.server;
        let named = |(name, token): (&String, &_)| !name.is_empty() && *token != Secret::of("");
        vec![
            (
                "server.max_line_bytes",
                (64..=65_536).contains(&server.max_line_bytes),
                "must be 64 to 65536",
            ),
            (
                "server.max_connections",
                (1..=65_536).contains(&server.max_connections),
                "must be 1 to 65536",
            ),
            (
                "server.max_errors",
                server.max_errors >= 1,
                "must be 1 or more",
            ),
            (
                "server.first_line_seconds",
                is_wait(server.first_line_seconds),
                WAIT,
            ),
            ("server.line_seconds", is_wait(server.line_seconds), WAIT),
            ("server.idle_seconds", is_wait(server.idle_seconds), WAIT),
            ("server.write_seconds", is_wait(server.write_seconds), WAIT),
            (
                "server.drain_seconds",
                server.drain_seconds <= 60,
                "must be 60 or less",
            ),
            (
                "server.resume_grace_seconds",
                server.resume_grace_seconds <= 86_400,
                "must be 0 to 86400",
            ),
            (
                "server.clients",
                server.clients.iter().all(named),
                "must have names and tokens that are not empty",
            ),
            (
                "store.database",
                !self.store.database.as_os_str().is_empty(),
                "must not be empty",
            ),
            (
                "store.busy_ms",
                self.store.busy_ms <= 600_000,
                "must be 0 to 600000",
            ),
            (
                "store.keep_decisions",
                self.store.keep_decisions <= 10_000_000,
                "must be 0 to 10000000",
            ),
        ]
    }

    fn ingest_faults(&self) -> Vec<Check> {
        let ingest = &self.ingest;
        vec![
            (
                "ingest.follow_ms",
                (10..=60_000).contains(&ingest.follow_ms),
                "must be 10 to 60000",
            ),
            (
                "ingest.settle_seconds",
                is_wait(ingest.settle_seconds),
                WAIT,
            ),
        ]
    }

    fn follow_fault(&self) -> Option<Fault> {
        let known = logs::format_names().join(", ");
        let fault = |follow: &Follow| {
            let (auto, format) = (follow.format == Follow::AUTO, &follow.format);
            if follow.path.as_os_str().is_empty() {
                return Some("must have a path that is not empty".to_owned());
            }
            (!auto && logs::format_of(format).is_none())
                .then(|| format!("has a format that is none of auto, {known}"))
        };
        let rule = self.follow.iter().find_map(fault)?;
        Some(("follow".to_owned(), rule))
    }

    fn lobby_faults(&self) -> Vec<Check> {
        let (lobby, balance) = (&self.lobby, &self.balance);
        let weight = 0.0..=100.0;
        let share = balance.max_team_share;
        vec![
            (
                "lobby.max_roster",
                (2..=128).contains(&lobby.max_roster),
                "must be 2 to 128",
            ),
            (
                "lobby.min_players",
                lobby.min_players <= 128,
                "must be 0 to 128",
            ),
            (
                "lobby.level_max",
                lobby.level_max <= 128,
                "must be 0 to 128",
            ),
            (
                "lobby.level_min",
                lobby.level_min <= lobby.level_max,
                "must not be above level_max",
            ),
            (
                "balance.max_team_share",
                share > 0.0 && share <= 1.0,
                "must be above 0, at most 1",
            ),
            (
                "balance.default_weight",
                weight.contains(&balance.default_weight),
                "must be 0 to 100",
            ),
            (
                "balance.default_bot_weight",
                weight.contains(&balance.default_bot_weight),
                "must be 0 to 100",
            ),
            (
                "balance.deadline_ms",
                (1..=60_000).contains(&balance.deadline_ms),
                "must be 1 to 60000",
            ),
            (
                "balance.memory_mb",
                (1..=4_096).contains(&balance.memory_mb),
                "must be 1 to 4096",
            ),
        ]
    }

    fn rating_faults(&self) -> Vec<Check> {
        let rating = &self.rating;
        let named =
            |(alias, name): (&String, &String)| !alias.trim().is_empty() && !name.trim().is_empty();
        vec![
            (
                "rating.window",
                (1..=1_000).contains(&rating.window),
                "must be 1 to 1000",
            ),
            (
                "rating.half_life",
                rating.half_life > 0.0,
                "must be above 0",
            ),
            ("rating.prior", is_amount(rating.prior), "must be 0 or more"),
            (
                "rating.min_seconds",
                rating.min_seconds <= 86_400,
                "must be 0 to 86400",
            ),
            (
                "rating.min_humans",
                rating.min_humans <= 64,
                "must be 0 to 64",
            ),
            (
                "rating.elo_k",
                rating.elo_k > 0.0 && rating.elo_k.is_finite(),
                "must be above 0",
            ),
            (
                "rating.elo_best",
                is_amount(rating.elo_best),
                "must be 0 or more",
            ),
            (
                "rating.elo_worst",
                (0.0..=rating.elo_best).contains(&rating.elo_worst),
                "must be 0 to elo_best",
            ),
            (
                "rating.hive_constant",
                is_amount(rating.hive_constant),
                "must be 0 or more",
            ),
            (
                "rating.hive_adaptive",
                is_amount(rating.hive_adaptive),
                "must be 0 or more",
            ),
            (
                "rating.hive_epsilon",
                rating.hive_epsilon > 0.0 && rating.hive_epsilon.is_finite(),
                "must be above 0",
            ),
            (
                "rating.trueskill_beta",
                rating.trueskill_beta > 0.0 && rating.trueskill_beta.is_finite(),
                "must be above 0",
            ),
            (
                "rating.trueskill_drift",
                is_amount(rating.trueskill_drift),
                "must be 0 or more",
            ),
            (
                "rating.trueskill_ties",
                (0.0..1.0).contains(&rating.trueskill_ties),
                "must be 0 to below 1",
            ),
            (
                "rating.scoreboard_window",
                (1..=1_000).contains(&rating.scoreboard_window),
                "must be 1 to 1000",
            ),
            (
                "season.keeps",
                (0.0..=1.0).contains(&self.season.keeps),
                "must be 0 to 1",
            ),
            (
                "game_types.aliases",
                self.game_types.aliases.iter().all(named),
                "must have names that are not empty",
            ),
        ]
    }

    /// The room that chooses teams knows its own ranges.
    fn partition_fault(&self) -> Option<Fault> {
        match self.balance().partition.check() {
            Err(ProblemError::Setting { name, wanted }) => {
                let factors = crate::partition::Terms::default().named();
                let is_factor = factors.iter().any(|(factor, _)| *factor == name);
                let section = if is_factor {
                    "balance.factors"
                } else {
                    "balance"
                };
                Some((format!("{section}.{name}"), format!("must be {wanted}")))
            }
            Err(other) => Some(("balance".to_owned(), other.to_string())),
            Ok(()) => None,
        }
    }

    fn pattern_fault(&self) -> Option<Fault> {
        let rulebook = Rulebook::new(&self.rulebook()).err();
        let tournament = || Patterns::new("tournament", &self.auto_balance.tournament).err();
        let error = rulebook.or_else(tournament)?;
        let section = match error.list {
            "gameplay" | "ignore" => "mutators",
            "tournament" => "auto_balance",
            _ => "game_types",
        };
        let path = format!("{section}.{}", error.list);
        Some((path, format!("has a bad pattern: {error}")))
    }

    fn filter_fault(&self) -> Option<Fault> {
        let error = EnvFilter::try_new(&self.log.filter).err()?;
        Some(("log.filter".to_owned(), format!("is no filter: {error}")))
    }

    fn system_fault(&self) -> Option<Fault> {
        let system = &self.rating.system;
        if system == Rating::AUTO || SystemName::parse(system).is_some() {
            return None;
        }
        let known = SystemName::ALL.map(SystemName::as_str).join(", ");
        Some((
            "rating.system".to_owned(),
            format!("must be one of: {known}, {}", Rating::AUTO),
        ))
    }
}

/// A key's path, whether its value is fine, and the rule it goes by.
pub(super) type Check = (&'static str, bool, &'static str);

const WAIT: &str = "must be 1 to 604800 (a week)";

fn is_amount(number: f64) -> bool {
    number >= 0.0 && number.is_finite()
}

fn is_wait(seconds: u64) -> bool {
    (1..=604_800).contains(&seconds)
}
