//! How wide a line may be where a person reads it.

/// Where nobody says: as wide as our other reports.
const USUAL: usize = 100;

/// Long lines are hard to follow, and on narrower ones nothing fits.
const LIMITS: (usize, usize) = (60, 120);

/// Columns of the terminal behind stdout, as `COLUMNS` or the terminal itself tells.
pub fn columns() -> usize {
    let said = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let columns: usize = said.or_else(of_terminal).unwrap_or(USUAL);
    columns.clamp(LIMITS.0, LIMITS.1)
}

fn of_terminal() -> Option<usize> {
    let mut size = libc::winsize { ws_row: 0, ws_col: 0, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: the request fills the struct that it is given, and nothing else.
    let answer = unsafe { libc::ioctl(libc::STDOUT_FILENO, libc::TIOCGWINSZ, &mut size) };
    (answer == 0 && size.ws_col > 0).then_some(usize::from(size.ws_col))
}
