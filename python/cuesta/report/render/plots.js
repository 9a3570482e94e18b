// Draws the plots of a page; each figure has its specification beside it. Vega lies packed in the element `vega` of a report,
// and is a script of its own where reports are served. It interprets expressions: there no text may become code.

// How plots look, and how their values are written; the charts of a live page are alike.
window.cuesta = (() => {
  const digits = (value) => Number(value.toPrecision(3)).toLocaleString('en', {maximumFractionDigits: 3});
  const duration = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return '—';
    if (value === 0) return '0';
    for (const [unit, size] of [['s', 1], ['ms', 1e-3], ['µs', 1e-6]]) {
      if (Math.abs(value) >= 0.9995 * size) return `${digits(value / size)} ${unit}`;
    }
    return `${digits(value * 1e9)} ns`;
  };
  const small = {labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal'};
  const faint = {labelColor: 'var(--faint)', titleColor: 'var(--faint)', domainColor: 'var(--grid)'};
  const look = {
    background: 'transparent',
    customFormatTypes: true,
    font: 'system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif',
    view: {stroke: null},
    axis: {...small, ...faint, gridColor: 'var(--grid)', gridOpacity: 0.7, ticks: false, domain: false, labelPadding: 5,
      labelOverlap: true, titlePadding: 8},
    legend: {...small, labelColor: 'currentColor', labelFontSize: 12, orient: 'top', direction: 'horizontal', symbolStrokeWidth: 3,
      columnPadding: 14, offset: 6},
  };
  const options = {actions: false, renderer: 'svg', ast: true, defaultStyle: false,
    tooltip: {theme: 'custom', disableDefaultStyle: true}};
  return {digits, duration, look, options};
})();

(async () => {
  const {digits, duration, look, options} = window.cuesta;
  const figures = [...document.querySelectorAll('figure.plot')];
  if (!window.vegaEmbed) {
    const packed = Uint8Array.from(atob(document.getElementById('vega').textContent.trim()), (c) => c.charCodeAt(0));
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    const script = document.createElement('script');
    script.textContent = `(() => {${await new Response(unpacked).text()}})()`;
    document.head.append(script);
  }

  const percentile = (rarity) => {
    const places = Math.max(0, Math.ceil(Math.log10(rarity) - 1e-9) - 2);
    return `p${(100 - 100 / rarity).toFixed(places)}`;
  };

  const config = (labels, width) => ({
    ...look,
    legend: {...look.legend, symbolType: 'square', symbolSize: 90, labelLimit: width - 30,
      columns: labels ? Math.max(1, Math.min(labels.labels, Math.floor((width - labels.left) / (6.6 * labels.longest + 34)))) : 1},
  });

  // The values of a layer, as its cursor shows them: a row for each place on the horizontal axis, or for each mark.
  const rowsOf = (layer, spec) => {
    const {values} = layer.data || spec.data;
    const pivot = (layer.transform || []).find((each) => each.pivot);
    if (!pivot) return values;
    const rows = new Map();
    for (const value of values) {
      const key = JSON.stringify(pivot.groupby.map((name) => value[name]));
      if (!rows.has(key)) rows.set(key, Object.fromEntries(pivot.groupby.map((name) => [name, value[name]])));
      rows.get(key)[value[pivot.pivot]] = value[pivot.value];
    }
    return [...rows.values()].sort((one, other) => one[pivot.groupby[0]] - other[pivot.groupby[0]]);
  };
  const written = (value, {format, formatType}) => {
    if (value === null || value === undefined) return '—';
    if (typeof value !== 'number') return String(value);
    if (formatType) return {duration, percentile}[formatType](value);
    if (format === '.1f') return value.toFixed(1);
    return format === ',' ? value.toLocaleString('en') : digits(value);
  };
  const element = (name, text, attributes = {}) =>
    Object.assign(document.createElement(name), text === undefined ? {} : {textContent: text}, attributes);
  const tabulate = (layer, spec, title) => {
    const columns = layer.encoding.tooltip;
    const table = element('table');
    const head = table.createTHead().insertRow();
    table.ariaLabel = title;
    head.append(...columns.map((column) => element('th', column.title, {scope: 'col'})));
    const body = table.createTBody();
    for (const row of rowsOf(layer, spec)) {
      body.insertRow().append(...columns.map((column) => element('td', written(row[column.field], column))));
    }
    return table;
  };
  // The table behind a plot, which is made when it is opened.
  const offerTable = (figure, spec) => {
    const layers = spec.layer.filter((layer) => layer.encoding && layer.encoding.tooltip);
    if (!layers.length || figure.querySelector('details.values')) return;
    const details = element('details', undefined, {className: 'values'});
    const inside = element('div', undefined, {className: 'wide'});
    details.append(element('summary', 'Values'), inside);
    details.firstChild.append(element('span', ` of ${figure.querySelector('figcaption').textContent}`, {className: 'hidden'}));
    details.addEventListener('toggle', () => {
      if (inside.hasChildNodes()) return;
      inside.append(...layers.map((layer) => tabulate(layer, spec, figure.querySelector('figcaption').textContent)));
    });
    figure.append(details);
  };

  // Draws a plot, or draws it again as it was at first.
  const draw = async (figure, spec) => {
    const place = figure.querySelector('div');
    const width = () => place.clientWidth || document.body.clientWidth / 2;
    const autosize = {type: 'fit-x', contains: 'padding', resize: true};
    figure.view?.finalize();
    const {view} = await vegaEmbed(place, {...spec, width: width(), autosize, config: config(spec.usermeta, width())},
      {...options, expressionFunctions: {duration, percentile}});
    figure.view = view;
    figure.fit = () => view.width(width()).runAsync();
    figure.dispatchEvent(new Event('plot-drawn', {bubbles: true}));
  };
  for (const figure of figures) {
    const spec = JSON.parse(figure.querySelector('script').textContent);
    await draw(figure, spec);
    figure.querySelector('div').addEventListener('dblclick', () => draw(figure, spec));
    addEventListener('resize', () => figure.fit());
    offerTable(figure, spec);
  }
  document.documentElement.dataset.plots = 'drawn';
})();
