//! The full log: every transaction as a row of an Arrow IPC stream, which pyarrow, `DuckDB`, polars and others read.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::Path;
use std::sync::Arc;
use std::thread;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayAccessor, ArrayRef, RecordBatch, StringArray, UInt32Array, UInt64Array};
use arrow_buffer::Buffer;
use arrow_ipc::reader::StreamDecoder;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};

use crate::{SeriesNames, Stamp, Transaction};

/// An open log. Stamps are in ns on the machine's monotonic clock; `timeline.json` holds the run's start on that clock.
pub(crate) struct TransactionLog {
    writer: StreamWriter<BufWriter<File>>,
    schema: Arc<Schema>,
    series_names: SeriesNames,
}

impl TransactionLog {
    pub(crate) fn create(file: BufWriter<File>, series_names: &SeriesNames) -> io::Result<Self> {
        let class = DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8));
        let mut fields = vec![Field::new("class", class, false), Field::new("user", DataType::UInt32, false)];
        fields.extend(["due", "sent", "first", "done"].map(|name| Field::new(name, DataType::UInt64, false)));
        let schema = Arc::new(Schema::new(fields));
        let writer = StreamWriter::try_new(file, &schema).map_err(refused)?;
        Ok(Self { writer, schema, series_names: series_names.clone() })
    }

    /// Writes the transactions of an interval.
    pub(crate) fn append(&mut self, transactions: &[Transaction]) -> io::Result<()> {
        if transactions.is_empty() {
            return Ok(());
        }
        let mut class = StringDictionaryBuilder::<UInt16Type>::new();
        for transaction in transactions {
            let tag = &self.series_names.tags()[usize::from(transaction.class)];
            class.append_value(tag.rsplit_once('/').map_or(tag.as_str(), |(class, _)| class));
        }
        let stamps = |of: fn(&Transaction) -> Stamp| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(transactions.iter().map(|t| of(t).as_nanos())))
        };
        let columns: Vec<ArrayRef> = vec![
            Arc::new(class.finish()),
            Arc::new(UInt32Array::from_iter_values(transactions.iter().map(|t| t.user))),
            stamps(|t| t.due),
            stamps(|t| t.sent),
            stamps(|t| t.first),
            stamps(|t| t.done),
        ];
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(refused)?;
        self.writer.write(&batch).map_err(refused)?;
        self.writer.get_mut().flush()
    }

    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.writer.finish().map_err(refused)?;
        self.writer.get_mut().flush()
    }
}

/// A transaction of a log; stamps are in ns on the machine's monotonic clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoggedTransaction {
    /// `GROUP/NAME`, each percent-encoded.
    pub class: String,
    /// The user's number.
    pub user: u32,
    /// Due, sent, first character of the answer, answer complete.
    pub stamps: [u64; 4],
}

/// Reads a log up to the point at which it is cut off or damaged.
///
/// # Errors
/// When the file cannot be read.
pub fn read_transaction_log(path: &Path) -> io::Result<Vec<LoggedTransaction>> {
    let mut rest = Buffer::from(fs::read(path)?);
    let mut rows = Vec::new();
    // The decoder returns an error for some damage and panics for other: arrow-ipc 60 slices buffers that are too short.
    let decoded = without_panic_messages(|| {
        let mut decoder = StreamDecoder::new();
        while let Ok(Some(batch)) = decoder.decode(&mut rest) {
            let Some(logged) = rows_of(&batch) else { break };
            rows.extend(logged);
        }
    });
    drop(decoded); // what was decoded before a panic stands
    Ok(rows)
}

/// Catches a panic, and prints nothing of it. A panic of another thread meanwhile is not printed either.
fn without_panic_messages(decode: impl FnOnce()) -> thread::Result<()> {
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    let decoded = panic::catch_unwind(AssertUnwindSafe(decode));
    panic::set_hook(hook);
    decoded
}

/// None if its columns are not those of a log.
fn rows_of(batch: &RecordBatch) -> Option<Vec<LoggedTransaction>> {
    let class = batch.column_by_name("class")?.as_dictionary_opt::<UInt16Type>()?;
    let class = class.downcast_dict::<StringArray>()?;
    let users = batch.column_by_name("user")?.as_primitive_opt::<UInt32Type>()?;
    let stamps = ["due", "sent", "first", "done"]
        .map(|name| batch.column_by_name(name).and_then(|column| column.as_primitive_opt::<UInt64Type>()));
    let [Some(due), Some(sent), Some(first), Some(done)] = stamps else { return None };
    let row = |at: usize| LoggedTransaction {
        class: class.value(at).to_owned(),
        user: users.value(at),
        stamps: [due, sent, first, done].map(|column| column.value(at)),
    };
    Some((0..batch.num_rows()).map(row).collect())
}

fn refused(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn logged(user: u32) -> LoggedTransaction {
        LoggedTransaction { class: "g/t".to_owned(), user, stamps: [1, 2, 3, 4] }
    }

    /// A log of two intervals, and where the second begins.
    fn write(path: &Path) -> usize {
        let mut names = SeriesNames::default();
        let class = names.series("g", "t", "response").number();
        let mut log = TransactionLog::create(BufWriter::new(File::create(path).unwrap()), &names).unwrap();
        let [due, sent, first, done] = [1, 2, 3, 4].map(Stamp::from_nanos);
        let row = |user| Transaction { class, user, due, sent, first, done };
        log.append(&[row(0), row(1)]).unwrap();
        let second = fs::metadata(path).unwrap().len();
        log.append(&[row(2)]).unwrap();
        log.finish().unwrap();
        second.try_into().unwrap()
    }

    #[test]
    fn a_log_is_read_up_to_where_it_is_cut_off() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let second = write(&path);
        let whole = fs::read(&path).unwrap();
        assert_eq!(read_transaction_log(&path).unwrap(), [logged(0), logged(1), logged(2)]);
        for length in 0..whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let rows = read_transaction_log(&path).unwrap();
            assert!(rows.is_empty() || rows.len() >= 2, "cut off at {length}: {} rows", rows.len());
            assert!(length < second || rows.len() >= 2, "cut off at {length}: {} rows", rows.len());
        }
    }

    #[test]
    fn a_flipped_bit_ends_no_reader() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        write(&path);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            for bit in 0..8 {
                let mut flipped = whole.clone();
                flipped[at] ^= 1 << bit;
                fs::write(&path, &flipped).unwrap();
                assert!(read_transaction_log(&path).unwrap().len() <= 3, "byte {at}, bit {bit}");
            }
        }
    }
}
