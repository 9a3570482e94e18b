// A field for a row in Ink: each row is answered below it.
import React, { useState } from 'react';
import { Box, Text, render } from 'ink';
import TextInput from 'ink-text-input';

const element = React.createElement;

function Field() {
  const [row, setRow] = useState('');
  const [answers, setAnswers] = useState([]);
  const submit = (value) => {
    setAnswers([...answers, value]);
    setRow('');
  };
  return element(
    Box,
    { flexDirection: 'column' },
    element(
      Box,
      { borderStyle: 'round' },
      element(Text, null, '> '),
      element(TextInput, { value: row, onChange: setRow, onSubmit: submit }),
    ),
    element(Text, null, `answer ${answers.length} to ${answers.at(-1) ?? ''} $`),
  );
}

render(element(Field));
