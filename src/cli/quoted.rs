//! Paths in commands that people copy into a shell.

use std::path::Path;

/// A path as one word of a shell: in quotes where that is needed.
pub(super) fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+:,@%=".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.into_owned(),
        // Nothing has a meaning between single quotes, and a single quote cannot stand there.
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_word() {
        for (path, word) in [
            ("/srv/even-keel/a.db", "/srv/even-keel/a.db"),
            ("größe", "größe"),
            ("my first", "'my first'"),
            ("", "''"),
            ("$HOME", "'$HOME'"),
            ("a'b; rm", r"'a'\''b; rm'"),
            ("*", "'*'"),
            ("~x", "'~x'"),
        ] {
            assert_eq!(quoted(Path::new(path)), word);
        }
    }
}
