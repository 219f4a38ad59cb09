use proptest::{collection::vec, prelude::*};

use super::*;

#[test]
fn brief_entries_can_be_read() {
    let old =
        b"\0\xac\x02\0\x01a\x03b c\0\x05\x01\x01\0\0\0\0\0\0\0\x40\x01\x01a\0\x07\x04\xe0\x12";
    let mut rest = &old[..];
    let mut found = Vec::new();
    while !rest.is_empty() {
        let ((at, entry), after) = read(rest).unwrap();
        let Entry::Command(command) = entry else {
            panic!("{entry:?}")
        };
        found.push((at, command.into_owned()));
        rest = after;
    }
    let id = Ident::from_text;
    let kill = Command::Kill {
        killer: id("a"),
        victim: id("b c"),
    };
    let score = Command::Score {
        team: 1,
        points: 2.0,
        by: Some(id("a")),
    };
    let expected = [(300, kill), (5, score), (7, Command::Clock { left: 2_400 })];
    assert_eq!(found, expected);
}

proptest! {
    #[test]
    fn any_bytes_can_be_read(bytes in vec(any::<u8>(), 0..60)) {
        let _ = read(&bytes);
        let _ = read(&[&[MARK][..], &bytes].concat());
    }
}
