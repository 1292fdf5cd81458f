//! JSON, as far as the protocol needs it, and its way from and to the compact layout.

use crate::fields::{joined, put_text, Field};

/// A JSON value: a word or number as it is written, a string behind one quote, or `[` or `{` with its items,
/// of which those of a list have no names. Null is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) raw: String,
    pub(crate) items: Vec<(String, Value)>,
}

/// Stands for every key that an object does not have.
pub(crate) const NULL: &Value = &Value { raw: String::new(), items: Vec::new() };

impl Value {
    pub(crate) fn parse(mut text: &str) -> Option<Value> {
        value(&mut text).filter(|_| text.trim().is_empty())
    }

    pub(crate) fn key(&self, key: &str) -> &Value {
        self.items.iter().find(|item| item.0 == key).map_or(NULL, |item| &item.1)
    }

    /// The text of a string; of any other value, empty.
    pub(crate) fn text(&self) -> &str {
        self.raw.strip_prefix('"').unwrap_or("")
    }

    /// The names and types of the fields of a form.
    fn fields(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.key("fields").items.iter().map(|(_, pair)| (pair.items[0].1.text(), &pair.items[1].1))
    }
}

fn skip(rest: &mut &str, what: char) -> Option<()> {
    *rest = rest.trim_start().strip_prefix(what)?;
    Some(())
}

fn value(rest: &mut &str) -> Option<Value> {
    *rest = rest.trim_start();
    let (first, mut items) = (rest.chars().next()?, Vec::new());
    let raw = match first {
        '"' => format!("\"{}", string(rest)?),
        '[' | '{' => {
            *rest = &rest[1..];
            while skip(rest, if first == '[' { ']' } else { '}' }).is_none() {
                if !items.is_empty() {
                    skip(rest, ',')?;
                }
                let mut key = String::new();
                if first == '{' {
                    key = string(rest)?;
                    skip(rest, ':')?;
                }
                items.push((key, value(rest)?));
            }
            first.into()
        }
        _ => {
            let end = rest.find(|c: char| !c.is_alphanumeric() && !"+-.".contains(c));
            let (word, behind) = rest.split_at(end.unwrap_or(rest.len()));
            let number = word.ends_with(|c: char| c.is_ascii_digit()) && word.parse::<f64>().is_ok();
            *rest = behind;
            Some(word).filter(|word| number || ["null", "true", "false"].contains(word))?.replace("null", "")
        }
    };
    Some(Value { raw, items })
}

/// A string is UTF-16 here, since characters beyond 16 bits come as two escapes.
fn string(rest: &mut &str) -> Option<String> {
    skip(rest, '"')?;
    let (mut units, mut chars) = (Vec::new(), rest.chars());
    loop {
        match chars.next()? {
            '"' => break,
            '\\' => match chars.next()? {
                'u' => units.push(u16::from_str_radix(&chars.by_ref().take(4).collect::<String>(), 16).ok()?),
                c => units.push("ntrbf".find(c).map_or(c as u16, |i| b"\n\t\r\x08\x0c"[i].into())),
            },
            c => units.extend_from_slice(c.encode_utf16(&mut [0; 2])),
        }
    }
    *rest = chars.as_str();
    String::from_utf16(&units).ok()
}

pub(crate) fn quoted(text: &str) -> String {
    let escaped = |c: char| match c {
        '"' | '\\' => format!("\\{}", c),
        c if c < ' ' => format!("\\u{:04x}", c as u32),
        c => c.into(),
    };
    format!("\"{}\"", text.chars().map(escaped).collect::<String>())
}

/// Puts a value of that form into the compact layout, zero if it is null. `None`: it is not of that form.
pub(crate) fn pack(form: &Value, value: &Value, out: &mut Vec<u8>) -> Option<()> {
    match form.raw.as_str() {
        "{" => return form.fields().try_for_each(|(name, form)| pack(form, value.key(name), out)),
        _ if value == NULL => out.push(0),
        "[" => {
            (value.items.len() as u64).put(out);
            return value.items.iter().try_for_each(|item| pack(&form.items[0].1, &item.1, out));
        }
        "\"uint" => value.raw.parse::<u64>().ok()?.put(out),
        "\"int" | "\"duration" => value.raw.parse::<i64>().ok()?.put(out),
        "\"bool" => value.raw.parse::<bool>().ok()?.put(out),
        "\"float" => value.raw.parse::<f64>().ok()?.put(out),
        _ => put_text(value.raw.strip_prefix('"')?, out),
    }
    Some(())
}

/// A value of that form, from the compact layout, in JSON.
pub(crate) fn unpack(form: &Value, input: &mut &[u8]) -> String {
    match form.raw.as_str() {
        "{" => {
            let fields = form.fields().map(|(name, form)| quoted(name) + ":" + &unpack(form, input));
            format!("{{{}}}", joined(fields))
        }
        "[" => format!("[{}]", joined((0..u64::get(input)).map(|_| unpack(&form.items[0].1, input)))),
        "\"uint" => u64::get(input).to_string(),
        "\"int" | "\"duration" => i64::get(input).to_string(),
        "\"bool" => bool::get(input).to_string(),
        "\"float" => f64::get(input).to_string(),
        _ => quoted(&String::get(input)),
    }
}

/// A value of a type of Rust, by way of the compact layout.
pub(crate) fn read<T: Field>(value: &Value) -> Option<T> {
    let mut bytes = Vec::new();
    pack(&Value::parse(&T::form())?, value, &mut bytes)?;
    Some(T::get(&mut &bytes[..]))
}
