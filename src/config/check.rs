//! Checks that involve several keys, and patterns; types check single values.

use std::collections::{BTreeMap, BTreeSet};

use super::{Config, FolderChoice, RulesPreset, plain, values::NO_NAME};
use crate::{
    lobby::autobalance::AutoBalanceRules,
    matchmaking::Queue,
    matchmaking::lifecycle::Provider,
    model::{Rulebook, rulebook::Patterns},
    rating::divisions,
    webhooks::MAX_HOOKS,
};

/// A broken rule and the keys that break it together; the operator should change the first one.
pub(super) struct Fault {
    /// The paths of the keys.
    pub(super) keys: Vec<String>,
    /// What is wrong, as a predicate whose subject is the first key.
    pub(super) why: String,
}

impl Config {
    /// The first broken rule; `None` if the configuration is valid.
    pub(super) fn first_fault(&self) -> Option<Fault> {
        let order = self.order_fault().or_else(|| self.division_fault());
        let aliases = || self.alias_fault();
        let others = order.or_else(aliases).or_else(|| self.pattern_fault());
        let others = others.or_else(|| self.allocator_fault());
        let others = others.or_else(|| self.queue_fault().or_else(|| self.partition_fault()));
        let others = others.or_else(|| self.custom_rules_fault());
        let others = others.or_else(|| self.client_fault());
        let others = others.or_else(|| self.tls_fault());
        let others = others.or_else(|| self.store_fault());
        let others = others.or_else(|| self.experiment_fault());
        others.or_else(|| self.webhook_fault())
    }

    /// Checks that a preset does not hide the operator's own rules of auto-balance. With `off` they may stay for later.
    fn custom_rules_fault(&self) -> Option<Fault> {
        let own = &self.auto_balance;
        let hides = match own.rules {
            RulesPreset::SectorsEdge | RulesPreset::PlayersProposal => true,
            RulesPreset::Custom | RulesPreset::Off => false,
        };
        // A file may repeat the documented values, which are those of this preset.
        (hides && own.custom != AutoBalanceRules::sectors_edge()).then(|| Fault {
            keys: ["auto_balance.rules", "auto_balance.custom"]
                .map(str::to_owned)
                .to_vec(),
            why: "must be \"custom\" for the rules in [auto_balance.custom] to count".to_owned(),
        })
    }

    /// Checks the section of the allocator, if game servers come from it.
    fn allocator_fault(&self) -> Option<Fault> {
        let agones = &self.coordinator.agones;
        let (key, why) = match self.coordinator.provider {
            Provider::Agones => agones.fault()?,
            Provider::Instances => return None,
        };
        Some(Fault {
            keys: vec![
                format!("coordinator.agones.{key}"),
                "coordinator.provider".to_owned(),
            ],
            why: why.to_owned(),
        })
    }

    /// Checks that a player is in one ticket of a group: one daemon must know all tickets of its queues.
    fn partition_fault(&self) -> Option<Fault> {
        let mut groups = BTreeMap::new();
        self.queue.iter().find_map(|(name, settings)| {
            let group = settings.group.as_ref()?;
            let (first, partition) = *groups.entry(group).or_insert((name, &settings.partition));
            (*partition != settings.partition).then(|| Fault {
                keys: vec![
                    format!("queue.{name}.partition"),
                    format!("queue.{first}.partition"),
                ],
                why: format!(
                    "must be \"{partition}\", as in queue.{first}, which is in the same group"
                ),
            })
        })
    }

    /// Checks the queues: what their rules refer to must exist.
    fn queue_fault(&self) -> Option<Fault> {
        self.queue.iter().find_map(|(name, settings)| {
            let error = Queue::new(name, settings.clone()).err()?;
            let queue = format!("queue.{name}");
            let key = match error.key.is_empty() {
                true => queue,
                false => format!("{queue}.{}", error.key),
            };
            Some(Fault {
                keys: vec![key],
                why: plain(&error.why),
            })
        })
    }

    /// Checks that only one database is named, and that what is made for SQLite is off for another one.
    fn store_fault(&self) -> Option<Fault> {
        let store = &self.store;
        store.url.as_ref()?;
        let fault = |keys: [&str; 2], why: &str| Fault {
            keys: keys.map(str::to_owned).to_vec(),
            why: why.to_owned(),
        };
        if store.database_is_set {
            let why = "must not be set together with store.database, which names an SQLite file";
            return Some(fault(["store.url", "store.database"], why));
        }
        let why =
            "must be \"off\" with store.url: back up a PostgreSQL database with its own tools";
        let has_backups = store.backups != FolderChoice::Off;
        has_backups.then(|| fault(["store.backups", "store.url"], why))
    }

    /// Checks that encrypted connections have a certificate and a key.
    fn tls_fault(&self) -> Option<Fault> {
        let tls = &self.server.tls;
        let listen = tls.listen?;
        if listen == self.server.listen && listen.port() != 0 {
            return Some(Fault {
                keys: ["server.tls.listen", "server.listen"]
                    .map(str::to_owned)
                    .to_vec(),
                why: "must be another address than server.listen".to_owned(),
            });
        }
        let files = [("certificate", &tls.certificate), ("key", &tls.key)];
        let (key, _) = files
            .into_iter()
            .find(|(_, path)| path.as_os_str().is_empty())?;
        Some(Fault {
            keys: vec![format!("server.tls.{key}"), "server.tls.listen".to_owned()],
            why: "must not be empty when server.tls.listen is set".to_owned(),
        })
    }

    /// Checks the webhooks: each has a name of its own and a secret, and none is sent plain text by mistake.
    fn webhook_fault(&self) -> Option<Fault> {
        let mut names = BTreeSet::new();
        self.webhook.iter().enumerate().find_map(|(at, hook)| {
            let (key, why) = match hook.fault() {
                Some(fault) => fault,
                None if at >= MAX_HOOKS => (
                    "name",
                    format!("is that of one more than {MAX_HOOKS} webhooks"),
                ),
                None if !names.insert(&hook.name) => {
                    ("name", format!("must not be {} twice", hook.name))
                }
                None => return None,
            };
            Some(Fault {
                keys: vec![format!("webhook[{at}].{key}")],
                why,
            })
        })
    }

    /// Checks pairs of keys of which the first must not be above the second.
    fn order_fault(&self) -> Option<Fault> {
        let (lobby, advantage) = (&self.lobby, &self.advantage);
        let pairs = [
            (
                ("lobby.level_min", f64::from(lobby.level_min.get())),
                ("lobby.level_max", f64::from(lobby.level_max.get())),
            ),
            (
                ("advantage.dead_band", advantage.dead_band.get()),
                ("advantage.max", advantage.max.get()),
            ),
        ];
        let ((low, least), (high, most)) =
            pairs.into_iter().find(|((_, low), (_, high))| low > high)?;
        Some(Fault {
            keys: vec![low.to_owned(), high.to_owned()],
            why: format!("must not be above {high}: {least} is above {most}"),
        })
    }

    /// Checks the names and percentiles of divisions.
    fn division_fault(&self) -> Option<Fault> {
        let (names, percentiles) = (&self.divisions.names, &self.divisions.percentiles);
        let of_names = |why: String| Fault {
            keys: vec!["divisions.names".to_owned()],
            why,
        };
        if names.len() > divisions::MOST {
            let most = divisions::MOST;
            return Some(of_names(format!("must be at most {most} names")));
        }
        let distinct: BTreeSet<_> = names.iter().collect();
        if distinct.len() < names.len() {
            return Some(of_names("must not repeat a name".to_owned()));
        }
        let ascending = percentiles.is_sorted_by(|one, next| one < next);
        let unused = percentiles.is_empty() || names.is_empty();
        let fits = unused || percentiles.len() + 1 == names.len();
        let (wanted, found) = (names.len().saturating_sub(1), percentiles.len());
        (!ascending || !fits).then(|| Fault {
            keys: vec!["divisions.percentiles".to_owned(), "divisions.names".to_owned()],
            why: match ascending {
                false => "must be ascending".to_owned(),
                true => format!(
                    "must be empty, or have one number fewer than divisions.names has names: {wanted}, not {found}"
                ),
            },
        })
    }

    /// Checks that no alias is blank, nor the name that it stands for.
    fn alias_fault(&self) -> Option<Fault> {
        const TABLE: &str = "game_types.aliases";
        let blank = |text: &str| text.trim().is_empty();
        let mut aliases = self.game_types.aliases.iter();
        let (alias, _) = aliases.find(|(alias, name)| blank(alias) || blank(name))?;
        Some(match blank(alias) {
            true => Fault {
                keys: vec![TABLE.to_owned()],
                why: NO_NAME.to_owned(),
            },
            false => Fault {
                keys: vec![format!("{TABLE}.{alias}")],
                why: "must not be empty".to_owned(),
            },
        })
    }

    fn pattern_fault(&self) -> Option<Fault> {
        let rulebook = Rulebook::new(&self.rulebook()).err();
        let tournament = || Patterns::new("tournament", &self.auto_balance.tournament).err();
        let reporters = || Patterns::new("reporters", &self.behaviour.reporters).err();
        let teams = || self.team_names().err();
        let error = rulebook
            .or_else(tournament)
            .or_else(reporters)
            .or_else(teams)?;
        let section = match error.list {
            "gameplay" | "ignore" => "mutators",
            "tournament" => "auto_balance",
            "reporters" => "behaviour",
            _ => "game_types",
        };
        Some(Fault {
            keys: vec![format!("{section}.{}", error.list)],
            why: format!("has a bad pattern: {error}"),
        })
    }
}
