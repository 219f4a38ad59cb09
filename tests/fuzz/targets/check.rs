//! What holds of any log, whatever its format.

use evenkeel::ingest::{Context, LogItem, Reader, by_name, detect};

/// Reads a log whole, in pieces, and cut off, and compares.
pub fn check(format: &str, log: &[u8]) {
    detect(log);
    let whole = read(format, log, usize::MAX);
    let size = 1 + usize::from(log.first().copied().unwrap_or(0)) % 61;
    assert_eq!(whole, read(format, log, size), "in pieces of {size}");
    for item in &whole {
        if let LogItem::Match(game) | LogItem::Exported(game, _) = item {
            assert_eq!(game.check(), Ok(()));
        }
    }
    // A game that the beginning of a log tells is told the same by all of it.
    let mut cut = log.len() * usize::from(log.last().copied().unwrap_or(0)) / 256;
    if format == "jsonl" {
        // A whole object is believed without its line's end; what follows on that line may spoil it.
        cut = log[..cut]
            .iter()
            .rposition(|&b| b == b'\n')
            .map_or(0, |end| end + 1);
    }
    let (part, whole) = (games(read(format, &log[..cut], usize::MAX)), games(whole));
    assert_eq!(
        part[..],
        whole[..part.len().min(whole.len())],
        "cut at {cut}"
    );
}

fn read(format: &str, log: &[u8], size: usize) -> Vec<LogItem> {
    let mut items = Vec::new();
    let format = by_name(format).expect("a format of this name");
    let mut reader = Reader::new(format, &Context::default());
    for chunk in log.chunks(size) {
        reader.feed(chunk, &mut items);
    }
    reader.finish(&mut items);
    items
}

fn games(items: Vec<LogItem>) -> Vec<LogItem> {
    let is_game = |item: &LogItem| matches!(item, LogItem::Match(_) | LogItem::Exported(..));
    items.into_iter().filter(is_game).collect()
}
