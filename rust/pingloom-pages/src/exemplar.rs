//! Writes exemplars into a page (docs/page-format.md, "Exemplars").

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::definition::{is_label_name, is_text};
use crate::Error;

pub const EXEMPLAR_SLOTS: usize = 16;
pub const COUNTER_EXEMPLARS: usize = 1;
pub const HISTOGRAM_EXEMPLARS: usize = 4;

const BYTES: usize = 8 * EXEMPLAR_SLOTS;
const SEQUENCE: usize = 1; // the slot after the checksum
const LABELS: usize = 32; // where they begin

fn bad(why: &str) -> Error {
    Error::bad("exemplar", why)
}

/// FNV-1a with 64 bits.
pub fn checksum(bytes: &[u8]) -> u64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Returns an exemplar without checksum and sequence.
fn encode(value: f64, labels: &[(&str, &str)]) -> Result<[u8; BYTES], Error> {
    if !value.is_finite() {
        return Err(bad("its value is not finite"));
    }
    if labels.iter().all(|(_, content)| content.is_empty()) {
        return Err(bad("it has no labels with a value")); // an empty label is none
    }
    let mut raw = [0; BYTES];
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    raw[16..24].copy_from_slice(&(now.as_nanos() as u64).to_le_bytes());
    raw[24..LABELS].copy_from_slice(&value.to_le_bytes());
    let mut at = LABELS;
    for (index, (name, content)) in labels.iter().enumerate() {
        if at + 2 + name.len() + content.len() > BYTES {
            return Err(bad("its labels have more than 96 bytes"));
        }
        let twice = labels[..index].iter().any(|(other, _)| other == name);
        if twice || !is_label_name(name) || !is_text(content) {
            return Err(bad("one of its labels is not a label, or is given twice"));
        }
        for text in [name, content] {
            raw[at] = text.len() as u8;
            raw[at + 1..at + 1 + text.len()].copy_from_slice(text.as_bytes());
            at += 1 + text.len();
        }
    }
    Ok(raw)
}

/// Writes an exemplar into its place. It never waits: while another thread writes there, this one
/// is dropped. REQUIRES: the place has EXEMPLAR_SLOTS slots.
pub fn write(place: &[AtomicU64], value: f64, labels: &[(&str, &str)]) -> Result<(), Error> {
    let mut raw = encode(value, labels)?;
    let sequence = &place[SEQUENCE];
    let before = sequence.load(Ordering::Relaxed);
    let odd = before.wrapping_add(1);
    // Acquire: the values are stored after it.
    let mine = |before| {
        sequence.compare_exchange(before, odd, Ordering::Acquire, Ordering::Relaxed).is_ok()
    };
    if before % 2 != 0 || !mine(before) {
        return Ok(());
    }
    let after = before.wrapping_add(2);
    raw[8 * SEQUENCE..8 * SEQUENCE + 8].copy_from_slice(&after.to_le_bytes());
    let sum = checksum(&raw[8..]);
    raw[..8].copy_from_slice(&sum.to_le_bytes());
    for (at, (slot, bytes)) in place.iter().zip(raw.chunks_exact(8)).enumerate() {
        if at != SEQUENCE {
            let mut word = [0; 8];
            word.copy_from_slice(bytes);
            slot.store(u64::from_le_bytes(word), Ordering::Relaxed);
        }
    }
    // Release: the next writer's stores come after these.
    sequence.store(after, Ordering::Release);
    Ok(())
}
