//! What is recorded, declared once: the name, the unit and the meaning of each field stand beside its type, for all who read it.
//!
//! `cuesta._native.schema()` gives the tables to Python, which makes its types (`python/cuesta/records/`), a JSON Schema and the
//! tables of the documentation from them.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use crate::{Doing, Failure, Phase, Stamp};

/// The unit of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    Nanoseconds,
    Seconds,
    Percent,
    /// A number of things, or a mean number.
    Number,
    /// A ratio of two numbers.
    Ratio,
    /// A number of events, and how many a second.
    Events,
    Bytes,
    BytesPerSecond,
    /// Words, truth values, lists of names: no unit. Tables have units by field.
    Unitless,
}

/// A field of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Field {
    /// As in JSON.
    pub name: &'static str,
    /// `int`, `float`, `bool`, `str`, a table's name; of these `T | None`, `list[T]`, `dict[str, T]`, `Figure[T]`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The unit of the value.
    pub unit: Unit,
    /// What the field means, as a clause.
    pub meaning: String,
    /// What stands for it in a record of an earlier version, which lacks it, or where it is left out; empty: it never is.
    pub default: &'static str,
    /// How the values of threads or agents are merged, where that is not the sum: `max`, or `first` of each name.
    pub merge: &'static str,
    /// The name that people read; empty: they read the field's own.
    pub label: &'static str,
    /// Of a figure of meters: the least tier that can give it.
    pub tier: &'static str,
    /// Of a figure of meters: what it is read from, or how it is computed.
    pub source: &'static str,
}

/// A table: the fields of one type.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Table {
    /// The name of its type.
    pub name: &'static str,
    /// What the table holds.
    pub meaning: String,
    /// The table whose fields stand beside its own in JSON; empty: none.
    pub extends: &'static str,
    /// In JSON's order.
    pub fields: Vec<Field>,
}

/// A type that a field may have.
pub trait FieldType {
    /// As [`Field::kind`] has it.
    fn name() -> String;
    /// Adds the tables that it is made of, unless they are there.
    fn tables(_: &mut Vec<Table>) {}
}

/// The values of another thread or agent are merged into one's own.
pub trait Merge {
    /// Merges another's values into these.
    fn merge(&mut self, other: &Self);
}

impl Merge for u64 {
    fn merge(&mut self, other: &Self) {
        *self += other;
    }
}

impl Merge for f64 {
    fn merge(&mut self, other: &Self) {
        *self += other;
    }
}

impl<K: Ord + Clone, V: Merge + Clone> Merge for BTreeMap<K, V> {
    fn merge(&mut self, other: &Self) {
        for (key, value) in other {
            self.entry(key.clone()).and_modify(|own| own.merge(value)).or_insert_with(|| value.clone());
        }
    }
}

impl<T: Merge + Clone> Merge for Option<T> {
    fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Some(own), Some(other)) => own.merge(other),
            (own @ None, Some(other)) => *own = Some(other.clone()),
            (_, None) => {}
        }
    }
}

/// Names the JSON type of field types that need no table.
#[macro_export]
macro_rules! plain_types {
    ($($kind:ty = $name:literal),+) => {
        $(impl $crate::schema::FieldType for $kind {
            fn name() -> String {
                $name.to_owned()
            }
        })+
    };
}

plain_types!(
    bool = "bool",
    f64 = "float",
    i64 = "int",
    u16 = "int",
    u32 = "int",
    u64 = "int",
    usize = "int",
    [f64; 2] = "tuple[float, float]",
    (u16, u16) = "tuple[int, int]",
    String = "str",
    &'static str = "str",
    Value = "Any",
    Stamp = "int",
    Failure = "str",
    Phase = "str",
    Doing = "str"
);

macro_rules! generic {
    ($($kind:ty = $name:literal),+) => {
        $(impl<T: FieldType> FieldType for $kind {
            fn name() -> String {
                format!($name, T::name())
            }

            fn tables(into: &mut Vec<Table>) {
                T::tables(into);
            }
        })+
    };
}

generic!(Option<T> = "{} | None", Vec<T> = "list[{}]");

impl<K, T: FieldType> FieldType for BTreeMap<K, T> {
    fn name() -> String {
        format!("dict[str, {}]", T::name())
    }

    fn tables(into: &mut Vec<Table>) {
        T::tables(into);
    }
}

/// Declares a record: a struct whose fields are described as [`Table`] and [`Field`] have them.
///
/// A field is `name: Type = Unit;`, with its meaning as its documentation. After the type may stand its name in JSON, `as "str"`, where
/// the type has none; after the unit `, max` or `, first`, how it is merged; `| 0`, what stands for it in a record that lacks it
/// (`none`, `false`, `{}`); and in braces the label of a figure, of meters with tier and source. A record is written as JSON; one declared as
/// `Name: Merge` is also merged field by field, and one declared as `Name: Read` is only read from JSON. A record that `extends inner: Type`
/// has the fields of that record, too.
#[macro_export]
macro_rules! record {
    (
        $(#[doc = $about:literal])+
        $(#[derive($($trait:path),+)])?
        $record:ident $(: $use:ident)? $(extends $inner:ident: $base:ident)? {
            $(
                $(#[doc = $meaning:literal])+
                $(#[serde($($serde:tt)+)])?
                $field:ident: $kind:ty $(as $shown:literal)? = $unit:ident $(, $merge:ident)? $(| $default:tt)? $({ $label:expr $(, $tier:expr, $source:expr)? })?;
            )+
        }
    ) => {
        $crate::record!(@json [$($use)?]
            $(#[doc = $about])+
            #[derive(Debug, Clone, PartialEq)]
            $(#[derive($($trait),+)])?
            pub struct $record {
                $(
                    $(#[doc = $meaning])+
                    $(#[serde($($serde)+)])?
                    pub $field: $kind,
                )+
                $(
                    /// The fields that stand beside these in JSON.
                    #[serde(flatten)]
                    pub $inner: $base,
                )?
            }
        );

        $crate::record!(@merge [$($use)?] $record { $($field $($merge)?;)+ });

        impl $crate::schema::FieldType for $record {
            fn name() -> String {
                stringify!($record).to_owned()
            }

            fn tables(into: &mut Vec<$crate::schema::Table>) {
                use $crate::schema::{Field, Table, Unit};

                let meaning = concat!($($about),+).trim().to_owned();
                if let Some(known) = into.iter().find(|table| table.name == stringify!($record)) {
                    assert_eq!(known.meaning, meaning, "two records have one name");
                    return;
                }
                $(<$base as $crate::schema::FieldType>::tables(into);)?
                $($crate::record!(@tables into, $kind $(, $shown)?);)+
                into.push(Table {
                    name: stringify!($record),
                    meaning,
                    extends: concat!($(stringify!($base))?),
                    fields: vec![$(Field {
                        name: stringify!($field).trim_start_matches("r#"),
                        kind: $crate::record!(@type $kind $(, $shown)?),
                        unit: Unit::$unit,
                        meaning: concat!($($meaning),+).trim().trim_end_matches('.').to_owned(),
                        default: concat!($(stringify!($default))?),
                        merge: concat!($(stringify!($merge))?),
                        label: [$($label,)? ""][0],
                        tier: [$($($tier,)?)? ""][0],
                        source: [$($($source,)?)? ""][0],
                    }),+],
                });
            }
        }
    };
    (@json [Read] $item:item) => {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        $item
    };
    (@json [$($_:ident)?] $item:item) => {
        #[derive(serde::Serialize)]
        $item
    };
    (@type $kind:ty) => {
        <$kind as $crate::schema::FieldType>::name()
    };
    (@type $kind:ty, $shown:literal) => {
        $shown.to_owned()
    };
    (@tables $into:ident, $kind:ty) => {
        <$kind as $crate::schema::FieldType>::tables($into)
    };
    (@tables $into:ident, $kind:ty, $shown:literal) => {};
    (@merge [Merge] $record:ident { $($field:ident $($merge:ident)?;)+ }) => {
        impl $crate::schema::Merge for $record {
            fn merge(&mut self, other: &Self) {
                $($crate::record!(@field self, other, $field $($merge)?);)+
            }
        }
    };
    (@merge $($_:tt)+) => {};
    (@field $own:ident, $other:ident, $field:ident max) => {
        $own.$field = $own.$field.max($other.$field)
    };
    (@field $own:ident, $other:ident, $field:ident first) => {
        for (name, value) in &$other.$field {
            $own.$field.entry(*name).or_insert_with(|| value.clone());
        }
    };
    (@field $own:ident, $other:ident, $field:ident) => {
        $crate::schema::Merge::merge(&mut $own.$field, &$other.$field)
    };
}
