#![doc = include_str!("../README.md")]
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping

use evenkeel_ground::{files, metrics, random, store};
use evenkeel_ingest as ingest;
use evenkeel_lobby as lobby;
use evenkeel_matchmaking as matchmaking;
use evenkeel_model as model;
use evenkeel_partition as partition;
use evenkeel_protocol as protocol;
use evenkeel_rating as rating;

pub mod experiments;
pub mod learning;
pub mod logs;
pub mod queues;
pub mod server;
pub mod session;
pub mod webhooks;
