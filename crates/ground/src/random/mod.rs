//! Random bytes of the operating system. What can be repeated draws from a seed instead: see
//! [`Stream`](crate::model::random::Stream).

use rand::{
    TryRng,
    rngs::{SysError, SysRng},
};

/// Bytes that nobody can predict.
///
/// # Errors
/// Fails if the operating system has none. The caller says what follows from that: a secret cannot be made then, while a
/// seed or a name has a substitute.
pub fn bytes<const N: usize>() -> Result<[u8; N], SysError> {
    let mut drawn = [0; N];
    SysRng.try_fill_bytes(&mut drawn)?;
    Ok(drawn)
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn two_draws_differ() {
        let [one, two] = [bytes::<16>().unwrap(), bytes::<16>().unwrap()];
        assert_ne!(one, two);
    }
}
