// A passage is brought into sight, unless the address or the browser says where to be.
const place = document.querySelector(".sheet .cited, .sheet .passage") ?? document.querySelector("[data-place]");
const came = performance.getEntriesByType("navigation")[0]?.type;
if (place && !location.hash && came !== "back_forward") {
  place.scrollIntoView({ block: "center", behavior: "instant" });
}
