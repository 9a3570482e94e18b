// Charts that grow: lines over the time of a run, each with a table of its newest points behind it.
'use strict';

(() => {
  const TABLE_ROWS = 30; // the newest points, which the table behind a chart has
  const MOST_POINTS = 1200; // then every second one is left out

  const digits = (value) => Number(value.toPrecision(3)).toLocaleString('en', {maximumFractionDigits: 3});

  function formatDuration(value) {
    if (value === null || value === undefined || Number.isNaN(value)) return '—';
    if (value === 0) return '0';
    for (const [unit, size] of [['s', 1], ['ms', 1e-3], ['µs', 1e-6]]) {
      if (Math.abs(value) >= 0.9995 * size) return `${digits(value / size)} ${unit}`;
    }
    return `${digits(value * 1e9)} ns`;
  }

  // Makes an element with attributes, and with children or texts.
  function make(name, attributes = {}, ...children) {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  }

  const faint = {labelColor: 'var(--faint)', titleColor: 'var(--faint)', domainColor: 'var(--grid)'};
  const CONFIG = {
    background: 'transparent',
    customFormatTypes: true,
    font: 'system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif',
    view: {stroke: null},
    axis: {labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal', ...faint, gridColor: 'var(--grid)', gridOpacity: 0.7,
      ticks: false, domain: false, labelPadding: 5, labelOverlap: true, titlePadding: 8},
    legend: {labelColor: 'currentColor', labelFontSize: 12, orient: 'top', direction: 'horizontal', symbolType: 'square', title: null,
      symbolStrokeWidth: 3, symbolSize: 90, columnPadding: 14, offset: 6},
  };
  const COLOURS = [0, 1, 2, 3, 4, 5, 6, 7].map((number) => `var(--series-${number})`);

  // A chart of `series`, names of values of the points that it is given: {at, NAME: value, …}.
  class LiveChart {
    constructor(place, {title, series, format, stacked = false, x = 'at', xTitle = 'seconds since the start'}) {
      Object.assign(this, {series, format, x, xTitle, points: [], marks: [], view: null, isStale: false});
      this.drawing = make('div');
      this.body = make('tbody');
      const heads = [xTitle, ...series.map(([, label]) => label)].map((label) => make('th', {scope: 'col'}, label));
      const table = make('table', {}, make('caption', {class: 'hidden'}, title), make('thead', {}, make('tr', {}, ...heads)), this.body);
      this.details = make('details', {}, make('summary', {}, 'Table'), make('div', {class: 'wide', tabindex: 0}, table));
      this.details.addEventListener('toggle', () => this.fillTable());
      place.append(make('figure', {class: 'plot', 'aria-label': title}, make('figcaption', {}, title), this.drawing, this.details));
      this.ready = this.draw(stacked);
      new ResizeObserver(() => this.view && this.view.width(this.width()).runAsync()).observe(this.drawing);
    }

    width() {
      return Math.max(this.drawing.clientWidth, 200);
    }

    async draw(stacked) {
      const names = this.series.map(([, label]) => label);
      const text = {field: 'value', format: this.format === 'duration' ? '' : ',.3~g', ...(this.format === 'duration' && {formatType: 'duration'})};
      const axis = {title: null, ...text, field: undefined, tickCount: 4};
      const colour = {field: 'series', type: 'nominal', scale: {domain: names, range: COLOURS.slice(0, names.length)},
        legend: names.length > 1 ? {} : null};
      const at = {field: this.x, type: 'quantitative', title: this.xTitle, scale: {nice: false, zero: false}, axis: {tickCount: 6, grid: false}};
      const spec = {
        $schema: 'https://vega.github.io/schema/vega-lite/v6.json',
        height: 150,
        width: this.width(),
        autosize: {type: 'fit-x', contains: 'padding', resize: true},
        layer: [
          {data: {name: 'points'}, mark: stacked ? {type: 'area', opacity: 0.75} : {type: 'line', strokeWidth: 1.6, invalid: 'break-paths-show-domains'},
            encoding: {x: at, y: {field: 'value', type: 'quantitative', stack: stacked ? 'zero' : null, axis}, color: colour,
              tooltip: [{field: this.x, type: 'quantitative', title: this.xTitle, format: ',.4~g'}, {field: 'series', title: 'is'}, {...text, title: 'value'}]}},
          {data: {name: 'marks'}, mark: {type: 'rule', color: 'var(--faint)', strokeDash: [3, 3]},
            encoding: {x: {field: 'at', type: 'quantitative'}, tooltip: [{field: 'text', title: 'mark'}]}},
        ],
        config: CONFIG,
      };
      const options = {actions: false, renderer: 'svg', ast: true, logLevel: 1, defaultStyle: false,
        tooltip: {theme: 'custom', disableDefaultStyle: true}, expressionFunctions: {duration: formatDuration}};
      this.view = (await vegaEmbed(this.drawing, spec, options)).view;
      this.renew();
    }

    // Replaces all points.
    set(points) {
      this.points = points;
      this.renew();
    }

    add(point) {
      this.points.push(point);
      if (this.points.length > MOST_POINTS) this.points = this.points.filter((_, number) => number % 2);
      this.renew();
    }

    setMarks(marks) {
      this.marks = marks;
      this.renew();
    }

    // Draws what is new, but not in a page that nobody sees.
    renew() {
      this.isStale = document.hidden || !this.view;
      if (this.isStale) return;
      const rows = this.points.flatMap((point) => this.series.map(([name, label]) => ({[this.x]: point[this.x], series: label, value: point[name] ?? null})));
      this.view.data('points', rows).data('marks', this.marks).runAsync();
      this.fillTable();
    }

    fillTable() {
      if (!this.details.open) return;
      const show = (value) => (value === null || value === undefined ? '—' : this.format === 'duration' ? formatDuration(value) : digits(value));
      this.body.replaceChildren(...this.points.slice(-TABLE_ROWS).reverse().map((point) => make('tr', {},
        make('th', {scope: 'row'}, digits(point[this.x])), ...this.series.map(([name]) => make('td', {}, show(point[name]))))));
    }
  }

  window.cuesta = {LiveChart, digits, formatDuration, make};
})();
