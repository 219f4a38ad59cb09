//! Steam ids. Games write the id of one account in several forms.

use super::{Kind, PlayerKey};

/// The id of the account 0 as a number of 64 bits: of a person, in the public universe.
const FIRST: u64 = 76_561_197_960_265_728;

/// The account that an id is of, in any of its forms: `STEAM_0:1:6110` or `STEAM_1:1:6110` (the game decides
/// which), `[U:1:12221]`, or the number of 64 bits. `None` if it is of no account.
pub fn account(id: &str) -> Option<u32> {
    let account = match id.as_bytes().first()? {
        b'S' | b's' => of_old_form(id)?,
        b'[' => decimal(id.strip_prefix("[U:1:")?.strip_suffix(']')?)?,
        b'U' => decimal(id.strip_prefix("U:1:")?)?,
        b'7' if id.len() == 17 => u32::try_from(decimal::<u64>(id)?.checked_sub(FIRST)?).ok()?,
        _ => return None,
    };
    (account > 0).then_some(account)
}

/// The account of `STEAM_X:Y:Z`: twice Z, plus Y.
fn of_old_form(id: &str) -> Option<u32> {
    let (prefix, rest) = id.split_at_checked(6)?;
    let mut parts = rest.split(':');
    let (universe, odd, half) = (parts.next()?, parts.next()?, parts.next()?);
    let known = prefix.eq_ignore_ascii_case("STEAM_")
        && parts.next().is_none()
        && matches!(universe.as_bytes(), [b'0'..=b'5']);
    let odd = match odd {
        "0" => 0,
        "1" => 1,
        _ => return None,
    };
    let half = known.then(|| decimal::<u32>(half)).flatten()?;
    half.checked_mul(2)?.checked_add(odd)
}

/// A number that is written in one way only.
fn decimal<N: std::str::FromStr>(text: &str) -> Option<N> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    let plain = text.len() == 1 || !text.starts_with('0');
    (digits && plain).then(|| text.parse().ok()).flatten()
}

/// The one form under which an account is known, `[U:1:n]`; any other text stays as it is.
pub fn canonical(id: &str) -> String {
    account(id).map_or_else(|| id.to_owned(), |account| format!("[U:1:{account}]"))
}

/// All forms of the id of an account, the one under which it is known first; any other text alone.
pub fn forms(id: &str) -> Vec<String> {
    let Some(account) = account(id) else {
        return vec![id.to_owned()];
    };
    let (odd, half) = (account % 2, account / 2);
    let old = (0..=5).map(|universe| format!("STEAM_{universe}:{odd}:{half}"));
    let new = [
        format!("[U:1:{account}]"),
        format!("U:1:{account}"),
        (FIRST + u64::from(account)).to_string(),
    ];
    new.into_iter().chain(old).collect()
}

/// The identity under which an account is known, if this human has another one of its forms.
pub fn canonical_key(kind: Kind, id: &str) -> Option<PlayerKey> {
    let account = account(id).filter(|_| kind == Kind::Human)?;
    let canonical = format!("[U:1:{account}]");
    (canonical != id).then_some(PlayerKey {
        kind,
        id: canonical,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_an_account_are_one() {
        for id in [
            "STEAM_0:1:6110",
            "STEAM_1:1:6110",
            "steam_0:1:6110",
            "[U:1:12221]",
            "U:1:12221",
            "76561197960277949",
        ] {
            assert_eq!(canonical(id), "[U:1:12221]", "{id}");
        }
        assert_eq!(account("STEAM_0:0:2147483647"), Some(4_294_967_294));
    }

    #[test]
    fn every_form_is_one_of_the_same_account() {
        let all = forms("STEAM_1:1:6110");
        assert_eq!(all[0], "[U:1:12221]");
        assert_eq!(all.len(), 9);
        assert!(all.iter().all(|form| account(form) == Some(12_221)));
        assert_eq!(forms("ann"), ["ann"]);
    }

    #[test]
    fn what_is_no_account_stays() {
        for other in [
            "",
            "S",
            "ann",
            "STEAM_ID_LAN",
            "STEAM_ID_PENDING",
            "STEAM_0:0:0",
            "STEAM_0:2:5",
            "STEAM_0:1",
            "STEAM_0:1:",
            "STEAM_0:1:6110:2",
            "STEAM_0:1:06110",
            "STEAM_0:1:2147483648",
            "STEAM_9:1:6110",
            "[U:1:12221",
            "[U:1:]",
            "[U:1:99999999999]",
            "[G:1:12221]",
            "76561197960265728",
            "76561202255233024",
            "7656119796027794",
            "[U:1:\u{663}]",
        ] {
            assert_eq!((account(other), canonical(other)), (None, other.to_owned()));
        }
    }
}
