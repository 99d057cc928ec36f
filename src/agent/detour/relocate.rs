//! Moves the first instructions of a function to another place, where they do what they did. Pure.

use anyhow::{Context, bail, ensure};
use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Decoder, DecoderOptions, FlowControl, Instruction,
    InstructionBlock,
};

/// The length of the jump that takes a function's place.
pub const JUMP_LENGTH: usize = 5;

const JUMP: u8 = 0xe9;
const BITS: u32 = 64;

/// A function's beginning, moved: it does what the beginning did, then jumps to the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    pub code: Vec<u8>,
    /// How many bytes of the function it stands for.
    pub length: usize,
}

/// Moves as many whole instructions as a jump needs room, from `address` to `to`.
///
/// Refused where the function itself jumps into what a jump would overwrite.
pub fn move_beginning(code: &[u8], address: u64, to: u64) -> anyhow::Result<Moved> {
    let beginning = first_instructions(code, address)?;
    let length: usize = beginning.iter().map(Instruction::len).sum();
    let overwritten = address + 1..address + JUMP_LENGTH as u64;
    for instruction in decode(code, address) {
        let target = instruction.near_branch_target();
        ensure!(
            !overwritten.contains(&target),
            "the function at {address:x} jumps back to {target:x}, where a jump would stand"
        );
    }
    let block = InstructionBlock::new(&beginning, to);
    let moved = BlockEncoder::encode(BITS, block, BlockEncoderOptions::NONE);
    let mut code = moved.context("move the function's beginning")?.code_buffer;
    code.extend(jump(to + code.len() as u64, address + length as u64)?);
    Ok(Moved { code, length })
}

fn first_instructions(code: &[u8], address: u64) -> anyhow::Result<Vec<Instruction>> {
    let mut found = Vec::new();
    let mut length = 0;
    for instruction in decode(code, address) {
        ensure!(!instruction.is_invalid(), "the function at {address:x} has no readable beginning");
        length += instruction.len();
        found.push(instruction);
        if length >= JUMP_LENGTH {
            return Ok(found);
        }
        let goes_on = matches!(
            instruction.flow_control(),
            FlowControl::Next | FlowControl::ConditionalBranch
        );
        ensure!(goes_on, "the function at {address:x} ends before a jump's length");
    }
    bail!("the function at {address:x} is shorter than a jump")
}

fn decode(code: &[u8], address: u64) -> impl Iterator<Item = Instruction> {
    Decoder::with_ip(BITS, code, address, DecoderOptions::NONE).into_iter()
}

/// The jump that stands at `from` and leads to `to`.
pub fn jump(from: u64, to: u64) -> anyhow::Result<[u8; JUMP_LENGTH]> {
    let distance = to.wrapping_sub(from.wrapping_add(JUMP_LENGTH as u64)) as i64;
    let distance = i32::try_from(distance)
        .with_context(|| format!("{to:x} is too far from {from:x} for a jump"))?;
    let mut code = [JUMP; JUMP_LENGTH];
    code[1..].copy_from_slice(&distance.to_le_bytes());
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: u64 = 0x7f00_0000_0810;
    const TO: u64 = 0x7f00_0010_0800;

    fn moved(code: &[u8]) -> anyhow::Result<Moved> {
        move_beginning(code, AT, TO)
    }

    #[test]
    fn plain_instructions_are_moved_as_they_are() {
        // push rbp; mov rbp, rsp; and rsp, -16; ret
        let code = [0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xf0, 0xc3];
        let Moved { code: moved, length } = moved(&code).expect("movable");
        assert_eq!((length, &moved[..8]), (8, &code[..8]));
        assert_eq!(moved[8..], jump(TO + 8, AT + 8).expect("near"));
    }

    #[test]
    fn what_is_relative_to_the_place_still_names_the_same_address() {
        // push rbp; lea r10, [rip - 0x6818]; ret
        let code = [0x55, 0x4c, 0x8d, 0x15, 0xe8, 0x97, 0xff, 0xff, 0xc3];
        let named = |code: &[u8], at| {
            let found = decode(code, at).find(Instruction::is_ip_rel_memory_operand);
            found.expect("such an operand").ip_rel_memory_address()
        };
        let Moved { code: moved, length } = moved(&code).expect("movable");
        assert_eq!(length, 8);
        assert_eq!(named(&moved, TO), named(&code, AT));
        // A short branch forward becomes a long one to the same place.
        let branch = [0x85, 0xff, 0x75, 0x10, 0x90, 0xc3];
        let moved = move_beginning(&branch, AT, TO).expect("movable");
        let target = decode(&moved.code, TO).map(|i| i.near_branch_target()).find(|to| *to != 0);
        assert_eq!(target, Some(AT + 4 + 0x10));
    }

    #[test]
    fn what_cannot_be_moved_is_refused() {
        let cases: [(&[u8], &str); 5] = [
            (&[0x90, 0xc3], "ends before a jump's length"),
            (&[0x90, 0x90], "is shorter than a jump"),
            (&[], "is shorter than a jump"),
            (&[0x06, 0x06, 0x06, 0x06, 0x06], "has no readable beginning"),
            // Five one-byte instructions, then a loop back to the third of them.
            (&[0x90, 0x90, 0x90, 0x90, 0x90, 0xeb, 0xfb, 0xc3], "jumps back to 7f0000000812"),
        ];
        for (code, expected) in cases {
            let error = moved(code).expect_err("immovable").to_string();
            assert!(error.contains(expected), "{code:x?}: {error}");
        }
    }

    #[test]
    fn jumps_reach_two_gibibytes() {
        assert_eq!(jump(0x1000, 0x1005).expect("near"), [0xe9, 0, 0, 0, 0]);
        assert_eq!(jump(0x1000, 0x1000).expect("near"), [0xe9, 0xfb, 0xff, 0xff, 0xff]);
        assert!(jump(0, 0x7fff_ffff + 5).is_ok());
        assert!(jump(0, 0x8000_0000 + 5).is_err());
        assert!(jump(0x9000_0000, 0).is_err());
    }
}
