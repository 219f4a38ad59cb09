//! What an operator may have meant by a word that is not known.

/// The known word that is most like `word`; `None` if none is like it.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let distances = known.into_iter().map(|known| {
        let distance = strsim::damerau_levenshtein(word, known);
        (distance, known)
    });
    let (distance, known) = distances.min()?;
    // A third of the letters may be wrong.
    let most = word.chars().count().max(known.chars().count()) / 3;
    (distance <= most.max(1)).then_some(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood_and_another_word_is_not() {
        let known = ["max_connections", "max_errors", "listen", "a"];
        let of = |word| nearest(word, known);
        assert_eq!(of("max_conections"), Some("max_connections"));
        assert_eq!(of("lisetn"), Some("listen"));
        assert_eq!(of("MAX_ERRORS"), None, "keys are in lower case");
        assert_eq!(of("colour"), None);
        assert_eq!(nearest("x", []), None);
    }
}
