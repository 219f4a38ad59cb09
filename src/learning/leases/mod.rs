//! What only one daemon of a database may do at a time: a lease is taken, kept, and given up in time.
//!
//! A lease is a row of the database with its holder, an epoch, and the time at which it ends. [`HeldLease`]
//! renews it. Its holder relies on two things: its writes check the epoch in their own transaction
//! ([`StoreError::is_lease_lost`](crate::store::StoreError::is_lease_lost)), so that a process that slept for
//! longer than its lease cannot write; and [`HeldLease::is_held`] compares this machine's clock, which only
//! runs forward, so that such a process does not answer from memory, either.
//!
//! On SQLite, a lease is a lock on a file beside the database, and lasts until its holder ends.
//!
//! Daemons of one PostgreSQL database may differ in the settings on which what they write depends, for example while
//! these are changed on one machine after the other. The holder of a lease notes its settings beside it. A daemon with
//! other settings leaves the lease alone as long as daemons with the noted ones may come back.
//!
//! Entry point: [`LeaseSettings::wait`].

mod held;
mod seek;
mod settings;
mod term;

pub use held::HeldLease;
pub use seek::{LeaseSettings, OtherSettings};
pub use settings::SharedSettings;
