const t = performance.now();
const step = async (n) => {
  const a = performance.now();
  await import(n);
  console.log(n, (performance.now() - a).toFixed(1));
};
for (const n of process.argv.slice(2)) await step(n);
console.log("total", (performance.now() - t).toFixed(1));
