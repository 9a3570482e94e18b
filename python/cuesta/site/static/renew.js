// Renews the page of a run that goes on, as long as the box says so and somebody can see it.
'use strict';

(() => {
  const box = document.getElementById('renew');
  const paused = 'cuesta paused';
  box.checked = !sessionStorage.getItem(paused);
  box.addEventListener('change', () => {
    if (box.checked) sessionStorage.removeItem(paused);
    else sessionStorage.setItem(paused, 'yes');
  });
  const before = JSON.parse(sessionStorage.getItem(location.pathname) || '[]');
  document.querySelectorAll('details:not(.values)').forEach((each, number) => { each.open = Boolean(before[number]); });
  setInterval(() => {
    if (!box.checked || document.hidden) return;
    sessionStorage.setItem(location.pathname, JSON.stringify(
      [...document.querySelectorAll('details:not(.values)')].map((each) => each.open)));
    location.reload();
  }, 5000);
})();
