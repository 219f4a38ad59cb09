//! A symmetric matrix, stored as its lower triangle row after row.
//!
//! Values have single precision: an update passes over all of the memory, so its time is
//! proportional to the size. For the same reason updates are deferred: up to [`DEFERRED`] wait as
//! vectors, and one pass over the memory then applies all of them. Sums have double precision, and a cell is the same
//! whichever of its two columns has the lower number, so that the numbers of the columns change nothing but the last bits
//! of a sum. Rows are padded with zeros to
//! whole lanes, and rows of zeros follow up to a whole block of rows. Copies of a matrix share the blocks that none of
//! them has changed.

use serde::{Deserialize, Serialize};

use crate::player_map::Shared;

/// Numbers per lane: two of the widest registers that every x86-64 processor has.
const LANES: usize = 8;

/// Updates applied in one pass over the matrix. More would hardly be faster: with eight, arithmetic
/// takes longer than memory.
const DEFERRED: usize = 8;

/// A symmetric matrix of single-precision numbers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Triangle {
    width: usize,
    /// The values before the deferred updates: blocks of [`LANES`] rows.
    blocks: Vec<Shared<Vec<f32>>>,
    /// The updates that `blocks` do not contain yet, oldest first; fewer than [`DEFERRED`]. Each is the outer product of
    /// a padded vector with itself, to be subtracted.
    deferred: Vec<Shared<Vec<f32>>>,
}

/// Length of row `i` including its padding.
fn length(i: usize) -> usize {
    LANES * (i / LANES + 1)
}

/// Index at which row `i` starts in its block.
fn start(i: usize) -> usize {
    i % LANES * length(i)
}

impl Triangle {
    /// The values of row `i`, with its padding.
    fn row(&self, i: usize) -> &[f32] {
        &self.blocks[i / LANES][start(i)..][..length(i)]
    }

    /// The same, to change them.
    fn row_mut(&mut self, i: usize) -> &mut [f32] {
        &mut self.blocks[i / LANES].edit()[start(i)..][..length(i)]
    }

    /// The value of row `i` and column `j`.
    pub(super) fn get(&self, i: usize, j: usize) -> f64 {
        let (i, j) = (i.max(j), i.min(j));
        let cell = self.row(i)[j];
        // In the order and with the rounding of `apply_deferred`.
        let updates = self.deferred.iter();
        let updated = updates.fold(cell, |cell, vector| cell - vector[i] * vector[j]);
        updated.into()
    }

    /// Writes the value of row `i` and column `j`, and of `j` and `i`. Applies all updates before.
    pub(super) fn set(&mut self, i: usize, j: usize, value: f64) {
        self.apply_deferred();
        let (i, j) = (i.max(j), i.min(j));
        self.row_mut(i)[j] = value as f32;
    }

    /// Adds to the value of row `i` and column `i`.
    pub(super) fn add_to_diagonal(&mut self, i: usize, value: f64) {
        self.row_mut(i)[i] += value as f32;
    }

    /// Appends a row and a column of zeros, with `diagonal` on the diagonal.
    pub(super) fn push(&mut self, diagonal: f64) {
        let last = self.width;
        self.width += 1;
        // Whole blocks of LANES rows, so that loops need no bounds checks.
        let padded = self.width.next_multiple_of(LANES);
        if self.blocks.len() < padded / LANES {
            self.blocks.push(Shared::new(vec![0.0; LANES * padded]));
            for vector in &mut self.deferred {
                vector.edit().resize(padded, 0.0);
            }
        }
        self.add_to_diagonal(last, diagonal);
    }

    /// Writes the product with a sparse vector to `product` (padded). O(width · entries).
    pub(super) fn times(&self, sparse: &[(usize, f64)], product: &mut Vec<f64>) {
        product.clear();
        product.resize(self.width.next_multiple_of(LANES), 0.0);
        // On and below the diagonal: LANES rows at a time, whose sums do not depend on each other.
        // Above the diagonal of a block there are zeros.
        for (block, sums) in product.chunks_exact_mut(LANES).enumerate() {
            let length = LANES * (block + 1);
            let rows = self.blocks[block].as_slice();
            let mut own = [0.0; LANES];
            for &(column, x) in sparse.iter().filter(|(column, _)| *column < length) {
                for (sum, row) in own.iter_mut().zip(rows.chunks_exact(length)) {
                    *sum += x * f64::from(row[column]);
                }
            }
            sums.copy_from_slice(&own);
        }
        // Above the diagonal: by symmetry, the rows of the requested columns.
        for &(column, x) in sparse {
            let row = &self.row(column)[..column];
            for (p, cell) in product.iter_mut().zip(row) {
                *p += x * f64::from(*cell);
            }
        }
        for vector in &self.deferred {
            let along = along(sparse, vector);
            for (p, x) in product.iter_mut().zip(vector.iter()) {
                *p -= along * f64::from(*x);
            }
        }
    }

    /// The product with a sparse vector in that vector's own places: the same bits as in [`times`](Self::times), with
    /// entries² instead of width · entries steps.
    pub(super) fn times_within(&self, sparse: &[(usize, f64)]) -> Vec<f64> {
        let updates = self.deferred.iter();
        let updates: Vec<(f64, &[f32])> = updates
            .map(|vector| (along(sparse, vector), vector.as_slice()))
            .collect();
        let product = sparse.iter().map(|&(place, _)| {
            let row = self.row(place);
            let mut product = 0.0;
            for &(column, x) in sparse.iter().filter(|(column, _)| *column < row.len()) {
                product += x * f64::from(row[column]);
            }
            for &(column, x) in sparse.iter().filter(|(column, _)| *column > place) {
                product += x * f64::from(self.row(column)[place]);
            }
            for (along, vector) in &updates {
                product -= along * f64::from(vector[place]);
            }
            product
        });
        product.collect()
    }

    /// Subtracts `factor` (0 or more) times the outer product of a padded vector with itself. O(width²/2) for
    /// every [`DEFERRED`]th update; the others wait for it.
    pub(super) fn minus_outer(&mut self, vector: &[f64], factor: f64) {
        let root = libm::sqrt(factor);
        let scaled = vector.iter().map(|x| (root * x) as f32);
        self.deferred.push(Shared::new(scaled.collect()));
        if self.deferred.len() == DEFERRED {
            self.apply_deferred();
        }
    }

    /// Brings `blocks` up to date.
    fn apply_deferred(&mut self) {
        let updates = std::mem::take(&mut self.deferred);
        if let Ok(updates) = <&[Shared<Vec<f32>>; DEFERRED]>::try_from(updates.as_slice()) {
            self.apply_together(updates.each_ref().map(|vector| vector.as_slice()));
            return;
        }
        for vector in &updates {
            for (i, x) in vector.iter().take(self.width).enumerate() {
                subtract(&mut self.row_mut(i)[..=i], *x, &vector[..=i]);
            }
        }
    }

    /// Applies a full set of updates in one pass.
    fn apply_together(&mut self, updates: [&[f32]; DEFERRED]) {
        for i in 0..self.width {
            let factors = updates.map(|vector| vector[i]);
            let vectors = updates.map(|vector| &vector[..=i]);
            subtract_all(&mut self.row_mut(i)[..=i], factors, vectors);
        }
    }

    /// The matrix of the rows and columns with these numbers, ascending.
    pub(super) fn select(&self, kept: &[usize]) -> Self {
        let of_kept =
            |vector: &Shared<Vec<f32>>| -> Vec<f32> { kept.iter().map(|&i| vector[i]).collect() };
        let vectors: Vec<Vec<f32>> = self.deferred.iter().map(of_kept).collect();
        let block = |(block, rows): (usize, &[usize])| {
            let length = LANES * (block + 1);
            let mut cells = vec![0.0; LANES * length];
            for ((k, &i), own) in (LANES * block..)
                .zip(rows)
                .zip(cells.chunks_exact_mut(length))
            {
                let (own, row) = (&mut own[..=k], self.row(i));
                own.iter_mut()
                    .zip(kept)
                    .for_each(|(cell, &j)| *cell = row[j]);
                // In the order and with the rounding of `apply_deferred`.
                for vector in &vectors {
                    subtract(own, vector[k], &vector[..=k]);
                }
            }
            Shared::new(cells)
        };
        Self {
            width: kept.len(),
            blocks: kept.chunks(LANES).enumerate().map(block).collect(),
            deferred: Vec::new(),
        }
    }

    /// Writes a matrix that was [selected](Self::select) back to its rows and columns. Applies all updates before; without
    /// any rows it does nothing, because [`times`](Self::times) rounds otherwise once they are applied.
    pub(super) fn restore(&mut self, kept: &[usize], selected: &Self) {
        if kept.is_empty() {
            return;
        }
        self.apply_deferred();
        for (k, &i) in kept.iter().enumerate() {
            let row = self.row_mut(i);
            for (cell, &j) in selected.row(k)[..=k].iter().zip(kept) {
                row[j] = *cell;
            }
        }
    }
}

/// The product of two vectors.
fn along(sparse: &[(usize, f64)], vector: &[f32]) -> f64 {
    let product = |&(column, x): &(usize, f64)| x * f64::from(vector[column]);
    sparse.iter().map(product).sum()
}

/// Subtracts `factor` times a vector from a row of the same length.
fn subtract(row: &mut [f32], factor: f32, vector: &[f32]) {
    for (cell, other) in row.iter_mut().zip(vector) {
        *cell -= factor * other;
    }
}

/// Subtracts several vectors of the row's length, each times its factor, the first one first.
fn subtract_all(row: &mut [f32], factors: [f32; DEFERRED], vectors: [&[f32]; DEFERRED]) {
    let vectors = vectors.map(|vector| &vector[..row.len()]);
    for (at, cell) in row.iter_mut().enumerate() {
        let mut value = *cell;
        for (factor, vector) in factors.iter().zip(vectors) {
            value -= factor * vector[at];
        }
        *cell = value;
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
            assert!((p - product(i)).abs() < 1e-2, "{i}: {p}");
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
    fn deferred_updates_are_those_of_a_matrix_without_deferral() {
        let mut triangle = some();
        let mut plain: Vec<Vec<f64>> = (0..WIDTH)
            .map(|i| (0..WIDTH).map(|j| cell(i, j)).collect())
            .collect();
        // Not a multiple of DEFERRED, so that some updates are left over.
        for step in 0..3 * DEFERRED + 5 {
            if step == 11 {
                triangle.push(7.0);
                plain.iter_mut().for_each(|row| row.push(0.0));
                plain.push(vec![0.0; WIDTH]);
                plain[WIDTH].push(7.0);
            }
            if step == 13 {
                triangle.set(20, 4, 3.0);
                (plain[20][4], plain[4][20]) = (3.0, 3.0);
            }
            triangle.add_to_diagonal(step, 2.0);
            plain[step][step] += 2.0;
            let width = plain.len();
            let sparse = [(step % 9, 1.0), (step + 8, -0.5), (width - 1, 0.25)];
            let product = |i: usize| sparse.iter().map(|&(c, x)| x * plain[i][c]).sum::<f64>();
            let expected: Vec<f64> = (0..width).map(product).collect();
            let mut got = Vec::new();
            triangle.times(&sparse, &mut got);
            for (got, expected) in got.iter().zip(&expected) {
                assert!((got - expected).abs() < 0.05, "{step}: {got} {expected}");
            }
            triangle.minus_outer(&got, 1e-6);
            for (row, x) in plain.iter_mut().zip(&expected) {
                row.iter_mut()
                    .zip(&expected)
                    .for_each(|(cell, y)| *cell -= 1e-6 * x * y);
            }
        }
        let before: Vec<f64> = (0..WIDTH).map(|i| triangle.get(i, i / 2)).collect();
        for (i, row) in plain.iter().enumerate() {
            for (j, expected) in row.iter().enumerate() {
                assert!((triangle.get(i, j) - expected).abs() < 0.1, "{i} {j}");
            }
        }
        triangle.apply_deferred();
        let after: Vec<f64> = (0..WIDTH).map(|i| triangle.get(i, i / 2)).collect();
        assert_eq!(
            before, after,
            "a value does not depend on when updates are applied"
        );
    }

    #[test]
    fn a_product_within_has_the_bits_of_the_whole_one() {
        let mut triangle = some();
        let sparse = [(20, -0.5), (3, 1.1), (36, 0.25), (21, 0.7), (0, 3.3)];
        for step in 0..DEFERRED + 3 {
            let (mut whole, padded) = (Vec::new(), WIDTH.next_multiple_of(LANES));
            triangle.times(&sparse, &mut whole);
            let within = triangle.times_within(&sparse);
            for (&(place, _), within) in sparse.iter().zip(within) {
                assert_eq!(whole[place].to_bits(), within.to_bits());
            }
            let vector: Vec<f64> = (0..padded).map(|at| (at % 7 + step) as f64 / 3.0).collect();
            triangle.minus_outer(&vector, 0.1);
        }
    }

    #[test]
    fn a_copy_keeps_its_cells() {
        let mut triangle = some();
        let copy = triangle.clone();
        triangle.add_to_diagonal(9, 1.0);
        triangle.set(20, 3, 5.0);
        same(&copy, cell);
        assert_eq!(
            (triangle.get(9, 9), triangle.get(20, 3)),
            (cell(9, 9) + 1.0, 5.0)
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

    #[test]
    fn selected_cells_are_those_that_are_read_one_by_one() {
        let mut triangle = some();
        for step in 0..DEFERRED - 1 {
            let vector: Vec<f64> = (0..triangle.width.next_multiple_of(LANES))
                .map(|at| ((at * 7 + step) % 11) as f64 / 3.0)
                .collect();
            triangle.minus_outer(&vector, 0.1 + step as f64);
        }
        let kept = [1, 2, 5, 16, 17, 30];
        let selected = triangle.select(&kept);
        let mut changed = triangle.clone();
        changed.minus_outer(&vec![1.0; triangle.width.next_multiple_of(LANES)], 0.5);
        changed.restore(&kept, &selected);
        for (k, &i) in kept.iter().enumerate() {
            for (l, &j) in kept.iter().enumerate() {
                assert_eq!(selected.get(k, l), triangle.get(i, j));
                assert_eq!(changed.get(i, j), triangle.get(i, j));
            }
        }
        assert_ne!(changed.get(3, 0), triangle.get(3, 0));
    }
}
