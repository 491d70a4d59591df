//! Who asks: a validated subject.

use std::fmt;

/// The subject of a hit: a business user, or nobody.
///
/// A user is any text. Java strings may hold lone surrogates, which UTF-8 can't carry, so the bytes are
/// [WTF-8](https://simonsapin.github.io/wtf-8/): UTF-8 in which a surrogate that isn't part of a pair stands as three bytes.
///
/// Blank text, `null` and `undefined` (what a page sends when it has no user) are no identity: such a hit passes uncounted.
///
/// ```
/// use tollgate::Identity;
/// assert!(Identity::from("u1").is_present());
/// assert!(!Identity::from("  ").is_present());
/// assert!(!Identity::from("undefined").is_present());
/// assert!(!Identity::from(None::<&str>).is_present());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Identity<'a>(Option<&'a [u8]>);

impl<'a> Identity<'a> {
    /// Nobody: the hit passes uncounted.
    pub const fn none() -> Self {
        Self(None)
    }

    /// An identity from WTF-8 bytes, as other languages hand them over.
    ///
    /// # Errors
    /// [`IdentityError`] with the offset of the first byte that is not well-formed WTF-8; a surrogate pair written as two
    /// three-byte sequences counts as malformed, since it would be a second spelling of one character.
    pub fn from_wtf8(bytes: &'a [u8]) -> Result<Self, IdentityError> {
        validate(bytes)?;
        Ok(Self::present(bytes))
    }

    /// Whether there is somebody to count for.
    pub const fn is_present(&self) -> bool {
        self.0.is_some()
    }

    /// One whose bytes were taken from an identity.
    pub(crate) const fn known(bytes: &'a [u8]) -> Self {
        Self(Some(bytes))
    }

    pub(crate) fn bytes(&self) -> Option<&'a [u8]> {
        self.0
    }

    fn present(bytes: &'a [u8]) -> Self {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::from(text),
            // A lone surrogate is in it, so it is neither blank nor one of the words.
            Err(_) => Self(Some(bytes)),
        }
    }
}

impl<'a> From<&'a str> for Identity<'a> {
    fn from(text: &'a str) -> Self {
        match text.trim() {
            "" | "null" | "undefined" => Self::none(),
            _ => Self(Some(text.as_bytes())),
        }
    }
}

impl<'a> From<&'a String> for Identity<'a> {
    fn from(text: &'a String) -> Self {
        Self::from(text.as_str())
    }
}

impl<'a, T: Into<Identity<'a>>> From<Option<T>> for Identity<'a> {
    fn from(text: Option<T>) -> Self {
        text.map_or(Self::none(), Into::into)
    }
}

impl fmt::Debug for Identity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(bytes) => write!(f, "Identity({:?})", String::from_utf8_lossy(bytes)),
            None => f.write_str("Identity(none)"),
        }
    }
}

/// Bytes that are not a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "the user is not valid UTF-8 at byte {offset}: pass UTF-8 text (lone surrogates as three bytes each)"
)]
pub struct IdentityError {
    /// Offset of the first malformed byte.
    pub offset: usize,
}

fn validate(bytes: &[u8]) -> Result<(), IdentityError> {
    let mut offset = 0;
    let mut after_high = false;
    while offset < bytes.len() {
        let valid = match std::str::from_utf8(&bytes[offset..]) {
            Ok(_) => return Ok(()),
            Err(error) => error.valid_up_to(),
        };
        if valid > 0 {
            after_high = false;
        }
        offset += valid;
        match bytes[offset..] {
            [0xED, second @ 0xA0..=0xBF, 0x80..=0xBF, ..] => {
                let low = second >= 0xB0;
                if low && after_high {
                    return Err(IdentityError { offset });
                }
                after_high = !low;
                offset += 3;
            }
            _ => return Err(IdentityError { offset }),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_spellings_are_nobody() {
        for text in ["", " ", "\t\n", "\u{3000}", "null", "undefined", " null ", "undefined\n"] {
            assert!(!Identity::from(text).is_present(), "{text:?}");
            assert_eq!(Identity::from_wtf8(text.as_bytes()), Ok(Identity::none()), "{text:?}");
        }
        // Null is a surname, and a control character is not blank text.
        for text in ["NULL", "Null", "nil", "0", "\0", "张三", "null1"] {
            assert!(Identity::from(text).is_present(), "{text:?}");
        }
    }

    #[test]
    fn wtf8_is_checked() {
        for good in
            [&b"u1"[..], b"\xED\xA0\x80", b"a\xED\xB0\x80b", b"\xED\xB0\x80\xED\xA0\x80", b"\xF0\x9F\x98\x80"]
        {
            assert!(Identity::from_wtf8(good).is_ok(), "{good:x?}");
        }
        let bad: [(&[u8], usize); 6] = [
            (b"\xFF", 0),
            (b"ab\xC0\x80", 2),
            (b"\xED\xA0", 0),
            (b"\xED\xA0\x80\xED\xB0\x80", 3),
            (b"x\xE4\xBD", 1),
            (b"\xF5\x80\x80\x80", 0),
        ];
        for (bytes, offset) in bad {
            assert_eq!(Identity::from_wtf8(bytes), Err(IdentityError { offset }), "{bytes:x?}");
        }
    }
}
