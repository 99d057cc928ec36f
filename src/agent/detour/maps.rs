//! What a process has mapped, by its `/proc/<pid>/maps`, and where there is room beside it. Pure.

/// How far apart two places may be for a jump with a 32-bit distance, with room to spare.
const REACH: u64 = 0x7000_0000;
/// Kept free on both sides of what we map.
const MARGIN: u64 = 0x1000;
const LOWEST: u64 = 0x1_0000;
/// Below the last page that a process can have.
const HIGHEST: u64 = 0x7fff_ffff_e000;

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    pub start: u64,
    pub end: u64,
    /// As in `r-xp`.
    pub rights: String,
    /// A path or a name in brackets; empty for memory that is only the process's own.
    pub name: String,
}

impl Mapping {
    pub fn length(&self) -> u64 {
        self.end - self.start
    }

    /// It grows into the gap below it.
    fn grows_down(&self) -> bool {
        self.name == "[stack]"
    }
}

/// The mappings in the order of their addresses; lines that are none are skipped.
pub fn parse(text: &str) -> Vec<Mapping> {
    let mut mappings: Vec<Mapping> = text.lines().filter_map(parse_line).collect();
    mappings.sort_by_key(|mapping| mapping.start);
    mappings
}

fn parse_line(line: &str) -> Option<Mapping> {
    let mut rest = line;
    let mut field = || {
        rest = rest.trim_start_matches(' ');
        let (field, after) = rest.split_once(' ').unwrap_or((rest, ""));
        rest = after;
        field
    };
    let range = field();
    let rights = field().to_owned();
    let _offset = field();
    let _device = field();
    let _inode = field();
    let (start, end) = range.split_once('-')?;
    let start = u64::from_str_radix(start, 16).ok()?;
    let end = u64::from_str_radix(end, 16).ok().filter(|end| *end > start)?;
    Some(Mapping { start, end, rights, name: rest.trim_start_matches(' ').to_owned() })
}

/// The free place of this length that is nearest to `near` and within reach of a jump from there.
///
/// The gap that a stack grows into is left alone.
pub fn free_place(mappings: &[Mapping], near: u64, length: u64) -> Option<u64> {
    let below = std::iter::once(LOWEST).chain(mappings.iter().map(|mapping| mapping.end));
    let above = mappings.iter().map(|mapping| (mapping.start, mapping.grows_down()));
    let gaps = below.zip(above.chain(std::iter::once((HIGHEST, false))));
    gaps.filter(|(_, (_, stack))| !stack)
        .filter_map(|(start, (end, _))| nearest_in(start, end, near, length))
        .filter(|place| place.abs_diff(near) < REACH - length)
        .min_by_key(|place| place.abs_diff(near))
}

fn nearest_in(start: u64, end: u64, near: u64, length: u64) -> Option<u64> {
    let first = start.checked_add(MARGIN)?;
    let last = end.checked_sub(MARGIN + length)?;
    (first <= last && last < HIGHEST).then(|| (near & !0xfff).clamp(first, last))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPICAL: &str = "\
400000-401000 r-xp 00000000 fe:00 18500                      /bin/a name with blanks
7f01f3021000-7f01f3025000 r--p 00000000 00:00 0                          [vvar]
7f01f3028000-7f01f302a000 r-xp 00000000 00:00 0                          [vdso]
7f01f302a000-7f01f302b000 rw-p 00000000 00:00 0 
7ffc7cefb000-7ffc7cf1c000 rw-p 00000000 00:00 0                          [stack]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
";

    #[test]
    fn lines_are_read_with_their_names() {
        let mappings = parse(TYPICAL);
        assert_eq!(mappings.len(), 6);
        assert_eq!(mappings[0].name, "/bin/a name with blanks");
        let vdso = &mappings[2];
        assert_eq!((vdso.start, vdso.length()), (0x7f01_f302_8000, 0x2000));
        assert_eq!((&*vdso.rights, &*vdso.name), ("r-xp", "[vdso]"));
        assert_eq!(mappings[3].name, "");
        assert_eq!(parse("nonsense\n12-zz r-xp\n20-10 r-xp 0 0:0 0\n\n"), []);
    }

    fn place(text: &str, near: u64, length: u64) -> Option<u64> {
        free_place(&parse(text), near, length)
    }

    #[test]
    fn the_nearest_gap_that_is_wide_enough_is_taken() {
        let near = 0x7f01_f302_8000;
        // Between [vvar] and [vdso] there are three pages: one with a margin on both sides.
        assert_eq!(place(TYPICAL, near, 0x1000), Some(0x7f01_f302_6000));
        // Four pages fit above the last mapping, whose gap ends at a stack, or below the first.
        assert_eq!(place(TYPICAL, near, 0x4000), Some(0x7f01_f301_c000));
    }

    #[test]
    fn a_place_out_of_reach_or_below_a_stack_is_none() {
        let full = "1000-7f0000000000 r-xp 0 0:0 0\n7f0000000000-7f0100000000 r-xp 0 0:0 0 [vdso]\n\
                    7f0200000000-7f0200001000 rw-p 0 0:0 0 [stack]\n";
        assert_eq!(place(full, 0x7f00_0000_0000, 0x4000), None);
        let alone = "7ffff7fff000-7ffff8000000 r-xp 0 0:0 0 [vdso]\n";
        let found = place(alone, 0x7fff_f7ff_f000, 0x4000).expect("much room");
        assert!(found.abs_diff(0x7fff_f7ff_f000) < REACH);
        assert_eq!(place("", 0x7fff_f7ff_f000, 0x4000), Some(0x7fff_f7ff_f000));
        assert_eq!(place("", 0xffff_ffff_f000_0000, 0x4000), None);
    }
}
