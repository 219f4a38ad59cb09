//! The additions that are tried for one match as it is, and which of them are allowed.

use super::game::{Game, Term};

/// An addition that is allowed.
pub(super) struct Allowed {
    pub seats: Vec<(u32, usize)>,
    pub hard: f64,
    pub soft: f64,
    pub gap: f64,
}

/// The search for additions to the match as it is.
pub(super) struct Trial<'g, 'p> {
    pub game: &'g Game<'p>,
    /// The limits with which the terms were made.
    pub limits: Vec<f64>,
    pub terms: Vec<Term<'p>>,
    /// The tickets that may be added, the oldest first.
    pub tickets: &'g [u32],
    pub accepted: f64,
    pub free: Vec<usize>,
    pub heads: Vec<usize>,
    pub chosen: Vec<(u32, usize)>,
    /// How many more additions may be looked at.
    pub steps: usize,
    pub best: Option<Allowed>,
}

impl Trial<'_, '_> {
    /// Goes on with the limits that hold after a wait.
    pub fn wait(&mut self, waited: f64) {
        self.accepted = self.game.pool.queue.accepts(waited);
        let limits = self.game.limits(waited);
        if limits != self.limits {
            (self.terms, self.limits) = (self.game.terms(waited), limits);
        }
    }

    /// Tries the ticket at a place on each team, and with it younger ones, `number` tickets in all.
    pub fn extend(&mut self, at: usize, number: usize) {
        let Some(&ticket) = self.tickets.get(at) else {
            return;
        };
        let size = self.game.pool.people.size(ticket);
        for team in 0..self.free.len() {
            if self.free[team] < size || self.steps == 0 {
                continue;
            }
            self.steps -= 1;
            self.seat(ticket, team, size);
            if !self.grows_worse() {
                if number == 1 {
                    self.judge();
                } else if self.free.iter().any(|free| *free > 0) {
                    let mut younger = at + 1..self.tickets.len();
                    younger.any(|next| {
                        self.extend(next, number - 1);
                        self.steps == 0 || self.best.is_some()
                    });
                }
            }
            self.unseat(ticket, team, size);
        }
    }

    fn seat(&mut self, ticket: u32, team: usize, size: usize) {
        self.free[team] -= size;
        self.heads[team] += size;
        self.chosen.push((ticket, team));
        for term in &mut self.terms {
            term.tally.put(team, ticket);
        }
    }

    fn unseat(&mut self, ticket: u32, team: usize, size: usize) {
        self.free[team] += size;
        self.heads[team] -= size;
        self.chosen.pop();
        for term in &mut self.terms {
            term.tally.take(team, ticket);
        }
    }

    /// Whether a hard rule is violated more than before, and no further ticket can make it hold again.
    fn grows_worse(&self) -> bool {
        let mut hard = self.terms.iter().filter(|term| term.rule.hard);
        hard.any(|term| term.prepared.is_monotone() && term.tally.violation() > term.before)
    }

    /// Keeps the present addition if it is allowed and better than the best one.
    fn judge(&mut self) {
        let complete = self.free.iter().all(|free| *free == 0);
        let (mut hard, mut soft, mut soft_before) = (0.0, 0.0, 0.0);
        for term in &self.terms {
            let after = term.tally.violation();
            if !term.rule.hard {
                soft += term.rule.cost(after);
                soft_before += term.rule.cost(term.before);
                continue;
            }
            hard += term.rule.cost(after);
            let must_hold = complete && term.prepared.is_met_by_more();
            if after > 0.0 && (after > term.before || must_hold) {
                return;
            }
        }
        if (soft > self.accepted && soft >= soft_before) || self.is_lopsided() {
            return;
        }
        let gap = self.gap();
        if self
            .best
            .as_ref()
            .is_none_or(|best| (hard, gap, soft) < (best.hard, best.gap, best.soft))
        {
            let seats = self.chosen.clone();
            self.best = Some(Allowed {
                seats,
                hard,
                soft,
                gap,
            });
        }
    }

    /// Whether the sizes of the teams differ more than before while a smaller team still seeks players.
    fn is_lopsided(&self) -> bool {
        let spread = |heads: &[usize]| {
            let most = heads.iter().max().copied().unwrap_or(0);
            most - heads.iter().min().copied().unwrap_or(0)
        };
        let most = self.heads.iter().max().copied().unwrap_or(0);
        let mut teams = self.heads.iter().zip(&self.free);
        spread(&self.heads) > spread(&self.game.heads)
            && teams.any(|(heads, free)| *heads < most && *free > 0)
    }

    /// The largest sum of the queue's `even_by` on a team minus the smallest.
    fn gap(&self) -> f64 {
        let pool = self.game.pool;
        let mut sums = Vec::with_capacity(self.game.teams.len());
        for (at, team) in self.game.teams.iter().enumerate() {
            let added = self.chosen.iter().filter(|(_, team)| *team == at);
            let tickets: Vec<u32> = team
                .iter()
                .copied()
                .chain(added.map(|(ticket, _)| *ticket))
                .collect();
            let players = pool.people.all(&tickets);
            sums.push(players.map(|player| pool.even_by(player)).sum::<f64>());
        }
        let most = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let least = sums.iter().copied().fold(f64::INFINITY, f64::min);
        (most - least).max(0.0)
    }
}
