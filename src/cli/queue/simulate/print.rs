//! The tables of a simulation.

use std::io::{self, Write};

use crate::{
    cli::table::{Table, printable},
    simulate::{CategoryWaits, MatchQuantiles, QueueOutcome, SimulationReport},
};

/// Prints what became of the tickets, how long they waited, and what the matches were like.
pub(super) fn print(out: &mut impl Write, outcome: &QueueOutcome) -> io::Result<()> {
    let report = &outcome.report;
    let search = &outcome.search;
    writeln!(
        out,
        "queue {}: {} players online for {:.0} s; {:.1} players in {:.1} tickets a second",
        printable(&report.queue),
        report.online,
        report.seconds,
        report.players as f64 / report.seconds,
        report.tickets.queued as f64 / report.seconds,
    )?;
    counts(out, report)?;
    waits(out, "tickets", &report.waits)?;
    if !report.worst.is_empty() {
        waits(out, "longest waits, by p95", &report.worst)?;
    }
    matches(out, report)?;
    writeln!(
        out,
        "searches: {:.3} CPU seconds a second, {} rounds with {:.1} tickets; a round took {:.1} ms (p50), \
         {:.1} ms (p99), {:.1} ms (most); {} rounds late, {} behind",
        search.cpu_per_second,
        report.rounds,
        report.waiting,
        search.p50,
        search.p99,
        search.most,
        search.late,
        search.behind,
    )
}

fn counts(out: &mut impl Write, report: &SimulationReport) -> io::Result<()> {
    let counts = &report.tickets;
    writeln!(
        out,
        "tickets: {} queued = {} matched + {} cancelled + {} declined + {} expired + {} left",
        counts.queued,
        counts.matched,
        counts.cancelled,
        counts.declined,
        counts.expired,
        counts.left,
    )
}

fn waits(out: &mut impl Write, head: &str, rows: &[CategoryWaits]) -> io::Result<()> {
    let seconds = |seconds: f64| format!("{seconds:.2}");
    let waits = Table::of(rows)
        .text(head, |row| &row.category)
        .num("number", |row| row.tickets)
        .num("matched", |row| percent(row.matched))
        .num("mean s", |row| seconds(row.mean))
        .num("p50 s", |row| seconds(row.p50))
        .num("p95 s", |row| seconds(row.p95))
        .num("p99 s", |row| seconds(row.p99))
        .num("most s", |row| seconds(row.most));
    writeln!(out, "{waits}")
}

/// How often each map and each mode was picked.
fn picks(out: &mut impl Write, report: &SimulationReport) -> io::Result<()> {
    for picked in &report.picks {
        let shares = Table::of(&picked.words)
            .text(&picked.pick, |word| &word.word)
            .num("matches", |word| word.matches)
            .num("of the matches", |word| percent(word.share));
        writeln!(out, "{shares}")?;
        writeln!(
            out,
            "{:.1} % of the players had the {} of their last match again",
            100.0 * picked.again,
            printable(&picked.pick),
        )?;
    }
    Ok(())
}

fn matches(out: &mut impl Write, report: &SimulationReport) -> io::Result<()> {
    writeln!(
        out,
        "{} matches, {:.1} % of their players with full teams; {} proposals lost a ticket during the search, \
         {} matches were declined",
        report.matches,
        100.0 * report.full,
        report.dropped,
        report.dissolved,
    )?;
    let sizes = Table::of(&report.sizes)
        .text("team size", |size| size.size)
        .num("matches", |size| size.matches)
        .num("of the players", |size| percent(size.players));
    writeln!(out, "{sizes}")?;
    let rules = Table::of(&report.rules)
        .text("rule", |rule| &rule.rule)
        .text("", |rule| if rule.hard { "hard" } else { "" })
        .num("matches that violate it", |rule| rule.violated)
        .num("penalty a match", |rule| format!("{:.3}", rule.cost));
    writeln!(out, "{rules}")?;
    picks(out, report)?;
    let rows: [(&str, &MatchQuantiles); 3] = [
        ("difference of the teams' sums", &report.closeness.gap),
        ("chance, from even", &report.closeness.chance),
        ("penalty", &report.penalty),
    ];
    let figure = |number: f64| format!("{number:.3}");
    let spreads = Table::of(&rows)
        .text("of a match", |(what, _)| what)
        .num("p50", |(_, spread)| figure(spread.p50))
        .num("p95", |(_, spread)| figure(spread.p95))
        .num("most", |(_, spread)| figure(spread.most));
    writeln!(out, "{spreads}")
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}
