#![doc = include_str!("../README.md")]
//!
//! # How it is built
//!
//! The line protocol, version 1, in both directions: requests and replies, each parsed and encoded once.
//!
//! This room contains the grammar, and does not depend on what a request does. It never gives up on
//! a stream: it converts a line that is too long or malformed to a [`Refusal`] or a
//! [`MalformedReply`], and reads the next line as usual.
//!
//! A server uses [`Framer::next_line`], [`Request::parse`] and [`Reply::encode`]; a client uses
//! [`Request::encode`], [`Framer::next_line`] and [`ReplyReader::line`]. The room `client` connects
//! these to a socket.
#![doc = ""]
#![doc = include_str!("../../../docs/reference/protocol.md")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping

#[cfg(test)]
#[macro_use]
mod testing;

mod error;
mod framing;
mod push;
mod question;
mod reply;
mod request;
mod words;

pub use error::{Code, MalformedReply, Refusal};
pub use framing::{FramedLine, Framer};
pub use push::{GameNotice, HostNotice, HostPushReader, HostSeat, HostSession, Notice, Push};
pub use question::WeightQuestion;
pub use reply::{QueueLine, Received, Reply, ReplyReader, TicketReply};
pub use request::{
    Charge, Demand, HostRequest, Join, QueueRequest, ReplyRule, Request, Token, Verb,
};

/// The version of the protocol that the reply to HELLO names.
pub const VERSION: u32 = 1;
