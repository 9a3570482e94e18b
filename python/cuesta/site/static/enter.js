// Hands over the token of the address, if it has one, and removes it from the address bar; then goes where the reader wanted.
(async () => {
  const found = /^#token=([\w-]+)$/.exec(location.hash);
  if (!found) return;
  history.replaceState(null, '', location.pathname + location.search);
  const answer = await fetch('/enter', {method: 'POST', body: found[1], credentials: 'same-origin'});
  const entry = document.getElementById('entry');
  if (!entry) return;
  if (!answer.ok) {
    entry.textContent = (await answer.text()).trim();
    return;
  }
  const to = new URLSearchParams(location.search).get('to') || '/';
  location.replace(/^\/(?![/\\])/.test(to) ? to : '/');
})();
