/**
 * Returns the value that all copies of this package in the process share under a name. The first call creates it.
 * Change the name if another version of the package could not use the value.
 */
export function shared<T>(name: string, create: () => T): T {
  const values = globalThis as unknown as Record<symbol, T | undefined>
  return (values[Symbol.for(`zkwire.${name}`)] ??= create())
}
