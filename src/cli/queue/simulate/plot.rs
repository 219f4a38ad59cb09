//! Plots of the waits of a simulation.

use std::path::Path;

use plotters::prelude::*;

use crate::simulate::{CategoryWaits, SimulationReport};

type Failure = Box<dyn std::error::Error>;

/// The colours of the lines, in order; more lines begin again.
const COLOURS: [RGBColor; 6] = [BLACK, BLUE, RED, GREEN, MAGENTA, CYAN];

/// Draws `waits.svg`, the distribution of the waits, and `categories.svg`, their percentiles by
/// category.
pub(super) fn plot(folder: &Path, report: &SimulationReport) -> Result<(), Failure> {
    distribution(&folder.join("waits.svg"), report)?;
    categories(&folder.join("categories.svg"), report)
}

/// The share of the tickets whose wait has ended, over the seconds since SUBMIT.
fn distribution(path: &Path, report: &SimulationReport) -> Result<(), Failure> {
    let most = report
        .waits
        .iter()
        .map(|waits| waits.p99)
        .fold(0.1, f64::max);
    let root = SVGBackend::new(path, (640, 480)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(format!("waits in {}", report.queue), ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(44)
        .build_cartesian_2d(0.0..most, 0.0..1.0)?;
    chart
        .configure_mesh()
        .x_desc("seconds")
        .y_desc("share of the tickets that have left the queue")
        .draw()?;
    for (curve, &colour) in report.curves.iter().zip(COLOURS.iter().cycle()) {
        let points = curve.points.iter().copied().filter(|(at, _)| *at <= most);
        let points = [(0.0, 0.0)].into_iter().chain(points);
        let line = chart.draw_series(LineSeries::new(points, colour))?;
        line.label(curve.category.as_str())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 16, y)], colour));
    }
    chart
        .configure_series_labels()
        .background_style(WHITE.mix(0.8))
        .position(SeriesLabelPosition::LowerRight)
        .draw()?;
    root.present()?;
    Ok(())
}

/// For each category, the median, the 95th and the 99th percentile of its waits.
fn categories(path: &Path, report: &SimulationReport) -> Result<(), Failure> {
    let rows: &[CategoryWaits] = &report.waits;
    let most = rows.iter().map(|waits| waits.p99).fold(0.1, f64::max);
    let height = 90 + 18 * rows.len() as u32;
    let root = SVGBackend::new(path, (640, height)).into_drawing_area();
    root.fill(&WHITE)?;
    let count = rows.len() as f64;
    let mut chart = ChartBuilder::on(&root)
        .caption("waits: p50 blue, p95 black, p99 red", ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(170)
        .build_cartesian_2d(0.0..most * 1.02, 0.0..count)?;
    chart
        .configure_mesh()
        .disable_y_mesh()
        .disable_y_axis()
        .y_labels(0)
        .x_desc("seconds")
        .draw()?;
    for (at, row) in rows.iter().enumerate() {
        let y = count - at as f64 - 0.5;
        let line = [(row.p50, y), (row.p99, y)];
        chart.draw_series(LineSeries::new(line, BLACK.mix(0.3)))?;
        for (x, colour) in [(row.p50, BLUE), (row.p95, BLACK), (row.p99, RED)] {
            chart.draw_series([Circle::new((x, y), 3, colour.filled())])?;
        }
        let place = chart.backend_coord(&(0.0, y));
        let style = ("sans-serif", 12).into_font().into_text_style(&root);
        root.draw_text(&row.category, &style, (place.0 - 160, place.1 - 6))?;
    }
    root.present()?;
    Ok(())
}
