// The sizes of the random tests and of the largest directories in `npm run suite -- ensemble`. `npm test` has smaller ones.
const sizes = { WORLDS: 200, SIMULATIONS: 100, RUNS: 400, NODES: 66_000, CONTENDERS: 1000 }
for (const [name, size] of Object.entries(sizes)) process.env[name] ??= String(size)
