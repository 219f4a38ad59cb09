//! The plot of a system's calibration.

use std::path::Path;

use plotters::prelude::*;

use super::report::HistoryReport;

/// Draws the predicted chance against the frequency of wins, with the diagonal of a perfect predictor. The
/// area of a point grows with the number of predictions.
pub(super) fn plot(path: &Path, report: &HistoryReport) -> Result<(), Box<dyn std::error::Error>> {
    let root = SVGBackend::new(path, (480, 480)).into_drawing_area();
    root.fill(&WHITE)?;
    let caption = format!("calibration of {}", report.against);
    let mut chart = ChartBuilder::on(&root)
        .caption(caption, ("sans-serif", 18))
        .margin(12)
        .x_label_area_size(36)
        .y_label_area_size(44)
        .build_cartesian_2d(0.0..1.0, 0.0..1.0)?;
    chart
        .configure_mesh()
        .x_desc("predicted chance")
        .y_desc("how often it happened")
        .draw()?;
    chart.draw_series(LineSeries::new([(0.0, 0.0), (1.0, 1.0)], BLACK.mix(0.4)))?;
    let row = report.all.iter().find(|row| row.system == report.against);
    let points = row.map_or(&[][..], |row| &row.calibration);
    let most = points.iter().map(|point| point.2).max().unwrap_or(1).max(1);
    let dots = points.iter().map(|&(chance, frequency, count)| {
        let size = 2.0 + 8.0 * (f64::from(count) / f64::from(most)).sqrt();
        Circle::new((chance, frequency), size as i32, BLUE.filled())
    });
    chart.draw_series(dots)?;
    root.present()?;
    Ok(())
}
