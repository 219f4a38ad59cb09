//! Text in CSV files. Names come from players, and a spreadsheet runs a cell that begins like a formula.

use std::borrow::Cow;

/// The text so that no spreadsheet takes it for a formula: with `'` before it if it begins with one of the characters
/// with which formulas begin. NUL, at which some programs end a line, becomes U+FFFD.
pub(super) fn csv_cell(text: &str) -> Cow<'_, str> {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '\0']);
    match is_formula || text.contains('\0') {
        true => {
            let mark = if is_formula { "'" } else { "" };
            Cow::Owned(format!("{mark}{}", text.replace('\0', "\u{fffd}")))
        }
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_no_formula() {
        for name in [
            "=cmd|' /C calc'!A0",
            "+1",
            "-1",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            "\n=1",
        ] {
            assert_eq!(csv_cell(name), format!("'{name}"));
        }
        assert_eq!(csv_cell("\0=1\0"), "'\u{fffd}=1\u{fffd}");
        assert_eq!(csv_cell("a\0b"), "a\u{fffd}b");
        for name in ["ann", "a=1", "", "'x", "5:3"] {
            assert_eq!(csv_cell(name), name);
        }
    }
}
