//! The tables of a simulation.

use std::io::{self, Write};

use crate::{
    cli::table::{printable, table},
    simulate::QueueOutcome,
    virtual_queue::{CategoryWaits, MatchQuantiles, SimulationReport},
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
    let heads = [
        head, ">number", ">matched", ">mean s", ">p50 s", ">p95 s", ">p99 s", ">most s",
    ];
    let mut waits = table(&heads);
    for row in rows {
        let mut cells = vec![
            printable(&row.category),
            row.tickets.to_string(),
            format!("{:.1} %", 100.0 * row.matched),
        ];
        let numbers = [row.mean, row.p50, row.p95, row.p99, row.most];
        cells.extend(numbers.map(|seconds| format!("{seconds:.2}")));
        waits.add_row(cells);
    }
    writeln!(out, "{waits}")
}

/// How often each map and each mode was picked.
fn picks(out: &mut impl Write, report: &SimulationReport) -> io::Result<()> {
    for picked in &report.picks {
        let mut shares = table(&[&printable(&picked.pick), ">matches", ">of the matches"]);
        for word in &picked.words {
            shares.add_row([
                printable(&word.word),
                word.matches.to_string(),
                format!("{:.1} %", 100.0 * word.share),
            ]);
        }
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
    let mut sizes = table(&["team size", ">matches", ">of the players"]);
    for size in &report.sizes {
        sizes.add_row([
            size.size.to_string(),
            size.matches.to_string(),
            format!("{:.1} %", 100.0 * size.players),
        ]);
    }
    writeln!(out, "{sizes}")?;
    let mut rules = table(&["rule", "", ">matches that violate it", ">penalty a match"]);
    for rule in &report.rules {
        rules.add_row([
            printable(&rule.rule),
            if rule.hard { "hard" } else { "" }.to_owned(),
            rule.violated.to_string(),
            format!("{:.3}", rule.cost),
        ]);
    }
    writeln!(out, "{rules}")?;
    picks(out, report)?;
    let mut spreads = table(&["of a match", ">p50", ">p95", ">most"]);
    let rows: [(&str, &MatchQuantiles); 3] = [
        ("difference of the teams' sums", &report.closeness.gap),
        ("chance, from even", &report.closeness.chance),
        ("penalty", &report.penalty),
    ];
    for (what, spread) in rows {
        let numbers = [spread.p50, spread.p95, spread.most].map(|number| format!("{number:.3}"));
        spreads.add_row([what.to_owned()].into_iter().chain(numbers));
    }
    writeln!(out, "{spreads}")
}
