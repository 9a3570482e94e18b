// Charts that grow, each with a table of its newest rows behind it.
'use strict';

(() => {
  const {digits, duration, look, options} = window.cuesta; // of plots.js
  const TABLE_ROWS = 30;
  const MOST_POINTS = 1200; // of a line; then every second one is left out
  const HEIGHT = 150;

  const isAbsent = (value) => value === null || value === undefined || Number.isNaN(value);
  const formatNumber = (value) => (isAbsent(value) ? '—' : typeof value === 'number' ? digits(value) : String(value));

  // Makes an element with attributes, and with children or texts.
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  const SERIES = [0, 1, 2, 3, 4, 5, 6, 7].map((number) => `var(--series-${number})`);
  const CONFIG = {...look, legend: {...look.legend, title: null}};
  const OPTIONS = {...options, logLevel: 1, expressionFunctions: {duration}}; // no warning: an empty chart has no extent
  const asTime = {formatType: 'duration', format: ''};
  const asNumber = {format: ',.3~r'};

  // A chart of layers, whose data are named, and a table of columns: [name, label, function that writes a value].
  class Chart {
    constructor(place, title, layers, columns) {
      Object.assign(this, {columns, data: {}, rows: [], view: null, isStale: false});
      this.drawing = make('div');
      this.body = make('tbody');
      const heads = columns.map(([, label]) => make('th', {scope: 'col'}, label));
      const table = make('table', {}, make('caption', {class: 'hidden'}, title), make('thead', {}, make('tr', {}, ...heads)), this.body);
      const summary = make('summary', {}, 'Values', make('span', {class: 'hidden'}, ` of ${title}`));
      this.details = make('details', {class: 'values'}, summary, make('div', {class: 'wide', tabindex: 0}, table));
      this.details.addEventListener('toggle', () => this.fillTable());
      place.append(make('figure', {class: 'plot'}, make('figcaption', {}, title), this.drawing, this.details));
      this.embed(layers);
    }

    async embed(layers) {
      const width = () => Math.max(this.drawing.clientWidth, 200);
      const spec = {$schema: 'https://vega.github.io/schema/vega-lite/v6.json', width: width(), height: HEIGHT, config: CONFIG,
        autosize: {type: 'fit-x', contains: 'padding', resize: true}, layer: layers};
      this.view = (await vegaEmbed(this.drawing, spec, OPTIONS)).view;
      this.renew();
      addEventListener('resize', () => this.view.width(width()).runAsync());
    }

    // Shows these data, by the names of the layers' sources, and these rows.
    show(data, rows) {
      Object.assign(this, {data, rows});
      this.renew();
    }

    // Draws what is new, but not while the page is hidden.
    renew() {
      this.isStale = document.hidden || !this.view;
      if (this.isStale) return;
      for (const [name, values] of Object.entries(this.data)) this.view.data(name, values);
      this.view.runAsync();
      this.fillTable();
    }

    fillTable() {
      if (!this.details.open) return;
      this.body.replaceChildren(...this.rows.slice(-TABLE_ROWS).reverse().map((row) => make('tr', {},
        ...this.columns.map(([name, , write], number) => make(number ? 'td' : 'th', number ? {} : {scope: 'row'}, write(row[name]))))));
    }
  }

  // Lines, or areas, of `series` ([name, label]) over the time of a run; points are {at, NAME: value, …}.
  class Lines {
    constructor(place, {title, series, areTimes = false, stacked = false}) {
      Object.assign(this, {series, points: [], marks: []});
      const format = areTimes ? asTime : asNumber;
      const names = series.map(([, label]) => label);
      const at = {field: 'at', type: 'quantitative', title: 'seconds since the start', scale: {nice: false}, axis: {tickCount: 6, grid: false}};
      const colour = {field: 'series', type: 'nominal', scale: {domain: names, range: SERIES.slice(0, names.length)}, legend: names.length > 1 ? {symbolType: stacked ? 'square' : 'stroke'} : null};
      const layers = [
        {data: {name: 'points'}, mark: stacked ? {type: 'area', opacity: 0.75} : {type: 'line', strokeWidth: 1.6},
          encoding: {x: at, color: colour, y: {field: 'value', type: 'quantitative', stack: stacked ? 'zero' : null, axis: {title: null, tickCount: 4, ...format}},
            tooltip: [{field: 'at', title: 'second', ...asNumber}, {field: 'series', title: 'series'}, {field: 'value', title: 'value', ...format}]}},
        {data: {name: 'marks'}, mark: {type: 'rule', color: 'var(--faint)', strokeDash: [3, 3], strokeWidth: 1.5},
          encoding: {x: {field: 'at', type: 'quantitative'}, tooltip: [{field: 'text', title: 'marked'}]}},
      ];
      const write = areTimes ? duration : formatNumber;
      this.chart = new Chart(place, title, layers, [['at', 'second', digits], ...series.map(([name, label]) => [name, label, write])]);
    }

    set(points) {
      this.points = points;
      this.show();
    }

    add(point) {
      this.points.push(point);
      if (this.points.length > MOST_POINTS) this.points = this.points.filter((_, number) => number % 2);
      this.show();
    }

    setMarks(marks) {
      this.marks = marks;
      this.show();
    }

    show() {
      const points = this.points.flatMap((point) => this.series.map(([name, series]) => ({at: point.at, series, value: point[name] ?? null})));
      this.chart.show({points, marks: this.marks}, this.points);
    }
  }

  // The trials of a search: their load, and how much of the limit each used up.
  class Trials {
    constructor(place) {
      const load = {field: 'load', type: 'quantitative', title: 'load', scale: {zero: false, padding: 12}, axis: {tickCount: 6, grid: false}};
      const verdicts = ['kept', 'missed', 'does not count'];
      const colour = {field: 'verdict', type: 'nominal', legend: {symbolType: 'circle'},
        scale: {domain: verdicts, range: ['var(--good)', 'var(--bad)', 'var(--rest)']}};
      const tooltip = [{field: 'number', title: 'trial'}, {field: 'load', title: 'load', ...asNumber}, {field: 'part', title: 'of the limit', format: '.0%'},
        {field: 'verdict', title: 'verdict'}, {field: 'because', title: 'because'}];
      this.chart = new Chart(place, 'How much of its limit each trial used up', [
        {data: {name: 'interval'}, mark: {type: 'rect', color: 'var(--series-0)', opacity: 0.15},
          encoding: {x: {field: 'low', type: 'quantitative'}, x2: {field: 'high'}}},
        {data: {name: 'bound'}, mark: {type: 'rule', color: 'var(--bad)', strokeDash: [4, 3]}, encoding: {y: {field: 'part', type: 'quantitative'}}},
        {data: {name: 'next'}, mark: {type: 'rule', color: 'var(--series-0)', strokeWidth: 2}, encoding: {x: {field: 'load', type: 'quantitative'}, tooltip: [{field: 'because', title: 'next'}]}},
        {data: {name: 'trials'}, mark: {type: 'point', filled: true, size: 80, opacity: 1},
          encoding: {x: load, color: colour, tooltip, y: {field: 'part', type: 'quantitative', axis: {title: null, tickCount: 4, format: '.0%'}}}},
      ], [['number', 'trial', formatNumber], ['load', 'load', formatNumber], ['value', 'measured', String], ['part', 'of the limit', (part) => (isAbsent(part) ? '—' : `${digits(100 * part)} %`)],
        ['verdict', 'verdict', String], ['because', 'because', String]]);
    }

    show(search) {
      const trials = search.trials.map((trial) => ({number: trial.number, load: trial.load, part: trial.ratio,
        value: trial.unit === 's' ? duration(trial.value) : formatNumber(trial.value),
        verdict: trial.kept === null ? 'does not count' : trial.kept ? 'kept' : 'missed', because: trial.choice?.because || ''}));
      const interval = isAbsent(search.low) || isAbsent(search.high) ? [] : [{low: search.low, high: search.high}];
      this.chart.show({trials, interval, bound: trials.length ? [{part: 1}] : [], next: search.next ? [search.next] : []}, trials);
    }
  }

  Object.assign(window.cuesta, {Lines, Trials, make});
})();
