//! Why a ticket still waits: the rule that holds it back, the candidates that the rules left, and what
//! the nearest match lacks.

use std::sync::atomic::AtomicBool;

use evenkeel_model::text::counted;

use super::{PlanInput, candidates, reason};
use crate::{
    OneCore,
    columns::Bits,
    pool::Pool,
    rules::QueueRule,
    search::{Failure, Lack, MatchSearch, Nearest},
};

/// The most rules that a line lists.
const RULES: usize = 16;
/// The most lines about what changes with the wait.
const STEPS: usize = 4;
/// The most lines about what is missing.
const MISSING: usize = 8;
/// The most characters of a line.
const LINE: usize = 400;

/// Why a ticket still waits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Explanation {
    /// The rule that holds the ticket back, or that nothing does.
    pub reason: String,
    /// For each hard rule that chooses candidates, its name, and how many tickets it and the rules
    /// before it left, this one included.
    pub candidates: Vec<(String, usize)>,
    /// The teams that come closest to a match, without names of players.
    pub nearest: Option<String>,
    /// What would make them a match.
    pub missing: Vec<String>,
    /// What changes as the ticket waits.
    pub later: Vec<String>,
}

impl Explanation {
    /// The explanation in lines of plain text: at most 15, of at most 400 characters and an ellipsis.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.reason.clone()];
        if !self.candidates.is_empty() {
            let shown = self.candidates.iter().take(RULES);
            let shown = shown.map(|(rule, count)| format!("{rule} {count}"));
            let mut line = format!(
                "tickets that each hard rule in turn leaves: {}",
                shown.collect::<Vec<_>>().join(", ")
            );
            if self.candidates.len() > RULES {
                line.push_str(&format!(", and {} more", self.candidates.len() - RULES));
            }
            lines.push(line);
        }
        lines.extend(self.nearest.clone());
        let missing = self.missing.iter().take(MISSING);
        lines.extend(missing.map(|what| format!("missing: {what}")));
        lines.extend(self.later.iter().take(STEPS).cloned());
        for line in &mut lines {
            if let Some((end, _)) = line.char_indices().nth(LINE) {
                line.truncate(end);
                line.push('…');
            }
        }
        lines
    }
}

impl PlanInput<'_> {
    /// Why the ticket at a place of the list waits, if the tickets at the `free` places could play
    /// with it; `None` if there is no such ticket.
    pub fn why(&self, place: usize, free: &[usize], cancelled: &AtomicBool) -> Option<Explanation> {
        let pool = self.pool();
        let ticket = pool.places.iter().position(|known| *known == place)? as u32;
        let mut is_free = vec![false; pool.len()];
        for place in free.iter().chain([&place]) {
            *is_free.get_mut(*place)? = true;
        }
        let mut among = Bits::empty(pool.len());
        for (ticket, place) in (0..).zip(&pool.places) {
            if is_free.get(*place) == Some(&true) {
                among.insert(ticket);
            }
        }
        let budget = self.effort.budget();
        let search = MatchSearch::new(&pool, ticket, &among, budget, self.seed);
        Some(match search.run(&OneCore, cancelled) {
            Ok(found) => Explanation {
                reason: format!(
                    "nothing holds it back: the next round forms a match with {}, unless others take them first",
                    counted(found.tickets().count() as u32 - 1, "other ticket")
                ),
                ..Explanation::default()
            },
            Err(failure) => {
                let failed = FailedSearch {
                    pool: &pool,
                    ticket,
                    failure: &failure,
                };
                failed.explanation(search.nearest())
            }
        })
    }
}

/// A failed search.
struct FailedSearch<'a> {
    pool: &'a Pool<'a>,
    ticket: u32,
    failure: &'a Failure,
}

impl FailedSearch<'_> {
    fn explanation(&self, nearest: Option<Nearest>) -> Explanation {
        Explanation {
            reason: format!(
                "held back by {}",
                reason(self.pool, self.ticket, Some(self.failure))
            ),
            candidates: candidates(self.pool, self.failure),
            nearest: nearest.as_ref().map(|nearest| self.nearest(nearest)),
            missing: nearest.map_or_else(Vec::new, |nearest| self.missing(&nearest)),
            later: self.later(),
        }
    }

    fn limit(&self, rule: &QueueRule, size: usize) -> f64 {
        rule.limit(self.pool.waited(self.ticket), size)
    }

    fn nearest(&self, nearest: &Nearest) -> String {
        let rules = self.pool.queue.rules();
        let heads = nearest.teams.iter().map(|team| {
            let sizes = team.iter().map(|ticket| self.pool.people.size(*ticket));
            sizes.sum::<usize>().to_string()
        });
        let heads: Vec<String> = heads.collect();
        let mut text = format!(
            "nearest match: teams of {} of {} players",
            heads.join(" and "),
            nearest.size
        );
        for &(at, word) in &nearest.picks {
            if let Some(name) = rules.get(at).and_then(|rule| rule.picks.as_ref()) {
                text.push_str(&format!(", {name} {}", self.pool.people.word(word)));
            }
        }
        text
    }

    fn missing(&self, nearest: &Nearest) -> Vec<String> {
        let lacks = nearest.lacks.iter().map(|lack| self.lack(lack));
        let mut missing: Vec<String> = lacks.collect();
        let more = |free: usize| counted(free as u32, "more player");
        let each = nearest.free.first().copied().unwrap_or(0);
        let mut seats = match nearest.free.iter().all(|free| *free == each) {
            true if each > 0 => format!("{} on each team", more(each)),
            true => String::new(),
            false => {
                let free = nearest
                    .free
                    .iter()
                    .enumerate()
                    .filter(|(_, free)| **free > 0);
                let free = free.map(|(team, free)| format!("{} on team {team}", more(*free)));
                free.collect::<Vec<_>>().join(" and ")
            }
        };
        let rules = self.pool.queue.rules().iter().filter(|rule| rule.hard);
        let wanted = rules.filter_map(|rule| {
            let limit = self.limit(rule, nearest.size);
            rule.rule.wanted(&self.pool.people, &nearest.teams, limit)
        });
        if !seats.is_empty() {
            for wanted in wanted {
                seats.push_str(", ");
                seats.push_str(&wanted);
            }
            missing.push(seats);
        }
        missing
    }

    fn lack(&self, lack: &Lack) -> String {
        let people = &self.pool.people;
        let size = people.size(lack.like);
        let what = match (size, lack.count) {
            (1, 1) => "a player".to_owned(),
            (1, count) => format!("{count} players"),
            (_, 1) => format!("a party of {size}"),
            (_, count) => format!("{count} parties of {size}"),
        };
        let rules = self.pool.queue.rules().iter();
        let descriptions = rules.filter_map(|rule| rule.rule.description_of(people, lack.like));
        let descriptions: Vec<String> = descriptions.collect();
        let with = if descriptions.is_empty() {
            ""
        } else {
            " with "
        };
        format!(
            "{what}{with}{} on team {}",
            descriptions.join(", "),
            lack.team
        )
    }

    /// The next steps of `relax` and `smaller`, and the wait after which the best penalty is accepted.
    fn later(&self) -> Vec<String> {
        let queue = self.pool.queue;
        let waited = self.pool.waited(self.ticket);
        let mut later: Vec<(f64, String)> = Vec::new();
        for rule in queue.rules() {
            let mut steps = rule.relax.iter();
            if let Some((after, limit)) = steps.find(|(after, _)| *after > waited) {
                later.push((*after, format!("{} allows {limit}", rule.name)));
            }
        }
        let mut steps = queue.settings().smaller.iter();
        if let Some((after, size)) = steps.find(|(after, _)| *after > waited) {
            later.push((*after, format!("teams of {size} are allowed")));
        }
        later.sort_by(|one, other| one.0.total_cmp(&other.0));
        let steps = later.into_iter();
        let steps =
            steps.map(|(after, what)| format!("in {:.0} s: {what}", (after - waited).ceil()));
        self.accepted(waited).into_iter().chain(steps).collect()
    }

    /// When the best match that was found is accepted, if only its penalty is too high.
    fn accepted(&self, waited: f64) -> Option<String> {
        let best = self.failure.best.as_ref()?;
        let accept = self.pool.queue.settings().accept.as_ref()?;
        let penalty = best.cost.soft;
        if best.cost.hard > 0.0 || penalty <= accept.limit(waited) {
            return None;
        }
        let after = (penalty - accept.start.get()) / accept.per_second.get();
        Some(match penalty <= accept.max.get() && after.is_finite() {
            true => format!(
                "the best match has a penalty of {penalty:.3}: accepted in {:.0} s",
                (after - waited).ceil()
            ),
            false => format!(
                "the best match has a penalty of {penalty:.3}: never accepted, since at most {} is",
                accept.max.get()
            ),
        })
    }
}
