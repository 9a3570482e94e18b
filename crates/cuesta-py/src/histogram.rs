//! Histograms for Python: nanoseconds inside, seconds in Python.

use hdrhistogram::Histogram as Hdr;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::value;

/// Counts of durations, 3 significant digits.
#[pyclass(module = "cuesta._native", frozen)]
pub(crate) struct Histogram(std::sync::Mutex<Hdr<u64>>);

#[derive(FromPyObject)]
pub(crate) enum Encoded {
    Base64(String),
    Bytes(Vec<u8>),
}

#[pymethods]
impl Histogram {
    #[staticmethod]
    fn decode(data: Encoded) -> PyResult<Self> {
        let bytes = match data {
            Encoded::Bytes(bytes) => bytes,
            Encoded::Base64(text) => base64(&text)?,
        };
        let mut histogram: Hdr<u64> = Deserializer::new().deserialize(&mut &bytes[..]).map_err(value)?;
        histogram.auto(true); // a decoded histogram has room only up to its largest value
        Ok(Self(histogram.into()))
    }

    #[staticmethod]
    fn sum(histograms: Vec<PyRef<'_, Self>>) -> PyResult<Option<Self>> {
        let mut parts = histograms.into_iter();
        let Some(mut sum) = parts.next().map(|first| first.with(Clone::clone)) else {
            return Ok(None);
        };
        parts.try_for_each(|part| part.with(|part| sum.add(part))).map_err(value)?;
        Ok(Some(Self(sum.into())))
    }

    fn merge(&self, other: &Self) -> PyResult<()> {
        // A copy, because a histogram may be merged with itself.
        let other = other.with(Clone::clone);
        self.0.lock().expect("no panic while it is held").add(other).map_err(value)
    }

    fn quantile(&self, q: f64) -> f64 {
        self.with(|histogram| seconds(histogram.value_at_quantile(q)))
    }

    #[getter]
    fn count(&self) -> u64 {
        self.with(Hdr::len)
    }

    #[getter]
    fn min(&self) -> f64 {
        self.with(|histogram| seconds(histogram.min()))
    }

    #[getter]
    fn max(&self) -> f64 {
        self.with(|histogram| seconds(histogram.max()))
    }

    #[getter]
    fn mean(&self) -> f64 {
        self.with(|histogram| histogram.mean() / 1e9)
    }

    fn buckets(&self) -> Vec<(f64, u64)> {
        self.with(|histogram| {
            let upper = |value| seconds(histogram.highest_equivalent(value));
            histogram.iter_recorded().map(|step| (upper(step.value_iterated_to()), step.count_at_value())).collect()
        })
    }

    fn encode<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = Vec::new();
        self.with(|histogram| V2DeflateSerializer::new().serialize(histogram, &mut bytes)).map_err(value)?;
        Ok(PyBytes::new(py, &bytes))
    }
}

impl From<Hdr<u64>> for Histogram {
    fn from(histogram: Hdr<u64>) -> Self {
        Self(histogram.into())
    }
}

impl Histogram {
    fn with<T>(&self, look: impl FnOnce(&Hdr<u64>) -> T) -> T {
        look(&self.0.lock().expect("no panic while it is held"))
    }
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

fn base64(text: &str) -> PyResult<Vec<u8>> {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.decode(text.trim()).map_err(value)
}
