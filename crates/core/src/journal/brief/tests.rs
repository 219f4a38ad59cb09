//! The short form against what serde makes of the same entries.

use proptest::{collection::vec, prelude::*};

use super::*;

/// An entry in the short form, if it has one.
fn written(at: u64, entry: &Entry<'_>) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let brief = write(at, entry, &mut bytes);
    assert!(brief || bytes.is_empty(), "all or nothing");
    brief.then_some(bytes)
}

fn entry(command: Command) -> Entry<'static> {
    Entry::Command(Cow::Owned(command))
}

/// The bytes in which an entry was written before it was done by hand.
fn through_serde(at: u64, brief: &BriefEntry<'_>) -> Vec<u8> {
    let mut bytes = vec![MARK];
    postcard::to_io(&(at, brief), &mut bytes).unwrap();
    bytes
}

#[test]
fn a_name_that_was_sent_in_other_bytes_has_no_short_form() {
    let sent = || Ident::new(b"\"Ren\xe9\"", b"Ren\xe9");
    let plain = || Ident::from_text("René");
    let without = [
        Command::Death { id: sent() },
        Command::Points {
            id: sent(),
            points: 1.0,
        },
        Command::Score {
            team: 0,
            points: 1.0,
            by: Some(sent()),
        },
        Command::Kill {
            killer: sent(),
            victim: plain(),
        },
        Command::Kill {
            killer: plain(),
            victim: sent(),
        },
        Command::Start,
    ];
    for command in without {
        assert_eq!(written(3, &entry(command)), None);
    }
    assert!(written(3, &entry(Command::Death { id: plain() })).is_some());
}

#[test]
fn reasons_are_read_as_they_were_written() {
    let lines = [
        "team 0: power 27.000".to_owned(),
        "\"René\" stays".to_owned(),
        "x".repeat(300),
    ];
    for lines in [&lines[..], &[]] {
        let mut bytes = written(3, &Entry::Reasons(Cow::Borrowed(lines))).unwrap();
        let brief = BriefEntry::Reasons {
            lines: Cow::Borrowed(lines),
        };
        assert_eq!(bytes, through_serde(3, &brief));
        bytes.push(7);
        let ((at, read), rest) = BriefEntry::read(&bytes).unwrap().unwrap();
        assert_eq!((at, rest), (3, &[7][..]));
        assert!(matches!(read, Entry::Reasons(read) if *read == *lines));
    }
}

/// A journal of version 0.1, whose entries serde has written.
#[test]
fn entries_of_older_journals_can_be_read() {
    let old =
        b"\0\xac\x02\0\x01a\x03b c\0\x05\x01\x01\0\0\0\0\0\0\0\x40\x01\x01a\0\x07\x04\xe0\x12";
    let mut rest = &old[..];
    let mut found = Vec::new();
    while let Some(read) = BriefEntry::read(rest) {
        let ((at, entry), after) = read.unwrap();
        let Entry::Command(command) = entry else {
            panic!("{entry:?}")
        };
        found.push((at, command.into_owned()));
        rest = after;
    }
    let id = Ident::from_text;
    let expected = [
        (
            300,
            Command::Kill {
                killer: id("a"),
                victim: id("b c"),
            },
        ),
        (
            5,
            Command::Score {
                team: 1,
                points: 2.0,
                by: Some(id("a")),
            },
        ),
        (7, Command::Clock { left: 2_400 }),
    ];
    assert_eq!((&found[..], rest), (&expected[..], &b""[..]));
    let again: Vec<u8> = expected
        .into_iter()
        .flat_map(|(at, command)| written(at, &entry(command)).unwrap())
        .collect();
    assert_eq!(again, old, "and are written like this today");
}

#[test]
fn what_is_no_number_is_refused() {
    for points in [f64::NAN, f64::INFINITY] {
        let id = Ident::from_text("a");
        let bytes = written(3, &entry(Command::Points { id, points })).unwrap();
        let read = BriefEntry::read(&bytes).unwrap();
        assert!(matches!(read, Err(JournalError::Unreadable)));
    }
}

/// An event, and its short form.
fn check(at: u64, command: Command, brief: &BriefEntry<'_>) {
    let bytes = written(at, &entry(command.clone())).unwrap();
    assert_eq!(bytes, through_serde(at, brief));
    let ((then, read), rest) = BriefEntry::read(&bytes).unwrap().unwrap();
    assert_eq!((then, rest), (at, &b""[..]));
    assert!(matches!(read, Entry::Command(read) if *read == command));
}

proptest! {
    #[test]
    fn events_are_written_as_serde_writes_them(
        at: u64,
        (a, b) in ("(a|.{0,200})", "(.|.{0,200})"),
        by: bool,
        team: u8,
        points in -1e300..1e300,
        left: u64,
    ) {
        let id = Ident::from_text;
        check(
            at,
            Command::Kill { killer: id(&a), victim: id(&b) },
            &BriefEntry::Kill { killer: &a, victim: &b },
        );
        let score = Command::Score { team, points, by: by.then(|| id(&b)) };
        check(at, score, &BriefEntry::Score { team, points, by: by.then_some(&b) });
        let total = Command::Points { id: id(&a), points };
        check(at, total, &BriefEntry::Points { id: &a, points });
        check(at, Command::Death { id: id(&b) }, &BriefEntry::Death { id: &b });
        check(at, Command::Clock { left }, &BriefEntry::Clock { left });
    }

    #[test]
    fn any_bytes_can_be_read(bytes in vec(any::<u8>(), 0..60)) {
        let marked = [&[MARK][..], &bytes].concat();
        prop_assert!(BriefEntry::read(&marked).is_some());
    }
}
