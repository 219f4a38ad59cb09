//! The queries that belong to no owner of tables, and what several owners share.

pub(super) mod behaviour;
pub(super) mod called;
pub(super) mod operator_import;
pub(super) mod operator_lines;
pub(super) mod orphans;
pub(super) mod pickups;
pub(super) mod rows;
pub(super) mod sign_ins;
pub(super) mod state;
