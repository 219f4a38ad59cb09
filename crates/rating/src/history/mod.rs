//! The fold of finished matches into weights, and the evaluation of rating systems on them.
//!
//! [`Fold`] takes match records in (end time, fingerprint) order, one at a time. It rules on
//! whether each match is rated, and if not, why ([`Unrated`]); passes rated matches to the rating
//! system of their ruleset; and keeps the weights of humans and bots apart. It is the only path
//! from matches to weights: rebuilding from all stored matches and learning from each as it arrives
//! run the same code and produce the same bits. The fold refuses a match that arrives late
//! ([`Late`]); the caller then folds all matches again.
//!
//! [`evaluate`] runs any of the systems over a history and predicts each match before it learns
//! from it. [`fresh`] does so for a history that is begun anew again and again.
//!
//! This room does no I/O and reads no clock. Entry points: [`Fold::new`] and [`evaluate`].

mod account;
mod balance;
mod curve;
mod departures;
mod digest;
mod evaluate;
mod fold;
mod ladder;
mod levels;
mod metrics;
mod newcomers;
mod people;
mod points;
mod rating_pool;
mod ruling;
mod settings;
mod suspects;
mod typical_game;

use digest::Digest;
use ladder::{Ladder, MeasuredPlayer};
use levels::Levels;
use people::People;
use rating_pool::RatingPool;
use settings::{Season, Starts, StartsByNumber};

pub use balance::{
    BalanceOfRuleset, BalanceStatistics, ChanceStep, Closeness, GapsByCauses, MapOfBalance,
    RulesetTotals, WeekOfBalance, begin_of_week,
};
pub use curve::{LineupReading, Weight};
pub use evaluate::{
    Evaluation, EvaluationPlan, Evaluator, FIRST as FIRST_MATCHES, FirstMatches, FreshLine,
    FreshPlayers, Prediction, Subset, SystemLine, evaluate, fresh, steps as fresh_steps,
};
pub use fold::{BadState, Fold, Late};
pub use levels::Level;
pub use metrics::{
    BesideCoin, Bin, CONFIDENCE, FEWEST as FEWEST_COMPARED, Forecast, Gains, Interval, Metrics,
    SystemComparison, interval,
};
pub use newcomers::PART as PART_FROM_ELSEWHERE;
pub use ruling::{Played, Rules, Ruling, Unrated, unrated};
pub use settings::Settings;
pub use suspects::{Suspect, THRESHOLD as SUSPECT_THRESHOLD};
pub use typical_game::Spread;
