//! The settings of access.

use serde::Deserialize;

use super::{ClientSpec, Rate, Rates};
use crate::model::units::Count;

/// The limits on what each client, or each address without one, may do.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateSettings {
    /// The lines per second, in the long run; 0 is no limit.
    pub lines_per_second: Count<0, 1_000_000>,
    /// The most lines at once.
    pub lines_burst: Count<1, 1_000_000>,
    /// The decisions per second, in the long run; 0 is no limit.
    pub decisions_per_second: Count<0, 1_000_000>,
    /// The most decisions at once.
    pub decisions_burst: Count<1, 1_000_000>,
    /// The reports per second, in the long run; 0 is no limit.
    pub reports_per_second: Count<0, 1_000_000>,
    /// The most reports at once.
    pub reports_burst: Count<1, 1_000_000>,
    /// The most connections of one address at the same time; 0 is no limit.
    pub connections_per_address: Count<0, 65_536>,
}

impl RateSettings {
    /// The rates that these settings mean.
    pub fn rates(&self) -> Rates {
        Rates {
            lines: Rate::new(self.lines_per_second.get(), self.lines_burst.get()),
            decisions: Rate::new(self.decisions_per_second.get(), self.decisions_burst.get()),
            reports: Rate::new(self.reports_per_second.get(), self.reports_burst.get()),
        }
    }
}

/// Who may do what, and how fast, as it is configured.
#[derive(Clone, Debug)]
pub struct AccessSettings {
    /// The clients; if there are none, this machine has all rights but `admin`.
    pub clients: Vec<ClientSpec>,
    /// Whether, without clients, all other machines have these rights, too.
    pub allow_anonymous: bool,
    /// The limits on lines, decisions, reports and connections.
    pub rates: RateSettings,
}

impl AccessSettings {
    /// Whether these settings keep other machines out, or the operator has stated that they need not.
    pub fn may_face_a_network(&self) -> bool {
        self.allow_anonymous || !self.clients.is_empty()
    }
}
