//! The lobbies that are judged: lineups of recorded matches whose players are seen again later.

use std::collections::BTreeMap;

use evenkeel::model::{MatchRecord, Outcome};
use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use super::{
    judge::{Game, Judge},
    threads::on_all_cores,
};

/// A recorded history, and the same matches as the judge sees them.
pub struct History {
    pub matches: Vec<MatchRecord>,
    pub games: Vec<Game>,
    pub sides: bool,
}

/// The people of one match, who are to be divided into teams anew.
#[derive(Clone)]
pub struct Lobby {
    /// The daemon learns from the matches from `first` to `at`, which is the match of this lobby.
    pub first: usize,
    pub at: usize,
    /// The first match of its group of lobbies.
    pub begin: usize,
    /// The players, with the team that they played on.
    pub players: Vec<(String, usize)>,
    /// The number of the judge of this lobby.
    pub block: usize,
    /// Those who want to play together, by their places among the players.
    pub parties: Vec<Vec<usize>>,
}

impl Lobby {
    /// The teams as played.
    pub fn played(&self) -> Vec<u8> {
        self.players.iter().map(|(_, team)| *team as u8).collect()
    }

    /// The same lobby after only so many matches before its group.
    pub fn after(&self, learned: usize) -> Self {
        Self {
            first: self.begin - learned,
            ..self.clone()
        }
    }
}

/// The judges of a history: a part of the lobbies has the same one.
pub struct Judges {
    /// Fitted on matches after the lobbies.
    pub later: Judge,
    /// Fitted on matches before the lobbies.
    pub earlier: Judge,
}

/// The part of a history from which lobbies are taken: the first fifth is for learning, and the last
/// quarter for judging.
const FROM: f64 = 0.20;
const TO: f64 = 0.75;
/// The number of parts of a history, each with a judge of its own.
const BLOCKS: usize = 10;
/// The later matches that a player needs, so that the judge knows them.
const KNOWN: usize = 5;
/// The share of a match that a player of its lobby has played.
const PRESENT: f64 = 0.5;

impl History {
    /// The teams of randomly drawn matches are exchanged where a team number means no side.
    pub fn new(matches: Vec<MatchRecord>, sides: bool) -> Self {
        let mut coin = ChaCha8Rng::seed_from_u64(1);
        let exchange = |record: MatchRecord| match !sides && coin.random_bool(0.5) {
            true => record.with_teams_exchanged(),
            false => record,
        };
        let matches: Vec<MatchRecord> = matches.into_iter().map(exchange).collect();
        let games = matches.iter().map(game).collect();
        Self {
            matches,
            games,
            sides,
        }
    }

    /// About `count` lobbies, evenly spread over the middle of the history.
    pub fn lobbies(&self, count: usize) -> Vec<Lobby> {
        let all = self.matches.len() as f64;
        let (from, to) = ((FROM * all) as usize, (TO * all) as usize);
        let block = |at: usize| (at - from) * BLOCKS / (to - from);
        let end = |block: usize| from + ((block + 1) * (to - from)).div_ceil(BLOCKS);
        let found: Vec<Lobby> = (from..to)
            .filter_map(|at| self.lobby(0, at, block(at), end(block(at))))
            .collect();
        spread(found, count)
    }

    /// Groups of `size` consecutive lobbies in the middle of the history, one every `apart` matches, of which the
    /// first has `learned` matches before it. `first` is that of the whole history.
    pub fn groups(&self, learned: usize, apart: usize, size: usize) -> Vec<Lobby> {
        let all = self.matches.len() as f64;
        let (from, to) = ((FROM * all) as usize, (TO * all) as usize);
        let from = from.max(learned);
        let block = |at: usize| (at - from) * BLOCKS / (to - from).max(1);
        let end = |block: usize| from + ((block + 1) * (to - from)).div_ceil(BLOCKS);
        let group = |begin: usize| {
            let end_of_group = to.min(begin + size);
            let own = (begin..end_of_group).filter_map(move |at| {
                let lobby = self.lobby(0, at, block(at), end(block(at)))?;
                Some(Lobby { begin, ..lobby })
            });
            own.collect::<Vec<_>>()
        };
        (from..to).step_by(apart).flat_map(group).collect()
    }

    /// About `count` lobbies of communities that begin anew: each piece of the history is a community
    /// that has played `length` matches.
    pub fn fresh_lobbies(&self, length: usize, count: usize) -> Vec<Lobby> {
        /// The matches after each piece from which lobbies are taken.
        const AFTER: usize = 20;
        let last = (TO * self.matches.len() as f64) as usize;
        let pieces = (0..last.saturating_sub(length)).step_by(length);
        let found = pieces.enumerate().flat_map(|(block, first)| {
            let from = first + length;
            let to = last.min(from + AFTER);
            (from..to).filter_map(move |at| self.lobby(first, at, block, to))
        });
        spread(found.collect(), count)
    }

    /// The lobby of a match; `None` if the judge would not know all of its players, or the match was
    /// not one of two teams.
    fn lobby(&self, first: usize, at: usize, block: usize, judged_from: usize) -> Option<Lobby> {
        let mut players = Vec::new();
        for (team, seats) in self.games[at].teams.iter().enumerate() {
            let present = seats.iter().filter(|(_, share)| *share >= PRESENT);
            players.extend(present.map(|(id, _)| (id.clone(), team)));
        }
        let known = |id: &str| {
            let later = self.games[judged_from..].iter().filter(|g| g.won.is_some());
            let seen = later.filter(|g| g.teams.iter().flatten().any(|(p, _)| p == id));
            seen.take(KNOWN).count() == KNOWN
        };
        let both = (0..2).all(|team| players.iter().any(|(_, t)| *t == team));
        let unique = players
            .iter()
            .map(|(id, _)| id)
            .collect::<std::collections::BTreeSet<_>>();
        let fine = both && players.len() >= 4 && unique.len() == players.len();
        (fine && players.iter().all(|(id, _)| known(id))).then_some(Lobby {
            first,
            at,
            begin: at,
            players,
            block,
            parties: Vec::new(),
        })
    }

    /// The judges of the lobbies, by block: fitted on the matches after the last lobby of the block,
    /// and on those before its first one.
    pub fn judges(&self, lobbies: &[Lobby]) -> BTreeMap<usize, Judges> {
        let mut ranges: BTreeMap<usize, (usize, usize, usize)> = BTreeMap::new();
        for lobby in lobbies {
            let range = ranges
                .entry(lobby.block)
                .or_insert((lobby.first, lobby.at, lobby.at));
            range.1 = range.1.min(lobby.at);
            range.2 = range.2.max(lobby.at);
        }
        let fit = |(block, (first, from, to)): &(usize, (usize, usize, usize))| {
            let later = Judge::fit(&self.games[to + 1..], self.sides);
            let earlier = Judge::fit(&self.games[*first..*from], self.sides);
            (*block, Judges { later, earlier })
        };
        let ranges: Vec<_> = ranges.into_iter().collect();
        on_all_cores(&ranges, fit).into_iter().collect()
    }

    /// The judges of the lobbies that know the later matches only, by block. It takes half the time.
    pub fn later_judges(&self, lobbies: &[Lobby]) -> BTreeMap<usize, Judge> {
        let mut last: BTreeMap<usize, usize> = BTreeMap::new();
        for lobby in lobbies {
            let to = last.entry(lobby.block).or_insert(lobby.at);
            *to = lobby.at.max(*to);
        }
        let fit = |(block, to): &(usize, usize)| {
            let games = &self.games[to + 1..];
            (*block, Judge::fit(games, self.sides))
        };
        let last: Vec<_> = last.into_iter().collect();
        on_all_cores(&last, fit).into_iter().collect()
    }
}

/// `count` of the lobbies, evenly spread.
fn spread(lobbies: Vec<Lobby>, count: usize) -> Vec<Lobby> {
    let all = lobbies.len();
    let chosen = |at: usize| all <= count || (at * count) / all != ((at + 1) * count) / all;
    let numbered = lobbies.into_iter().enumerate();
    numbered
        .filter(|(at, _)| chosen(*at))
        .map(|(_, lobby)| lobby)
        .collect()
}

/// The match as the judge sees it.
fn game(record: &MatchRecord) -> Game {
    let millis = record.millis().max(1) as f64;
    let mut teams = [Vec::new(), Vec::new()];
    for participant in &record.participants {
        for (team, seats) in teams.iter_mut().enumerate() {
            let stays = participant
                .presence
                .iter()
                .filter(|s| usize::from(s.team) == team);
            let share = stays.map(|s| s.span.millis() as f64).sum::<f64>() / millis;
            if share > 0.0 {
                seats.push((participant.key.id.clone(), share));
            }
        }
    }
    let won = match record.outcome {
        Outcome::Won(team) => Some(team == 0),
        _ => None,
    };
    Game { teams, won }
}
