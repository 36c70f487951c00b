// The browser as a runtime: what a bundle for browsers gets in place of Node's modules and globals.
// May import: buffer/, esbuild.
import type { BuildOptions } from 'esbuild'
import { fileURLToPath } from 'node:url'

const file = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** The modules of Node that the client, the recipes and the embedded server import, and what replaces them. */
const MODULES = {
  'node:async_hooks': 'async-hooks.ts',
  'node:crypto': 'crypto.ts',
  'node:diagnostics_channel': 'diagnostics-channel.ts',
  'node:dns': 'sockets.ts',
  'node:events': 'sockets.ts',
  'node:fs/promises': 'sockets.ts',
  'node:net': 'sockets.ts',
  'node:tls': 'sockets.ts',
  'node:util': 'debug-log.ts',
} as const

/** The options of esbuild with which the client, the recipes and the embedded server run in a browser. */
export const browserOptions = {
  bundle: true,
  platform: 'browser',
  format: 'iife',
  target: 'es2022',
  alias: Object.fromEntries(Object.entries(MODULES).map(([module, name]) => [module, file(name)])),
  inject: [file('globals.ts')],
} satisfies BuildOptions
