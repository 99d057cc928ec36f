//! What the run was made from: the scenario, versions, and the licence of what is embedded here.

use maud::{Markup, html};

use super::{Page, UPLOT_LICENCE};

pub(super) fn appendix(page: &Page) -> Markup {
    html! {
        section.card #scenario {
            h2 { "Scenario" }
            @if page.input.scenario_yaml.is_empty() {
                p.quiet { "No scenario was saved with this history." }
            } @else {
                div.command {
                    pre #scenario-text tabindex="0" { code { (page.input.scenario_yaml) } }
                    button.copy type="button" data-copy="scenario-text" hidden { "Copy" }
                }
            }
        }
        section.card {
            h2 { "Versions" }
            dl.facts {
                dt { "stormglass" } dd { (page.results.version) }
                @for (name, value) in page.input.environment {
                    dt { (name) } dd { (value) }
                }
            }
        }
        footer {
            p.quiet {
                "Plots by uPlot (MIT)."
            }
            details { summary { "Licence of uPlot" } pre { (UPLOT_LICENCE) } }
        }
    }
}
