//! The full log: every transaction as a row of an Arrow IPC stream, which pyarrow, `DuckDB`, polars and others read.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::Arc;

use arrow_array::builder::StringDictionaryBuilder;
use arrow_array::types::UInt16Type;
use arrow_array::{ArrayRef, RecordBatch, UInt32Array, UInt64Array};
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema};

use crate::recorder::RecorderSetup;
use crate::{SeriesNames, Stamp, Transaction};

/// An open log. Stamps are in ns on the machine's monotonic clock; `timeline.json` holds the run's start on that clock.
pub(crate) struct TransactionLog {
    writer: StreamWriter<BufWriter<File>>,
    schema: Arc<Schema>,
    series_names: SeriesNames,
}

impl TransactionLog {
    pub(crate) fn create(file: BufWriter<File>, setup: &RecorderSetup) -> io::Result<Self> {
        let class = DataType::Dictionary(Box::new(DataType::UInt16), Box::new(DataType::Utf8));
        let mut fields = vec![Field::new("class", class, false), Field::new("user", DataType::UInt32, false)];
        fields.extend(["due", "sent", "first", "done"].map(|name| Field::new(name, DataType::UInt64, false)));
        let schema = Arc::new(Schema::new(fields));
        let writer = StreamWriter::try_new(file, &schema).map_err(refused)?;
        Ok(Self { writer, schema, series_names: setup.series_names.clone() })
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

fn refused(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        other => io::Error::other(other),
    }
}
