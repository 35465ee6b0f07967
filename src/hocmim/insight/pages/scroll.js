"use strict";
// Tables and menus that scroll sideways: the edge behind which there is more fades out.
for (const box of document.querySelectorAll(".scroll, nav ul")) {
  const mark = () => {
    const right = box.scrollWidth - box.clientWidth - box.scrollLeft;
    box.classList.toggle("more-left", box.scrollLeft > 1);
    box.classList.toggle("more-right", right > 1);
  };
  box.addEventListener("scroll", mark, { passive: true });
  // Also when a hidden part of the page is shown, or a table gets more rows.
  const observer = new ResizeObserver(mark);
  observer.observe(box);
  if (box.firstElementChild) observer.observe(box.firstElementChild);
  mark();
}
