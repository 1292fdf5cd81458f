//! What messages are made of, as bytes on the network and as JSON.

use std::fmt::{Debug, Display, Formatter};
use std::time::Duration;

use crate::json::unescaped;
use crate::{Json, Result};

/// A process: 1, 2, 3 and so on. `Id::NONE` stands for no process.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(pub u32);

impl Id {
    pub const NONE: Id = Id(0);
}

impl Display for Id {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        Display::fmt(&self.0, f)
    }
}

impl Debug for Id {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        Debug::fmt(&self.0, f)
    }
}

/// A type that a field of a message can have. `record!` makes more of them.
pub trait Field: Sized {
    /// The type, as the protocol writes it.
    fn kind() -> Json;
    fn encode(&self, out: &mut Vec<u8>);
    fn decode(input: &mut &[u8]) -> Result<Self>;
    fn to_json(&self) -> Json;
    fn from_json(json: &Json) -> Result<Self>;
}

pub(crate) fn take<'a>(input: &mut &'a [u8], count: usize) -> Result<&'a [u8]> {
    if count > input.len() {
        return Err("the request ends early".into());
    }
    let (taken, rest) = input.split_at(count);
    *input = rest;
    Ok(taken)
}

pub(crate) fn take_text<'a>(input: &mut &'a [u8]) -> Result<&'a str> {
    let length = u64::decode(input)? as usize;
    std::str::from_utf8(take(input, length)?).map_err(|e| e.to_string())
}

pub(crate) fn put_text(out: &mut Vec<u8>, text: &str) {
    (text.len() as u64).encode(out);
    out.extend_from_slice(text.as_bytes());
}

macro_rules! integers {
    ($word:literal: $($type:ty),*; $encode:expr, $decode:expr) => { $(
        impl Field for $type {
            fn kind() -> Json {
                $word.into()
            }
            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                let mut rest: u64 = $encode((*self).into());
                while rest >= 0x80 {
                    out.push(rest as u8 | 0x80);
                    rest >>= 7;
                }
                out.push(rest as u8);
            }
            #[inline]
            fn decode(input: &mut &[u8]) -> Result<Self> {
                let mut number = 0;
                for (i, byte) in input.iter().enumerate().take(10) {
                    number |= u64::from(byte & 0x7f) << (7 * i);
                    if *byte < 0x80 {
                        *input = &input[i + 1..];
                        return $decode(number).try_into().map_err(|_| format!("{} is out of range", number));
                    }
                }
                Err("the request ends within a number".into())
            }
            fn to_json(&self) -> Json {
                Json::Number(*self as f64)
            }
            fn from_json(json: &Json) -> Result<Self> {
                match json {
                    Json::Number(n) if n.fract() == 0.0 => {
                        (*n as i64).try_into().map_err(|_| format!("{} is out of range", n))
                    }
                    _ => Err(format!("{} is no whole number", json)),
                }
            }
        }
    )* };
}

integers!("uint": u8, u16, u32, u64; |x: u64| x, |x: u64| x);
integers!("int": i8, i16, i32, i64; |x: i64| (x << 1 ^ x >> 63) as u64, |x: u64| (x >> 1) as i64 ^ -((x & 1) as i64));

/// A type whose values are those of another.
macro_rules! as_other {
    ($type:ty, $word:literal, $other:ty, $to:expr, $from:expr) => {
        impl Field for $type {
            fn kind() -> Json {
                $word.into()
            }
            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                $to(self).encode(out)
            }
            #[inline]
            fn decode(input: &mut &[u8]) -> Result<Self> {
                <$other>::decode(input).and_then($from)
            }
            fn to_json(&self) -> Json {
                $to(self).to_json()
            }
            fn from_json(json: &Json) -> Result<Self> {
                <$other>::from_json(json).and_then($from)
            }
        }
    };
}

as_other!(Id, "id", u32, |id: &Id| id.0, |n| Ok(Id(n)));
as_other!(Duration, "duration", i64, |d: &Duration| nanoseconds(*d) as i64, |n| match u64::try_from(n) {
    Ok(n) => Ok(Duration::from_nanos(n)),
    Err(_) => Err(format!("the duration {} ns is below 0", n)),
});

/// What Duration has as 128 bits, with which 32-bit machines are slow.
#[inline]
pub(crate) fn nanoseconds(d: Duration) -> u64 {
    d.as_secs() * 1_000_000_000 + u64::from(d.subsec_nanos())
}

impl Field for bool {
    fn kind() -> Json {
        "bool".into()
    }
    fn encode(&self, out: &mut Vec<u8>) {
        out.push((*self).into());
    }
    fn decode(input: &mut &[u8]) -> Result<Self> {
        Ok(take(input, 1)?[0] != 0)
    }
    fn to_json(&self) -> Json {
        Json::Bool(*self)
    }
    fn from_json(json: &Json) -> Result<Self> {
        if let Json::Bool(value) = json {
            Ok(*value)
        } else {
            Err(format!("{} is neither true nor false", json))
        }
    }
}

impl Field for f64 {
    fn kind() -> Json {
        "float".into()
    }
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }
    fn decode(input: &mut &[u8]) -> Result<Self> {
        Ok(f64::from_le_bytes(take(input, 8)?.try_into().expect("8 bytes")))
    }
    fn to_json(&self) -> Json {
        Json::Number(*self)
    }
    fn from_json(json: &Json) -> Result<Self> {
        if let Json::Number(value) = json {
            Ok(*value)
        } else {
            Err(format!("{} is no number", json))
        }
    }
}

impl Field for String {
    fn kind() -> Json {
        "string".into()
    }
    fn encode(&self, out: &mut Vec<u8>) {
        put_text(out, self);
    }
    fn decode(input: &mut &[u8]) -> Result<Self> {
        take_text(input).map(str::to_owned)
    }
    fn to_json(&self) -> Json {
        self.clone().into()
    }
    fn from_json(json: &Json) -> Result<Self> {
        if let Json::Text(text) = json {
            Ok(text.clone().into())
        } else {
            Err(format!("{} is no string", json))
        }
    }
}

impl<T: Field> Field for Vec<T> {
    fn kind() -> Json {
        Json::List(vec![T::kind()])
    }
    fn encode(&self, out: &mut Vec<u8>) {
        (self.len() as u64).encode(out);
        self.iter().for_each(|item| item.encode(out));
    }
    fn decode(input: &mut &[u8]) -> Result<Self> {
        (0..u64::decode(input)?).map(|_| T::decode(input)).collect()
    }
    fn to_json(&self) -> Json {
        Json::List(self.iter().map(T::to_json).collect())
    }
    fn from_json(json: &Json) -> Result<Self> {
        if let Json::List(list) = json {
            list.iter().map(T::from_json).collect()
        } else {
            Err(format!("{} is no list", json))
        }
    }
}

/// A kind of message, as the protocol describes it.
pub struct Kind {
    pub name: &'static str,
    /// `""` of a message, `"auxiliary"` or `"saved"`.
    pub group: &'static str,
    pub fields: Vec<(&'static str, Json)>,
}

impl Kind {
    pub(crate) fn to_json(&self) -> Json {
        Json::object([("kind", self.name.into()), ("fields", pairs(&self.fields))])
    }
}

/// A list of names and types.
pub fn pairs(fields: &[(&'static str, Json)]) -> Json {
    Json::List(fields.iter().map(|(name, kind)| Json::List(vec![unescaped(name).into(), kind.clone()])).collect())
}

/// All messages of an algorithm; `messages!` implements it.
pub trait Message: Clone + Debug + PartialEq {
    /// Names of the kinds: messages, then auxiliary ones, then those that are only saved.
    const NAMES: &'static [&'static str];
    fn kinds() -> Vec<Kind>;
    fn index(&self) -> u8;
    fn encode(&self, out: &mut Vec<u8>);
    fn decode(index: u8, input: &mut &[u8]) -> Result<Self>;
    fn to_json(&self) -> Json;
    fn from_json(index: u8, json: &Json) -> Result<Self>;
}

/// Declares a struct that messages, and other structs, can have as a field:
///
/// ```
/// conclave::record! {
///     #[derive(Copy, Eq)]
///     pub struct Stamp { pub number: u64, pub id: conclave::Id }
/// }
/// ```
#[macro_export]
macro_rules! record {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$field_meta:meta])* $field_vis:vis $field:ident: $type:ty),* $(,)?
    }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $vis struct $name { $($(#[$field_meta])* $field_vis $field: $type),* }

        impl $crate::Field for $name {
            fn kind() -> $crate::Json {
                $crate::Json::object([("fields", $crate::pairs(&[
                    $((stringify!($field), <$type as $crate::Field>::kind())),*
                ]))])
            }
            #[inline]
            fn encode(&self, out: &mut Vec<u8>) {
                $($crate::Field::encode(&self.$field, out);)*
            }
            #[inline]
            fn decode(input: &mut &[u8]) -> $crate::Result<Self> {
                Ok($name { $($field: $crate::Field::decode(input)?),* })
            }
            fn to_json(&self) -> $crate::Json {
                $crate::Json::object([$((stringify!($field), $crate::Field::to_json(&self.$field))),*])
            }
            fn from_json(json: &$crate::Json) -> $crate::Result<Self> {
                Ok($name { $($field: json.get(stringify!($field))?),* })
            }
        }
    };
}

/// Declares the messages of an algorithm, with their kinds as Conclave reports them. The order of
/// fields is that of the bytes on the network. Auxiliary ones come after the others, and those that
/// are only saved come last:
///
/// ```
/// conclave::messages! {
///     pub enum Message {
///         Request = "REQUEST" { number: u64 },
///         Release = "RELEASE",
///         Ack = auxiliary "ACK" { number: u64 },
///         State = saved "STATE" { highest: u64 },
///     }
/// }
/// ```
#[macro_export]
macro_rules! messages {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $(
        $(#[$kind_meta:meta])* $variant:ident = $($group:ident)? $kind:literal
        $({ $($field:ident: $type:ty),* $(,)? })?
    ),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        $vis enum $name { $($(#[$kind_meta])* $variant $({ $($field: $type),* })?),* }

        const _: () = {
            enum Index { $($variant),* }

            impl $crate::Message for $name {
                const NAMES: &'static [&'static str] = &[$($kind),*];

                fn kinds() -> Vec<$crate::Kind> {
                    vec![$($crate::Kind {
                        name: $kind,
                        group: stringify!($($group)?),
                        fields: vec![$($((stringify!($field), <$type as $crate::Field>::kind())),*)?],
                    }),*]
                }
                #[inline]
                fn index(&self) -> u8 {
                    match self { $($name::$variant { .. } => Index::$variant as u8),* }
                }
                #[inline]
                #[allow(unused_variables)]
                fn encode(&self, out: &mut Vec<u8>) {
                    match self {
                        $($name::$variant { $($($field),*)? } => { $($($crate::Field::encode($field, out);)*)? })*
                    }
                }
                #[inline]
                #[allow(unused_variables)]
                fn decode(index: u8, input: &mut &[u8]) -> $crate::Result<Self> {
                    match index {
                        $(i if i == Index::$variant as u8 => Ok($name::$variant {
                            $($($field: $crate::Field::decode(input)?),*)?
                        }),)*
                        _ => Err(format!("there is no kind {}", index)),
                    }
                }
                fn to_json(&self) -> $crate::Json {
                    match self {
                        $($name::$variant { $($($field),*)? } => $crate::Json::object([
                            $($((stringify!($field), $crate::Field::to_json($field))),*)?
                        ]),)*
                    }
                }
                #[allow(unused_variables)]
                fn from_json(index: u8, json: &$crate::Json) -> $crate::Result<Self> {
                    match index {
                        $(i if i == Index::$variant as u8 => Ok($name::$variant {
                            $($($field: json.get(stringify!($field))?),*)?
                        }),)*
                        _ => Err(format!("there is no kind {}", index)),
                    }
                }
            }
        };
    };
}
