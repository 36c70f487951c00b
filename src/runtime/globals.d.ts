// The types of the runtime that the declarations of the package use. `build.ts` adds an import of this file to each
// declaration file that needs it, because a user may have no types of Node.js, or may not list them in `types`.
/// <reference lib="esnext.disposable" />
// oxlint-disable-next-line typescript/ban-ts-comment -- It is an error only without the types of Node.js.
// @ts-ignore: without them, the options are not checked.
import type { ConnectionOptions, TlsOptions } from 'node:tls'

declare global {
  // oxlint-disable-next-line typescript/no-empty-object-type -- Merged with that of Node.js, the DOM or a worker, if any.
  interface AbortSignal {}
}

/**
 * The global Buffer. Without the types of Node.js, it has only what a program needs to read the bytes. The parameter is
 * not used, because Buffer is not generic before TypeScript 5.7.
 */
export type Buffer<_ArrayBuffer = unknown> = typeof globalThis extends {
  Buffer: { isBuffer(value: unknown): value is infer B }
}
  ? B
  : Bytes

interface Bytes extends Uint8Array {
  /** @param encoding `utf8` (the default), `hex`, `base64`, `latin1` or another one that Node.js knows */
  toString(encoding?: string, start?: number, end?: number): string
}

/** The global AbortSignal. Without the types of a runtime, it has only what a program needs to listen to it. */
export type AbortSignal = keyof globalThis.AbortSignal extends never ? Signal : globalThis.AbortSignal

interface Signal {
  readonly aborted: boolean
  readonly reason: unknown
  throwIfAborted(): void
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** The options of node:tls. Without the types of Node.js they are not checked. */
export type TlsConnectionOptions = typeof globalThis extends { Buffer: unknown }
  ? ConnectionOptions
  : Readonly<Record<string, unknown>>

/** The options of node:tls for a server. Without the types of Node.js they are not checked. */
export type TlsServerOptions = typeof globalThis extends { Buffer: unknown }
  ? TlsOptions
  : Readonly<Record<string, unknown>>
