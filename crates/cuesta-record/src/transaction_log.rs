//! The full log: every transaction as a row of CSV, which `DuckDB`, pandas, spreadsheets and people can read.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use crate::schema::FieldType;
use crate::{SeriesNames, Stamp, Transaction, record};

record! {
    /// A row of `transactions.csv`: a transaction with its four instants on the clock.
    TransactionRow {
        /// the group of its class, in double quotes
        class_group: String = Unitless;
        /// the name of its class, in double quotes
        transaction: String = Unitless;
        /// number of the user
        user: u32 = Unitless;
        /// when the last key of its input was due
        due: Stamp = Nanoseconds;
        /// when that was sent
        sent: Stamp = Nanoseconds;
        /// when the first character of the answer arrived
        first: Stamp = Nanoseconds;
        /// when the answer was complete
        done: Stamp = Nanoseconds;
    }
}

/// An open log. Stamps are in ns on the agent's clock; `timeline.json` holds the run's start on that clock.
pub(crate) struct TransactionLog {
    file: BufWriter<File>,
    /// The fields that name the class of a transaction, by number of its series.
    class_fields: Vec<String>,
}

impl TransactionLog {
    pub(crate) fn create(mut file: BufWriter<File>, series_names: &SeriesNames) -> io::Result<Self> {
        write_header::<TransactionRow>(&mut file)?;
        let fields = series_names.sources().iter().map(|names| names.each_ref().map(|name| quoted(name)).join(","));
        Ok(Self { file, class_fields: fields.collect() })
    }

    /// Writes the transactions of an interval and flushes them, so that a crash loses nothing.
    pub(crate) fn append(&mut self, transactions: &[Transaction]) -> io::Result<()> {
        for &Transaction { class, user, due, sent, first, done } in transactions {
            let class = &self.class_fields[class as usize];
            let [due, sent, first, done] = [due, sent, first, done].map(Stamp::as_nanos);
            writeln!(self.file, "{class},{user},{due},{sent},{first},{done}")?;
        }
        self.file.flush()
    }
}

/// Writes the names of a record's fields, and flushes them.
pub(crate) fn write_header<R: FieldType>(file: &mut BufWriter<File>) -> io::Result<()> {
    let mut tables = Vec::new();
    R::tables(&mut tables);
    let columns: Vec<_> = tables[0].fields.iter().map(|field| field.name).collect();
    writeln!(file, "{}", columns.join(","))?;
    file.flush()
}

/// A name as a field of CSV. Control characters, which only the file name of a tape can have, become spaces: no field holds a
/// newline. Names without commas are quoted too: `DuckDB` looks for quotes in the first rows only.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace(char::is_control, " ").replace('"', "\"\""))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_row_is_one_line_whatever_the_names_are() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let mut names = SeriesNames::default();
        let classes = ["log in", "say \"x\", y", "two\nlines"].map(|name| names.series("night", name, "response"));
        let mut log = TransactionLog::create(BufWriter::new(File::create(&path).unwrap()), &names).unwrap();
        let [due, sent, first, done] = [1, 2, 3, u64::MAX].map(Stamp::from_nanos);
        let rows = classes.map(|class| Transaction { class: class.number(), user: 7, due, sent, first, done });
        log.append(&rows[..2]).unwrap();
        let first_interval = "class_group,transaction,user,due,sent,first,done\n\
            \"night\",\"log in\",7,1,2,3,18446744073709551615\n\
            \"night\",\"say \"\"x\"\", y\",7,1,2,3,18446744073709551615\n";
        assert_eq!(fs::read_to_string(&path).unwrap(), first_interval);
        log.append(&rows[2..]).unwrap();
        let second_interval = "\"night\",\"two lines\",7,1,2,3,18446744073709551615\n";
        assert_eq!(fs::read_to_string(&path).unwrap(), format!("{first_interval}{second_interval}"));
    }
}
