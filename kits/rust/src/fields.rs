//! What messages are made of, and the bytes that they are on the network: the compact layout.

use std::fmt::Debug;
use std::time::Duration;

/// A process: 1, 2, 3 and so on.
pub type Id = u32;

/// No process.
pub const NONE: Id = 0;

/// A type that a field of a message can have. `record!` makes more of them.
pub trait Field: Sized {
    /// The type, as the protocol writes it in JSON.
    fn form() -> String;
    fn put(&self, out: &mut Vec<u8>);
    /// Panics if the bytes are none of this type: Conclave does not send such.
    fn get(input: &mut &[u8]) -> Self;
}

/// All messages of an algorithm; `messages!` implements it.
pub trait Message: Clone + Debug {
    /// The group of each kind, `""` if it is a plain message, and its form.
    fn kinds() -> Vec<(&'static str, String)>;
    fn put(&self, out: &mut Vec<u8>);
    fn get(input: &mut &[u8]) -> Self;
}

pub(crate) fn take<'a>(input: &mut &'a [u8], count: usize) -> &'a [u8] {
    let (taken, rest) = input.split_at(count);
    *input = rest;
    taken
}

pub(crate) fn put_text(text: &str, out: &mut Vec<u8>) {
    (text.len() as u64).put(out);
    out.extend_from_slice(text.as_bytes());
}

macro_rules! fields {
    ($($form:literal: $($type:ident)+, |$value:ident, $out:ident| $put:expr, |$input:ident| $get:expr;)*) => {
        $($(impl Field for $type {
            fn form() -> String {
                concat!('"', $form, '"').into()
            }
            #[inline]
            fn put(&self, $out: &mut Vec<u8>) {
                let $value = self;
                $put
            }
            #[inline]
            fn get($input: &mut &[u8]) -> Self {
                $get
            }
        })+)*
    };
}

fields! {
    "uint": u64, |n, out| {
        let mut rest = *n;
        while rest >= 0x80 {
            out.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        out.push(rest as u8);
    }, |input| {
        let byte = take(input, 1)[0];
        u64::from(byte & 0x7f) | if byte < 0x80 { 0 } else { u64::get(input) << 7 }
    };
    "uint": u8 u16 u32, |n, out| u64::from(*n).put(out), |input| u64::get(input).try_into().expect("a uint");
    "int": i64, |n, out| ((n << 1 ^ n >> 63) as u64).put(out), |input| {
        let n = u64::get(input);
        (n >> 1) as i64 ^ -((n & 1) as i64)
    };
    "int": i8 i16 i32, |n, out| i64::from(*n).put(out), |input| i64::get(input).try_into().expect("an int");
    "duration": Duration, |d, out| (d.as_nanos() as i64).put(out),
        |input| Duration::from_nanos(i64::get(input).try_into().expect("a duration from 0 on"));
    "bool": bool, |b, out| out.push((*b).into()), |input| take(input, 1)[0] != 0;
    "float": f64, |x, out| out.extend(x.to_le_bytes()),
        |input| f64::from_le_bytes(take(input, 8).try_into().expect("8 bytes"));
    "string": String, |text, out| put_text(text, out), |input| {
        let length = u64::get(input) as usize;
        std::str::from_utf8(take(input, length)).expect("UTF-8").into()
    };
}

impl<T: Field> Field for Vec<T> {
    fn form() -> String {
        format!("[{}]", T::form())
    }
    fn put(&self, out: &mut Vec<u8>) {
        (self.len() as u64).put(out);
        self.iter().for_each(|item| item.put(out));
    }
    fn get(input: &mut &[u8]) -> Self {
        (0..u64::get(input)).map(|_| T::get(input)).collect()
    }
}

/// The form of what has these fields. `start` is how it begins.
pub fn form(start: &str, fields: &[(&str, String)]) -> String {
    let pair = |field: &(&str, String)| format!("[\"{}\",{}]", field.0.trim_start_matches("r#"), field.1);
    format!("{{{}\"fields\":[{}]}}", start, joined(fields.iter().map(pair)))
}

pub(crate) fn joined(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(",")
}

/// Declares a struct that messages, and other structs, can have as a field:
///
/// ```
/// conclave::record! {
///     #[derive(Clone, Copy, Debug, PartialEq)]
///     pub struct Stamp { pub number: u64, pub id: conclave::Id }
/// }
/// ```
#[macro_export]
macro_rules! record {
    ($(#[$meta:meta])* $vis:vis struct $name:ident {
        $($(#[$doc:meta])* $field_vis:vis $field:ident: $type:ty),* $(,)?
    }) => {
        $(#[$meta])*
        $vis struct $name { $($(#[$doc])* $field_vis $field: $type),* }

        impl $crate::Field for $name {
            fn form() -> String {
                $crate::form("", &[$((stringify!($field), <$type as $crate::Field>::form())),*])
            }
            #[inline]
            fn put(&self, out: &mut Vec<u8>) {
                $($crate::Field::put(&self.$field, out);)*
            }
            #[inline]
            fn get(input: &mut &[u8]) -> Self {
                $name { $($field: $crate::Field::get(input)),* }
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
///     #[derive(Clone, Debug)]
///     pub enum Message {
///         Request = "REQUEST" { number: u64 },
///         Release = "RELEASE",
///         Ack = auxiliary "ACK" { number: u64 },
///         State = saves "STATE" { highest: u64 },
///     }
/// }
/// ```
#[macro_export]
macro_rules! messages {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $(
        $(#[$doc:meta])*
        $kind:ident = $($group:ident)? $word:literal $({ $($field:ident: $type:ty),* $(,)? })?
    ),* $(,)? }) => {
        $(#[$meta])*
        $vis enum $name { $($(#[$doc])* $kind $({ $($field: $type),* })?),* }

        const _: () = {
            enum Index { $($kind),* }

            impl $crate::Message for $name {
                fn kinds() -> Vec<(&'static str, String)> {
                    vec![$((stringify!($($group)?), $crate::form(
                        concat!("\"kind\":\"", $word, "\","),
                        &[$($((stringify!($field), <$type as $crate::Field>::form())),*)?],
                    ))),*]
                }
                #[inline]
                fn put(&self, out: &mut Vec<u8>) {
                    match self { $($name::$kind $({ $($field),* })? => {
                        out.push(Index::$kind as u8);
                        $($($crate::Field::put($field, out);)*)?
                    })* }
                }
                #[inline]
                fn get(input: &mut &[u8]) -> Self {
                    match <u64 as $crate::Field>::get(input) {
                        $(i if i == Index::$kind as u64 => $name::$kind $({
                            $($field: $crate::Field::get(input)),*
                        })?,)*
                        i => panic!("there is no kind {}", i),
                    }
                }
            }
        };
    };
}
