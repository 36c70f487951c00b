#!/usr/bin/env node
// The program `zkwire`. Nothing in the library imports this folder.
// May import: cli/commands, cli/runner, runtime/clock.ts.

// Node opens its debugger on SIGUSR1 if no listener takes that signal. Then each user of the machine could run code here.
// So this is done before the other modules are loaded.
process.on('SIGUSR1', () => undefined)

await import('./process.ts')
