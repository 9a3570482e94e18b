//! How a table of a report is declared: `name: Type = "label", Unit, Tier, "source";`, with the meaning as its documentation.

use std::collections::BTreeMap;

use cuesta_record::schema::{FieldType, Table};
use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

use super::Figure;

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
        <BTreeMap<String, Figure>>::name()
    }

    fn tables(into: &mut Vec<Table>) {
        T::tables(into);
    }
}

impl<T: FieldType> FieldType for Figure<T> {
    fn name() -> String {
        format!("Figure[{}]", T::name())
    }

    fn tables(into: &mut Vec<Table>) {
        T::tables(into);
    }
}

cuesta_record::plain_types!(crate::Source = "str", crate::Subject = "str");

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
        cuesta_record::record! {
            $(#[doc = $about])+
            $(#[derive($copy)])?
            $table {
                $(
                    $(#[doc = $meaning])+
                    $field: $kind = $unit { $label, $crate::Tier::$tier.name(), $source };
                )+
            }
        }
    };
}

pub(super) use table;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MeterReport;
    use cuesta_record::schema::Unit;

    fn schema() -> Vec<Table> {
        let mut tables = Vec::new();
        MeterReport::tables(&mut tables);
        tables
    }

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
        assert_eq!((execs.unit, execs.tier), (Unit::Events, "exact"));
    }
}
