// A field for a row in Ink: each row is answered below it. `node field.mjs [LOG SECONDS]`.
//
// With a log it draws a frame at most every so often. A row of the log is a frame: when it began, and how many characters typed so far it
// shows, which stands in the frame itself.
import { appendFileSync } from 'node:fs';
import React, { useState } from 'react';
import { Box, Text, render } from 'ink';
import TextInput from 'ink-text-input';

const element = React.createElement;
const [log, seconds] = process.argv.slice(2);

function Field() {
  const [row, setRow] = useState('');
  const [answers, setAnswers] = useState([]);
  const typed = answers.join('').length + row.length;
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
    log && element(Text, null, `typed ${typed} $`),
  );
}

if (log) {
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (data, ...rest) => {
    const since = process.hrtime.bigint();
    const [, typed] = /typed (\d+) \$/.exec(data) ?? [];
    if (typed !== undefined) appendFileSync(log, `{"since": ${since}, "typed": ${typed}}\n`);
    return write(data, ...rest);
  };
}

render(element(Field), log ? { maxFps: 1 / seconds } : {});
