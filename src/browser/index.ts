// Entry point `zkwire/browser`: what runs in a browser. build.ts makes one file of it, with which no module and no global of
// Node is needed. Re-exports only.
// May import: index.ts, protocol/entry.ts, recipes/index.ts, server/index.ts, testing/index.ts.
export * from '../index.ts'
export * from '../protocol/entry.ts'
export * from '../recipes/index.ts'
export * from '../server/index.ts'
export * from '../testing/index.ts'
