//! Converts sections of the file to the settings of the rooms, where a room needs several sections
//! or a preset.

use std::{path::PathBuf, time::Duration};

use super::{Config, FolderChoice, FollowSection, IngestSection, JournalChoice, RulesPreset};
use crate::{
    learning,
    lobby::{self, LobbySettings, autobalance::AutoBalanceRules, settings::TeamChoice},
    logs,
    matchmaking::lifecycle::CoordinatorSettings,
    model::{
        rulebook::{PatternError, RulebookSpec, TeamBook},
        units::Share,
    },
    rating::history,
    server, session,
    store::{Backups, DatabaseUrl, postgres::PoolSettings},
};

impl Config {
    /// The logs that the daemon follows.
    pub fn follows(&self) -> Vec<logs::Follow> {
        let follow = |follow: &FollowSection| logs::Follow {
            path: follow.path.clone(),
            format: follow.format.name().and_then(logs::format_of),
            server: follow.server.clone(),
            game: follow.game.clone(),
            zone: follow.time_zone.clone(),
        };
        self.follow.iter().map(follow).collect()
    }

    /// Where the database is.
    pub fn database(&self) -> DatabaseUrl {
        match &self.store.url {
            Some(url) => DatabaseUrl::Server(url.clone(), self.pools()),
            None => DatabaseUrl::File(self.store.database.clone()),
        }
    }

    /// How a PostgreSQL server is used.
    fn pools(&self) -> PoolSettings {
        let store = &self.store;
        PoolSettings {
            readers: store.read_connections.get(),
            pages: store.page_connections.get(),
            connect: store.connect_ms.duration(),
            statement: store.statement_seconds.duration(),
        }
    }

    /// The folder in which running games are journaled; `None` if they are not.
    pub fn journal(&self) -> Option<PathBuf> {
        match &self.store.journal {
            JournalChoice::Auto => Some(self.store.database.with_extension("games")),
            JournalChoice::Off => None,
            JournalChoice::Folder(folder) => Some(folder.clone()),
        }
    }

    /// The daily backups; `None` if there are none.
    pub fn backups(&self) -> Option<Backups> {
        match &self.store.backups {
            FolderChoice::Off => None,
            FolderChoice::In(folder) => Some(Backups {
                database: self.store.database.clone(),
                folder: folder.clone(),
                keep: self.store.keep_backups.get() as usize,
                busy: self.store.busy_ms.duration(),
                mode: self.store.file_mode,
            }),
        }
    }

    /// The lists that assign games to rulesets.
    pub fn rulebook(&self) -> RulebookSpec {
        RulebookSpec {
            mutators: self.mutators.clone(),
            game_types: self.game_types.clone(),
        }
    }

    /// What the teams of each game type are called.
    ///
    /// # Errors
    /// Returns the first pattern that is not a valid glob, which no loaded configuration has.
    pub fn team_names(&self) -> Result<TeamBook, PatternError> {
        TeamBook::new(&self.game_types.teams)
    }

    /// The settings of each running game.
    pub fn lobby(&self) -> LobbySettings {
        let balance = &self.balance.partition;
        LobbySettings {
            roster: self.lobby.clone(),
            party_multiplier: balance.party_multiplier.clone(),
            objective: balance.objective,
            place: lobby::place::PlaceSettings {
                party_budget: balance.party_budget,
                wish_budget: self.wish_worth(),
                ..self.place
            },
            advantage: self.advantage,
            rebalance: self.rebalance,
            auto_balance: self.auto_balance_rules(),
            streak: self.auto_balance.streak,
            teams: TeamChoice::Best,
        }
    }

    /// The settings that each game has from its GAME on.
    pub fn games(&self) -> session::GameSettings {
        session::GameSettings {
            lobby: self.lobby(),
            balance: self.balance.clone(),
            tournament: self.auto_balance.tournament.clone(),
        }
    }

    /// How much of the weaker team's chance one wish for a side may cost.
    fn wish_worth(&self) -> Share {
        let balance = &self.balance.partition;
        let worth = balance.factors.wishes.get().min(balance.wish_budget.get());
        Share::try_from(worth).unwrap_or(balance.wish_budget)
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

    /// The settings of the service, sessions and learning.
    pub fn service(&self) -> server::ServiceSettings {
        server::ServiceSettings {
            learning: learning::Settings {
                rulebook: self.rulebook(),
                history: self.history(),
                tags: self.identity.strip.clone(),
                behaviour: self.behaviour.clone(),
                file_mode: self.store.file_mode,
            },
            session: session::Settings {
                games: self.games(),
                resume_grace: self.server.resume_grace_seconds,
                heartbeat: self.coordinator.heartbeat_seconds,
                connections: self.server.limits.max_connections.as_usize(),
                keep_decisions: self.store.keep_decisions.get(),
                file_mode: self.store.file_mode,
                new: self.limits.new_limits(),
            },
            queues: self.queue.clone(),
            lease: self.store.lease_seconds.duration(),
            hosting: CoordinatorSettings {
                resume_grace: self.server.resume_grace_seconds,
                ..self.coordinator.clone()
            },
        }
    }

    /// The settings of the fold of matches into weights.
    pub fn history(&self) -> history::Settings {
        let mut seasons: Vec<_> = self.season.starts.iter().map(|start| start.0).collect();
        seasons.sort_unstable();
        history::Settings {
            seasons,
            season_keeps: self.season.keeps,
            divisions: self.divisions.clone(),
            ..self.rating.clone()
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
