//! What a follower has to know about an engine: how another game is added.
//!
//! An engine passes on to [`FollowedServer`] what the lines mean, and prints console commands. It needs one
//! file, a subcommand in `cli/sidecar` and, if no other engine has the same one, a remote console in the room
//! `drivers`. The lines of its log are read in [`live`](evenkeel_ingest::live) of the room `ingest`, which makes the same
//! [`GameEvent`](evenkeel_ingest::GameEvent)s of finished logs.
//!
//! Its lines may come from a file or from a console that prints events. Of each game, an engine must tell the
//! follower when it begins, when its play starts and ends, who is on which side, and the teams' final scores or
//! each point. The rest is optional: kills, deaths, players' points, warm-ups, rounds between which teams exchange
//! their sides, and chat.
//!
//! An engine also prints the commands for [`TeamChanges`]. It decides neither when to balance nor whom to move.

use super::{
    chat::ChatLine,
    follower::FollowedServer,
    progress::{GamePhase, LoggedPlayer},
};

/// An engine: how its log reads, and which console commands its servers take.
pub trait Engine {
    /// The names of the teams in the game's chat.
    const TEAM_NAMES: &'static [&'static str] = &["red", "blue"];
    /// The shortest time between two lists of console commands, in milliseconds; commands wait for their turn.
    const COMMAND_PAUSE: u64 = 0;
    /// Whether players stay on their teams between two games, so that the daemon is sent who comes and goes then.
    const BETWEEN_GAMES: bool = false;

    /// Reads a line of the log, without its end.
    fn log_line(&mut self, line: &[u8], server: &mut FollowedServer);

    /// Lets time pass, several times per second.
    fn tick(&mut self, _server: &mut FollowedServer) {}

    /// Whether teams may be chosen in this phase of a game.
    fn may_choose_teams(&self, phase: GamePhase) -> bool {
        matches!(phase, GamePhase::Opening | GamePhase::WarmUp)
    }

    /// The console commands that carry out these changes.
    fn orders(&self, changes: &TeamChanges<'_>) -> TeamOrders;

    /// The console command that writes a line into the game. The text is safe in a command.
    fn chat_command(&self, line: &ChatLine) -> String {
        format!("say {}", line.text)
    }
}

/// The changes from the teams on a game server to those that the daemon chose.
#[derive(Debug, Default)]
pub struct TeamChanges<'a> {
    /// The players to move, each with the new side.
    pub(super) moves: Vec<(&'a LoggedPlayer, u8)>,
    /// The bots that the daemon does not place one by one, each with its side.
    pub(super) bots: Vec<(&'a LoggedPlayer, u8)>,
    /// How many of these bots each side should have; `None` to leave them alone.
    pub(super) bot_counts: Option<Vec<u32>>,
}

/// Console commands that change teams.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TeamOrders {
    /// Number of players who change teams, come or go.
    pub(super) count: usize,
    /// The commands, in the order in which to execute them.
    pub(super) commands: Vec<String>,
    /// The numbers of the players whom they remove from the server, also of those whom they add again.
    pub(super) removed: Vec<u32>,
}

/// Orders moves so that players leave the two sides in turns, because a server may refuse to enlarge the larger
/// team.
pub(super) fn in_turns<P: Copy>(moves: &[(P, u8)]) -> Vec<(P, u8)> {
    let to = |first: bool| moves.iter().filter(move |(_, to)| (*to == 0) == first);
    let (mut one, mut other) = (to(true), to(false));
    let mut first = to(true).count() >= to(false).count();
    let mut turns = Vec::with_capacity(moves.len());
    for _ in 0..moves.len() {
        let next = match first {
            true => one.next().or_else(|| other.next()),
            false => other.next().or_else(|| one.next()),
        };
        first = !first;
        turns.extend(next.copied());
    }
    turns
}

/// Compares the bots on each side with the numbers that the sides should have. Returns the bots that are too many, in
/// the order in which they joined, and the sides that miss one, once for each bot.
pub(super) fn misplaced<B>(
    bots: impl IntoIterator<Item = B>,
    side: impl Fn(&B) -> u8,
    counts: &[u32],
) -> (Vec<B>, Vec<u8>) {
    let mut missing = counts.to_vec();
    let mut surplus = Vec::new();
    for bot in bots {
        match missing.get_mut(usize::from(side(&bot))) {
            Some(missing) if *missing > 0 => *missing -= 1,
            _ => surplus.push(bot),
        }
    }
    let vacancies = (0u8..).zip(&missing);
    let vacancies = vacancies.flat_map(|(side, &count)| (0..count.min(128)).map(move |_| side));
    (surplus, vacancies.collect())
}
