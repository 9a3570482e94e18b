// An agent in Ink: a text box below an answer that is written word by word. It logs each letter and each prompt in a JSON row.
import { appendFileSync } from 'node:fs';
import React, { useEffect, useState } from 'react';
import { Box, Static, Text, render } from 'ink';
import TextInput from 'ink-text-input';

const element = React.createElement;
const WORDS = 50;
const WORD_MS = 40;
const ROW = 12;
const [log] = process.argv.slice(2);

function write(row) {
  appendFileSync(log, `${JSON.stringify(row)}\n`);
}

function Agent() {
  const [typed, setTyped] = useState('');
  const [above, setAbove] = useState([]);
  const [words, setWords] = useState(null);
  useEffect(() => {
    if (words === null) return undefined;
    const timer = setTimeout(() => {
      const isRow = words.length % ROW === ROW - 1 || words.length === WORDS;
      if (isRow) setAbove([...above, words.slice(-ROW).join(' ')]);
      setWords(words.length === WORDS ? null : [...words, `word${words.length}`]);
    }, WORD_MS);
    return () => clearTimeout(timer);
  }, [words]);
  const change = (value) => {
    if (value.length > typed.length) write({ key: value.at(-1) });
    setTyped(value);
  };
  const submit = (value) => {
    if (words !== null || !value) return;
    write({ prompt: value });
    setAbove([...above, `> ${value}`]);
    setTyped('');
    setWords([]);
  };
  return element(
    Box,
    { flexDirection: 'column' },
    element(Static, { items: above }, (row, index) => element(Text, { key: index }, row)),
    element(Text, null, words === null ? '' : words.slice(-(words.length % ROW || ROW)).join(' ')),
    element(
      Box,
      { borderStyle: 'round' },
      element(Text, null, '> '),
      element(TextInput, { value: typed, onChange: change, onSubmit: submit }),
    ),
    element(Text, null, words === null ? 'ready' : 'working'),
  );
}

render(element(Agent));
