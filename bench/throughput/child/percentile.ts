/** Returns a percentile by nearest rank. Sorts the values in place. */
export const percentile = (values: number[], percent: number): number => {
  values.sort((a, b) => a - b)
  return values[Math.max(0, Math.ceil((percent / 100) * values.length) - 1)] ?? NaN
}
