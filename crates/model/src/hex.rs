//! Bytes as hexadecimal digits, for secrets, hashes and names of files.

/// Two digits for each byte, in lower case.
pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The bytes of as many pairs of digits, in any case; `None` for any other text.
pub fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; N];
    for (at, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_come_back_as_bytes_and_nothing_else_does() {
        assert_eq!(to_hex(&[0, 10, 250]), "000afa");
        assert_eq!(from_hex("000aFA"), Some([0, 10, 250]));
        for text in ["", "000af", "000afa0", "+00afa", "000a f", "0\u{e9}0af"] {
            assert_eq!(from_hex::<3>(text), None, "{text}");
        }
    }
}
