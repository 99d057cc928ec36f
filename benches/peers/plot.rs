//! How time and memory grow with the history, as figures and as a plot on logarithmic axes.

use std::fmt::Write;

use super::tools::Taken;

/// One measured size of one history.
struct Point {
    name: &'static str,
    operations: u64,
    ours: Taken,
    theirs: Taken,
}

#[derive(Default)]
pub struct Growth {
    points: Vec<Point>,
}

/// A square of a plot, in pixels, and its margins.
const SIDE: f64 = 360.0;
const MARGIN: f64 = 60.0;
const COLOURS: [&str; 3] = ["#1b6ca8", "#c0392b", "#2e8b57"];

impl Growth {
    pub fn add(&mut self, name: &'static str, operations: u64, ours: Taken, theirs: Taken) {
        self.points.push(Point { name, operations, ours, theirs });
    }

    pub fn print(&self) {
        println!(
            "\ngrowth                  operations     CPU ms    MB   porcupine     CPU ms    MB"
        );
        for Point { name, operations, ours, theirs } in &self.points {
            println!(
                "{name:<22} {operations:>11} {:>10.1} {:>5.0}   {:<13} {:>8.1} {:>5.0}",
                ours.check_ms, ours.peak_mb, theirs.verdict, theirs.check_ms, theirs.peak_mb
            );
        }
    }

    /// CPU time and memory side by side; porcupine dashed, where it has an answer.
    pub fn svg(&self) -> String {
        let (width, height) = (2.0 * SIDE + 4.0 * MARGIN, SIDE + 2.0 * MARGIN);
        let mut svg = format!(
            "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' \
             font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' fill='white'/>\n"
        );
        self.panel(
            &mut svg,
            MARGIN,
            "CPU ms of deciding by operations (dashed: porcupine)",
            |taken| taken.check_ms,
        );
        self.panel(
            &mut svg,
            SIDE + 3.0 * MARGIN,
            "peak MB by operations (dashed: porcupine)",
            |taken| taken.peak_mb,
        );
        svg += "</svg>\n";
        svg
    }

    fn panel(&self, svg: &mut String, left: f64, title: &str, figure: fn(&Taken) -> f64) {
        let sizes = self.points.iter().map(|point| point.operations as f64);
        let across = Axis::around(sizes);
        let figures = self.points.iter().flat_map(|point| [&point.ours, &point.theirs]).map(figure);
        let up = Axis::around(figures);
        let _ = writeln!(
            svg,
            "<rect x='{left}' y='{MARGIN}' width='{SIDE}' height='{SIDE}' fill='none' stroke='#888'/>\
             <text x='{left}' y='{}'>{title}</text>",
            MARGIN - 30.0
        );
        for power in across.powers() {
            let x = left + across.place(10_f64.powi(power));
            let y = MARGIN + SIDE + 18.0;
            let _ = writeln!(svg, "<text x='{x}' y='{y}' text-anchor='middle'>1e{power}</text>");
        }
        for power in up.powers() {
            let (x, y) = (left - 6.0, MARGIN + SIDE - up.place(10_f64.powi(power)));
            let _ = writeln!(svg, "<text x='{x}' y='{y}' text-anchor='end'>1e{power}</text>");
        }
        for (place, name) in self.names().into_iter().enumerate() {
            let colour = COLOURS[place % COLOURS.len()];
            let x = left + 120.0 * place as f64;
            let y = MARGIN - 12.0;
            let _ = writeln!(svg, "<text x='{x}' y='{y}' fill='{colour}'>{name}</text>");
            for (is_ours, dashes) in [(true, "none"), (false, "5 4")] {
                let of_name = self.points.iter().filter(|point| point.name == name);
                let line = of_name.filter_map(|point| {
                    let taken = if is_ours { &point.ours } else { &point.theirs };
                    let x = left + across.place(point.operations as f64);
                    let y = MARGIN + SIDE - up.place(figure(taken));
                    taken.is_decided().then(|| format!("{x:.1},{y:.1}"))
                });
                let line = line.collect::<Vec<_>>().join(" ");
                let _ = writeln!(
                    svg,
                    "<polyline points='{line}' fill='none' stroke='{colour}' stroke-width='2' \
                     stroke-dasharray='{dashes}'/>"
                );
            }
        }
    }

    fn names(&self) -> Vec<&'static str> {
        let mut names: Vec<&str> = self.points.iter().map(|point| point.name).collect();
        names.dedup();
        names
    }
}

/// Whole powers of ten, from below all figures to above.
struct Axis {
    from: i32,
    to: i32,
}

impl Axis {
    fn around(figures: impl Iterator<Item = f64>) -> Axis {
        let logs = figures.filter(|figure| *figure > 0.0).map(f64::log10);
        let (least, most) =
            logs.fold((f64::MAX, f64::MIN), |(least, most), log| (least.min(log), most.max(log)));
        let from = if least < f64::MAX { least.floor() as i32 } else { 0 };
        Axis { from, to: (most.ceil() as i32).max(from + 1) }
    }

    fn powers(&self) -> std::ops::RangeInclusive<i32> {
        self.from..=self.to
    }

    fn place(&self, figure: f64) -> f64 {
        let log = figure.max(1e-3).log10();
        SIDE * (log - f64::from(self.from)) / f64::from(self.to - self.from)
    }
}
