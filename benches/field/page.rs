//! The figures of the page `docs/explanation/field.md` and its picture, made from the results: a test compares them, so that
//! they cannot go stale.

use std::{cmp::Ordering, fmt::Write};

use super::data::Line;

/// The results, the page and the picture.
pub const DATA: &str = "docs/internals/field.csv";
pub const PAGE: &str = "docs/explanation/field.md";
pub const PICTURE: &str = "docs/images/field.svg";

/// The name of all histories together.
pub const ALL: &str = "all";
/// Evenkeel, as a balancer and as a rating.
pub const OURS: &str = "Evenkeel";
/// Evenkeel if it always picks its best split.
pub const BEST: &str = "Evenkeel, always its best";
/// The teams as people played.
pub const PLAYED: &str = "as people played";
/// The one search that is tried with all ratings.
pub const EXACT: &str = "most even sums";
/// No rating.
const NOTHING: &str = "none";

/// The histories as tables name them, all together first.
const HISTORIES: [(&str, &str); 5] = [
    (ALL, "all four"),
    ("tribes_pug", "Tribes"),
    ("tagpro", "TagPro"),
    ("ns2_gather", "NS2"),
    ("beach_points", "beach volleyball"),
];

/// A part of the page that is made from the results.
pub struct Block {
    pub name: &'static str,
    pub text: String,
}

/// All parts; who is better than Evenkeel comes first.
pub fn blocks(lines: &[Line]) -> Vec<Block> {
    let block = |name, text| Block { name, text };
    vec![
        block("better", better(lines)),
        block("together", together(lines)),
        block("own", by_history(lines, false)),
        block("ours", by_history(lines, true)),
        block("ratings", by_rating(lines)),
        block("cases", by_case(lines)),
        block("published", published(lines)),
    ]
}

/// The page with the figures of these results: each block stands between `<!-- figures: NAME -->` and `<!-- end -->`.
pub fn filled(page: &str, lines: &[Line]) -> String {
    let mut filled = page.to_owned();
    for block in blocks(lines) {
        let begin = format!("<!-- figures: {} -->\n", block.name);
        let Some(from) = filled.find(&begin).map(|at| at + begin.len()) else {
            continue;
        };
        if let Some(length) = filled[from..].find("<!-- end -->") {
            filled.replace_range(from..from + length, &format!("\n{}\n", block.text));
        }
    }
    filled
}

/// A number with three decimals, as tables have it: .179.
fn three(number: f64) -> String {
    let text = format!("{:.3}", number.abs());
    let text = text.strip_prefix('0').unwrap_or(&text).to_owned();
    if number < 0.0 && text != ".000" {
        format!("−{text}")
    } else {
        text
    }
}

/// A difference with its sign.
fn signed(number: f64) -> String {
    let text = three(number);
    if text.starts_with('−') || text == ".000" {
        text
    } else {
        format!("+{text}")
    }
}

/// A difference with its interval.
fn with_interval([difference, low, high]: [f64; 3]) -> String {
    format!(
        "{} ({} to {})",
        signed(difference),
        signed(low),
        signed(high)
    )
}

fn percent(share: Option<f64>) -> String {
    share.map_or("–".to_owned(), |share| format!("{:.0} %", 100.0 * share))
}

fn find<'a>(
    lines: &'a [Line],
    history: &str,
    case: &str,
    balancer: &str,
    rating: Option<&str>,
) -> Option<&'a Line> {
    lines.iter().find(|line| {
        let same = line.history == history && line.case == case && line.balancer == balancer;
        same && rating.is_none_or(|rating| line.rating == rating)
    })
}

fn name_of(history: &str) -> &str {
    let known = HISTORIES.iter().find(|(name, _)| *name == history);
    known.map_or(history, |(_, shown)| shown)
}

/// Who is better than Evenkeel: surely, or on average.
fn better(lines: &[Line]) -> String {
    let theirs = || {
        lines.iter().filter(|line| {
            !(line.balancer == OURS && line.rating == OURS) && line.history != "teiserver"
        })
    };
    let mut text = String::new();
    let surely: Vec<&Line> = theirs().filter(|line| line.is_better()).collect();
    match surely.is_empty() {
        true => text.push_str("Nobody is better than Evenkeel by more than chance: no interval of a difference is below 0.\n"),
        false => text.push_str("Better than Evenkeel by more than chance:\n\n"),
    }
    for line in surely {
        let ours = line.off - line.difference[0];
        let _ = writeln!(
            text,
            "- {}{}: {} with {}, {} instead of {}: {}",
            name_of(&line.history),
            of_case(lines, line),
            line.balancer,
            rating(line),
            three(line.off),
            three(ours),
            with_interval(line.difference),
        );
    }
    text.push_str(&better_published(lines));
    text.push_str(&more_granted(lines));
    text.push_str("\nLower on average, but within chance, with their own ratings:\n\n");
    for (history, shown) in HISTORIES {
        let lower = ranked(lines, history).into_iter();
        let lower = lower.filter(|l| l.difference[0] < -0.0005 && !l.is_better());
        let named = |line: &Line| format!("{} {}", line.balancer, signed(line.difference[0]));
        let named: Vec<String> = lower.map(named).collect();
        let list = if named.is_empty() {
            "nobody".to_owned()
        } else {
            named.join("; ")
        };
        let _ = writeln!(text, "- {shown}: {list}");
    }
    text
}

/// Whose sums are surely more even in the published lobbies.
fn better_published(lines: &[Line]) -> String {
    let published = || lines.iter().filter(|line| line.history == "teiserver");
    let ours = published().find(|line| line.balancer == OURS);
    let mut text = String::new();
    for line in published().filter(|line| line.is_better()) {
        let [kept, of_ours] = [Some(line), ours].map(|line| percent(line.and_then(|l| l.kept)));
        let (off, instead) = (line.off, line.off - line.difference[0]);
        let _ = writeln!(
            text,
            "- Beyond All Reason (parties kept: {kept}, Evenkeel {of_ours}): {}, sums {off:.2} apart instead of {instead:.2}",
            line.balancer,
        );
    }
    text
}

/// Who keeps more parties or grants more wishes than Evenkeel, in all histories together.
fn more_granted(lines: &[Line]) -> String {
    let list = |case: &str, value: fn(&Line) -> Option<f64>| {
        let ours = find(lines, ALL, case, OURS, Some(OURS)).and_then(value);
        let of_case = lines.iter().filter(|l| l.history == ALL && l.case == case);
        let mut more: Vec<&Line> = of_case.filter(|line| value(line) > ours).collect();
        more.sort_by(|a, b| value(b).partial_cmp(&value(a)).unwrap_or(Ordering::Equal));
        let named = |line: &&Line| format!("{} {}", line.balancer, percent(value(line)));
        let named: Vec<String> = more.iter().map(named).collect();
        let named = if named.is_empty() {
            "nobody".to_owned()
        } else {
            named.join("; ")
        };
        (percent(ours), named)
    };
    let (kept, keepers) = list("parties", |line| line.kept);
    let (granted, granters) = list("wishes", |line| line.granted);
    format!(
        "- Parties on one team, more than Evenkeel's {kept}: {keepers}\n\
         - Wishes granted, more than Evenkeel's {granted}: {granters}\n"
    )
}

/// The case of a line in a sentence, with the parties that are kept or the wishes that are granted, and Evenkeel's.
fn of_case(lines: &[Line], line: &Line) -> String {
    let ours = find(lines, &line.history, &line.case, OURS, Some(OURS));
    let beside = |value: fn(&Line) -> Option<f64>| {
        let [own, ours] = [Some(line), ours].map(|line| percent(line.and_then(value)));
        format!("{own}, Evenkeel {ours}")
    };
    match line.case.as_str() {
        "odd" => ", odd numbers".to_owned(),
        "parties" => format!(", parties (kept: {})", beside(|line| line.kept)),
        "wishes" => format!(", wishes (granted: {})", beside(|line| line.granted)),
        _ => String::new(),
    }
}

/// The rating of a line in a sentence.
fn rating(line: &Line) -> &str {
    match line.rating.as_str() {
        NOTHING => "no rating",
        OURS => "Evenkeel's rating",
        other => other,
    }
}

/// Each balancer with its own rating, the one first whose teams are most even beside Evenkeel's of the same lobbies.
fn ranked<'a>(lines: &'a [Line], history: &str) -> Vec<&'a Line> {
    let mut own: Vec<&Line> = Vec::new();
    for line in lines
        .iter()
        .filter(|line| line.history == history && line.balancer != EXACT)
    {
        let first = !own.iter().any(|other| other.balancer == line.balancer);
        if first && line.case == "plain" {
            own.push(line);
        }
    }
    own.sort_by(|a, b| a.difference[0].total_cmp(&b.difference[0]));
    own
}

/// The table of all histories together.
fn together(lines: &[Line]) -> String {
    let mut text =
        "| balancer | its rating | with it | difference to Evenkeel | with Evenkeel's rating | \
                    difference to Evenkeel |\n"
            .to_owned();
    text.push_str("| --- | --- | ---: | ---: | ---: | ---: |\n");
    for own in ranked(lines, ALL) {
        let (name, rating, off) = (&own.balancer, &own.rating, three(own.off));
        if name == OURS {
            let _ = writeln!(text, "| **{name}** | {rating} | **{off}** | – | – | – |");
            continue;
        }
        let difference = with_interval(own.difference);
        let other = find(lines, ALL, "plain", name, Some(OURS)).filter(|_| own.rating != OURS);
        let with_ours = other.map_or("– | –".to_owned(), |line| {
            format!("{} | {}", three(line.off), with_interval(line.difference))
        });
        let _ = writeln!(
            text,
            "| {name} | {rating} | {off} | {difference} | {with_ours} |"
        );
    }
    text
}

/// The table of the differences in each history, with the balancers' own ratings or with Evenkeel's. Those below 0 by more
/// than chance are bold.
fn by_history(lines: &[Line], with_ours: bool) -> String {
    let shown: Vec<&str> = HISTORIES[1..].iter().map(|(_, shown)| *shown).collect();
    let mut text = format!("| balancer | {} |\n", shown.join(" | "));
    text.push_str("| --- | ---: | ---: | ---: | ---: |\n");
    for own in ranked(lines, ALL) {
        let mine = own.balancer == OURS;
        let rating = if with_ours { OURS } else { &own.rating };
        let of = |history: &str| find(lines, history, "plain", &own.balancer, Some(rating));
        let cell = |(history, _): &(&str, &str)| match of(history) {
            None => "–".to_owned(),
            Some(line) if mine => format!("**{}**", three(line.off)),
            Some(line) if line.is_better() => format!("**{}**", with_interval(line.difference)),
            Some(line) => with_interval(line.difference),
        };
        let cells: Vec<String> = HISTORIES[1..].iter().map(cell).collect();
        if !with_ours || mine || own.rating != OURS && own.rating != NOTHING {
            let _ = writeln!(text, "| {} | {} |", own.balancer, cells.join(" | "));
        }
    }
    text
}

/// The table of the ratings with the same search.
fn by_rating(lines: &[Line]) -> String {
    let shown: Vec<&str> = HISTORIES.iter().map(|(_, shown)| *shown).collect();
    let mut text = format!(
        "| search and rating | {} |\n| --- |{}\n",
        shown.join(" | "),
        " ---: |".repeat(5)
    );
    for searched in [EXACT, OURS] {
        let all = lines
            .iter()
            .filter(|l| l.history == ALL && l.case == "plain" && l.balancer == searched);
        let mut all: Vec<&Line> = all.collect();
        all.sort_by(|a, b| a.off.total_cmp(&b.off));
        for line in all {
            let cell = |(history, _): &(&str, &str)| {
                let found = find(lines, history, "plain", searched, Some(&line.rating));
                found.map_or("–".to_owned(), |line| {
                    let mark = if line.is_worse() || line.is_better() {
                        ""
                    } else {
                        " ≈"
                    };
                    format!("{}{mark}", three(line.off))
                })
            };
            let cells: Vec<String> = HISTORIES.iter().map(cell).collect();
            let _ = writeln!(
                text,
                "| {searched}, {} | {} |",
                line.rating,
                cells.join(" | ")
            );
        }
    }
    text
}

/// The table of odd numbers, parties, wishes, variety and time, of all histories together.
fn by_case(lines: &[Line]) -> String {
    let mut text = "| balancer | odd: difference | parties kept | difference | wishes granted | difference | splits | µs |\n".to_owned();
    text.push_str("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for own in ranked(lines, ALL)
        .into_iter()
        .filter(|own| ![PLAYED, BEST].contains(&own.balancer.as_str()))
    {
        let balancer = &own.balancer;
        let of = |case| find(lines, ALL, case, balancer, Some(&own.rating));
        let difference = |case| match of(case) {
            Some(line) if balancer != OURS => with_interval(line.difference),
            _ => "–".to_owned(),
        };
        let kept = percent(of("parties").and_then(|line| line.kept));
        let granted = percent(of("wishes").and_then(|line| line.granted));
        let (splits, micros) = (own.splits, own.micros);
        let _ = writeln!(
            text,
            "| {balancer} | {} | {kept} | {} | {granted} | {} | {splits:.1} | {micros:.0} |",
            difference("odd"),
            difference("parties"),
            difference("wishes"),
        );
    }
    text
}

/// The table of the lobbies that Teiserver has published.
fn published(lines: &[Line]) -> String {
    let mut own: Vec<&Line> = lines
        .iter()
        .filter(|line| line.history == "teiserver")
        .collect();
    own.sort_by(|a, b| a.difference[0].total_cmp(&b.difference[0]));
    let mut text = "| balancer | lobbies | difference of the sums | less Evenkeel's | parties kept | splits | µs |\n".to_owned();
    text.push_str("| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for line in own {
        let name = if line.balancer == OURS {
            "**Evenkeel**"
        } else {
            &line.balancer
        };
        let kept = percent(line.kept);
        let (off, splits, micros) = (line.off, line.splits, line.micros);
        let [difference, low, high] = line
            .difference
            .map(|value| format!("{value:+.2}").replace('-', "−"));
        let less = if line.balancer == OURS {
            "–".to_owned()
        } else {
            format!("{difference} ({low} to {high})")
        };
        let _ = writeln!(
            text,
            "| {name} | {} | {off:.2} | {less} | {kept} | {splits:.1} | {micros:.0} |",
            line.lobbies
        );
    }
    text
}

/// The colours of the picture for readers who prefer light and dark pages. It has a ground of its own, because the page
/// around it may be of the other kind.
const STYLE: &str = ".page{fill:#ffffff}text{fill:#1f2328}.faint{fill:#59636e}.grid{stroke:#d1d9e0}.line{stroke:#59636e}\
    .own{fill:#ffffff;stroke:#59636e}.ours{fill:#0b57a4}.best{stroke:#0b57a4}\
    @media(prefers-color-scheme:dark){.page{fill:#0d1117}text{fill:#f0f6fc}.faint{fill:#9198a1}.grid{stroke:#3d444d}.line{stroke:#9198a1}\
    .own{fill:#0d1117;stroke:#9198a1}.ours{fill:#79b8ff}.best{stroke:#79b8ff}}";

/// The left end, the width and the top of the picture's field, and the height of a row.
const LEFT: f64 = 220.0;
const WIDE: f64 = 420.0;
const TOP: f64 = 70.0;
const ROW: f64 = 19.0;

/// A row of the picture: a balancer's name, and how far from even its teams are with its own rating and with Evenkeel's. Where
/// it has no answer for some lobbies, that is Evenkeel's value and the difference in the others.
struct Row<'a> {
    name: &'a str,
    own: f64,
    ours: Option<f64>,
}

/// The picture: for each balancer, how far the chance is from one half with its own rating and with Evenkeel's.
pub fn picture(lines: &[Line]) -> String {
    let evenkeel = find(lines, ALL, "plain", OURS, Some(OURS)).map_or(0.0, |line| line.off);
    let ranked = ranked(lines, ALL);
    let rows = ranked.iter().map(|own| Row {
        name: &own.balancer,
        own: evenkeel + own.difference[0],
        ours: find(lines, ALL, "plain", &own.balancer, Some(OURS))
            .map(|line| evenkeel + line.difference[0]),
    });
    let rows: Vec<Row> = rows.collect();
    let values = || {
        rows.iter()
            .flat_map(|row| [Some(row.own), row.ours])
            .flatten()
    };
    let low = (values().fold(f64::INFINITY, f64::min) * 100.0).floor() / 100.0;
    let high = (values().fold(0.0, f64::max) * 100.0).ceil() / 100.0;
    let x = |value: f64| LEFT + WIDE * (value - low) / (high - low);
    let bottom = TOP + ROW * rows.len() as f64;
    let mut svg = head(bottom + 26.0);
    for step in 0..=((high - low) * 100.0).round() as usize {
        let value = low + step as f64 / 100.0;
        let (at, shown) = (x(value), three(value));
        let _ = writeln!(
            svg,
            "<line x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom}\" class=\"grid\"/>\n\
             <text x=\"{at:.1}\" y=\"{:.0}\" text-anchor=\"middle\" class=\"faint\">{}</text>",
            bottom + 16.0,
            shown.strip_suffix('0').unwrap_or(&shown),
        );
    }
    let at = x(evenkeel);
    let _ = writeln!(
        svg,
        "<line x1=\"{at:.1}\" y1=\"{TOP}\" x2=\"{at:.1}\" y2=\"{bottom}\" class=\"best\" stroke-dasharray=\"4 3\"/>"
    );
    for (number, row) in rows.iter().enumerate() {
        svg.push_str(&drawn(row, TOP + ROW * (number as f64 + 0.5), x));
    }
    svg.push_str("</svg>\n");
    svg
}

/// The begin of the picture, with its title and the legend.
fn head(height: f64) -> String {
    let title = "How far from even: the chance to win less one half, four recorded histories";
    let [own, ours] = ["with its own rating", "with Evenkeel's rating"];
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"680\" height=\"{height:.0}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<style>{STYLE}</style>\n\
         <rect width=\"680\" height=\"{height:.0}\" class=\"page\"/>\n\
         <text x=\"8\" y=\"18\" font-size=\"14\" font-weight=\"bold\">{title}</text>\n\
         <circle cx=\"14\" cy=\"36\" r=\"4.5\" class=\"own\"/><text x=\"24\" y=\"40\">{own}</text>\n\
         <circle cx=\"154\" cy=\"36\" r=\"4.5\" class=\"ours\"/><text x=\"164\" y=\"40\">{ours}</text>\n\
         <text x=\"{LEFT}\" y=\"60\" class=\"faint\">← more even</text>\n"
    )
}

/// A row of the picture at a height.
fn drawn(row: &Row, y: f64, x: impl Fn(f64) -> f64) -> String {
    let weight = if row.name == OURS {
        " font-weight=\"bold\""
    } else {
        ""
    };
    let mut svg = format!(
        "<text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\"{weight}>{}</text>\n",
        LEFT - 14.0,
        y + 4.0,
        row.name
    );
    let own = Some(row.own).filter(|_| row.name != OURS);
    if let (Some(own), Some(ours)) = (own, row.ours) {
        let [one, other] = [own, ours].map(&x);
        let _ = writeln!(
            svg,
            "<line x1=\"{one:.1}\" y1=\"{y:.1}\" x2=\"{other:.1}\" y2=\"{y:.1}\" class=\"line\"/>"
        );
    }
    for (value, class) in [(own, "own"), (row.ours, "ours")] {
        if let Some(value) = value {
            let _ = writeln!(
                svg,
                "<circle cx=\"{:.1}\" cy=\"{y:.1}\" r=\"4.5\" class=\"{class}\"/>",
                x(value)
            );
        }
    }
    svg
}
