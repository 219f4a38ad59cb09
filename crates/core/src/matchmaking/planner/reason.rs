//! Why a search has found no match for a ticket.

use crate::{
    domain::counted,
    matchmaking::{pool::Pool, rules::QueueRule, search::Failure},
};

/// Why the search for this ticket has found no match, in one sentence. Names the rule that left too
/// few candidates, or the rules that the best teams violate, for example.
pub(super) fn reason(pool: &Pool<'_>, ticket: u32, failure: Option<&Failure>) -> String {
    let Some(failure) = failure else {
        return "the search was cancelled".to_owned();
    };
    let reasons = Reasons {
        pool,
        ticket,
        failure,
    };
    let found = reasons
        .own_fault()
        .or_else(|| reasons.no_mirror())
        .or_else(|| reasons.lacking())
        .or_else(|| reasons.violated())
        .or_else(|| reasons.unfilled());
    found.unwrap_or_else(|| reasons.too_few())
}

/// The possible reasons why the search for a ticket has failed. `reason` returns the first one that applies.
struct Reasons<'a> {
    pool: &'a Pool<'a>,
    ticket: u32,
    failure: &'a Failure,
}

impl Reasons<'_> {
    fn rules(&self) -> &[QueueRule] {
        self.pool.queue.rules()
    }

    fn name(&self, at: usize) -> &str {
        &self.rules()[at].name
    }

    /// The limit that a rule has for the ticket after its wait, in a match with teams of this size.
    fn limit(&self, at: usize, size: usize) -> f64 {
        let waited = self.pool.waited(self.ticket);
        let rule = self.rules().get(at);
        rule.map_or(0.0, |rule| rule.limit(waited, size))
    }

    /// The ticket violates a rule by itself, without other tickets.
    fn own_fault(&self) -> Option<String> {
        let mut narrowed = self.failure.narrowed.iter();
        let (at, _) = narrowed.find(|(_, count)| *count == 0)?;
        let limit = self.limit(*at, self.pool.queue.settings().size.as_usize());
        let alone = [vec![self.ticket]];
        let rule = self.rules().get(*at).zip(self.pool.prepared.get(*at));
        let found = rule.map(|(rule, prepared)| {
            let evaluated = prepared.evaluate(&alone, limit);
            rule.rule.sentence(&self.pool.people, &alone, evaluated)
        });
        Some(format!(
            "{}: the ticket itself cannot meet it: {}",
            self.name(*at),
            found.unwrap_or_default()
        ))
    }

    /// A rule demands a ticket that mirrors this one, and there is none.
    fn no_mirror(&self) -> Option<String> {
        let at = self.failure.unmirrored?;
        let narrowed = self.failure.narrowed.iter().map(|(_, count)| *count);
        let most = narrowed.min().unwrap_or(self.pool.len());
        let most = counted(most as u32, "candidate");
        Some(format!(
            "{}: none of {most} mirrors the ticket",
            self.name(at)
        ))
    }

    /// A rule demands players whom the candidates do not have.
    fn lacking(&self) -> Option<String> {
        let lacking = self.failure.lacking.as_ref()?;
        Some(format!(
            "{}: a match needs {} for it, {} on each team; the candidates can provide {}",
            self.name(lacking.rule),
            counted(lacking.needed as u32, "player"),
            lacking.each,
            lacking.provided
        ))
    }

    /// The best teams violate rules.
    fn violated(&self) -> Option<String> {
        let found = self.failure.best.as_ref()?;
        let people = &self.pool.people;
        let rules = self.rules().iter().zip(&self.pool.prepared).enumerate();
        let violated = rules.filter_map(|(at, (rule, prepared))| {
            let evaluated = prepared.evaluate(&found.teams, self.limit(at, found.size));
            let counts = evaluated.violation > 0.0 && (rule.hard || found.cost.hard == 0.0);
            let sentence = || rule.rule.sentence(people, &found.teams, evaluated);
            counts.then(|| format!("{}: {}", rule.name, sentence()))
        });
        Some(match violated.collect::<Vec<_>>().join("; ") {
            none if none.is_empty() => "no full teams".to_owned(),
            violated => violated,
        })
    }

    /// A rule allows too few of the candidates to play in one match.
    fn unfilled(&self) -> Option<String> {
        let unfilled = self.failure.unfilled.as_ref()?;
        Some(format!(
            "{}: of the candidates, at most {} can play in one match, which needs {}",
            self.name(unfilled.rule),
            unfilled.most,
            unfilled.needed
        ))
    }

    /// There are too few candidates. Names the rule that leaves the fewest.
    fn too_few(&self) -> String {
        let fewest = self.failure.narrowed.iter().min_by_key(|(_, count)| *count);
        match fewest {
            Some((at, count)) => format!(
                "too few candidates: {} leaves {}",
                self.name(*at),
                counted(*count as u32, "ticket")
            ),
            None => {
                let all = counted(self.pool.len() as u32, "ticket");
                format!("too few candidates: {all}")
            }
        }
    }
}
