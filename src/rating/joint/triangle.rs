//! A symmetric matrix, stored as its lower triangle row after row.
//!
//! Values have single precision: an update passes over all of the memory, so its time is
//! proportional to the size. Rows are padded with zeros to whole lanes, and rows of zeros follow up
//! to a whole block of rows.

use serde::{Deserialize, Serialize};

/// Numbers per lane: two of the widest registers that every x86-64 processor has.
const LANES: usize = 8;

/// A symmetric matrix of single-precision numbers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Triangle {
    width: usize,
    cells: Vec<f32>,
}

/// Length of row `i` including its padding.
fn length(i: usize) -> usize {
    LANES * (i / LANES + 1)
}

/// Index at which row `i` starts: after LANES rows of each shorter length, and the earlier rows of
/// its own length.
fn start(i: usize) -> usize {
    let (blocks, rest) = (i / LANES, i % LANES);
    LANES * LANES * (blocks * (blocks + 1) / 2) + rest * length(i)
}

impl Triangle {
    /// The value of row `i` and column `j`.
    pub fn get(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.max(j), i.min(j));
        self.cells[start(i) + j].into()
    }

    /// Writes the value of row `i` and column `j`, and of `j` and `i`.
    pub fn set(&mut self, i: usize, j: usize, value: f64) {
        let (i, j) = (i.max(j), i.min(j));
        self.cells[start(i) + j] = value as f32;
    }

    /// Appends a row and a column of zeros, with `diagonal` on the diagonal.
    pub fn push(&mut self, diagonal: f64) {
        let last = self.width;
        self.width += 1;
        // Whole blocks of LANES rows, so that loops need no bounds checks.
        self.cells
            .resize(start(self.width.next_multiple_of(LANES)), 0.0);
        self.set(last, last, diagonal);
    }

    /// Writes the product with a sparse vector to `product` (padded). O(width · entries).
    pub fn times(&self, sparse: &[(usize, f64)], product: &mut Vec<f32>) {
        product.clear();
        product.resize(self.width.next_multiple_of(LANES), 0.0);
        // On and below the diagonal: LANES rows at a time, whose sums do not depend on each other.
        // Above the diagonal of a block there are zeros.
        let mut cells = self.cells.as_slice();
        for (block, sums) in product.chunks_exact_mut(LANES).enumerate() {
            let length = LANES * (block + 1);
            let (rows, rest) = cells.split_at(LANES * length);
            cells = rest;
            let mut own = [0.0; LANES];
            for &(column, x) in sparse.iter().filter(|(column, _)| *column < length) {
                for (sum, row) in own.iter_mut().zip(rows.chunks_exact(length)) {
                    *sum += x as f32 * row[column];
                }
            }
            sums.copy_from_slice(&own);
        }
        // Above the diagonal: by symmetry, the rows of the requested columns.
        for &(column, x) in sparse {
            let row = &self.cells[start(column)..][..column];
            for (p, cell) in product.iter_mut().zip(row) {
                *p += x as f32 * cell;
            }
        }
    }

    /// Subtracts `factor` times the outer product of a padded vector with itself. O(width²/2).
    pub fn minus_outer(&mut self, vector: &[f32], factor: f64) {
        let mut cells = self.cells.as_mut_slice();
        for (i, x) in vector.iter().take(self.width).enumerate() {
            let (row, rest) = cells.split_at_mut(length(i));
            cells = rest;
            let x = factor as f32 * x;
            for (cell, other) in row.iter_mut().zip(&vector[..=i]) {
                *cell -= x * other;
            }
        }
    }

    /// The matrix of the rows and columns with these numbers, ascending.
    pub fn select(&self, kept: &[usize]) -> Self {
        let mut selected = Self::default();
        for (k, &i) in kept.iter().enumerate() {
            selected.push(self.get(i, i));
            for (l, &j) in kept[..k].iter().enumerate() {
                selected.set(k, l, self.get(i, j));
            }
        }
        selected
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: usize = 37; // not a multiple of LANES

    fn cell(i: usize, j: usize) -> f64 {
        let (i, j) = (i.max(j), i.min(j));
        (100 * i + j) as f64
    }

    fn some() -> Triangle {
        let mut triangle = Triangle::default();
        for i in 0..WIDTH {
            triangle.push(0.0);
            (0..=i).for_each(|j| triangle.set(i, j, cell(i, j)));
        }
        triangle
    }

    fn same(triangle: &Triangle, expected: impl Fn(usize, usize) -> f64) {
        for i in 0..WIDTH {
            for j in 0..WIDTH {
                let got = triangle.get(i, j);
                assert!((got - expected(i, j)).abs() < 1e-2, "{i} {j}: {got}");
            }
        }
    }

    #[test]
    fn rows_do_not_overlap() {
        same(&some(), cell);
    }

    #[test]
    fn products_and_outer_products_are_those_of_the_whole_matrix() {
        let mut triangle = some();
        let sparse = [(3, 1.0), (20, -0.5), (36, 0.25)];
        let product = |i| sparse.iter().map(|&(c, x)| x * cell(i, c)).sum::<f64>();
        let mut got = Vec::new();
        triangle.times(&sparse, &mut got);
        for (i, p) in got.iter().enumerate().take(WIDTH) {
            assert!((f64::from(*p) - product(i)).abs() < 1e-2, "{i}: {p}");
        }
        triangle.minus_outer(&got, 1e-3);
        same(&triangle, |i, j| {
            cell(i, j) - 1e-3 * product(i) * product(j)
        });
        triangle.push(5.0);
        assert_eq!(
            (triangle.get(WIDTH, WIDTH), triangle.get(WIDTH, 3)),
            (5.0, 0.0)
        );
    }

    #[test]
    fn selected_rows_keep_their_cells() {
        let kept = [0, 7, 8, 30];
        let selected = some().select(&kept);
        for (k, &i) in kept.iter().enumerate() {
            for (l, &j) in kept.iter().enumerate() {
                assert_eq!(selected.get(k, l), cell(i, j));
            }
        }
    }
}
