//! Logs of which it is known what they are, and that no format reads.

use super::{
    HEAD,
    format::shown,
    idtech3,
    lines::{Framed, Lines, MAX_LINE, decoded},
    text::{number, skip_blanks},
};

/// So many lines of a kind show what a log is.
const ENOUGH: usize = 2;

/// A kind of lines, and why a log of them is not read.
type ForeignLog = (fn(&[u8]) -> bool, &'static str);

const KNOWN: [ForeignLog; 3] = [
    (is_call_of_duty, "Call of Duty is not supported"),
    (
        is_teeworlds_06,
        "this is a log of Teeworlds 0.6, which is not supported: only Teeworlds 0.7 is",
    ),
    (
        idtech3::is_without_time,
        "this is what a server of OpenArena, Quake III or Urban Terror prints, and its lines have no times: \
         read the log that the game writes itself (g_log), or let another program write a time stamp before each line",
    ),
];

/// Why a log that begins with these bytes is not read, if it is of no format, but known.
pub fn why_unread(head: &[u8]) -> Option<&'static str> {
    let mut counts = [0; KNOWN.len()];
    let mut count = |framed: Framed<'_>| {
        if let Framed::Line(line) = framed {
            for ((is_kind, _), count) in KNOWN.iter().zip(&mut counts) {
                *count += usize::from(is_kind(line.bytes));
            }
        }
    };
    let mut lines = Lines::new(MAX_LINE);
    lines.feed(&head[..head.len().min(HEAD)], &mut count);
    lines.finish(&mut count);
    let all = KNOWN.iter().zip(counts);
    let most = all.rev().max_by_key(|(_, count)| *count);
    most.filter(|(_, count)| *count >= ENOUGH)
        .map(|((_, why), _)| *why)
}

/// The beginning of the first line of a file that has content, readable on a terminal.
pub fn first_line(head: &[u8]) -> String {
    let head = decoded(head);
    let mut lines = head.split(|b| b"\r\n".contains(b)).map(<[u8]>::trim_ascii);
    shown(lines.find(|line| !line.is_empty()).unwrap_or_default())
}

/// Whether a line is `J;`, `K;` or another event with its fields, after minutes and seconds or a number of
/// seconds.
fn is_call_of_duty(line: &[u8]) -> bool {
    const EVENTS: [(&[u8], usize); 8] = [
        (b"J", 3),
        (b"Q", 3),
        (b"K", 11),
        (b"D", 11),
        (b"W", 2),
        (b"L", 2),
        (b"say", 4),
        (b"sayteam", 4),
    ];
    let Some((_, rest)) = number(skip_blanks(line)) else {
        return false;
    };
    let rest = match rest {
        [b':', b'0'..=b'5', b'0'..=b'9', rest @ ..] => rest,
        rest => rest,
    };
    let mut fields = skip_blanks(rest).split(|&b| b == b';');
    let event = fields.next().unwrap_or_default();
    let others = fields.count();
    EVENTS
        .iter()
        .any(|(known, least)| *known == event && others >= *least)
}

/// Whether a line begins with the time of Teeworlds 0.6, which is in hexadecimal digits: `[5e6d2f0c][game]: `.
fn is_teeworlds_06(line: &[u8]) -> bool {
    let [b'[', rest @ ..] = line else {
        return false;
    };
    let Some((time, [b']', b'[', source @ ..])) = rest.split_at_checked(8) else {
        return false;
    };
    let end = source.iter().take(32).position(|&b| b == b']');
    time.iter().all(u8::is_ascii_hexdigit)
        && end.is_some_and(|end| source[end + 1..].starts_with(b": "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_logs_are_named() {
        for (log, why) in [
            (
                "1386 J;76561197960265729;0;ann\n1390 K;1;1;axis;bob;2;0;allies;ann;an94_mp;49;MOD_RIFLE_BULLET;head\n",
                "Call of Duty",
            ),
            (
                "  0:01 J;1001;0;ann\n  0:02 J;1002;1;bob\n  0:03 say;1002;1;bob;hi\n",
                "Call of Duty",
            ),
            (
                "[5e6d2f0c][server]: player is ready. ClientID=0 addr=192.0.2.1:8303\n\
                 [5e6d2f0c][game]: team_join player='0:ann' team=0\n",
                "Teeworlds 0.6",
            ),
            (
                "------ Server Initialization ------\nInitGame: \\g_gametype\\4\\gamename\\baseoa\n\
                 ClientConnect: 0\nClientBegin: 0\nKill: 0 1 10: ann killed bob by MOD_RAILGUN\n",
                "OpenArena",
            ),
        ] {
            let found = why_unread(log.as_bytes());
            assert!(found.is_some_and(|found| found.contains(why)), "{log}");
            assert!(super::super::detect(log.as_bytes()).is_none(), "{log}");
        }
    }

    #[test]
    fn other_files_are_not_named() {
        for other in [
            "",
            "no log\n",
            "1;2;3\n4;5;6\n",
            "12 J;a\n13 K;b\n",
            "[2026-11-20][x]: y\n[2026-11-20][x]: y\n",
            "Kill: this is prose\nand goes on\n",
        ] {
            assert_eq!(why_unread(other.as_bytes()), None, "{other}");
        }
    }
}
