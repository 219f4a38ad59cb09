//! The line protocol over sockets: who may do what, limits, encryption.

mod attacks;
mod client;
mod names;
mod offers;
mod protocol;
mod rights;
mod sources;
mod tls;
mod tls_client;
mod tls_limits;
mod wire_turns;
