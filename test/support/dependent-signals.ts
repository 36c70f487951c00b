// Counts the signals that AbortSignal.any() has made of a signal. Node 20 keeps an entry for each as long as the source.

/** Returns the number of signals that depend on this one. */
export function dependentSignalCount(signal: AbortSignal): number {
  const key = Object.getOwnPropertySymbols(signal).find(({ description }) => description === 'kDependantSignals')
  return key === undefined ? 0 : ((signal as unknown as Record<symbol, Set<unknown> | undefined>)[key]?.size ?? 0)
}
