//! The schema of a report: each field's type, label, unit, tier, meaning and source, declared beside it.
//!
//! `cuesta._native.meter_schema()` gives it to Python, which makes its types (`cuesta/records/meter_report.py`) and the tables
//! of `docs/meters.md` from it.

use std::collections::BTreeMap;

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::{Figure, MeterReport, Tier};

/// The unit of a value; of a [`Figure`], of the value that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Nanoseconds.
    Nanoseconds,
    /// Seconds.
    Seconds,
    /// Percent.
    Percent,
    /// A number of things, or a mean number.
    Number,
    /// A ratio of two numbers.
    Ratio,
    /// A number of events, and how many a second.
    Events,
    /// Bytes a second.
    BytesPerSecond,
    /// Words, truth values, lists of names: no unit. Tables have units by field.
    None,
}

/// A field of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Field {
    /// As in JSON.
    pub name: &'static str,
    /// `int`, `float`, `bool`, `str`, a table's name; of these `T | None`, `list[T]`, `dict[str, T]`, `Figure[T]`.
    #[serde(rename = "type")]
    pub kind: String,
    /// The name that people read.
    pub label: &'static str,
    /// The unit of the value.
    pub unit: Unit,
    /// The least tier that can give it.
    pub tier: Tier,
    /// What the field means, as a clause.
    pub meaning: String,
    /// What it is read from, or how it is computed.
    pub source: &'static str,
}

/// A table of the report.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Table {
    /// The name of its type.
    pub name: &'static str,
    /// What the table holds.
    pub meaning: String,
    /// In JSON's order.
    pub fields: Vec<Field>,
}

/// All tables, each after those that it refers to; [`MeterReport`] is the last.
pub fn schema() -> Vec<Table> {
    let mut tables = Vec::new();
    MeterReport::tables(&mut tables);
    tables
}

/// A type that a field may have.
pub(super) trait FieldType {
    /// As [`Field::kind`] has it.
    fn name() -> String;
    /// Adds the tables that it is made of, unless they are there.
    fn tables(_: &mut Vec<Table>) {}
}

/// A table, or in JSON an empty object where there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct OrEmpty<T>(pub Option<T>);

impl<T: Serialize> Serialize for OrEmpty<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0 {
            Some(table) => table.serialize(serializer),
            None => serializer.serialize_map(Some(0))?.end(),
        }
    }
}

/// Python reads it as a map, because records of other versions have other figures.
impl<T: FieldType> FieldType for OrEmpty<T> {
    fn name() -> String {
        "dict[str, Figure[float]]".to_owned()
    }

    fn tables(into: &mut Vec<Table>) {
        T::tables(into);
    }
}

macro_rules! scalar {
    ($($kind:ty = $name:literal),+) => {
        $(impl FieldType for $kind {
            fn name() -> String {
                $name.to_owned()
            }
        })+
    };
}

scalar!(
    bool = "bool",
    f64 = "float",
    String = "str",
    u64 = "int",
    usize = "int",
    [f64; 2] = "tuple[float, float]",
    cuesta_record::Stamp = "int",
    super::Source = "str",
    crate::Subject = "str"
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

generic!(
    Option<T> = "{} | None",
    Vec<T> = "list[{}]",
    BTreeMap<String, T> = "dict[str, {}]",
    BTreeMap<usize, T> = "dict[str, {}]",
    Figure<T> = "Figure[{}]"
);

/// Declares a table: `name: Type = "label", Unit, Tier, "source";`, with the meaning as its documentation.
macro_rules! table {
    (
        $(#[doc = $about:literal])+
        $table:ident $(: $copy:ident)? {
            $(
                $(#[doc = $meaning:literal])+
                $field:ident: $kind:ty = $label:literal, $unit:ident, $tier:ident, $source:literal;
            )+
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq, serde::Serialize)]
        $(#[derive($copy)])?
        pub struct $table {
            $(
                $(#[doc = $meaning])+
                pub $field: $kind,
            )+
        }

        impl $crate::schema::FieldType for $table {
            fn name() -> String {
                stringify!($table).to_owned()
            }

            fn tables(into: &mut Vec<$crate::schema::Table>) {
                use $crate::schema::{Field, FieldType, Table, Unit};

                if into.iter().any(|table| table.name == stringify!($table)) {
                    return;
                }
                $(<$kind as FieldType>::tables(into);)+
                into.push(Table {
                    name: stringify!($table),
                    meaning: concat!($($about),+).trim().to_owned(),
                    fields: vec![$(Field {
                        name: stringify!($field),
                        kind: <$kind as FieldType>::name(),
                        label: $label,
                        unit: Unit::$unit,
                        tier: $crate::Tier::$tier,
                        meaning: concat!($($meaning),+).trim().trim_end_matches('.').to_owned(),
                        source: $source,
                    }),+],
                });
            }
        }
    };
}

pub(super) use table;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_table_comes_once_and_after_the_tables_that_it_refers_to() {
        let names: Vec<&str> = schema().iter().map(|table| table.name).collect();
        let place = |name| names.iter().position(|other| *other == name).expect("it is there");
        assert!(place("Count") < place("Counts") && place("CauseRow") < place("ByCause"), "{names:?}");
        assert_eq!(names.last(), Some(&"MeterReport"));
        assert!(names.iter().all(|name| names.iter().filter(|other| other == &name).count() == 1), "{names:?}");
    }

    #[test]
    fn a_table_that_is_missing_is_an_empty_object() {
        assert_eq!(serde_json::to_value(OrEmpty::<crate::Sampling>(None)).unwrap(), serde_json::json!({}));
    }

    #[test]
    fn a_field_has_its_type_and_its_meaning() {
        let counts = schema().into_iter().find(|table| table.name == "Counts").expect("it is there");
        let execs = counts.fields.iter().find(|field| field.name == "execs").expect("it is there");
        assert_eq!((&*execs.kind, &*execs.meaning), ("Figure[Count]", "programs loaded by `execve`"));
        assert_eq!((execs.unit, execs.tier), (Unit::Events, Tier::Traced));
    }
}
