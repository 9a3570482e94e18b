// Buttons below a list can be pressed when enough is chosen in it.
'use strict';

for (const form of document.querySelectorAll('main form')) {
  const look = () => {
    const chosen = form.querySelectorAll('input:checked').length;
    for (const button of form.querySelectorAll('button')) {
      button.disabled = button.getAttribute('formaction') === '/compare' ? chosen !== 2 : chosen < 2;
    }
  };
  form.addEventListener('change', look);
  addEventListener('pageshow', look);
  look();
}
