//! Escape and control sequences, found in a stream byte by byte. What they mean is others' affair.

pub(crate) const ESC: u8 = 0x1b;
/// Parameters of one sequence that are kept; those behind are dropped.
const MOST: usize = 8;

/// How far the stream is in a sequence.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    #[default]
    Text,
    /// Behind `ESC`.
    Escape,
    /// Behind `ESC [`.
    Control(Control),
}

/// What has come of a control sequence.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Control {
    /// A private mark or an intermediate character came, the last of them.
    pub(crate) mark: u8,
    parameters: [u16; MOST],
    /// Parameters that have come before the one that is coming.
    before: u8,
}

impl Place {
    /// Takes one byte; gives the sequence that it ends.
    pub(crate) fn step(&mut self, byte: u8) -> Option<Place> {
        let (next, ended) = match (*self, byte) {
            (_, ESC) => (Place::Escape, None),
            (_, 0x18 | 0x1a) | (Place::Escape, 0x20..=0x2f) => (Place::Text, None),
            (Place::Escape, b'[') => (Place::Control(Control::default()), None),
            (Place::Escape, 0x30..=0x7e) => (Place::Text, Some(Place::Escape)),
            (Place::Control(control), 0x20..=0x3f) => (Place::Control(control.with(byte)), None),
            (Place::Control(control), 0x40..=0x7e) => (Place::Text, Some(Place::Control(control))),
            (place, _) => (place, None),
        };
        *self = next;
        ended
    }
}

impl Control {
    /// The first parameter; 0 if there is none.
    pub(crate) fn number(&self) -> u16 {
        self.parameters[0]
    }

    /// The parameters that are kept.
    pub(crate) fn numbers(&self) -> &[u16] {
        &self.parameters[..MOST.min(usize::from(self.before) + 1)]
    }

    fn with(mut self, byte: u8) -> Self {
        match byte {
            b'0'..=b'9' => {
                if let Some(number) = self.parameters.get_mut(usize::from(self.before)) {
                    *number = number.saturating_mul(10).saturating_add(u16::from(byte - b'0'));
                }
            }
            b':' | b';' => self.before = self.before.saturating_add(1),
            mark => self.mark = mark,
        }
        self
    }
}
