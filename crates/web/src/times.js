// Shows the times of a page in the visitor's own time zone; what they are in UTC is said where a mouse rests on them.
"use strict";
(() => {
  const two = (number) => String(number).padStart(2, "0");
  const show = () => {
    for (const time of document.querySelectorAll("time:not([title])")) {
      const at = new Date(time.dateTime);
      const [day, hour] = time.children;
      if (isNaN(at) || !hour) continue;
      time.title = `${time.textContent} UTC`;
      day.textContent = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
      hour.textContent = `${two(at.getHours())}:${two(at.getMinutes())}`;
    }
  };
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  document.getElementById("zone").textContent = `Times are in your time zone (${zone}).`;
  show();
  // The page of running games replaces its content.
  new MutationObserver(show).observe(document.body, { childList: true });
})();
