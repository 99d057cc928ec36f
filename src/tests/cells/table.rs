//! The table as data: what each variant comes to under a nemesis and a workload.

use std::fmt;

use serde::Deserialize;
use stormglass::checker::ANOMALIES;
use stormglass::cluster::Role;
use stormglass::duration::Span;

const TABLE: &str = include_str!("table.yaml");

/// Variants of one service side by side.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    pub title: String,
    /// Whose variants these are.
    pub role: Role,
    pub variants: Vec<String>,
    pub rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    pub workload: String,
    pub nemesis: String,
    /// Of each variant in turn: `valid`, `invalid: <anomaly>`, `permitted loss`, or `-` where it says nothing.
    pub cells: Vec<String>,
    #[serde(default = "usual_time")]
    pub time: Span,
    /// Of the tests that run it in containers: the variant and the test.
    #[serde(default)]
    pub docker: Vec<(String, String)>,
}

fn usual_time() -> Span {
    Span::seconds(22)
}

/// What runs of a cell must show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Promise {
    Valid,
    /// Valid, though acknowledged writes are lost, in a way that asynchronous replication permits.
    PermittedLoss,
    /// An anomaly of this kind is found, and none but what it may bring about.
    Invalid(String),
}

/// One variant under one nemesis and workload.
#[derive(Clone, Debug)]
pub struct Cell {
    pub role: Role,
    pub variant: String,
    pub workload: String,
    pub nemesis: String,
    pub time: Span,
    pub promise: Promise,
    /// The test that earns it in containers as well.
    pub docker: Option<String>,
}

impl Promise {
    /// `None` of a cell that is not tried.
    pub fn parse(text: &str) -> Result<Option<Promise>, String> {
        match text {
            "-" => Ok(None),
            "valid" => Ok(Some(Promise::Valid)),
            "permitted loss" => Ok(Some(Promise::PermittedLoss)),
            other => match other.strip_prefix("invalid: ") {
                Some(kind) if ANOMALIES.iter().any(|known| known.name == kind) => {
                    Ok(Some(Promise::Invalid(kind.to_owned())))
                }
                _ => Err(format!("`{other}` is no promise, or names no anomaly")),
            },
        }
    }
}

impl fmt::Display for Promise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Promise::Valid => f.write_str("valid"),
            Promise::PermittedLoss => f.write_str("permitted loss"),
            Promise::Invalid(kind) => write!(f, "invalid: {kind}"),
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cell { role, variant, workload, nemesis, .. } = self;
        write!(f, "{workload} --nemesis {nemesis} --variant {role}={variant}")
    }
}

pub fn groups() -> Vec<Group> {
    serde_yaml::from_str(TABLE).unwrap_or_else(|error| panic!("cells/table.yaml: {error}"))
}

impl Group {
    pub fn cells(&self) -> Vec<Cell> {
        let cell = |row: &Row, variant: &String, text: &String| {
            let promise =
                Promise::parse(text).unwrap_or_else(|wrong| panic!("{}: {wrong}", row.nemesis))?;
            let docker = row.docker.iter().find(|(of, _)| of == variant);
            Some(Cell {
                role: self.role,
                variant: variant.clone(),
                workload: row.workload.clone(),
                nemesis: row.nemesis.clone(),
                time: row.time,
                promise,
                docker: docker.map(|(_, test)| test.clone()),
            })
        };
        let of_row = |row: &Row| -> Vec<Option<Cell>> {
            assert_eq!(row.cells.len(), self.variants.len(), "{} {}", row.workload, row.nemesis);
            self.variants
                .iter()
                .zip(&row.cells)
                .map(|(variant, text)| cell(row, variant, text))
                .collect()
        };
        self.rows.iter().flat_map(of_row).flatten().collect()
    }

    /// As the README shows it.
    pub fn markdown(&self) -> String {
        let names: Vec<String> = self.variants.iter().map(|name| format!("`{name}`")).collect();
        let mut text = format!("| {} | {} |\n", self.title, names.join(" | "));
        text += &format!("|---|{}\n", "---|".repeat(names.len()));
        for row in &self.rows {
            let workload = row.workload.trim_start_matches("kvrocks/");
            let told = |(variant, cell): (&String, &String)| {
                let is_in_docker = row.docker.iter().any(|(of, _)| of == variant);
                let mark = if is_in_docker { " (d)" } else { "" };
                format!("{}{mark}", cell.trim_start_matches("invalid: ").trim_start_matches('-'))
            };
            let cells: Vec<String> = self.variants.iter().zip(&row.cells).map(told).collect();
            text += &format!("| `{workload}`, `{}` | {} |\n", row.nemesis, cells.join(" | "));
        }
        text
    }
}
