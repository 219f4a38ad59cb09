// Counts the people who are typed and ticked, on the button that makes teams of them.
"use strict";
(() => {
  const names = document.getElementById("names");
  const count = document.getElementById("count");
  if (!names || !count) return;
  const show = () => {
    // A tab may stand between a weight and its name.
    const list = names.value.replace(/([-+]?[\d.]+)\t/g, "$1 ");
    const typed = list.split(/[\n,;\t]/).filter((name) => name.trim()).length;
    const ticked = document.querySelectorAll(".ticks input:checked").length;
    count.textContent = typed + ticked ? count.dataset.of.replace("{}", typed + ticked) : "";
  };
  document.addEventListener("input", show);
  // After "back", a browser fills in the form later.
  window.addEventListener("pageshow", show);
  show();
})();
