//! The table of verbs: for each request its verb, its arguments, what a client needs for it, when it has a reply, and
//! how it is read and written. A client that has any of the rights in a row may send the request.

use std::collections::BTreeSet;

use super::{
    Charge, Demand, Join, ReplyRule, Token, VerbRow,
    arguments::{
        address, balance, hello, instance, join, leave_reason, load, map_range, players, points,
        put_balance, put_hello, put_instance, put_join, put_leave, put_map, put_rebalance,
        put_score, put_stated, put_verdict, rebalance, role, score, seconds, stated, team, teams,
        ticket, verdict,
    },
};
use crate::{
    Refusal,
    words::{WordWriter, Words, maybe, put_maybe},
};
use evenkeel_model::{
    access::{Right, Rights},
    ident::Ident,
    in_game::Verdict,
    record::{LeaveReason, MAX_PLAYERS, MAX_TEAMS},
    team_names::RoleName,
};

const ANYBODY: Rights = Rights::NONE;
pub(super) const ASK: Rights = Rights::of(&[Right::Ask]);
const REPORT: Rights = Rights::of(&[Right::Report]);
/// Who asks and who reports both have to describe the game first.
const GAME: Rights = Rights::of(&[Right::Ask, Right::Report]);
const QUEUE: Rights = Rights::of(&[Right::Queue]);
pub(super) const INSTANCE: Rights = Rights::of(&[Right::Instance]);

/// Defines [`Verb`](super::Verb) and the enums of requests. Each row is one request:
///
/// ```text
/// /// What it means.
/// <verb> "<WORD>": <variant>(<its value>) [<rights>, <charge>, <reply>] = <how it is read> => { <how it is written> }
/// ```
///
/// Instead of a value, a variant may have `{ fields }`, or neither. A row without a word is another request of a verb
/// that has one. A row without `=` is read by another row. Reading uses `$words`; writing uses `$line` and references to
/// the value or the fields, by their names. An enum `of { … }` also contains the requests of these enums.
macro_rules! verbs {
    ($words:ident, $line:ident; $(
        $(#[$about_type:meta])*
        $type:ident $( of { $( $(#[$about_part:meta])* $part:ident($part_type:ident), )+ } )? {
            $(
                $(#[$about:meta])*
                $verb:ident $($word:literal)?: $variant:ident
                $( ($value:ident: $value_type:ty) )?
                $( { $( $(#[$about_field:meta])* $field:ident: $field_type:ty, )+ } )?
                [$rights:ident, $charge:ident, $reply:ident]
                $( = $read:expr )?
                => $write:block
            )+
        }
    )+) => {
        /// The first word of a request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Verb {
            $($($( #[doc = $word] $verb, )?)+)+
        }

        impl Verb {
            /// All verbs, in the order of their numbers (`verb as usize`).
            pub const ALL: &[Self] = &[$($($( (Self::$verb, $word).0, )?)+)+];

            /// The verb, as it is sent.
            pub fn as_str(self) -> &'static str {
                match self {
                    $($($( Self::$verb => $word, )?)+)+
                }
            }
        }

        $(
            $(#[$about_type])*
            pub enum $type {
                $(
                    $(#[$about])*
                    $variant $( ($value_type) )? $( { $( $(#[$about_field])* $field: $field_type, )+ } )?,
                )+
                $($( $(#[$about_part])* $part($part_type), )+)?
            }

            impl $type {
                pub(super) fn rule(&self) -> VerbRow {
                    match self {
                        $(
                            Self::$variant { .. } => VerbRow {
                                verb: Verb::$verb,
                                demand: Demand { rights: $rights, charge: Charge::$charge },
                                reply: ReplyRule::$reply,
                            },
                        )+
                        $($( Self::$part(request) => request.rule(), )+)?
                    }
                }

                /// Reads the arguments of a verb; `None` if it is that of other requests.
                pub(super) fn read(verb: Verb, $words: &mut Words) -> Result<Option<Self>, Refusal> {
                    $($(
                        if let Some(request) = $part_type::read(verb, $words)? {
                            return Ok(Some(Self::$part(request)));
                        }
                    )+)?
                    Ok(Some(match verb {
                        $($( Verb::$verb => $read, )?)+
                        _ => return Ok(None),
                    }))
                }

                pub(super) fn put_arguments(&self, $line: &mut WordWriter<'_>) {
                    match self {
                        $( Self::$variant { $( 0: $value )? $( $($field,)+ )? } => $write, )+
                        $($( Self::$part(request) => request.put_arguments($line), )+)?
                    }
                }
            }
        )+
    };
}

verbs! { words, line;

/// One command of a game server.
#[derive(Clone, Debug, PartialEq)]
Request of {
    /// Is about the queue, not about this connection's game.
    Queue(QueueRequest),
    /// Is about the matches that this instance hosts.
    Host(HostRequest),
} {
    /// Begins a game of this type, and with it a new roster.
    Game "GAME": Game(game_type: Ident) [GAME, Line, Never]
        = Self::Game(words.whole_rest("the game type")?) => { line.word(game_type) }
    /// Names a mutator that is active in the game.
    Mutator "MUTATOR": Mutator(name: Ident) [GAME, Line, Never]
        = Self::Mutator(words.whole_rest("the mutator")?) => { line.word(name) }
    /// Asks for a human's weight.
    Player "PLAYER": Player(id: Ident) [ASK, Line, Always]
        = Self::Player(words.whole_rest("the player")?) => { line.word(id) }
    /// Asks for a bot's weight.
    Bot "BOT": Bot(name: Ident) [ASK, Line, Always]
        = Self::Bot(words.whole_rest("the bot")?) => { line.word(name) }
    /// Asks for a human's division.
    Rank "RANK": Rank(id: Ident) [ASK, Line, Always]
        = Self::Rank(words.word("the player")?) => { line.word(id) }
    /// Asks for the mean weight of the known bots.
    MeanBot "MEANBOT": MeanBot [ASK, Line, Always] = Self::MeanBot => {}
    /// Names the game server. With a match, it needs the right to host, too.
    Hello "HELLO": Hello {
        /// The name under which its games are stored and resumed.
        server: Ident,
        /// The proof of that name, if the daemon's configuration lists clients.
        token: Option<Token>,
        /// Whether to resume the game that this server's last connection left.
        resume: bool,
        /// Whether this server adds and removes bots as the daemon asks; `None` if HELLO does not
        /// state it.
        bots: Option<bool>,
        /// Whether players are asked before REBALANCE moves one; `None` if HELLO does not state it.
        offers: Option<bool>,
        /// Whether this server wants to know of streaks; `None` if HELLO does not state it.
        streaks: Option<bool>,
        /// The match that this connection hosts, for an instance with several slots.
        hosts: Option<i64>,
        /// Where the game server is that this connection reports, which no other one then does.
        source: Option<Ident>,
    } [ANYBODY, Line, Always]
        = hello(words)?
        => {
            put_hello(line, server, token.as_ref(), *resume, [*bots, *offers, *streaks]);
            line.maybe("match", *hosts);
            source.iter().for_each(|source| line.option("source", source));
        }
    /// Asks for a PONG.
    Ping "PING": Ping [ANYBODY, Line, Always] = Self::Ping => {}
    /// Closes the connection once the replies owed are sent.
    Quit "QUIT": Quit [ANYBODY, Line, Never] = Self::Quit => {}
    /// Names the map.
    Map "MAP": Map {
        /// The name of the map.
        name: Ident,
        /// The fewest and the most players it is made for.
        range: Option<(u32, u32)>,
    } [GAME, Line, Never]
        = Self::Map { name: words.word("the map")?, range: maybe(words, map_range)? }
        => { put_map(line, name, *range) }
    /// Sets the number of teams.
    Teams "TEAMS": Teams(teams: u8) [GAME, Line, Never]
        = Self::Teams(teams(words)?) => { line.plain(teams) }
    /// Sets the least number of players, bots included, that this session wants in a game.
    MinPlayers "MINPLAYERS": MinPlayers(players: u32) [GAME, Line, Never]
        = Self::MinPlayers(players(words, "the number of players")?) => { line.plain(players) }
    /// Adds a human to the roster, or updates one.
    Join "JOIN": Join(join: Join) [GAME, Line, Never]
        = Self::Join(join(words)?) => { put_join(line, join) }
    /// Removes a human from the roster.
    Leave "LEAVE": Leave {
        /// The human.
        id: Ident,
        /// Why.
        reason: LeaveReason,
    } [GAME, Line, Never]
        = Self::Leave { id: words.word("the player")?, reason: leave_reason(words)? }
        => { put_leave(line, id, *reason) }
    /// Reports the team that a human is on now.
    Move "MOVE": Move {
        /// The identity of the human.
        id: Ident,
        /// The team that they are on, counted from 0.
        team: u8,
    } [GAME, Line, Never]
        = Self::Move { id: words.word("the player")?, team: team(words)? }
        => { line.word(id); line.plain(team) }
    /// Adds a bot to the roster, or reports its new team.
    BotJoin "BOTJOIN": BotJoin {
        /// The name of the bot.
        name: Ident,
        /// The team that it is on, counted from 0.
        team: u8,
    } [GAME, Line, Never]
        = Self::BotJoin { name: words.word("the bot")?, team: team(words)? }
        => { line.word(name); line.plain(team) }
    /// Removes a bot from the roster.
    BotLeave "BOTLEAVE": BotLeave(name: Ident) [GAME, Line, Never]
        = Self::BotLeave(words.word("the bot")?) => { line.word(name) }
    /// Asks for teams for all humans.
    Balance "BALANCE": Balance {
        /// From how many of the best splits to pick; the configured number if absent.
        top: Option<usize>,
        /// The seed of the pick; a random one if absent.
        seed: Option<u64>,
    } [ASK, Decision, Always]
        = balance(words)? => { put_balance(line, *top, *seed) }
    /// Asks how many bots belong on each team.
    Bots "BOTS": Bots [ASK, Line, Always] = Self::Bots => {}
    /// Asks which team a late arrival should join.
    Place "PLACE": Place(id: Ident) [ASK, Decision, Always]
        = Self::Place(words.word("the player")?) => { line.word(id) }
    /// Asks which team needs an advantage, and how large it must be.
    Advantage "ADVANTAGE": Advantage [ASK, Line, Always] = Self::Advantage => {}
    /// Asks for the fewest moves that make the game even.
    Rebalance "REBALANCE": Rebalance {
        /// The seed that decides between equally good answers; a random one if absent.
        seed: Option<u64>,
        /// Whether players are asked first, if this session asks at all.
        ask: bool,
    } [ASK, Decision, Always]
        = rebalance(words)? => { put_rebalance(line, *seed, *ask) }
    /// A human volunteers for the open offer.
    Switch "SWITCH": Switch(id: Ident) [ASK, Decision, Always]
        = Self::Switch(words.word("the player")?) => { line.word(id) }
    /// Asks for the reasons of the last decision.
    Explain "EXPLAIN": Explain [ASK, Line, Always] => {}
    /// Exempts a human from being moved.
    Protect "PROTECT": Protect {
        /// The identity of the human.
        id: Ident,
        /// For how long, 0 to end it; if absent, until it is ended.
        seconds: Option<u32>,
    } [GAME, Line, Never]
        = Self::Protect { id: words.word("the player")?, seconds: maybe(words, seconds)? }
        => { line.word(id); put_maybe(line, seconds.as_ref()) }
    /// Reports the role that a human has from now on.
    Role "ROLE": Role {
        /// The identity of the human.
        id: Ident,
        /// The role, such as commander; `None` for none.
        role: Option<RoleName>,
    } [GAME, Line, Never]
        = Self::Role { id: words.word("the player")?, role: maybe(words, role)? }
        => { line.word(id); put_maybe(line, role.as_ref().map(RoleName::as_str)) }
    /// Begins play: time zero of the match.
    Start "START": Start [REPORT, Report, Never] = Self::Start => {}
    /// Reports a change of a team's score.
    Score "SCORE": Score {
        /// The team that scored, counted from 0.
        team: u8,
        /// The change; may be negative.
        points: f64,
        /// The player who caused it.
        by: Option<Ident>,
    } [REPORT, Report, Never]
        = score(words)? => { put_score(line, *team, *points, by.as_ref()) }
    /// States a team's score, whatever it was before.
    Score: Total {
        /// The team, counted from 0.
        team: u8,
        /// Its score now.
        points: f64,
    } [REPORT, Report, Never]
        => { line.plain(team); line.decimal_option("total", *points) }
    /// Reports a player's points on the scoreboard.
    Points "POINTS": Points {
        /// The human or bot.
        id: Ident,
        /// The total so far.
        points: f64,
    } [REPORT, Report, Never]
        = Self::Points { id: words.word("the player")?, points: points(words)? }
        => { line.word(id); line.decimal(*points) }
    /// Reports that one player killed another.
    Kill "KILL": Kill {
        /// The human or bot who killed.
        killer: Ident,
        /// The human or bot who died.
        victim: Ident,
    } [REPORT, Report, Never]
        = Self::Kill {
            killer: words.word_or_empty("the killer")?,
            victim: words.word_or_empty("the victim")?,
        }
        => { line.word(killer); line.word(victim) }
    /// Reports that a human died, and asks whether to move them now.
    Death "DEATH": Death(id: Ident) [REPORT, Report, Sometimes]
        = Self::Death(words.word("the player")?) => { line.word(id) }
    /// Reports how many seconds of play are left.
    Clock "CLOCK": Clock(seconds: u32) [REPORT, Report, Never]
        = Self::Clock(seconds(words)?) => { line.plain(seconds) }
    /// Reports how a human behaves.
    Behaviour "BEHAVIOUR": Behaviour {
        /// The identity of the human.
        id: Ident,
        /// The points: negative for a player who spoils games.
        points: f64,
    } [REPORT, Report, Never]
        = Self::Behaviour { id: words.word("the player")?, points: points(words)? }
        => { line.word(id); line.decimal(*points) }
    /// Ends the game and stores the match.
    End "END": End(verdict: Verdict) [REPORT, Report, Always]
        = Self::End(verdict(words)?) => { put_verdict(line, *verdict) }
}

/// One command of a queue client.
#[derive(Clone, Debug, PartialEq, Eq)]
QueueRequest {
    /// Asks for the configured queues.
    Queues "QUEUES": Queues [QUEUE, Line, Always] = Self::Queues => {}
    /// Begins a ticket.
    Enqueue "ENQUEUE": Enqueue {
        /// The name of the queue.
        queue: Ident,
        /// The client's own id of the ticket.
        ticket: String,
    } [QUEUE, Line, Never]
        = Self::Enqueue { queue: words.word("the queue")?, ticket: ticket(words)? }
        => { line.word(queue); line.plain(ticket) }
    /// Adds a player, or more attributes of one, to the ticket that was begun.
    Seat "SEAT": Seat {
        /// The identity of the player.
        player: Ident,
        /// What the player states: names in lower case, and values.
        stated: Vec<(String, Ident)>,
    } [QUEUE, Line, Never]
        = Self::Seat { player: words.word("the player")?, stated: stated(words)? }
        => { line.word(player); put_stated(line, stated) }
    /// Puts the ticket that was begun into its queue.
    Submit "SUBMIT": Submit [QUEUE, Report, Always] = Self::Submit => {}
    /// Takes a ticket out of the queue.
    Cancel "CANCEL": Cancel(ticket: String) [QUEUE, Report, Always]
        = Self::Cancel(ticket(words)?) => { line.plain(ticket) }
    /// Asks for the state of a ticket.
    Ticket "TICKET": Ticket(ticket: String) [QUEUE, Line, Always]
        = Self::Ticket(ticket(words)?) => { line.plain(ticket) }
    /// A player accepts a match.
    Accept "ACCEPT": Accept {
        /// The match that was proposed.
        id: i64,
        /// The identity of the player.
        player: Ident,
    } [QUEUE, Report, Never]
        = Self::Accept { id: words.match_id()?, player: words.word("the player")? }
        => { line.plain(id); line.word(player) }
    /// A player declines a match.
    Decline "DECLINE": Decline {
        /// The match that was proposed.
        id: i64,
        /// The identity of the player.
        player: Ident,
    } [QUEUE, Report, Never]
        = Self::Decline { id: words.match_id()?, player: words.word("the player")? }
        => { line.plain(id); line.word(player) }
    /// Asks for pushes about all tickets of the client's name.
    Listen "LISTEN": Listen [QUEUE, Line, Never] = Self::Listen => {}
    /// Asks why a ticket still waits.
    Explain: Explain(ticket: String) [QUEUE, Decision, Always]
        = Self::Explain(ticket(words)?) => { line.plain(ticket) }
}

/// One command of an instance.
#[derive(Clone, Debug, PartialEq)]
HostRequest {
    /// States that this game server can host matches.
    Instance "INSTANCE": Instance {
        /// Where players connect.
        address: String,
        /// The region in which it is.
        region: Option<String>,
        /// How many matches it hosts at once.
        slots: u32,
        /// The modes that it serves; all if there are none.
        modes: BTreeSet<String>,
        /// The maps that it has; all if there are none.
        maps: BTreeSet<String>,
        /// The partition of the queues whose matches it hosts; `None` for the main one.
        partition: Option<String>,
    } [INSTANCE, Line, Never]
        = instance(words)?
        => {
            line.plain(address);
            put_instance(line, region.as_deref(), *slots, [modes, maps], partition.as_deref())
        }
    /// States how busy it is, 0 to 1.
    Load "LOAD": Load(load: f64) [INSTANCE, Line, Never]
        = Self::Load(load(words)?) => { line.decimal(*load) }
    /// It can host the match, and players can connect.
    Ready "READY": Ready {
        /// The match that the instance was asked to host.
        id: i64,
        /// Where players connect, if not at the instance's own address.
        address: Option<String>,
    } [INSTANCE, Line, Never]
        = Self::Ready { id: words.match_id()?, address: maybe(words, address)? }
        => { line.plain(id); put_maybe(line, address.as_ref()) }
    /// Seeks players of the queue for seats of a match in play.
    Backfill "BACKFILL": Backfill {
        /// The match in play.
        id: i64,
        /// The team, counted from 0.
        team: u8,
        /// Number of seats of the team that are to be filled; 0 to seek nobody any more.
        seats: u32,
    } [INSTANCE, Line, Always]
        = Self::Backfill {
            id: words.match_id()?,
            team: words.number("the team", 0, MAX_TEAMS as u64 - 1)? as u8,
            seats: words.number("the number of seats", 0, MAX_PLAYERS as u64)? as u32,
        }
        => { line.plain(format_args!("{id} {team} {seats}")) }
    /// It does not host the match.
    Refuse "REFUSE": Refuse {
        /// The match that the instance was asked to host.
        id: i64,
        /// Why, for the log.
        reason: Ident,
    } [INSTANCE, Line, Never]
        = Self::Refuse { id: words.match_id()?, reason: words.whole_rest("the reason")? }
        => { line.plain(id); line.word(reason) }
}

}
