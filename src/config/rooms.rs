//! Converts sections of the file to the settings of the rooms, where a room needs several sections or a preset: so `[experiment]`,
//! whose two policies are settings of games that they make of the other sections.

use std::{path::PathBuf, time::Duration};

use serde_json::json;
use sha2::{Digest, Sha256};
use toml::Value;

use super::{
    Config, FolderChoice, FollowSection, IngestSection, JournalChoice, RulesPreset,
    check::Fault,
    keys::{
        PolicyAdvantage, PolicyAutoBalance, PolicyObjective, PolicyRebalance, PolicySection,
        PolicyTeams,
    },
};
use crate::{
    experiments::ExperimentPlan,
    learning,
    lobby::{self, LobbySettings, autobalance::AutoBalanceRules, settings::TeamChoice},
    logs,
    matchmaking::lifecycle::CoordinatorSettings,
    model::{
        rulebook::{PatternError, RulebookSpec, TeamBook},
        units::{Count, Factor, Seconds, Share},
    },
    partition::settings::Objective,
    rating::history,
    server, session,
    session::{ConfiguredExperiment, GameSettings},
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

/// For how long a policy asks if the configuration does not say.
const ASK: Seconds<0, 600> = Seconds::of(20);
/// The most bytes of a policy's name.
const LONGEST_NAME: usize = 60;
/// The sections that policies inherit.
const INHERITED: [&str; 8] = [
    "balance",
    "place",
    "advantage",
    "rebalance",
    "auto_balance",
    "lobby",
    "rating",
    "game_types",
];

impl PolicySection {
    /// The settings of games under this policy.
    fn of(&self, configured: &GameSettings) -> GameSettings {
        let mut games = configured.clone();
        let objective = match self.objective {
            PolicyObjective::Configured => None,
            PolicyObjective::Chance => Some(Objective::Chance),
            PolicyObjective::Ratio => Some(Objective::Ratio),
        };
        if let Some(objective) = objective {
            games.balance.partition.objective = objective;
            games.lobby.objective = objective;
        }
        for (name, factor) in games.balance.partition.factors.named_mut() {
            if let Some(own) = self.factors.get(name) {
                *factor = *own;
            }
        }
        let lobby = &mut games.lobby;
        lobby.teams = match self.teams {
            PolicyTeams::Best => TeamChoice::Best,
            PolicyTeams::Random => TeamChoice::Random,
            PolicyTeams::ByHand | PolicyTeams::Off => TeamChoice::ByHand,
        };
        let is_off = self.teams == PolicyTeams::Off;
        lobby.place.by_number = is_off;
        if is_off || self.advantage == PolicyAdvantage::Off {
            lobby.advantage.max = const { Factor::of(1.0) };
        }
        match self.rebalance {
            PolicyRebalance::Configured => {}
            PolicyRebalance::Off => lobby.rebalance.max_moves = Count::of(0),
            PolicyRebalance::Move => lobby.rebalance.ask_seconds = Seconds::of(0),
            PolicyRebalance::Ask if lobby.rebalance.ask_seconds.get() == 0 => {
                lobby.rebalance.ask_seconds = ASK;
            }
            PolicyRebalance::Ask => {}
        }
        match self.auto_balance {
            PolicyAutoBalance::Configured => {}
            PolicyAutoBalance::Off => lobby.auto_balance.on = false,
            PolicyAutoBalance::SectorsEdge => lobby.auto_balance = AutoBalanceRules::sectors_edge(),
            PolicyAutoBalance::PlayersProposal => {
                lobby.auto_balance = AutoBalanceRules::players_proposal();
            }
        }
        if is_off {
            lobby.rebalance.max_moves = Count::of(0);
            lobby.auto_balance.on = false;
            lobby.streak = false;
        }
        games
    }

    fn leaves_teams_to_people(&self) -> bool {
        match self.teams {
            PolicyTeams::Best | PolicyTeams::Random => false,
            PolicyTeams::ByHand | PolicyTeams::Off => true,
        }
    }
}

impl Config {
    /// The experiment; `None` if there is none.
    pub fn experiment(&self) -> Option<ConfiguredExperiment> {
        let own = &self.experiment;
        if own.ruleset.is_empty() {
            return None;
        }
        let games = self.games();
        let people = own.a.leaves_teams_to_people() || own.b.leaves_teams_to_people();
        Some(ConfiguredExperiment {
            plan: ExperimentPlan {
                ruleset: own.ruleset.clone(),
                names: [own.a.name.clone(), own.b.name.clone()],
                share: own.share.get(),
                outcome: own.outcome,
                over_http: !people,
                policies: json!({"a": own.a, "b": own.b, "inherited": self.inherited()}),
            },
            policies: [own.a.of(&games), own.b.of(&games)],
        })
    }

    /// A digest of all values that policies inherit.
    fn inherited(&self) -> String {
        let values = INHERITED.map(|section| self.values.section(section));
        let digest = Sha256::digest(serde_json::to_vec(&values).unwrap_or_default());
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Checks that the experiment compares two policies that can be told apart, where they can decide.
    pub(super) fn experiment_fault(&self) -> Option<Fault> {
        let own = &self.experiment;
        if own.ruleset.is_empty() {
            return None;
        }
        let fault = |keys: &[&str], why: String| Fault {
            keys: keys.iter().map(|key| format!("experiment.{key}")).collect(),
            why,
        };
        for (arm, policy) in [("a", &own.a), ("b", &own.b)] {
            let name = policy.name.trim();
            if name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
                let why = format!("must be a text of 1 to {LONGEST_NAME} bytes");
                return Some(fault(&[&format!("{arm}.name")], why));
            }
            let mut factors = self.balance.partition.factors;
            let known = factors.named_mut().map(|(name, _)| name);
            let unknown = policy
                .factors
                .keys()
                .find(|name| !known.contains(&name.as_str()));
            if let Some(name) = unknown {
                let known = known.join(", ");
                let why = format!("has no factor {name}; the factors are {known}");
                return Some(fault(&[&format!("{arm}.factors")], why));
            }
        }
        let nameless = PolicySection {
            name: own.a.name.clone(),
            ..own.b.clone()
        };
        if nameless == own.a {
            let why = "must differ from policy b in more than its name".to_owned();
            return Some(fault(&["a", "b"], why));
        }
        if own.a.name.trim() == own.b.name.trim() {
            let why = "must not be the name of policy b".to_owned();
            return Some(fault(&["a.name", "b.name"], why));
        }
        self.people_fault()
    }

    /// The teams of queues are never made by hand.
    fn people_fault(&self) -> Option<Fault> {
        let own = &self.experiment;
        let arms = [("a", &own.a), ("b", &own.b)];
        let (arm, _) = arms
            .into_iter()
            .find(|(_, policy)| policy.leaves_teams_to_people())?;
        let mut queues = self.queue.iter();
        let (queue, _) = queues.find(|(_, queue)| queue.ruleset == own.ruleset)?;
        Some(Fault {
            keys: vec![
                format!("experiment.{arm}.teams"),
                format!("queue.{queue}.ruleset"),
            ],
            why: format!(
                "must be \"best\" or \"random\": queue.{queue} forms the teams of matches of this ruleset"
            ),
        })
    }
}

impl super::ConfiguredValues {
    /// The values of a section.
    fn section(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }
}
