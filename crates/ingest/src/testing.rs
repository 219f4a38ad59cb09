//! What the tests of several formats use.

use crate::{Context, Format, LogItem, Reader};

/// Everything that a log of a format contains.
pub(crate) fn read(format: &Format, log: &str) -> Vec<LogItem> {
    let context = Context {
        server: "here".to_owned(),
        ..Context::default()
    };
    let mut items = Vec::new();
    let mut reader = Reader::new(format, &context);
    reader.feed(log.as_bytes(), &mut items);
    reader.finish(&mut items);
    items
}

/// The only item of a log, which has to be a match.
pub(crate) fn only_match(format: &Format, log: &str) -> evenkeel_model::MatchRecord {
    let mut items = read(format, log);
    match (items.pop(), items.is_empty()) {
        (Some(LogItem::Match(record) | LogItem::Exported(record, _)), true) => *record,
        other => panic!("{other:?} {items:?}"),
    }
}
