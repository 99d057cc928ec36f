//! The code that stands in for a process's time functions. It is copied, never called from here.
//!
//! It lies one page below its control page and knows it only by that distance. It asks the original
//! function, whose fast path stays, and adds what the control page says; where that is nothing, the
//! reading stays untouched.
//!
//! Shifted as the wall clock: `CLOCK_REALTIME` and its coarse form, `CLOCK_TAI`, `gettimeofday`, `time`.
//! As the monotonic clock, together, so that none contradicts another: `CLOCK_MONOTONIC`, its coarse
//! and raw forms, and `CLOCK_BOOTTIME`. Clocks of CPU time and of devices stay true.

use super::control::{
    CALLS, CLOCK_GETTIME, FUNCTIONS, GETTIMEOFDAY, IN_FORCE, LAST_NUMBER, MONOTONIC, PAGE, SLOTS,
    WALL,
};

const WALL_CLOCKS: u32 =
    1 << libc::CLOCK_REALTIME | 1 << libc::CLOCK_REALTIME_COARSE | 1 << libc::CLOCK_TAI;
const MONOTONIC_CLOCKS: u32 = 1 << libc::CLOCK_MONOTONIC
    | 1 << libc::CLOCK_MONOTONIC_RAW
    | 1 << libc::CLOCK_MONOTONIC_COARSE
    | 1 << libc::CLOCK_BOOTTIME;

/// Where in the code page the moved beginnings of the original functions are.
pub const MOVED_CLOCK_GETTIME: u64 = 0x800;
pub const MOVED_GETTIMEOFDAY: u64 = 0xa00;
pub const MOVED_LENGTH: usize = 0x200;

/// The functions that are detoured, in the order of [`entries`].
pub const NAMES: [&str; FUNCTIONS] = ["__vdso_clock_gettime", "__vdso_gettimeofday", "__vdso_time"];

std::arch::global_asm!(
    ".hidden stormglass_clock_code",
    ".hidden stormglass_clock_gettimeofday",
    ".hidden stormglass_clock_time",
    ".hidden stormglass_clock_end",
    ".globl stormglass_clock_code",
    ".globl stormglass_clock_gettimeofday",
    ".globl stormglass_clock_time",
    ".globl stormglass_clock_end",
    // edi: the clock, rsi: where its reading goes.
    ".p2align 4",
    "stormglass_clock_code:",
    "    push rbx",
    "    push r12",
    "    push r13",
    "    mov ebx, edi",
    "    mov r12, rsi",
    "    lea r13, [rip + stormglass_clock_code + {PAGE}]",
    "    call qword ptr [r13 + {CLOCK_GETTIME}]",
    "    test eax, eax",
    "    jnz 9f",
    "    cmp ebx, 31",
    "    ja 9f",
    "    mov ecx, ebx",
    "    mov edx, 1",
    "    shl edx, cl",
    "    mov ebx, {WALL}",
    "    test edx, {WALL_CLOCKS}",
    "    jnz 2f",
    "    mov ebx, {MONOTONIC}",
    "    test edx, {MONOTONIC_CLOCKS}",
    "    jz 9f",
    // r9: the true reading in nanoseconds; rbx: which shift of a slot is its.
    "2:  imul r9, qword ptr [r12], 1000000000",
    "    add r9, qword ptr [r12 + 8]",
    // The last number first and the first number last: the writer goes the other way round.
    "3:  movzx r8d, byte ptr [r13 + {IN_FORCE}]",
    "    and r8d, 1",
    "    shl r8d, 6",
    "    lea r8, [r13 + r8 + {SLOTS}]",
    "    mov r10, qword ptr [r8 + {LAST_NUMBER}]",
    "    mov rax, r9",
    "    sub rax, qword ptr [r8 + rbx]",
    "    mov r11, qword ptr [r8 + rbx + 8]",
    "    mov rcx, qword ptr [r8 + rbx + 16]",
    "    cmp r10, qword ptr [r8]",
    "    jne 3b",
    "    mov rdx, r11",
    "    or rdx, rcx",
    "    jz 8f",
    "    imul rcx",
    "    shrd rax, rdx, 32",
    "    add r9, r11",
    "    inc qword ptr [r13 + rbx + {CALLS}]",
    "    add rax, r9",
    "    jns 4f",
    "    xor eax, eax",
    "4:  xor edx, edx",
    "    mov ecx, 1000000000",
    "    div rcx",
    "    mov qword ptr [r12], rax",
    "    mov qword ptr [r12 + 8], rdx",
    "8:  xor eax, eax",
    "9:  pop r13",
    "    pop r12",
    "    pop rbx",
    "    ret",
    // rdi: seconds and microseconds, or none; rsi: the time zone, or none.
    ".p2align 4",
    "stormglass_clock_gettimeofday:",
    "    push rbx",
    "    push r12",
    "    sub rsp, 24",
    "    mov rbx, rdi",
    "    test rsi, rsi",
    "    jz 2f",
    "    xor edi, edi",
    "    call qword ptr [rip + stormglass_clock_code + {PAGE} + {GETTIMEOFDAY}]",
    "2:  xor eax, eax",
    "    test rbx, rbx",
    "    jz 9f",
    "    xor edi, edi",
    "    mov rsi, rsp",
    "    call stormglass_clock_code",
    "    test eax, eax",
    "    jnz 9f",
    "    mov rax, qword ptr [rsp]",
    "    mov qword ptr [rbx], rax",
    "    mov rax, qword ptr [rsp + 8]",
    "    xor edx, edx",
    "    mov ecx, 1000",
    "    div rcx",
    "    mov qword ptr [rbx + 8], rax",
    "    xor eax, eax",
    "9:  add rsp, 24",
    "    pop r12",
    "    pop rbx",
    "    ret",
    // rdi: where the seconds go beside rax, or none.
    ".p2align 4",
    "stormglass_clock_time:",
    "    push rbx",
    "    sub rsp, 16",
    "    mov rbx, rdi",
    "    xor edi, edi",
    "    mov rsi, rsp",
    "    call stormglass_clock_code",
    "    mov rax, qword ptr [rsp]",
    "    test rbx, rbx",
    "    jz 9f",
    "    mov qword ptr [rbx], rax",
    "9:  add rsp, 16",
    "    pop rbx",
    "    ret",
    "stormglass_clock_end:",
    PAGE = const PAGE,
    CLOCK_GETTIME = const CLOCK_GETTIME,
    GETTIMEOFDAY = const GETTIMEOFDAY,
    IN_FORCE = const IN_FORCE,
    SLOTS = const SLOTS,
    WALL = const WALL,
    MONOTONIC = const MONOTONIC,
    LAST_NUMBER = const LAST_NUMBER,
    CALLS = const CALLS,
    WALL_CLOCKS = const WALL_CLOCKS,
    MONOTONIC_CLOCKS = const MONOTONIC_CLOCKS,
);

unsafe extern "C" {
    static stormglass_clock_code: u8;
    static stormglass_clock_gettimeofday: u8;
    static stormglass_clock_time: u8;
    static stormglass_clock_end: u8;
}

/// The code's bytes.
pub fn bytes() -> &'static [u8] {
    let start = &raw const stormglass_clock_code;
    let end = &raw const stormglass_clock_end;
    // SAFETY: both labels are of the one block of code above, which is never written to.
    unsafe { std::slice::from_raw_parts(start, end.addr() - start.addr()) }
}

/// How far from the code's first byte each of [`NAMES`] is answered.
pub fn entries() -> [u64; FUNCTIONS] {
    let start = (&raw const stormglass_clock_code).addr();
    let later = [&raw const stormglass_clock_gettimeofday, &raw const stormglass_clock_time];
    let [gettimeofday, time] = later.map(|label| (label.addr() - start) as u64);
    [0, gettimeofday, time]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_code_fits_below_the_moved_beginnings() {
        assert!((bytes().len() as u64) < MOVED_CLOCK_GETTIME, "{} bytes", bytes().len());
        let [first, second, third] = entries();
        assert!(first < second && second < third && third < bytes().len() as u64);
    }
}
