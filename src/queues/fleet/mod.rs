//! Queues whose clients and instances are connected to several daemons.
//!
//! One daemon holds the lease of the queues and runs them; the others send it what their clients ask for. They do so
//! by letters: rows of the shared database, which wait for whoever holds the lease. The holder handles a letter and
//! discards it in the same transaction as the changes that it has made and the answers to it, so that each call is
//! carried out once or not at all, whichever daemon ends meanwhile.
//!
//! A daemon registers with the holder the names for which its clients listen, and the connections of its
//! instances; whenever another daemon takes over, it does so again. The holder sends such a daemon the changes of
//! tickets until the daemon reports that a client has taken them. A change may hence be sent twice, and is never
//! lost.
//!
//! A call that is not answered in time is withdrawn: its letter is discarded if it is still there.

mod exchange;
mod message;
mod office;
mod pending;
mod remote;

pub(super) use message::{Outbox, Push, Receipt, ToDaemon, ToHolder};
pub(super) use office::PostOffice;
pub(super) use remote::Remote;
