//! Evenkeel: even teams for any multiplayer game server.
//!
//! One daemon learns how strong players and bots are from finished games, separately for each game
//! type and set of gameplay mutators, and chooses teams. Game servers connect over a line protocol;
//! logs of finished games are read by a command, or followed by the daemon while they grow. Players can
//! also wait in queues: the daemon then forms matches of them, and game servers host these matches.
//!
//! What each room (module) is for, which imports are allowed, the way of a match and of a ticket through the files, and
//! where to add something: `docs/internals/architecture.md`.
//!
//! # Ground truth and derived data
//!
//! The stored matches are the only ground truth. Weights are a pure function of them and of the
//! configuration: a rebuild learns from the matches in (end time, fingerprint) order and gets the
//! same bits as the daemon that learned from them one at a time. So a log that is read twice
//! changes nothing, logs may come in any order, and a new rating system can be tried on the whole
//! past.
//!
//! # Glossary
//!
//! Each word has one meaning, in types, functions, SQL and prose.
//!
//! | word | meaning |
//! | --- | --- |
//! | client | a program that sends requests; a configured client has a name and rights; of a stored match, who has brought it, also the command that has read its log |
//! | right | what a client may do: ask, report, queue, instance or admin |
//! | match | a finished or abandoned game, as it is stored |
//! | game | a running game of a server; in a log parser, the game being read |
//! | ruleset | a game type and the mutators that affect play; games of one ruleset share their weights |
//! | rulebook | the lists that assign each game to a ruleset |
//! | player | a human or a bot |
//! | identity | the text that distinguishes one player from another: a guid, a hash, a name |
//! | roster | the humans and bots in a running game |
//! | participant | one player of a stored match |
//! | timeline | what one player of a match has done while it was recorded, from coming to leaving |
//! | seat | a player's place in a match: in a stored match the participant's index, in a match of a queue the team |
//! | lineup | the players on each team of a match, and how long each played |
//! | party | humans who want to be on one team |
//! | pin | a setting that fixes a human to a team, or a player's weight |
//! | session | one connection and its running game |
//! | journal | a running game on disk: a snapshot, and an entry for everything that has changed it since |
//! | parked game | a game whose connection ended, and that waits for its server |
//! | side | a side of the map; the teams of some games exchange their sides between two rounds |
//! | share | the part of a match for which a player was on a team, 0 to 1; of an experiment, the part of the games in arm B |
//! | score | the number that a team has |
//! | points | the number that a player has on the scoreboard |
//! | weight | the account of a player's own results, a number from 0 to 100 that people read; 50 is the average seat; where no chance is known, teams are compared by it |
//! | unit | a constant of each rating system: the strength that 8 1/3 points are worth |
//! | rating | all numbers that one rating system has for a player |
//! | rating pool | a rating system applied to one level (a ruleset, a game type, all games), with the players who have been in its games |
//! | strength | a rating system's estimate of how strong a player is, minus a newcomer's, on its own scale, without limits; chances are computed from it, and weights move towards it; in points, 50 is that of the average seat |
//! | deviation | the standard deviation of a weight, a rating, a strength or an edge |
//! | newcomer | a player of whom nothing is known |
//! | behaviour | what reports of game servers about a human add up to, and the matches to which the human did not come; older ones count less |
//! | division | a part of the players of a ruleset, by weight, whose name players may be shown |
//! | rank | a player's division, and the progress in it, 0 to 1 |
//! | standings | the published weights of all rulesets |
//! | split | one way to divide the players into teams |
//! | ratio | the weight of the weakest team divided by that of the strongest, 0 to 1 |
//! | chance | the predicted probability that a team wins, the chance to win; of a match as picked, as started, and after each change of its teams, as it was predicted then |
//! | forecast | the chance of a stored match with everybody who played, each for as long as they did, as predicted before it is learned from |
//! | probability | how likely one of several candidates is picked; who wins has a chance |
//! | edge | how far one team is ahead of another by strengths, numbers of players and the side of the map; a rating system turns it into a chance |
//! | win model | the function by which a rating system computes edges and chances |
//! | evenness | how even teams are, 0 to 1: the ratio, or the chance of the weaker team divided by that of the stronger one |
//! | caller | the sender of a request over HTTP: a client, or somebody without a token |
//! | decision | a question and its answer; it can be stored and replayed |
//! | offer | the moves of REBALANCE for which players are asked, before anybody is moved |
//! | volunteer | a human who wants to move in the place of one whom an offer names |
//! | streak | one team has won several rounds in a row, or mostly the same people several matches, by far |
//! | queue | one configured kind of match, and the tickets that wait for it |
//! | ticket | 1 or more players who queue and play together |
//! | attribute | what a player of a queue states, or what the daemon knows of them (`@weight`) |
//! | rule | what a match of a queue must be like; a hard rule holds in every match that is formed |
//! | violation | how much teams break a rule; 0 if it holds |
//! | penalty | what the violations of the rules that are not hard cost together |
//! | round | a search for matches of all tickets that wait in a queue; in a log, a round of a game |
//! | pool | the tickets of one round, and what the rules need to know of each |
//! | seed | the number from which random numbers follow; in a search for a match, the ticket that it starts from |
//! | to mirror | to add the same values to a team as another ticket adds to its own |
//! | candidate | a ticket that may play with the ticket from which a search starts |
//! | proposal | the teams that a search has found, as long as no match has been formed of their tickets |
//! | ready check | the time in which the players of a proposed match accept or decline it |
//! | instance | a game server that can host matches of queues |
//! | slot | room for one match at an instance |
//! | hosted match | a match of a queue that is played on an instance, or waits for one |
//! | call | the address and the passes that the players of a hosted match are sent (GO) |
//! | pass | the secret by which an instance recognises a player whom the daemon has sent there |
//! | webhook | an address to which the daemon sends events |
//! | event | that a match was formed, is hosted or was recorded; in a log, something that happens in a game |
//! | receipt | a key under which a client has recorded a match over HTTP, and what it was answered |
//! | sign-in | the right of one browser to use a client's token on the page of teams, for 30 days |
//! | receiver | the program at the address of a webhook |
//! | closeness | how close the result of a match was, 0 to 1: the second highest score divided by the highest |
//! | balancing window | the time in which a sidecar may choose teams: a warm-up, after a game, or while a server waits for players |
//! | verdict | who won, as END states it; of an experiment, what its primary outcome shows so far |
//! | ruling | whether a match is rated, and if not, why |
//! | fold | the state that learns from matches one after the other, in order; to learn in this way |
//! | checkpoint | the state of a fold in a file |
//! | replay | of matches: to fold them again, beside the state that is served; of a decision: to make it again |
//! | handle | the public name of a player in addresses: a keyed hash, which does not reveal the identity |
//! | metric | a number about the running daemon, for those who operate it |
//! | status | how the daemon is: its metrics in short, and what is wrong |
//! | partition | a part of the queues that one daemon runs at a time; the room of this name divides players into teams |
//! | lease | the right of one daemon to do what only one may do at a time; it ends unless it is renewed |
//! | holder | the daemon that has a lease |
//! | request | of a daemon: what it asks the holder of a partition's lease, as a row of the database that both use; otherwise what a client asks for |
//! | epoch | a number that grows with each new holder of a lease |
//! | experiment | two policies of one ruleset, and the drawing of one of them for each game |
//! | arm | the one of the two policies, A or B, that a game of an experiment belongs to |
//! | commitment | the hash of the key by which arms are drawn, shown before the key itself |
//! | outcome | of a match of an experiment, what is compared, 0 to 1; the primary one was named before, and only it gets a verdict |
//! | baseline | the outcome that is expected of a match before its arm is drawn |
//! | effect | the mean outcome of arm B minus that of arm A |
//! | person | a player who is in a rated match, under the identity that all their matches count for |
//!
//! To *record* is to write a match to the store; to *wait* is to await with a time-out; to *poll*
//! is to look again at intervals; to *drain* is to begin nothing new, and to let everything that has begun
//! end.
//!
//! # Invariants
//!
//! - Every weight can be derived again from the stored matches.
//! - A question about a weight is answered from memory and never waits for the disk.
//! - A match is stored in one transaction: as a whole or not at all.
//! - END is answered only once its match is on disk.
//! - Everything that a client has sent is in the journal before the client gets any later reply, unless
//!   the disk has no room.
//! - A ticket or a hosted match is on disk in its new state before any client or instance is sent it.
//! - Every input is bounded: lines, logs, configurations, database rows and names are checked where
//!   they come in, and refused with a reason if they are wrong.
//! - Every pick can be repeated: the seed is in the reply, and the random generator (ChaCha8) does
//!   not change from version to version.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping

pub use evenkeel_ground::{files, metrics, random, store};
pub use evenkeel_ingest as ingest;
pub use evenkeel_lobby as lobby;
pub use evenkeel_matchmaking as matchmaking;
pub use evenkeel_model as model;
pub use evenkeel_partition as partition;
pub use evenkeel_protocol as protocol;
pub use evenkeel_rating as rating;
pub use evenkeel_service::{experiments, learning, logs, queues, server, session, webhooks};
pub use evenkeel_sidecar as sidecar;
pub use evenkeel_web as web;

pub mod cli;
pub mod client;
pub mod config;
pub mod daemon;
pub mod simulate;
