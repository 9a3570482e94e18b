// Plays a recorded session: screens from the server, a stretch at a time, beside plots with the same time axis.
'use strict';

(() => {
  const player = document.querySelector('.player');
  const {source} = player.dataset;
  const [offset, length] = [Number(player.dataset.offset), Number(player.dataset.chunk)];
  const get = (id) => document.getElementById(id);
  const [screen, play, seek, time, speed, marker, text] = ['screen', 'play', 'seek', 'time', 'speed', 'marker', 'text'].map(get);
  const stretches = new Map();
  let [position, end, playing, last, wanted] = [0, 0, false, 0, 0];

  // A stretch of the session, asked for once.
  const load = (number) => {
    if (!stretches.has(number)) {
      stretches.set(number, fetch(`${source}?chunk=${number}`).then(async (answer) => {
        if (!answer.ok) throw new Error(`the screens cannot be loaded: ${answer.status}`);
        return answer.json();
      }));
      for (const old of [...stretches.keys()].slice(0, -8)) stretches.delete(old);
    }
    return stretches.get(number);
  };

  // The screen at an instant: that of the stretch's begin, with all rows that have changed until then.
  const screenAt = (stretch, at) => {
    const first = stretch.frames[0];
    let {size, cursor} = first;
    const rows = new Map(Object.entries(first.rows).map(([number, spans]) => [Number(number), spans]));
    for (const frame of stretch.frames.slice(1)) {
      if (frame.at > at) break;
      ({size, cursor} = frame);
      for (const [number, spans] of Object.entries(frame.rows)) rows.set(Number(number), spans);
    }
    return {columns: size[0], rows: Array.from({length: size[1]}, (_, number) => rows.get(number) || []), cursor};
  };

  const show = async () => {
    const at = position;
    const mine = ++wanted;
    time.textContent = `${(at + offset).toFixed(1)} s`;
    seek.value = at;
    for (const figure of document.querySelectorAll('figure.plot')) {
      if (figure.view) figure.view.signal('position', at + offset).runAsync();
    }
    try {
      const stretch = await load(Math.floor(at / length));
      if (mine !== wanted) return;
      const shown = screenAt(stretch, at);
      drawScreen(screen, shown);
      if (!text.hidden) text.textContent = asText(shown);
      const said = stretch.markers.filter(([when]) => when <= at && when > at - 2).map(([, what]) => what).join(', ');
      if (marker.textContent !== said) marker.textContent = said;
    } catch (error) {
      marker.textContent = error.message;
      stop();
    }
  };
  const asText = (shown) => shown.rows.map((row) => row.map((span) => span.text).join('')).join('\n').trimEnd();
  const go = (at) => {
    position = Math.min(Math.max(at, 0), end);
    show();
  };

  const stop = () => {
    playing = false;
    play.textContent = 'Play';
  };
  const start = () => {
    if (position >= end) position = 0;
    playing = true;
    play.textContent = 'Stop';
    last = performance.now();
    requestAnimationFrame(tick);
  };
  const tick = (now) => {
    if (!playing) return;
    if (now - last >= 50) {
      position += (now - last) / 1000 * Number(speed.value);
      last = now;
      go(position);
      if (position >= end) stop();
    }
    requestAnimationFrame(tick);
  };
  const toggle = () => (playing ? stop() : start());

  play.addEventListener('click', toggle);
  seek.addEventListener('input', () => go(Number(seek.value)));
  get('read').addEventListener('click', () => {
    text.hidden = !text.hidden;
    show().then(() => text.hidden || text.focus());
  });
  for (const moment of document.querySelectorAll('.moments button')) {
    moment.addEventListener('click', () => go(Number(moment.dataset.at) - offset));
  }
  const keys = {ArrowLeft: -1, ArrowRight: 1};
  document.addEventListener('keydown', (event) => {
    if (event.target.closest('input, select, pre') || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === ' ' && event.target.closest('button, summary, a')) return;
    if (event.key === ' ') toggle();
    else if (event.key === 'Home') go(0);
    else if (event.key === 'End') go(end);
    else if (keys[event.key]) go(position + keys[event.key] * (event.shiftKey ? 0.1 : 1));
    else return;
    event.preventDefault();
  });
  // A click on a plot, at any height of it, is an instant.
  const attach = (figure) => {
    figure.view.addEventListener('click', (event) => {
      const at = instantOf(figure.view, event);
      if (Number.isFinite(at)) go(at - offset);
    });
    figure.view.signal('position', position + offset).runAsync();
  };
  document.addEventListener('plot-drawn', ({target}) => attach(target));
  [...document.querySelectorAll('figure.plot')].filter((figure) => figure.view).forEach(attach);
  const instantOf = (view, event) => {
    const box = view.container().querySelector('svg').getBoundingClientRect();
    return view.scale('x').invert(event.clientX - box.left - view.origin()[0]);
  };

  load(0).then((stretch) => {
    end = stretch.seconds;
    seek.max = Math.ceil(end * 10) / 10;
    const asked = Number(new URLSearchParams(location.search).get('at'));
    go(asked ? asked - offset : 0);
    player.dataset.ready = 'yes';
  }, (error) => { marker.textContent = error.message; });
})();
