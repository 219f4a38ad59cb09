//! What each room is told of the configuration: its own small settings struct.

use std::time::Duration;

use super::{Config, Follow, GapOf, Ingest, Objective, Rating, RuleSet};
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
        let follow = |follow: &Follow| logs::Follow {
            path: follow.path.clone(),
            format: logs::format_of(&follow.format),
            server: follow.server.clone(),
        };
        self.follow.iter().map(follow).collect()
    }

    /// Which games count alike.
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

    /// What every lobby goes by.
    pub fn lobby(&self) -> LobbySettings {
        LobbySettings {
            max_roster: self.lobby.max_roster,
            min_players: self.lobby.min_players,
            level: (self.lobby.level_min, self.lobby.level_max),
            bots: self.lobby.bots,
            min_humans: self.lobby.min_humans,
            party_multiplier: self.balance.party_multiplier.clone(),
            place: lobby::PlaceSettings {
                party_budget: self.balance.party_budget,
                rejoin_budget: self.place.rejoin_budget,
                rejoin_grace: self.place.rejoin_grace_seconds * 1_000,
                max_difference: self.place.max_difference.0,
            },
            advantage: lobby::AdvantageSettings {
                max: self.advantage.max,
                dead_band: self.advantage.dead_band,
                slew: self.advantage.slew,
                trust: self.advantage.trust,
                usual_length: self.advantage.usual_seconds * 1_000,
            },
            rebalance: lobby::RebalanceSettings {
                max_moves: self.rebalance.max_moves,
                enough: self.rebalance.enough,
                min_gain: self.rebalance.min_gain,
                cooldown: self.rebalance.cooldown_seconds * 1_000,
                newest_first: self.rebalance.newest_first,
                spare_top: self.rebalance.spare_top,
                max_difference: self.rebalance.max_difference.0,
            },
            auto_balance: self.auto_balance_rules(),
        }
    }

    fn auto_balance_rules(&self) -> AutoBalanceRules {
        let custom = &self.auto_balance.custom;
        match self.auto_balance.rules {
            RuleSet::SectorsEdge => AutoBalanceRules::sectors_edge(),
            RuleSet::PlayersProposal => AutoBalanceRules::players_proposal(),
            RuleSet::Off => AutoBalanceRules {
                on: false,
                ..AutoBalanceRules::sectors_edge()
            },
            RuleSet::Custom => AutoBalanceRules {
                on: true,
                quiet_end: custom.quiet_end_seconds * 1_000,
                like_sizes: custom.like_sizes.0,
                lopsided: custom.lopsided.clone(),
                gap: match custom.gap_of {
                    GapOf::Points => lobby::Gap::Points(custom.gap),
                    GapOf::Share => lobby::Gap::Share(custom.gap),
                },
                power: custom.power,
                rank_base: custom.rank_base,
                delay: custom.delay_seconds * 1_000,
                movable_share: custom.movable_share,
                once: custom.once,
                choice: custom.choice,
            },
        }
    }

    /// How teams are chosen.
    pub fn balance(&self) -> BalanceSettings {
        let balance = &self.balance;
        let factors = &balance.factors;
        BalanceSettings {
            partition: partition::Settings {
                objective: match balance.objective {
                    Objective::Ratio => partition::Objective::Ratio,
                    Objective::Chance => partition::Objective::Gap,
                },
                top: balance.top,
                power: balance.power,
                party_budget: balance.party_budget,
                party_multiplier: balance.party_multiplier.clone(),
                memory: balance.memory_mb << 20,
                factors: partition::Terms {
                    ratio_gap: factors.ratio_gap,
                    best_gap: factors.best_gap,
                    spread_gap: factors.spread_gap,
                    broken_parties: factors.broken_parties,
                    avoided_pairs: factors.avoided_pairs,
                    moved: factors.moved,
                    repeated: factors.repeated,
                },
                ..partition::Settings::default()
            },
            limits: lobby::Limits {
                max_share: balance.max_team_share,
                max_difference: balance.max_difference.0,
            },
            default_weight: balance.default_weight,
            default_bot_weight: balance.default_bot_weight,
            deadline: Duration::from_millis(balance.deadline_ms),
        }
    }

    /// What the use cases go by.
    pub fn service(&self) -> service::Settings {
        service::Settings {
            learning: learning::Settings {
                rulebook: self.rulebook(),
                history: self.history(),
                auto: self.rating.system == Rating::AUTO,
            },
            session: session::Settings {
                lobby: self.lobby(),
                balance: self.balance(),
                clients: self.server.clients.clone(),
                resume_grace: self.server.resume_grace_seconds * 1_000,
                keep_decisions: self.store.keep_decisions,
                tournament: self.auto_balance.tournament.clone(),
            },
        }
    }

    /// What a connection may cost.
    pub fn limits(&self) -> server::Limits {
        let server = &self.server;
        server::Limits {
            max_line_bytes: server.max_line_bytes,
            max_connections: server.max_connections,
            max_errors: server.max_errors,
            first_line: Duration::from_secs(server.first_line_seconds),
            line: Duration::from_secs(server.line_seconds),
            idle: Duration::from_secs(server.idle_seconds),
            write: Duration::from_secs(server.write_seconds),
            drain: Duration::from_secs(server.drain_seconds),
        }
    }

    /// How weights are learned.
    pub fn history(&self) -> history::Settings {
        let settings = &self.rating;
        let rating = rating::Settings {
            // auto begins with the default, and leaves it where nothing can be compared.
            system: rating::SystemName::parse(&settings.system).unwrap_or_default(),
            presence: rating::presence::Settings {
                window: settings.window,
                half_life: settings.half_life,
                prior: settings.prior,
            },
            elo: rating::elo::Settings {
                k: settings.elo_k,
                best: settings.elo_best,
                worst: settings.elo_worst,
                ..rating::elo::Settings::default()
            },
            hive: rating::hive::Settings {
                constant: settings.hive_constant,
                adaptive: settings.hive_adaptive,
                epsilon: settings.hive_epsilon,
            },
            trueskill: rating::trueskill::Settings {
                beta: settings.trueskill_beta,
                drift: settings.trueskill_drift,
                ties: settings.trueskill_ties,
                ..rating::trueskill::Settings::default()
            },
            scoreboard: rating::scoreboard::Settings {
                window: settings.scoreboard_window,
            },
        };
        let mut seasons: Vec<_> = self.season.starts.iter().map(|start| start.0).collect();
        seasons.sort_unstable();
        history::Settings {
            rating,
            rules: history::Rules {
                min_seconds: settings.min_seconds,
                min_humans: settings.min_humans,
            },
            sides: settings.sides,
            seasons,
            season_keeps: self.season.keeps,
        }
    }
}

impl Ingest {
    /// Where logs are put away, if anywhere.
    pub fn archive(&self) -> Option<&std::path::Path> {
        Some(self.archive.as_path()).filter(|path| !path.as_os_str().is_empty())
    }

    /// How often followed logs are looked at.
    pub fn interval(&self) -> Duration {
        Duration::from_millis(self.follow_ms)
    }

    /// How long a followed log is quiet until it is taken for over.
    pub fn settle(&self) -> Duration {
        Duration::from_secs(self.settle_seconds)
    }
}
