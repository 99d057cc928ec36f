//! The frames of the latency and rate plots and their data; the page's script draws them.

use maud::{Markup, PreEscaped, html};

use super::Page;
use crate::report::plot_data::PlotData;
use crate::report::scatter::Scatter;
use crate::report::words;

pub(super) fn plots(page: &Page, data: &PlotData, scatter: &Scatter) -> Markup {
    html! {
        section.card #plots {
            h2 { "Latency and rate" }
            @if page.digest.operations.is_empty() {
                p.quiet { "This history has no client operation, so there is nothing to plot." }
            } @else {
                noscript { p { "The plots need JavaScript; everything else on this page does not." } }
                (controls())
                (plot("latency", "Latency of each operation, at its invocation"))
                (sample_note(scatter))
                (plot("rate", "Completed operations a second, by outcome"))
                (bands_note(page))
                script type="application/json" #plot-data { (PreEscaped(data.to_json())) }
            }
        }
    }
}

/// Filled by the script: one switch an outcome, one a kind of operation, and the zoom.
fn controls() -> Markup {
    html! {
        div.controls hidden {
            div.legend #legend role="group" aria-label="Show or hide" {}
            div.zoom role="group" aria-label="Zoom in time" {
                button type="button" data-zoom="in" aria-label="Zoom in" { "+" }
                button type="button" data-zoom="out" aria-label="Zoom out" { "−" }
                button type="button" data-zoom="left" aria-label="Earlier" { "←" }
                button type="button" data-zoom="right" aria-label="Later" { "→" }
                button type="button" data-zoom="all" { "Whole run" }
            }
        }
    }
}

fn plot(name: &str, caption: &str) -> Markup {
    html! {
        figure.plot {
            figcaption { (caption) }
            output.readout #(format!("{name}-readout")) {
                "Point at the plot, or focus it and press the arrow keys."
            }
            div.canvas #(format!("{name}-plot")) tabindex="0" role="img"
                aria-label=(format!("{caption}. Arrow keys move from point to point.")) {}
        }
    }
}

fn sample_note(scatter: &Scatter) -> Markup {
    html! {
        @if !scatter.reduced.is_empty() {
            p.quiet.sampled {
                "So that the page stays small, the latency plot shows "
                @for (position, reduced) in scatter.reduced.iter().enumerate() {
                    @if position > 0 { " and " }
                    (words::count(reduced.shown as u64)) " of " (words::count(reduced.total as u64))
                    " " (reduced.kind.name()) " operations"
                }
                ": the fastest and the slowest of each slice of time and an even sample between them. "
                "Everything else is shown whole; rates and counts are of all operations."
            }
        }
    }
}

fn bands_note(page: &Page) -> Markup {
    let windows = &page.digest.windows;
    let moments = windows.iter().filter(|window| window.momentary).count();
    let stretches = windows.len() - moments;
    html! {
        p.quiet {
            @if windows.is_empty() { "No fault was in force in this run. " }
            @if stretches > 0 {
                "Shaded: faults in force (" (words::plural(stretches, "time", "times")) "). "
            }
            @if moments > 0 {
                "Lines: faults over at once (" (words::plural(moments, "time", "times")) "). "
            }
            "Drag across a plot to zoom, double-click to see the whole run."
        }
    }
}
