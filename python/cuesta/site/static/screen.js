// Draws what a user's terminal shows: rows of spans, as `UserScreen` of docs/folder.md has them. Text is only ever text.
'use strict';

const WIDE = /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]\p{M}*/gu;

// The colour of a number of the palette above 15: a cube of six levels, then greys.
function paletteColour(number) {
  if (number >= 232) {
    const grey = 8 + 10 * (number - 232);
    return `rgb(${grey} ${grey} ${grey})`;
  }
  const level = (part) => (part ? 55 + 40 * part : 0);
  const cell = number - 16;
  return `rgb(${level(Math.floor(cell / 36))} ${level(Math.floor(cell / 6) % 6)} ${level(cell % 6)})`;
}

// Gives an element a colour: a class for the terminal's own and the first 16, else the colour itself.
function setColour(element, kind, colour) {
  if (colour.startsWith('#')) element.style.setProperty(kind === 'fg' ? 'color' : 'background-color', colour);
  else if (Number(colour) > 15) {
    element.style.setProperty(kind === 'fg' ? 'color' : 'background-color', paletteColour(Number(colour)));
  } else element.classList.add(`${kind}-${colour}`);
}

// An element for one span. Characters of two cells have elements of their own, so that all that follows is in its column.
function drawSpan(span) {
  const element = document.createElement('span');
  const attributes = span.attributes || [];
  element.classList.add(...attributes.filter((name) => name !== 'inverse'));
  let [front, back] = [span.foreground, span.background];
  if (attributes.includes('inverse')) [front, back] = [back || 'back', front || 'front'];
  if (front) setColour(element, 'fg', front);
  if (back) setColour(element, 'bg', back);
  let end = 0;
  for (const found of span.text.matchAll(WIDE)) {
    element.append(span.text.slice(end, found.index));
    const wide = document.createElement('span');
    wide.className = 'two-cells';
    wide.textContent = found[0];
    element.append(wide);
    end = found.index + found[0].length;
  }
  element.append(span.text.slice(end));
  return element;
}

// Draws a screen into an element with the class `screen`. Only rows that have changed since it was drawn are drawn again.
function drawScreen(element, screen) {
  const last = element.drawn || {rows: [], cursor: null};
  element.drawn = {rows: screen.rows.map((row) => JSON.stringify(row)), cursor: screen.cursor};
  if (!element.rowsOfScreen) {
    element.rowsOfScreen = document.createElement('div');
    element.rowsOfScreen.className = 'rows';
    element.replaceChildren(element.rowsOfScreen);
  }
  const rows = element.rowsOfScreen;
  rows.style.setProperty('--columns', screen.columns);
  while (rows.children.length > screen.rows.length) rows.lastChild.remove();
  screen.rows.forEach((spans, number) => {
    const row = rows.children[number] || rows.appendChild(document.createElement('div'));
    const hasCursor = screen.cursor && screen.cursor[0] === number;
    const hadCursor = last.cursor && last.cursor[0] === number;
    if (last.rows[number] === element.drawn.rows[number] && !hasCursor && !hadCursor && row.hasChildNodes()) return;
    row.replaceChildren(...spans.map(drawSpan));
    if (!row.textContent) row.append('\u00a0');
    if (hasCursor) row.append(drawCursor(Math.min(screen.cursor[1], screen.columns - 1)));
  });
}

function drawCursor(column) {
  const cursor = document.createElement('span');
  cursor.className = 'cursor';
  cursor.style.setProperty('--column', column);
  return cursor;
}
