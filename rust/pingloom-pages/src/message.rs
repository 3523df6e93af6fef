//! The messages between an application and its agent (docs/page-format.md, "Registration").
//! What the agent sends is not trusted: every length is checked before its bytes are used.

const MAGIC: u32 = 0x4752_4c50; // the bytes "PLRG"
const VERSION: u16 = 1;
const HEAD_BYTES: usize = 16;
pub const MAX_MESSAGE_BYTES: usize = HEAD_BYTES + 16384;
const MAX_SHOWN: usize = 200; // bytes of an agent's text that are shown

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    Register = 1,
    Page = 2,
    Adopt = 3,
    Define = 4,
    Release = 5,
    Remove = 6,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Body {
    Registered { owner: u64 },
    Granted { generation: u64 },
    Defined,
    Removed,
    Refused { reason: u16, why: String },
}

pub const QUOTA: u16 = 4;
pub const UNAVAILABLE: u16 = 8;

#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub page: u32,
    pub body: Body,
}

/// Encodes in little endian. REQUIRES: no text is longer than its length field can express.
#[derive(Default)]
pub struct Encoder(pub Vec<u8>);

impl Encoder {
    pub fn u8(&mut self, value: u8) {
        self.0.push(value);
    }
    pub fn u16(&mut self, value: u16) {
        self.0.extend(value.to_le_bytes());
    }
    pub fn f64(&mut self, value: f64) {
        self.0.extend(value.to_le_bytes());
    }
    pub fn string(&mut self, text: &str) {
        self.u8(text.len() as u8);
        self.0.extend(text.as_bytes());
    }
    pub fn text(&mut self, text: &str) {
        self.u16(text.len() as u16);
        self.0.extend(text.as_bytes());
    }
    pub fn labels(&mut self, labels: &[(String, String)]) {
        for (name, value) in labels {
            self.string(name);
            self.text(value);
        }
    }
}

pub fn encode(request: Request, page: u32, body: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(HEAD_BYTES + body.len());
    out.extend(MAGIC.to_le_bytes());
    out.extend(VERSION.to_le_bytes());
    out.extend((request as u16).to_le_bytes());
    out.extend(page.to_le_bytes());
    out.extend((body.len() as u32).to_le_bytes());
    out.extend(body);
    out
}

fn number<const BYTES: usize>(bytes: &[u8], at: usize) -> Option<[u8; BYTES]> {
    bytes.get(at..at + BYTES)?.try_into().ok()
}

/// None if it is not exactly one of the answers.
pub fn parse(message: &[u8]) -> Option<Answer> {
    let body = message.get(HEAD_BYTES..)?;
    if u32::from_le_bytes(number(message, 0)?) != MAGIC
        || u16::from_le_bytes(number(message, 4)?) != VERSION
        || u32::from_le_bytes(number(message, 12)?) as usize != body.len()
    {
        return None;
    }
    let body = match (u16::from_le_bytes(number(message, 6)?), body.len()) {
        (101, 12) => Body::Registered { owner: u64::from_le_bytes(number(body, 0)?) },
        (102, 8) => Body::Granted { generation: u64::from_le_bytes(number(body, 0)?) },
        (103, 0) => Body::Defined,
        (105, 0) => Body::Removed,
        (104, _) => parse_refusal(body)?,
        _ => return None,
    };
    Some(Answer { page: u32::from_le_bytes(number(message, 8)?), body })
}

fn parse_refusal(body: &[u8]) -> Option<Body> {
    let text = body.get(4..)?;
    if usize::from(u16::from_le_bytes(number(body, 2)?)) != text.len() {
        return None;
    }
    let shown = String::from_utf8_lossy(&text[..text.len().min(MAX_SHOWN)]);
    let why = shown.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
    Some(Body::Refused { reason: u16::from_le_bytes(number(body, 0)?), why })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut message = encode(Request::Register, 7, body);
        message[6..8].copy_from_slice(&kind.to_le_bytes());
        message
    }

    #[test]
    fn answers_are_read() {
        let owner = [&1000u64.to_le_bytes()[..], &[8, 0, 0, 0]].concat();
        let read = parse(&answer(101, &owner)).unwrap();
        assert_eq!((read.page, read.body), (7, Body::Registered { owner: 1000 }));
        let read = parse(&answer(102, &9u64.to_le_bytes())).unwrap();
        assert_eq!(read.body, Body::Granted { generation: 9 });
        assert_eq!(parse(&answer(103, &[])).unwrap().body, Body::Defined);
        assert_eq!(parse(&answer(105, &[])).unwrap().body, Body::Removed);
        let read = parse(&answer(104, b"\x04\0\x04\0no\x1b!")).unwrap();
        assert_eq!(read.body, Body::Refused { reason: 4, why: "no?!".into() });
    }

    #[test]
    fn a_long_reason_is_cut() {
        let body = [&[4, 0, 0xe8, 3][..], &[b'x'; 1000]].concat();
        match parse(&answer(104, &body)).unwrap().body {
            Body::Refused { why, .. } => assert_eq!(why.len(), MAX_SHOWN),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn everything_else_is_refused() {
        let good = answer(104, b"\x04\0\x02\0no");
        assert!(parse(&good).is_some());
        for length in 0..good.len() {
            assert_eq!(parse(&good[..length]), None, "{length} bytes");
        }
        for at in (0..8).chain(12..16).chain(18..20) {
            let mut changed = good.clone();
            changed[at] ^= 0x80;
            assert_eq!(parse(&changed), None, "byte {at}");
        }
        for (kind, bytes) in
            [(101, 11), (101, 13), (102, 7), (102, 9), (103, 1), (104, 3), (105, 1), (5, 0)]
        {
            assert_eq!(parse(&answer(kind, &vec![0; bytes])), None, "{kind} with {bytes} bytes");
        }
    }
}
