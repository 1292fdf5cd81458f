//! JSON, as far as the protocol needs it: numbers are exact from -2^53 to 2^53.

use std::borrow::Cow;
use std::fmt::{Display, Formatter, Write};

use crate::{Field, Result};

/// A JSON value. An object keeps the order of its keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Json {
    #[default]
    Null,
    Bool(bool),
    Number(f64),
    Text(Cow<'static, str>),
    List(Vec<Json>),
    Object(Vec<(Cow<'static, str>, Json)>),
}

/// Stands for every key that an object does not have.
pub(crate) const NULL: &Json = &Json::Null;

/// The name of a field that is a keyword of Rust, such as `r#type`.
pub(crate) fn unescaped(name: &str) -> &str {
    name.strip_prefix("r#").unwrap_or(name)
}

impl Json {
    /// An object with these keys.
    pub fn object(entries: impl IntoIterator<Item = (&'static str, Json)>) -> Json {
        Json::Object(entries.into_iter().map(|(key, value)| (unescaped(key).into(), value)).collect())
    }

    /// An object without the keys whose values are null.
    pub(crate) fn sparse(entries: impl IntoIterator<Item = (&'static str, Json)>) -> Json {
        Json::object(entries.into_iter().filter(|(_, value)| value != NULL))
    }

    /// The value of a key; null if there is none.
    pub fn key(&self, key: &str) -> &Json {
        match self {
            Json::Object(entries) => entries.iter().find(|(k, _)| k == unescaped(key)).map_or(NULL, |(_, value)| value),
            _ => NULL,
        }
    }

    /// The value of a key as a type of Rust.
    pub fn get<T: Field>(&self, key: &str) -> Result<T> {
        T::from_json(self.key(key)).map_err(|e| format!("{}: {}", key, e))
    }

    /// The same; if there is no such key, the zero value.
    pub fn get_or_default<T: Field + Default>(&self, key: &str) -> Result<T> {
        if self.key(key) == NULL {
            Ok(T::default())
        } else {
            self.get(key)
        }
    }

    /// The text of a string; empty for any other value.
    pub fn text(&self) -> &str {
        if let Json::Text(text) = self {
            text
        } else {
            ""
        }
    }

    /// Reads one value, which must fill the text.
    pub fn parse(text: &str) -> Result<Json> {
        let mut reader = Reader { text, at: 0 };
        let value = reader.value()?;
        if reader.peek().is_some() {
            Err(reader.odd())
        } else {
            Ok(value)
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn odd(&self) -> String {
        format!("byte {} of the request is not as JSON has it", self.at)
    }

    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, what: u8) -> bool {
        let found = self.peek() == Some(what);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.odd());
        }
        self.at += word.len();
        Ok(value)
    }

    fn value(&mut self) -> Result<Json> {
        match self.peek() {
            Some(b'{') => Ok(Json::Object(self.series(b'}', |r| {
                let key = r.string()?.into();
                if r.skip(b':') {
                    Ok((key, r.value()?))
                } else {
                    Err(r.odd())
                }
            })?)),
            Some(b'[') => Ok(Json::List(self.series(b']', Self::value)?)),
            Some(b'"') => Ok(Json::Text(self.string()?.into())),
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            _ => {
                let rest = &self.text[self.at..];
                let end = rest.find(|c: char| !"+-.eE0123456789".contains(c));
                let number = &rest[..end.unwrap_or(rest.len())];
                self.at += number.len();
                number.parse().map(Json::Number).map_err(|_| self.odd())
            }
        }
    }

    /// What stands between brackets, the first of which comes next, with commas in between.
    fn series<T>(&mut self, end: u8, mut one: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        self.at += 1;
        let mut all = Vec::new();
        if self.skip(end) {
            return Ok(all);
        }
        loop {
            all.push(one(self)?);
            if self.skip(end) {
                return Ok(all);
            } else if !self.skip(b',') {
                return Err(self.odd());
            }
        }
    }

    fn string(&mut self) -> Result<String> {
        if !self.skip(b'"') {
            return Err(self.odd());
        }
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest.find(|c| c == '"' || c == '\\').ok_or_else(|| self.odd())?;
            out.push_str(&rest[..plain]);
            self.at += plain + 1;
            if rest.as_bytes()[plain] == b'"' {
                return Ok(out);
            }
            let escape = *rest.as_bytes().get(plain + 1).ok_or_else(|| self.odd())?;
            self.at += 1;
            out.push(match escape {
                b'n' => '\n',
                b't' => '\t',
                b'r' => '\r',
                b'b' => '\u{8}',
                b'f' => '\u{c}',
                b'u' => self.unicode()?,
                b'"' | b'\\' | b'/' => escape.into(),
                _ => return Err(self.odd()),
            });
        }
    }

    /// The character behind `\u`: characters beyond 16 bits come as two escapes.
    fn unicode(&mut self) -> Result<char> {
        let high = self.hex()?;
        if !(0xd800..0xdc00).contains(&high) {
            return char::from_u32(high).ok_or_else(|| self.odd());
        }
        self.word("\\u", Json::Null)?;
        let low = self.hex()?.wrapping_sub(0xdc00);
        char::from_u32(0x10000 + ((high - 0xd800) << 10) + low).ok_or_else(|| self.odd())
    }

    fn hex(&mut self) -> Result<u32> {
        let digits = self.text.get(self.at..self.at + 4).ok_or_else(|| self.odd())?;
        self.at += 4;
        u32::from_str_radix(digits, 16).map_err(|_| self.odd())
    }
}

impl Display for Json {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Json::Null => f.write_str("null"),
            Json::Bool(value) => write!(f, "{}", value),
            Json::Number(value) => write!(f, "{}", value),
            Json::Text(text) => quote(f, text),
            Json::List(list) => {
                for (i, value) in list.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { "[" } else { "," }, value)?;
                }
                f.write_str(if list.is_empty() { "[]" } else { "]" })
            }
            Json::Object(entries) => {
                for (i, (key, value)) in entries.iter().enumerate() {
                    f.write_str(if i == 0 { "{" } else { "," })?;
                    quote(f, key)?;
                    write!(f, ":{}", value)?;
                }
                f.write_str(if entries.is_empty() { "{}" } else { "}" })
            }
        }
    }
}

fn quote(f: &mut Formatter<'_>, text: &str) -> std::fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{}", c)?,
            c if c < ' ' => write!(f, "\\u{:04x}", c as u32)?,
            c => f.write_char(c)?,
        }
    }
    f.write_char('"')
}

impl From<&'static str> for Json {
    fn from(text: &'static str) -> Json {
        Json::Text(text.into())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Json {
        Json::Text(text.into())
    }
}
