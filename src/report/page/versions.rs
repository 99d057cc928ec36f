//! Versions of the topology over time: a line for each place, and when each had each version.

use maud::{Markup, html};

use super::{Page, scroll_box};
use crate::op::{Nanos, NodeName};
use crate::report::versions::{VersionRow, Versions};
use crate::report::words;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 150.0;
/// Lines of the drawing told apart by colour; more share the last one.
const COLOURS: usize = 8;
/// Changes that one line is drawn with.
const STEPS_MAX: usize = 2_000;

pub(super) fn versions(page: &Page) -> Markup {
    let found = &page.versions;
    html! {
        @if found.highest() > 0 {
            section.card #topology {
                h2 { "Topology versions" }
                p.quiet.key {
                    @for (position, place) in found.steps.keys().enumerate() {
                        span { span.swatch.{ "line-" (position.min(COLOURS)) } {} (name(place)) }
                    }
                }
                (drawing(found, page.digest.end))
                details {
                    summary { "Every version (" (words::count((found.rows.len() + found.left_out) as u64)) ")" }
                    (scroll_box("Every version", table(found)))
                    @if found.left_out > 0 {
                        p.quiet { (words::count(found.left_out as u64)) " earlier ones are left out." }
                    }
                }
            }
        }
    }
}

fn name(place: &Option<NodeName>) -> String {
    place.map_or_else(|| "the controllers".to_owned(), |node| node.to_string())
}

fn drawing(found: &Versions, end: Nanos) -> Markup {
    let highest = found.highest();
    let label =
        format!("Versions of the topology, from 0 to {highest}, as each place had them over time");
    html! {
        div.steps {
            div.steps-scale aria-hidden="true" { span { (highest) } span { "0" } }
            svg.steps-drawing viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) preserveAspectRatio="none"
                role="img" aria-label=(label) {
                rect.nothing x="0" y="0" width=(WIDTH) height=(HEIGHT) {}
                @for (position, steps) in found.steps.values().enumerate() {
                    path.step.{ "line-" (position.min(COLOURS)) } d=(path(steps, highest, end)) {}
                }
            }
        }
    }
}

/// Level until the next change, then up or down.
fn path(steps: &[(Nanos, u64)], highest: u64, end: Nanos) -> String {
    let x = |at: Nanos| at as f64 / end.max(1) as f64 * WIDTH;
    let y = |version: u64| HEIGHT - 4.0 - version as f64 / highest.max(1) as f64 * (HEIGHT - 8.0);
    let mut path = String::new();
    for (position, (at, version)) in steps.iter().take(STEPS_MAX).enumerate() {
        match position {
            0 => path.push_str(&format!("M{:.1} {:.1}", x(*at), y(*version))),
            _ => path.push_str(&format!("H{:.1}V{:.1}", x(*at), y(*version))),
        }
    }
    path + &format!("H{WIDTH}")
}

fn table(found: &Versions) -> Markup {
    let moment = |at: Option<Nanos>| at.map_or_else(|| "–".to_owned(), words::moment);
    let row = |row: &VersionRow| {
        html! {
            tr {
                td.number { (row.version) }
                td.number { (moment(row.told)) }
                @for node in &found.nodes { td.number { (moment(row.admitted.get(node).copied())) } }
            }
        }
    };
    html! {
        table.reigns {
            thead { tr {
                th scope="col" { "Version" } th scope="col" { "Controllers" }
                @for node in &found.nodes { th scope="col" { (node) } }
            } }
            tbody { @for one in &found.rows { (row(one)) } }
        }
        p.quiet { "When each place first had that version or a later one, as it said itself." }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_level_between_changes_and_goes_to_the_end() {
        assert_eq!(
            path(&[(0, 0), (50, 2), (75, 1)], 2, 100),
            "M0.0 146.0H480.0V4.0H720.0V75.0H960"
        );
    }
}
