// Draws the plots of a page; each figure has its specification beside it. Vega lies packed in the element `vega` of a report,
// and is a script of its own where reports are served. It interprets expressions: there no text may become code.
(async () => {
  const figures = [...document.querySelectorAll('figure.plot')];
  if (!window.vegaEmbed) {
    const packed = Uint8Array.from(atob(document.getElementById('vega').textContent.trim()), (c) => c.charCodeAt(0));
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    const script = document.createElement('script');
    script.textContent = `(() => {${await new Response(unpacked).text()}})()`;
    document.head.append(script);
  }

  const digits = (value) => Number(value.toPrecision(3)).toLocaleString('en', {maximumFractionDigits: 3});
  const duration = (value) => {
    if (value === null || value === undefined || Number.isNaN(value)) return '—';
    if (value === 0) return '0';
    for (const [unit, size] of [['s', 1], ['ms', 1e-3], ['µs', 1e-6]]) {
      if (Math.abs(value) >= 0.9995 * size) return `${digits(value / size)} ${unit}`;
    }
    return `${digits(value * 1e9)} ns`;
  };
  const percentile = (rarity) => {
    const places = Math.max(0, Math.ceil(Math.log10(rarity) - 1e-9) - 2);
    return `p${(100 - 100 / rarity).toFixed(places)}`;
  };

  const small = {labelFontSize: 11, titleFontSize: 11, titleFontWeight: 'normal'};
  const faint = {labelColor: 'var(--faint)', titleColor: 'var(--faint)', domainColor: 'var(--grid)'};
  const config = (labels, width) => ({
    background: 'transparent',
    customFormatTypes: true,
    font: 'system-ui, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif',
    view: {stroke: null},
    axis: {...small, ...faint, gridColor: 'var(--grid)', gridOpacity: 0.7, ticks: false, domain: false, labelPadding: 5,
      labelOverlap: true, titlePadding: 8},
    legend: {...small, labelColor: 'currentColor', labelFontSize: 12, orient: 'top', direction: 'horizontal', symbolType: 'square',
      symbolStrokeWidth: 3, symbolSize: 90, columnPadding: 14, offset: 6, labelLimit: width - 30,
      columns: labels ? Math.max(1, Math.min(labels.labels, Math.floor((width - labels.left) / (6.6 * labels.longest + 34)))) : 1},
  });

  const draw = async (figure) => {
    const spec = JSON.parse(figure.querySelector('script').textContent);
    const place = figure.querySelector('div');
    const width = () => place.clientWidth || document.body.clientWidth / 2;
    const autosize = {type: 'fit-x', contains: 'padding', resize: true};
    const {view} = await vegaEmbed(place, {...spec, width: width(), autosize, config: config(spec.usermeta, width())},
      {actions: false, renderer: 'svg', ast: true, defaultStyle: false, tooltip: {theme: 'custom', disableDefaultStyle: true},
        expressionFunctions: {duration, percentile}});
    addEventListener('resize', () => view.width(width()).runAsync());
    place.addEventListener('dblclick', () => draw(figure));
  };
  for (const figure of figures) await draw(figure);
  document.documentElement.dataset.plots = 'drawn';
})();
