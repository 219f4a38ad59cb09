//! What a table contains, in a form in which two databases can be compared.

use std::fmt;

use futures_util::TryStreamExt;
use sha2::{Digest, Sha256};

use super::{Locked, Table, Value};
use crate::store::StoreError;

/// The number of rows of a table, and the sum of their hashes, as a number of 256 bits. So it does not depend
/// on the order of the rows. Numbers are hashed by their bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableSum {
    /// The number of rows in the table.
    pub rows: u64,
    /// How many texts contain a character that PostgreSQL cannot store.
    pub(super) with_nul: u64,
    hashes: [u64; 4],
}

impl TableSum {
    /// Adds a row, which is a list of values in the order of the names of their columns.
    fn add(&mut self, bytes: &[u8]) {
        self.rows += 1;
        let hash = Sha256::digest(bytes);
        let mut carry = false;
        for (sum, part) in self.hashes.iter_mut().zip(hash.as_chunks::<8>().0) {
            let (one, over) = sum.overflowing_add(u64::from_le_bytes(*part));
            let (two, more) = one.overflowing_add(u64::from(carry));
            (*sum, carry) = (two, over || more);
        }
    }
}

impl fmt::Display for TableSum {
    /// The sum in hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = self.hashes.iter().rev();
        parts.try_for_each(|part| write!(f, "{part:016x}"))
    }
}

/// What a table contains on both sides.
#[derive(Clone, Debug)]
pub struct TableCompared {
    /// The name of the table.
    pub table: &'static str,
    /// What it contains in the source.
    pub source: TableSum,
    /// What it contains in the target.
    pub target: TableSum,
}

impl TableCompared {
    /// Whether both sides contain the same rows, to the last bit of every number.
    pub fn is_equal(&self) -> bool {
        let content = |sum: &TableSum| (sum.rows, sum.hashes);
        content(&self.source) == content(&self.target)
    }

    /// How many texts of the source had to be changed, because PostgreSQL does not store the character NUL.
    pub fn changed_texts(&self) -> u64 {
        self.source.with_nul - self.target.with_nul.min(self.source.with_nul)
    }
}

/// Reads a whole table, and returns its sum.
pub(super) async fn sum(
    locked: &mut Locked,
    table: &Table,
    fit: &(dyn Fn(&mut Value) + Sync),
) -> Result<TableSum, StoreError> {
    let columns = locked.columns(table.name).await?;
    let mut rows = locked.all_rows(table, &columns);
    let (mut sum, mut bytes) = (TableSum::default(), Vec::new());
    while let Some(mut row) = rows.try_next().await? {
        bytes.clear();
        for value in &mut row {
            if matches!(value, Value::Text(text) if text.contains('\0')) {
                sum.with_nul += 1;
            }
            fit(value);
            value.write_to(&mut bytes);
        }
        sum.add(&bytes);
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum_of(rows: &[&[u8]]) -> TableSum {
        let mut sum = TableSum::default();
        rows.iter().for_each(|row| sum.add(row));
        sum
    }

    #[test]
    fn a_sum_depends_on_every_row_but_not_on_their_order() {
        let (a, b, c): (&[u8], &[u8], &[u8]) = (b"ann", b"bob", b"cid");
        assert_eq!(sum_of(&[a, b, c]), sum_of(&[c, a, b]));
        assert_ne!(sum_of(&[a, b]), sum_of(&[a, c]));
        assert_ne!(sum_of(&[a, a]), sum_of(&[a]));
        assert_ne!(sum_of(&[a, a, b]), sum_of(&[a, b, b]));
        // One row has its own SHA-256, with the lowest digits first.
        let hash = Sha256::digest(b"ann");
        let digits: String = hash
            .iter()
            .rev()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        assert_eq!(sum_of(&[a]).to_string(), digits);
    }

    #[test]
    fn different_rows_have_different_bytes() {
        let bytes = |values: &[Value]| {
            let mut bytes = Vec::new();
            values.iter().for_each(|value| value.write_to(&mut bytes));
            bytes
        };
        let text = |text: &str| Value::Text(text.into());
        let rows = [
            vec![text("ab"), text("c")],
            vec![text("a"), text("bc")],
            vec![text(""), Value::Null],
            vec![Value::Null, text("")],
            vec![Value::Int(0), Value::Real(0)],
            vec![Value::Real(0), Value::Int(0)],
            vec![
                Value::Real(0.0_f64.to_bits()),
                Value::Real((-0.0_f64).to_bits()),
            ],
            vec![Value::Bytes(b"ab".into()), text("c")],
        ];
        for (number, row) in rows.iter().enumerate() {
            for other in &rows[..number] {
                assert_ne!(bytes(row), bytes(other), "{row:?} {other:?}");
            }
        }
    }
}
