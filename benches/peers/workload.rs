//! The histories that are generated, and what is wanted of each.

/// What must be shown of a history.
#[derive(Clone, Copy)]
pub enum Target {
    /// At most so much CPU time and memory.
    Within { cpu_ms: f64, mb: f64 },
    /// So many times less CPU time than porcupine, which counts as its limit where it gave up.
    Times { ratio: f64, mb: f64 },
}

pub struct Workload {
    pub name: &'static str,
    /// Operations at full scale.
    operations: u64,
    arguments: &'static str,
    pub target: Target,
}

#[derive(Clone, Copy)]
pub enum Scale {
    Full,
    Tenth,
}

impl Scale {
    pub fn of(self, operations: u64) -> u64 {
        match self {
            Scale::Full => operations,
            Scale::Tenth => operations / 10,
        }
    }

    /// Sizes at which growth is measured.
    pub fn steps(self) -> [u64; 3] {
        [10_000, 100_000, 1_000_000].map(|operations| self.of(operations))
    }
}

impl Workload {
    pub fn arguments(&self, scale: Scale) -> String {
        sized(self.arguments, scale.of(self.operations))
    }
}

pub fn sized(arguments: &str, operations: u64) -> String {
    format!("-n {operations} {arguments}")
}

const MILLION: u64 = 1_000_000;
const ONE_KEY: Target = Target::Within { cpu_ms: 200.0, mb: 300.0 };
const KEYS: Target = Target::Times { ratio: 100.0, mb: 300.0 };
const CAS_KEYS: Target = Target::Times { ratio: 10.0, mb: 300.0 };
const CAS_ONE_KEY: Target = Target::Within { cpu_ms: 5_000.0, mb: 500.0 };

const fn workload(
    name: &'static str,
    operations: u64,
    arguments: &'static str,
    target: Target,
) -> Workload {
    Workload { name, operations, arguments, target }
}

pub const WORKLOADS: &[Workload] = &[
    workload("one key, 5 clients", MILLION, "-procs 5", ONE_KEY),
    workload("one key, 30 clients, 1% info", MILLION, "-procs 30 -info 0.01", ONE_KEY),
    workload("one key, 100 clients, 5% info", MILLION, "-procs 100 -info 0.05", ONE_KEY),
    workload("one key, 30 clients, stale", MILLION, "-procs 30 -inject stale", ONE_KEY),
    workload(
        "one key, 100 clients, 5% info, stale",
        MILLION,
        "-procs 100 -info 0.05 -inject stale",
        ONE_KEY,
    ),
    workload("keys, 10 clients", MILLION, "-keys independent -procs 10", KEYS),
    workload("keys, 30 clients", MILLION, "-keys independent -procs 30", KEYS),
    workload(
        "keys, 100 clients, 1% info",
        MILLION,
        "-keys independent -procs 100 -info 0.01",
        KEYS,
    ),
    workload(
        "cas keys, 30 clients, 5% info",
        MILLION,
        "-keys independent -mode rwc -procs 30 -info 0.05",
        CAS_KEYS,
    ),
    workload(
        "cas keys, 100 clients, 5 values",
        MILLION,
        "-keys independent -mode rwc -values small -procs 100",
        CAS_KEYS,
    ),
    workload("cas, one key, 30 clients", 10_000, "-mode rwc -procs 30", CAS_ONE_KEY),
    workload(
        "cas, one key, 30 clients, 1% info",
        10_000,
        "-mode rwc -procs 30 -info 0.01",
        CAS_ONE_KEY,
    ),
    workload("cas, one key, 5 values", 10_000, "-mode rwc -values small -procs 30", CAS_ONE_KEY),
    workload(
        "cas, one key, 5 values, 1% info",
        10_000,
        "-mode rwc -values small -procs 30 -info 0.01",
        CAS_ONE_KEY,
    ),
    workload(
        "cas, one key, 5 values, stale",
        10_000,
        "-mode rwc -values small -procs 30 -inject stale",
        CAS_ONE_KEY,
    ),
    workload(
        "cas, one key, 20 values, 1% info",
        10_000,
        "-mode rwc -values small -domain 20 -procs 30 -info 0.01",
        CAS_ONE_KEY,
    ),
];

/// Histories that are measured at several sizes.
pub const GROWN: [(&str, &str); 3] = [
    ("one key", "-procs 30 -info 0.01"),
    ("keys", "-keys independent -procs 30 -info 0.01"),
    ("cas keys, 5 values", "-keys independent -mode rwc -values small -procs 30 -info 0.01"),
];
