//! The section `[experiment]`: two policies for the games of one ruleset, and the settings of games that they make of the
//! other sections.

use serde_json::json;
use sha2::{Digest, Sha256};
use toml::Value;

use super::{
    Config,
    check::Fault,
    keys::{
        PolicyAdvantage, PolicyAutoBalance, PolicyObjective, PolicyRebalance, PolicySection,
        PolicyTeams,
    },
};
use crate::{
    experiments::ExperimentPlan,
    lobby::{autobalance::AutoBalanceRules, settings::TeamChoice},
    model::units::{Count, Factor, Seconds},
    partition::settings::Objective,
    session::{ConfiguredExperiment, GameSettings},
};

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
        if !(0.05..=0.95).contains(&own.share.get()) {
            return Some(fault(&["share"], "must be 0.05 to 0.95".to_owned()));
        }
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
