//! Why a ticket is left.

use crate::{
    domain::counted,
    matchmaking::{pool::Pool, search::Failure},
};

/// The reason in one sentence: the rule that left too few candidates, or the rules that the best
/// teams violate.
pub(super) fn reason(pool: &Pool<'_>, ticket: u32, failure: Option<&Failure>) -> String {
    let Some(failure) = failure else {
        return "the search was cancelled".to_owned();
    };
    if failure.is_faulty {
        return "a fault of the program: a search with this ticket has failed".to_owned();
    }
    let rules = pool.queue.rules();
    let name = |at: usize| rules.get(at).map_or("", |rule| rule.name.as_str());
    if let Some((at, _)) = failure.narrowed.iter().find(|(_, count)| *count == 0) {
        let rule = rules.get(*at);
        let limit = rule.map_or(0.0, |rule| {
            rule.limit(pool.waited(ticket), pool.queue.settings().size.as_usize())
        });
        let alone = [vec![ticket]];
        let found = rule.map(|rule| rule.rule.sentence(&pool.people, &alone, limit));
        return format!(
            "{}: the ticket itself cannot meet it: {}",
            name(*at),
            found.unwrap_or_default()
        );
    }
    if let Some(at) = failure.unmirrored {
        let most = failure.narrowed.iter().map(|(_, count)| *count).min();
        let most = counted(most.unwrap_or(pool.len()) as u32, "candidate");
        return format!("{}: none of {most} mirrors the ticket", name(at));
    }
    if let Some(lacking) = &failure.lacking {
        return format!(
            "{}: a match needs {} for it, {} on each team; the candidates can provide {}",
            name(lacking.rule),
            counted(lacking.needed as u32, "player"),
            lacking.each,
            lacking.provided
        );
    }
    if let Some(found) = &failure.best {
        let limit = |at: usize| {
            rules
                .get(at)
                .map_or(0.0, |rule| rule.limit(pool.waited(ticket), found.size))
        };
        let violated = rules.iter().enumerate().filter_map(|(at, rule)| {
            let violation = rule.rule.violation(&pool.people, &found.teams, limit(at));
            let counts = violation > 0.0 && (rule.hard || found.cost.hard == 0.0);
            counts.then(|| {
                format!(
                    "{}: {}",
                    rule.name,
                    rule.rule.sentence(&pool.people, &found.teams, limit(at))
                )
            })
        });
        return match violated.collect::<Vec<_>>().join("; ") {
            none if none.is_empty() => "no full teams".to_owned(),
            violated => violated,
        };
    }
    if let Some(unfilled) = &failure.unfilled {
        return format!(
            "{}: of the candidates, at most {} can play in one match, which needs {}",
            name(unfilled.rule),
            unfilled.most,
            unfilled.needed
        );
    }
    let last = failure.narrowed.iter().min_by_key(|(_, count)| *count);
    match last {
        Some((at, count)) => format!(
            "too few candidates: {} leaves {}",
            name(*at),
            counted(*count as u32, "ticket")
        ),
        None => format!(
            "too few candidates: {}",
            counted(pool.len() as u32, "ticket")
        ),
    }
}
