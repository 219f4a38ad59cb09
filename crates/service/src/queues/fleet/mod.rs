//! Queues whose clients and instances are connected to several daemons.
//!
//! One daemon holds the lease of a partition and runs it. A request of a client or an instance of another daemon is a
//! row of the shared database. The holder of the lease applies the requests in order, and writes the answer to a
//! request in the transaction of the changes that it has made: each is carried out once or not at all, whichever
//! daemon ends meanwhile. The daemon that asked reads the answer, and removes the row. A request that is not answered
//! in time is withdrawn: its row is removed, unless it is answered by then.
//!
//! What the holder decides are rows as well. Each daemon reads the tickets of its own clients that have changed,
//! sends the changes to those that listen, and notes that they were sent. A change may hence be sent twice, and is
//! never lost. The lines for instances of other daemons are written with the change that they follow from.
//!
//! A daemon registers the connections of its instances with the holder; whenever another daemon takes over, it does
//! so again.

mod asking;
mod exchange;

pub(super) use asking::{Asked, Asker, DecisionOutbox, Fleet, Remote};
