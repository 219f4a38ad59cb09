//! Bars: how many matches there are of each kind.

use maud::Markup;
use plotters::prelude::*;

use super::{DATA, INK, MARK, SIZE, TEXT, draw, plain};
use crate::web::{error::WebError, words};

/// A bar and the text below it.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::web) struct Bar {
    pub(in crate::web) name: String,
    pub(in crate::web) height: f64,
    /// Whether it has another colour.
    pub(in crate::web) is_marked: bool,
}

impl Bar {
    /// A bar that is not marked.
    pub(in crate::web) fn new(name: String, height: f64) -> Self {
        Self {
            name,
            height,
            is_marked: false,
        }
    }
}

/// Draws bars beside each other; where there are many, not every name is written.
pub(in crate::web) fn bars(label: &str, below: &str, list: &[Bar]) -> Result<Markup, WebError> {
    let most = list.iter().map(|bar| bar.height).fold(1e-9, f64::max);
    // Two labels must not be the same number.
    let height_of = |height: &f64| match most < 0.5 {
        true => format!("{height:.2}"),
        false => words::number(*height),
    };
    let count = list.len().max(1);
    let lengths = list.iter().map(|bar| bar.name.chars().count());
    let longest = lengths.max().unwrap_or(1);
    // At most 10 units of the plot's 450 for each character, and a gap.
    let step = (count * (longest * 10 + 8)).div_ceil(450).max(1);
    let name = |at: &f64| {
        let place = at.round();
        let bar = list
            .get(place as usize)
            .filter(|_| (at - place).abs() < 1e-6);
        bar.filter(|_| (place as usize).is_multiple_of(step))
            .map_or(String::new(), |bar| bar.name.clone())
    };
    draw(label, |area| {
        let mut chart = ChartBuilder::on(area)
            .margin(10)
            .x_label_area_size(48)
            .y_label_area_size(44)
            .build_cartesian_2d(-0.5..count as f64 - 0.5, 0.0..most * 1.05)?;
        plain(&mut chart.configure_mesh())
            .disable_x_mesh()
            .x_desc(below)
            .x_labels(0)
            .y_labels(5)
            .y_label_formatter(&height_of)
            .draw()?;
        let area_of = |(at, bar): (usize, &Bar)| {
            let at = at as f64;
            let colour = if bar.is_marked { MARK } else { DATA };
            Rectangle::new([(at - 0.4, 0.0), (at + 0.4, bar.height)], colour.filled())
        };
        chart.draw_series(list.iter().enumerate().map(area_of))?;
        let style = ("sans-serif", TEXT).into_font().color(&INK);
        let style = style.pos(plotters::style::text_anchor::Pos::new(
            plotters::style::text_anchor::HPos::Center,
            plotters::style::text_anchor::VPos::Top,
        ));
        let plane = chart.plotting_area();
        for at in (0..list.len()).map(|at| at as f64) {
            let (x, y) = plane.map_coordinate(&(at, 0.0));
            let text = name(&at);
            // A name at the right edge would be cut off.
            let ends = x + (text.chars().count() as i32 * 10) / 2;
            if !text.is_empty() && ends <= SIZE.0 as i32 {
                area.draw(&Text::new(text, (x, y + 6), style.clone()))?;
            }
        }
        Ok(())
    })
}
