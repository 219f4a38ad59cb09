//! The verbs of the protocol.

/// Defines the verbs, each with its word.
macro_rules! verbs {
    ($($verb:ident $word:literal)*) => {
        /// The first word of a request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs)] // the words of the protocol
        pub enum Verb {
            $($verb,)*
        }

        impl Verb {
            /// All verbs, in the order of their numbers (`verb as usize`).
            pub const ALL: &[Self] = &[$(Self::$verb,)*];

            /// The verb, as it is sent.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$verb => $word,)*
                }
            }
        }
    };
}

verbs! {
    Game "GAME"
    Mutator "MUTATOR"
    Player "PLAYER"
    Bot "BOT"
    Rank "RANK"
    MeanBot "MEANBOT"
    Hello "HELLO"
    Ping "PING"
    Quit "QUIT"
    Map "MAP"
    Teams "TEAMS"
    MinPlayers "MINPLAYERS"
    Join "JOIN"
    Leave "LEAVE"
    Move "MOVE"
    BotJoin "BOTJOIN"
    BotLeave "BOTLEAVE"
    Balance "BALANCE"
    Bots "BOTS"
    Place "PLACE"
    Advantage "ADVANTAGE"
    Rebalance "REBALANCE"
    Explain "EXPLAIN"
    Protect "PROTECT"
    Role "ROLE"
    Start "START"
    Score "SCORE"
    Points "POINTS"
    Kill "KILL"
    Death "DEATH"
    Clock "CLOCK"
    Behaviour "BEHAVIOUR"
    End "END"
    Queues "QUEUES"
    Enqueue "ENQUEUE"
    Seat "SEAT"
    Submit "SUBMIT"
    Cancel "CANCEL"
    Ticket "TICKET"
    Accept "ACCEPT"
    Decline "DECLINE"
    Listen "LISTEN"
    Instance "INSTANCE"
    Load "LOAD"
    Ready "READY"
    Backfill "BACKFILL"
    Refuse "REFUSE"
}
