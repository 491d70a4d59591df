//! The only builder of keys and field names.
//!
//! A counter's key is `<prefix>:<module>:<rule>:<user>`, the configuration hash is `<prefix>:config`, and its fields are
//! `<module>.<rule>.check`, `.interval`, `.limit`, and `log.check`.
//!
//! Ordinary text stands literally. What could collide or confuse is percent-encoded byte by byte (`%3A`): `:`, `%`, braces,
//! control and format characters, white space, lone surrogates; in a field's module also `.`. A part longer than
//! 128 bytes after encoding becomes its beginning, `%~` and the SHA-256 of the whole raw part in hexadecimal, 128 bytes at
//! most. Since a literal `%` is always followed by two hexadecimal digits, no two parts share a spelling.

use std::fmt::Write as _;

use sha2::{Digest, Sha256};

/// Bytes of an encoded part that stand literally at most.
const MAX_PART: usize = 128;
/// Separates the beginning of a long part from its digest.
const DIGEST_MARK: &str = "%~";
/// Bytes of a long part's beginning: what the mark and 64 hexadecimal digits leave of `MAX_PART`.
const MAX_BEGINNING: usize = MAX_PART - DIGEST_MARK.len() - 64;
/// Bytes that a key prefix may have.
const MAX_PREFIX: usize = 64;

/// The field that closes recording for all rules.
pub(crate) const LOG_CHECK: &str = "log.check";
/// The last part of a rule's three field names, in the order in which they are read.
pub(crate) const SUFFIXES: [&str; 3] = ["check", "interval", "limit"];

/// Builds the names under which a limiter's data stands.
///
/// ```
/// use tollgate::Keys;
/// # fn main() -> Result<(), tollgate::KeyError> {
/// let keys = Keys::new("ratelimit")?;
/// assert_eq!(keys.config(), "ratelimit:config");
/// assert_eq!(keys.counter("wms", "Order.list", "u1"), "ratelimit:wms:Order.list:u1");
/// assert_eq!(keys.counter("wms", "Order.list", "a:b"), "ratelimit:wms:Order.list:a%3Ab");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    prefix: String,
}

impl Keys {
    /// Names under `prefix`, which is `ratelimit` unless an operator chose another.
    ///
    /// # Errors
    /// [`KeyError`] when the prefix is empty, longer than 64 bytes, or holds white space, control characters or braces.
    pub fn new(prefix: &str) -> Result<Self, KeyError> {
        let bad = |c: char| c.is_whitespace() || c.is_control() || matches!(c, '{' | '}');
        if prefix.is_empty() || prefix.len() > MAX_PREFIX || prefix.contains(bad) {
            return Err(KeyError { prefix: prefix.to_owned() });
        }
        Ok(Self { prefix: prefix.to_owned() })
    }

    /// The key of the configuration hash.
    pub fn config(&self) -> String {
        format!("{}:config", self.prefix)
    }

    /// The key of one user's counter under one rule.
    pub fn counter(&self, module: &str, rule: &str, user: &str) -> String {
        let mut key = self.counters_of(module, rule);
        write_part(&mut key, user.as_bytes(), |_| false);
        key
    }

    /// What the keys of one rule's counters begin with, the last colon included.
    pub(crate) fn counters_of(&self, module: &str, rule: &str) -> String {
        let mut key = format!("{}:", self.prefix);
        write_part(&mut key, module.as_bytes(), |_| false);
        key.push(':');
        write_part(&mut key, rule.as_bytes(), |_| false);
        key.push(':');
        key
    }

    /// A rule's counter key for `user` (WTF-8), where `counters` is what [`Keys::counters_of`] gave.
    pub(crate) fn counter_in(counters: &str, user: &[u8]) -> String {
        let mut key = String::with_capacity(counters.len() + user.len().min(MAX_PART));
        key.push_str(counters);
        write_part(&mut key, user, |_| false);
        key
    }
}

/// `<module>.<rule>`: what a rule's fields begin with, and its name in a log line.
pub(crate) fn label(module: &str, rule: &str) -> String {
    let mut label = String::new();
    write_part(&mut label, module.as_bytes(), |c| c == '.');
    label.push('.');
    write_part(&mut label, rule.as_bytes(), |_| false);
    label
}

/// A key prefix that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "key prefix {prefix:?} is not usable: give 1 to 64 bytes without white space, control characters or braces"
)]
pub struct KeyError {
    /// The prefix, as given.
    pub prefix: String,
}

/// Appends `part` (WTF-8), encoded; `also` names characters to encode beside the usual ones.
fn write_part(key: &mut String, part: &[u8], also: fn(char) -> bool) {
    let start = key.len();
    let mut beginning = start;
    for chunk in part.utf8_chunks() {
        for c in chunk.valid().chars() {
            if confusing(c) || also(c) {
                let mut bytes = [0; 4];
                escape(key, c.encode_utf8(&mut bytes).as_bytes());
            } else {
                key.push(c);
            }
            if !grew_within(key, start, &mut beginning) {
                return digest(key, beginning, part);
            }
        }
        // Only the bytes of lone surrogates are left over.
        for byte in chunk.invalid() {
            escape(key, &[*byte]);
            if !grew_within(key, start, &mut beginning) {
                return digest(key, beginning, part);
            }
        }
    }
}

/// Remembers where the beginning of a long part would end; false once the part is too long to stand literally.
fn grew_within(key: &str, start: usize, beginning: &mut usize) -> bool {
    if key.len() - start <= MAX_BEGINNING {
        *beginning = key.len();
    }
    key.len() - start <= MAX_PART
}

fn digest(key: &mut String, beginning: usize, part: &[u8]) {
    key.truncate(beginning);
    key.push_str(DIGEST_MARK);
    for byte in Sha256::digest(part) {
        hex(key, byte);
    }
}

fn escape(key: &mut String, bytes: &[u8]) {
    for byte in bytes {
        key.push('%');
        hex(key, *byte);
    }
}

fn hex(key: &mut String, byte: u8) {
    // Writing to a String can't fail.
    let _ = write!(key, "{byte:02X}");
}

/// Characters that separate parts, mark an escape or a cluster's hash tag, or can't be seen.
fn confusing(c: char) -> bool {
    if c.is_ascii() {
        return matches!(c, '\0'..=' ' | '\x7f' | ':' | '%' | '{' | '}');
    }
    // White space, controls, and the format characters (Unicode category Cf) that change how a line looks.
    c.is_whitespace()
        || c.is_control()
        || matches!(c,
            '\u{AD}' | '\u{61C}' | '\u{180E}' | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFF9}'..='\u{FFFB}' | '\u{E0000}'..='\u{E007F}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn key(module: &str, rule: &str, user: &[u8]) -> String {
        let keys = Keys::new("ratelimit").expect("a usable prefix");
        Keys::counter_in(&keys.counters_of(module, rule), user)
    }

    #[test]
    fn exact_bytes() {
        let rule = "WmsInventoryController.queryInventoryOpLogList";
        let cases: [(&str, &str, &[u8], &str); 12] = [
            ("wms", rule, b"u1", "ratelimit:wms:WmsInventoryController.queryInventoryOpLogList:u1"),
            ("wms", "Order.list", "张三".as_bytes(), "ratelimit:wms:Order.list:张三"),
            ("wms", "Order.list", b"a@b.com-1_2/3", "ratelimit:wms:Order.list:a@b.com-1_2/3"),
            ("a:b", "c", b"d", "ratelimit:a%3Ab:c:d"),
            ("a", "b:c", b"d", "ratelimit:a:b%3Ac:d"),
            ("a", "b", b"c:d", "ratelimit:a:b:c%3Ad"),
            ("a", "b", b"%3A", "ratelimit:a:b:%253A"),
            ("a", "b", b"{u}", "ratelimit:a:b:%7Bu%7D"),
            ("a", "b", b" x\0\r\n", "ratelimit:a:b:%20x%00%0D%0A"),
            ("a", "b", "\u{3000}\u{202E}".as_bytes(), "ratelimit:a:b:%E3%80%80%E2%80%AE"),
            ("a", "b", b"\xED\xA0\x80x", "ratelimit:a:b:%ED%A0%80x"),
            ("a.b", "c", "😀".as_bytes(), "ratelimit:a.b:c:😀"),
        ];
        for (module, rule, user, expected) in cases {
            assert_eq!(key(module, rule, user), expected);
        }
    }

    #[test]
    fn long_parts_become_beginning_and_digest() {
        let longest = "x".repeat(128);
        assert_eq!(key("a", "b", longest.as_bytes()), format!("ratelimit:a:b:{longest}"));
        let digest = "0EC9EB33E74510BCDD1F2EA55206E82F21649C5C2BECBF2B433EB475B34C01BD";
        assert_eq!(
            key("a", "b", "x".repeat(129).as_bytes()),
            format!("ratelimit:a:b:{}%~{digest}", "x".repeat(62))
        );
        // The beginning never ends within a character or an escape.
        let part = key("a", "b", &b"\xED\xA0\x80".repeat(50));
        assert!(part.starts_with("ratelimit:a:b:%ED%A0%80"));
        let beginning = part.rsplit_once("%~").expect("a digest").0;
        assert_eq!((beginning.len() - "ratelimit:a:b:".len()) % 3, 0);
        // A million bytes still give one short key.
        assert!(key("a", "b", &vec![b'y'; 1_000_000]).len() < 160);
    }

    #[test]
    fn fields_keep_modules_and_rules_apart() {
        assert_eq!(label("wms", "Order.list"), "wms.Order.list");
        assert_eq!(label("a.b", "c"), "a%2Eb.c");
        assert_eq!(label("a", "b.c"), "a.b.c");
    }

    #[test]
    fn prefixes_are_checked() {
        for bad in ["", " ", "a b", "a\n", "{x}", &"p".repeat(65)] {
            let error = Keys::new(bad).expect_err(bad);
            assert!(error.to_string().contains("1 to 64 bytes"));
        }
        assert_eq!(Keys::new("team:ratelimit").expect("usable").config(), "team:ratelimit:config");
    }

    /// Text that is likely to collide: few characters, the special ones among them, and lengths around the limit.
    fn part() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            8 => prop::sample::select(vec!["a", "b", ":", "%", ".", "{", "}", " ", "3A", "%3A", "%~", "~", "\0", "é", "张", "\u{200B}"])
                .prop_map(|s| s.as_bytes().to_vec()),
            1 => any::<char>().prop_map(|c| c.to_string().into_bytes()),
            1 => Just(b"\xED\xA0\x80".to_vec()),
            1 => (120usize..135).prop_map(|n| vec![b'x'; n]),
        ];
        prop::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat())
    }

    fn text() -> impl Strategy<Value = String> {
        part().prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]

        #[test]
        fn distinct_inputs_have_distinct_keys(
            a in (text(), text(), part()),
            b in (text(), text(), part()),
        ) {
            prop_assert_eq!(key(&a.0, &a.1, &a.2) == key(&b.0, &b.1, &b.2), a == b);
            prop_assert_eq!(label(&a.0, &a.1) == label(&b.0, &b.1), (&a.0, &a.1) == (&b.0, &b.1));
        }

        /// Moving a boundary between two parts never gives the same key.
        #[test]
        fn boundaries_count(text in "[a:%.]{2,12}", cut in 1usize..11, other in 1usize..11) {
            let cut = cut.min(text.len() - 1);
            let other = other.min(text.len() - 1);
            let split = |at: usize| key(&text[..at], &text[at..], b"u");
            prop_assert_eq!(split(cut) == split(other), cut == other);
        }

        #[test]
        fn keys_are_short_and_printable(module in text(), rule in text(), user in part()) {
            let key = key(&module, &rule, &user);
            prop_assert!(key.len() <= "ratelimit:".len() + 3 * MAX_PART + 2);
            prop_assert_eq!(key.matches(':').count(), 3);
            let unseen = |c: char| c.is_whitespace() || c.is_control() || c == '{' || c == '}';
            prop_assert!(!key.contains(unseen));
        }
    }
}
