//! The statistics pages: HTML, JSON and a feed over HTTP, on a listener of their own.
//!
//! Pages are made at each request from the read models of the store ([`Store`](crate::store::Store)) and the
//! published weights; no page is cached here. The pages only show: they answer GET and HEAD, and change
//! nothing. What changes something is below `/v1`, for programs (`api`), and at `/teams`, for people (`teams`); both are
//! off by default. Whatever a visitor sends, a connection costs one task and a bounded buffer for a bounded time.
//! Every text of a player or a game server is escaped, and an identity is never written.
//!
//! `/metrics`, `/status.json`, `/healthz` and `/readyz` are for operators: [`watch`](crate::server::watch) makes
//! them. The first two are answered to the addresses of the configuration.
//!
//! Each page is a struct: its JSON is the struct, its HTML is made of the same struct. Entry point: [`run`].

#[macro_use]
mod texts;

mod access;
mod answer;
mod api;
mod asset;
mod badge;
mod chances;
mod compress;
mod connection;
mod encode;
mod error;
mod feed;
mod frame;
mod links;
mod name;
mod page_request;
mod pages;
mod plot;
mod present;
mod routes;
mod settings;
mod share;
mod site;
mod teams;
mod twin;
mod visitors;
mod watching;
mod with_score;
mod words;

pub use api::{ApiSettings, WebOrigin};
pub use connection::{Audience, run};
pub use settings::{PageNumbers, WebLimits, WebSettings};
pub use site::Site;
