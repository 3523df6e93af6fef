//! Labels and a name for the application from the variables that OpenTelemetry's SDKs read, so that
//! Kubernetes can say which pod an application belongs to without a change to the application.

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

use crate::definition::{check_application, is_label, Labels, MAX_LABELS};
use crate::{sys, Error};

const ATTRIBUTES_VARIABLE: &str = "OTEL_RESOURCE_ATTRIBUTES";
const SERVICE_VARIABLE: &str = "OTEL_SERVICE_NAME";
const MAX_ATTRIBUTES_BYTES: usize = 16384;

/// None for an empty variable, and in a program that runs with raised privileges: that one trusts
/// no environment.
pub fn variable(name: &str) -> Option<OsString> {
    env::var_os(name).filter(|value| !value.is_empty() && !sys::is_privileged())
}

/// The application's name, if the environment has one that can be it.
pub fn service() -> Option<String> {
    let name = variable(SERVICE_VARIABLE)?.into_string().ok()?;
    check_application(&name).ok().map(|()| name)
}

pub fn attributes() -> Result<Labels, Error> {
    read_attributes(variable(ATTRIBUTES_VARIABLE).unwrap_or_default().as_bytes())
}

/// Reads `key=value,key=value`, percent-encoded. One entry that is malformed discards all, as
/// OpenTelemetry demands. What pages do not take as a label is left out. The labels are in the
/// order of the text, have different names, and are at most MAX_LABELS.
fn read_attributes(text: &[u8]) -> Result<Labels, Error> {
    let ignored = |why: &str| Error::bad("OTEL_RESOURCE_ATTRIBUTES is ignored", why);
    if text.len() > MAX_ATTRIBUTES_BYTES {
        return Err(ignored("it is longer than 16384 bytes"));
    }
    let mut made = Labels::new();
    for (number, entry) in text.split(|&byte| byte == b',').map(trimmed).enumerate() {
        if entry.is_empty() {
            continue;
        }
        let (key, value) = read_entry(entry).ok_or_else(|| {
            ignored(&format!("entry {} is no percent-encoded key=value", number + 1))
        })?;
        keep(label_name(&key), value, &mut made);
    }
    Ok(made)
}

fn trimmed(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] = text {
        text = rest;
    }
    while let [rest @ .., b' ' | b'\t'] = text {
        text = rest;
    }
    text
}

fn read_entry(entry: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let equals = entry.iter().position(|&byte| byte == b'=')?;
    let key = percent_decoded(trimmed(&entry[..equals]))?;
    let value = percent_decoded(trimmed(&entry[equals + 1..]))?;
    (!key.is_empty()).then(|| (key, value))
}

/// None if a percent sign is not followed by two hexadecimal digits.
fn percent_decoded(text: &[u8]) -> Option<Vec<u8>> {
    let digit = |at: usize| (*text.get(at)? as char).to_digit(16);
    let mut decoded = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        if text[at] == b'%' {
            decoded.push((digit(at + 1)? * 16 + digit(at + 2)?) as u8);
            at += 3;
        } else {
            decoded.push(text[at]);
            at += 1;
        }
    }
    Some(decoded)
}

/// Turns a key into a label's name: k8s.pod.name becomes k8s_pod_name.
fn label_name(key: &[u8]) -> String {
    let kept = |byte: &u8| if byte.is_ascii_alphanumeric() { *byte as char } else { '_' };
    key.iter().map(kept).collect()
}

/// Adds a label unless it is of no use. A later one of the same name replaces an earlier one, as in
/// OpenTelemetry. An empty value is the same as no label to Prometheus, and summaries refuse their
/// own label.
fn keep(name: String, value: Vec<u8>, made: &mut Labels) {
    let value = match String::from_utf8(value) {
        Ok(value) if !value.is_empty() && name != "quantile" && is_label(&name, &value) => value,
        _ => return,
    };
    if let Some((_, earlier)) = made.iter_mut().find(|(other, _)| *other == name) {
        *earlier = value;
    } else if made.len() < MAX_LABELS {
        made.push((name, value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(wanted: &[(&str, &str)]) -> Labels {
        wanted.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn attributes_become_labels_in_their_order() {
        let long = "x".repeat(129);
        let (long_name, long_value) = (format!("{long}=5,last=6"), format!("v={long}{long}"));
        for (text, wanted) in [
            ("", &[][..]),
            ("k8s.pod.name=shop-0,b=prod", &[("k8s_pod_name", "shop-0"), ("b", "prod")]),
            (" b =\t2 ,, a=1,", &[("b", "2"), ("a", "1")]),
            ("a=x=y", &[("a", "x=y")]),
            ("a=%2c%3D%25%20", &[("a", ",=% ")]),
            ("a%2eb-c=%C3%84", &[("a_b_c", "Ä")]),
            ("a=1+1", &[("a", "1+1")]),
            ("a.b=1,c=2,a_b=3", &[("a_b", "3"), ("c", "2")]),
            ("le=1,quantile=2,__n=2,..x=3,1a=4,e=,c=%0A,n=%00,u=%ff", &[]),
            (&long_name, &[("last", "6")]),
            (&long_value, &[]),
        ] {
            assert_eq!(read_attributes(text.as_bytes()).unwrap(), labels(wanted), "{text}");
        }
        assert_eq!(read_attributes(b"a=\xff,b=1").unwrap(), labels(&[("b", "1")]));
        let many: String = (0..100).map(|n| format!("l{n}=v,")).collect();
        let kept = read_attributes(many.as_bytes()).unwrap();
        assert_eq!((kept.len(), &*kept[15].0), (16, "l15"));
    }

    #[test]
    fn a_malformed_entry_discards_all() {
        let longest = format!("a=1,{}", " ".repeat(MAX_ATTRIBUTES_BYTES - 4));
        assert_eq!(read_attributes(longest.as_bytes()).unwrap().len(), 1);
        let longer = longest + " ";
        for bad in [
            "a",
            "a=1,b",
            "=1",
            " =1",
            "a=%",
            "a=%2",
            "a=%2,b=1",
            "a=%gg",
            "a=%-1",
            "a%=1",
            "a=1,b=%zz",
            &longer,
        ] {
            assert!(read_attributes(bad.as_bytes()).is_err(), "{bad}");
        }
        let error = read_attributes(b"a=1,b").unwrap_err().to_string();
        assert!(error.contains("entry 2"), "{error}");
    }
}
