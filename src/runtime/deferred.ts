// A promise in the hands of whoever settles it.

export interface Deferred {
  promise: Promise<void>
  resolve: () => void
}

export function deferred(): Deferred {
  let resolve!: () => void
  const promise = new Promise<void>(r => (resolve = r))
  return { promise, resolve }
}
