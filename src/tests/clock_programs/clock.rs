//! Says its wall and monotonic clocks, in ns, and what it found wrong so far: `wall monotonic wrong`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

static WRONG: AtomicU64 = AtomicU64::new(0);

fn read_clocks() {
    let mut last = Instant::now();
    loop {
        for _ in 0..500 {
            let now = Instant::now();
            WRONG.fetch_add(u64::from(now < last), Ordering::Relaxed);
            last = now;
            std::hint::black_box(SystemTime::now());
        }
        std::thread::sleep(Duration::from_micros(100));
    }
}

fn main() {
    let begun = Instant::now();
    for _ in 0..4 {
        std::thread::spawn(read_clocks);
    }
    loop {
        let wall = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_nanos();
        println!("{wall} {} {}", begun.elapsed().as_nanos(), WRONG.load(Ordering::Relaxed));
        std::thread::sleep(Duration::from_millis(2));
    }
}
