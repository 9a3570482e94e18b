// The page of a run that goes on: follows its events, and shows what they tell.
'use strict';

(() => {
  const {Lines, Trials, digits, duration, make} = window.cuesta;
  const byId = (id) => document.getElementById(id);
  const count = (value) => Math.round(value).toLocaleString('en');
  const many = (value, what) => `${count(value)} ${what}${value === 1 ? '' : 's'}`;
  const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}`;
  const share = (value) => `${digits(100 * value)} %`;
  const QUANTILES = ['p50', 'p95', 'p99'];
  const DOING = {
    unstarted: 'not started', opening: 'connecting', awaiting_answer: 'awaiting an answer', awaiting_prompt: 'awaiting a prompt',
    keying: 'typing', thinking: 'thinking', idle: 'idle', lost: 'without a line',
  };
  const BECAUSE = {slowest: 'Slowest', typical: 'Typical', failed: 'Failed'};
  const LONG_WAIT = 1; // seconds from which a wait is shown as bad
  const times = (of) => QUANTILES.map((name) => [`${of}_${name}`, name]);
  const charts = {
    echo: {title: 'Echo time', series: times('echo'), areTimes: true},
    response: {title: 'Response time', series: times('response'), areTimes: true},
    rates: {title: 'Keys and answers a second', series: [['keys_per_s', 'keys'], ['per_s', 'answers']]},
    users: {title: 'Users', series: [['users', 'with a line'], ['waiting', 'waiting']]},
    host: {title: 'CPU time of the host, in percent', series: [['usr', 'user'], ['sys', 'system']], stacked: true},
    late: {title: 'Lateness of the driver', series: [['late', 'p99']], areTimes: true},
  };
  const drawn = Object.fromEntries(Object.entries(charts).map(([name, about]) => [name, new Lines(document.querySelector('#charts .plots'), about)]));
  let trials = null;
  let shownSearch = '';
  let about = null;
  let marks = [];
  let chosen = [];
  let source = null;

  const pointOf = ({at, view}) => {
    const point = {at, keys_per_s: view.keys_per_s, per_s: view.per_s, users: view.users, waiting: view.waiting, late: view.lateness?.p99};
    for (const name of QUANTILES) {
      point[`echo_${name}`] = view.echo?.[name];
      point[`response_${name}`] = view.response?.[name];
    }
    const host = view.hosts[0] || {};
    return Object.assign(point, {usr: host.usr, sys: host.sys});
  };

  const figure = (label, value, detail) => make('div', {class: 'figure'}, make('span', {class: 'label'}, label), make('span', {class: 'value'}, value),
    make('span', {class: 'faint'}, detail));
  const spread = (found) => (found ? `p50 ${duration(found.p50)} · p99 ${duration(found.p99)}` : 'none in the last second');

  const valueOf = (limit, view) => {
    const [name, statistic] = limit.figure.split('.');
    return statistic === undefined ? undefined : view[name]?.[statistic];
  };

  // The answer first: what a reader wants to know of this moment.
  const answer = (view) => {
    const crossed = about.limits.filter((limit) => valueOf(limit, view) > limit.value);
    const time = view.echo ? `a key is shown after ${duration(view.echo.p50)}, 95 of 100 within ${duration(view.echo.p95)}`
      : view.response ? `half of the answers come within ${duration(view.response.p50)}, 95 of 100 within ${duration(view.response.p95)}` : 'nothing was measured in the last second';
    const stuck = view.longest >= 5 ? ` ${count(view.waiting)} wait for the host, the longest for ${duration(view.longest)}.` : '';
    const errors = view.errors ? ` ${many(view.errors, 'error')} so far.` : '';
    const limits = crossed.length ? ` Crossed now: ${crossed.map((limit) => limit.text).join(', ')}.` : '';
    return `${many(view.users, 'user')}: ${time}.${limits}${stuck}${errors}`;
  };

  const showMoment = ({now, view}) => {
    byId('answer').textContent = answer(view);
    const series = view.series ? `${view.series.what} ${view.series.number} of ${view.series.of}${view.series.name ? ` (${view.series.name})` : ''}, ` : '';
    byId('phase').textContent = `${series}${view.phase}${view.steps > 1 ? ` ${view.step + 1} of ${view.steps}` : ''}, ${Math.round(view.elapsed)}${view.total ? ` of ${Math.round(view.total)}` : ''} s`;
    const done = byId('done');
    if (view.total) Object.assign(done, {max: view.total, value: Math.min(view.elapsed, view.total)});
    else done.removeAttribute('value');
    byId('figures').replaceChildren(
      figure('Users', count(view.users), view.longest >= LONG_WAIT ? `longest wait ${duration(view.longest)}` : 'with a line'),
      figure('Echo, p95', view.echo ? duration(view.echo.p95) : '—', spread(view.echo)),
      figure('Response, p95', view.response ? duration(view.response.p95) : '—', spread(view.response)),
      figure('Keys a second', digits(view.keys_per_s), `${digits(view.per_s)} answers a second`),
      figure('Errors', count(view.errors), 'since the start'),
    );
    byId('doing').textContent = Object.entries(DOING).filter(([name]) => view.doing[name]).map(([name, label]) => `${count(view.doing[name])} ${label}`).join(', ');
    showLimits(view);
    showHost(view);
    showGlimpses(view);
    showSearch(view.search);
    document.documentElement.dataset.now = now;
  };

  const showLimits = (view) => {
    byId('limits').hidden = !about.limits.length;
    byId('limits').querySelector('tbody').replaceChildren(...about.limits.map((limit) => {
      const value = valueOf(limit, view);
      const part = value === undefined || value === null ? null : value / limit.value;
      const why = limit.figure.split('.')[0] in view ? 'none in the last second' : 'judged at the end';
      const meter = part === null ? why : make('meter', {min: 0, max: 1, high: 0.999, value: Math.min(part, 1), 'aria-label': limit.text});
      const used = part === null ? [] : [` ${Math.round(100 * part)} %`];
      return make('tr', {}, make('th', {scope: 'row'}, limit.text), make('td', {}, part === null ? '—' : duration(value)),
        make('td', {class: part > 1 ? 'crossed' : ''}, meter, ...used));
    }));
  };

  const showHost = (view) => {
    const hosts = view.hosts.map((host, number) => make('tr', {}, make('th', {scope: 'row'}, view.hosts.length > 1 ? `Host ${number + 1}` : 'Host'),
      make('td', {class: 'text wraps'}, host.idle === null || host.idle === undefined ? `no reading: ${host.why || ''}`
        : `user ${digits(host.usr)} %, system ${digits(host.sys)} %, idle ${digits(host.idle)} %${causes(host)}`)));
    const late = view.lateness ? `late by ${duration(view.lateness.p99)} (p99), ` : '';
    const driver = make('tr', {}, make('th', {scope: 'row'}, 'Driver'), make('td', {class: 'text wraps'}, `${late}${share(view.driver_cpu)} of a core`));
    byId('host').querySelector('tbody').replaceChildren(...hosts, driver);
  };

  const causes = (host) => (host.causes.length ? `; by cause: ${host.causes.slice(0, 6).map(([name, value]) => `${name.replaceAll('_', ' ')} ${digits(value)} %`).join(', ')}` : '');

  // Lists of users to choose from. Buttons stay while their user does, so that the keyboard's focus does too.
  const showGlimpses = (view) => {
    const place = byId('glimpses');
    for (const [because, label] of Object.entries(BECAUSE)) {
      const users = view.glimpses.filter((glimpse) => glimpse.because === because);
      let list = place.querySelector(`[data-because=${because}]`);
      if (!list) {
        list = make('div', {'data-because': because}, make('h3', {}, label), make('ul', {}));
        place.append(list);
      }
      list.hidden = !users.length;
      const items = list.querySelector('ul');
      while (items.children.length > users.length) items.lastChild.remove();
      users.forEach((glimpse, number) => {
        const item = items.children[number] || items.appendChild(make('li', {}, make('button', {type: 'button'}), ' ', make('span', {})));
        const button = item.firstChild;
        button.textContent = `User ${glimpse.user}`;
        button.dataset.user = glimpse.user;
        button.setAttribute('aria-pressed', chosen.includes(glimpse.user));
        item.lastChild.textContent = glimpseText(glimpse);
        item.lastChild.className = glimpse.waited >= LONG_WAIT ? 'crossed' : 'faint';
      });
    }
  };

  const glimpseText = (glimpse) => {
    if (glimpse.lost) return glimpse.lost;
    const what = DOING[glimpse.doing] || glimpse.doing;
    const wait = glimpse.waited ? `waits ${duration(glimpse.waited)}` : glimpse.mean ? `${what}; mean response ${duration(glimpse.mean)}` : what;
    return `${wait}${glimpse.condition ? ` for ${glimpse.condition}` : ''}${glimpse.row ? ` at “${glimpse.row.trim()}”` : ''}`;
  };

  const showScreens = (screens) => {
    const place = byId('screens');
    for (const user of chosen) {
      const found = screens.find((screen) => screen.user === user);
      const panel = place.querySelector(`[data-user="${user}"]`);
      if (!found || !panel) continue;
      drawScreen(panel.querySelector('.screen'), found);
      panel.querySelector('.faint').textContent = found.is_whole ? `at ${digits(found.seconds)} s` : `at ${digits(found.seconds)} s; only what has come since somebody looked`;
    }
  };

  const choose = (users) => {
    chosen = users.slice(-4);
    const place = byId('screens');
    for (const panel of [...place.children]) if (!chosen.includes(Number(panel.dataset.user))) panel.remove();
    for (const user of chosen) {
      if (place.querySelector(`[data-user="${user}"]`)) continue;
      const close = make('button', {type: 'button', 'aria-label': `Close the screen of user ${user}`}, 'Close');
      close.addEventListener('click', () => choose(chosen.filter((each) => each !== user)));
      const screen = make('div', {class: 'screen', role: 'img', 'aria-label': `The screen of user ${user}`, tabindex: 0});
      place.append(make('div', {'data-user': user, class: 'user'}, make('h3', {}, `User ${user} `, close), screen, make('p', {class: 'faint'}, 'not seen yet')));
    }
    history.replaceState(null, '', chosen.length ? `?users=${chosen.join(',')}` : location.pathname);
    for (const button of document.querySelectorAll('#glimpses button')) button.setAttribute('aria-pressed', chosen.includes(Number(button.dataset.user)));
    listen();
  };

  const showSearch = (search) => {
    byId('search').hidden = !search;
    const text = JSON.stringify(search);
    if (!search || text === shownSearch) return;
    shownSearch = text;
    trials ||= new Trials(byId('search').querySelector('.plots'));
    trials.show(search);
    const of = search.load === 'users' ? 'users' : 'arrivals a second';
    const interval = search.limit === null ? `objective ${search.objective.join(', ')}` : `limit so far ${digits(search.limit)} ${of}, from ${search.low === null ? '0' : digits(search.low)} to ${search.high === null ? 'not known' : digits(search.high)}`;
    byId('next').textContent = sentence(search.next ? `${interval}. Next: ${digits(search.next.load)} ${of}, ${search.next.because}.` : `${interval}. ${search.ended || ''}`);
  };

  const say = ({at, text}) => {
    const log = byId('told');
    log.prepend(make('li', {}, make('span', {class: 'faint'}, `${digits(at)} s `), text));
    while (log.children.length > 200) log.lastChild.remove();
  };

  const showMarks = () => Object.values(drawn).forEach((chart) => chart.setMarks(marks));

  const listeners = {
    begin: (content) => {
      about = content.about;
      marks = [];
      byId('told').replaceChildren();
      for (const chart of Object.values(drawn)) chart.set(content.course.map(pointOf));
    },
    moment: showMoment,
    point: (content) => Object.values(drawn).forEach((chart) => chart.add(pointOf(content))),
    told: say,
    mark: (content) => {
      marks = [...marks, content];
      say({...content, text: `Marked: ${content.text}`});
      showMarks();
    },
    screens: showScreens,
    end: (content) => {
      source.close();
      byId('state').textContent = sentence(`${content.sentence}.`);
      for (const button of document.querySelectorAll('.actions button')) button.disabled = true;
      document.documentElement.dataset.ended = 'true';
      if (content.folder) location.assign('report');
    },
  };

  const listen = () => {
    source?.close();
    source = new EventSource(`events?report&users=${chosen.join(',')}`);
    source.onopen = () => { byId('state').textContent = ''; };
    source.onerror = () => { byId('state').textContent = 'The connection is lost; the run may have ended.'; };
    for (const [name, take] of Object.entries(listeners)) source.addEventListener(name, (event) => take(JSON.parse(event.data)));
  };

  const post = async (path, content) => {
    const answered = await fetch(path, {method: 'POST', body: JSON.stringify(content)}).catch(() => null);
    byId('state').textContent = answered?.ok ? '' : 'That did not reach the run.';
    return answered?.ok;
  };

  if (byId('ask-mark')) {
    byId('ask-mark').addEventListener('click', () => { byId('note').value = ''; byId('mark-dialog').showModal(); });
    byId('mark-dialog').addEventListener('close', () => byId('mark-dialog').returnValue === 'mark' && post('mark', {note: byId('note').value}));
    byId('ask-stop').addEventListener('click', () => byId('stop-dialog').showModal());
    byId('stop-dialog').addEventListener('close', async () => {
      if (byId('stop-dialog').returnValue === 'stop' && await post('stop', {})) byId('state').textContent = 'The run is stopping; what was measured is kept.';
    });
  }
  byId('glimpses').addEventListener('click', ({target}) => {
    const user = Number(target.dataset?.user);
    if (target.dataset?.user) choose(chosen.includes(user) ? chosen.filter((each) => each !== user) : [...chosen, user]);
  });
  byId('any-user').addEventListener('submit', (event) => {
    event.preventDefault();
    if (/^\d{1,7}$/.test(byId('number').value)) choose([...chosen.filter((each) => each !== Number(byId('number').value)), Number(byId('number').value)]);
  });
  document.addEventListener('visibilitychange', () => Object.values(drawn).forEach(({chart}) => chart.isStale && chart.renew()));
  byId('users').hidden = !byId('ask-mark'); // of a run that another command makes, folders have no screens
  const asked = new URLSearchParams(location.search).get('users');
  if (asked && /^\d{1,7}(,\d{1,7}){0,3}$/.test(asked)) choose(asked.split(',').map(Number));
  else listen();
})();
