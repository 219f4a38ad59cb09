//! Converts the sections of the configuration to the settings of the rooms.

use std::time::Duration;

use super::{Config, EvenBy, FollowSection, IngestSection, RulesPreset, SystemChoice};
use crate::{
    domain::RulebookSpec,
    history, learning,
    lobby::{self, AutoBalanceRules, LobbySettings},
    logs, partition, rating, server, service,
    session::{self, BalanceSettings},
};

impl Config {
    /// The logs that the daemon follows.
    pub fn follows(&self) -> Vec<logs::Follow> {
        let follow = |follow: &FollowSection| logs::Follow {
            path: follow.path.clone(),
            format: follow.format.name().and_then(logs::format_of),
            server: follow.server.clone(),
        };
        self.follow.iter().map(follow).collect()
    }

    /// The lists that assign games to rulesets.
    pub fn rulebook(&self) -> RulebookSpec {
        RulebookSpec {
            gameplay: self.mutators.gameplay.clone(),
            ignore: self.mutators.ignore.clone(),
            unknown: self.mutators.unknown,
            aliases: self.game_types.aliases.clone(),
            free_for_all: self.game_types.free_for_all.clone(),
            frags: self.game_types.frags.clone(),
        }
    }

    /// The settings of each running game.
    pub fn lobby(&self) -> LobbySettings {
        LobbySettings {
            max_roster: self.lobby.max_roster.as_usize(),
            min_players: self.lobby.min_players.get(),
            map_range: (self.lobby.level_min.get(), self.lobby.level_max.get()),
            bots: self.lobby.bots,
            min_humans: self.lobby.min_humans.get(),
            party_multiplier: self.party_multiplier(),
            objective: self.objective(),
            place: lobby::PlaceSettings {
                party_budget: self.balance.party_budget,
                ..self.place
            },
            advantage: self.advantage,
            rebalance: self.rebalance,
            auto_balance: self.auto_balance_rules(),
        }
    }

    fn objective(&self) -> partition::Objective {
        match self.balance.objective {
            EvenBy::Ratio => partition::Objective::Ratio,
            EvenBy::Chance => partition::Objective::Gap,
        }
    }

    fn party_multiplier(&self) -> Vec<f64> {
        let multipliers = self.balance.party_multiplier.iter();
        multipliers.map(|multiplier| multiplier.get()).collect()
    }

    fn auto_balance_rules(&self) -> AutoBalanceRules {
        match self.auto_balance.rules {
            RulesPreset::SectorsEdge => AutoBalanceRules::sectors_edge(),
            RulesPreset::PlayersProposal => AutoBalanceRules::players_proposal(),
            RulesPreset::Off => AutoBalanceRules {
                on: false,
                ..AutoBalanceRules::sectors_edge()
            },
            RulesPreset::Custom => self.auto_balance.custom.clone(),
        }
    }

    /// The settings of BALANCE, PLACE and the other decisions on teams.
    pub fn balance(&self) -> BalanceSettings {
        let balance = &self.balance;
        let factors = &balance.factors;
        BalanceSettings {
            partition: partition::Settings {
                objective: self.objective(),
                top: balance.top.as_usize(),
                power: balance.power.get(),
                party_budget: balance.party_budget.get(),
                party_multiplier: self.party_multiplier(),
                memory: balance.memory_mb.bytes(),
                factors: partition::Terms {
                    ratio_gap: factors.ratio_gap.get(),
                    best_gap: factors.best_gap.get(),
                    spread_gap: factors.spread_gap.get(),
                    broken_parties: factors.broken_parties.get(),
                    avoided_pairs: factors.avoided_pairs.get(),
                    moved: factors.moved.get(),
                    repeated: factors.repeated.get(),
                },
                ..partition::Settings::default()
            },
            limits: lobby::SizeLimits {
                max_share: balance.max_team_share.get(),
                max_difference: balance.max_difference.get(),
            },
            default_weight: balance.default_weight.get(),
            default_bot_weight: balance.default_bot_weight.get(),
            deadline: balance.deadline_ms.duration(),
        }
    }

    /// The settings of the service, sessions and learning.
    pub fn service(&self) -> service::Settings {
        service::Settings {
            learning: learning::Settings {
                rulebook: self.rulebook(),
                history: self.history(),
                auto: self.rating.system == SystemChoice::Auto,
            },
            session: session::Settings {
                lobby: self.lobby(),
                balance: self.balance(),
                clients: self.server.clients.clone(),
                resume_grace: self.server.resume_grace_seconds.millis(),
                keep_decisions: self.store.keep_decisions.get(),
                tournament: self.auto_balance.tournament.clone(),
            },
        }
    }

    /// The limits on connections.
    pub fn limits(&self) -> server::Limits {
        let server = &self.server;
        server::Limits {
            max_line_bytes: server.max_line_bytes.as_usize(),
            max_connections: server.max_connections.as_usize(),
            max_errors: server.max_errors.get(),
            first_line: server.first_line_seconds.duration(),
            line: server.line_seconds.duration(),
            idle: server.idle_seconds.duration(),
            write: server.write_seconds.duration(),
            drain: server.drain_seconds.duration(),
        }
    }

    /// The settings of the fold of matches into weights.
    pub fn history(&self) -> history::Settings {
        let settings = &self.rating;
        let rating = rating::Settings {
            system: match settings.system {
                SystemChoice::Always(name) => name,
                // The system until there are enough matches to compare systems.
                SystemChoice::Auto => rating::SystemName::default(),
            },
            presence: rating::presence::Settings {
                window: settings.window.as_usize(),
                half_life: settings.half_life.get(),
                prior: settings.prior.get(),
            },
            elo: rating::elo::Settings {
                k: settings.elo_k.get(),
                best: settings.elo_best.get(),
                worst: settings.elo_worst.get(),
                ..rating::elo::Settings::default()
            },
            hive: rating::hive::Settings {
                constant: settings.hive_constant.get(),
                adaptive: settings.hive_adaptive.get(),
                epsilon: settings.hive_epsilon.get(),
            },
            trueskill: rating::trueskill::Settings {
                beta: settings.trueskill_beta.get(),
                drift: settings.trueskill_drift.get(),
                ties: settings.trueskill_ties.get(),
                ..rating::trueskill::Settings::default()
            },
            scoreboard: rating::scoreboard::Settings {
                window: settings.scoreboard_window.as_usize(),
            },
        };
        let mut seasons: Vec<_> = self.season.starts.iter().map(|start| start.0).collect();
        seasons.sort_unstable();
        history::Settings {
            rating,
            rules: history::Rules {
                min_seconds: settings.min_seconds.get(),
                min_humans: settings.min_humans.get(),
            },
            sides: settings.sides,
            seasons,
            season_keeps: self.season.keeps.get(),
        }
    }
}

impl IngestSection {
    /// The folder of the archive; `None` if logs are not archived.
    pub fn archive(&self) -> Option<&std::path::Path> {
        Some(self.archive.as_path()).filter(|path| !path.as_os_str().is_empty())
    }

    /// The time between two polls of followed logs.
    pub fn interval(&self) -> Duration {
        self.follow_ms.duration()
    }

    /// How long a followed log must not change to count as complete.
    pub fn settle(&self) -> Duration {
        self.settle_seconds.duration()
    }
}
